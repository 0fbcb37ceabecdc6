//! Whether a claim sees how often a state is repeated.
//!
//! A claim says of a run what it says of the sequence of its *letters*: what its conditions come to, state
//! by state. It does not see stuttering if it says the same of two sequences that differ only in how often a
//! letter is repeated. That holds if and only if, wherever it has been, reading a letter twice comes to the
//! same as reading it once (Peled, Wilke and Wolper, "An algorithmic approach for checking closure
//! properties of temporal logic specifications and omega-regular languages", 1998; Michaud and
//! Duret-Lutz, "Practical stutter-invariance checks for omega-regular languages", 2015). That is decided on
//! the automaton of all places where the claim may be at once. Runs go on for ever, as the system stands still
//! where it cannot move; so what a claim finds whatever it reads next counts as found.

use super::NeverClaim;
use super::letters::ClaimLetter;
use crate::analysis::access::AccessTable;
use crate::exec::interp::claim_paths_under;
use crate::ir::{Claim, LocationId};
use crate::model::{CheckSelection, FaultKind};
use crate::reduce::NotApplied;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Letters that are read.
const LETTERS_MAX: usize = 1024;

/// Sets of places where a claim may be at once.
const SITUATIONS_MAX: usize = 2048;

/// What a claim that does not see stuttering says of whether a run is followed: where it cannot move, nothing
/// more is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::reduce) enum StutterDependence {
    /// Every run is, until it is violated.
    Always,
    /// Not all are, but of runs that differ in stuttering all or none.
    UpToStuttering,
    /// How far one is may depend on how often a state is repeated.
    ByCount,
}

/// What a claim comes to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ClaimOutcome {
    /// Its end.
    Violated,
    /// An error of a move.
    Fault(FaultKind, u32, String),
}

/// Where a claim may be after some letters, and what it has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ClaimSubset {
    at: BTreeSet<LocationId>,
    found: BTreeSet<ClaimOutcome>,
}

/// What comes of a claim by all that it may read: numbers of situations, by letter.
struct DeterminizedClaim {
    situations: Vec<ClaimSubset>,
    next: Vec<Vec<usize>>,
}

/// What a situation leads to in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
enum InevitableOutcome {
    /// To the claim's end.
    Violated,
    /// To these, beside what else may come.
    Found(BTreeSet<ClaimOutcome>),
}

impl NeverClaim<'_> {
    /// What is said of runs that are followed if the claim does not see stuttering, in a search for some checks;
    /// or why it may see it. The table is that of the claim's program. With `may_stop` a run may end without
    /// anything that is looked for.
    pub(in crate::reduce) fn stutter_dependence(
        &self,
        table: &AccessTable,
        checks: &CheckSelection,
        may_stop: bool,
    ) -> Result<StutterDependence, NotApplied> {
        let name = || self.name().to_owned();
        if self.claim.moves.iter().any(|it| table.observation(&it.action).reads_anything) {
            return Err(NotApplied::ClaimReadsEnabled(name()));
        }
        let letters = ClaimLetter::all(table, self.claim).filter(|all| all.len() <= LETTERS_MAX);
        let reads = letters.and_then(|letters| DeterminizedClaim::of(self, &letters, checks));
        let Some(reads) = reads else {
            return Err(NotApplied::ClaimTooLarge(name()));
        };
        let told = reads.told(may_stop);
        if !reads.is_stutter_closed(&told) {
            return Err(NotApplied::ClaimCountsSteps(name()));
        }
        let followed: Vec<(&InevitableOutcome, bool)> = told
            .iter()
            .zip(&reads.situations)
            .map(|(told, it)| (told, *told == InevitableOutcome::Violated || !it.at.is_empty()))
            .collect();
        Ok(if followed.iter().all(|&(_, is_followed)| is_followed) {
            StutterDependence::Always
        } else if reads.is_stutter_closed(&followed) {
            StutterDependence::UpToStuttering
        } else {
            StutterDependence::ByCount
        })
    }
}

impl NeverClaim<'_> {
    /// Why its conditions may be more than questions about a state that always have an answer, if they may.
    pub(in crate::reduce) fn judges_states(&self, table: &AccessTable) -> Result<(), NotApplied> {
        for it in &self.claim.moves {
            if table.observation(&it.action).reads_anything {
                return Err(NotApplied::PropertyReadsEnabled(self.name().into()));
            }
            if table.failures_of(&it.action).any() {
                return Err(NotApplied::PropertyMayFail(self.name().into()));
            }
        }
        Ok(())
    }
}

impl ClaimSubset {
    fn is_violated(&self) -> bool {
        self.found.contains(&ClaimOutcome::Violated)
    }
}

impl ClaimOutcome {
    fn counts(&self, checks: &CheckSelection) -> bool {
        match self {
            ClaimOutcome::Violated => checks.claims,
            ClaimOutcome::Fault(FaultKind::Assertion, ..) => checks.assertions,
            ClaimOutcome::Fault(..) => checks.faults,
        }
    }
}

