//! Growth from row to row of a sweep, and an estimate of the next row.
//!
//! The estimate is geometric: it takes the growth from the last row to the next one to be that of the rows before. With
//! two growth factors it also takes the factor itself to change as it did, which gives the other end of the range.
//! Stored bytes grow more slowly than states while they are few. Their range begins at their own growth.

use super::constants::RowConstants;
use crate::session::config::Definition;

/// The size of a row whose states were all visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowSize {
    /// The number of states.
    pub states: u64,
    /// The bytes of the stored states, if they are known.
    pub bytes: Option<u64>,
}

/// A row: its constants, and its size if all of its states were visited.
#[derive(Clone, Debug)]
pub(super) struct SizedRow {
    /// The constants.
    pub constants: RowConstants,
    /// The size.
    pub size: Option<RowSize>,
}

/// A range of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeRange {
    /// The lower end.
    pub low: u64,
    /// The upper end.
    pub high: u64,
}

/// An estimate of the size of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizeEstimate {
    /// The constants of the row.
    pub constants: RowConstants,
    /// The range of the number of states.
    pub states: SizeRange,
    /// The range of the bytes of the stored states, if they are known.
    pub bytes: Option<SizeRange>,
}

/// Returns by how much each row is larger than the one before it, where exactly one constant differs and all states of
/// both were visited.
pub(super) fn growth_of(rows: &[SizedRow]) -> Vec<Option<f64>> {
    let of_row = |number: usize| {
        let (one, other) = (rows.get(number.checked_sub(1)?)?, &rows[number]);
        let differing =
            one.constants.iter().zip(&other.constants).filter(|(one, other)| one != other);
        let (before, after) = (one.size?.states, other.size?.states);
        (differing.count() == 1 && before > 0).then(|| after as f64 / before as f64)
    };
    (0..rows.len()).map(of_row).collect()
}

/// Estimates the row after the last one whose states were all visited. `None` unless a single constant varies, and its
/// last values are whole numbers at equal distances.
pub(super) fn estimate_next(rows: &[SizedRow]) -> Option<SizeEstimate> {
    let value = |it: &SizedRow| match &it.constants[..] {
        [only] => only.integer(),
        _ => None,
    };
    let whole = rows.iter().take_while(|it| it.size.is_some()).count();
    let (known, open) = rows.split_at(whole);
    let [.., before, last] = known else { return None };
    let distance = value(last)?.checked_sub(value(before)?).filter(|it| *it > 0)?;
    let next = value(last)?.checked_add(distance)?;
    if open.first().is_some_and(|it| value(it) != Some(next)) {
        return None;
    }
    let factor = |one: &SizedRow, other: &SizedRow| {
        Some(other.size?.states as f64 / (one.size?.states.max(1)) as f64)
    };
    let same = factor(before, last)?;
    let earlier = known.len().checked_sub(3).map(|it| &known[it]);
    let is_next =
        |it: &&SizedRow| value(it) == value(before).and_then(|it| it.checked_sub(distance));
    let changing = match earlier.filter(is_next) {
        Some(earlier) => same * same / factor(earlier, before)?,
        None => same,
    };
    let (low, high) = (same.min(changing), same.max(changing));
    let scale = |number: u64, factor: f64| (number as f64 * factor).round() as u64;
    let RowSize { states, bytes } = last.size?;
    let stored = before.size?.bytes.filter(|it| *it > 0).zip(bytes).map(|(before, last)| {
        let own = last as f64 / before as f64;
        SizeRange { low: scale(last, low.min(own)), high: scale(last, high.max(own)) }
    });
    let Definition { name, .. } = last.constants.first()?;
    Some(SizeEstimate {
        constants: vec![Definition { name: name.clone(), value: Some(next.to_string()) }],
        states: SizeRange { low: scale(states, low), high: scale(states, high) },
        bytes: stored,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: u64, high: u64) -> SizeRange {
        SizeRange { low, high }
    }

    fn row(value: &str, states: Option<u64>) -> SizedRow {
        let size = states.map(|states| RowSize { states, bytes: Some(2 * states) });
        SizedRow { constants: vec![format!("N={value}").parse().unwrap()], size }
    }

    fn rows(all: &[(&str, Option<u64>)]) -> Vec<SizedRow> {
        all.iter().map(|(value, states)| row(value, *states)).collect()
    }

    #[test]
    fn growth_is_between_complete_rows_that_differ_in_one_constant() {
        let growth =
            growth_of(&rows(&[("1", Some(10)), ("2", Some(40)), ("3", None), ("4", Some(80))]));
        assert_eq!(growth, [None, Some(4.0), None, None]);
        let pair = |n: &str, m: &str| SizedRow {
            constants: vec![format!("N={n}").parse().unwrap(), format!("M={m}").parse().unwrap()],
            size: Some(RowSize { states: 10, bytes: None }),
        };
        let growth = growth_of(&[pair("1", "1"), pair("1", "2"), pair("2", "1"), pair("2", "2")]);
        assert_eq!(growth, [None, Some(1.0), None, Some(1.0)]);
    }

    #[test]
    fn the_next_row_of_a_geometric_series_is_exact() {
        let all = rows(&[("2", Some(100)), ("4", Some(300)), ("6", Some(900))]);
        let estimate = estimate_next(&all).unwrap();
        assert_eq!(estimate.constants, [Definition { name: "N".into(), value: Some("8".into()) }]);
        assert_eq!((estimate.states, estimate.bytes), (range(2700, 2700), Some(range(5400, 5400))));
    }

    #[test]
    fn a_changing_factor_gives_a_range() {
        let all = rows(&[("1", Some(100)), ("2", Some(200)), ("3", Some(800)), ("4", None)]);
        let estimate = estimate_next(&all).unwrap();
        // Factors 2 and 4: next 4 or 8.
        assert_eq!(estimate.states, range(3200, 6400));
        assert_eq!(estimate.constants[0].value.as_deref(), Some("4"));
    }

    #[test]
    fn stored_bytes_grow_between_their_own_factor_and_that_of_the_states() {
        let mut all = rows(&[("1", Some(100)), ("2", Some(300))]);
        all[1].size = Some(RowSize { states: 300, bytes: Some(400) });
        assert_eq!(estimate_next(&all).unwrap().bytes, Some(range(800, 1200)));
    }

    #[test]
    fn there_is_no_estimate_without_a_series() {
        for all in [
            &[][..],
            &[("1", Some(10))],
            &[("1", None), ("2", Some(10)), ("3", Some(20))],
            &[("3", Some(10)), ("2", Some(20))],
            &[("a", Some(10)), ("b", Some(20))],
            &[("1", Some(10)), ("2", Some(20)), ("7", None)],
        ] {
            assert_eq!(estimate_next(&rows(all)), None, "{all:?}");
        }
    }

    #[test]
    fn uneven_distances_exclude_the_earlier_factor() {
        let all = rows(&[("1", Some(10)), ("4", Some(1000)), ("5", Some(2000))]);
        assert_eq!(estimate_next(&all).unwrap().states, range(4000, 4000));
    }
}
