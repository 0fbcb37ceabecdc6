//! Line ends that end a statement.
//!
//! SPIN's lexer treats the end of a line as a semicolon in the body of a process or a claim and in a `typedef`, outside
//! round brackets, after a token that can be the last of a statement. The next token does not matter: `x = y` and `- 1`
//! on the next line are two statements, and `&&` at the start of a line is an error. SPIN's lexer drops a semicolon
//! before a closing bracket, before `->` and before another semicolon. After a closing bracket none is needed.

use super::{KEYWORDS, PromelaParser};
use crate::promela::ast::ProcessRole;
use crate::promela::token::{PromelaToken, PromelaTokenKind};
use spillway_base::source::Span;

/// The keywords that can end a statement.
const LAST_WORDS: [&str; 7] = ["fi", "od", "else", "break", "true", "false", "skip"];
/// The signs that can end a statement, except the curly bracket.
const LAST_SIGNS: [&str; 4] = [")", "]", "++", "--"];
/// Tokens that do not begin a statement, but often begin a line that continues an expression.
const NEVER_FIRST: [&str; 30] = [
    "&&", "||", "+", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "<<", ">>", "|", "^", "&",
    "=", "++", "--", ",", ":", ".", "?", "??", "!!", "@", "[", "]", "unless",
];

impl PromelaParser {
    /// Inserts a semicolon before the rest of the input if `last` ends its line and a statement.
    pub(super) fn end_line(&mut self, last: &PromelaToken) {
        if self.ends_line(last, self.peek()) {
            let span = Span { start: last.span.end, ..last.span };
            let end = PromelaToken {
                spaced: false,
                ..PromelaToken::synthetic(PromelaTokenKind::LineEnd, span)
            };
            self.input.push_front(end);
        }
    }

    /// Returns whether the token after the current one is `text`, and no statement ends between them.
    pub(super) fn next_is(&self, text: &str) -> bool {
        let next = self.peek_at(1);
        next.is(text) && !self.ends_line(self.peek(), next)
    }

    /// Returns whether a line end between two tokens ends a statement.
    fn ends_line(&self, last: &PromelaToken, next: &PromelaToken) -> bool {
        self.line_ends
            && self.brackets == 0
            && next.after_line_end
            && !["}", ";", "->"].iter().any(|it| next.is(it))
            && self.can_be_last(last, next)
    }

    fn can_be_last(&self, last: &PromelaToken, next: &PromelaToken) -> bool {
        let word = match &last.kind {
            PromelaTokenKind::Number(_) => return true,
            PromelaTokenKind::Sign(sign) => return LAST_SIGNS.contains(sign),
            PromelaTokenKind::Name(word) => &**word,
            _ => return false,
        };
        if LAST_WORDS.contains(&word) {
            return true;
        }
        // SPIN replaces it by `(timeout)`, but not in an inline.
        if word == "timeout" {
            return self.expansion == 0;
        }
        if KEYWORDS.contains(&word) || ["xr", "xs"].contains(&word) {
            return false;
        }
        // SPIN has separate kinds of tokens for names of types, processes and inlines. Here, a variable may have the
        // name of an inline.
        let is_variable = self.look_up(word).is_some();
        let is_process =
            |it: &super::PromelaProcess| it.role == ProcessRole::Process && *it.name.text == *word;
        let is_call = self.inlines.contains_key(word) && (!is_variable || next.is("("));
        is_variable && !is_call
            || !is_call
                && !self.structs.contains_key(word)
                && !self.model.processes.iter().any(is_process)
    }

    /// Returns a help text for a syntax error that an unintended end of a statement may have caused.
    pub(super) fn help_on_line_ends(&self) -> Option<String> {
        let here = self.peek();
        let ended = self.last.as_ref().is_some_and(|last| last.kind == PromelaTokenKind::LineEnd);
        let goes_on = ended && NEVER_FIRST.iter().any(|it| here.is(it));
        if !goes_on && here.kind != PromelaTokenKind::LineEnd {
            return None;
        }
        Some(match here.kind {
            PromelaTokenKind::LineEnd => {
                "the end of a line ends a statement, as in SPIN: write this on one line, or between \
                 round brackets"
                    .to_owned()
            }
            _ => format!(
                "the line before ends a statement, as in SPIN: end it with `{}`, or write round \
                 brackets around both lines",
                here.kind
            ),
        })
    }
}
