//! From characters to tokens, one at a time.
//!
//! Reserved words may be written in any case, names are told apart by it. Space is blanks, line
//! ends, `--` to the end of the line, and `/* */`. Rumur's signs beyond ASCII are read too.

use crate::diag::Diagnostic;
use crate::source::Span;

/// A word, number, string or sign of the source.
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
            /// A string.
            String,
            /// The end of the file.
            End_,
            $(#[doc = concat!("`", $word_text, "`")] $word,)*
            $(#[doc = concat!($("`", $sign_text, "` "),+)] $sign,)*
        }

        impl TokenKind {
            /// How messages call it.
            pub fn describe(self) -> &'static str {
                match self {
                    TokenKind::Name => "a name",
                    TokenKind::Number => "a number",
                    TokenKind::String => "a string",
                    TokenKind::End_ => "the end of the file",
                    $(TokenKind::$word => concat!("`", $word_text, "`"),)*
                    $(TokenKind::$sign => first([$(concat!("`", $sign_text, "`")),+]),)*
                }
            }

            /// Whether it is a reserved word.
            pub fn is_word(self) -> bool {
                matches!(self, $(TokenKind::$word)|*)
            }

            /// The kind of a word: reserved, or a name.
            fn of_word(word: &str) -> TokenKind {
                match word.to_ascii_lowercase().as_str() {
                    $($word_text => TokenKind::$word,)*
                    _ => TokenKind::Name,
                }
            }

            /// The longest sign that a text begins with, and its length.
            fn of_sign(text: &str) -> Option<(TokenKind, usize)> {
                let signs = [$($((TokenKind::$sign, $sign_text)),+),*];
                let here = signs.into_iter().filter(|(_, sign)| text.starts_with(sign));
                here.map(|(kind, sign)| (kind, sign.len())).max_by_key(|(_, length)| *length)
            }
        }
    };
}

const fn first<const N: usize>(spellings: [&'static str; N]) -> &'static str {
    spellings[0]
}

tokens! {
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
        Slash "/" | "÷",
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

/// Reads tokens from a text.
#[derive(Clone)]
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

    /// The line that a span begins on, counted from 1.
    pub fn line(&self, span: Span) -> usize {
        self.text[..span.start as usize].matches('\n').count() + 1
    }

    /// The next token; at the end of the text, again and again [`TokenKind::End_`].
    pub fn token(&mut self) -> Result<Token, Diagnostic> {
        self.skip_space()?;
        let Some(&byte) = self.text.as_bytes().get(self.at) else {
            return Ok(self.take(0, TokenKind::End_));
        };
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let length = self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let kind = TokenKind::of_word(&self.text[self.at..self.at + length]);
                Ok(self.take(length, kind))
            }
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            _ => self.sign(),
        }
    }

    fn number(&mut self) -> Result<Token, Diagnostic> {
        let length = self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let token = self.take(length, TokenKind::Number);
        let digits = self.text(token.span);
        let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let right = match hexadecimal {
            Some(rest) => !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_hexdigit()),
            None => digits.bytes().all(|it| it.is_ascii_digit()),
        };
        match right {
            true => Ok(token),
            false => Err(Diagnostic::error(token.span, "a number runs into a name")
                .help("numbers are decimal, or hexadecimal after `0x`")),
        }
    }

    fn string(&mut self) -> Result<Token, Diagnostic> {
        let rest = &self.text[self.at + 1..];
        let end = rest.find(['"', '\n']);
        match end.filter(|&end| rest[end..].starts_with('"')) {
            Some(length) => Ok(self.take(length + 2, TokenKind::String)),
            None => {
                let span = Span::new(self.file, self.at..self.at + 1);
                Err(Diagnostic::error(span, "this string is not closed on its line")
                    .help("close it with `\"`"))
            }
        }
    }

    fn sign(&mut self) -> Result<Token, Diagnostic> {
        let rest = &self.text[self.at..];
        if let Some((kind, length)) = TokenKind::of_sign(rest) {
            return Ok(self.take(length, kind));
        }
        let char = rest.chars().next().unwrap_or(' ');
        let span = self.take(char.len_utf8(), TokenKind::End_).span;
        Err(Diagnostic::error(span, format!("the character {char:?} has no meaning here"))
            .help("remove it; comments begin with `--`"))
    }

    fn skip_space(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.at += self.run(|byte| byte.is_ascii_whitespace());
            match &self.text.as_bytes()[self.at..] {
                [b'-', b'-', ..] => self.at += self.run(|byte| byte != b'\n'),
                [b'/', b'*', ..] => match self.text[self.at + 2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => {
                        let span = Span::new(self.file, self.at..self.at + 2);
                        return Err(Diagnostic::error(span, "this comment is never closed")
                            .help("close it with `*/`"));
                    }
                },
                _ => return Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer::new(0, text);
        let next = || lexer.token().map(|token| token.kind);
        std::iter::repeat_with(next)
            .map_while(Result::ok)
            .take_while(|&kind| kind != TokenKind::End_)
            .collect()
    }

    #[test]
    fn reserved_words_have_any_case_and_names_their_own() {
        use TokenKind::*;
        assert_eq!(kinds("Rule RULE rule Rules endIf"), [Rule, Rule, Rule, Name, EndIf]);
    }

    #[test]
    fn the_longest_sign_wins() {
        use TokenKind::*;
        assert_eq!(
            kinds("==>==:=..<=->&&≤"),
            [WideArrow, DoubleEqual, Assign, Dots, LessEqual, Arrow, And, LessEqual]
        );
    }

    #[test]
    fn comments_are_space() {
        use TokenKind::*;
        assert_eq!(
            kinds("a -- b\n/* c -- */ 0x1F \"-- d\" 1..2"),
            [Name, Number, String, Number, Dots, Number]
        );
    }
}
