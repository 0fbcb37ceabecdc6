//! Values of states, and places, as JSON; values in a line.

use super::Values;
use crate::exec;
use crate::source::Place;
use serde_json::{Map, Value, json};

/// An object with the members that say where it stands, each null if it stands nowhere.
pub(super) fn placed(mut object: Value, place: Option<&Place>) -> Value {
    object["place"] = json!(place.map(Place::to_string));
    object["file"] = json!(place.map(|it| &it.file));
    object["line"] = json!(place.map(|it| it.position.line));
    object["column"] = json!(place.map(|it| it.position.column));
    object
}

/// The value of a variable in a state, if it is there.
pub(super) fn value_of<'v>(values: &'v Values, name: &str) -> Option<&'v exec::Value> {
    values.iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

/// Names with their values, in a line.
pub fn print_values(named: &[(String, exec::Value)]) -> String {
    let told = named.iter().map(|(name, value)| format!("{name} = {value}"));
    told.collect::<Vec<_>>().join(", ")
}

/// Names with their values, as an object.
pub(super) fn pairs(named: &[(String, exec::Value)]) -> Value {
    named.iter().map(|(name, it)| (name.clone(), value(it))).collect::<Map<_, _>>().into()
}

/// A value of a state: numbers and truth values as they are, null for what is undefined, names as text, arrays,
/// channels, messages and multisets as arrays, and as objects what has names for its parts.
pub(super) fn value(told: &exec::Value) -> Value {
    use exec::Value::{Array, Bag, Message, Name, Number, Queue, Record, Table, Truth, Undefined};
    match told {
        Number(number) => json!(number),
        Truth(truth) => json!(truth),
        Name(text) => json!(text),
        Undefined => Value::Null,
        Array(_, all) | Queue(all) | Message(all) | Bag(all) => all.iter().map(value).collect(),
        Table(parts) | Record(parts) => pairs(parts),
    }
}
