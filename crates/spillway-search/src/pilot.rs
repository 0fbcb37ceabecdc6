//! The prediction of the saving by a reduction, from samples of the states.
//!
//! A pilot search explores levels of the whole space and of the reduced one in memory, and compares their states. It
//! starts in the initial states, or in [states of all depths](deep). At the start the spaces differ little, since
//! transitions that are postponed there follow soon. So the prediction uses the last levels, those with the later half
//! of the states. It is close to the saving of a whole search (`docs/reductions.md`). A pilot search ends early if its
//! result is clear. It does not start if nothing is postponed.
//!
//! A reduced space from the initial states is explored further, with the work that the whole space took. If that
//! completes it, its size is known.
//!
//! The result does not depend on time, threads or the order of keys: the same model gets the same result. The only
//! random numbers have a fixed seed.

mod chains;
mod deep;
mod walk;
mod work;

pub use chains::{ChainPrediction, ChainTrial};
pub use work::WalkCounters;

use super::{CheckSelection, SearchControl};
use crate::model_failure;
use deep::deep_states;
use spill::Result;
use spillway_model::{Capabilities, Counters, ObligationSink, StateSpace, SuccessorSink};
use walk::{PilotWalk, WalkStart, WalkedLevels};
use work::before_later_half;

/// The limits of the pilot search of the whole space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PilotSize {
    /// The number of states, if they are not too wide.
    states: usize,
    /// Their bytes.
    bytes: usize,
}

impl PilotSize {
    /// The limits of the first pilot search.
    pub const FIRST: PilotSize = PilotSize { states: 4_000, bytes: 2 << 20 };

    /// The limits of the largest pilot search.
    pub const LARGEST: PilotSize = PilotSize { states: 32_000, bytes: 16 << 20 };

    /// Returns twice the size, unless it is the largest.
    pub fn doubled(self) -> Option<PilotSize> {
        let PilotSize { states, bytes } = self;
        (self != PilotSize::LARGEST).then_some(PilotSize { states: 2 * states, bytes: 2 * bytes })
    }
}

/// The states in which a pilot search starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PilotStart<'s> {
    /// The initial states.
    Initial,
    /// States of all depths.
    Deep,
    /// These states, one after another.
    Given(&'s [u8]),
}

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
const EXPENSIVE: f64 = 4.0;

/// The share of remaining states up to which the reduction is used even if choosing takes longer than it saves, since
/// memory and disk are saved, too.
pub const LITTLE: f64 = 0.1;

/// The number of transitions per state up to which most states have a single one.
const NARROW: f64 = 1.25;

/// The number of members of sets that a model visited so far to choose transitions. `None` if it takes all.
pub type ChoiceWork<'w> = Option<&'w dyn Fn() -> u64>;

/// Levels of a state space: the first ones, or those after states of all depths.
pub struct PilotLevels {
    width: usize,
    /// The states of the first level, if they are not the initial ones.
    starts: Option<Vec<u8>>,
    /// The states, in order of discovery.
    states: Vec<u8>,
    /// The counters up to the end of each level.
    ends: Vec<WalkCounters>,
    size: PilotSize,
    /// Whether there are no other states.
    pub is_all: bool,
    /// Whether a checked property is violated in one of the states.
    pub is_violated: bool,
}

impl PilotLevels {
    /// Explores the first levels of a model for some checks. Returns an error if the model fails. The result is
    /// meaningless after a stop.
    pub fn of(
        model: &dyn StateSpace,
        checks: &CheckSelection,
        control: &SearchControl,
    ) -> Result<PilotLevels> {
        PilotLevels::within(PilotStart::Initial, PilotSize::FIRST, model, checks, control)
    }

