//! The preprocessor, with the directives and operators that Promela models use: `#include`, `#define` with and without
//! parameters, `#undef`, `#if` and related directives, `#` and `##`, `__LINE__` and `__FILE__`.
//!
//! Macros are expanded with *hide sets* (Prosser's algorithm, which the C standard describes): each token has the set
//! of macros that produced it, and is not expanded by them again. In messages, a token that a macro produced has the
//! span of the macro call.
//!
//! Macros and files that each use another one twice double the output at each level. So all work and all pending tokens
//! are counted and limited ([`Preprocessor::spend`]).

mod directives;
mod macros;

use super::foreign_flags;
use super::lex::{LexerPosition, lex};
use super::token::{LexicalError, PromelaToken, PromelaTokenKind};
use crate::DeclaredName;
use crate::Options;
use crate::name_suggestion;
use crate::quote::quote;
use directives::OpenConditional;
use macros::MacroDefinition;
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// The maximum number of tokens of an expanded model.
const TOKENS_MAX: usize = 1 << 20;
/// The maximum work on macros, in steps. A token costs a step for each macro that produced it; a text that `#` or `##`
/// produces costs a step for each character.
const WORK_MAX: usize = 16 << 20;

/// A model without directives and macros.
pub struct PreprocessedModel {
    /// All tokens of the model.
    pub model: Vec<PromelaToken>,
    /// The tokens of each other file, with the same macros.
    pub others: Vec<Vec<PromelaToken>>,
    /// The error for a name from the command line that occurs in no file, if there is one.
    pub unknown: Option<Diagnostic>,
    /// The macros that the texts define.
    pub macros: Vec<DeclaredName>,
}

/// Returns all tokens of the model in file 0 after includes and macro expansion, and those of each other file, with the
/// same macros.
pub fn preprocess(
    sources: &mut SourceMap,
    options: &Options,
    others: &[u32],
) -> Result<PreprocessedModel, Diagnostic> {
    let mut preprocessor = Preprocessor {
        sources,
        macros: HashMap::new(),
        named: Vec::new(),
        fixed: Vec::new(),
        met: HashSet::new(),
        files: Vec::new(),
        ready: VecDeque::new(),
        line_ended: false,
        conditions: Vec::new(),
        is_judging: false,
        arguments: 0,
        work: 0,
        includes: 0,
        included: 0,
        counted: 0,
    };
    for (name, value) in &options.defines {
        preprocessor.define_outside(name, &value.to_string())?;
    }
    for (name, text) in &options.macros {
        preprocessor.define_outside(name, text)?;
    }
    let model = preprocessor.whole(0)?;
    let others = others.iter().map(|&file| preprocessor.whole(file));
    let others: Result<Vec<_>, Diagnostic> = others.collect();
    let others = others?;
    let (unknown, macros) = (preprocessor.unknown_define(), preprocessor.named);
    Ok(PreprocessedModel { model, others, unknown, macros })
}

/// The macros that produced a token.
type HideSet = Rc<Vec<Rc<str>>>;

/// A token and the macros that produced it.
type ExpandedToken = (PromelaToken, HideSet);

struct IncludeFrame {
    number: u32,
    place: LexerPosition,
    /// The look-ahead token, if it has been read.
    next: Option<PromelaToken>,
}

struct Preprocessor<'a> {
    sources: &'a mut SourceMap,
    macros: HashMap<Rc<str>, Rc<MacroDefinition>>,
    /// The names of all macros that the texts define, with their positions.
    named: Vec<DeclaredName>,
    /// Names from the command line, which the model cannot redefine.
    fixed: Vec<Rc<str>>,
    /// Those of them that occur in some file.
    met: HashSet<Rc<str>>,
    files: Vec<IncludeFrame>,
    /// Tokens to read before the rest of the files.
    ready: VecDeque<ExpandedToken>,
    /// Whether a line ended in tokens that a macro consumed, so that the next token is on another line.
    line_ended: bool,
    conditions: Vec<OpenConditional>,
    /// Whether the condition of an `#if` is being expanded.
    is_judging: bool,
    /// The nesting depth of the arguments under expansion.
    arguments: usize,
    /// The work on macros so far.
    work: usize,
    /// The number of included files, and their total size in bytes.
    includes: usize,
    included: usize,
    /// The number of reads of `__COUNTER__`.
    counted: i64,
}

fn error<T>(span: Span, message: impl Into<String>) -> Result<T, Diagnostic> {
    Err(Diagnostic::error(span, message))
}

