//! The lexer of DVE: from characters to tokens, one at a time.
//!
//! White space is blanks, line ends, `//` and `/* */` comments, and a backslash before a line end (which DiVinE's lexer
//! skips too).

use crate::cursor::TextCursor;
use crate::token::{self, TokenClass as _, kinds, take, take_sign};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// A word, number or sign of the source.
pub(super) type DveToken = token::SpannedToken<TokenKind>;

kinds! {
    others {
        Name "a name",
        Number "a number",
    }
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

/// A lexer of a text.
pub(super) struct DveLexer<'a> {
    cursor: TextCursor<'a>,
}

impl<'a> DveLexer<'a> {
    /// Creates a lexer at the start of file `file`, whose text is `text`.
    pub(super) fn new(file: u32, text: &'a str) -> Self {
        Self { cursor: TextCursor::new(file, text) }
    }

    /// Creates a lexer of a part of file `span.file`, whose text is `text`.
    pub(super) fn within(span: Span, text: &'a str) -> Self {
        Self { cursor: TextCursor::within(span, text) }
    }

    fn word(&mut self) -> DveToken {
        let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"_$#".contains(&byte);
        let span = self.cursor.take_while(belongs);
        DveToken { kind: TokenKind::of_word(self.cursor.text(span)), span }
    }

    fn number(&mut self) -> Result<DveToken, Diagnostic> {
        let span = self.cursor.take_while(|byte| byte.is_ascii_digit());
        let belongs = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        match self.cursor.count_while(belongs) {
            0 => Ok(DveToken { kind: TokenKind::Number, span }),
            more => {
                let span = span.to(self.cursor.take(more));
                Err(Diagnostic::error(span, "a number runs into a name")
                    .help("numbers are decimal; names start with a letter or `_`"))
            }
        }
    }

    fn skip_space(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.cursor.take_while(|byte| byte.is_ascii_whitespace());
            match self.cursor.rest().as_bytes() {
                [b'/', b'/', ..] => self.cursor.take_while(|byte| byte != b'\n'),
                [b'/', b'*', ..] => self.cursor.take_comment()?,
                [b'\\', after @ ..] if is_line_end(after) => self.cursor.take(1),
                _ => return Ok(()),
            };
        }
    }
}

impl<'a> token::TokenLexer<'a> for DveLexer<'a> {
    type TokenType = TokenKind;

    fn token(&mut self) -> Result<DveToken, Diagnostic> {
        self.skip_space()?;
        match self.cursor.byte() {
            None => Ok(take(&mut self.cursor, 0, TokenKind::EndOfFile)),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => Ok(self.word()),
            Some(b'0'..=b'9') => self.number(),
            Some(_) => take_sign(&mut self.cursor),
        }
    }

    fn cursor(&self) -> &TextCursor<'a> {
        &self.cursor
    }
}

/// Returns whether only blanks precede the end of the line.
fn is_line_end(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !b" \t\r".contains(byte)) == Some(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::TokenLexer;
    use spillway_base::source::Span;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = DveLexer::new(0, text);
        let next = || lexer.token().map(|token| token.kind);
        std::iter::repeat_with(next)
            .map_while(Result::ok)
            .take_while(|&k| k != TokenKind::EndOfFile)
            .collect()
    }

    #[test]
    fn operators_have_two_spellings() {
        use TokenKind::*;
        assert_eq!(kinds("and && or || imply not !"), [And, And, Or, Or, Imply, Not, Bang]);
    }

    #[test]
    fn the_longest_operator_is_taken() {
        use TokenKind::*;
        assert_eq!(
            kinds("<<=->>=!=&&&"),
            [ShiftLeft, Assign, Arrow, GreaterEqual, NotEqual, And, BitAnd]
        );
    }

    #[test]
    fn comments_and_continued_lines_are_white_space() {
        use TokenKind::*;
        assert_eq!(kinds("a // b\n/* c * / // */ 1 \\ \n x$1#"), [Name, Number, Name]);
    }

    #[test]
    fn bad_characters_are_reported_with_their_place() {
        let mut lexer = DveLexer::new(3, "a §");
        assert!(lexer.token().is_ok());
        let error = lexer.token().unwrap_err();
        assert_eq!(error.span, Span::new(3, 2..4));
    }
}