    /// Explores levels within some limits.
    pub fn within(
        start: PilotStart<'_>,
        size: PilotSize,
        model: &dyn StateSpace,
        checks: &CheckSelection,
        control: &SearchControl,
    ) -> Result<PilotLevels> {
        let starts = match start {
            PilotStart::Initial => None,
            PilotStart::Deep => Some(deep_states(model, control)?),
            PilotStart::Given(states) => Some(states.to_vec()),
        };
        let width = model.width();
        let wanted = size.states.min(size.bytes / width).max(1);
        let start = WalkStart { model, states: starts.as_deref(), looked: None };
        let mut walk = PilotWalk::new(start, BEYOND * wanted, control);
        while walk.states() < wanted && walk.next_level()? {}
        let is_violated = checks.any_selected(model, walk.findings());
        let is_all = walk.is_at_end();
        let WalkedLevels { states, ends } = walk.into_levels();
        Ok(PilotLevels { width, starts, states, ends, size, is_all, is_violated })
    }

    /// Returns these levels and those after states of all depths, if there are enough of the latter. A model that fails in
    /// deeper states has these levels only. The result is meaningless after a stop.
    pub fn with_deep(
        self,
        model: &dyn StateSpace,
        checks: &CheckSelection,
        control: &SearchControl,
    ) -> Vec<PilotLevels> {
        let deep = PilotLevels::within(PilotStart::Deep, self.size, model, checks, control);
        let deep = deep.ok().filter(|it| !it.are_few());
        [self].into_iter().chain(deep).collect()
    }

    /// Returns the number of their states.
    pub fn states(&self) -> usize {
        self.counters().states
    }

    /// Returns the counters that levels of this size would have if these continued in the same way.
    pub fn counters_for(&self, size: PilotSize) -> WalkCounters {
        self.counters().times(size.states / self.size.states)
    }

