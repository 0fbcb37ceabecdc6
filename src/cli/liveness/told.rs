//! What a search for runs came to.

use crate::cli::progress::Display;
use crate::cli::warn;
use crate::exec::Violation;
use crate::report::Shortened;
use crate::search::lasso::{Probe, ProbeLimits, Probed};
use crate::search::shortest::Shorter;
use crate::search::{Control, Outcome, Verdict};
use crate::session::{Judged, Swept};

/// What there is to tell of a search.
pub(super) struct Told {
    pub(super) found: Probed,
    pub(super) states: u64,
    pub(super) transitions: u64,
    /// Steps that ended in errors.
    pub(super) faults: u64,
    pub(super) stage: Stage,
    /// What came of looking for a shorter run than the one found first.
    pub(super) shortened: Option<Shortened>,
    /// What it came to, where that is known and the run is not looked up.
    pub(super) decided: Option<Verdict>,
}

/// Where a search is, or was decided.
#[derive(Clone, Copy)]
pub(super) enum Stage {
    Memory,
    Reaching,
    Sweeping(Swept),
}

impl Stage {
    pub(super) fn name(self) -> &'static str {
        match self {
            Stage::Memory => "in memory",
            Stage::Reaching => "reaching states",
            Stage::Sweeping(swept) => swept.stage,
        }
    }

    pub(super) fn swept(self) -> Option<Swept> {
        match self {
            Stage::Sweeping(swept) => Some(swept),
            Stage::Memory | Stage::Reaching => None,
        }
    }
}

impl Told {
    /// Where nothing had to be searched.
    pub(super) const NOTHING: Told = Told {
        found: Probed::None,
        states: 0,
        transitions: 0,
        faults: 0,
        stage: Stage::Memory,
        shortened: None,
        decided: None,
    };

    pub(super) fn of_probe(Probe { found, states, transitions, faults }: Probe) -> Told {
        Told { found, states, transitions, faults, ..Told::NOTHING }
    }

    /// What it came to.
    pub(super) fn verdict(&self) -> Verdict {
        match (&self.found, self.decided) {
            (Probed::None, _) => Verdict::Verified,
            (Probed::Found(_), _) => Verdict::Violated,
            (Probed::Open, decided) => decided.unwrap_or(Verdict::Incomplete),
        }
    }

    /// The same, where a look at states in memory that did not come to its end had come further.
    pub(super) fn at_least(self, probe: &Probe) -> Told {
        match self.found == Probed::Open && self.states < probe.states {
            true => {
                let &Probe { states, transitions, faults, .. } = probe;
                Told { states, transitions, faults, stage: Stage::Memory, ..self }
            }
            false => self,
        }
    }

    pub(super) fn on_disk(found: Probed, outcome: &Outcome, swept: Option<Swept>) -> Told {
        let faults = outcome.findings.iter();
        let faults = faults.filter(|(check, _)| matches!(check, Violation::Fault(..)));
        Told {
            found,
            states: outcome.states(),
            transitions: outcome.transitions,
            faults: faults.map(|(_, finding)| finding.count).sum(),
            stage: swept.map_or(Stage::Reaching, Stage::Sweeping),
            shortened: None,
            decided: None,
        }
    }

    /// The same with a shortest run instead of the one found, if one is wanted. Where looking for it does not come to its end,
    /// what was found stands.
    pub(super) fn shortened(
        self,
        judged: &Judged<'_, '_>,
        (states, memory): (Option<u64>, u64),
        control: &Control,
    ) -> Told {
        let Probed::Found(found) = &self.found else { return self };
        let limits = ProbeLimits { states: states.unwrap_or(u64::MAX), bytes: memory / 4 };
        let shown = Display::of_wait("looking for a shorter run".into());
        let shorter = judged.shorter(found, limits, control);
        drop(shown);
        let Shorter { lasso, below, steps, states, is_shortest: is_done } = match shorter {
            Ok(Some(shorter)) => shorter,
            Ok(None) => return self,
            Err(error) => {
                warn(format!("warning: the search for a shorter counterexample failed: {error}"));
                return self;
            }
        };
        let depth = (steps < below).then_some(steps as u64);
        let shortened = Some(Shortened { below: below as u64, states, depth, is_done });
        Told { found: Probed::Found(lasso), shortened, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_is_stopped_in_memory_tells_of_the_states_there() {
        let probe = Probe { found: Probed::Open, states: 12_345, transitions: 23_456, faults: 7 };
        let begun = || Told { found: Probed::Open, stage: Stage::Reaching, ..Told::NOTHING };
        let Told { states, transitions, faults, stage, .. } = begun().at_least(&probe);
        assert_eq!((states, transitions, faults, stage.name()), (12_345, 23_456, 7, "in memory"));
        // On disk it came further, or to an end.
        let further = Told { states: 20_000, ..begun() }.at_least(&probe);
        assert_eq!((further.states, further.stage.name()), (20_000, "reaching states"));
        assert_eq!(Told { states: 3, ..Told::NOTHING }.at_least(&probe).states, 3);
    }
}
