//! The lexer of Murphi: from characters to tokens, one at a time.
//!
//! Reserved words are case-insensitive; names are case-sensitive. White space is blanks, line ends, `--` to the end of
//! the line, and `/* */`. Rumur's non-ASCII signs are supported.

use crate::cursor::TextCursor;
use crate::token::{self, TokenClass as _, kinds, take, take_sign};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// A word, number, string or sign of the source.
pub(super) type MurphiToken = token::SpannedToken<TokenKind>;

kinds! {
    others {
        Name "a name",
        Number "a number",
        String "a string",
    }
    words {
        Alias "alias",
        Array "array",
        Assert "assert",
        Begin "begin",
        By "by",
        Case "case",
        Choose "choose",
        Clear "clear",
        Const "const",
        Do "do",
        Else "else",
        Elsif "elsif",
        End "end",
        EndAlias "endalias",
        EndChoose "endchoose",
        EndExists "endexists",
        EndFor "endfor",
        EndForall "endforall",
        EndFunction "endfunction",
        EndIf "endif",
        EndProcedure "endprocedure",
        EndRecord "endrecord",
        EndRule "endrule",
        EndRuleset "endruleset",
        EndStartstate "endstartstate",
        EndSwitch "endswitch",
        EndWhile "endwhile",
        Enum "enum",
        Error "error",
        Exists "exists",
        For "for",
        Forall "forall",
        Function "function",
        If "if",
        Invariant "invariant",
        IsMember "ismember",
        IsUndefined "isundefined",
        Multiset "multiset",
        MultisetAdd "multisetadd",
        MultisetCount "multisetcount",
        MultisetRemove "multisetremove",
        MultisetRemovePred "multisetremovepred",
        Of "of",
        Procedure "procedure",
        Put "put",
        Real "real",
        Record "record",
        Return "return",
        Rule "rule",
        Ruleset "ruleset",
        Scalarset "scalarset",
        Startstate "startstate",
        Switch "switch",
        Then "then",
        To "to",
        Type "type",
        Undefine "undefine",
        Undefined "undefined",
        Union "union",
        Var "var",
        While "while",
    }
    signs {
        Assign ":=" | "≔",
        WideArrow "==>" | "⇒",
        DoubleEqual "==",
        Arrow "->" | "→",
        NotEqual "!=" | "≠",
        LessEqual "<=" | "≤",
        GreaterEqual ">=" | "≥",
        ShiftLeft "<<",
        ShiftRight ">>",
        And "&" | "&&" | "∧",
        Or "|" | "||" | "∨",
        Dots "..",
        Not "!" | "¬",
        ForallSign "∀",
        ExistsSign "∃",
        Equal "=",
        Less "<",
        Greater ">",
        Plus "+",
        Minus "-" | "−",
        Star "*" | "×",
        Slash "/" | "÷" | "∕",
        Percent "%",
        Caret "^",
        Tilde "~",
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
#[derive(Clone)]
pub(super) struct MurphiLexer<'a> {
    cursor: TextCursor<'a>,
}

impl<'a> MurphiLexer<'a> {
    /// Creates a lexer at the start of file `file`, whose text is `text`.
    pub(super) fn new(file: u32, text: &'a str) -> Self {
        Self { cursor: TextCursor::new(file, text) }
    }

    /// Creates a lexer of a part of file `span.file`, whose text is `text`.
    pub(super) fn within(span: Span, text: &'a str) -> Self {
        Self { cursor: TextCursor::within(span, text) }
    }

    fn word(&mut self) -> MurphiToken {
        let span = self.cursor.take_while(is_of_word);
        let word = self.cursor.text(span).to_ascii_lowercase();
        MurphiToken { kind: TokenKind::of_word(&word), span }
    }

    fn number(&mut self) -> Result<MurphiToken, Diagnostic> {
        let span = self.cursor.take_while(is_of_word);
        let digits = self.cursor.text(span);
        let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let right = match hexadecimal {
            Some(rest) => !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_hexdigit()),
            None => digits.bytes().all(|it| it.is_ascii_digit()),
        };
        match right {
            true => Ok(MurphiToken { kind: TokenKind::Number, span }),
            false => Err(Diagnostic::error(span, "a number runs into a name")
                .help("numbers are decimal, or hexadecimal after `0x`")),
        }
    }

    /// Reads a string. A backslash escapes a quote, as in Rumur. If the string would then not end on its line, the
    /// backslash is an ordinary character, as in CMurphi.
    fn string(&mut self) -> Result<MurphiToken, Diagnostic> {
        let line = self.cursor.rest().lines().next().unwrap_or_default();
        let opener = QUOTES.iter().find(|it| line.starts_with(**it)).map_or(0, |it| it.len());
        let end = closing_quote(line, opener, true).or_else(|| closing_quote(line, opener, false));
        match end {
            Some(end) => Ok(take(&mut self.cursor, end, TokenKind::String)),
            None => {
                let error = "this string is not closed on its line";
                Err(Diagnostic::error(self.cursor.peek_span(opener), error)
                    .help("close it with `\"`"))
            }
        }
    }

    fn skip_space(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.cursor.take_while(|byte| byte.is_ascii_whitespace());
            match self.cursor.rest().as_bytes() {
                [b'-', b'-', ..] => self.cursor.take_while(|byte| byte != b'\n'),
                [b'/', b'*', ..] => self.cursor.take_comment()?,
                _ => return Ok(()),
            };
        }
    }
}

