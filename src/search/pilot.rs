//! What putting steps off would save, as the first states tell.
//!
//! The first levels of the whole space and of the reduced one are walked in memory, and the states of
//! the same levels compared. At the start of a space little differs, and what is put off there comes
//! later, so the last levels are judged: those with the later half of the states. That is close to
//! what a whole search saves (`docs/reductions.md`). A walk ends early where it is clear what comes of it,
//! and one of a space in which nothing is put off does not begin.
//!
//! Nothing here depends on time, chance, threads or the order of keys: the same model gets the same
//! answer.

mod walk;

use super::{CheckSelection, SearchControl};
use crate::model::{ObligationSink, StateSpace, SuccessorSink};
use crate::search::model_failure;
use spill::Result;
use walk::{PilotWalk, WalkedLevels};

/// How much of the whole space is walked.
struct PilotSize {
    /// States, if they are not too wide.
    states: usize,
    /// Bytes of these.
    bytes: usize,
}

/// What is walked first.
const FEW: PilotSize = PilotSize { states: 10_000, bytes: 4 << 20 };

/// The same where from level to level more is left.
const MORE: PilotSize = PilotSize { states: 40_000, bytes: 16 << 20 };

/// If of a level so many times as much is left as of the one before, as much more may be left of the next: what is put off at
/// the start may be all that there is to put off.
const RISING: f64 = 1.25;

/// States of the last level walked, as a multiple of those that are wanted: with more it is left out.
const BEYOND: usize = 2;

/// With fewer states in whole levels nothing is said.
const STATES_MIN: usize = 500;

/// So many of the first states, and so many spread over all, are asked whether steps of them are put off.
const ASKED: usize = 64;

/// Of so many of these they are, if there is anything to be saved.
const PUT_OFF_MIN: u64 = 2;

/// Where a walk may end: after so many states of the whole space, if at least so much is left of them, and
/// of the last of them.
const HOPELESS: [(usize, f64); 2] = [(1000, 0.998), (2500, 0.98)];

/// The same if no more than this is left, after the first of these numbers of states.
const CLEAR: f64 = 0.5;

/// With more work than so many times that of expanding all, choosing is not going to pay. Later more choices have
/// been made before, so that a little more is no reason.
const DEAR: f64 = 4.0;

/// If no more than this is left it is used even where choosing takes longer than what it saves: memory and disk are
/// saved, too.
const LITTLE: f64 = 0.1;

/// What a transition takes, as a multiple of what it takes to look at a member of a set: 150 ns and 25 ns, about.
const TRANSITION: f64 = 6.0;

/// The first levels of a space.
pub struct FirstLevels {
    width: usize,
    /// The states, as they were met.
    states: Vec<u8>,
    /// How many there are up to the end of each level.
    ends: Vec<usize>,
    /// How many transitions there are to these.
    transitions: Vec<u64>,
    /// Whether more were asked for, to see what becomes of the first.
    are_more: bool,
    /// Whether there are no others.
    pub is_all: bool,
    /// Whether something that is looked for is violated in one of them.
    pub is_violated: bool,
}

impl FirstLevels {
    /// Those of a model that is searched for some checks. It is an error if the model fails. Once told to
    /// stop it means nothing.
    pub fn of(
        model: &dyn StateSpace,
        checks: &CheckSelection,
        control: &SearchControl,
    ) -> Result<FirstLevels> {
        FirstLevels::up_to(FEW, model, checks, control)
    }

    /// The same, but more of them.
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

    /// How many states they have.
    pub fn states(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// How many of the states of the levels with the later half are such, as a share.
    pub fn share(&self, is_such: impl Fn(&[u8]) -> bool) -> f64 {
        let all = self.states();
        let late = self.ends.iter().copied().rfind(|&end| 2 * end < all).unwrap_or_default();
        let states = self.states[late * self.width..].chunks_exact(self.width).take(all - late);
        states.filter(|state| is_such(state)).count() as f64 / (all - late).max(1) as f64
    }

    /// Whether `reduced` puts off steps of more than a state among the first ones and some of all: else
    /// there is nothing to be saved. It is an error if the model fails. Once told to stop it means nothing.
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
        let mut successors = Vec::new();
        let found = SuccessorSink::collect(self.width, &mut successors, |out| {
            match reduced.capabilities().postponing {
                None => reduced.expand(&asked, out),
                Some(model) => {
                    let ignore = &mut |_, _: &[u8]| {};
                    model.expand_reduced(&asked, out, &mut ObligationSink::new(ignore));
                }
            }
        });
        let found = found.map_err(model_failure)?;
        Ok(found.counters.partially_expanded >= PUT_OFF_MIN)
    }

    /// Whether they are too few to tell: the next level is too large.
    pub fn are_few(&self) -> bool {
        self.states() < STATES_MIN
    }

    /// What is left of them in a model that is reduced; `looked` tells how many members of sets have been looked at to
    /// choose steps. It is an error if the model fails. Once told to stop it means nothing.
    pub fn remaining_in(
        &self,
        reduced: &dyn StateSpace,
        looked: impl Fn() -> u64,
        control: &SearchControl,
    ) -> Result<RemainingShare> {
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
                return Ok(left);
            }
            hopeless.next();
        }
        Ok(self.remaining_share(&walked))
    }

    /// What is left up to the level that `walked` goes to.
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

/// What is left of the first states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemainingShare {
    /// The share of the states of the levels with the later half of the states: about what is left of all the
    /// space.
    pub late: f64,
    /// The share of all the first states: what is left of the space, if they are all there are.
    pub all: f64,
    /// What expanding those of these levels takes of what expanding all takes, about, choosing included.
    pub work: f64,
    /// Whether far more is left of the last level than of the one before: then more levels should be asked.
    pub rises: bool,
}

impl RemainingShare {
    /// Whether choosing takes far longer than what it saves, unless it saves nearly all.
    pub fn is_expensive(self) -> bool {
        self.work > DEAR && self.late > LITTLE
    }

    /// Whether it takes longer than what it saves, unless it saves nearly all.
    pub fn is_slow(self) -> bool {
        self.work > 1.0 && self.late > LITTLE
    }
}

/// What a walk has come to.
#[derive(Clone, Copy, Debug, Default)]
struct WalkStats {
    states: usize,
    transitions: u64,
    /// Members of sets that were looked at to choose steps.
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

    /// What it took, in members looked at.
    fn work(self) -> f64 {
        TRANSITION * self.transitions as f64 + self.looked as f64
    }
}
