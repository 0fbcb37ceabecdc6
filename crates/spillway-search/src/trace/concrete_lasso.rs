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
        let first = LiftedPosition::start(model, &lasso.states[0], &|| false)?;
        let (_, mut at) = first.ok_or_else(ConcreteLasso::lost)?;
        let (first, mut choices) = (at.state.clone(), Vec::new());
        ConcreteLasso::follow(lasso, first, |_, to| {
            choices.clear();
            match at.advance_to(to, &mut choices)? {
                true => Ok(at.state.clone()),
                false => Err(ConcreteLasso::lost()),
            }
        })
    }

    /// Follows a run of the searched system from `first`, a concrete initial state. `advance` takes the concrete step for
    /// the step from the searched state with this number to the given one. It returns the concrete state that is reached.
    pub fn follow(
        lasso: &Lasso,
        first: Vec<u8>,
        mut advance: impl FnMut(usize, &[u8]) -> Result<Vec<u8>>,
    ) -> Result<ConcreteLasso> {
        let Lasso { states: found, back, .. } = lasso;
        let (mut states, last) = (vec![first], found.len() - 1);
        for (from, to) in found[1..].iter().enumerate() {
            states.push(advance(from, to)?);
        }
        let mut begun = HashMap::from([(states[*back].clone(), *back)]);
        loop {
            states.push(advance(last, &found[*back])?);
            let end = states.len() - 1;
            if let Some(&back) = begun.get(&states[end]) {
                return Ok(ConcreteLasso { states, back, closes: true });
            }
            if end + (found.len() - back) > STATES_MAX {
                states.truncate(found.len() + 1);
                return Ok(ConcreteLasso { states, back: *back, closes: false });
            }
            begun.insert(states[end].clone(), end);
            for from in *back..last {
                states.push(advance(from, &found[from + 1])?);
            }
        }
    }

    /// The error if no concrete run corresponds to the run of the searched system.
    pub fn lost() -> Error {
        Error::Source {
            reason: "no run of the model corresponds to the run of the reduced system".into(),
        }
    }
}
