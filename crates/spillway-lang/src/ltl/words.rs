//! Splits text into words, for languages whose lexers do not know the operators of formulas.

use spillway_base::source::Span;

/// A name, a number or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaWord {
    /// The text.
    pub text: String,
    /// The position.
    pub span: Span,
}

/// Signs of several characters, longer ones first.
const SIGNS: [&str; 19] = [
    "<->", "->", "<>", "[]", "&&", "||", "/\\", "\\/", "!!", "==", "!=", "<=", ">=", "<<", ">>",
    ":=", "..", "::", "=>",
];

/// Returns the words of a text in a file, and the position of its end.
pub fn words(text: &str, file: u32) -> (Vec<FormulaWord>, Span) {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let length = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if is_word(first) {
            rest.find(|it| !is_word(it)).unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            sign.map_or(first.len_utf8(), |sign| sign.len())
        };
        let span = Span::new(file, at..at + length);
        words.push(FormulaWord { text: rest[..length].to_owned(), span });
        at += length;
    }
    (words, Span::new(file, text.len()..text.len()))
}
