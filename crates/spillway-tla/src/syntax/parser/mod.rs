//! Tokens to syntax trees: recursive descent, with a loop for operators.
//!
//! A junction list ends at the first token that is not to the right of its bullets. The parser keeps the lists that are
//! open; an operator or an operand at or left of the innermost column does not belong to the expression. Brackets do not
//! change this: their contents must be to the right of the bullets as well.
//!
//! Proofs are parsed and dropped.

mod brackets;
mod expressions;
mod operators;
mod proofs;
mod units;

use super::ast::{Expr, Module, Name};
use super::lexer::{tokenize, tokenize_all};
use super::symbols::Symbol;
use super::token::{Keyword, Mark, Token, TokenKind};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// The greatest depth of nested expressions and modules. Deeper texts are rejected, so that no text exhausts the stack.
pub const DEPTH_MAX: usize = 250;

/// The greatest height of a syntax tree. Operators in a row, as in `a + b + c`, add to it without being nested in the
/// text. Each unit of height is a few nodes.
pub const HEIGHT_MAX: usize = 1000;

/// Parses the first module of a text.
pub fn parse(file: u32, text: &str) -> Result<Module, Diagnostic> {
    parse_from(file, text, 0)
}

/// Parses the first module at or after an offset of a text.
pub fn parse_from(file: u32, text: &str, from: usize) -> Result<Module, Diagnostic> {
    Parser::new(text, tokenize(file, text, from)?).module()
}

/// Parses a text that is one expression.
pub fn parse_expression(file: u32, text: &str) -> Result<Expr, Diagnostic> {
    let mut parser = Parser::new(text, tokenize_all(file, text)?);
    let expr = parser.expression()?;
    match parser.peek().kind {
        TokenKind::End => Ok(expr),
        _ => Err(parser.expected("an operator or the end of the formula")),
    }
}

/// The result of a production.
type ParseResult<T> = Result<T, Diagnostic>;

/// A junction list that is open.
#[derive(Clone, Copy)]
struct OpenJunction {
    column: u32,
    span: Span,
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    /// The index of the next token.
    at: usize,
    junctions: Vec<OpenJunction>,
    depth: usize,
    /// The height of the highest tree so far within the present production.
    height: usize,
    /// Whether names of steps are expressions.
    is_in_proof: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, tokens: Vec<Token>) -> Self {
        Self { text, tokens, at: 0, junctions: Vec::new(), depth: 0, height: 0, is_in_proof: false }
    }

    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    /// Returns a later token; beyond the end, the last one.
    fn peek_at(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Returns the span of the last token that was taken.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn text_of(&self, span: Span) -> &'t str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn is_mark(&self, mark: Mark) -> bool {
        self.peek().kind == TokenKind::Mark(mark)
    }

    fn is_keyword(&self, keyword: Keyword) -> bool {
        self.peek().kind == TokenKind::Keyword(keyword)
    }

    fn is_symbol(&self, symbol: Symbol) -> bool {
        self.peek().kind == TokenKind::Symbol(symbol)
    }

    fn take_mark(&mut self, mark: Mark) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.bump();
        }
        found
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.is_keyword(keyword);
        if found {
            self.bump();
        }
        found
    }

    fn expect_mark(&mut self, mark: Mark) -> ParseResult<Token> {
        match self.is_mark(mark) {
            true => Ok(self.bump()),
            false => Err(self.expected(&format!("`{}`", mark.text()))),
        }
    }

    /// Expects the mark that closes what `open` began.
    fn expect_close(&mut self, mark: Mark, open: Span) -> ParseResult<Token> {
        match self.is_mark(mark) {
            true => Ok(self.bump()),
            false => {
                let place = self.line_column(open);
                let what = format!("`{}` for the `{}` of {place}", mark.text(), self.text_of(open));
                Err(self.expected(&what))
            }
        }
    }

    fn expect_keyword(&mut self, keyword: Keyword) -> ParseResult<Token> {
        match self.is_keyword(keyword) {
            true => Ok(self.bump()),
            false => Err(self.expected(&format!("`{}`", keyword.text()))),
        }
    }

    fn expect_symbol(&mut self, symbol: Symbol) -> ParseResult<Token> {
        match self.is_symbol(symbol) {
            true => Ok(self.bump()),
            false => Err(self.expected(&format!("`{}`", symbol.name()))),
        }
    }

    /// Takes an identifier.
    fn identifier(&mut self) -> ParseResult<Name> {
        match self.peek().kind {
            TokenKind::Identifier => {
                let token = self.bump();
                Ok(self.name(token.span))
            }
            _ => Err(self.expected("an identifier")),
        }
    }

    /// Takes the name of a field or of a module, which may be a reserved word.
    fn field_name(&mut self) -> ParseResult<Name> {
        let token = self.peek();
        let is_word = self.text_of(token.span).starts_with(|it: char| it.is_ascii_alphanumeric());
        match token.kind {
            TokenKind::Identifier => self.identifier(),
            TokenKind::Keyword(_) | TokenKind::Symbol(_) if is_word => {
                self.bump();
                Ok(self.name(token.span))
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn name(&self, span: Span) -> Name {
        Name { text: self.text_of(span).into(), span }
    }

    /// Parses items that are separated by commas.
    fn comma_list<T>(&mut self, item: impl Fn(&mut Self) -> ParseResult<T>) -> ParseResult<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take_mark(Mark::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Parses something nested.
    fn nested<T>(
        &mut self,
        production: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        if self.depth == DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} nested expressions");
            return Err(Diagnostic::error(self.peek().span, message)
                .help("define a part of the expression by an operator of its own"));
        }
        self.depth += 1;
        let siblings = std::mem::take(&mut self.height);
        let result = production(self);
        self.height = siblings.max(self.height + 1);
        self.depth -= 1;
        result
    }

    /// Notes that a node was put above the trees of the present production.
    fn grow(&mut self) -> ParseResult<()> {
        self.height += 1;
        match self.height <= HEIGHT_MAX {
            true => Ok(()),
            false => {
                let message = format!("more than {HEIGHT_MAX} operators in a row or nested");
                Err(Diagnostic::error(self.peek().span, message)
                    .help("define a part of the expression by an operator of its own"))
            }
        }
    }

    /// Returns whether the next token is outside the innermost junction list.
    fn is_outside_junction(&self) -> bool {
        self.junctions.last().is_some_and(|it| self.peek().column <= it.column)
    }

    /// Returns `line 3, column 5`.
    fn line_column(&self, span: Span) -> String {
        let before = &self.text[..span.start as usize];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        format!("line {line}, column {}", before[start..].chars().count() + 1)
    }

    /// Returns the error that something else was expected here.
    fn expected(&self, what: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::ModuleEnd => "the end of the module".to_owned(),
            TokenKind::Separator => "`----`".to_owned(),
            TokenKind::ModuleStart => "`---- MODULE`".to_owned(),
            TokenKind::String => "a string".to_owned(),
            _ => format!("`{}`", self.text_of(token.span)),
        };
        let error = Diagnostic::error(token.span, format!("expected {what}, found {found}"));
        let remedy = match token.kind {
            TokenKind::End => Some("a module ends with `====`"),
            _ => remedy(what),
        };
        let helps: Vec<String> =
            remedy.map(str::to_owned).into_iter().chain(self.junction_help()).collect();
        if helps.is_empty() { error } else { error.help(helps.join("; ")) }
    }

    /// Describes the innermost junction list.
    fn junction_help(&self) -> Option<String> {
        let list = self.junctions.last()?;
        let bullet = self.text_of(list.span);
        let place = self.line_column(list.span);
        Some(match self.is_outside_junction() {
            true => format!(
                "the list with `{bullet}` at {place} ends here, because this is not to the right of \
                 column {}",
                list.column
            ),
            false => format!("this is inside the list with `{bullet}` at {place}"),
        })
    }
}

