//! The lexer of Promela: from text to tokens, one at a time. Comments and line joints are white space.
//!
//! Invalid text becomes a token as well ([`PromelaTokenKind::Broken`]): only the reader of the token knows whether it
//! is an error.

use super::token::{ALIASES, LexicalError, PromelaToken, PromelaTokenKind, SIGNS};
use crate::cursor::TextCursor;
use spillway_base::source::Span;

/// The characters that end lines; both together are one line end.
const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// Returns all tokens of a text, without an end token.
pub fn lex(file: u32, text: &str) -> Vec<PromelaToken> {
    let mut place = LexerPosition::default();
    std::iter::from_fn(|| place.token(file, text)).collect()
}

/// The position of a lexer in a text.
#[derive(Clone, Debug)]
pub struct LexerPosition {
    /// A byte offset on a character boundary.
    at: usize,
    /// Whether the next token is the first of its logical line.
    begins_line: bool,
    /// Whether the next token is on another line than the one before.
    line_changed: bool,
}

impl Default for LexerPosition {
    fn default() -> Self {
        LexerPosition { at: 0, begins_line: true, line_changed: true }
    }
}

impl LexerPosition {
    /// Returns the next token of a text, if there is one.
    pub fn token(&mut self, file: u32, text: &str) -> Option<PromelaToken> {
        let cursor = TextCursor::within(Span::new(file, self.at..text.len()), text);
        let (begins_line, line_changed) = (self.begins_line, self.line_changed);
        let mut lexer = PromelaLexer { cursor, begins_line, line_changed, spaced: false };
        let token = lexer.token();
        let at = lexer.cursor.peek_span(0).start as usize;
        let (begins_line, line_changed) = (lexer.begins_line, lexer.line_changed);
        *self = LexerPosition { at, begins_line, line_changed };
        token
    }
}

struct PromelaLexer<'a> {
    cursor: TextCursor<'a>,
    begins_line: bool,
    line_changed: bool,
    spaced: bool,
}