impl DeterminizedClaim {
    /// That of a claim, of which only what counts is noted; none if there are too many situations.
    fn of(
        never: &NeverClaim,
        letters: &BTreeSet<ClaimLetter>,
        checks: &CheckSelection,
    ) -> Option<DeterminizedClaim> {
        let start = never.claim.start;
        let ended = never.claim.is_end(start).then_some(ClaimOutcome::Violated);
        let found = ended.into_iter().filter(|it| it.counts(checks)).collect();
        let first = ClaimSubset { at: BTreeSet::from([start]), found };
        let mut numbers = BTreeMap::from([(first.clone(), 0)]);
        let mut all = DeterminizedClaim { situations: vec![first], next: Vec::new() };
        while let Some(situation) = all.situations.get(all.next.len()).cloned() {
            let mut next = Vec::with_capacity(letters.len());
            for letter in letters {
                let behind = behind(never, &situation, letter, checks);
                let number = match numbers.entry(behind) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(free) => {
                        all.situations.push(free.key().clone());
                        *free.insert(all.situations.len() - 1)
                    }
                };
                next.push(number);
            }
            all.next.push(next);
            if all.situations.len() > SITUATIONS_MAX {
                return None;
            }
        }
        Some(all)
    }

    /// What each situation leads to in any case; where runs may stop, what has been found.
    fn told(&self, may_stop: bool) -> Vec<InevitableOutcome> {
        let every: BTreeSet<&ClaimOutcome> =
            self.situations.iter().flat_map(|it| &it.found).collect();
        let mut told = vec![InevitableOutcome::Found(BTreeSet::new()); self.situations.len()];
        for finding in every {
            for at in self.that_come_to(finding, may_stop) {
                match &mut told[at] {
                    InevitableOutcome::Found(_) if *finding == ClaimOutcome::Violated => {
                        told[at] = InevitableOutcome::Violated
                    }
                    InevitableOutcome::Found(found) => {
                        found.insert(finding.clone());
                    }
                    InevitableOutcome::Violated => {}
                }
            }
        }
        told
    }

    /// The situations from which something is found whatever is read; where runs may stop, those in which it
    /// has been.
    fn that_come_to(&self, finding: &ClaimOutcome, may_stop: bool) -> Vec<usize> {
        let mut comes: Vec<bool> =
            self.situations.iter().map(|it| it.found.contains(finding)).collect();
        let mut grows = !may_stop;
        while grows {
            grows = false;
            for (at, next) in self.next.iter().enumerate() {
                if !comes[at] && next.iter().all(|&it| comes[it]) {
                    comes[at] = true;
                    grows = true;
                }
            }
        }
        (0..comes.len()).filter(|&at| comes[at]).collect()
    }

    /// Whether reading a letter twice comes to the same as once, as far as is told of situations: then those
    /// behind one and two are so much alike that all that can be read from there on comes to the same.
    fn is_stutter_closed<T: PartialEq>(&self, told: &[T]) -> bool {
        // Classes of situations that have to be alike, each by one of them (Hopcroft and Karp 1971).
        let mut class: Vec<usize> = (0..self.situations.len()).collect();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for next in &self.next {
            open.extend(next.iter().enumerate().map(|(letter, &it)| (it, self.next[it][letter])));
        }
        while let Some((one, other)) = open.pop() {
            let (one, other) = (root(&mut class, one), root(&mut class, other));
            if one == other {
                continue;
            }
            if told[one] != told[other] {
                return false;
            }
            class[one] = other;
            open.extend(self.next[one].iter().copied().zip(self.next[other].iter().copied()));
        }
        true
    }
}

/// The situation that stands for the class of another.
fn root(class: &mut [usize], mut at: usize) -> usize {
    while class[at] != at {
        class[at] = class[class[at]];
        at = class[at];
    }
    at
}

/// The situation behind a letter. Once the claim is violated it is of no more interest what it does.
fn behind(
    never: &NeverClaim,
    before: &ClaimSubset,
    letter: &ClaimLetter,
    checks: &CheckSelection,
) -> ClaimSubset {
    if before.is_violated() {
        return before.clone();
    }
    let claim: &Claim = never.claim;
    let mut after = ClaimSubset { at: BTreeSet::new(), found: before.found.clone() };
    for &at in &before.at {
        let ways = claim_paths_under(never.moves(), at, letter);
        let faults = ways.faults.into_iter().map(|(moves, fault)| {
            let last = moves.last().copied().unwrap_or_default();
            ClaimOutcome::Fault(fault.kind, last, fault.message)
        });
        let is_end = !ways.ends.is_empty() || ways.all.iter().any(|way| claim.is_end(way.to));
        let found = faults.chain(is_end.then_some(ClaimOutcome::Violated));
        after.found.extend(found.filter(|it| it.counts(checks)));
        after.at.extend(ways.all.into_iter().map(|way| way.to));
    }
    match after.is_violated() {
        true => {
            ClaimSubset { at: BTreeSet::new(), found: BTreeSet::from([ClaimOutcome::Violated]) }
        }
        false => after,
    }
}
