//! Sequence diagrams: the messages between processes, and the actions of each.

use super::ValuedTrace;
use crate::escape;
use std::fmt::Write;

/// The syntax of a diagram language.
struct DiagramLanguage {
    /// The text before the first line and after the last.
    ends: (&'static str, &'static str),
    /// Formats a participant, given its identifier and its title.
    participant: fn(&str, &str) -> String,
    /// Escapes a text for a message.
    escaped: fn(&str) -> String,
    /// Formats an action without a message.
    alone: fn(&str, &str) -> String,
}

pub(super) fn plant_uml(told: &ValuedTrace) -> String {
    let language = DiagramLanguage {
        ends: ("@startuml\n", "@enduml\n"),
        participant: |id, name| format!("participant \"{name}\" as {id}\n"),
        escaped: escape::plant_uml,
        alone: |id, text| format!("{id} -> {id} : {text}\n"),
    };
    let title = format!("title {}\n", (language.escaped)(&told.title));
    diagram(told, &language, &title)
}

pub(super) fn mermaid(told: &ValuedTrace) -> String {
    let language = DiagramLanguage {
        ends: ("sequenceDiagram\n", ""),
        participant: |id, name| format!("  participant {id} as {name}\n"),
        escaped: escape::mermaid,
        alone: |id, text| format!("  Note over {id}: {text}\n"),
    };
    let title = format!("  %% {}\n", (language.escaped)(&told.title));
    diagram(told, &language, &title)
}

fn diagram(told: &ValuedTrace, language: &DiagramLanguage, title: &str) -> String {
    let (chart, changed) = told.chart();
    let mut out = language.ends.0.to_owned() + title;
    for (number, name) in chart.columns.iter().enumerate() {
        out += &(language.participant)(&format!("p{number}"), &(language.escaped)(name));
    }
    let mut is_in_loop = false;
    let mut enter = |number: u64, out: &mut String| {
        if !is_in_loop && told.loop_start.is_some_and(|back| number > back as u64) {
            is_in_loop = true;
            *out += "loop forever\n";
        }
    };
    for row in &chart.rows {
        enter(row.number, &mut out);
        let to = row.actions.first().map_or(0, |it| it.0);
        let text = |it: &(usize, Vec<String>)| {
            (language.escaped)(&format!("{} {}", row.number, it.1.join("; ")))
        };
        match row.from.filter(|it| it.0 != to) {
            Some((from, _)) => {
                let _ = writeln!(
                    out,
                    "p{from} ->> p{to} : {}",
                    row.actions.first().map(text).unwrap_or_default()
                );
            }
            None => row
                .actions
                .iter()
                .for_each(|it| out += &(language.alone)(&format!("p{}", it.0), &text(it))),
        }
    }
    if chart.columns.is_empty() {
        // A model without processes: the changes of each step.
        out += &(language.participant)("p0", "the model");
        for (number, changed) in changed.iter().enumerate().skip(1) {
            enter(number as u64, &mut out);
            let text = format!("{number} {}: {}", told.title_of(number), changed.join(", "));
            out += &(language.alone)("p0", &(language.escaped)(&text));
        }
    }
    if is_in_loop {
        out += "end\n";
    }
    out + language.ends.1
}
