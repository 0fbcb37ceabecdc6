//! Whether code may fail: a walk that follows what is known of values.
//!
//! An action's guard says something of the state that its body runs in: behind `x < 9`, `x := x + 1`
//! stays below 10. So code is walked in the order in which it runs, by abstract interpretation (Cousot
//! and Cousot 1977) with an interval for each single cell ([`AbstractState`]): conditions narrow what is
//! known, stores replace it, branches join it, and before a loop everything that its body writes is
//! forgotten. Wherever an operation could fail for values that are then possible, the code may fail.
//!
//! - `expressions`: what is judged, and what fails when it is;
//! - `conditions`: what a condition that holds, or does not, says of cells;
//! - `statements`: bodies; `messages`: what is sent and received.

mod conditions;
mod expressions;
mod messages;
mod statements;

use super::abstract_state::AbstractState;
use super::cell_set::CellSet;
use super::collector::{AccessCollector, FRAME_FIRST};
use super::failure_kinds::FailureKinds;
use crate::ir::interval::{Interval, NONE};
use crate::ir::{Action, Expr};

pub(super) use messages::MessageIntervals;

/// Finds out how code may fail, as it is given piece by piece in the order in which it runs.
pub(super) struct FailureAnalysis<'p> {
    /// What names and places stand for, and what is known of cells where the walk is.
    of: AccessCollector<'p>,
    found: FailureKinds,
    /// What is known wherever the body at hand is left early.
    left: AbstractState,
    /// What the function at hand gives.
    result: FunctionResult,
    /// What it may give, if it gives anything.
    bounds: Option<Interval>,
    /// Cells that may have been made undefined.
    undefined: CellSet,
    /// How many more rounds of loops are walked one by one.
    rounds: u32,
}

/// What a function gives.
#[derive(Clone, Copy, Debug)]
struct FunctionResult {
    values: Interval,
    /// Whether it may be undefined.
    undefined: bool,
}

impl FunctionResult {
    const NEVER: FunctionResult = FunctionResult { values: NONE, undefined: false };
}

impl<'p> FailureAnalysis<'p> {
    /// For code that a collector could walk through. Nothing is known yet.
    pub fn new(mut of: AccessCollector<'p>) -> Self {
        of.begin_frames(FRAME_FIRST);
        FailureAnalysis {
            of,
            found: FailureKinds::default(),
            left: AbstractState::unreachable(),
            result: FunctionResult::NEVER,
            bounds: None,
            undefined: CellSet::default(),
            rounds: 0,
        }
    }

    /// How the code since the last question may fail.
    pub fn take(&mut self) -> FailureKinds {
        std::mem::take(&mut self.found)
    }

    /// What is known of the state now.
    pub fn state(&self) -> AbstractState {
        self.of.state.clone().below(FRAME_FIRST)
    }

    /// Says what is known of the state.
    pub fn set_state(&mut self, here: AbstractState) {
        self.of.state = here;
    }

    /// Walks so many rounds of loops over all values of a type one by one.
    pub fn unroll(&mut self, rounds: u32) {
        self.rounds = rounds;
    }

    /// The cells of the state that may have been made undefined.
    pub fn made_undefined(&self) -> CellSet {
        let cells = self.undefined.iter().take_while(|it| it.0 < FRAME_FIRST);
        let mut found = CellSet::default();
        cells.for_each(|it| found.insert(it.0..it.0 + 1));
        found
    }

    /// Judges a condition under which alone the step goes on.
    pub fn condition(&mut self, condition: &Expr) {
        self.expr(condition);
        self.assume(condition, true);
    }

    /// The message that an action sends or takes by itself, its move and its body.
    pub fn take_action(&mut self, action: &Action) {
        action.communication.iter().for_each(|it| self.exchange(it));
        self.move_and_run(action);
    }

    /// The move of an action and its body.
    pub fn move_and_run(&mut self, action: &Action) {
        if let Some(last) = self.of.program().last {
            let cell = self.of.variable_cell(last, 0);
            self.of.state.forget(cell.0);
        }
        self.whole_body(&action.body);
    }

    /// Notes that an operation may fail.
    fn add_failure(&mut self) {
        self.found.other |= !self.of.state.is_unreachable();
    }

    fn add_failure_if(&mut self, may: bool) {
        if may {
            self.add_failure();
        }
    }
}
