//! Rows of reports without the figures that vary.

/// Returns the row with stars for the figures, if these vary.
pub fn mask_row(row: &str) -> String {
    let rows = [
        "  took ",
        "  disk ",
        "  store ",
        "  run      compiled",
        "           young runs",
        "           back-edges",
        "stopped ",
        "ended ",
        "note: TMP/spillway-",
        "  program and model ",
        "  reserve ",
        "  candidates ",
        "  young runs ",
        "  filter ",
    ];
    if !rows.iter().any(|it| row.starts_with(it)) {
        return row.to_owned();
    }
    let (mut out, mut rest) = (String::new(), row);
    while let Some(at) = rest.find(|it: char| it.is_ascii_digit()) {
        // Columns move if their figures have other lengths.
        let before = &rest[..at];
        let is_far = before.ends_with("  ");
        out += if is_far { before.trim_end() } else { before };
        out += if is_far { "  *" } else { "*" };
        let figure = |it: char| it.is_ascii_digit() || matches!(it, '.' | ',');
        let tail = rest[at..].trim_start_matches(figure);
        let figure = &rest[at..rest.len() - tail.len()];
        // A comma or a full stop after the figure belongs to the sentence.
        rest = &rest[at + figure.trim_end_matches([',', '.']).len()..];
    }
    out + rest
}
