//! Values of variables for reports.

use std::fmt::{self, Display, Formatter};

/// A value of a variable or of a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateValue {
    /// A number.
    Number(i64),
    /// A truth value.
    Truth(bool),
    /// A name: of an enumeration's element, of a scalarset's element, of a location; or any text.
    Name(String),
    /// Murphi's undefined value.
    Undefined,
    /// The elements of an array whose indices are numbers, from the given one on.
    Array(i64, Vec<StateValue>),
    /// The elements of an array whose indices have names, with these names.
    Table(Vec<(String, StateValue)>),
    /// The fields of a record, with their names.
    Record(Vec<(String, StateValue)>),
    /// The messages in a channel, the next to be received first.
    Queue(Vec<StateValue>),
    /// The fields of a message that has several.
    Message(Vec<StateValue>),
    /// The elements of a multiset.
    Bag(Vec<StateValue>),
    /// The elements of a set.
    Set(Vec<StateValue>),
    /// A value that is shown as a text of the model's language. Its parts are those of the value.
    Written(String, Box<StateValue>),
}

impl StateValue {
    /// Returns the part of the value that is not 0, if there is one.
    pub fn nonzero_part(&self) -> Option<StateValue> {
        let named = |parts: Vec<(String, StateValue)>| Some(parts).filter(|it| !it.is_empty());
        let of = |parts: &[(String, StateValue)]| {
            parts.iter().filter_map(|(name, it)| Some((name.clone(), it.nonzero_part()?))).collect()
        };
        match self {
            StateValue::Number(0) => None,
            StateValue::Array(first, all) => {
                let all = (*first..).zip(all);
                named(
                    all.filter_map(|(at, it)| Some((at.to_string(), it.nonzero_part()?))).collect(),
                )
                .map(StateValue::Table)
            }
            StateValue::Table(parts) => named(of(parts)).map(StateValue::Table),
            StateValue::Record(parts) => named(of(parts)).map(StateValue::Record),
            it => Some(it.clone()),
        }
    }

    /// Returns the elements of a set or a multiset. Nothing for another value.
    pub fn elements(&self) -> Option<&[StateValue]> {
        match self {
            StateValue::Bag(elements) | StateValue::Set(elements) => Some(elements),
            StateValue::Written(_, value) => value.elements(),
            _ => None,
        }
    }

    /// Returns the parts whose changes are reported separately, each with the suffix that follows the name of the
    /// whole. Empty if the value is reported as a whole.
    pub fn named_parts(&self) -> Vec<(String, &StateValue)> {
        match self {
            StateValue::Array(first, elements) => {
                let named = |(index, it)| (format!("[{index}]"), it);
                (*first..).zip(elements).map(named).collect()
            }
            StateValue::Table(elements) => {
                elements.iter().map(|(name, it)| (format!("[{name}]"), it)).collect()
            }
            StateValue::Record(fields) => {
                fields.iter().map(|(name, it)| (format!(".{name}"), it)).collect()
            }
            StateValue::Written(_, value) => value.named_parts(),
            _ => Vec::new(),
        }
    }
}

impl From<i64> for StateValue {
    fn from(number: i64) -> StateValue {
        StateValue::Number(number)
    }
}

impl From<bool> for StateValue {
    fn from(truth: bool) -> StateValue {
        StateValue::Truth(truth)
    }
}

impl From<String> for StateValue {
    fn from(text: String) -> StateValue {
        StateValue::Name(text)
    }
}

impl From<&str> for StateValue {
    fn from(text: &str) -> StateValue {
        StateValue::Name(text.to_owned())
    }
}

/// Formats a value as in reports: `[1, 2]`, `[node_1: 1, node_2: 2]`, `{from: node_1}`, `<1, 2>`.
impl Display for StateValue {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            StateValue::Number(number) => write!(out, "{number}"),
            StateValue::Truth(truth) => write!(out, "{truth}"),
            StateValue::Name(text) | StateValue::Written(text, _) => out.write_str(text),
            StateValue::Undefined => out.write_str("undefined"),
            StateValue::Array(_, values) => list(out, "[", values, "]"),
            StateValue::Table(values) => named(out, "[", values, "]"),
            StateValue::Record(values) => named(out, "{", values, "}"),
            StateValue::Queue(values) => list(out, "<", values, ">"),
            StateValue::Message(values) | StateValue::Bag(values) | StateValue::Set(values) => {
                list(out, "{", values, "}")
            }
        }
    }
}

fn list(out: &mut Formatter<'_>, open: &str, values: &[StateValue], close: &str) -> fmt::Result {
    out.write_str(open)?;
    for (at, value) in values.iter().enumerate() {
        write!(out, "{}{value}", if at == 0 { "" } else { ", " })?;
    }
    out.write_str(close)
}

fn named(
    out: &mut Formatter<'_>,
    open: &str,
    values: &[(String, StateValue)],
    close: &str,
) -> fmt::Result {
    out.write_str(open)?;
    for (at, (name, value)) in values.iter().enumerate() {
        write!(out, "{}{name}: {value}", if at == 0 { "" } else { ", " })?;
    }
    out.write_str(close)
}
