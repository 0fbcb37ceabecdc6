//! The result of a search for a run that violates a property.

use super::{DecidedInvariant, LivenessAnswer, ProductCheck, SweepStatus};
use crate::model::Violation;
use crate::report::ShorteningResult;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict};
use crate::search::liveness::shortest_lasso::ShorterRun;
use crate::search::{SearchControl, SearchOutcome, SearchVerdict};

/// The result of a search for a run that violates a property. It may be partial.
pub struct LivenessSummary {
    /// The verdict, with the violating run if there is one.
    pub found: ProbeVerdict,
    /// The visited states of the product.
    pub states: u64,
    /// Transitions between them.
    pub transitions: u64,
    /// Steps that ended in errors.
    pub faults: u64,
    /// The stage at which the search is or was decided.
    pub stage: LivenessStage,
    /// The result of the search for a shorter run.
    pub shortened: Option<ShorteningResult>,
    /// Why the search for a shorter run failed, if it did.
    pub shortening_failed: Option<String>,
    /// The verdict, if it is known but the run was not reconstructed.
    pub decided: Option<SearchVerdict>,
    /// The strategy of the hunt that found the run, if a hunt did.
    pub strategy: Option<String>,
    /// The search for a violating state, if the property is equivalent to an invariant and that search decides.
    pub invariant: Option<DecidedInvariant>,
}

/// The stage of a search.
#[derive(Clone, Copy)]
pub enum LivenessStage {
    /// In memory.
    Memory,
    /// On disk: the search reaches states.
    Reachability,
    /// On disk: sweeps eliminate states that are on no accepting cycle.
    Sweeping(SweepStatus),
}

impl LivenessStage {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            LivenessStage::Memory => "in memory",
            LivenessStage::Reachability => "reaching states",
            LivenessStage::Sweeping(swept) => swept.stage,
        }
    }

    /// Returns the progress of the sweeps, if there are any.
    pub fn swept(self) -> Option<SweepStatus> {
        match self {
            LivenessStage::Sweeping(swept) => Some(swept),
            LivenessStage::Memory | LivenessStage::Reachability => None,
        }
    }
}

impl LivenessSummary {
    /// The result if nothing had to be searched.
    pub const UNSEARCHED: LivenessSummary = LivenessSummary {
        found: ProbeVerdict::None,
        states: 0,
        transitions: 0,
        faults: 0,
        stage: LivenessStage::Memory,
        shortened: None,
        shortening_failed: None,
        decided: None,
        strategy: None,
        invariant: None,
    };

    /// Returns the result of a search in memory.
    pub fn of_probe(
        ProbeResult { found, states, transitions, faults, strategy }: ProbeResult,
    ) -> LivenessSummary {
        let unsearched = LivenessSummary::UNSEARCHED;
        LivenessSummary { found, states, transitions, faults, strategy, ..unsearched }
    }

    /// Returns the name of the stage in reports.
    pub fn stage_name(&self) -> &'static str {
        match self.invariant {
            Some(_) => "invariant",
            None => self.stage.name(),
        }
    }

    /// Returns the verdict.
    pub fn verdict(&self) -> SearchVerdict {
        match (&self.found, self.decided) {
            (ProbeVerdict::None, _) => SearchVerdict::Verified,
            (ProbeVerdict::Found(_), _) => SearchVerdict::Violated,
            (ProbeVerdict::Open, decided) => decided.unwrap_or(SearchVerdict::Incomplete),
        }
    }

    /// Returns the result with the counts of an inconclusive search in memory, if that visited more states.
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

    /// Returns the result of a search on disk.
    pub fn on_disk(
        found: ProbeVerdict,
        outcome: &SearchOutcome,
        swept: Option<SweepStatus>,
    ) -> LivenessSummary {
        LivenessSummary {
            found,
            states: outcome.states(),
            transitions: outcome.counters.transitions,
            faults: faults(outcome),
            stage: swept.map_or(LivenessStage::Reachability, LivenessStage::Sweeping),
            shortened: None,
            shortening_failed: None,
            decided: None,
            strategy: None,
            invariant: None,
        }
    }

    /// Returns the result of a search for a violating state.
    pub fn of_invariant(
        found: ProbeVerdict,
        outcome: &SearchOutcome,
        decided: DecidedInvariant,
    ) -> LivenessSummary {
        let on_disk = LivenessSummary::on_disk(found, outcome, None);
        LivenessSummary { invariant: Some(decided), ..on_disk }
    }

    /// Returns the result that a directory stores.
    pub fn of_answer(answer: &LivenessAnswer) -> LivenessSummary {
        let invariant = answer.invariant();
        LivenessSummary { invariant, ..LivenessSummary::of_probe(answer.probe()) }
    }

    /// Returns whether the run that was found reaches a nearest violating state.
    pub fn is_shortest(&self) -> bool {
        let is_nearest = self.invariant.as_ref().is_some_and(|it| it.is_shortest);
        is_nearest || self.shortened.is_some_and(|it| it.is_done)
    }

    /// Returns the result with a shortest run in place of the run that was found, if a shortest one is requested. If
    /// the search for it does not complete, the first run remains.
    pub fn with_shortest_run(
        self,
        judged: &ProductCheck<'_, '_>,
        limits: ProbeLimits,
        control: &SearchControl,
    ) -> LivenessSummary {
        let ProbeVerdict::Found(found) = &self.found else { return self };
        if self.is_shortest() || !judged.shortens(self.invariant.is_some()) {
            return self;
        }
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

/// Returns the number of steps that ended in errors.
pub(super) fn faults(outcome: &SearchOutcome) -> u64 {
    let faults = outcome.findings.iter();
    let faults = faults.filter(|(check, _)| matches!(check, Violation::Fault(..)));
    faults.map(|(_, finding)| finding.count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_in_memory_keeps_the_counts_of_the_probe() {
        let probe = ProbeResult {
            found: ProbeVerdict::Open,
            states: 12_345,
            transitions: 23_456,
            faults: 7,
            strategy: None,
        };
        let begun = || LivenessSummary {
            found: ProbeVerdict::Open,
            stage: LivenessStage::Reachability,
            ..LivenessSummary::UNSEARCHED
        };
        let LivenessSummary { states, transitions, faults, stage, .. } = begun().at_least(&probe);
        assert_eq!((states, transitions, faults, stage.name()), (12_345, 23_456, 7, "in memory"));
        // The search on disk visited more states or completed.
        let further = LivenessSummary { states: 20_000, ..begun() }.at_least(&probe);
        assert_eq!((further.states, further.stage.name()), (20_000, "reaching states"));
        assert_eq!(
            LivenessSummary { states: 3, ..LivenessSummary::UNSEARCHED }.at_least(&probe).states,
            3
        );
    }
}
