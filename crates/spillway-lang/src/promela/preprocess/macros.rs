//! Macros: definition and expansion.

use super::{ExpandedToken, HideSet, Preprocessor, error, lex};
use crate::promela::token::{PromelaToken, PromelaTokenKind};
use crate::{DeclaredName, DeclaredNameKind};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::collections::HashSet;
use std::rc::Rc;

/// The maximum number of tokens in the expansion of a macro or of an argument.
const EXPANSION_MAX: usize = 1 << 17;
/// The maximum depth of macros whose bodies use each other.
const MACROS_MAX: usize = 1000;
/// The maximum nesting of macros within arguments of macros.
const ARGUMENTS_MAX: usize = 100;
/// The maximum nesting of brackets in such an argument; no expression has as many.
const BRACKETS_MAX: usize = 1000;

/// The default name of the last parameter of a variadic macro.
const REST: &str = "__VA_ARGS__";
/// The word before a part of a body that is dropped if there are no variadic arguments.
const IF_REST: &str = "__VA_OPT__";

/// The predefined macros.
const PREDEFINED: [&str; 4] = ["__LINE__", "__FILE__", "__COUNTER__", "__INCLUDE_LEVEL__"];

pub(super) struct MacroDefinition {
    /// The names of the parameters, if it has a parameter list.
    parameters: Option<Vec<Rc<str>>>,
    /// Whether the last parameter is variadic.
    takes_rest: bool,
    body: Vec<PromelaToken>,
}

/// An argument in a macro call.
type MacroArgument = Vec<ExpandedToken>;

/// A macro call.
#[derive(Clone, Copy)]
struct MacroUse<'u> {
    found: &'u MacroDefinition,
    arguments: &'u [MacroArgument],
    /// The name of the macro at the call.
    site: &'u PromelaToken,
}

impl MacroDefinition {
    /// Returns the number of the parameter that a token names.
    fn parameter(&self, token: &PromelaToken) -> Option<usize> {
        let name = token.name()?;
        self.parameters.as_ref()?.iter().position(|parameter| parameter == name)
    }

    /// Returns the number of the variadic parameter.
    fn rest(&self) -> Option<usize> {
        self.parameters.as_ref()?.len().checked_sub(1).filter(|_| self.takes_rest)
    }

    /// Returns the body, with or without the parts for variadic arguments.
    fn body(&self, arguments: &[MacroArgument]) -> Vec<PromelaToken> {
        let has_rest = self.rest().is_some_and(|rest| !arguments[rest].is_empty());
        let (mut body, mut depth, mut inside) = (Vec::new(), 0_usize, None);
        let mut tokens = self.body.iter().peekable();
        while let Some(token) = tokens.next() {
            if self.takes_rest && inside.is_none() && token.is(IF_REST) {
                inside = tokens.next_if(|it| it.is("(")).map(|_| depth);
                if inside.is_some() {
                    continue;
                }
            }
            if token.is(")") && inside == Some(depth) {
                inside = None;
                continue;
            }
            depth += usize::from(token.is("("));
            depth = depth.saturating_sub(usize::from(token.is(")")));
            if has_rest || inside.is_none() {
                body.push(token.clone());
            }
        }
        body
    }
}

