//! Infinite runs of the concrete system below the searched one.

use super::lifted_position::LiftedPosition;
use crate::lasso::Lasso;
use spill::{Error, Result};
use spillway_model::StateSpace;
use std::collections::HashMap;

/// The number of states up to which the run is followed until it closes.
const STATES_MAX: usize = 1000;

/// The concrete run of a lasso of the searched system.
///
/// If a searched state represents several concrete states, the concrete run need not return to the first state of the
/// cycle when the cycle ends. Then it repeats the cycle. Since a searched state represents finitely many states, the
/// run eventually reaches a state in which a repetition began. This can take long if they are many.
pub struct ConcreteLasso {
    /// Its states, an initial state first. The last state ends the cycle.
    pub states: Vec<Vec<u8>>,
    /// The index of the state in which the cycle begins.
    pub back: usize,
    /// Whether the cycle returns to its first state, and not only to a state with the same representative.
    pub closes: bool,
}

impl ConcreteLasso {
    /// Lifts a run of the searched system.
    pub fn of(model: &dyn StateSpace, lasso: &Lasso) -> Result<ConcreteLasso> {
        let lost = || Error::Source {
            reason: "no run of the model corresponds to the run of the reduced system".into(),
        };
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
