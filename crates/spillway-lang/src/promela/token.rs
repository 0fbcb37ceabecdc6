//! Tokens of Promela, which are also those of the C preprocessor.

use crate::quote::shorten;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use std::fmt;
use std::rc::Rc;

/// A token and its position in the source.
#[derive(Clone, Debug)]
pub struct PromelaToken {
    /// The kind.
    pub kind: PromelaTokenKind,
    /// The span in the source; for a token that a macro produced, the span of the macro call.
    pub span: Span,
    /// Whether it is the first of its logical line, so that a `#` begins a directive.
    pub begins_line: bool,
    /// Whether SPIN sees the end of a line before this token. Comments of several lines and line joints count, because
    /// the C preprocessor prints the second line separately; the output of a macro is on one line.
    pub after_line_end: bool,
    /// Whether white space precedes it.
    pub spaced: bool,
    /// The spelling, if the kind does not determine it: of numbers only.
    pub spelling: Option<Rc<str>>,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromelaTokenKind {
    /// A name or a keyword.
    Name(Rc<str>),
    /// A number or a character between quotes.
    Number(i64),
    /// Text between double quotes, without them.
    Text(Rc<str>),
    /// An operator or a bracket.
    Sign(&'static str),
    /// A character that begins no token.
    Stray(char),
    /// Invalid text. It is an error only if it is parsed, not if `#if` excludes it.
    Broken(Rc<str>, LexicalError),
    /// The end of a line that ends a statement: an implicit semicolon.
    LineEnd,
    /// The end of the input.
    End,
}

/// The kinds of invalid text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexicalError {
    /// A string without a closing quote.
    OpenText,
    /// A comment without an end.
    OpenComment,
    /// Not exactly one character between single quotes.
    Character,
    /// An invalid or too large number.
    Number,
}

impl PromelaToken {
    /// Creates a token that is not in the source.
    pub fn synthetic(kind: PromelaTokenKind, span: Span) -> PromelaToken {
        PromelaToken {
            kind,
            span,
            begins_line: false,
            after_line_end: false,
            spaced: true,
            spelling: None,
        }
    }

    /// Returns whether it is this operator, bracket or keyword.
    pub fn is(&self, text: &str) -> bool {
        match &self.kind {
            PromelaTokenKind::Name(name) => &**name == text,
            PromelaTokenKind::Sign(sign) => *sign == text,
            PromelaTokenKind::LineEnd => text == ";",
            _ => false,
        }
    }

    /// Returns the name, if it is one.
    pub fn name(&self) -> Option<&Rc<str>> {
        match &self.kind {
            PromelaTokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the spelling.
    pub fn text(&self) -> String {
        self.spelling.as_ref().map_or_else(|| self.kind.to_string(), |it| it.to_string())
    }

    /// Returns the error for an invalid token.
    pub fn flaw(&self) -> Option<Diagnostic> {
        let PromelaTokenKind::Broken(text, flaw) = &self.kind else { return None };
        let start = Span { end: self.span.end.min(self.span.start + 1), ..self.span };
        Some(match flaw {
            LexicalError::OpenText => {
                Diagnostic::error(start, "this text is not closed on its line").help("add `\"`")
            }
            LexicalError::OpenComment => {
                let span = Span { end: self.span.end.min(self.span.start + 2), ..self.span };
                Diagnostic::error(span, "this comment is never closed").help("end it with `*/`")
            }
            LexicalError::Character => {
                Diagnostic::error(start, "this quote does not enclose a single character")
                    .help("write one character between two quotes, such as 'a' or '\\n'")
            }
            LexicalError::Number => {
                Diagnostic::error(self.span, format!("`{}` is no number", shorten(text)))
                    .help("numbers are decimal, or hexadecimal after 0x, and have 32 bits")
            }
        })
    }
}

impl fmt::Display for PromelaTokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PromelaTokenKind::Name(name) => f.write_str(name),
            PromelaTokenKind::Number(value) => write!(f, "{value}"),
            PromelaTokenKind::Text(text) => write!(f, "\"{text}\""),
            PromelaTokenKind::Sign(sign) => f.write_str(sign),
            PromelaTokenKind::Stray(stray) => write!(f, "{stray}"),
            PromelaTokenKind::Broken(text, _) => f.write_str(text),
            PromelaTokenKind::LineEnd => f.write_str(";"),
            PromelaTokenKind::End => f.write_str("end of file"),
        }
    }
}

/// The operators and brackets, longer ones first.
pub const SIGNS: [&str; 50] = [
    "...", "<->", "->", "::", "..", "??", "!!", "++", "--", "<=", ">=", "==", "!=", "&&", "||",
    "<<", ">>", "<>", "[]", "##", "/\\", "\\/", "{", "}", "(", ")", "[", "]", ";", ",", ":", ".",
    "?", "!", "+", "-", "*", "/", "%", "<", ">", "=", "&", "|", "^", "~", "@", "#", "$", "\\",
];

/// Other spellings of an operator that SPIN's lexer accepts by accident.
pub const ALIASES: [(&str, &str); 4] = [("-->", "->"), ("<=<", "<<"), (">=>", ">>"), ("!!=", "!=")];
