//! Runs that go on for ever, in the model below the one in which they were found.

use super::lifted_position::LiftedPosition;
use crate::model::StateSpace;
use crate::search::lasso::Lasso;
use spill::{Error, Result};
use std::collections::HashMap;

/// With more states it is not looked on for a state that comes again.
const STATES_MAX: usize = 1000;

/// A run of the model that explains the one in which it was found.
///
/// Where one state is searched for several that are alike, the run below need not be where the loop began when the loop
/// comes to its end. It goes round again then, and as there are finitely many states that are alike, it comes to one of those
/// in which a round began; but if they are many it may take long.
pub struct ConcreteLasso {
    /// Its states, an initial one first; the last ends the loop.
    pub states: Vec<Vec<u8>>,
    /// Where the loop begins.
    pub back: usize,
    /// Whether the last is where the loop began, and not only alike.
    pub closes: bool,
}

impl ConcreteLasso {
    /// That of a run through a model.
    pub fn of(model: &dyn StateSpace, lasso: &Lasso) -> Result<ConcreteLasso> {
        let lost = || Error::Source { reason: "no run of the model is like the one found".into() };
        let Lasso { states: found, back, .. } = lasso;
        let (_, mut at) = LiftedPosition::start(model, &found[0], &|| false)?.ok_or_else(lost)?;
        let (mut states, mut choices) = (vec![at.state.clone()], Vec::new());
        let mut go = |target: &[u8], states: &mut Vec<Vec<u8>>| {
            choices.clear();
            match at.advance_to(target, &mut choices)? {
                true => states.push(at.state.clone()),
                false => return Err(lost()),
            }
            Ok(())
        };
        found[1..].iter().try_for_each(|target| go(target, &mut states))?;
        let mut begun = HashMap::from([(states[*back].clone(), *back)]);
        loop {
            go(&found[*back], &mut states)?;
            let end = states.len() - 1;
            if let Some(&back) = begun.get(&states[end]) {
                return Ok(ConcreteLasso { states, back, closes: true });
            }
            if end + (found.len() - back) > STATES_MAX {
                states.truncate(found.len() + 1);
                return Ok(ConcreteLasso { states, back: *back, closes: false });
            }
            begun.insert(states[end].clone(), end);
            found[back + 1..].iter().try_for_each(|target| go(target, &mut states))?;
        }
    }
}
