//! The state in which a property is violated.

use super::disabled::{self, DisabledRuleReport};
use super::table::row;
use super::values::{pairs, print_values, with_place};
use crate::model::{DisabledRuleInstance, OutgoingAction, ProcessLocation, StateValue};
use crate::source::{SourceLocation, SourceMap};

/// The maximum number of processes whose locations are shown.
const SHOWN_MAX: usize = 20;

/// A state in which a property is violated.
pub struct FinalStateView {
    /// The variables that the property reads, with their values.
    operands: Vec<(String, StateValue)>,
    /// The locations of the processes.
    standing: Vec<ProcessStatus>,
    /// In a deadlock, the disabled rules that belong to no process.
    disabled: Vec<DisabledRuleReport>,
}

/// The location of a process.
pub(super) struct ProcessStatus {
    pub(super) process: String,
    location: String,
    /// The position of the location in the source.
    place: Option<SourceLocation>,
    /// The conditions that the process waits for, if it waits.
    waits_for: Option<Vec<WaitCondition>>,
}

/// A condition that a process waits for.
#[derive(PartialEq)]
struct WaitCondition {
    /// The condition, or the action's name if that is equivalent.
    what: String,
    /// The action's name, if it adds information.
    action: Option<String>,
    /// The variables that the condition reads, with their values.
    operands: Vec<(String, StateValue)>,
}

impl WaitCondition {
    fn new(
        OutgoingAction { name, guard, operands }: OutgoingAction,
        sources: &SourceMap,
    ) -> WaitCondition {
        let guard = guard.map_or("", |it| sources.text(it));
        match guard.is_empty() || name.contains(guard) {
            true => WaitCondition { what: name, action: None, operands },
            false => WaitCondition { what: guard.to_owned(), action: Some(name), operands },
        }
    }

    /// Formats the condition as text.
    fn text(&self) -> String {
        let values = Some(print_values(&self.operands)).filter(|it| !it.is_empty());
        let more: Vec<String> = self.action.iter().cloned().chain(values).collect();
        match more.is_empty() {
            true => self.what.clone(),
            false => format!("{} ({})", self.what, more.join("; ")),
        }
    }

    /// Returns the condition as JSON.
    fn json(&self) -> serde_json::Value {
        let WaitCondition { what, action, operands } = self;
        serde_json::json!({ "what": what, "action": action, "operands": pairs(operands) })
    }
}

impl ProcessStatus {
    pub(super) fn new(
        standing: ProcessLocation,
        waits: bool,
        sources: &SourceMap,
    ) -> ProcessStatus {
        let ProcessLocation { process, location, span, outgoing: ways } = standing;
        let place = sources.place(span);
        let mut ways: Vec<WaitCondition> =
            ways.into_iter().map(|it| WaitCondition::new(it, sources)).collect();
        ways.dedup();
        ProcessStatus { process, location, place, waits_for: waits.then_some(ways) }
    }

    /// Formats the location as text. The process's name is padded to `width` characters.
    pub(super) fn text(&self, width: usize) -> String {
        let mut told = format!("{:<width$}  {}", self.process, self.location);
        // An unnamed location is named by its line.
        let is_called_by_it = |place: &SourceLocation| {
            self.location.starts_with("line ") || self.location.starts_with(&place.line())
        };
        if let Some(place) = self.place.as_ref().filter(|it| !is_called_by_it(it)) {
            told += &format!(" (line {})", place.position.line);
        }
        match self.waits_for.as_deref() {
            None => {}
            Some([]) => told += ", has ended",
            Some(ways) => {
                let all: Vec<String> = ways.iter().map(WaitCondition::text).collect();
                told += &format!(", waits for {}", all.join(" or "));
            }
        }
        told
    }

    /// Returns the location as JSON.
    pub(super) fn json(&self) -> serde_json::Value {
        let ProcessStatus { process, location, place, waits_for } = self;
        let waits_for = waits_for.as_ref();
        let waits_for =
            waits_for.map(|all| all.iter().map(WaitCondition::json).collect::<Vec<_>>());
        let at = serde_json::json!({
            "process": process, "location": location, "waits_for": waits_for, "in_loop": null,
        });
        with_place(at, place.as_ref())
    }
}

impl FinalStateView {
    /// Creates the view from the operands of the property and the locations of the processes. `waits` says whether
    /// these wait.
    pub fn new(
        operands: Vec<(String, StateValue)>,
        standing: Vec<ProcessLocation>,
        waits: bool,
        sources: &SourceMap,
    ) -> FinalStateView {
        let standing = standing.into_iter().map(|it| ProcessStatus::new(it, waits, sources));
        FinalStateView { operands, standing: standing.collect(), disabled: Vec::new() }
    }

    /// Adds the disabled rules.
    pub(super) fn with_disabled(
        self,
        all: Vec<DisabledRuleInstance>,
        sources: &SourceMap,
    ) -> FinalStateView {
        let disabled = all.into_iter().map(|it| DisabledRuleReport::new(it, sources)).collect();
        FinalStateView { disabled, ..self }
    }

    /// Formats the operands, if there are any.
    #[cfg(feature = "cli")]
    pub(super) fn with(&self) -> Option<String> {
        let values = print_values(&self.operands);
        (!values.is_empty()).then(|| format!("with {values}"))
    }

    /// Formats rows: the operands and the locations of the processes.
    pub(super) fn rows(&self) -> String {
        let mut out = String::new();
        if !self.operands.is_empty() {
            out += &row("with", &print_values(&self.operands));
        }
        let width = self.standing.iter().map(|it| it.process.chars().count()).max();
        for (number, it) in self.standing.iter().take(SHOWN_MAX).enumerate() {
            let label = if number == 0 { "ends at" } else { "" };
            out += &row(label, &it.text(width.unwrap_or(0)));
        }
        if let Some(more) = self.standing.len().checked_sub(SHOWN_MAX).filter(|&it| it > 0) {
            out += &row("", &format!("and {more} more"));
        }
        out + &disabled::rows(&self.disabled)
    }

    /// Returns the members `operands` and `ends_at` of a counterexample as JSON.
    pub(super) fn members(&self) -> [serde_json::Value; 2] {
        [pairs(&self.operands), self.standing.iter().map(ProcessStatus::json).collect()]
    }

    /// Returns the member `disabled` of a counterexample as JSON: the disabled rules.
    pub(super) fn disabled(&self) -> serde_json::Value {
        self.disabled.iter().map(DisabledRuleReport::json).collect()
    }
}
