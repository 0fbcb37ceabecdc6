//! Values of states, and places, as JSON; values in a line.

use super::NamedValues;
use crate::model::StateValue;
use crate::source::SourceLocation;
use serde_json::{Map, Value, json};

/// An object with the members that say where it stands, each null if it stands nowhere.
pub(super) fn with_place(mut object: Value, place: Option<&SourceLocation>) -> Value {
    object["place"] = json!(place.map(SourceLocation::to_string));
    object["file"] = json!(place.map(|it| &it.file));
    object["line"] = json!(place.map(|it| it.position.line));
    object["column"] = json!(place.map(|it| it.position.column));
    object
}

/// The value of a variable in a state, if it is there.
pub(super) fn value_of<'v>(values: &'v NamedValues, name: &str) -> Option<&'v StateValue> {
    values.iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

/// Names with their values, in a line.
pub fn print_values(named: &[(String, StateValue)]) -> String {
    let told = named.iter().map(|(name, value)| format!("{name} = {value}"));
    told.collect::<Vec<_>>().join(", ")
}

/// Names with their values, as an object.
pub(super) fn pairs(named: &[(String, StateValue)]) -> Value {
    named.iter().map(|(name, it)| (name.clone(), value(it))).collect::<Map<_, _>>().into()
}

/// A value of a state: numbers and truth values as they are, null for what is undefined, names as text, arrays,
/// channels, messages and multisets as arrays, and as objects what has names for its parts.
pub(super) fn value(told: &StateValue) -> Value {
    use StateValue::{Array, Bag, Message, Name, Number, Queue, Record, Table, Truth, Undefined};
    match told {
        Number(number) => json!(number),
        Truth(truth) => json!(truth),
        Name(text) => json!(text),
        Undefined => Value::Null,
        Array(_, all) | Queue(all) | Message(all) | Bag(all) => all.iter().map(value).collect(),
        Table(parts) | Record(parts) => pairs(parts),
    }
}
