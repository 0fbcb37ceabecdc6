//! Stutter invariance of a claim.
//!
//! The verdict of a claim on a run depends on the sequence of its *letters*: the values of its conditions, state by
//! state. The claim is stutter invariant if its verdict is the same for two sequences that differ only in how often a
//! letter is repeated. That holds if and only if, after every prefix, reading a letter twice has the same result as
//! reading it once (Peled, Wilke and Wolper, "An algorithmic approach for checking closure properties of temporal
//! logic specifications and omega-regular languages", 1998; Michaud and Duret-Lutz, "Practical stutter-invariance
//! checks for omega-regular languages", 2015). The test works on the determinized automaton: the sets of locations
//! where the claim may be at once. Runs are infinite, since the system stutters where it cannot move. So an outcome
//! that every continuation leads to counts as found.

use super::NeverClaim;
use super::letters::ClaimLetter;
use crate::NotApplied;
use spillway_analysis::access::AccessTable;
use spillway_exec::interp::claim_paths_under;
use spillway_ir::{Claim, LocationId};
use spillway_model::{CheckSelection, FaultKind};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// The most letters that are read.
const LETTERS_MAX: usize = 1024;

/// The most sets of locations where a claim may be at once.
const SITUATIONS_MAX: usize = 2048;

/// How a stutter-invariant claim restricts the explored runs. Where the claim cannot move, the run is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StutterDependence {
    /// Every run is explored until it is violated.
    Always,
    /// Runs are dropped, but runs that differ only in stuttering are explored or dropped together.
    UpToStuttering,
    /// The explored prefix of a run may depend on how often a state is repeated.
    ByCount,
}

/// An outcome of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ClaimOutcome {
    /// The claim ends, which is a violation.
    Violated,
    /// A move fails.
    Fault(FaultKind, u32, String),
}

/// The locations of a claim after some letters, and the outcomes found.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ClaimSubset {
    at: BTreeSet<LocationId>,
    found: BTreeSet<ClaimOutcome>,
}

/// The determinized claim: subsets of locations, and the number of the next one by letter.
struct DeterminizedClaim {
    situations: Vec<ClaimSubset>,
    next: Vec<Vec<usize>>,
}

/// The outcome that a subset inevitably leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum InevitableOutcome {
    /// The end of the claim.
    Violated,
    /// These outcomes; others are possible.
    Found(BTreeSet<ClaimOutcome>),
}

impl NeverClaim<'_> {
    /// Returns the stutter dependence of the claim for some checks, or the reason why it may not be stutter
    /// invariant. The table is that of the claim's program. With `may_stop` a run may end without a checked
    /// violation.
    pub(crate) fn stutter_dependence(
        &self,
        table: &AccessTable,
        checks: &CheckSelection,
        may_stop: bool,
    ) -> Result<StutterDependence, NotApplied> {
        let name = || self.name().to_owned();
        if self.claim.moves.iter().any(|it| table.observation(&it.action).depends_on_anything()) {
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
    /// Checks that the conditions depend on the state alone and that their evaluation cannot fail. Returns the reason
    /// otherwise.
    pub(crate) fn judges_states(&self, table: &AccessTable) -> Result<(), NotApplied> {
        for it in &self.claim.moves {
            if table.observation(&it.action).depends_on_anything() {
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
    /// Determinizes a claim and records the checked outcomes. Returns `None` if there are too many subsets.
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

    /// Returns the inevitable outcomes of each subset. If runs may stop, these are the outcomes already found.
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

    /// Returns the subsets from which an outcome is found whatever is read. If runs may stop, returns those that have
    /// found it.
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

    /// Whether reading a letter twice has the same result as reading it once. Then all further letters keep both
    /// results equal in the classification `told`.
    fn is_stutter_closed<T: PartialEq>(&self, told: &[T]) -> bool {
        // The classes of subsets that must be equivalent, each by a representative (Hopcroft and Karp 1971).
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

/// Returns the representative of a class.
fn root(class: &mut [usize], mut at: usize) -> usize {
    while class[at] != at {
        class[at] = class[class[at]];
        at = class[at];
    }
    at
}

/// Returns the subset after a letter. Once the claim is violated, its moves are irrelevant.
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
