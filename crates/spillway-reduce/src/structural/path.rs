//! The transitions of the program as written that one transition of the reduced net consists of, and pending ones.

use super::StructuralReduction;
use spillway_exec::Interp;
use spillway_ir::ActionId;
use spillway_model::{StepOutcome, SystemDescription as _};

impl StructuralReduction {
    /// Returns the states of the program as written that one transition passes through, without the first state, to a
    /// state that satisfies `is_end`.
    pub(super) fn path_of(
        &self,
        written: &Interp,
        from: &[u8],
        is_there: &dyn Fn(&[u8]) -> bool,
    ) -> Option<Vec<Vec<u8>>> {
        let steps = written.steps(from).into_iter();
        let mut first: Vec<(ActionId, Vec<u8>)> = Vec::new();
        for step in steps {
            let action = ActionId(step.action);
            let StepOutcome::Successor(state) = step.outcome else { continue };
            // A single action may seem to lead there as well, because the tokens that it leaves are not visible.
            if !self.gone.contains(&action) && is_there(&state) {
                return Some(vec![state]);
            }
            first.push((action, state));
        }
        self.composed.iter().find_map(|(_, sequence)| {
            let (_, after) = first.iter().find(|it| it.0 == sequence[0])?;
            let mut way = vec![after.clone()];
            way.extend(walk(written, after, &sequence[1..])?);
            way.last().is_some_and(|it| is_there(it)).then_some(way)
        })
    }

    /// Returns the states of the program as written from a deadlock of the reduced net, which is excluded, to a
    /// deadlock: the waiting transitions put their tokens, one agglomeration after the other, the last first.
    pub(super) fn to_deadlock(&self, written: &Interp, from: &[u8]) -> Vec<Vec<u8>> {
        let mut way: Vec<Vec<u8>> = Vec::new();
        for waiting in self.waiting.iter().rev() {
            loop {
                let at = way.last().map_or(from, Vec::as_slice);
                let mut some = waiting.iter().filter_map(|it| walk(written, at, it));
                let Some(mut more) = some.next() else { break };
                way.append(&mut more);
            }
        }
        way
    }
}

/// Returns the states after each of some actions executed in sequence, if they are enabled.
fn walk(written: &Interp, from: &[u8], actions: &[ActionId]) -> Option<Vec<Vec<u8>>> {
    let mut way: Vec<Vec<u8>> = Vec::new();
    for action in actions {
        let at = way.last().map_or(from, Vec::as_slice);
        let steps = written.steps(at).into_iter();
        let mut states = steps.filter_map(|step| match step.outcome {
            StepOutcome::Successor(state) if step.action == action.0 => Some(state),
            _ => None,
        });
        way.push(states.next()?);
    }
    Some(way)
}
