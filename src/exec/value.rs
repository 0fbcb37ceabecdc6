//! Values of states, as people are told of them.

use std::fmt::{self, Display, Formatter};

/// A value of a variable or of a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A truth value.
    Truth(bool),
    /// What has a name: one of an enumeration, an element of a scalarset, a location; or anything told in words.
    Name(String),
    /// Murphi's undefined value.
    Undefined,
    /// The elements of an array whose indices are numbers, from this one on.
    Array(i64, Vec<Value>),
    /// The elements of an array whose indices have names, each with its own.
    Table(Vec<(String, Value)>),
    /// The fields of a record, each with its name.
    Record(Vec<(String, Value)>),
    /// The messages in a channel, the next to be received first.
    Queue(Vec<Value>),
    /// The fields of a message that has several.
    Message(Vec<Value>),
    /// The elements of a multiset.
    Bag(Vec<Value>),
}

impl Value {
    /// What of it is not 0, if anything is.
    pub fn there(&self) -> Option<Value> {
        let named = |parts: Vec<(String, Value)>| Some(parts).filter(|it| !it.is_empty());
        let of = |parts: &[(String, Value)]| {
            parts.iter().filter_map(|(name, it)| Some((name.clone(), it.there()?))).collect()
        };
        match self {
            Value::Number(0) => None,
            Value::Array(first, all) => {
                let all = (*first..).zip(all);
                named(all.filter_map(|(at, it)| Some((at.to_string(), it.there()?))).collect())
                    .map(Value::Table)
            }
            Value::Table(parts) => named(of(parts)).map(Value::Table),
            Value::Record(parts) => named(of(parts)).map(Value::Record),
            it => Some(it.clone()),
        }
    }

    /// The parts that are told by themselves where they change, each with how it is called behind the name of
    /// the whole; none if it is told as a whole.
    pub fn parts(&self) -> Vec<(String, &Value)> {
        match self {
            Value::Array(first, elements) => {
                let named = |(index, it)| (format!("[{index}]"), it);
                (*first..).zip(elements).map(named).collect()
            }
            Value::Table(elements) => {
                elements.iter().map(|(name, it)| (format!("[{name}]"), it)).collect()
            }
            Value::Record(fields) => {
                fields.iter().map(|(name, it)| (format!(".{name}"), it)).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Number(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Truth(truth)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Name(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Name(text.to_owned())
    }
}

/// As in a report: `[1, 2]`, `[node_1: 1, node_2: 2]`, `{from: node_1}`, `<1, 2>`.
impl Display for Value {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(out, "{number}"),
            Value::Truth(truth) => write!(out, "{truth}"),
            Value::Name(text) => out.write_str(text),
            Value::Undefined => out.write_str("undefined"),
            Value::Array(_, values) => list(out, "[", values, "]"),
            Value::Table(values) => named(out, "[", values, "]"),
            Value::Record(values) => named(out, "{", values, "}"),
            Value::Queue(values) => list(out, "<", values, ">"),
            Value::Message(values) | Value::Bag(values) => list(out, "{", values, "}"),
        }
    }
}

fn list(out: &mut Formatter<'_>, open: &str, values: &[Value], close: &str) -> fmt::Result {
    out.write_str(open)?;
    for (at, value) in values.iter().enumerate() {
        write!(out, "{}{value}", if at == 0 { "" } else { ", " })?;
    }
    out.write_str(close)
}

fn named(
    out: &mut Formatter<'_>,
    open: &str,
    values: &[(String, Value)],
    close: &str,
) -> fmt::Result {
    out.write_str(open)?;
    for (at, (name, value)) in values.iter().enumerate() {
        write!(out, "{}{name}: {value}", if at == 0 { "" } else { ", " })?;
    }
    out.write_str(close)
}