impl Preprocessor<'_> {
    /// Defines a macro from the command line; its name may have parameters.
    pub(super) fn define_outside(&mut self, name: &str, text: &str) -> Result<(), Diagnostic> {
        let mut line = lex(0, &format!("{name} {text}"));
        line.iter_mut().for_each(|it| it.span = Span::default());
        let Some(own) = line.first().and_then(PromelaToken::name).cloned() else {
            self.fixed.push(name.into());
            return Ok(());
        };
        // The last of several definitions counts.
        self.fixed.retain(|it| *it != own);
        self.define(Span::default(), &line)?;
        self.fixed.push(own);
        Ok(())
    }

    /// Defines a macro from the tokens after `#define`.
    pub(super) fn define(&mut self, span: Span, rest: &[PromelaToken]) -> Result<(), Diagnostic> {
        let Some(name) = rest.first().and_then(PromelaToken::name) else {
            return error(span, "#define needs a name");
        };
        if self.fixed.contains(name) {
            return Ok(());
        }
        let mut body = &rest[1..];
        let (mut parameters, mut takes_rest) = (None, false);
        if body.first().is_some_and(|next| next.is("(") && !next.spaced) {
            let Some(end) = body.iter().position(|token| token.is(")")) else {
                return error(span, "the parameters of this macro have no closing bracket");
            };
            let list = &body[1..end];
            let (list, rest) = match list {
                [list @ .., last] if last.is("...") => (list, true),
                list => (list, false),
            };
            // `...` has the name that directly precedes it, if any.
            let unnamed = rest && list.last().is_none_or(|last| last.is(","));
            let names = list.iter().filter(|token| !token.is(","));
            let names: Option<Vec<Rc<str>>> = names.map(|token| token.name().cloned()).collect();
            let Some(mut names) = names else {
                return error(span, "the parameters of a macro are names");
            };
            if unnamed {
                names.push(REST.into());
            }
            (parameters, takes_rest) = (Some(names), rest);
            body = &body[end + 1..];
        }
        let made = MacroDefinition { parameters, takes_rest, body: body.to_vec() };
        self.macros.insert(name.clone(), Rc::new(made));
        if span != Span::default() {
            self.named.push(DeclaredName::new(name, DeclaredNameKind::Macro, rest[0].span));
        }
        Ok(())
    }

    /// Returns whether there is a macro of this name.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name) || PREDEFINED.contains(&name)
    }

    /// Returns the value of a predefined name, or the token itself.
    pub(super) fn predefined(&mut self, token: PromelaToken) -> PromelaToken {
        let file = self.sources.file(token.span.file);
        let kind = match token.name().map_or("", |name| name) {
            "__LINE__" => PromelaTokenKind::Number(file.line_at(token.span.start) as i64),
            "__FILE__" => PromelaTokenKind::Text(escaped(&file.name).into()),
            "__INCLUDE_LEVEL__" => {
                PromelaTokenKind::Number(self.files.len().saturating_sub(1) as i64)
            }
            "__COUNTER__" => {
                self.counted += 1;
                PromelaTokenKind::Number(self.counted - 1)
            }
            _ => return token,
        };
        PromelaToken { kind, ..token }
    }

    /// Inserts the expansion of a macro before the next token. Returns false for the name of a function-like macro
    /// without arguments, which is not expanded.
    pub(super) fn expand(
        &mut self,
        token: &PromelaToken,
        hidden: &HideSet,
        name: Rc<str>,
        found: &MacroDefinition,
    ) -> Result<bool, Diagnostic> {
        let arguments = match &found.parameters {
            None => Vec::new(),
            Some(_) => {
                let Some(next) = self.raw()? else { return Ok(false) };
                if !next.0.is("(") {
                    self.ready.push_front(next);
                    return Ok(false);
                }
                self.line_ended |= next.0.after_line_end;
                let arguments = self.arguments(token.span, found.rest())?;
                self.check_argument_count(token.span, &name, found, arguments)?
            }
        };
        if hidden.len() >= MACROS_MAX {
            let error = format!("macros use each other more than {MACROS_MAX} deep here");
            return Err(Diagnostic::error(token.span, error)
                .help("let macros use constants or fewer other macros"));
        }
        let mut set = (**hidden).clone();
        set.push(name);
        let set = Rc::new(set);
        let mut made = self.substitute(MacroUse { found, arguments: &arguments, site: token })?;
        not_too_many(self.ready.len() + made.len(), token.span)?;
        self.spend(set.len() + made.len(), token.span)?;
        match (made.first_mut(), self.ready.front_mut()) {
            (Some((first, _)), _) => first.after_line_end = token.after_line_end,
            // An empty expansion passes the line end on to the next token.
            (None, Some((next, _))) => next.after_line_end |= token.after_line_end,
            (None, None) => self.line_ended |= token.after_line_end,
        }
        self.put(made, &set)?;
        Ok(true)
    }

    /// Inserts tokens that these macros, and possibly others, produced before the next token.
    fn put(&mut self, made: Vec<ExpandedToken>, set: &HideSet) -> Result<(), Diagnostic> {
        // Adjacent tokens often share a hide set.
        let mut last: Option<(HideSet, HideSet)> = None;
        for (made, theirs) in made.into_iter().rev() {
            let known = last.as_ref().filter(|(it, _)| Rc::ptr_eq(it, &theirs));
            let united = match known {
                Some((_, united)) => united.clone(),
                None => {
                    self.spend(theirs.len(), made.span)?;
                    union_hide_sets(set, &theirs)
                }
            };
            last = Some((theirs, united.clone()));
            self.ready.push_front((made, united));
        }
        Ok(())
    }

    /// Returns the arguments of a macro call, if their number is right.
    fn check_argument_count(
        &self,
        span: Span,
        name: &str,
        found: &MacroDefinition,
        mut arguments: Vec<MacroArgument>,
    ) -> Result<Vec<MacroArgument>, Diagnostic> {
        let expected = found.parameters.as_ref().map_or(0, Vec::len);
        // Empty brackets are no argument or one empty argument.
        if let ([only], 0) = (arguments.as_slice(), expected)
            && only.is_empty()
        {
            arguments.clear();
        }
        if found.takes_rest && arguments.len() + 1 == expected {
            arguments.push(Vec::new());
        }
        let count = arguments.len();
        match count == expected {
            true => Ok(arguments),
            false => {
                let error =
                    format!("the macro {name} takes {expected} arguments, but {count} are given");
                Err(Diagnostic::error(span, error))
            }
        }
    }

    /// Takes the arguments of a macro call, after its opening bracket. All arguments from number `rest` on are one.
    fn arguments(
        &mut self,
        span: Span,
        rest: Option<usize>,
    ) -> Result<Vec<MacroArgument>, Diagnostic> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let Some((token, hidden)) = self.raw()? else {
                return error(span, "the arguments of this macro have no closing bracket");
            };
            self.line_ended |= token.after_line_end;
            match &token.kind {
                PromelaTokenKind::Sign(",") if depth == 0 && rest != Some(arguments.len() - 1) => {
                    arguments.push(Vec::new());
                    continue;
                }
                PromelaTokenKind::Sign(")") if depth == 0 => return Ok(arguments),
                PromelaTokenKind::Sign("(") if depth == BRACKETS_MAX => {
                    let error = format!("more than {BRACKETS_MAX} brackets are open here");
                    return Err(Diagnostic::error(token.span, error)
                        .help("give parts of it names, as macros of their own"));
                }
                PromelaTokenKind::Sign("(") => depth += 1,
                PromelaTokenKind::Sign(")") => depth -= 1,
                _ => {}
            }
            if let Some(last) = arguments.last_mut() {
                last.push((token, hidden));
            }
        }
    }

    /// Returns the body of a macro, with its parameters replaced by arguments.
    fn substitute(&mut self, replaced: MacroUse<'_>) -> Result<Vec<ExpandedToken>, Diagnostic> {
        let MacroUse { found, arguments, site } = replaced;
        let body = found.body(arguments);
        let mut made: Vec<ExpandedToken> = Vec::new();
        let mut at = 0;
        while let Some(token) = body.get(at) {
            let next = body.get(at + 1);
            if token.is("#")
                && found.parameters.is_some()
                && let Some(number) = next.and_then(|it| found.parameter(it))
            {
                let text = spell_as_text(&arguments[number]);
                self.spend(text.len(), site.span)?;
                let kind = PromelaTokenKind::Text(text.into());
                made.push((
                    PromelaToken { kind, spelling: None, ..token.clone() },
                    HideSet::default(),
                ));
                at += 2;
            } else if next.is_some_and(|next| next.is("##")) && body.len() > at + 2 {
                made.extend(self.paste_operands(replaced, &body, &mut at)?);
            } else if let Some(number) = found.parameter(token) {
                let mut argument = self.expand_argument(arguments[number].clone())?;
                // It has the white space of the parameter.
                argument.iter_mut().take(1).for_each(|(it, _)| it.spaced = token.spaced);
                made.append(&mut argument);
                at += 1;
            } else {
                made.push((token.clone(), HideSet::default()));
                at += 1;
            }
        }
        for (token, _) in &mut made {
            (token.span, token.begins_line, token.after_line_end) = (site.span, false, false);
        }
        Ok(made)
    }

    /// Returns the result of `##` on the operands from token `at` of a body on; arguments are pasted unexpanded.
    fn paste_operands(
        &mut self,
        replaced: MacroUse<'_>,
        body: &[PromelaToken],
        at: &mut usize,
    ) -> Result<Vec<ExpandedToken>, Diagnostic> {
        let MacroUse { found, arguments, site } = replaced;
        let operand = |token: &PromelaToken| match found.parameter(token) {
            Some(number) => arguments[number].clone(),
            None => vec![(token.clone(), HideSet::default())],
        };
        let mut made = operand(&body[*at]);
        made.iter_mut().take(1).for_each(|(it, _)| it.spaced = body[*at].spaced);
        *at += 1;
        while body.get(*at).is_some_and(|it| it.is("##"))
            && let Some(right) = body.get(*at + 1)
        {
            *at += 2;
            let mut rest = operand(right);
            let is_rest = found.rest().is_some_and(|rest| found.parameter(right) == Some(rest));
            let after_comma = made.last().is_some_and(|(it, _)| it.is(","));
            if is_rest && after_comma {
                // A comma before an empty variadic argument is dropped.
                if rest.is_empty() {
                    made.pop();
                }
            } else if let (Some((left, _)), false) = (made.last(), rest.is_empty()) {
                let joined = left.text() + &rest.remove(0).0.text();
                let spaced = left.spaced;
                self.spend(joined.len(), site.span)?;
                made.pop();
                let tokens = lex(site.span.file, &joined).into_iter();
                let from = made.len();
                made.extend(tokens.map(|token| (token, HideSet::default())));
                made.iter_mut().skip(from).take(1).for_each(|(it, _)| it.spaced = spaced);
            }
            made.append(&mut rest);
        }
        Ok(made)
    }

    /// Expands an argument by itself.
    pub(super) fn expand_argument(
        &mut self,
        tokens: MacroArgument,
    ) -> Result<MacroArgument, Diagnostic> {
        self.arguments += 1;
        if let (true, Some((token, _))) = (self.arguments > ARGUMENTS_MAX, tokens.first()) {
            let error =
                format!("macros within arguments of macros are more than {ARGUMENTS_MAX} deep");
            return Err(Diagnostic::error(token.span, error)
                .help("give parts of it names, as macros of their own"));
        }
        let span = tokens.first().map_or(Span::default(), |(token, _)| token.span);
        self.spend(tokens.len(), span)?;
        let ready = std::mem::replace(&mut self.ready, tokens.into());
        let files = std::mem::take(&mut self.files);
        let mut made = Vec::new();
        while let Some(token) = self.next()? {
            made.push(token);
            not_too_many(made.len(), span)?;
        }
        (self.ready, self.files) = (ready, files);
        self.arguments -= 1;
        Ok(made)
    }
}

