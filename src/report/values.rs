//! Values of states and positions as JSON, and values in a line.

use super::NamedValues;
use crate::model::StateValue;
use crate::source::SourceLocation;
use serde_json::{Map, Value, json};

/// Adds the members of a position to an object. Each is null if there is no position.
pub(super) fn with_place(mut object: Value, place: Option<&SourceLocation>) -> Value {
    object["place"] = json!(place.map(SourceLocation::to_string));
    object["file"] = json!(place.map(|it| &it.file));
    object["line"] = json!(place.map(|it| it.position.line));
    object["column"] = json!(place.map(|it| it.position.column));
    object
}

/// Returns the value of a variable in a state, if the state has it.
pub(super) fn value_of<'v>(values: &'v NamedValues, name: &str) -> Option<&'v StateValue> {
    values.iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

/// Formats names with their values as a line.
pub fn print_values(named: &[(String, StateValue)]) -> String {
    let told = named.iter().map(|(name, value)| format!("{name} = {value}"));
    told.collect::<Vec<_>>().join(", ")
}

/// Returns names with their values as an object.
pub(super) fn pairs(named: &[(String, StateValue)]) -> Value {
    named.iter().map(|(name, it)| (name.clone(), value(it))).collect::<Map<_, _>>().into()
}

/// Converts a value of a state. Numbers and truth values are kept. The undefined value is null. Names are strings.
/// Arrays, channels, messages, sets and multisets are arrays. Values with named parts are objects.
pub(super) fn value(told: &StateValue) -> Value {
    use StateValue::{
        Array, Bag, Message, Name, Number, Queue, Record, Set, Table, Truth, Undefined, Written,
    };
    match told {
        Number(number) => json!(number),
        Truth(truth) => json!(truth),
        Name(text) => json!(text),
        Undefined => Value::Null,
        Array(_, all) | Queue(all) | Message(all) | Bag(all) | Set(all) => {
            all.iter().map(value).collect()
        }
        Written(_, parts) => value(parts),
        Table(parts) | Record(parts) => pairs(parts),
    }
}
