//! Text to tokens.
//!
//! The text before the first `---- MODULE` and after the `====` that ends that module is prose, which is not read. The
//! longest token always wins, as in the language: `<-` is one token, and so is `]_`.

use super::symbols::{Spelling, Symbol};
use super::token::{Keyword, MARKS, Mark, MarkSpelling, StepLevel, Token, TokenKind};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// The distance of tab stops in columns.
const TAB: u32 = 8;

/// Returns the tokens of the first module at or after an offset of a text. The last one is [`TokenKind::End`].
pub fn tokenize(file: u32, text: &str, from: usize) -> Result<Vec<Token>, Diagnostic> {
    let Some(start) = module_start(text, from) else {
        let first = text.find('\n').unwrap_or(text.len());
        return Err(Diagnostic::error(Span::new(file, 0..first), "the file has no module")
            .help("a module begins with a line such as `---- MODULE Name ----`"));
    };
    let mut lexer = Lexer::new(file, text, start);
    lexer.read_module()?;
    Ok(lexer.tokens)
}

/// Returns the tokens of a whole text. The last one is [`TokenKind::End`].
pub fn tokenize_all(file: u32, text: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut lexer = Lexer::new(file, text, 0);
    while lexer.read_token()?.is_some() {}
    lexer.push(TokenKind::End, lexer.at, 0);
    Ok(lexer.tokens)
}

/// A line that begins a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleHeader {
    /// The name of the module.
    pub name: String,
    /// The offset of the line.
    pub start: usize,
}

/// Returns the lines after an offset of a text that begin modules.
pub fn module_headers(text: &str, from: usize) -> Vec<ModuleHeader> {
    let (mut headers, mut from) = (Vec::new(), from);
    while let Some(start) = module_start(text, from) {
        let rest = text[start..].trim_start_matches(['-', ' ']);
        let name = rest.strip_prefix("MODULE").unwrap_or("").trim_start_matches([' ', '\t']);
        let name = &name[..span_of(name, is_word_part)];
        headers.push(ModuleHeader { name: name.to_owned(), start });
        from = text.len() - rest.len();
    }
    headers
}

/// Returns the offset of the first `---- MODULE` after another offset.
fn module_start(text: &str, from: usize) -> Option<usize> {
    let mut from = from;
    while let Some(found) = text[from..].find("----") {
        let start = from + found;
        let rest = text[start..].trim_start_matches('-');
        if rest.trim_start_matches(' ').starts_with("MODULE") {
            return Some(start);
        }
        from = text.len() - rest.len();
    }
    None
}

/// A table entry for tokens of symbols.
struct SymbolToken {
    text: &'static str,
    kind: TokenKind,
}

/// Returns the tokens that are not words, longest first.
fn fixed_tokens() -> Vec<SymbolToken> {
    let is_word = |text: &str| text.starts_with(|it: char| it.is_ascii_alphabetic());
    let symbols = Symbol::spellings()
        .filter(|it| !is_word(it.text))
        .map(|Spelling { text, symbol }| SymbolToken { text, kind: TokenKind::Symbol(symbol) });
    let marks = MARKS
        .iter()
        .map(|&MarkSpelling { text, mark }| SymbolToken { text, kind: TokenKind::Mark(mark) });
    let quantifiers = ["\\A", "\\forall", "∀", "\\E", "\\exists", "∃", "\\AA", "\\EE"];
    let quantifiers = quantifiers.iter().filter_map(|&text| {
        Some(SymbolToken { text, kind: TokenKind::Keyword(Keyword::find(text)?) })
    });
    let mut all: Vec<SymbolToken> = symbols.chain(marks).chain(quantifiers).collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.text.len()));
    all
}

struct Lexer<'t> {
    file: u32,
    text: &'t str,
    at: usize,
    /// The offset up to which columns are counted, and the column there.
    counted: usize,
    column: u32,
    /// Whether no token was on this line yet.
    is_first: bool,
    fixed: Vec<SymbolToken>,
    tokens: Vec<Token>,
}

