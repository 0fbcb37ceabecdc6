//! From text to tokens. Comments and joined lines are white space.

use super::token::{Kind, SIGNS, Token};
use crate::diag::Diagnostic;
use crate::front::cursor::Cursor;
use crate::source::Span;

/// The tokens of a file, the end not included.
pub fn lex(file: u32, text: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut lexer = Lexer { cursor: Cursor::new(file, text), begins_line: true, spaced: false };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    begins_line: bool,
    spaced: bool,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Option<Token>, Diagnostic> {
        self.skip_blank()?;
        let start = self.cursor.ahead(0);
        let Some(first) = self.cursor.rest().chars().next() else { return Ok(None) };
        let kind = match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                let span = self.take_while(|c| c.is_alphanumeric() || c == '_');
                Kind::Name(self.cursor.text(span).into())
            }
            '0'..='9' => self.number()?,
            '"' => self.quoted()?,
            '\'' if self.is_character() => self.character(),
            _ => self.sign(first),
        };
        let token = Token {
            kind,
            span: start.to(self.cursor.ahead(0)),
            begins_line: self.begins_line,
            spaced: self.spaced,
        };
        (self.begins_line, self.spaced) = (false, false);
        Ok(Some(token))
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> Span {
        let rest = self.cursor.rest();
        self.cursor.take(rest.find(|c| !belongs(c)).unwrap_or(rest.len()))
    }

    fn skip_blank(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = self.cursor.rest();
            let length = if let Some(comment) = rest.strip_prefix("/*") {
                let Some(length) = comment.find("*/") else {
                    let error = "this comment is never closed";
                    return Err(
                        Diagnostic::error(self.cursor.ahead(2), error).help("end it with `*/`")
                    );
                };
                length + 4
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("\\\n") || rest.starts_with("*/") {
                // The second is what is left of comments inside comments.
                2
            } else if rest.starts_with("\\\r\n") {
                3
            } else {
                match rest.chars().next() {
                    Some(blank) if blank.is_whitespace() || blank == '\u{feff}' => {
                        self.begins_line |= blank == '\n';
                        blank.len_utf8()
                    }
                    _ => return Ok(()),
                }
            };
            self.spaced = true;
            self.cursor.take(length);
        }
    }

    fn number(&mut self) -> Result<Kind, Diagnostic> {
        let span = self.take_while(|c| c.is_ascii_alphanumeric());
        let digits = self.cursor.text(span);
        let parsed = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => digits.trim_end_matches(['u', 'U', 'l', 'L']).parse(),
        };
        match parsed {
            Ok(value) if value <= i64::from(u32::MAX) => Ok(Kind::Number(i64::from(value as i32))),
            _ => Err(Diagnostic::error(span, format!("`{digits}` is no number"))
                .help("numbers are decimal, or hexadecimal after 0x, and have 32 bits")),
        }
    }

    fn quoted(&mut self) -> Result<Kind, Diagnostic> {
        let mut length = 1;
        let bytes = self.cursor.rest().as_bytes();
        while let Some(&byte) = bytes.get(length).filter(|&&byte| byte != b'\n') {
            match byte {
                b'"' => {
                    let text = self.cursor.rest()[1..length].into();
                    self.cursor.take(length + 1);
                    return Ok(Kind::Text(text));
                }
                b'\\' => length += 2,
                _ => length += 1,
            }
        }
        let error = "this text is not closed on its line";
        Err(Diagnostic::error(self.cursor.ahead(1), error).help("add `\"`"))
    }

    fn is_character(&self) -> bool {
        let bytes = self.cursor.rest().as_bytes();
        match bytes.get(1) {
            Some(b'\\') => bytes.get(3) == Some(&b'\''),
            Some(_) => bytes.get(2) == Some(&b'\''),
            None => false,
        }
    }

    fn character(&mut self) -> Kind {
        let bytes = self.cursor.rest().as_bytes();
        let (value, length) = match (bytes[1], bytes[2]) {
            (b'\\', b'n') => (b'\n', 4),
            (b'\\', b't') => (b'\t', 4),
            (b'\\', b'r') => (b'\r', 4),
            (b'\\', b'0') => (0, 4),
            (b'\\', other) => (other, 4),
            (plain, _) => (plain, 3),
        };
        self.cursor.take(length);
        Kind::Number(value.into())
    }

    fn sign(&mut self, first: char) -> Kind {
        match SIGNS.into_iter().find(|sign| self.cursor.rest().starts_with(sign)) {
            Some(sign) => {
                self.cursor.take(sign.len());
                Kind::Sign(sign)
            }
            None => {
                self.cursor.take(first.len_utf8());
                Kind::Stray(first)
            }
        }
    }
}
