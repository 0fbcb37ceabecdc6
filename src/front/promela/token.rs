//! Tokens of Promela, which are those of C's preprocessor too.

use crate::diag::Diagnostic;
use crate::front::quote::shorten;
use crate::source::Span;
use std::fmt;
use std::rc::Rc;

/// A token and where the user wrote it.
#[derive(Clone, Debug)]
pub struct PromelaToken {
    /// What it is.
    pub kind: PromelaTokenKind,
    /// Where it stands; for what a macro made, where the macro is used.
    pub span: Span,
    /// Whether it is the first of its logical line, so that a `#` begins a directive.
    pub begins_line: bool,
    /// Whether SPIN sees the end of a line between the token before and this one. Comments of several lines and lines joined
    /// by a backslash count, as the C preprocessor prints the second line apart; what a macro makes is on one line.
    pub after_line_end: bool,
    /// Whether there is white space before it.
    pub spaced: bool,
    /// How it is written, if its kind does not tell: of numbers only.
    pub spelling: Option<Rc<str>>,
}

/// What a token is.
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
    /// What is no token, which is an error only where it is read: not where `#if` leaves it out.
    Broken(Rc<str>, LexicalError),
    /// The end of a line that ends a statement: a semicolon that nobody wrote.
    LineEnd,
    /// The end of everything.
    End,
}

/// Why something is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexicalError {
    /// A text without a closing quote.
    OpenText,
    /// A comment without an end.
    OpenComment,
    /// Not one character between single quotes.
    Character,
    /// No number, or too large.
    Number,
}

impl PromelaToken {
    /// A token that nobody wrote.
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

    /// Whether it is this operator, bracket or keyword.
    pub fn is(&self, text: &str) -> bool {
        match &self.kind {
            PromelaTokenKind::Name(name) => &**name == text,
            PromelaTokenKind::Sign(sign) => *sign == text,
            PromelaTokenKind::LineEnd => text == ";",
            _ => false,
        }
    }

    /// The name it is.
    pub fn name(&self) -> Option<&Rc<str>> {
        match &self.kind {
            PromelaTokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// How it is written.
    pub fn text(&self) -> String {
        self.spelling.as_ref().map_or_else(|| self.kind.to_string(), |it| it.to_string())
    }

    /// The error that it is no token, if it is none.
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

/// Other ways to write an operator, which SPIN's lexer happens to accept.
pub const ALIASES: [(&str, &str); 4] = [("-->", "->"), ("<=<", "<<"), (">=>", ">>"), ("!!=", "!=")];
