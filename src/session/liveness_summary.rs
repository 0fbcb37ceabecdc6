//! The result of a search for a run that violates a property.

use super::{ProductCheck, SweepStatus};
use crate::model::Violation;
use crate::report::ShorteningResult;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict};
use crate::search::liveness::shortest_lasso::ShorterRun;
use crate::search::{SearchControl, SearchOutcome, SearchVerdict};

/// The result of a search for a run that violates a property, as far as it has come.
pub struct LivenessSummary {
    /// What was found.
    pub found: ProbeVerdict,
    /// States of the product that were visited.
    pub states: u64,
    /// Transitions between them.
    pub transitions: u64,
    /// Steps that ended in errors.
    pub faults: u64,
    /// Where the search is, or was decided.
    pub stage: LivenessStage,
    /// What came of looking for a shorter run than the one found first.
    pub shortened: Option<ShorteningResult>,
    /// Why the search for a shorter run failed, if it did.
    pub shortening_failed: Option<String>,
    /// What it came to, where that is known and the run is not looked up.
    pub decided: Option<SearchVerdict>,
}

/// Where a search is, or was decided.
#[derive(Clone, Copy)]
pub enum LivenessStage {
    /// In memory.
    Memory,
    /// On disk: states are reached.
    Reachability,
    /// On disk: sweeps take states out that lie on no accepting cycle.
    Sweeping(SweepStatus),
}

impl LivenessStage {
    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            LivenessStage::Memory => "in memory",
            LivenessStage::Reachability => "reaching states",
            LivenessStage::Sweeping(swept) => swept.stage,
        }
    }

    /// How far the sweeps are, if there are any.
    pub fn swept(self) -> Option<SweepStatus> {
        match self {
            LivenessStage::Sweeping(swept) => Some(swept),
            LivenessStage::Memory | LivenessStage::Reachability => None,
        }
    }
}

impl LivenessSummary {
    /// Where nothing had to be searched.
    pub const UNSEARCHED: LivenessSummary = LivenessSummary {
        found: ProbeVerdict::None,
        states: 0,
        transitions: 0,
        faults: 0,
        stage: LivenessStage::Memory,
        shortened: None,
        shortening_failed: None,
        decided: None,
    };

    /// That of a probe in memory.
    pub fn of_probe(
        ProbeResult { found, states, transitions, faults }: ProbeResult,
    ) -> LivenessSummary {
        LivenessSummary { found, states, transitions, faults, ..LivenessSummary::UNSEARCHED }
    }

    /// What it came to.
    pub fn verdict(&self) -> SearchVerdict {
        match (&self.found, self.decided) {
            (ProbeVerdict::None, _) => SearchVerdict::Verified,
            (ProbeVerdict::Found(_), _) => SearchVerdict::Violated,
            (ProbeVerdict::Open, decided) => decided.unwrap_or(SearchVerdict::Incomplete),
        }
    }

    /// The same, where a look at states in memory that did not come to its end had come further.
    pub fn at_least(self, probe: &ProbeResult) -> LivenessSummary {
        match self.found == ProbeVerdict::Open && self.states < probe.states {
            true => {
                let &ProbeResult { states, transitions, faults, .. } = probe;
                LivenessSummary {
                    states,
                    transitions,
                    faults,
                    stage: LivenessStage::Memory,
                    ..self
                }
            }
            false => self,
        }
    }

    /// That of a search on disk.
    pub fn on_disk(
        found: ProbeVerdict,
        outcome: &SearchOutcome,
        swept: Option<SweepStatus>,
    ) -> LivenessSummary {
        let faults = outcome.findings.iter();
        let faults = faults.filter(|(check, _)| matches!(check, Violation::Fault(..)));
        LivenessSummary {
            found,
            states: outcome.states(),
            transitions: outcome.counters.transitions,
            faults: faults.map(|(_, finding)| finding.count).sum(),
            stage: swept.map_or(LivenessStage::Reachability, LivenessStage::Sweeping),
            shortened: None,
            shortening_failed: None,
            decided: None,
        }
    }

    /// The same with a shortest run instead of the one found, if one is wanted. Where looking for it does not come to its end,
    /// what was found stands.
    pub fn with_shortest_run(
        self,
        judged: &ProductCheck<'_, '_>,
        limits: ProbeLimits,
        control: &SearchControl,
    ) -> LivenessSummary {
        let ProbeVerdict::Found(found) = &self.found else { return self };
        let ShorterRun { lasso, below, steps, states, is_shortest: is_done } =
            match judged.find_shorter_run(found, limits, control) {
                Ok(Some(shorter)) => shorter,
                Ok(None) => return self,
                Err(error) => {
                    return LivenessSummary { shortening_failed: Some(error.to_string()), ..self };
                }
            };
        let depth = (steps < below).then_some(steps as u64);
        let shortened = Some(ShorteningResult { below: below as u64, states, depth, is_done });
        LivenessSummary { found: ProbeVerdict::Found(lasso), shortened, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_is_stopped_in_memory_tells_of_the_states_there() {
        let probe = ProbeResult {
            found: ProbeVerdict::Open,
            states: 12_345,
            transitions: 23_456,
            faults: 7,
        };
        let begun = || LivenessSummary {
            found: ProbeVerdict::Open,
            stage: LivenessStage::Reachability,
            ..LivenessSummary::UNSEARCHED
        };
        let LivenessSummary { states, transitions, faults, stage, .. } = begun().at_least(&probe);
        assert_eq!((states, transitions, faults, stage.name()), (12_345, 23_456, 7, "in memory"));
        // On disk it came further, or to an end.
        let further = LivenessSummary { states: 20_000, ..begun() }.at_least(&probe);
        assert_eq!((further.states, further.stage.name()), (20_000, "reaching states"));
        assert_eq!(
            LivenessSummary { states: 3, ..LivenessSummary::UNSEARCHED }.at_least(&probe).states,
            3
        );
    }
}
