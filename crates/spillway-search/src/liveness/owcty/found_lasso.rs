//! The result of a search for accepting cycles, read from its checkpoint.

use super::region::open_layers;
use super::saved_cycles::CycleOperation;
use super::{ReachedStates, SavedCycleSearch, contradiction};
use crate::lasso::Lasso;
use crate::liveness::nested_dfs::ProbeVerdict;
use crate::trace::TraceFinder;
use spill::Result;
use spillway_model::ProcessSet;

impl SavedCycleSearch {
    /// Returns the verdict for the reached states. It changes nothing on disk. The verdict is open if the search is, if
    /// another search follows, or if the finder is stopped.
    pub fn probe_verdict(
        &self,
        reached: &ReachedStates,
        finder: &TraceFinder,
    ) -> Result<ProbeVerdict> {
        Ok(match self.next {
            CycleOperation::None if self.is_final() => ProbeVerdict::None,
            CycleOperation::Found => {
                self.lasso(reached, finder)?.map_or(ProbeVerdict::Open, ProbeVerdict::Found)
            }
            CycleOperation::Sweep(_)
            | CycleOperation::Pick
            | CycleOperation::Walk
            | CycleOperation::Remaining
            | CycleOperation::None => ProbeVerdict::Open,
        })
    }

    /// Returns the run to the first state of the round and around the cycle, or nothing if stopped.
    fn lasso(&self, reached: &ReachedStates, finder: &TraceFinder) -> Result<Option<Lasso>> {
        let Some(target) = &self.target else {
            return Err(contradiction("a round has no beginning"));
        };
        let levels = reached.stored_levels(finder.disk);
        let Some(mut states) = finder.path_to(levels, target.level, &target.state)? else {
            return Ok(None);
        };
        let back = states.len() - 1;
        if let Some(walk) = &self.walk {
            states.extend(walk.states.iter().skip(1).cloned());
            let fair_to = walk.fair_to.iter().map(|it| ProcessSet::from_bytes(it)).collect();
            return Ok(Some(Lasso { states, back, fair_to }));
        }
        // The last layer contains the first state again.
        let between = &self.layers[..self.layers.len() - 1];
        let layers = open_layers(between, finder.disk, target.state.len())?;
        let Some(round) = finder.path_through(&layers, &target.state)? else { return Ok(None) };
        states.extend(round);
        Ok(Some(Lasso { states, back, fair_to: Vec::new() }))
    }
}
