//! PlusCal: whether an algorithm in a comment has a translation, and whether the translation is as the translator wrote
//! it.
//!
//! The algorithm itself is a comment. Its translation is ordinary TLA+, between the lines `BEGIN TRANSLATION` and
//! `END TRANSLATION`. The first of them has the checksum of the lines between, unless the translator was an old one.

use super::ast::Module;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// A line of a text.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    start: usize,
}

impl Line<'_> {
    fn span(self, file: u32) -> Span {
        Span::new(file, self.start..self.start + self.text.len())
    }

    fn has_words(self, first: &str, second: &str) -> bool {
        let mut words = self.text.split_whitespace().skip_while(|it| *it != first);
        words.next().is_some() && words.next() == Some(second)
    }
}

/// Returns the warnings about the PlusCal algorithm of a module.
pub fn warnings(text: &str, module: &Module) -> Vec<Diagnostic> {
    let (file, start) = (module.span.file, module.span.start as usize);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut at = start;
    for line in text[start..module.span.end as usize].split_inclusive('\n') {
        lines.push(Line { text: line.trim_end_matches(['\n', '\r']), start: at });
        at += line.len();
    }
    let is_algorithm =
        |it: &&Line<'_>| it.text.contains("--algorithm") || it.has_words("--fair", "algorithm");
    let Some(algorithm) = lines.iter().find(is_algorithm) else { return Vec::new() };
    let begin = lines.iter().position(|it| it.has_words("BEGIN", "TRANSLATION"));
    let end = lines.iter().position(|it| it.has_words("END", "TRANSLATION"));
    let (Some(begin), Some(end)) = (begin, end) else {
        return vec![
            Diagnostic::warning(algorithm.span(file), "the PlusCal algorithm has no translation")
                .help("translate it with the PlusCal translator of the TLA+ tools"),
        ];
    };
    let Some(expected) = checksum(lines[begin].text) else { return Vec::new() };
    let mut hasher = crc32fast::Hasher::new();
    lines[(begin + 1).min(end)..end].iter().for_each(|it| hasher.update(it.text.as_bytes()));
    match format!("{:x}", hasher.finalize()) == expected {
        true => Vec::new(),
        false => vec![
            Diagnostic::warning(
                lines[begin].span(file),
                "the translation of the PlusCal algorithm was changed by hand",
            )
            .help("translate the algorithm again, unless the change is intended"),
        ],
    }
}

/// Returns the checksum of the translation that its first line has.
fn checksum(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("(tla")?;
    let (_, quoted) = after.split_once('"')?;
    quoted.split_once('"').map(|(checksum, _)| checksum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    const TRANSLATED: &str = "---- MODULE M ----
EXTENDS Naturals
(* --fair algorithm Count { variables x = 0; { x := x + 1 } } *)
\\* BEGIN TRANSLATION (chksum(pcal) = \"0\" /\\ chksum(tla) = \"CHECKSUM\")
VARIABLES x, pc

Init == x = 0
Next == x' = x + 1

\\* END TRANSLATION
====";

    fn messages(text: &str) -> Vec<String> {
        let module = parse(0, text).unwrap();
        warnings(text, &module).into_iter().map(|it| it.message).collect()
    }

    #[test]
    fn missing_and_changed_translations_are_detected() {
        let text = TRANSLATED.replace("CHECKSUM", "da651eab");
        assert!(messages(&text).is_empty());
        let changed = messages(&text.replace("x + 1\n", "x + 2\n"));
        assert_eq!(changed, ["the translation of the PlusCal algorithm was changed by hand"]);
        let missing = messages(&text.replace("BEGIN TRANSLATION", "begin"));
        assert_eq!(missing, ["the PlusCal algorithm has no translation"]);
        assert!(messages(&text.replace("--fair algorithm", "words")).is_empty());
    }
}
