//! The prediction of the saving by partial order, from the first states.
//!
//! A pilot search explores the first levels of the whole space and of the reduced one in memory, and compares their
//! states. At the start the spaces differ little, since transitions that are postponed there follow soon. So the
//! prediction uses the last levels, those with the later half of the states. It is close to the saving of a whole
//! search (`docs/reductions.md`). A pilot search ends early if its result is clear. It does not start if nothing is
//! postponed.
//!
//! The result does not depend on time, chance, threads or the order of keys: the same model gets the same result.

mod chains;
mod walk;

pub use chains::{ChainPrediction, ChainTrial};

use super::{CheckSelection, SearchControl};
use crate::model_failure;
use spill::Result;
use spillway_model::{Capabilities, Counters, ObligationSink, StateSpace, SuccessorSink};
use walk::{PilotWalk, WalkedLevels};

/// The limits of the pilot search of the whole space.
struct PilotSize {
    /// The number of states, if they are not too wide.
    states: usize,
    /// Their bytes.
    bytes: usize,
}

/// The limits of the first pilot search.
const FEW: PilotSize = PilotSize { states: 10_000, bytes: 4 << 20 };

/// The limits if the share of remaining states rises from level to level.
const MORE: PilotSize = PilotSize { states: 40_000, bytes: 16 << 20 };

/// The factor between the shares of two levels from which the share counts as rising: the transitions postponed at the
/// start may be all that can be postponed.
const RISING: f64 = 1.25;

/// The limit on the states of the reduced space, as a multiple of the states of the whole space.
const BEYOND: usize = 2;

/// The least number of states of complete levels for a prediction.
const STATES_MIN: usize = 500;

/// The number of states, both of the first ones and spread over all, that are tested for postponed transitions.
const ASKED: usize = 64;

/// The number of these states with postponed transitions from which a saving is possible.
const PUT_OFF_MIN: u64 = 2;

/// Pairs of a number of states of the whole space and a share. If at least this share remains when that number is
/// reached, both of all states and of the last levels, the pilot search ends.
const HOPELESS: [(usize, f64); 2] = [(1000, 0.998), (2500, 0.98)];

/// The share up to which the pilot search ends at the first of these numbers of states, if choosing costs no more than
/// it saves and the share does not rise.
const CLEAR: f64 = 0.5;

/// The work, relative to expanding all transitions, from which choosing does not pay. Later choices are partly reused,
/// so a slightly greater work is no reason.
const DEAR: f64 = 4.0;

/// The share of remaining states up to which the reduction is used even if choosing takes longer than it saves, since
/// memory and disk are saved, too.
pub const LITTLE: f64 = 0.1;

/// The number of transitions per state up to which most states have a single one.
const NARROW: f64 = 1.25;

/// The cost of a transition, in visits of a member of a set: about 150 ns and 25 ns.
const TRANSITION: f64 = 6.0;

/// The first levels of a state space.
pub struct FirstLevels {
    width: usize,
    /// The states, in order of discovery.
    states: Vec<u8>,
    /// The number of states up to the end of each level.
    ends: Vec<usize>,
    /// The number of transitions to these states.
    transitions: Vec<u64>,
    /// Whether these are the levels of the larger pilot search.
    are_more: bool,
    /// Whether there are no other states.
    pub is_all: bool,
    /// Whether a checked property is violated in one of the states.
    pub is_violated: bool,
}

impl FirstLevels {
    /// Explores the first levels of a model for some checks. Returns an error if the model fails. The result is
    /// meaningless after a stop.
    pub fn of(
        model: &dyn StateSpace,
        checks: &CheckSelection,
        control: &SearchControl,
    ) -> Result<FirstLevels> {
        FirstLevels::up_to(FEW, model, checks, control)
    }

    /// Explores more levels.
    pub fn more(
        model: &dyn StateSpace,
        checks: &CheckSelection,
        control: &SearchControl,
    ) -> Result<FirstLevels> {
        let more = FirstLevels::up_to(MORE, model, checks, control)?;
        Ok(FirstLevels { are_more: true, ..more })
    }

    fn up_to(
        size: PilotSize,
        model: &dyn StateSpace,
        checks: &CheckSelection,
        control: &SearchControl,
    ) -> Result<FirstLevels> {
        let width = model.width();
        let wanted = size.states.min(size.bytes / width).max(1);
        let mut walk = PilotWalk::new(model, BEYOND * wanted, control);
        while walk.states() < wanted && walk.next_level()? {}
        let is_violated = checks.any_selected(model, walk.findings());
        let is_all = walk.is_at_end();
        let WalkedLevels { states, ends, transitions } = walk.into_levels();
        Ok(FirstLevels { width, states, ends, transitions, are_more: false, is_all, is_violated })
    }

