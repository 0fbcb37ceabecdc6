//! Names and scopes.

use super::super::ast::SourceName;
use super::MurphiLowering;
use super::sorts::ScalarSort;
use crate::name_suggestion;
use crate::quote::quote;
use spillway_ir::{Expr, Place, TypeId};
use std::collections::{BTreeSet, HashMap};

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum MurphiMeaning {
    /// A constant.
    Constant(i64, ScalarSort),
    /// A type.
    Type(TypeId),
    /// A variable or a part of one, its type, and whether it may be assigned.
    Place(Place, TypeId, bool),
    /// A value that is constant in the scope of the name, or an expression that replaces the name.
    Value(Expr, ScalarSort),
    /// A function, by its index.
    Function(usize),
    /// An unknown meaning: the declaration is incorrect, and its error was reported.
    Unknown,
}

impl MurphiMeaning {
    fn describe(&self) -> &'static str {
        match self {
            MurphiMeaning::Constant(..) => "a constant",
            MurphiMeaning::Type(_) => "a type",
            MurphiMeaning::Place(..) => "a variable",
            MurphiMeaning::Value(..) => "a value",
            MurphiMeaning::Function(_) => "a function",
            MurphiMeaning::Unknown => "unknown",
        }
    }
}

/// A stack of scopes, the innermost last.
#[derive(Default)]
pub(super) struct ScopeStack<'a> {
    open: Vec<HashMap<&'a str, MurphiMeaning>>,
}

impl<'a> ScopeStack<'a> {
    pub(super) fn push(&mut self) {
        self.open.push(HashMap::new());
    }

    pub(super) fn pop(&mut self) {
        self.open.pop();
    }

    /// Returns the number of open scopes.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Closes all scopes but the outermost `depth`.
    pub(super) fn close(&mut self, depth: usize) {
        self.open.truncate(depth);
    }

    /// Declares a name in the innermost scope; returns false if it was declared there already.
    pub(super) fn declare(&mut self, name: &'a str, meaning: MurphiMeaning) -> bool {
        let innermost = self.open.last_mut();
        innermost.is_some_and(|names| names.insert(name, meaning).is_none())
    }

    /// Declares a name of unknown meaning in the innermost scope, unless it is declared there.
    pub(super) fn declare_unknown(&mut self, name: &'a str) {
        if let Some(names) = self.open.last_mut() {
            names.entry(name).or_insert(MurphiMeaning::Unknown);
        }
    }

    /// Returns the meaning of a name. Predefined names are case-insensitive, like reserved words.
    pub(super) fn find(&self, name: &str) -> Option<&MurphiMeaning> {
        let declared = self.open.iter().rev().find_map(|names| names.get(name));
        declared.or_else(|| self.open.first()?.get(name.to_ascii_lowercase().as_str()))
    }

    /// Suggests a similar known name.
    fn meant(&self, name: &str) -> Option<String> {
        let known = self.open.iter().flat_map(|names| names.keys().copied());
        name_suggestion::suggest_name(name, known.collect::<BTreeSet<&str>>().into_iter())
    }

    /// Returns a known name that differs only in case.
    fn similar(&self, name: &str) -> Option<&'a str> {
        let known = self.open.iter().rev().flat_map(|names| names.keys());
        known.copied().filter(|it| it.eq_ignore_ascii_case(name)).min()
    }
}

impl<'a> MurphiLowering<'a, '_> {
    /// Declares a name from here to the end of its scope.
    pub(super) fn declare(&mut self, name: SourceName<'a>, meaning: MurphiMeaning) {
        if !self.scopes.declare(name.text, meaning) {
            let message = format!("{} is declared a second time", quote(name.text));
            self.error_with(name.span, message, "give it another name");
        }
    }

    /// Returns the meaning of a name. Reports an error if it has none, unless its declaration was reported.
    pub(super) fn meaning(&self, name: SourceName<'a>) -> Option<MurphiMeaning> {
        match self.scopes.find(name.text) {
            Some(MurphiMeaning::Unknown) => return None,
            Some(meaning) => return Some(meaning.clone()),
            None => {}
        }
        // A function is in scope in its own body.
        if let Some((own, number)) = self.defining
            && own == name.text
        {
            return Some(MurphiMeaning::Function(number));
        }
        let message = format!("{} is not declared", quote(name.text));
        match self.scopes.similar(name.text) {
            Some(similar) => {
                let help = format!("there is {}: names are told apart by case", quote(similar));
                self.error_with(name.span, message, help);
            }
            None => {
                let is_declared = self.later.contains(name.text);
                let known = match (is_declared, name.text) {
                    (true, _) => Some("it is declared further down: what is used comes first"),
                    (_, "not") => Some("`not` is written `!`"),
                    (_, "and") => Some("`and` is written `&`"),
                    (_, "or") => Some("`or` is written `|`"),
                    _ => None,
                };
                let declare =
                    "declare it before, as a `const`, `type`, `var`, `function` or parameter";
                let meant = || self.scopes.meant(name.text).unwrap_or_else(|| declare.to_owned());
                let help = known.map_or_else(meant, str::to_owned);
                self.error_with(name.span, message, help);
            }
        }
        None
    }

    /// Reports that a name has a meaning of the wrong kind.
    pub(super) fn report_wrong_meaning(
        &self,
        name: SourceName<'a>,
        meaning: &MurphiMeaning,
        needed: &str,
    ) {
        let found = meaning.describe();
        self.error(name.span, format!("{} is {found}, not {needed}", quote(name.text)));
    }
}
