//! Tokens of Promela, which are those of C's preprocessor too.

use crate::source::Span;
use std::fmt;
use std::rc::Rc;

/// A token and where the user wrote it.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands; for what a macro made, where the macro is used.
    pub span: Span,
    /// Whether it is the first of its line.
    pub begins_line: bool,
    /// Whether there is white space before it.
    pub spaced: bool,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
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
    /// The end of everything.
    End,
}

impl Token {
    /// Whether it is this operator, bracket or keyword.
    pub fn is(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Name(name) => &**name == text,
            Kind::Sign(sign) => *sign == text,
            _ => false,
        }
    }

    /// The name it is.
    pub fn name(&self) -> Option<&Rc<str>> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Name(name) => f.write_str(name),
            Kind::Number(value) => write!(f, "{value}"),
            Kind::Text(text) => write!(f, "\"{text}\""),
            Kind::Sign(sign) => f.write_str(sign),
            Kind::Stray(stray) => write!(f, "{stray}"),
            Kind::End => f.write_str("end of file"),
        }
    }
}

/// The operators and brackets, longer ones first.
pub const SIGNS: [&str; 50] = [
    "...", "<->", "->", "::", "..", "??", "!!", "++", "--", "<=", ">=", "==", "!=", "&&", "||",
    "<<", ">>", "<>", "[]", "##", "/\\", "\\/", "{", "}", "(", ")", "[", "]", ";", ",", ":", ".",
    "?", "!", "+", "-", "*", "/", "%", "<", ">", "=", "&", "|", "^", "~", "@", "#", "$", "\\",
];
