//! Preprocessor directives: lines that begin with `#`.

use super::macros::spell;
use super::{HideSet, Preprocessor, error};
use crate::promela::condition_evaluator;
use crate::promela::token::{PromelaToken, PromelaTokenKind};
use spillway_base::diag::Diagnostic;
use spillway_base::source::{self, Span};
use std::path::Path;

/// The maximum nesting of included files.
const DEPTH_MAX: usize = 40;
/// The maximum number of included files, counting repetitions.
const INCLUDES_MAX: usize = 10_000;
/// The maximum total size of included files, in bytes.
const INCLUDED_MAX: usize = 64 << 20;

/// An open `#if`.
pub(super) struct OpenConditional {
    pub(super) span: Span,
    /// Whether the tokens around it are active.
    outer: bool,
    /// Whether the tokens of the current branch are active.
    active: bool,
    /// Whether a branch has been chosen, or none may be chosen.
    decided: bool,
    has_else: bool,
}

impl Preprocessor<'_> {
    /// Returns whether tokens are active here.
    pub(super) fn is_active(&self) -> bool {
        self.conditions.last().is_none_or(|it| it.outer && it.active)
    }

    pub(super) fn directive(
        &mut self,
        span: Span,
        line: &[PromelaToken],
    ) -> Result<(), Diagnostic> {
        let Some(word) = line.first() else { return Ok(()) };
        let name = word.name().map_or("", |name| name);
        let rest = &line[1..];
        match name {
            "if" | "ifdef" | "ifndef" => self.begin(name, span, rest),
            "elif" | "else" | "endif" => self.continue_conditional(name, span, rest),
            _ if !self.is_active() => Ok(()),
            "define" => self.define(word.span, rest),
            "undef" => {
                let Some(name) = rest.first().and_then(PromelaToken::name) else {
                    return error(word.span, "#undef needs the name of a macro");
                };
                if !self.fixed.contains(name) {
                    self.macros.remove(name);
                }
                Ok(())
            }
            "include" => self.include(word.span, rest),
            "error" => {
                error(word.span, format!("#error {}", spell(rest.iter(), PromelaToken::text)))
            }
            "warning" | "pragma" | "line" | "ident" => Ok(()),
            _ if matches!(word.kind, PromelaTokenKind::Number(_)) => Ok(()),
            _ => Err(Diagnostic::error(word.span, format!("#{} is no directive", word.kind)).help(
                "there are #include, #define, #undef, #if, #ifdef, #ifndef, #elif, #else, #endif",
            )),
        }
    }

    fn begin(&mut self, name: &str, span: Span, rest: &[PromelaToken]) -> Result<(), Diagnostic> {
        let outer = self.is_active();
        let holds = outer && self.condition(name, span, rest)?;
        self.conditions.push(OpenConditional {
            span,
            outer,
            active: holds,
            decided: holds || !outer,
            has_else: false,
        });
        Ok(())
    }

    fn continue_conditional(
        &mut self,
        name: &str,
        span: Span,
        rest: &[PromelaToken],
    ) -> Result<(), Diagnostic> {
        let Some(mut condition) = self.conditions.pop() else {
            return error(span, format!("#{name} without #if"));
        };
        if name == "endif" {
            return Ok(());
        }
        if condition.has_else {
            return error(span, format!("#{name} after #else"));
        }
        condition.has_else = name == "else";
        condition.active =
            !condition.decided && (name == "else" || self.condition("if", span, rest)?);
        condition.decided |= condition.active;
        self.conditions.push(condition);
        Ok(())
    }

    fn condition(
        &mut self,
        name: &str,
        span: Span,
        rest: &[PromelaToken],
    ) -> Result<bool, Diagnostic> {
        if name == "if" {
            return self.evaluate_condition(span, rest);
        }
        match rest.first().and_then(PromelaToken::name) {
            Some(macro_name) => Ok(self.is_defined(macro_name) == (name == "ifdef")),
            None => error(span, format!("#{name} needs the name of a macro")),
        }
    }

    /// Evaluates the condition of an `#if`.
    fn evaluate_condition(
        &mut self,
        span: Span,
        line: &[PromelaToken],
    ) -> Result<bool, Diagnostic> {
        if let Some(flaw) = line.iter().find_map(PromelaToken::flaw) {
            return Err(flaw);
        }
        let tokens = line.iter().map(|token| (token.clone(), HideSet::default())).collect();
        self.is_judging = true;
        let tokens = self.expand_argument(tokens)?;
        self.is_judging = false;
        let tokens: Vec<PromelaToken> = tokens.into_iter().map(|(token, _)| token).collect();
        Ok(condition_evaluator::evaluate(&tokens, span)? != 0)
    }

    /// Returns 1 or 0 for `defined X` or `defined(X)`, after its first word. The name is not expanded.
    pub(super) fn evaluate_defined(
        &mut self,
        word: &PromelaToken,
    ) -> Result<PromelaToken, Diagnostic> {
        let mut next = self.raw()?;
        let bracket = next.as_ref().is_some_and(|(token, _)| token.is("("));
        if bracket {
            next = self.raw()?;
        }
        let Some(name) = next.as_ref().and_then(|(token, _)| token.name()) else {
            return error(word.span, "`defined` needs the name of a macro");
        };
        let known = PromelaTokenKind::Number(self.is_defined(name).into());
        if bracket && !self.raw()?.is_some_and(|(token, _)| token.is(")")) {
            return error(word.span, "the bracket after `defined` is not closed");
        }
        Ok(PromelaToken { kind: known, ..word.clone() })
    }

    fn include(&mut self, span: Span, rest: &[PromelaToken]) -> Result<(), Diagnostic> {
        // The name may be a macro.
        let line = rest.iter().map(|token| (token.clone(), HideSet::default())).collect();
        let line = self.expand_argument(line)?;
        let Some(PromelaTokenKind::Text(name)) = line.first().map(|(token, _)| &token.kind) else {
            return Err(Diagnostic::error(span, "#include needs the name of a file")
                .help("write it between double quotes"));
        };
        if self.files.len() >= DEPTH_MAX {
            return error(span, format!("files include each other more than {DEPTH_MAX} deep"));
        }
        let from = self.files.last().map_or(0, |file| file.number);
        let folder = Path::new(&self.sources.file(from).name).parent().unwrap_or(Path::new(""));
        let path = folder.join(&**name);
        let name = path.display().to_string();
        // A resumed search supplies the files with which it began.
        let kept = self.sources.iter().skip(1).position(|it| it.name == name && !it.is_property);
        let number = match kept {
            Some(number) => number as u32 + 1,
            None => {
                let bytes = source::read(&path).map_err(|why| {
                    let message =
                        format!("cannot read the included file {}: {why}", path.display());
                    Diagnostic::error(span, message)
                })?;
                let text = match String::from_utf8(bytes) {
                    Ok(text) => text,
                    Err(latin) => latin.into_bytes().into_iter().map(char::from).collect(),
                };
                self.not_too_many(span, text.len())?;
                self.sources.add(name, text)
            }
        };
        self.includes += 1;
        self.included += self.sources.file(number).text.len();
        self.not_too_many(span, 0)?;
        self.open(number);
        Ok(())
    }

    /// Returns an error if there are too many included files, or too many bytes with `more` that follow.
    fn not_too_many(&self, span: Span, more: usize) -> Result<(), Diagnostic> {
        let limit = match (self.includes > INCLUDES_MAX, self.included + more > INCLUDED_MAX) {
            (false, false) => return Ok(()),
            (true, _) => format!("more than {INCLUDES_MAX} files"),
            (_, true) => format!("more than {} MiB", INCLUDED_MAX >> 20),
        };
        Err(Diagnostic::error(span, format!("{limit} are included up to here"))
            .help("include each file once, between #ifndef and #endif"))
    }
}
