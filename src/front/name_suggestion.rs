//! Names that are meant where another is written: "did you mean ...?".

use super::quote::quote;

/// The most names that one message lists.
const NAMES_LISTED: usize = 20;

/// What helps where `name` is none of the model's `names`, which are so called.
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

/// The advice to take the candidate most like `name`, if one is like it at all.
pub fn suggest_name<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<String> {
    nearest(name, candidates).map(|near| format!("did you mean {}?", quote(near)))
}

/// Names longer than this are compared with no other.
const LENGTH_COMPARED: usize = 64;

/// The candidate most like `name`, if it is like it at all.
fn nearest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Names of one letter are like any other.
    let limit = (name.len() + 1) / 3;
    candidates
        .filter(|other| name.len().max(other.len()) <= LENGTH_COMPARED)
        .filter(|other| name.len().abs_diff(other.len()) <= limit)
        .map(|other| (distance(name.as_bytes(), other.as_bytes()), other))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, other)| other)
}

/// The least number of characters to insert, remove, replace or exchange with the next (Damerau, 1964), each of them once.
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
    fn only_like_names_are_suggested() {
        assert_eq!(nearest("conter", ["count", "counter"].into_iter()), Some("counter"));
        assert_eq!(nearest("x", ["longer", "y"].into_iter()), None);
    }
}
