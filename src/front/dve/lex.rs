//! From characters to tokens, one at a time.
//!
//! The parser asks for the next token when it needs it, so a file is never held as a list of
//! tokens, and a broken file costs no more than the part before its first error. A token is its
//! kind and its span; names and numbers are read from the source through the span.
//!
//! Space is blanks, line ends, `//` and `/* */` comments, and a backslash before a line end
//! (which DiVinE's lexer skips too).

use crate::diag::Diagnostic;
use crate::source::Span;

/// A word, number or sign of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// Declares [`TokenKind`] with the ways to write each kind; the first is how messages call it.
macro_rules! tokens {
    (words { $($word:ident $word_text:literal,)* } signs { $($sign:ident $($sign_text:literal)|+,)* }) => {
        /// What a token is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TokenKind {
            /// A name.
            Name,
            /// A number.
            Number,
            /// The end of the file.
            End,
            $(#[doc = concat!("`", $word_text, "`")] $word,)*
            $(#[doc = concat!($("`", $sign_text, "` "),+)] $sign,)*
        }

        impl TokenKind {
            /// How messages call it.
            pub fn describe(self) -> &'static str {
                match self {
                    TokenKind::Name => "a name",
                    TokenKind::Number => "a number",
                    TokenKind::End => "the end of the file",
                    $(TokenKind::$word => concat!("`", $word_text, "`"),)*
                    $(TokenKind::$sign => first([$(concat!("`", $sign_text, "`")),+]),)*
                }
            }

            /// The kind of a word: reserved, an operator spelt out, or a name.
            fn of_word(word: &str) -> TokenKind {
                match word {
                    $($word_text => TokenKind::$word,)*
                    $($($sign_text)|+ => TokenKind::$sign,)*
                    _ => TokenKind::Name,
                }
            }

            /// The kind of a sign made of exactly these characters.
            fn of_sign(sign: &str) -> Option<TokenKind> {
                match sign {
                    $($($sign_text)|+ => Some(TokenKind::$sign),)*
                    _ => None,
                }
            }
        }
    };
}

