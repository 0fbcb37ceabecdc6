//! Suggestions for misspelt names: "did you mean ...?".

use super::quote::quote;

/// The maximum number of names that one message lists.
const NAMES_LISTED: usize = 20;

/// Returns a help text for an unknown `name`: a similar one of the model's `names`, or their list; `called` is their
/// kind.
pub fn unknown_name_help(name: &str, names: &[&str], called: &str) -> String {
    match (suggest_name(name, names.iter().copied()), names) {
        (Some(meant), _) => meant,
        (None, []) => format!("the model has no {called}"),
        (None, _) => {
            let shown: Vec<String> = names.iter().take(NAMES_LISTED).map(|it| quote(it)).collect();
            let more = if names.len() > NAMES_LISTED { " and others" } else { "" };
            format!("its {called} are {}{more}", shown.join(", "))
        }
    }
}

/// Suggests the candidate most similar to `name`, if one is similar enough.
pub fn suggest_name<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<String> {
    nearest(name, candidates).map(|near| format!("did you mean {}?", quote(near)))
}

/// The maximum length of names that are compared.
const LENGTH_COMPARED: usize = 64;

/// Returns the candidate most similar to `name`, if it is similar enough.
fn nearest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // The limit is 0 for names of one letter: otherwise they would all be similar.
    let limit = (name.len() + 1) / 3;
    candidates
        .filter(|other| name.len().max(other.len()) <= LENGTH_COMPARED)
        .filter(|other| name.len().abs_diff(other.len()) <= limit)
        .map(|other| (distance(name.as_bytes(), other.as_bytes()), other))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, other)| other)
}

/// Returns the minimum number of insertions, deletions, replacements and transpositions of neighbours (Damerau, 1964)
/// in which each character is edited at most once.
fn distance(from: &[u8], to: &[u8]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(a != b);
            let least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            let is_exchanged = i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b;
            row.push(if is_exchanged { least.min(rows[i - 1][j - 1] + 1) } else { least });
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        assert_eq!(distance(b"", b"abc"), 3);
        assert_eq!(distance(b"abc", b"abc"), 0);
        assert_eq!(distance(b"size", b"siez"), 1);
        assert_eq!(distance(b"ab", b"ba"), 1);
    }

    #[test]
    fn only_similar_names_are_suggested() {
        assert_eq!(nearest("conter", ["count", "counter"].into_iter()), Some("counter"));
        assert_eq!(nearest("x", ["longer", "y"].into_iter()), None);
    }
}