impl<'t> Lexer<'t> {
    fn new(file: u32, text: &'t str, start: usize) -> Self {
        let line = text[..start].rfind('\n').map_or(0, |it| it + 1);
        let fixed = fixed_tokens();
        let tokens = Vec::new();
        Self { file, text, at: start, counted: line, column: 1, is_first: true, fixed, tokens }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Reads the tokens up to the end of the module.
    fn read_module(&mut self) -> Result<(), Diagnostic> {
        let mut open = 0usize;
        while let Some(kind) = self.read_token()? {
            match kind {
                TokenKind::ModuleStart => open += 1,
                TokenKind::ModuleEnd => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        self.push(TokenKind::End, self.at, 0);
        Ok(())
    }

    /// Reads a token, if there is one.
    fn read_token(&mut self) -> Result<Option<TokenKind>, Diagnostic> {
        self.skip_blanks()?;
        let start = self.at;
        let Some(ScannedToken { kind, length }) = self.scan()? else { return Ok(None) };
        self.push(kind, start, length);
        Ok(Some(kind))
    }

    fn push(&mut self, kind: TokenKind, start: usize, length: usize) {
        for it in self.text[self.counted..start].chars() {
            (self.column, self.is_first) = match it {
                '\n' => (1, true),
                '\t' => ((self.column - 1) / TAB * TAB + TAB + 1, self.is_first),
                _ => (self.column + 1, self.is_first),
            };
        }
        self.counted = start;
        self.at = start + length;
        let span = Span::new(self.file, start..self.at);
        self.tokens.push(Token { kind, span, column: self.column, is_first: self.is_first });
        self.is_first = false;
    }

    fn error(&self, start: usize, length: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(Span::new(self.file, start..start + length), message)
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}', '\u{feff}']);
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("\\*") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("(*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Skips a comment with the comments inside it.
    fn skip_comment(&mut self) -> Result<(), Diagnostic> {
        let (start, mut depth) = (self.at, 0usize);
        let bytes = self.text.as_bytes();
        while let Some(pair) = bytes.get(self.at..self.at + 2) {
            match pair {
                b"(*" => depth += 1,
                b"*)" => depth -= 1,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(self.error(start, 2, "this comment has no end").help("a comment ends with `*)`"))
    }

    /// Returns the kind and the length of the token here, or nothing at the end.
    fn scan(&self) -> Result<Option<ScannedToken>, Diagnostic> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let found = match first {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => word(rest),
            '"' => ScannedToken { kind: TokenKind::String, length: self.string_length()? },
            'ℕ' | 'ℤ' | 'ℝ' => {
                ScannedToken { kind: TokenKind::Identifier, length: first.len_utf8() }
            }
            _ => match special(rest).or_else(|| self.fixed(rest)) {
                Some(found) => found,
                None => {
                    let shown = first.escape_debug();
                    let message = format!("the character `{shown}` begins no token of TLA+");
                    return Err(self
                        .error(self.at, first.len_utf8(), message)
                        .help("remove it, or write it within a string or a comment"));
                }
            },
        };
        Ok(Some(found))
    }

    fn fixed(&self, rest: &str) -> Option<ScannedToken> {
        let found = self.fixed.iter().find(|it| rest.starts_with(it.text))?;
        Some(ScannedToken { kind: found.kind, length: found.text.len() })
    }

    /// Returns the length of the string here, with its quotes.
    fn string_length(&self) -> Result<usize, Diagnostic> {
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, it)) = chars.next() {
            match it {
                '"' => return Ok(at + 1),
                '\n' | '\r' => break,
                '\\' => match chars.next() {
                    Some((_, 'n' | 't' | 'r' | 'f' | '\\' | '"')) => {}
                    _ => {
                        return Err(self
                            .error(self.at + at, 1, "this is no escape of a string")
                            .help("the escapes are \\\\, \\\", \\n, \\t, \\r and \\f"));
                    }
                },
                _ => {}
            }
        }
        Err(self
            .error(self.at, 1, "this string has no end")
            .help("a string ends with `\"` on the line on which it begins"))
    }
}

/// A token without its position.
struct ScannedToken {
    kind: TokenKind,
    length: usize,
}

/// Returns the length of the longest prefix whose characters all satisfy a predicate.
fn span_of(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|it| !is_part(it)).unwrap_or(text.len())
}

fn is_word_part(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_'
}

/// Returns the identifier, the keyword, the operator or the number here.
fn word(rest: &str) -> ScannedToken {
    for fairness in ["WF_", "SF_"] {
        if rest.starts_with(fairness) {
            let kind = Keyword::find(fairness).map_or(TokenKind::Identifier, TokenKind::Keyword);
            return ScannedToken { kind, length: fairness.len() };
        }
    }
    let length = span_of(rest, is_word_part);
    let text = &rest[..length];
    if !text.contains(|it: char| it.is_ascii_alphabetic()) {
        return number_or_underscore(rest);
    }
    let kind = match (Keyword::find(text), Symbol::find(text)) {
        (Some(keyword), _) => TokenKind::Keyword(keyword),
        (_, Some(symbol)) => TokenKind::Symbol(symbol),
        _ => TokenKind::Identifier,
    };
    ScannedToken { kind, length }
}

/// Returns the number here, with its decimals, or `_`.
fn number_or_underscore(rest: &str) -> ScannedToken {
    let is_digit = |it: char| it.is_ascii_digit();
    let length = span_of(rest, is_digit);
    if length == 0 {
        return ScannedToken { kind: TokenKind::Mark(Mark::Underscore), length: 1 };
    }
    let decimals = rest[length..].strip_prefix('.').map_or(0, |it| span_of(it, is_digit));
    let length = if decimals > 0 { length + 1 + decimals } else { length };
    ScannedToken { kind: TokenKind::Number, length }
}

/// Returns the token here that is neither a word nor in a table.
fn special(rest: &str) -> Option<ScannedToken> {
    rule(rest).or_else(|| based_number(rest)).or_else(|| step(rest))
}

/// Returns `----`, `---- MODULE` or `====`.
fn rule(rest: &str) -> Option<ScannedToken> {
    if rest.starts_with("====") {
        return Some(ScannedToken {
            kind: TokenKind::ModuleEnd,
            length: span_of(rest, |it| it == '='),
        });
    }
    if !rest.starts_with("----") {
        return None;
    }
    let line = span_of(rest, |it| it == '-');
    let blanks = span_of(&rest[line..], |it| it == ' ');
    let after = &rest[line + blanks..];
    let is_module = after.strip_prefix("MODULE").is_some_and(|it| !it.starts_with(is_word_part));
    Some(match is_module {
        true => {
            ScannedToken { kind: TokenKind::ModuleStart, length: line + blanks + "MODULE".len() }
        }
        false => ScannedToken { kind: TokenKind::Separator, length: line },
    })
}

/// Returns the binary, octal or hexadecimal number here.
fn based_number(rest: &str) -> Option<ScannedToken> {
    let after = rest.strip_prefix('\\')?;
    let radix = match after.chars().next()? {
        'b' | 'B' => 2,
        'o' | 'O' => 8,
        'h' | 'H' => 16,
        _ => return None,
    };
    let digits = span_of(&after[1..], |it| it.is_digit(radix));
    (digits > 0).then_some(ScannedToken { kind: TokenKind::Number, length: 2 + digits })
}

/// Returns the beginning of a step of a proof.
fn step(rest: &str) -> Option<ScannedToken> {
    let after = rest.strip_prefix('<')?;
    let digits = span_of(after, |it| it.is_ascii_digit());
    let (level, length) = match after.chars().next()? {
        '+' => (StepLevel::Next, 1),
        '*' => (StepLevel::Same, 1),
        _ => (StepLevel::Number(after[..digits].parse().ok()?), digits),
    };
    let name = after[length..].strip_prefix('>')?;
    let letters = span_of(name, is_word_part);
    let letters = match letters {
        0 => span_of(name, |it| it == '*').min(1).max(usize::from(name.starts_with('-'))),
        _ => letters,
    };
    let dots = span_of(&name[letters..], |it| it == '.');
    Some(ScannedToken { kind: TokenKind::Step(level), length: 2 + length + letters + dots })
}

/// Returns the text of a string without its quotes and escapes.
pub fn unescape(quoted: &str) -> String {
    let (mut text, mut chars) = (String::new(), quoted[1..quoted.len() - 1].chars());
    while let Some(it) = chars.next() {
        text.push(match it {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some(other) => other,
                None => break,
            },
            it => it,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str) -> Vec<String> {
        let text = format!("prose (* ---- MODULE M ----\n{body}\n====\nprose \"");
        let tokens = tokenize(0, &text, 0).unwrap();
        let shown = tokens.iter().map(|it| &text[it.span.start as usize..it.span.end as usize]);
        let shown: Vec<String> = shown.map(str::to_owned).collect();
        shown[3..shown.len() - 2].to_vec()
    }

    #[test]
    fn the_longest_token_is_taken() {
        for (body, expected) in [
            ("[]_x ]_x >>_x", "[] _x ]_ x >>_ x"),
            ("a<-b a < -b -. -+-> --", "a <- b a < - b -. -+-> --"),
            ("1..N 1.5 \\hFf \\b01 \\o7 \\o s", "1 .. N 1.5 \\hFf \\b01 \\o7 \\o s"),
            ("WF_vars(A) WFx _x x_ 1a", "WF_ vars ( A ) WFx _x x_ 1a"),
            ("<1>a. <1>2 <*> <+> <12>1.. x <1", "<1>a. <1>2 <*> <+> <12>1.. x < 1"),
            ("\\in\\AA \\E \\ A", "\\in \\AA \\E \\ A"),
            ("(+) (* a (* b *) *) c \\* d\n\"e\\\"\"", "(+) c \"e\\\"\""),
            ("x∈S ⟨a⟩ ∀ ≜ ----- =>", "x ∈ S ⟨ a ⟩ ∀ ≜ ----- =>"),
        ] {
            assert_eq!(texts(body).join(" "), expected);
        }
    }

    #[test]
    fn columns_count_tabs() {
        let text = "---- MODULE M ----\n\ta\n  \tb ∈ c\n====";
        let tokens = tokenize(0, text, 0).unwrap();
        let columns: Vec<u32> = tokens.iter().map(|it| it.column).collect();
        assert_eq!(columns[3..7], [9, 9, 11, 13]);
    }
}
