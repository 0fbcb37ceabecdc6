//! A reduced system whose search does not fulfil the cycle proviso, for tests.

use spillway_model::{
    Capabilities, Counters, CycleProvisoStateSpace, StateSpace, StepDescent, SuccessorSink,
    SystemDescription,
};

/// A fault of full expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisoFault {
    /// No state is fully expanded.
    NoExpansion,
    /// The states of one part, about a half, are not fully expanded. So some cycles are skipped.
    SkippedCycles,
}

/// Partial order whose states are not fully expanded where they must be.
pub struct FaultyProviso<'m> {
    order: &'m dyn StateSpace,
    choices: &'m dyn CycleProvisoStateSpace,
    fault: ProvisoFault,
}

impl<'m> FaultyProviso<'m> {
    /// Injects a fault into a reduced system.
    ///
    /// # Panics
    ///
    /// If the system chooses no transitions.
    pub fn new(order: &'m dyn StateSpace, fault: ProvisoFault) -> FaultyProviso<'m> {
        let choices = order.capabilities().cycle_proviso.expect("the system chooses transitions");
        FaultyProviso { order, choices, fault }
    }

    fn is_skipped(&self, state: &[u8]) -> bool {
        match self.fault {
            ProvisoFault::NoExpansion => true,
            ProvisoFault::SkippedCycles => spill::hash(self.choosing_part(state)).is_multiple_of(2),
        }
    }
}

impl StateSpace for FaultyProviso<'_> {
    fn width(&self) -> usize {
        self.order.width()
    }

    fn bits(&self) -> u32 {
        self.order.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.order.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.order.expand(states, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.order.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        self.order.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.order.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { cycle_proviso: Some(self), ..self.order.capabilities() }
    }
}

impl CycleProvisoStateSpace for FaultyProviso<'_> {
    fn expand_chosen(&self, states: &[u8], out: &mut SuccessorSink) {
        self.choices.expand_chosen(states, out);
    }

    fn expand_ascending(&self, states: &[u8], out: &mut SuccessorSink) {
        self.choices.expand_ascending(states, out);
    }

    /// A skipped state counts as fully expanded.
    fn expand_fully(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(self.width()) {
            if !self.is_skipped(state) {
                self.choices.expand_fully(state, out);
                continue;
            }
            let mut successors = Vec::new();
            let run = |inner: &mut SuccessorSink| self.choices.expand_chosen(state, inner);
            let Some(expanded) = out.wrap(self.width(), &mut successors, run) else { return };
            out.add_findings(expanded.findings);
            out.add_counters(Counters { partially_expanded: 0, ..expanded.counters });
            successors.chunks_exact(self.width()).for_each(|it| out.candidate(it));
        }
    }

    fn choosing_part<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        self.choices.choosing_part(state)
    }

    fn descent(&self, from: &[u8], to: &[u8]) -> Option<StepDescent> {
        self.choices.descent(from, to)
    }
}
