//! Lists of values of constants, for the rows of a sweep.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;
use thiserror::Error;

/// The maximum number of values of a range.
const RANGE_MAX: i64 = 10_000;

/// The section `[sweep]` of a configuration: the values of constants, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SweepConfig(BTreeMap<String, Vec<ConstantValue>>);

/// A value of a constant in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a list of integers, truth values and strings")]
enum ConstantValue {
    Integer(i64),
    Truth(bool),
    Text(String),
}

/// A constant with its values in the rows of a sweep, as the model reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantValues {
    /// The name.
    pub name: String,
    /// The values, in order.
    pub values: Vec<String>,
}

/// A text that has no list of values.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConstantValuesError {
    /// It has no name or no value.
    #[error("expected NAME=VALUE,VALUE,... or NAME=FIRST..LAST")]
    Form,
    /// The range is empty or too large.
    #[error("the range {0} has no value, or more than {RANGE_MAX}")]
    Range(String),
}

impl SweepConfig {
    /// Returns whether there are no lists.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the lists in the order of their names.
    pub fn lists(&self) -> Vec<ConstantValues> {
        let text = |it: &ConstantValue| match it {
            ConstantValue::Integer(number) => number.to_string(),
            ConstantValue::Truth(truth) => truth.to_string(),
            ConstantValue::Text(text) => text.clone(),
        };
        let list = |(name, values): (&String, &Vec<ConstantValue>)| ConstantValues {
            name: name.clone(),
            values: values.iter().map(text).collect(),
        };
        self.0.iter().map(list).collect()
    }
}

impl FromStr for ConstantValues {
    type Err = ConstantValuesError;

    fn from_str(text: &str) -> Result<ConstantValues, ConstantValuesError> {
        let (name, list) = text.split_once('=').ok_or(ConstantValuesError::Form)?;
        let mut values = Vec::new();
        for part in split_list(list) {
            match range(part) {
                Some((first, last)) if is_range_of_few(first, last) => {
                    values.extend((first..=last).map(|it| it.to_string()));
                }
                Some(_) => return Err(ConstantValuesError::Range(part.to_owned())),
                None => values.push(part.to_owned()),
            }
        }
        let name = name.trim().to_owned();
        match name.is_empty() || values.iter().any(String::is_empty) {
            true => Err(ConstantValuesError::Form),
            false => Ok(ConstantValues { name, values }),
        }
    }
}

/// Splits a list at its commas, except those in brackets or in quotes.
pub fn split_list(list: &str) -> Vec<&str> {
    let (mut all, mut start, mut depth, mut is_quoted) = (Vec::new(), 0, 0_i32, false);
    let mut rest = list;
    while let Some(it) = rest.chars().next() {
        let at = list.len() - rest.len();
        let pair = ["<<", ">>"].into_iter().find(|pair| rest.starts_with(pair));
        match (pair, it) {
            (_, '"') => is_quoted = !is_quoted,
            _ if is_quoted => {}
            (Some("<<"), _) | (None, '(' | '[' | '{') => depth += 1,
            (Some(_), _) | (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                all.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        rest = &rest[pair.map_or(it.len_utf8(), str::len)..];
    }
    all.push(list[start..].trim());
    all
}

/// Returns the ends of a range of integers.
fn range(text: &str) -> Option<(i64, i64)> {
    let (first, last) = text.split_once("..")?;
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

/// Returns whether a range has a value, and at most [`RANGE_MAX`] of them.
fn is_range_of_few(first: i64, last: i64) -> bool {
    last.checked_sub(first).is_some_and(|it| (0..RANGE_MAX).contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ConstantValues, ConstantValuesError> {
        text.parse()
    }

    #[test]
    fn a_list_has_values_and_ranges() {
        for (text, name, values) in [
            ("N=2", "N", &["2"][..]),
            ("N = 2, 3,4", "N", &["2", "3", "4"]),
            ("N=1..3,7", "N", &["1", "2", "3", "7"]),
            ("N=-1..1", "N", &["-1", "0", "1"]),
            ("C={a, b},{c}", "C", &["{a, b}", "{c}"]),
            ("F=f(1,2),<<1,2>>", "F", &["f(1,2)", "<<1,2>>"]),
            ("S=\"a,b\",\"c\"", "S", &["\"a,b\"", "\"c\""]),
            ("E=a=b", "E", &["a=b"]),
        ] {
            let expected = ConstantValues {
                name: name.into(),
                values: values.iter().map(|it| (*it).into()).collect(),
            };
            assert_eq!(read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn comparisons_do_not_count_as_brackets() {
        assert_eq!(
            split_list("x < 3, y > 2,a[1,2] , f(x,\"),\")"),
            ["x < 3", "y > 2", "a[1,2]", "f(x,\"),\")"]
        );
        assert_eq!(split_list("<<1, 2>> = s, \u{e9},"), ["<<1, 2>> = s", "\u{e9}", ""]);
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in ["N", "=2", "N=", "N=2,", "N=,2", " =1"] {
            assert_eq!(read(text), Err(ConstantValuesError::Form), "{text}");
        }
        for range in ["3..1", "0..10000", "-9223372036854775808..0"] {
            let text = format!("N={range}");
            assert_eq!(read(&text), Err(ConstantValuesError::Range(range.into())), "{text}");
        }
    }
}