impl PromelaLexer<'_> {
    fn token(&mut self) -> Option<PromelaToken> {
        let comment = self.skip_blank();
        let start = comment.as_ref().map_or(self.cursor.peek_span(0), |(_, span)| *span);
        let first = self.cursor.rest().chars().next();
        let (begins_line, spaced) = (self.begins_line, self.spaced);
        // The C preprocessor breaks the line at white space.
        let after_line_end = self.line_changed && (spaced || begins_line);
        self.line_changed &= !after_line_end;
        let (kind, spelling) = match (comment, first) {
            (Some((comment, _)), _) => (comment, None),
            (None, None) => return None,
            (None, Some(first)) => self.kind(first),
        };
        self.begins_line = false;
        let span = start.to(self.cursor.peek_span(0));
        let spelling = spelling.map(Into::into);
        Some(PromelaToken { kind, span, begins_line, after_line_end, spaced, spelling })
    }

    /// Reads a token that begins with `first`. Returns its kind, and its spelling if the kind does not determine it.
    fn kind(&mut self, first: char) -> (PromelaTokenKind, Option<String>) {
        match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                let name = self.word(|c| c.is_alphanumeric() || c == '_');
                (PromelaTokenKind::Name(name.into()), None)
            }
            '0'..='9' => self.number(),
            '"' => (self.quoted(), None),
            '\'' => self.character(),
            _ => (self.sign(first), None),
        }
    }

    /// Takes consecutive characters that satisfy `belongs`, also across line joints.
    fn word(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let mut word = String::new();
        loop {
            let rest = self.cursor.rest();
            let span = self.cursor.take(rest.find(|c| !belongs(c)).unwrap_or(rest.len()));
            word += self.cursor.text(span);
            let joint = joint(self.cursor.rest());
            if joint == 0 || !self.cursor.rest()[joint..].starts_with(&belongs) {
                return word;
            }
            self.cursor.take(joint);
            self.line_changed = true;
        }
    }

    /// Skips white space and comments; returns a comment that is not closed.
    fn skip_blank(&mut self) -> Option<(PromelaTokenKind, Span)> {
        loop {
            let rest = self.cursor.rest();
            let joint = joint(rest);
            let length = if let Some(opening) = length_of("/*", rest) {
                let Some(length) = rest[opening..].find("*/") else {
                    let span = self.cursor.take(rest.len());
                    return Some((
                        PromelaTokenKind::Broken("/*".into(), LexicalError::OpenComment),
                        span,
                    ));
                };
                self.line_changed |= rest[..opening + length].contains(LINE_ENDS);
                opening + length + 2
            } else if let Some(opening) = length_of("//", rest) {
                self.comment_of_line(opening)
            } else if joint > 0 {
                self.line_changed = true;
                self.cursor.take(joint);
                continue;
            } else if rest.starts_with("*/") && !rest[2..].starts_with(['/', '*']) {
                // A remainder of nested comments; not a `*` before a comment.
                2
            } else {
                match rest.chars().next() {
                    Some(blank) if blank.is_whitespace() || blank == '\u{feff}' => {
                        let ends_line = LINE_ENDS.contains(&blank);
                        self.begins_line |= ends_line;
                        self.line_changed |= ends_line;
                        blank.len_utf8()
                    }
                    _ => return None,
                }
            };
            self.spaced = true;
            self.cursor.take(length);
        }
    }

    /// Returns the length of a comment up to the end of its line, line joints included.
    fn comment_of_line(&mut self, opening: usize) -> usize {
        let rest = self.cursor.rest();
        self.line_changed |= rest[..opening].contains(LINE_ENDS);
        let mut length = opening;
        loop {
            let Some(found) = rest[length..].find(['\n', '\r', '\\']) else { return rest.len() };
            length += found;
            match (joint(&rest[length..]), rest.as_bytes()[length]) {
                (0, b'\\') => length += 1,
                (0, _) => return length,
                (joint, _) => {
                    self.line_changed = true;
                    length += joint;
                }
            }
        }
    }

    fn number(&mut self) -> (PromelaTokenKind, Option<String>) {
        let digits = self.word(|c| c.is_ascii_alphanumeric());
        let parsed = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => digits.trim_end_matches(['u', 'U', 'l', 'L']).parse(),
        };
        match parsed {
            Ok(value) if value <= i64::from(u32::MAX) => {
                let kind = PromelaTokenKind::Number(i64::from(value as i32));
                let spelling = (kind.to_string() != digits).then_some(digits);
                (kind, spelling)
            }
            _ => (PromelaTokenKind::Broken(digits.into(), LexicalError::Number), None),
        }
    }

    fn quoted(&mut self) -> PromelaTokenKind {
        let rest = self.cursor.rest();
        let bytes = rest.as_bytes();
        let (mut text, mut at, mut from) = (String::new(), 1, 1);
        loop {
            match bytes.get(at) {
                None | Some(b'\n' | b'\r') => {
                    let end = at.min(rest.len());
                    self.cursor.take(end);
                    return PromelaTokenKind::Broken(rest[..end].into(), LexicalError::OpenText);
                }
                Some(b'"') => {
                    text += &rest[from..at];
                    self.cursor.take(at + 1);
                    return PromelaTokenKind::Text(text.into());
                }
                Some(b'\\') => match joint(&rest[at..]) {
                    0 => at += 1 + rest[at + 1..].chars().next().map_or(0, char::len_utf8),
                    joint => {
                        text += &rest[from..at];
                        self.line_changed = true;
                        at += joint;
                        from = at;
                    }
                },
                Some(_) => at += 1,
            }
        }
    }

    /// Reads a character between quotes. An invalid one extends to the next quote, or to the end of the line.
    fn character(&mut self) -> (PromelaTokenKind, Option<String>) {
        let rest = self.cursor.rest();
        let bytes = rest.as_bytes();
        let (value, length) = match bytes {
            [_, b'\\', escaped, b'\'', ..] => (escape(*escaped), 4),
            [_, plain, b'\'', ..] if !b"\\\n\r'".contains(plain) => (*plain, 3),
            _ => {
                let line = &rest[..rest.find(LINE_ENDS).unwrap_or(rest.len())];
                let mut escaped = true;
                let closes = line.find(|c| {
                    let closes = c == '\'' && !escaped;
                    escaped = c == '\\' && !escaped;
                    closes
                });
                let text = &rest[..closes.map_or(line.len(), |at| at + 1)];
                self.cursor.take(text.len());
                return (PromelaTokenKind::Broken(text.into(), LexicalError::Character), None);
            }
        };
        self.cursor.take(length);
        (PromelaTokenKind::Number(value.into()), Some(rest[..length].to_owned()))
    }

    fn sign(&mut self, first: char) -> PromelaTokenKind {
        let rest = self.cursor.rest();
        let written = |&(written, _): &(&str, _)| length_of(written, rest);
        let plain = SIGNS.iter().map(|sign| (*sign, *sign));
        let mut all = ALIASES.into_iter().chain(plain);
        match all.find_map(|sign| Some((written(&sign)?, sign.1))) {
            Some((length, sign)) => {
                self.line_changed |= rest[..length].contains(LINE_ENDS);
                self.cursor.take(length);
                PromelaTokenKind::Sign(sign)
            }
            None => {
                self.cursor.take(first.len_utf8());
                PromelaTokenKind::Stray(first)
            }
        }
    }
}

/// Returns the length of a sign at the start of a text, if it is there. It may contain line joints.
fn length_of(sign: &str, text: &str) -> Option<usize> {
    let mut length = 0;
    for (at, letter) in sign.bytes().enumerate() {
        if at > 0 {
            length += joint(&text[length..]);
        }
        if text.as_bytes().get(length) != Some(&letter) {
            return None;
        }
        length += 1;
    }
    Some(length)
}

/// Returns the character for a letter after a backslash.
fn escape(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'0' => 0,
        other => other,
    }
}

/// Returns the length of a line joint: a backslash, optional blanks, and the end of the line. Returns 0 if there is
/// none.
fn joint(text: &str) -> usize {
    let Some(rest) = text.strip_prefix('\\') else { return 0 };
    let behind = rest.trim_start_matches([' ', '\t']);
    let next = ["\r\n", "\n", "\r"].iter().find_map(|end| behind.strip_prefix(end));
    next.map_or(0, |next| text.len() - next.len())
}
