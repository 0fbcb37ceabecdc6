//! What a search for accepting cycles found, read from what it saved.

use super::region::open_layers;
use super::saved::Next;
use super::{Reached, SavedCycles, contradiction};
use crate::exec::ProcessSet;
use crate::search::lasso::{Lasso, Probed};
use crate::search::trace::Finder;
use spill::Result;

impl SavedCycles {
    /// What was found among the states that were reached. Nothing on the disk is changed; the run is open as long as the search
    /// is, and where the finder is told to stop.
    pub fn found(&self, reached: &Reached, finder: &Finder) -> Result<Probed> {
        Ok(match self.next {
            Next::None => Probed::None,
            Next::Found => self.lasso(reached, finder)?.map_or(Probed::Open, Probed::Found),
            Next::Sweep(_) | Next::Pick | Next::Walk => Probed::Open,
        })
    }

    /// The run that leads to the state the round began with, and round; nothing if told to stop.
    fn lasso(&self, reached: &Reached, finder: &Finder) -> Result<Option<Lasso>> {
        let Some(target) = &self.target else {
            return Err(contradiction("a round has no beginning"));
        };
        let levels = (&reached.levels, &reached.codec);
        let Some(mut states) = finder.way_to(levels, target.level, &target.state)? else {
            return Ok(None);
        };
        let back = states.len() - 1;
        if let Some(walk) = &self.walk {
            states.extend(walk.states.iter().skip(1).cloned());
            let fair_to = walk.fair_to.iter().map(|it| ProcessSet::from_bytes(it)).collect();
            return Ok(Some(Lasso { states, back, fair_to }));
        }
        // In the last layer is the beginning again.
        let between = &self.layers[..self.layers.len() - 1];
        let layers = open_layers(between, finder.disk, target.state.len())?;
        let Some(round) = finder.way_through(&layers, &target.state)? else { return Ok(None) };
        states.extend(round);
        Ok(Some(Lasso { states, back, fair_to: Vec::new() }))
    }
}
