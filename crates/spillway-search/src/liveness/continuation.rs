//! Infinite runs that continue a finite one.

use super::fair_scc::probe_fair;
use super::nested_dfs::{ProbeLimits, ProbeVerdict, probe_from};
use crate::SearchControl;
use spill::Result;
use spillway_model::{Capabilities, FairSteps, StateSpace, SuccessorSink, SystemDescription};

/// The limits of a search among few states. Memory plans do not include these bytes.
const FEW: ProbeLimits = ProbeLimits { states: 20_000, bytes: 4 << 20 };

/// A product, and which of its runs continue a finite run: those that visit accepting states infinitely often.
#[derive(Clone, Copy)]
pub struct AcceptingContinuations<'a> {
    /// The product.
    pub model: &'a dyn StateSpace,
    /// Whether a state is accepting.
    pub accepts: &'a dyn Fn(&[u8]) -> bool,
    /// The processes to which steps are fair, if a continuation must be fair.
    pub fair: Option<&'a dyn FairSteps>,
}

impl AcceptingContinuations<'_> {
    /// Searches for a run from one of the given states, which are concatenated, until the control stops the search.
    pub fn find(
        &self,
        starts: &[u8],
        limits: ProbeLimits,
        control: &SearchControl,
    ) -> Result<ProbeVerdict> {
        let AcceptingContinuations { model, accepts, fair } = *self;
        let probe = match fair {
            None => probe_from(starts, model, accepts, limits, control)?,
            Some(fair) => {
                let model = StartedStateSpace { model, starts };
                probe_fair(&model, fair, accepts, limits, control)?
            }
        };
        Ok(probe.found)
    }

    /// Searches for a run from a state, among few states.
    pub(super) fn find_near(&self, state: &[u8], control: &SearchControl) -> Result<ProbeVerdict> {
        self.find(state, FEW, control)
    }
}

/// A state space whose runs begin in given states, which are concatenated.
struct StartedStateSpace<'a> {
    model: &'a dyn StateSpace,
    starts: &'a [u8],
}

impl StateSpace for StartedStateSpace<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.starts.chunks_exact(self.width()).for_each(|it| out.candidate(it));
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.model.expand(states, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}
