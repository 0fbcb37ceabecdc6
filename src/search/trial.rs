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

use super::{Checks, Control};
use crate::exec::{Expansion, Model, Obligations};
use spill::Result;
use walk::Walk;

/// States of the whole space that are walked, if they are not too wide.
const STATES: usize = 10_000;

/// Bytes of these.
const BYTES: usize = 4 << 20;

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

/// The first levels of a space.
pub struct FirstLevels {
    width: usize,
    /// The states, as they were met.
    states: Vec<u8>,
    /// How many there are up to the end of each level.
    ends: Vec<usize>,
    /// Whether there are no others.
    pub is_all: bool,
    /// Whether something that is looked for is violated in one of them.
    pub is_violated: bool,
}

impl FirstLevels {
    /// Those of a model that is searched for some checks. It is an error if the model fails. Once told to
    /// stop it means nothing.
    pub fn of(model: &dyn Model, checks: &Checks, control: &Control) -> Result<FirstLevels> {
        let width = model.width();
        let wanted = STATES.min(BYTES / width).max(1);
        let mut walk = Walk::new(model, BEYOND * wanted, control);
        while walk.states() < wanted && walk.next_level()? {}
        let is_violated = checks.any_selected(model, walk.findings());
        let is_all = walk.is_at_end();
        let (states, ends) = walk.into_levels();
        Ok(FirstLevels { width, states, ends, is_all, is_violated })
    }

    /// How many states they have.
    pub fn states(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// Whether `reduced` puts off steps of more than a state among the first ones and some of all: else
    /// there is nothing to be saved. It is an error if the model fails. Once told to stop it means nothing.
    pub fn puts_off(&self, reduced: &dyn Model, control: &Control) -> Result<bool> {
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
        let found =
            Expansion::collect(self.width, &mut successors, |out| match reduced.postpones() {
                None => reduced.expand(&asked, out),
                Some(model) => {
                    let nobody = &mut |_, _: &[u8]| Ok(());
                    let _ = Obligations::collect(nobody, |owed| {
                        model.expand_some(&asked, out, owed);
                        Ok(())
                    });
                }
            })?;
        Ok(found.put_off >= PUT_OFF_MIN)
    }

    /// Whether they are too few to tell: the next level is too large.
    pub fn are_few(&self) -> bool {
        self.states() < STATES_MIN
    }

    /// Which share of the states is left if steps are put off as `reduced` does. It is an error if the
    /// model fails. Once told to stop it means nothing.
    pub fn share_left(&self, reduced: &dyn Model, control: &Control) -> Result<f64> {
        self.shares_left(reduced, control).map(|[late, _]| late)
    }

    /// The same of all of them, not of the later half alone: what is left of the space, if they are all there are.
    pub fn share_left_of_all(&self, reduced: &dyn Model, control: &Control) -> Result<f64> {
        self.shares_left(reduced, control).map(|[_, all]| all)
    }

    fn shares_left(&self, reduced: &dyn Model, control: &Control) -> Result<[f64; 2]> {
        let mut walk = Walk::new(reduced, BEYOND * self.states(), control);
        let mut hopeless = HOPELESS.into_iter().peekable();
        let mut left = Vec::new();
        for &states in &self.ends {
            walk.next_level()?;
            left.push(walk.states());
            let Some(&(after, share)) = hopeless.peek().filter(|(after, _)| states >= *after)
            else {
                continue;
            };
            let [late, all] = self.shares(&left);
            let is_clear = after == HOPELESS[0].0 && late.max(all) <= CLEAR;
            if is_clear || late.min(all) >= share {
                return Ok([late, all]);
            }
            hopeless.next();
        }
        Ok(self.shares(&left))
    }

    /// What is left of the later half of the states, and of all, up to the level that `left` goes to.
    fn shares(&self, left: &[usize]) -> [f64; 2] {
        let last = left.len() - 1;
        let half = self.ends.iter().position(|&end| 2 * end >= self.ends[last]);
        let half = half.filter(|&half| half < last);
        let before = half.map_or([0, 0], |half| [left[half], self.ends[half]]);
        let share = |[part, whole]: [usize; 2]| {
            (left[last] - part) as f64 / (self.ends[last] - whole).max(1) as f64
        };
        [share(before), share([0, 0])]
    }
}
