//! The Informal Trace Format (Apalache's ADR 15), as JSON.

use super::super::values::value_of;
use super::ValuedTrace;
use crate::escape;
use crate::model::StateValue;
use serde_json::{Map, Value as Json, json};

/// The largest integer that all JSON readers represent exactly.
const EXACT_MAX: i64 = (1 << 53) - 1;

pub(super) fn text(told: &ValuedTrace) -> String {
    let variables = told.variables();
    let states = told.steps.iter().enumerate().filter_map(|(number, (step, values))| {
        let values = values.as_ref()?;
        let meta = json!({ "index": number, "action": told.title_of(number), "source": told.places(step) });
        let mut state = Map::from_iter([("#meta".to_owned(), meta)]);
        for &name in &variables {
            // Variables of dynamic processes have no value before and after.
            let absent = || json!({ "#unserializable": "absent" });
            state.insert(name.to_owned(), value_of(values, name).map_or_else(absent, json));
        }
        Some(Json::Object(state))
    });
    let failing = told.steps.last().filter(|(_, state)| state.is_none());
    let mut whole = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": told.title,
            "source": told.model,
            "failing-action": failing.map(|(step, _)| step.title()),
        },
        "vars": variables,
        "states": states.collect::<Vec<_>>(),
    });
    if let Some(back) = told.loop_start {
        // The last state equals the one after which the cycle begins, so its successor is the first state of the
        // cycle.
        whole["loop"] = json!(back + 1);
    }
    escape::json(&format!("{whole:#}\n")).into_owned()
}

/// Converts a value.
fn json(value: &StateValue) -> Json {
    let pairs = |all: &[(String, StateValue)]| -> Vec<Json> {
        all.iter().map(|(name, it)| json!([name, json(it)])).collect()
    };
    match value {
        StateValue::Number(number) if number.abs() <= EXACT_MAX => json!(number),
        StateValue::Number(number) => json!({ "#bigint": number.to_string() }),
        StateValue::Truth(truth) => json!(truth),
        StateValue::Name(name) => json!(name),
        StateValue::Undefined => json!({ "#unserializable": "undefined" }),
        StateValue::Array(0, all) | StateValue::Queue(all) | StateValue::Bag(all) => {
            all.iter().map(json).collect()
        }
        StateValue::Array(first, all) => {
            let pairs: Vec<Json> =
                (*first..).zip(all).map(|(index, it)| json!([index, json(it)])).collect();
            json!({ "#map": pairs })
        }
        StateValue::Table(all) => json!({ "#map": pairs(all) }),
        StateValue::Record(all) => {
            all.iter().map(|(name, it)| (name.clone(), json(it))).collect::<Map<_, _>>().into()
        }
        StateValue::Set(all) => json!({ "#set": all.iter().map(json).collect::<Vec<_>>() }),
        StateValue::Written(_, value) => json(value),
        StateValue::Message(all) => json!({ "#tup": all.iter().map(json).collect::<Vec<_>>() }),
    }
}
