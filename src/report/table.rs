//! Rows of a report: a label and a text, wrapped to the width of a terminal.

use crate::escape;

/// The default width of a terminal in characters.
pub(super) const WIDTH: usize = 80;

/// The column at which the text of a row begins.
const TEXT: usize = 11;

/// The minimum length of a line that is broken after a comma.
const SHORT: usize = 50;

/// Formats a row. The text follows a label that is too long.
pub fn row(label: &str, text: &str) -> String {
    let label = escape::line(label);
    let first = match label.chars().count() + 2 < TEXT {
        true => format!("  {label:<0$}", TEXT - 2),
        false => format!("  {label}  "),
    };
    wrapped(&first, text)
}

/// Formats a row without breaking it.
pub(super) fn row_on_one_line(label: &str, text: &str) -> String {
    format!("  {label:<0$}{1}\n", TEXT - 2, escape::line(text))
}

/// Formats a text after a first part. Further lines are indented like the text of rows. Lines end after a comma or
/// similar if possible.
pub fn wrapped(first: &str, text: &str) -> String {
    let (first, text) = (escape::line(first), escape::line(text));
    let used = first.chars().count();
    let mut lines = LineWrapper { out: first.into_owned(), used, is_begun: false };
    for part in pieces(&text) {
        // A piece that fits on no line is broken between words.
        let is_long = TEXT + part.chars().count() > WIDTH;
        match lines.holds(part) || is_long || lines.used < SHORT {
            true => part.split(' ').for_each(|word| lines.add(word)),
            false => {
                lines.end();
                lines.add(part);
            }
        }
    }
    lines.out.push('\n');
    lines.out
}

/// Formats a title with its positions: on the same line, or below if the line is too short.
pub(super) fn places_behind(title: &str, places: &str) -> String {
    let (title, places) = (&*escape::line(title), &*escape::line(places));
    let (shown, margin) = (title.trim_start(), title.len() - title.trim_start().len());
    let used = |text: &str| text.chars().count();
    match places {
        "" => wrapped(&title[..margin], shown),
        _ if used(title) + used(places) + 4 <= WIDTH => format!("{title}    {places}\n"),
        _ => wrapped(&title[..margin], shown) + &wrapped(&" ".repeat(TEXT), places),
    }
}

/// Splits a text after commas and similar characters.
fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    let ends = [", ", "; ", " + "];
    let end = |rest: &str| ends.iter().filter_map(|it| Some(rest.find(it)? + it.len())).min();
    while let Some(end) = end(rest) {
        pieces.push(&rest[..end - 1]);
        rest = &rest[end..];
    }
    pieces.push(rest);
    pieces
}

/// A builder of wrapped lines.
struct LineWrapper {
    out: String,
    /// The number of characters in the last line.
    used: usize,
    /// Whether the last line has text.
    is_begun: bool,
}

impl LineWrapper {
    /// Returns whether a piece fits on the last line.
    fn holds(&self, piece: &str) -> bool {
        self.used + usize::from(self.is_begun) + piece.chars().count() <= WIDTH
    }

    fn end(&mut self) {
        if self.is_begun {
            self.out += &format!("\n{:1$}", "", TEXT);
            (self.used, self.is_begun) = (TEXT, false);
        }
    }

    fn add(&mut self, piece: &str) {
        if !self.holds(piece) {
            self.end();
        }
        if self.is_begun {
            self.out.push(' ');
            self.used += 1;
        }
        self.out += piece;
        self.used += piece.chars().count();
        self.is_begun = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_wrapped_between_words() {
        assert_eq!(row("found", "1 state"), "  found    1 state\n");
        assert_eq!(row("NOT checked", "ltl p"), "  NOT checked  ltl p\n");
        let words = vec!["seventy-one"; 14].join(" ");
        let told = row("checked", &words);
        let expected = [5, 5, 4].map(|count| vec!["seventy-one"; count].join(" "));
        let [one, two, three] = expected.map(|it| it);
        let indent = " ".repeat(TEXT);
        assert_eq!(told, format!("  checked  {one}\n{indent}{two}\n{indent}{three}\n"));
        // Breaks after a comma rather than between words.
        let told = row("found", &format!("{}, {}", "x y ".repeat(15).trim(), "one two three"));
        assert_eq!(
            told,
            format!("  found    {},\n{indent}one two three\n", "x y ".repeat(15).trim())
        );
        assert_eq!(row("found", "3,072 states, 1"), "  found    3,072 states, 1\n");
        // Words are never broken.
        let long = "x".repeat(100);
        assert_eq!(row("at", &long), format!("  at       {long}\n"));
    }
}
