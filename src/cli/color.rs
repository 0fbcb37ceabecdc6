//! Colour for verdicts and messages on terminals.
//!
//! The environment decides by the usual conventions: `NO_COLOR` and `TERM=dumb` turn colour off, `CLICOLOR_FORCE=1`
//! turns it on without a terminal.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use std::io;

const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default().bold();
const ADVICE: Style = AnsiColor::Cyan.on_default();

/// The coloured words at the beginning of a line, after spaces.
const LABELS: [(&str, Style); 4] =
    [("error:", BAD), ("warning:", DOUBTFUL), ("NOT checked", DOUBTFUL), ("help:", ADVICE)];

/// The coloured words after the name of a model or property.
const VERDICTS: [(&str, Style); 5] = [
    ("VIOLATED", BAD),
    ("verified", GOOD),
    ("holds", GOOD),
    ("incomplete", DOUBTFUL),
    ("undecided", DOUBTFUL),
];

/// Colours text for standard output.
pub(super) fn color_output(text: &str) -> String {
    color_if(AutoStream::choice(&io::stdout()), text)
}

/// Colours text for standard error.
pub(super) fn color_message(text: &str) -> String {
    color_if(AutoStream::choice(&io::stderr()), text)
}

fn color_if(choice: ColorChoice, text: &str) -> String {
    match choice {
        ColorChoice::Never => text.to_owned(),
        _ => text.split_inclusive('\n').map(color_line).collect(),
    }
}

fn color_line(line: &str) -> String {
    let content = line.trim_start();
    let indent = line.len() - content.len();
    let label = LABELS.iter().find(|(word, _)| content.starts_with(word));
    let label = label.map(|&(word, style)| (indent, word, style));
    let verdict = VERDICTS.iter().find_map(|&(word, style)| {
        let at = line.find(&format!(": {word}"))? + 2;
        (indent == 0).then_some((at, word, style))
    });
    match label.or(verdict) {
        None => line.to_owned(),
        Some((at, word, style)) => {
            let (before, after) = (&line[..at], &line[at + word.len()..]);
            format!("{before}{style}{word}{style:#}{after}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_and_labels_are_coloured() {
        let told = |line| color_if(ColorChoice::Always, line);
        assert_eq!(
            told("m.pml: VIOLATED: deadlock\n"),
            "m.pml: \x1b[1m\x1b[31mVIOLATED\x1b[0m: deadlock\n"
        );
        assert_eq!(told("  help: use --dir\n"), "  \x1b[36mhelp:\x1b[0m use --dir\n");
        assert_eq!(told("  checked  no error: none"), "  checked  no error: none");
        assert_eq!(color_if(ColorChoice::Never, "error: x"), "error: x");
    }
}