const fn first<const N: usize>(spellings: [&'static str; N]) -> &'static str {
    spellings[0]
}

tokens! {
    words {
        Accept "accept",
        Assert "assert",
        Async "async",
        Byte "byte",
        Channel "channel",
        Commit "commit",
        Const "const",
        Effect "effect",
        False "false",
        Guard "guard",
        Init "init",
        Int "int",
        Process "process",
        Property "property",
        State "state",
        Sync "sync",
        System "system",
        Trans "trans",
        True "true",
    }
    signs {
        And "&&" | "and",
        Or "||" | "or",
        Imply "imply",
        Not "not",
        Arrow "->",
        WideArrow "=>",
        Equal "==",
        NotEqual "!=",
        LessEqual "<=",
        GreaterEqual ">=",
        ShiftLeft "<<",
        ShiftRight ">>",
        Less "<",
        Greater ">",
        Assign "=",
        Plus "+",
        Minus "-",
        Star "*",
        Slash "/",
        Percent "%",
        BitAnd "&",
        BitOr "|",
        BitXor "^",
        Tilde "~",
        Bang "!",
        Question "?",
        Comma ",",
        Semicolon ";",
        Colon ":",
        Dot ".",
        ParenOpen "(",
        ParenClose ")",
        BracketOpen "[",
        BracketClose "]",
        BraceOpen "{",
        BraceClose "}",
    }
}

/// Reads tokens from a text.
pub struct Lexer<'a> {
    text: &'a str,
    file: u16,
    at: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of file `file`, whose text is `text`.
    pub fn new(file: u16, text: &'a str) -> Self {
        Self { text, file, at: 0 }
    }

    /// The source of a span of this file.
    pub fn text(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The next token; at the end of the text, again and again [`TokenKind::End`].
    pub fn token(&mut self) -> Result<Token, Diagnostic> {
        self.skip_space()?;
        let Some(&byte) = self.text.as_bytes().get(self.at) else {
            return Ok(self.take(0, TokenKind::End));
        };
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Ok(self.word()),
            b'0'..=b'9' => self.number(),
            _ => self.sign(),
        }
    }

    fn word(&mut self) -> Token {
        let length = self.run(|byte| byte.is_ascii_alphanumeric() || b"_$#".contains(&byte));
        let kind = TokenKind::of_word(&self.text[self.at..self.at + length]);
        self.take(length, kind)
    }

    fn number(&mut self) -> Result<Token, Diagnostic> {
        let length = self.run(|byte| byte.is_ascii_digit());
        let follows = self.text.as_bytes().get(self.at + length);
        if follows.is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_') {
            let length = self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let span = self.take(length, TokenKind::Number).span;
            return Err(Diagnostic::error(span, "a number runs into a name")
                .help("numbers are decimal; names start with a letter or `_`"));
        }
        Ok(self.take(length, TokenKind::Number))
    }

    fn sign(&mut self) -> Result<Token, Diagnostic> {
        for length in [2, 1] {
            let sign = self.text.get(self.at..self.at + length);
            if let Some(kind) = sign.and_then(TokenKind::of_sign) {
                return Ok(self.take(length, kind));
            }
        }
        let char = self.text[self.at..].chars().next().unwrap_or(' ');
        let span = self.take(char.len_utf8(), TokenKind::End).span;
        Err(Diagnostic::error(span, format!("the character {char:?} has no meaning here")))
    }

    fn skip_space(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.at += self.run(|byte| byte.is_ascii_whitespace());
            let rest = &self.text.as_bytes()[self.at..];
            match rest {
                [b'/', b'/', ..] => self.at += self.run(|byte| byte != b'\n'),
                [b'/', b'*', ..] => self.skip_comment()?,
                [b'\\', after @ ..] if is_line_end(after) => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Diagnostic> {
        match self.text[self.at + 2..].find("*/") {
            Some(length) => {
                self.at += length + 4;
                Ok(())
            }
            None => {
                let span = Span::new(self.file, self.at..self.at + 2);
                Err(Diagnostic::error(span, "this comment is never closed")
                    .help("close it with `*/`"))
            }
        }
    }

    /// How many bytes from here satisfy `belongs`.
    fn run(&self, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len())
    }

    fn take(&mut self, length: usize, kind: TokenKind) -> Token {
        let span = Span::new(self.file, self.at..self.at + length);
        self.at += length;
        Token { kind, span }
    }
}

/// Whether a line ends after nothing but blanks.
fn is_line_end(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !b" \t\r".contains(byte)) == Some(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer::new(0, text);
        let next = || lexer.token().map(|token| token.kind);
        std::iter::repeat_with(next)
            .map_while(Result::ok)
            .take_while(|&k| k != TokenKind::End)
            .collect()
    }

    #[test]
    fn operators_have_two_spellings() {
        use TokenKind::*;
        assert_eq!(kinds("and && or || imply not !"), [And, And, Or, Or, Imply, Not, Bang]);
    }

    #[test]
    fn the_longest_sign_wins() {
        use TokenKind::*;
        assert_eq!(
            kinds("<<=->>=!=&&&"),
            [ShiftLeft, Assign, Arrow, GreaterEqual, NotEqual, And, BitAnd]
        );
    }

    #[test]
    fn comments_and_continued_lines_are_space() {
        use TokenKind::*;
        assert_eq!(kinds("a // b\n/* c * / // */ 1 \\ \n x$1#"), [Name, Number, Name]);
    }

    #[test]
    fn bad_characters_are_reported_with_their_place() {
        let mut lexer = Lexer::new(3, "a §");
        assert!(lexer.token().is_ok());
        let error = lexer.token().unwrap_err();
        assert_eq!(error.span, Span::new(3, 2..4));
    }
}
