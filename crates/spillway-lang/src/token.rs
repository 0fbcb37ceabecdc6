//! Tokens that are classified by kind, and their parsers.
//!
//! A language lists its words and signs once, by [`kinds`], and implements a lexer ([`TokenLexer`]) that produces the
//! next token on demand. So a file is never held as a list of tokens, and an incorrect file costs only the part before
//! its first error. [`TokenStream`] has one token of look-ahead. [`TokenParser`] has the basic operations of recursive
//! descent: peek, take, expect and report.

use super::cursor::TextCursor;
use super::quote::quote;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// A word, number or sign of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpannedToken<K> {
    /// The kind.
    pub(crate) kind: K,
    /// The span in the source.
    pub(crate) span: Span,
}

/// A name and its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceName<'a> {
    /// The name.
    pub text: &'a str,
    /// The span in the source.
    pub span: Span,
}

/// A kind of token.
pub(crate) trait TokenClass: Copy + Eq + 'static {
    /// A name.
    const NAME: Self;
    /// The end of the file.
    const END: Self;
    /// The separator of items in a list.
    const COMMA: Self;

    /// Returns the name of the kind in messages.
    fn describe(self) -> &'static str;
    /// Returns the kind of a word: reserved, a spelt-out operator, or a name.
    fn of_word(word: &str) -> Self;
    /// Returns the kind of a sign of exactly these characters.
    fn of_sign(sign: &str) -> Option<Self>;

    /// Returns whether messages call it by a word, so that no name can be spelt like it.
    fn is_reserved(self) -> bool {
        let spelt = self.describe().strip_prefix('`');
        spelt.is_some_and(|spelt| spelt.starts_with(|first: char| first.is_ascii_alphabetic()))
    }
}

/// The maximum length in bytes of a sign that is not a word.
const SIGN_MAX: usize = 3;

