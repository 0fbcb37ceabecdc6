//! The violation at the end of a counterexample.

use super::ViolationReport;
use super::final_state::FinalStateView;
use super::steps::{StepCallback, StepSequence, each_step};
use super::table::row;
use crate::model::{StepOutcome, TRACE, Violation};
use crate::numbers::count;
use crate::search::trace::Counterexample;
use crate::source::{SourceLocation, SourceMap};

/// The end of a counterexample.
pub struct CounterexampleEnd {
    /// The violation at the end.
    pub violation: ViolationReport,
    /// The violation for which the counterexample was searched. It is the same, or that of a symmetric process.
    pub stands_for: Violation,
    /// The number of steps of the counterexample, a failing one included.
    pub depth: u64,
    /// The state at the end.
    scene: FinalStateView,
}

impl CounterexampleEnd {
    /// Returns the end of a counterexample to a violation.
    pub fn of(
        violation: &ViolationReport,
        way: &Counterexample,
        sources: &SourceMap,
    ) -> CounterexampleEnd {
        let model = way.explained();
        let stands_for = violation.check;
        let violation = violation.at_end_of(way, sources);
        let operands = match violation.check {
            Violation::Deadlock => None,
            Violation::Property(number) => way.last().map(|it| model.operands(it, number)),
            Violation::Fault(..) => way.faulty_step().and_then(|step| match step.outcome {
                StepOutcome::Fault(fault) => Some(fault.operands),
                StepOutcome::Successor(_) => None,
            }),
        };
        let standing = way.last().map(|state| model.process_locations(state)).unwrap_or_default();
        let waits = violation.check == Violation::Deadlock;
        let operands = operands.unwrap_or_default();
        let disabled = way.last().filter(|_| waits).map(|state| model.disabled_rules(state));
        let scene = FinalStateView::new(operands, standing, waits, sources)
            .with_disabled(disabled.unwrap_or_default(), sources);
        CounterexampleEnd { violation, stands_for, depth: way.depth() as u64, scene }
    }

    /// Passes the steps of the counterexample to a function.
    pub(super) fn with_steps<T>(
        &self,
        way: &Counterexample,
        and_then: impl FnOnce(&StepSequence) -> T,
    ) -> T {
        let each = &|visit: &mut StepCallback<'_>| each_step(way, visit);
        and_then(&StepSequence { last: self.depth, loop_start: None, visit_all: each })
    }

    /// Returns a line with the violation and the number of steps.
    pub fn title(&self) -> String {
        let ViolationReport { kind, name, shortest, .. } = &self.violation;
        let perhaps = if *shortest { "" } else { "; there may be a shorter one" };
        format!("{kind}: {name}, {}{perhaps}", count(self.depth, "step"))
    }

    /// Returns lines about the last step: the violation and the values that it depends on.
    #[cfg(feature = "cli")]
    pub(super) fn violation_lines(&self) -> Vec<String> {
        let says = end(&self.violation, &mut SourceLocation::to_string);
        let says =
            says.unwrap_or_else(|| format!("{}: {}", self.violation.kind, self.violation.name));
        std::iter::once(says).chain(self.scene.with()).collect()
    }

    /// Formats rows: the number of steps, the values, and the locations of the processes.
    pub fn rows(&self) -> String {
        let perhaps =
            if self.violation.shortest { " (shortest)" } else { "; there may be a shorter one" };
        let (depth, all) = (count(self.depth, "step"), self.violation.all());
        row("after", &format!("{depth}{perhaps}{all}")) + &self.scene.rows()
    }

    /// Returns the members `operands`, `ends_at` and `disabled` of a counterexample as JSON.
    pub fn members(&self) -> [serde_json::Value; 3] {
        let [operands, ends_at] = self.scene.members();
        [operands, ends_at, self.scene.disabled()]
    }
}

/// Describes the violation at the end of a counterexample; `locate` names its position. `None` if the last step
/// describes it.
pub(super) fn end(
    violation: &ViolationReport,
    locate: &mut dyn FnMut(&SourceLocation) -> String,
) -> Option<String> {
    let ViolationReport { kind, name, check, .. } = violation;
    let place = violation.place.as_ref().map_or("the model".to_owned(), locate);
    match *kind {
        "deadlock" => Some("no step can be taken here".to_owned()),
        _ if matches!(check, Violation::Fault(..)) => None,
        "claim" => Some(format!("here the claim `{name}` of {place} ends")),
        TRACE => Some(format!("the run ends here, but the trace of {place} is not complete")),
        kind => Some(format!("here the {kind} `{name}` of {place} does not hold")),
    }
}