    /// Returns the number of their states.
    pub fn states(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Returns at most `most` states, spread over the levels with the later half of the states.
    pub fn late_sample(&self, most: usize) -> Vec<u8> {
        let states = &self.states[..self.states() * self.width];
        spread_sample(&states[self.before_late() * self.width..], self.width, most)
    }

    /// Returns the number of states before the levels with the later half of them.
    fn before_late(&self) -> usize {
        let all = self.states();
        self.ends.iter().copied().rfind(|&end| 2 * end < all).unwrap_or_default()
    }

    /// Returns the share of states that satisfy a predicate, among the levels with the later half of the states.
    pub fn share(&self, is_such: impl Fn(&[u8]) -> bool) -> f64 {
        let (all, late) = (self.states(), self.before_late());
        let states = self.states[late * self.width..].chunks_exact(self.width).take(all - late);
        states.filter(|state| is_such(state)).count() as f64 / (all - late).max(1) as f64
    }

    /// Returns whether `reduced` postpones transitions of several states among the first ones and a sample of all.
    /// Otherwise nothing can be saved. Returns an error if the model fails. The result is meaningless after a stop.
    pub fn postpones_enough(
        &self,
        reduced: &dyn StateSpace,
        control: &SearchControl,
    ) -> Result<bool> {
        let _heeding = control.heed();
        let first = ASKED.min(self.states());
        let others = self.states() - first;
        let spread = (0..ASKED.min(others)).map(|number| first + number * others / ASKED);
        let asked = (0..first).chain(spread);
        let asked: Vec<u8> = asked
            .flat_map(|number| &self.states[number * self.width..][..self.width])
            .copied()
            .collect();
        Ok(expand_all(reduced, &asked)?.partially_expanded >= PUT_OFF_MIN)
    }

    /// Returns whether there are too few states for a prediction, since the next level is too large.
    pub fn are_few(&self) -> bool {
        self.states() < STATES_MIN
    }

    /// Returns whether most states of the last levels have a single transition.
    pub fn are_narrow(&self) -> bool {
        let half = self.ends.iter().position(|&end| 2 * end >= self.states()).unwrap_or_default();
        let transitions = |at: usize| self.transitions.get(at).copied().unwrap_or_default();
        let late = transitions(self.ends.len().saturating_sub(1)) - transitions(half);
        let states = self.states() - self.ends.get(half).copied().unwrap_or_default();
        states > 0 && late as f64 <= NARROW * states as f64
    }

    /// Returns the share of states that remains in a reduced model. `looked` returns the number of members of sets
    /// visited to choose transitions. Returns an error if the model fails. The result is meaningless after a stop.
    pub fn remaining_in(
        &self,
        reduced: &dyn StateSpace,
        looked: impl Fn() -> u64,
        control: &SearchControl,
    ) -> Result<RemainingShare> {
        Ok(self.compare(reduced, looked, control)?.remaining)
    }

    /// Explores the first levels of a reduced model, and compares them with these. See
    /// [`remaining_in`](Self::remaining_in).
    pub fn compare(
        &self,
        reduced: &dyn StateSpace,
        looked: impl Fn() -> u64,
        control: &SearchControl,
    ) -> Result<ReducedLevels> {
        let before = looked();
        let mut walk = PilotWalk::new(reduced, BEYOND * self.states(), control);
        let mut hopeless = HOPELESS.into_iter().peekable();
        let mut walked = Vec::new();
        for &states in &self.ends {
            walk.next_level()?;
            let (states_left, transitions) = (walk.states(), walk.transitions());
            walked.push(WalkStats { states: states_left, transitions, looked: looked() - before });
            let Some(&(after, share)) = hopeless.peek().filter(|(after, _)| states >= *after)
            else {
                continue;
            };
            let left = self.remaining_share(&walked);
            let is_clear = after == HOPELESS[0].0
                && left.late.max(left.all) <= CLEAR
                && !(left.rises || self.are_more);
            let is_dear = after == HOPELESS[1].0 && left.is_expensive();
            let is_hopeless = left.late.min(left.all) >= share || is_dear;
            if is_clear && left.work <= 1.0 || is_hopeless {
                break;
            }
            hopeless.next();
        }
        let remaining = self.remaining_share(&walked);
        let early = walked.iter().map(|it| it.states).rfind(|&it| 2 * it < walk.states());
        let early = early.unwrap_or_default();
        let width = reduced.width();
        let WalkedLevels { mut states, ends, .. } = walk.into_levels();
        states.truncate(ends.last().copied().unwrap_or_default() * width);
        Ok(ReducedLevels { remaining, width, states, early })
    }

    /// Returns the remaining share up to the last level of `walked`.
    fn remaining_share(&self, walked: &[WalkStats]) -> RemainingShare {
        let last = walked.len() - 1;
        let half = self.ends.iter().position(|&end| 2 * end >= self.ends[last]);
        let half = half.filter(|&half| half < last);
        let whole = |at: usize| WalkStats {
            states: self.ends[at],
            transitions: self.transitions[at],
            looked: 0,
        };
        let begin = half.map_or([WalkStats::default(); 2], |half| [walked[half], whole(half)]);
        let [late, all] = [begin, Default::default()]
            .map(|[left, of]: [WalkStats; 2]| [walked[last].since(left), whole(last).since(of)]);
        let share = |[left, of]: [WalkStats; 2]| left.states as f64 / of.states.max(1) as f64;
        let work = late[0].work() / late[1].work().max(1.0);
        let level = |at: usize| [walked[at].since(walked[at - 1]), whole(at).since(whole(at - 1))];
        let rises = last > 1 && share(level(last)) > RISING * share(level(last - 1));
        RemainingShare { late: share(late), all: share(all), work, rises }
    }
}

/// The share of the first states that remains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemainingShare {
    /// The share for the levels with the later half of the states, which predicts that of the whole space.
    pub late: f64,
    /// The share for all the first states. It is exact if there are no others.
    pub all: f64,
    /// The approximate work of expanding these levels, choosing included, relative to expanding all transitions.
    pub work: f64,
    /// Whether the share of the last level is much greater than that of the level before. Then more levels are needed.
    pub rises: bool,
}