/// Declares `TokenKind` with the spellings of each kind; messages use the first.
macro_rules! kinds {
    (
        others { $($other:ident $other_text:literal,)* }
        words { $($word:ident $word_text:literal,)* }
        signs { $($sign:ident $($sign_text:literal)|+,)* }
    ) => {
        /// The kind of a token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TokenKind {
            /// The end of the file.
            EndOfFile,
            $(#[doc = $other_text] $other,)*
            $(#[doc = concat!("`", $word_text, "`")] $word,)*
            $(#[doc = concat!($("`", $sign_text, "` "),+)] $sign,)*
        }

        impl $crate::token::TokenClass for TokenKind {
            const NAME: Self = TokenKind::Name;
            const END: Self = TokenKind::EndOfFile;
            const COMMA: Self = TokenKind::Comma;

            fn describe(self) -> &'static str {
                match self {
                    TokenKind::EndOfFile => "the end of the file",
                    $(TokenKind::$other => $other_text,)*
                    $(TokenKind::$word => concat!("`", $word_text, "`"),)*
                    $(TokenKind::$sign => [$(concat!("`", $sign_text, "`")),+][0],)*
                }
            }

            fn of_word(word: &str) -> Self {
                match word {
                    $($word_text => TokenKind::$word,)*
                    $($($sign_text)|+ => TokenKind::$sign,)*
                    _ => TokenKind::Name,
                }
            }

            fn of_sign(sign: &str) -> Option<Self> {
                match sign {
                    $($($sign_text)|+ => Some(TokenKind::$sign),)*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use kinds;

/// A lexer: produces the tokens of a text, one at a time.
pub(crate) trait TokenLexer<'a> {
    /// The type of its tokens' kinds.
    type TokenType: TokenClass;

    /// Returns the next token; at the end of the text, always the end token.
    fn token(&mut self) -> Result<SpannedToken<Self::TokenType>, Diagnostic>;
    /// Returns its position.
    fn cursor(&self) -> &TextCursor<'a>;
}

/// Takes `length` bytes as a token of this kind.
pub(crate) fn take<K>(cursor: &mut TextCursor<'_>, length: usize, kind: K) -> SpannedToken<K> {
    SpannedToken { kind, span: cursor.take(length) }
}

/// Takes the longest sign at this position.
pub(crate) fn take_sign<K: TokenClass>(
    cursor: &mut TextCursor<'_>,
) -> Result<SpannedToken<K>, Diagnostic> {
    for length in (1..=SIGN_MAX).rev() {
        let sign = cursor.rest().get(..length);
        if let Some(kind) = sign.and_then(K::of_sign) {
            return Ok(take(cursor, length, kind));
        }
    }
    let char = cursor.rest().chars().next().unwrap_or(' ');
    let span = cursor.take(char.len_utf8());
    Err(Diagnostic::error(span, format!("the character {char:?} has no meaning here")))
}

/// The result of parsing, or the first error.
pub(crate) type ParseResult<T> = Result<T, Diagnostic>;

/// A stream of the tokens of a text.
#[derive(Clone)]
pub(crate) struct TokenStream<'a, L: TokenLexer<'a>> {
    lexer: L,
    /// The look-ahead token.
    next: SpannedToken<L::TokenType>,
    /// The span of the token before it.
    last: Span,
}

impl<'a, L: TokenLexer<'a>> TokenStream<'a, L> {
    /// Creates a stream at the start of a lexer's text.
    pub(crate) fn new(mut lexer: L) -> ParseResult<Self> {
        let next = lexer.token()?;
        Ok(Self { lexer, next, last: next.span })
    }
}

/// A parser: it has tokens, and may give advice if the next token is not the expected one.
pub(crate) trait TokenParser<'a>: Sized {
    /// The lexer of its tokens.
    type SourceLexer: TokenLexer<'a>;

    /// Returns its token stream.
    fn tokens(&self) -> &TokenStream<'a, Self::SourceLexer>;
    /// Returns its token stream, to advance it.
    fn tokens_mut(&mut self) -> &mut TokenStream<'a, Self::SourceLexer>;
    /// Returns advice for the case that the next token is not the expected one.
    fn advice(&self, expected: &str) -> Option<String>;

    /// Returns the kind of the next token.
    fn kind(&self) -> NextTokenKind<'a, Self> {
        self.tokens().next.kind
    }

    /// Returns the span of the next token.
    fn next_span(&self) -> Span {
        self.tokens().next.span
    }

    /// Returns the span of the last token taken.
    fn last_span(&self) -> Span {
        self.tokens().last
    }

    /// Returns the source text of a span.
    fn text(&self, span: Span) -> &'a str {
        self.tokens().lexer.cursor().text(span)
    }

    /// Returns the line on which a span begins, counted from 1.
    fn line(&self, span: Span) -> usize {
        self.tokens().lexer.cursor().line(span)
    }

    /// Takes the next token.
    fn advance(&mut self) -> ParseResult<SpannedToken<NextTokenKind<'a, Self>>> {
        let tokens = self.tokens_mut();
        let token = tokens.next;
        tokens.next = tokens.lexer.token()?;
        tokens.last = token.span;
        Ok(token)
    }

    /// Takes the next token if it is of this kind.
    fn eat(&mut self, kind: NextTokenKind<'a, Self>) -> ParseResult<bool> {
        let found = self.kind() == kind;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Takes the next token, which must be of this kind.
    fn expect(
        &mut self,
        kind: NextTokenKind<'a, Self>,
    ) -> ParseResult<SpannedToken<NextTokenKind<'a, Self>>> {
        match self.kind() == kind {
            true => self.advance(),
            false => Err(self.unexpected(kind.describe())),
        }
    }

    /// Takes a name; `what` describes it in messages.
    fn name(&mut self, what: &str) -> ParseResult<SourceName<'a>> {
        match self.kind() == NextTokenKind::<'a, Self>::NAME {
            true => {
                let span = self.advance()?.span;
                Ok(SourceName { text: self.text(span), span })
            }
            false => Err(self.unexpected(what)),
        }
    }

    /// Parses a list of items separated by commas.
    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(NextTokenKind::<'a, Self>::COMMA)? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Returns the error that the next token is not the expected one. If that token is on a later line, the error is
    /// placed at the end of the token before it, where something is missing.
    fn unexpected(&self, expected: &str) -> Diagnostic {
        let (last, here) = (self.last_span(), self.next_span());
        let found = match self.kind() == NextTokenKind::<'a, Self>::END {
            true => self.kind().describe().to_owned(),
            false => quote(self.text(here)),
        };
        let between = Span { start: last.end, end: here.start, ..here };
        let missing = last.end < here.start && self.text(between).contains('\n');
        let place = if missing { Span { end: between.start, ..between } } else { here };
        let error = Diagnostic::error(place, format!("expected {expected}, found {found}"));
        match self.advice(expected) {
            Some(advice) => error.help(advice),
            None => error,
        }
    }
}

/// The kinds of the tokens of a parser.
pub(crate) type NextTokenKind<'a, P> =
    <<P as TokenParser<'a>>::SourceLexer as TokenLexer<'a>>::TokenType;
