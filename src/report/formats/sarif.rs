//! SARIF 2.1.0 (OASIS, 2020), as code scanning reads it: a rule for each thing that was looked for, a result for each that is
//! violated, the counterexample as its code flow.

use crate::report::judgement::{Came, Judgement, Judgements};
use crate::report::page::Way;
use crate::source::Place;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// What is no letter, digit or one of these is written as its bytes in an address.
const PLAIN: &str = "-_.~/";

/// The text of the file.
pub fn sarif(judged: &Judgements) -> String {
    let mut rules: BTreeMap<String, Value> = BTreeMap::new();
    for it in &judged.all {
        rules.entry(id(it)).or_insert_with(|| {
            json!({
                "id": id(it),
                "shortDescription": { "text": it.title() },
                "defaultConfiguration": { "level": "error" },
            })
        });
    }
    let numbers: BTreeMap<&String, usize> = rules.keys().zip(0..).collect();
    let failed = judged.all.iter().filter(|it| it.came == Came::Violated);
    let results = failed.map(|it| result(it, numbers[&id(it)], judged.way.as_ref()));
    let open = judged.all.iter().filter(|it| matches!(it.came, Came::Open | Came::Unchecked));
    let notes = open.map(|it| {
        json!({ "level": "note", "message": { "text": format!("{}: {}", it.title(), it.says) } })
    });
    let whole = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Spillway",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.values().collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notes.collect::<Vec<_>>(),
            }],
            "results": results.collect::<Vec<_>>(),
        }],
    });
    format!("{whole:#}\n")
}

/// What a rule is called: errors in steps are all of one rule, what has a name of its own is one.
fn id(it: &Judgement) -> String {
    match it.kind.as_str() {
        kind @ ("deadlock" | "error") => kind.to_owned(),
        kind => format!("{kind}/{}", it.name),
    }
}

fn result(it: &Judgement, rule: usize, way: Option<&Way>) -> Value {
    let text = format!("{}: {}", it.title(), it.says);
    let place = it.place.as_ref().map(|place| location(place, None));
    let mut result = json!({
        "ruleId": id(it),
        "ruleIndex": rule,
        "level": "error",
        "message": { "text": text },
        "locations": place.into_iter().collect::<Vec<_>>(),
    });
    if let Some(way) = way.filter(|_| it.has_way) {
        let steps = way.flow().map(|(text, place)| match place {
            Some(place) => json!({ "location": location(place, Some(&text)) }),
            None => json!({ "location": { "message": { "text": text } } }),
        });
        let flow = json!([{ "threadFlows": [{ "locations": steps.collect::<Vec<_>>() }] }]);
        result["codeFlows"] = flow;
    }
    result
}

fn location(place: &Place, text: Option<&str>) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": address(&place.file) },
            "region": {
                "startLine": place.position.line,
                "startColumn": place.position.column,
            },
        },
    });
    if let Some(text) = text {
        location["message"] = json!({ "text": text });
    }
    location
}

/// The name of a file as an address.
fn address(file: &str) -> String {
    let plain = |it: &u8| it.is_ascii_alphanumeric() || PLAIN.as_bytes().contains(it);
    let escaped: String = file
        .bytes()
        .map(|it| if plain(&it) { char::from(it).to_string() } else { format!("%{it:02X}") })
        .collect();
    if file.starts_with('/') { format!("file://{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_become_addresses() {
        assert_eq!(address("models/a b.pml"), "models/a%20b.pml");
        assert_eq!(address("/tmp/ü.m"), "file:///tmp/%C3%BC.m");
    }
}