/// Returns an error if there are too many tokens for one macro or one argument.
fn not_too_many(tokens: usize, span: Span) -> Result<(), Diagnostic> {
    match tokens > EXPANSION_MAX {
        false => Ok(()),
        true => {
            let error = format!("this macro expands to more than {EXPANSION_MAX} tokens");
            let help = "use loops or processes for what is repeated";
            Err(Diagnostic::error(span, error).help(help))
        }
    }
}

/// Returns the union of two sets.
fn union_hide_sets(one: &HideSet, other: &HideSet) -> HideSet {
    if other.is_empty() {
        return one.clone();
    }
    let known: HashSet<&Rc<str>> = one.iter().collect();
    let new = other.iter().filter(|name| !known.contains(name));
    Rc::new(one.iter().chain(new).cloned().collect())
}

/// Returns the text that `#` produces from tokens; quotes within quotes are escaped.
fn spell_as_text(tokens: &[ExpandedToken]) -> String {
    spell(tokens.iter().map(|(token, _)| token), |token| {
        let text = token.text();
        match token.kind {
            PromelaTokenKind::Text(_) | PromelaTokenKind::Number(_) => escaped(&text),
            _ => text,
        }
    })
}

/// Returns tokens as a text, with a blank for white space.
pub(super) fn spell<'a>(
    tokens: impl Iterator<Item = &'a PromelaToken>,
    write: impl Fn(&PromelaToken) -> String,
) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.spaced && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&write(token));
    }
    text
}

/// Escapes a text for double quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