impl Preprocessor<'_> {
    /// Counts steps of work on macros; returns an error if there are too many.
    fn spend(&mut self, steps: usize, span: Span) -> Result<(), Diagnostic> {
        self.work += steps;
        match self.work > WORK_MAX {
            false => Ok(()),
            true => {
                let text = format!("expanding macros up to here takes more than {WORK_MAX} steps");
                Err(Diagnostic::error(span, text).help(
                    "let macros use others less often: use loops or processes for what is repeated",
                ))
            }
        }
    }

    /// Starts to read a file.
    fn open(&mut self, number: u32) {
        self.files.push(IncludeFrame { number, place: LexerPosition::default(), next: None });
    }

    /// Returns the error that a name from the command line does not occur in the model, if there is one.
    fn unknown_define(&self) -> Option<Diagnostic> {
        let name = self.fixed.iter().find(|name| !self.met.contains(*name))?;
        let is_own = |it: &&Rc<str>| !self.fixed.contains(it);
        let macros: BTreeSet<&str> = self.macros.keys().filter(is_own).map(|it| &**it).collect();
        let macros: Vec<&str> = macros.into_iter().collect();
        let message = format!("{} is defined, and is nowhere in the model", quote(name));
        let help = foreign_flags::foreign_macro_replacement(name)
            .unwrap_or_else(|| name_suggestion::unknown_name_help(name, &macros, "macros"));
        Some(Diagnostic::error(Span::default(), message).help(help))
    }

    /// Returns all tokens of a file and its includes, the end token last.
    fn whole(&mut self, number: u32) -> Result<Vec<PromelaToken>, Diagnostic> {
        self.open(number);
        let mut tokens = Vec::new();
        while let Some((token, _)) = self.next()? {
            if let Some(flaw) = token.flaw() {
                return Err(flaw);
            }
            if tokens.len() == TOKENS_MAX {
                let error = format!("the model has more than {TOKENS_MAX} tokens");
                return Err(Diagnostic::error(token.span, error)
                    .help("use arrays, loops or processes for what is repeated"));
            }
            tokens.push(token);
        }
        if let Some(open) = self.conditions.last() {
            return Err(Diagnostic::error(open.span, "this condition has no #endif"));
        }
        let end = tokens.last().map_or(Span::default(), |last| last.span);
        tokens.push(PromelaToken {
            after_line_end: true,
            ..PromelaToken::synthetic(PromelaTokenKind::End, end)
        });
        Ok(tokens)
    }

    /// Returns the next token of the innermost file, unprocessed.
    fn read(&mut self) -> Option<PromelaToken> {
        let file = self.files.last_mut()?;
        if let Some(token) = file.next.take() {
            return Some(token);
        }
        let token = file.place.token(file.number, &self.sources.file(file.number).text)?;
        if let Some(name) = token.name().filter(|it| self.fixed.contains(it)) {
            self.met.insert(name.clone());
        }
        Some(token)
    }

    fn rest_of_line(&mut self) -> Vec<PromelaToken> {
        let mut line = Vec::new();
        while let Some(token) = self.read() {
            if token.begins_line {
                if let Some(file) = self.files.last_mut() {
                    file.next = Some(token);
                }
                break;
            }
            line.push(token);
        }
        line
    }

    /// Returns the next token of the files after directives, before macro expansion.
    fn raw(&mut self) -> Result<Option<ExpandedToken>, Diagnostic> {
        if let Some(token) = self.ready.pop_front() {
            return Ok(Some(token));
        }
        loop {
            let Some(mut token) = self.read() else {
                if self.files.pop().is_none() {
                    return Ok(None);
                }
                continue;
            };
            if token.is("#") && token.begins_line {
                let line = self.rest_of_line();
                self.directive(token.span, &line)?;
            } else if let PromelaTokenKind::Broken(_, LexicalError::OpenComment) = token.kind {
                return token.flaw().map_or(Ok(None), Err);
            } else if self.is_active() {
                token.after_line_end |= std::mem::take(&mut self.line_ended);
                return Ok(Some((token, HideSet::default())));
            }
        }
    }

    /// Returns the next token after macro expansion.
    fn next(&mut self) -> Result<Option<ExpandedToken>, Diagnostic> {
        loop {
            let Some((token, hidden)) = self.raw()? else { return Ok(None) };
            self.spend(hidden.len(), token.span)?;
            if self.is_judging && token.is("defined") {
                return Ok(Some((self.evaluate_defined(&token)?, hidden)));
            }
            let Some(name) = token.name().filter(|name| !hidden.contains(name)) else {
                return Ok(Some((token, hidden)));
            };
            let Some(found) = self.macros.get(name).cloned() else {
                return Ok(Some((self.predefined(token), hidden)));
            };
            if !self.expand(&token, &hidden, name.clone(), &found)? {
                return Ok(Some((token, hidden)));
            }
        }
    }
}