/// The hint for an expectation that the text does not meet.
struct Remedy {
    /// How the expectation begins.
    expected: &'static str,
    text: &'static str,
}

const REMEDIES: &[Remedy] = &[
    Remedy { expected: "`THEN`", text: "an IF is `IF condition THEN a ELSE b`" },
    Remedy { expected: "`ELSE`", text: "every IF has an ELSE: `IF condition THEN a ELSE b`" },
    Remedy { expected: "`IN`", text: "a LET is `LET definitions IN expression`" },
    Remedy { expected: "`->`,", text: "a function is applied by `f[x]`, with its name" },
    Remedy { expected: "`->`", text: "an arm of CASE is `condition -> value`" },
    Remedy { expected: "`:`", text: "a formula with bound variables is `\\E x \\in S : formula`" },
    Remedy { expected: "`\\in`", text: "a bound variable is `x \\in S`" },
    Remedy {
        expected: "`!`",
        text: "an update of EXCEPT is `![index] = value` or `!.field = value`",
    },
    Remedy {
        expected: "`[` or",
        text: "an update of EXCEPT is `![index] = value` or `!.field = value`",
    },
    Remedy { expected: "`(`", text: "a fairness formula is `WF_v(A)` or `SF_v(A)`" },
    Remedy { expected: "`<-`", text: "a substitution is `x <- expression`" },
    Remedy { expected: "`PROVE`", text: "write `ASSUME assumptions PROVE formula`" },
    Remedy { expected: "`==`", text: "a definition is `Name == ...`" },
    Remedy { expected: "`----`", text: "a module begins with `---- MODULE Name ----`" },
    Remedy { expected: "`)` for", text: "close it, or remove what does not belong inside" },
    Remedy { expected: "`]` for", text: "close it, or remove what does not belong inside" },
    Remedy { expected: "`}` for", text: "close it, or remove what does not belong inside" },
    Remedy { expected: "`>>` for", text: "close it, or remove what does not belong inside" },
    Remedy {
        expected: "an expression",
        text: "an operand is missing before it, or an operator is too much",
    },
    Remedy { expected: "a step", text: "write `<1> QED` with its proof at the end" },
    Remedy { expected: "a proof", text: "remove the proof, or complete it" },
    Remedy {
        expected: "an identifier",
        text: "a name has letters, digits and `_`, and is no reserved word",
    },
    Remedy { expected: "a subscript", text: "write `[A]_v` or `[A]_<<x, y>>`" },
    Remedy { expected: "an operator or the end", text: "write one formula" },
];

/// Returns what to write where something was expected.
fn remedy(expected: &str) -> Option<&'static str> {
    REMEDIES.iter().find(|it| expected.starts_with(it.expected)).map(|it| it.text)
}