    /// Returns their counters.
    pub fn counters(&self) -> WalkCounters {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Returns the work for each state of the levels with the later half of the states.
    pub fn late_work(&self) -> f64 {
        let late = self.counters().since(self.early());
        late.work() / late.states.max(1) as f64
    }

    /// Returns the counters before the levels with the later half of the states.
    fn early(&self) -> WalkCounters {
        before_later_half(&self.ends)
    }

    /// Returns the states of the levels with the later half of the states.
    fn late_states(&self) -> &[u8] {
        &self.states[self.early().states * self.width..self.states() * self.width]
    }

    /// Returns at most `most` states, spread over the levels with the later half of the states.
    pub fn late_sample(&self, most: usize) -> Vec<u8> {
        spread_sample(self.late_states(), self.width, most)
    }

    /// Returns the share of states that satisfy a predicate, among the levels with the later half of the states. If none
    /// does, the share is that of one state: a share of 0 would outweigh all other samples.
    pub fn share(&self, is_such: impl Fn(&[u8]) -> bool) -> f64 {
        let states = self.late_states().chunks_exact(self.width);
        let all = states.len().max(1) as f64;
        states.filter(|state| is_such(state)).count().max(1) as f64 / all
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
        let half = self.ends.iter().find(|end| 2 * end.states >= self.states());
        let late = self.counters().since(half.copied().unwrap_or_default());
        late.states > 0 && late.transitions as f64 <= NARROW * late.states as f64
    }

    /// Returns the share of states that remains in a reduced model. Returns an error if the model fails. The result is
    /// meaningless after a stop.
    pub fn remaining_in(
        &self,
        reduced: &dyn StateSpace,
        looked: ChoiceWork<'_>,
        control: &SearchControl,
    ) -> Result<RemainingShare> {
        Ok(self.compare(reduced, looked, control)?.remaining)
    }

    /// Explores the same levels of a reduced model, and compares them with these. See
    /// [`remaining_in`](Self::remaining_in).
    pub fn compare(
        &self,
        reduced: &dyn StateSpace,
        looked: ChoiceWork<'_>,
        control: &SearchControl,
    ) -> Result<ReducedLevels> {
        let start = WalkStart { model: reduced, states: self.starts.as_deref(), looked };
        let mut walk = PilotWalk::new(start, BEYOND * self.states(), control);
        let mut hopeless = HOPELESS.into_iter().peekable();
        let (mut walked, mut is_hopeless) = (Vec::new(), false);
        for end in &self.ends {
            walk.next_level()?;
            walked.push(walk.counters());
            let Some(&(after, share)) = hopeless.peek().filter(|(after, _)| end.states >= *after)
            else {
                continue;
            };
            let left = self.remaining_share(&walked);
            let is_clear = after == HOPELESS[0].0
                && left.late.max(left.all) <= CLEAR
                && !left.rises
                && self.size == PilotSize::FIRST;
            let is_dear = after == HOPELESS[1].0 && left.is_expensive();
            is_hopeless = left.late.min(left.all) >= share || is_dear;
            if is_clear && left.work <= 1.0 || is_hopeless {
                break;
            }
            hopeless.next();
        }
        let remaining = self.remaining_share(&walked);
        if self.starts.is_none() && !is_hopeless {
            self.race(&mut walk)?;
        }
        let complete = self.complete(&walk);
        let width = reduced.width();
        let WalkedLevels { mut states, ends } = walk.into_levels();
        let early = before_later_half(&ends).states;
        states.truncate(ends.last().map_or(0, |end| end.states) * width);
        Ok(ReducedLevels { remaining, complete, width, states, early })
    }

    /// Explores a reduced model from the initial states with the work of these levels. Returns its counters if that
    /// completes it. The result is meaningless after a stop.
    pub fn completes(
        &self,
        reduced: &dyn StateSpace,
        looked: ChoiceWork<'_>,
        control: &SearchControl,
    ) -> Result<Option<WalkCounters>> {
        let start = WalkStart { model: reduced, states: None, looked };
        let mut walk = PilotWalk::new(start, BEYOND * self.states(), control);
        self.race(&mut walk)?;
        Ok(self.complete(&walk))
    }

    /// Continues a search up to its end, or up to the work of these levels.
    fn race(&self, walk: &mut PilotWalk<'_>) -> Result<()> {
        let most = self.counters().work();
        while walk.counters().work() < most && walk.next_level()? {}
        Ok(())
    }

    /// Returns the counters of a search from the initial states, if it is at its end.
    fn complete(&self, walk: &PilotWalk<'_>) -> Option<WalkCounters> {
        (self.starts.is_none() && walk.is_at_end()).then(|| walk.counters())
    }

    /// Returns the remaining share up to the last level of `walked`.
    fn remaining_share(&self, walked: &[WalkCounters]) -> RemainingShare {
        // A search that was stopped may have no level.
        let Some(last) = walked.len().checked_sub(1) else { return RemainingShare::ALL };
        let half = self.ends.iter().position(|end| 2 * end.states >= self.ends[last].states);
        let half = half.filter(|&half| half < last);
        let begin =
            half.map_or([WalkCounters::default(); 2], |half| [walked[half], self.ends[half]]);
        let [late, all] = [begin, Default::default()]
            .map(|[left, of]| [walked[last].since(left), self.ends[last].since(of)]);
        // A share of 0 would outweigh all other samples.
        let share =
            |[left, of]: [WalkCounters; 2]| left.states.max(1) as f64 / of.states.max(1) as f64;
        let work = late[0].work().max(1.0) / late[1].work().max(1.0);
        let level =
            |at: usize| [walked[at].since(walked[at - 1]), self.ends[at].since(self.ends[at - 1])];
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
    /// Nothing is saved.
    const ALL: RemainingShare = RemainingShare { late: 1.0, all: 1.0, work: 1.0, rises: false };

    /// Returns whether choosing takes much longer than it saves, unless it saves nearly all.
    pub fn is_expensive(self) -> bool {
        self.work > EXPENSIVE && self.late > LITTLE
    }

    /// Returns whether choosing takes longer than it saves, unless it saves nearly all.
    pub fn is_slow(self) -> bool {
        self.work > 1.0 && self.late > LITTLE
    }
}

/// Levels of a reduced model.
pub struct ReducedLevels {
    /// The share of states that remains.
    pub remaining: RemainingShare,
    /// The counters of the whole reduced space, if it was explored.
    pub complete: Option<WalkCounters>,
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
