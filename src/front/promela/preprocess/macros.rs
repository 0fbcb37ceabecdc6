//! Macros: what they are, and what they expand to.

use super::{ExpandedToken, HideSet, Preprocessor, error, lex};
use crate::diag::Diagnostic;
use crate::front::promela::token::{PromelaToken, PromelaTokenKind};
use crate::source::Span;
use std::collections::HashSet;
use std::rc::Rc;

/// The most tokens that a macro, or an argument of one, expands to.
const EXPANSION_MAX: usize = 1 << 17;
/// The deepest nest of macros whose bodies use each other.
const MACROS_MAX: usize = 1000;
/// The deepest nest of macros within arguments of macros.
const ARGUMENTS_MAX: usize = 100;
/// The deepest nest of brackets in such an argument; no expression has as many.
const BRACKETS_MAX: usize = 1000;

/// What the last parameter of a macro is called that takes any number of arguments, unless it has a name.
const REST: &str = "__VA_ARGS__";
/// What stands before a part of a body that is left out where there are no such arguments.
const IF_REST: &str = "__VA_OPT__";

/// The macros that always are.
const PREDEFINED: [&str; 4] = ["__LINE__", "__FILE__", "__COUNTER__", "__INCLUDE_LEVEL__"];

pub(super) struct MacroDefinition {
    /// The names of the parameters, if it has a list of them.
    parameters: Option<Vec<Rc<str>>>,
    /// Whether the last parameter stands for all arguments from there on.
    takes_rest: bool,
    body: Vec<PromelaToken>,
}

/// An argument of a use of a macro.
type MacroArgument = Vec<ExpandedToken>;

/// A use of a macro.
#[derive(Clone, Copy)]
struct MacroUse<'u> {
    found: &'u MacroDefinition,
    arguments: &'u [MacroArgument],
    /// The name of the macro, where it is used.
    site: &'u PromelaToken,
}

impl MacroDefinition {
    /// The number of the parameter that a token is.
    fn parameter(&self, token: &PromelaToken) -> Option<usize> {
        let name = token.name()?;
        self.parameters.as_ref()?.iter().position(|parameter| parameter == name)
    }

    /// The number of the parameter that stands for any number of arguments.
    fn rest(&self) -> Option<usize> {
        self.parameters.as_ref()?.len().checked_sub(1).filter(|_| self.takes_rest)
    }

    /// The body, with or without the parts that belong to more arguments.
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
    /// Defines a macro as the command line has it; its name may have parameters.
    pub(super) fn define_outside(&mut self, name: &str, text: &str) -> Result<(), Diagnostic> {
        let mut line = lex(0, &format!("{name} {text}"));
        line.iter_mut().for_each(|it| it.span = Span::default());
        let Some(own) = line.first().and_then(PromelaToken::name).cloned() else {
            self.fixed.push(name.into());
            return Ok(());
        };
        // The last of several counts.
        self.fixed.retain(|it| *it != own);
        self.define(Span::default(), &line)?;
        self.fixed.push(own);
        Ok(())
    }

    /// `#define`, what comes after it being given.
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
            // `...` has a name of its own if one stands directly before it.
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
        Ok(())
    }

    /// Whether there is a macro of this name.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name) || PREDEFINED.contains(&name)
    }

    /// What a name stands for that is no macro of the model.
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

    /// Puts the expansion of a macro before what comes next; false if it is a function-like macro
    /// without arguments, which stands for itself.
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
            // What stands for nothing leaves the end of the line to the next.
            (None, Some((next, _))) => next.after_line_end |= token.after_line_end,
            (None, None) => self.line_ended |= token.after_line_end,
        }
        self.put(made, &set)?;
        Ok(true)
    }

    /// Puts what came from these macros, and from others, before what comes next.
    fn put(&mut self, made: Vec<ExpandedToken>, set: &HideSet) -> Result<(), Diagnostic> {
        // Tokens that come from the same place have one set.
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

    /// The arguments of a use, if they are as many as the macro takes.
    fn check_argument_count(
        &self,
        span: Span,
        name: &str,
        found: &MacroDefinition,
        mut arguments: Vec<MacroArgument>,
    ) -> Result<Vec<MacroArgument>, Diagnostic> {
        let expected = found.parameters.as_ref().map_or(0, Vec::len);
        // Nothing between the brackets is no argument, or one that is empty.
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

    /// The arguments of a use, the opening bracket being read. From the argument with number `rest` on all are one.
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

    /// The body of a macro, with its arguments in the place of its parameters, where it is used.
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
                // It stands where the parameter does.
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

    /// What `##` makes of the operands from token `at` of a body on; arguments are pasted as they are written.
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
                // A comma before no further arguments goes with them.
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

    /// An argument by itself, expanded.
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

/// An error if so many tokens are too many for one macro, or for one argument.
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

/// The names of both sets, each once.
fn union_hide_sets(one: &HideSet, other: &HideSet) -> HideSet {
    if other.is_empty() {
        return one.clone();
    }
    let known: HashSet<&Rc<str>> = one.iter().collect();
    let new = other.iter().filter(|name| !known.contains(name));
    Rc::new(one.iter().chain(new).cloned().collect())
}

/// Tokens as a text that `#` makes of them; quotes within quotes are escaped.
fn spell_as_text(tokens: &[ExpandedToken]) -> String {
    spell(tokens.iter().map(|(token, _)| token), |token| {
        let text = token.text();
        match token.kind {
            PromelaTokenKind::Text(_) | PromelaTokenKind::Number(_) => escaped(&text),
            _ => text,
        }
    })
}

/// Tokens as a text, with a blank where there is white space.
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

/// A text as it is written between double quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