impl<'a> token::TokenLexer<'a> for MurphiLexer<'a> {
    type TokenType = TokenKind;

    fn token(&mut self) -> Result<MurphiToken, Diagnostic> {
        self.skip_space()?;
        match self.cursor.byte() {
            None => Ok(take(&mut self.cursor, 0, TokenKind::EndOfFile)),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => Ok(self.word()),
            Some(b'0'..=b'9') => self.number(),
            Some(b'"') => self.string(),
            Some(_) if self.cursor.rest().starts_with(QUOTES[1]) => self.string(),
            Some(_) => take_sign(&mut self.cursor)
                .map_err(|error| error.help("remove it; comments begin with `--`")),
        }
    }

    fn cursor(&self) -> &TextCursor<'a> {
        &self.cursor
    }
}

/// The quotes that open a string. All but the second also close one.
const QUOTES: [&str; 3] = ["\"", "\u{201c}", "\u{201d}"];

/// Returns the offset after the closing quote of a string that begins at the start of `line`.
fn closing_quote(line: &str, opener: usize, has_escapes: bool) -> Option<usize> {
    let mut escaped = false;
    for (at, char) in line.char_indices().filter(|&(at, _)| at >= opener) {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = has_escapes,
            '"' | '\u{201d}' => return Some(at + char.len_utf8()),
            _ => {}
        }
    }
    None
}

/// Returns the text of a string without its quotes.
pub(super) fn unquoted(text: &str) -> &str {
    let inner = QUOTES.iter().find_map(|it| text.strip_prefix(*it)).unwrap_or(text);
    QUOTES.iter().find_map(|it| inner.strip_suffix(*it)).unwrap_or(inner)
}

/// Returns the text of a string with its escapes replaced: `\"` by a quote, `\\` by a backslash. Line ends and tabs
/// become blanks, because names and messages are single lines.
pub(super) fn unescaped(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let escaped = (char == '\\').then(|| chars.peek().copied()).flatten();
        match escaped {
            Some('"' | '\'' | '\\' | '\u{201d}') => said.extend(chars.next()),
            Some('n' | 't' | 'r') => {
                chars.next();
                said.push(' ');
            }
            _ => said.push(char),
        }
    }
    said
}

/// Returns whether a byte may be part of a word or a number.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::TokenLexer;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = MurphiLexer::new(0, text);
        let next = || lexer.token().map(|token| token.kind);
        std::iter::repeat_with(next)
            .map_while(Result::ok)
            .take_while(|&kind| kind != TokenKind::EndOfFile)
            .collect()
    }

    #[test]
    fn reserved_words_are_case_insensitive_and_names_are_not() {
        use TokenKind::*;
        assert_eq!(kinds("Rule RULE rule Rules endIf"), [Rule, Rule, Rule, Name, EndIf]);
    }

    #[test]
    fn the_longest_operator_is_taken() {
        use TokenKind::*;
        assert_eq!(
            kinds("==>==:=..<=->&&≤"),
            [WideArrow, DoubleEqual, Assign, Dots, LessEqual, Arrow, And, LessEqual]
        );
    }

    #[test]
    fn a_backslash_escapes_a_quote_in_a_string() {
        use TokenKind::*;
        assert_eq!(kinds(r#""say \"hi\"" x"#), [String, Name]);
        assert_eq!(kinds(r#""C:\" x"#), [String, Name]);
        assert_eq!(kinds("\u{201c}so\u{201d} x"), [String, Name]);
        assert_eq!(unescaped(r#"say \"hi\" \\ \n!"#), "say \"hi\" \\  !");
        assert_eq!(["\"a\"", "\u{201c}a\u{201d}"].map(unquoted), ["a", "a"]);
    }

    #[test]
    fn comments_are_white_space() {
        use TokenKind::*;
        assert_eq!(
            kinds("a -- b\n/* c -- */ 0x1F \"-- d\" 1..2"),
            [Name, Number, String, Number, Dots, Number]
        );
    }
}
