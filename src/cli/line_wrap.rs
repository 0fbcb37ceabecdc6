//! The wrapping of long lines to the width of a terminal.

use crate::escape;

/// The default number of columns of a terminal.
pub(super) const DEFAULT_COLUMNS: usize = 80;

/// Wraps lines between words to a number of columns. Continuation lines are indented to the text of their line: after
/// its last gap of two or more blanks, as in descriptions of flags, or else to its start.
pub(super) fn wrap_lines(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        match line.chars().count() <= columns || is_excerpt(line) {
            true => out += line,
            false => fold(line, columns, &mut out),
        }
        out += end;
    }
    out
}

/// Returns whether a line quotes a model's text or marks a position below it. Such lines stay aligned and are not
/// wrapped.
fn is_excerpt(line: &str) -> bool {
    line.trim_start().trim_start_matches(|it: char| it.is_ascii_digit()).starts_with(" |")
        || line.trim_start().starts_with('|')
}

/// Splits a text into words. A command in backticks is one word, so that it can be copied.
fn words(text: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let ends = |it: char| {
        is_quoted ^= it == '`';
        it == ' ' && !is_quoted
    };
    text.split(ends).collect()
}

fn fold(line: &str, columns: usize, out: &mut String) {
    let margin = line.len() - line.trim_start().len();
    let gap = line[margin..].rfind("  ").map(|at| margin + at + 2);
    let hang =
        gap.filter(|&at| at <= 2 * columns / 3).map_or(margin, |at| line[..at].chars().count());
    let head = gap.filter(|&at| at <= 2 * columns / 3).unwrap_or(margin);
    *out += &line[..head];
    let mut used = hang;
    for (number, word) in words(&line[head..]).into_iter().enumerate() {
        let length = word.chars().count();
        if number > 0 && used + 1 + length > columns {
            *out += "\n";
            *out += &" ".repeat(hang);
            used = hang;
        } else if number > 0 {
            *out += " ";
            used += 1;
        }
        *out += word;
        used += length;
    }
}

/// Truncates a text to a number of columns. Characters outside ASCII may take two columns. Control characters become
/// `?`.
pub(super) fn truncate_text(text: &str, columns: usize) -> String {
    let mut room = columns;
    let fits = |it: &char| {
        let left = room.checked_sub(if it.is_ascii() { 1 } else { 2 });
        room = left.unwrap_or(0);
        left.is_some()
    };
    let printed = |it: char| if escape::is_control(it) { '?' } else { it };
    text.chars().map(printed).take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::{truncate_text, wrap_lines};

    #[test]
    fn wrapped_lines_are_indented_to_their_text() {
        let text = "Usage: a b\n\n  -f, --flag <X>  one two three four\n          five six seven eight nine\n";
        let expected = "Usage: a b\n\n  -f, --flag <X>  one two\n                  three four\n          \
                        five six seven eight\n          nine\n";
        assert_eq!(wrap_lines(text, 30), expected);
        assert_eq!(wrap_lines(text, 80), text);
        assert_eq!(wrap_lines("error: it is as it is", 12), "error: it is\nas it is");
    }

    #[test]
    fn wrapping_changes_only_line_ends() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for columns in 1..120 {
            let text = "  --a-flag-with-a-long-name <NAME>  what it does, [default: aber]\n\nérror: ünter — x\n";
            let told = wrap_lines(text, columns);
            assert_eq!(words(&told), words(text), "{columns}");
            assert_eq!(wrap_lines(&told, 200), told);
            assert_eq!(told.matches("\n\n").count(), 1, "{columns}");
        }
    }

    #[test]
    fn commands_are_not_broken() {
        let text = "note: `spillway resume d` goes on";
        assert_eq!(wrap_lines(text, 12), "note:\n`spillway resume d`\ngoes on");
        assert_eq!(wrap_lines(text, 26), "note: `spillway resume d`\ngoes on");
    }

    #[test]
    fn lines_of_a_model_are_not_wrapped() {
        for line in [" 12 | byte x = 0, y = 1, z = 2", "    |                     ^^^^^^"] {
            assert_eq!(wrap_lines(line, 12), line);
        }
    }

    #[test]
    fn texts_are_truncated_to_their_columns() {
        assert_eq!(truncate_text("reading a\nb.dve", 11), "reading a?b");
        assert_eq!(truncate_text("模型.dve", 5), "模型.");
        assert_eq!(truncate_text("模型.dve", 3), "模");
        assert_eq!(truncate_text("ab模", 3), "ab");
    }
}
