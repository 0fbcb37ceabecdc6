//! The tokens of an automaton as text.

use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HoaToken {
    pub kind: HoaTokenKind,
    pub span: Span,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HoaTokenKind {
    /// The name of a header item, without its colon.
    Header(String),
    /// Any other word.
    Name(String),
    /// `@name`.
    Alias(String),
    Number(usize),
    /// Text in double quotes.
    Text(String),
    /// `--BODY--` and similar markers.
    Mark(String),
    Sign(char),
    End,
}

impl HoaTokenKind {
    /// Returns the description in messages.
    pub fn describe(&self) -> String {
        match self {
            HoaTokenKind::Header(it) => format!("`{it}:`"),
            HoaTokenKind::Name(it) | HoaTokenKind::Mark(it) => format!("`{it}`"),
            HoaTokenKind::Alias(it) => format!("`@{it}`"),
            HoaTokenKind::Number(it) => format!("`{it}`"),
            HoaTokenKind::Text(it) => format!("{it:?}"),
            HoaTokenKind::Sign(it) => format!("`{it}`"),
            HoaTokenKind::End => "the end of the file".to_owned(),
        }
    }
}

/// Returns all tokens of a text, with the end last.
pub(super) fn lex(text: &str, file: u32) -> Result<Vec<HoaToken>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (kind, length) = next(&text[at..]).map_err(|(length, message)| {
            Diagnostic::error(Span::new(file, at..at + length), message)
        })?;
        if let Some(kind) = kind {
            tokens.push(HoaToken { kind, span: Span::new(file, at..at + length) });
        }
        at += length;
    }
    tokens
        .push(HoaToken { kind: HoaTokenKind::End, span: Span::new(file, text.len()..text.len()) });
    Ok(tokens)
}

/// Returns the first token, or `None` for blanks and comments, and its length. An error has the number of wrong bytes
/// and a message.
fn next(rest: &str) -> Result<(Option<HoaTokenKind>, usize), (usize, String)> {
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.');
    let word = |from: usize| {
        let end = rest[from..].find(|it| !is_word(it)).map_or(rest.len(), |end| from + end);
        (rest[from..end].to_owned(), end)
    };
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_whitespace() {
        Ok((None, first.len_utf8()))
    } else if rest.starts_with("/*") {
        match comment_length(rest) {
            Some(end) => Ok((None, end)),
            None => Err((2, "this comment does not end".to_owned())),
        }
    } else if rest.starts_with("--") {
        let (mark, end) = word(0);
        Ok((Some(HoaTokenKind::Mark(mark)), end))
    } else if first == '"' {
        text(rest)
    } else if first == '@' {
        let (name, end) = word(1);
        Ok((Some(HoaTokenKind::Alias(name)), end))
    } else if first.is_ascii_digit() {
        let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        match rest[..end].parse() {
            Ok(number) => Ok((Some(HoaTokenKind::Number(number)), end)),
            Err(_) => Err((end, "this number is too large".to_owned())),
        }
    } else if first.is_ascii_alphabetic() || first == '_' {
        let (name, end) = word(0);
        match rest[end..].starts_with(':') {
            true => Ok((Some(HoaTokenKind::Header(name)), end + 1)),
            false => Ok((Some(HoaTokenKind::Name(name)), end)),
        }
    } else {
        Ok((Some(HoaTokenKind::Sign(first)), first.len_utf8()))
    }
}

/// Returns the length of the comment at the beginning. Comments may be nested.
fn comment_length(rest: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    while let Some(next) = rest[at..].find(['/', '*']).map(|found| at + found) {
        let (change, length) = match rest.as_bytes().get(next..next + 2)? {
            b"/*" => (1, 2),
            b"*/" => (-1, 2),
            _ => (0, 1),
        };
        (depth, at) = (depth + change, next + length);
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn text(rest: &str) -> Result<(Option<HoaTokenKind>, usize), (usize, String)> {
    let (mut text, mut escaped) = (String::new(), false);
    for (at, it) in rest.char_indices().skip(1) {
        match it {
            '"' if !escaped => return Ok((Some(HoaTokenKind::Text(text)), at + 1)),
            '\\' if !escaped => escaped = true,
            it => {
                text.push(it);
                escaped = false;
            }
        }
    }
    Err((1, "this text does not end".to_owned()))
}