impl RemainingShare {
    /// Returns whether choosing takes much longer than it saves, unless it saves nearly all.
    pub fn is_expensive(self) -> bool {
        self.work > DEAR && self.late > LITTLE
    }

    /// Returns whether choosing takes longer than it saves, unless it saves nearly all.
    pub fn is_slow(self) -> bool {
        self.work > 1.0 && self.late > LITTLE
    }
}

/// The first levels of a reduced model.
pub struct ReducedLevels {
    /// The share of states that remains.
    pub remaining: RemainingShare,
    width: usize,
    /// The states, in order of discovery.
    states: Vec<u8>,
    /// The number of states before the levels with the later half of them.
    early: usize,
}

impl ReducedLevels {
    /// Returns at most `most` states, spread over the levels with the later half of the states.
    pub fn late_sample(&self, most: usize) -> Vec<u8> {
        spread_sample(&self.states[self.early * self.width..], self.width, most)
    }
}

/// Returns at most `most` of some states, spread over all of them.
fn spread_sample(states: &[u8], width: usize, most: usize) -> Vec<u8> {
    let all = states.len() / width;
    let taken = most.min(all);
    let numbers = (0..taken).map(|at| at * all / taken);
    numbers.flat_map(|it| &states[it * width..][..width]).copied().collect()
}

/// Expands states once, by the transitions that are not postponed or omitted. Returns an error if the model fails.
fn expand_all(model: &dyn StateSpace, states: &[u8]) -> Result<Counters> {
    let mut successors = Vec::new();
    let found = SuccessorSink::collect(model.width(), &mut successors, |out| {
        let Capabilities { postponing, cycle_proviso, .. } = model.capabilities();
        match (postponing, cycle_proviso) {
            (Some(model), _) => {
                let ignore = &mut |_, _: &[u8]| {};
                model.expand_reduced(states, out, &mut ObligationSink::new(ignore));
            }
            (None, Some(model)) => model.expand_chosen(states, out),
            (None, None) => model.expand(states, out),
        }
    });
    Ok(found.map_err(model_failure)?.counters)
}

/// The counters of a pilot search.
#[derive(Clone, Copy, Debug, Default)]
struct WalkStats {
    states: usize,
    transitions: u64,
    /// The number of members of sets visited to choose transitions.
    looked: u64,
}

impl WalkStats {
    fn since(self, before: WalkStats) -> WalkStats {
        WalkStats {
            states: self.states - before.states,
            transitions: self.transitions - before.transitions,
            looked: self.looked - before.looked,
        }
    }

    /// Returns the work, in visited members.
    fn work(self) -> f64 {
        TRANSITION * self.transitions as f64 + self.looked as f64
    }
}
