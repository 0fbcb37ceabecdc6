//! A verdict on a temporal property that needed no emptiness check on disk, saved in the search directory.
//!
//! It comes from a search in memory, or from a search for a state that violates an invariant.

use super::DecidedInvariant;
use crate::model::ProcessSet;
use crate::search::checkpoint::FORMAT;
use crate::search::files::ANSWER;
use crate::search::lasso::Lasso;
use crate::search::liveness::nested_dfs::{ProbeResult, ProbeVerdict};
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Result};

/// The verdict, with its run. It answers the job of the same directory.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct LivenessAnswer {
    /// The digest of the model.
    digest: [u8; 32],
    /// The lasso that was found. `None` if there is none.
    run: Option<SavedLasso>,
    /// The visited states, and the transitions between them.
    states: u64,
    transitions: u64,
    /// The steps that ended in errors.
    faults: u64,
    /// The strategy of the hunt that found the lasso, if a hunt did.
    strategy: Option<String>,
    /// The search for a violating state, if that decided.
    invariant: Option<SavedInvariant>,
}

/// A search for a state that violates an invariant.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
struct SavedInvariant {
    /// The names of its reductions.
    reductions: Vec<String>,
    /// Whether the violating state is a nearest one.
    is_shortest: bool,
}

/// An infinite run.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
struct SavedLasso {
    states: Vec<Vec<u8>>,
    back: u64,
    /// For each step of the cycle, the [bytes](ProcessSet::to_bytes) of the processes to which it is fair.
    fair_to: Vec<Vec<u8>>,
}

impl LivenessAnswer {
    /// Creates the saved result of a search in memory of the model with this digest. `None` if the search was
    /// inconclusive.
    pub fn of(digest: [u8; 32], probe: &ProbeResult) -> Option<LivenessAnswer> {
        let &ProbeResult { states, transitions, faults, ref found, ref strategy } = probe;
        let run = match found {
            ProbeVerdict::Open => return None,
            ProbeVerdict::None => None,
            ProbeVerdict::Found(Lasso { states, back, fair_to }) => Some(SavedLasso {
                states: states.clone(),
                back: *back as u64,
                fair_to: fair_to.iter().map(|it| it.to_bytes().to_vec()).collect(),
            }),
        };
        let strategy = strategy.clone();
        let invariant = None;
        Some(LivenessAnswer { digest, run, states, transitions, faults, strategy, invariant })
    }

    /// Returns the result as that of a search for a violating state.
    pub fn of_invariant(self, decided: &DecidedInvariant) -> LivenessAnswer {
        let DecidedInvariant { reductions, is_shortest, .. } = decided.clone();
        LivenessAnswer { invariant: Some(SavedInvariant { reductions, is_shortest }), ..self }
    }

    /// Returns the search for a violating state, if that decided.
    pub fn invariant(&self) -> Option<DecidedInvariant> {
        let SavedInvariant { reductions, is_shortest } = self.invariant.clone()?;
        Some(DecidedInvariant { reductions, is_shortest, ..DecidedInvariant::default() })
    }

    /// Returns the result as a probe returns it.
    pub fn probe(&self) -> ProbeResult {
        let &LivenessAnswer { states, transitions, faults, ref strategy, .. } = self;
        let lasso = |it: &SavedLasso| Lasso {
            states: it.states.clone(),
            back: it.back as usize,
            fair_to: it.fair_to.iter().map(|it| ProcessSet::from_bytes(it)).collect(),
        };
        let found =
            self.run.as_ref().map_or(ProbeVerdict::None, |it| ProbeVerdict::Found(lasso(it)));
        ProbeResult { found, states, transitions, faults, strategy: strategy.clone() }
    }

    pub(super) fn commit(&self, disk: &dyn Disk) -> Result<()> {
        spill::commit_value(disk, ANSWER, FORMAT, self)
    }

    /// Reads the result for the model with this digest.
    pub(super) fn load(disk: &dyn Disk, digest: [u8; 32]) -> Result<LivenessAnswer> {
        let answer: LivenessAnswer = spill::load_value(disk, ANSWER, FORMAT)?;
        match answer.agrees(digest) {
            true => Ok(answer),
            false => Err(spill::Error::corrupt(ANSWER, 0, "it does not belong to the job")),
        }
    }

    /// Returns whether the data is consistent enough to be displayed.
    fn agrees(&self, digest: [u8; 32]) -> bool {
        let is_run = |it: &SavedLasso| {
            (it.back as usize) < it.states.len()
                && it.fair_to.iter().all(|it| it.len() == ProcessSet::BYTES)
                && it.states.iter().all(|state| state.len() == it.states[0].len())
        };
        self.digest == digest && self.run.as_ref().is_none_or(is_run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spill::FaultDisk;

    fn lasso() -> impl Strategy<Value = Lasso> {
        let states = prop::collection::vec(any::<[u8; 3]>(), 1..9);
        let sets = prop::collection::vec(prop::collection::vec(0..256_usize, 0..5), 0..3);
        (states, 0..9_usize, sets).prop_map(|(states, back, sets)| {
            let set = |all: Vec<usize>| {
                let mut set = ProcessSet::NONE;
                all.into_iter().for_each(|it| set.insert(it));
                set
            };
            Lasso {
                back: back.min(states.len() - 1),
                states: states.into_iter().map(|it| it.to_vec()).collect(),
                fair_to: sets.into_iter().map(set).collect(),
            }
        })
    }

    proptest! {
        #[test]
        fn an_answer_is_loaded_for_its_model_only(
            found in prop_oneof![Just(ProbeVerdict::None), lasso().prop_map(ProbeVerdict::Found)],
            (states, transitions, faults) in any::<(u64, u64, u64)>(),
            strategy in prop_oneof![Just(None), Just(Some("dive".to_owned()))],
            digest in any::<[u8; 32]>(),
        ) {
            let probe = ProbeResult { found, states, transitions, faults, strategy };
            let disk = FaultDisk::new();
            let answer = LivenessAnswer::of(digest, &probe).unwrap();
            answer.commit(&disk).unwrap();
            prop_assert_eq!(LivenessAnswer::load(&disk, digest).unwrap().probe(), probe);
            let mut other = digest;
            other[7] ^= 1;
            prop_assert!(LivenessAnswer::load(&disk, other).is_err());
        }
    }

    #[test]
    fn open_verdicts_are_not_saved_and_invalid_runs_are_damage() {
        let (found, strategy) = (ProbeVerdict::Open, None);
        let open = ProbeResult { found, states: 1, transitions: 0, faults: 0, strategy };
        assert_eq!(LivenessAnswer::of([0; 32], &open), None);
        let lasso = Lasso { states: vec![vec![1], vec![2]], back: 0, fair_to: Vec::new() };
        let found =
            LivenessAnswer::of([0; 32], &ProbeResult { found: ProbeVerdict::Found(lasso), ..open })
                .unwrap();
        let run = found.run.clone().unwrap();
        let short = vec![vec![1, 2]];
        let wrong = [
            SavedLasso { back: 2, ..run.clone() },
            SavedLasso { states: vec![vec![1], vec![]], ..run.clone() },
            SavedLasso { fair_to: short, ..run },
        ];
        for run in wrong {
            let disk = FaultDisk::new();
            let answer = LivenessAnswer { run: Some(run), ..found.clone() };
            answer.commit(&disk).unwrap();
            assert!(LivenessAnswer::load(&disk, [0; 32]).is_err());
        }
    }
}
