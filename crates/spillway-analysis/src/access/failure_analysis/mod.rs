//! Whether code may fail: an abstract interpretation (Cousot and Cousot 1977).
//!
//! An action's guard restricts the states in which its body is executed: after `x < 9`, `x := x + 1` stays below 10.
//! So the analysis walks code in the order of execution, with an interval for each single cell ([`AbstractState`]).
//! Conditions narrow intervals, stores replace them, and branches join them. Before a loop, the analysis forgets the
//! cells that its body writes. The code may fail if an operation may fail for values that are then possible.
//!
//! - `expressions`: evaluation and its failures;
//! - `conditions`: facts about cells from conditions that are true or false;
//! - `statements`: bodies; `messages`: sends and receives.

mod conditions;
mod expressions;
mod messages;
mod statements;

use super::abstract_state::AbstractState;
use super::cell_set::CellSet;
use super::collector::{AccessCollector, FRAME_FIRST};
use super::failure_kinds::FailureKinds;
use spillway_ir::interval::{Interval, NONE};
use spillway_ir::{Action, Expr};

pub(super) use messages::MessageIntervals;

/// An analysis of how code may fail. It receives the code piece by piece in the order of execution.
pub(super) struct FailureAnalysis<'p> {
    /// The bindings of names and places, and the facts about cells at this point of the walk.
    of: AccessCollector<'p>,
    found: FailureKinds,
    /// The facts at all points where the current body is left early.
    left: AbstractState,
    /// The result of the current function.
    result: FunctionResult,
    /// The possible results of the current function, if it has any.
    bounds: Option<Interval>,
    /// The cells that may have become undefined.
    undefined: CellSet,
    /// The number of further loop rounds that are walked one by one.
    rounds: u32,
}

/// The result of a function.
#[derive(Clone, Copy, Debug)]
struct FunctionResult {
    values: Interval,
    /// Whether the result may be undefined.
    undefined: bool,
}

impl FunctionResult {
    const NEVER: FunctionResult = FunctionResult { values: NONE, undefined: false };
}

impl<'p> FailureAnalysis<'p> {
    /// Creates an analysis of the code of a collector. It starts without facts.
    pub fn new(mut of: AccessCollector<'p>) -> Self {
        of.begin_frames(FRAME_FIRST);
        of.omits_later_links = false;
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

    /// Returns the failures of the code since the last call.
    pub fn take(&mut self) -> FailureKinds {
        std::mem::take(&mut self.found)
    }

    /// Returns the current facts about the state.
    pub fn state(&self) -> AbstractState {
        self.of.state.clone().below(FRAME_FIRST)
    }

    /// Sets the facts about the state.
    pub fn set_state(&mut self, here: AbstractState) {
        self.of.state = here;
    }

    /// Walks this many rounds one by one in loops over all values of a type.
    pub fn unroll(&mut self, rounds: u32) {
        self.rounds = rounds;
    }

    /// Returns the cells of the state that may have become undefined.
    pub fn made_undefined(&self) -> CellSet {
        let cells = self.undefined.iter().take_while(|it| it.0 < FRAME_FIRST);
        let mut found = CellSet::default();
        cells.for_each(|it| found.insert(it.0..it.0 + 1));
        found
    }

    /// Analyses a condition that must hold for the step to continue.
    pub fn condition(&mut self, condition: &Expr) {
        self.expr(condition);
        self.assume(condition, true);
    }

    /// Analyses the message of an action that it sends or receives by itself, its move and its body.
    pub fn take_action(&mut self, action: &Action) {
        action.communication.iter().for_each(|it| self.exchange(it));
        self.move_and_run(action);
    }

    /// Analyses the move of an action and its body.
    pub fn move_and_run(&mut self, action: &Action) {
        if let Some(last) = self.of.program().last {
            let cell = self.of.variable_cell(last, 0);
            self.of.state.forget(cell.0);
        }
        self.whole_body(&action.body);
    }

    /// Records that an operation may fail.
    fn add_failure(&mut self) {
        self.found.other |= !self.of.state.is_unreachable();
    }

    fn add_failure_if(&mut self, may: bool) {
        if may {
            self.add_failure();
        }
    }
}
