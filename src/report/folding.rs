//! Folding of a list: repetitions are found, so that a repeated part is shown only once.

/// The maximum length of a repeated part.
const PERIOD_MAX: usize = 12;

/// The minimum number of repetitions. Fewer are shown in full.
const REPETITIONS_MIN: usize = 3;

/// The minimum number of elements that a fold leaves out. Fewer elements with their changes take at most half a screen
/// of 24 lines, and short counterexamples are easier to read in full.
const LEFT_OUT_MIN: usize = 6;

/// A part of a list that consists of repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListFold {
    /// The index of its first element.
    pub at: usize,
    /// The length of the repeated part.
    pub period: usize,
    /// The number of repetitions.
    pub times: usize,
}

impl ListFold {
    /// Returns the elements that are shown.
    pub fn shown(self) -> std::ops::Range<usize> {
        self.at..self.at + self.period
    }

    /// Returns the elements that are left out. They repeat the shown ones.
    pub fn left_out(self) -> std::ops::Range<usize> {
        self.at + self.period..self.at + self.period * self.times
    }
}

/// Returns the minimum number of repetitions of a part of this length.
fn times_min(period: usize) -> usize {
    REPETITIONS_MIN.max(LEFT_OUT_MIN.div_ceil(period) + 1)
}

/// Returns the disjoint folds that minimise the number of lines, in order. An element takes one line, and a fold takes
/// one more line for the elements that it leaves out.
pub(super) fn folds<T: PartialEq>(list: &[T]) -> Vec<ListFold> {
    // From the end: the minimum number of lines of the rest, and the fold that it begins with.
    let mut lines = vec![0; list.len() + 1];
    let mut first: Vec<Option<ListFold>> = vec![None; list.len()];
    // For each period: how many elements from here on equal the elements one period later.
    let mut alike = [0; PERIOD_MAX];
    for at in (0..list.len()).rev() {
        lines[at] = lines[at + 1] + 1;
        for (period, alike) in (1..).zip(&mut alike) {
            let is_alike = list.get(at + period) == Some(&list[at]);
            *alike = if is_alike { *alike + 1 } else { 0 };
            let most = *alike / period + 1;
            // The next fold may begin within the last repetitions. Two repetitions have no more than the sum of their
            // periods in common (Fine and Wilf 1965).
            let least = most.saturating_sub(PERIOD_MAX / period + 1).max(times_min(period));
            for times in (least..=most).rev() {
                let fold = ListFold { at, period, times };
                let folded = period + 1 + lines[fold.left_out().end];
                // Ties: the earliest start, then the shortest period, then the most repetitions.
                if folded < lines[at] || folded == lines[at] && first[at].is_none() {
                    (lines[at], first[at]) = (folded, Some(fold));
                }
            }
        }
    }
    let (mut folds, mut at) = (Vec::new(), 0);
    while at < list.len() {
        folds.extend(first[at]);
        at = first[at].map_or(at + 1, |it| it.left_out().end);
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A line of a folded list: an element, or the number of preceding elements that are repeated and how often.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Line {
        Element(u8),
        Again(usize, usize),
    }

    fn folded(list: &[u8]) -> Vec<Line> {
        let (mut lines, mut at) = (Vec::new(), 0);
        let elements = |some: &[u8]| some.iter().map(|&it| Line::Element(it)).collect::<Vec<_>>();
        for fold in folds(list) {
            lines.extend(elements(&list[at..fold.shown().end]));
            lines.push(Line::Again(fold.period, fold.times - 1));
            at = fold.left_out().end;
        }
        lines.extend(elements(&list[at..]));
        lines
    }

    fn expanded(lines: &[Line]) -> Vec<u8> {
        let mut list: Vec<u8> = Vec::new();
        for line in lines {
            match *line {
                Line::Element(it) => list.push(it),
                Line::Again(period, times) => {
                    let round = list[list.len() - period..].to_vec();
                    (0..times).for_each(|_| list.extend(&round));
                }
            }
        }
        list
    }

    fn shown(list: &str) -> String {
        let told = folded(list.as_bytes()).into_iter().map(|it| match it {
            Line::Element(it) => char::from(it).to_string(),
            Line::Again(period, times) => format!("({period} again {times})"),
        });
        told.collect()
    }

    #[test]
    fn repeated_elements_are_folded() {
        for (list, expected) in [
            ("", ""),
            // A fold here would omit too few elements.
            ("aaaaaa", "aaaaaa"),
            ("ababab", "ababab"),
            ("abcabc", "abcabc"),
            ("aaaaaaa", "a(1 again 6)"),
            ("abababab", "ab(2 again 3)"),
            ("xabababababy", "xab(2 again 4)y"),
            ("abcabcabcab", "abc(3 again 2)ab"),
            // Two repetitions are not folded.
            ("abcdefghabcdefgh", "abcdefghabcdefgh"),
            // A longer period takes precedence over a shorter one within it.
            ("aaabaaabaaab", "aaab(4 again 2)"),
            ("aaaaaaaabcabcabc", "a(1 again 6)abc(3 again 2)"),
            ("aaaaaaaabbbbbbbb", "a(1 again 7)b(1 again 7)"),
            ("abcdefghijklabcdefghijklabcdefghijkl", "abcdefghijkl(12 again 2)"),
            ("abcdefghijklmabcdefghijklmabcdefghijklm", "abcdefghijklmabcdefghijklmabcdefghijklm"),
        ] {
            assert_eq!(shown(list), expected);
        }
    }

    proptest! {
        #[test]
        fn folded_lists_expand_to_the_original(
            parts in prop::collection::vec((prop::collection::vec(0..3u8, 1..14), 1..9usize), 0..8),
        ) {
            let list: Vec<u8> = parts.iter().flat_map(|(part, times)| part.repeat(*times)).collect();
            let lines = folded(&list);
            prop_assert_eq!(&expanded(&lines), &list);
            prop_assert!(lines.len() <= list.len());
            // Nothing between the folds can be folded.
            let is_fold = |some: &[u8], period: usize| {
                some.iter().zip(&some[period..]).all(|(one, other)| one == other)
            };
            let ends = folds(&list).into_iter().map(|it| (it.at, it.left_out().end));
            let mut end = 0;
            for (at, next) in ends.chain([(list.len(), list.len())]) {
                for period in 1..=PERIOD_MAX {
                    let mut all = list[end..at].windows(period * times_min(period));
                    prop_assert!(!all.any(|some| is_fold(some, period)));
                }
                end = next;
            }
        }
    }
}
