//! SARIF 2.1.0 (OASIS, 2020), as read by code scanning tools: a rule for each property, a result for each violation,
//! the counterexample as its code flow.

use super::FailureReport;
use crate::escape;
use crate::report::judgement::{
    JudgementReport, PropertyBreach, PropertyJudgement, PropertyVerdict,
};
use crate::report::page::TraceView;
use crate::source::SourceLocation;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Formats the verdicts on all properties.
pub fn sarif(judged: &JudgementReport) -> String {
    let rules: BTreeMap<&str, Value> =
        judged.all.iter().map(|it| (it.id.as_str(), rule(&it.id, &it.title()))).collect();
    let numbers: BTreeMap<&str, usize> = rules.keys().copied().zip(0..).collect();
    let mut results = Vec::new();
    for it in &judged.all {
        let number = numbers[it.id.as_str()];
        let breaches = it.breaches.iter();
        results.extend(breaches.map(|breach| violation(it, number, breach, judged.way.as_ref())));
        if judged.strict && it.verdict == PropertyVerdict::Unchecked {
            let text = format!("{}: {}", it.title(), it.says);
            results.push(result(&it.id, number, &text, it.place.as_ref()));
        }
    }
    let open = judged
        .all
        .iter()
        .filter(|it| matches!(it.verdict, PropertyVerdict::Open | PropertyVerdict::Unchecked));
    let notes = open.map(|it| {
        json!({
            "level": if it.verdict == PropertyVerdict::Unchecked { "warning" } else { "note" },
            "message": { "text": format!("{}: {}", it.title(), it.says) },
            "associatedRule": { "id": it.id, "index": numbers[it.id.as_str()] },
        })
    });
    let invocation = json!({
        "executionSuccessful": true,
        "toolExecutionNotifications": notes.collect::<Vec<_>>(),
    });
    document(rules.values().cloned().collect(), &results, &invocation)
}

/// Formats a failure without a verdict: a result for each error in the model, or one without a position.
pub fn sarif_of_failure(failed: &FailureReport) -> String {
    let mistakes = failed.mistakes.iter().map(|it| {
        let help = it.help.as_ref().map_or(String::new(), |it| format!("\nhelp: {it}"));
        result(failed.id(), 0, &format!("{}{help}", it.message), it.place.as_ref())
    });
    let mut results: Vec<Value> = mistakes.collect();
    if results.is_empty() {
        results.push(result(failed.id(), 0, &failed.message, None));
    }
    let places = failed.mistakes.iter().filter_map(|it| it.place.as_ref());
    let note = json!({
        "level": "error",
        "message": { "text": failed.message },
        "locations": places.map(|it| location(it, None)).collect::<Vec<_>>(),
        "associatedRule": { "id": failed.id(), "index": 0 },
    });
    let invocation = json!({
        "executionSuccessful": false,
        "exitCode": failed.code,
        "toolExecutionNotifications": [note],
    });
    document(vec![rule(failed.id(), failed.title())], &results, &invocation)
}

/// Formats the file from rules, results and the invocation.
fn document(rules: Vec<Value>, results: &[Value], invocation: &Value) -> String {
    let whole = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Spillway",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": results,
        }],
    });
    escape::json(&format!("{whole:#}\n")).into_owned()
}

fn rule(id: &str, title: &str) -> Value {
    json!({
        "id": id,
        "shortDescription": { "text": title },
        "defaultConfiguration": { "level": "error" },
    })
}

/// Formats a result of the rule with this identifier and number.
fn result(id: &str, number: usize, text: &str, place: Option<&SourceLocation>) -> Value {
    json!({
        "ruleId": id,
        "ruleIndex": number,
        "level": "error",
        "message": { "text": text },
        "locations": place.map(|place| location(place, None)).into_iter().collect::<Vec<_>>(),
    })
}

/// Formats the violation of a property. `number` is that of its rule. The counterexample is included if it is shown.
fn violation(
    it: &PropertyJudgement,
    number: usize,
    breach: &PropertyBreach,
    way: Option<&TraceView>,
) -> Value {
    let text = format!("{}: {}", it.title_of(breach), breach.says);
    let mut result = result(&it.id, number, &text, breach.place.as_ref());
    if let Some(way) = way.filter(|_| breach.has_trace) {
        let steps = way.flow().map(|(text, place)| match place {
            Some(place) => json!({ "location": location(place, Some(&text)) }),
            None => json!({ "location": { "message": { "text": text } } }),
        });
        let flow = json!([{ "threadFlows": [{ "locations": steps.collect::<Vec<_>>() }] }]);
        result["codeFlows"] = flow;
    }
    result
}

fn location(place: &SourceLocation, text: Option<&str>) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": escape::uri(&place.file) },
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
