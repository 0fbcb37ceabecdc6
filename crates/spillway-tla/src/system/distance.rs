//! The distances of states to violations of conditions.

use super::SpecificationSystem;
use crate::eval::Evaluator;
use crate::resolve::tree::DefinitionId;
use spillway_base::buffer_pool::BufferPool;
use spillway_model::{ConditionModality, MeasuredDistance, UNIT_DISTANCE};

/// The distances to a violation of some conditions on states.
pub struct SpecificationDistance<'s> {
    system: &'s SpecificationSystem,
    /// The definitions, each with the value of a violation.
    wanted: Vec<(DefinitionId, bool)>,
    /// The evaluators that are not in use. They keep the values of constants.
    evaluators: BufferPool<Evaluator<'s>>,
}

impl SpecificationSystem {
    /// Returns the distance to a violation of any of the conditions with selected numbers. `None` if there are none.
    pub fn distance(&self, is_selected: &dyn Fn(u32) -> bool) -> Option<SpecificationDistance<'_>> {
        let selected = (0..).zip(&self.conditions).filter(|(number, _)| is_selected(*number));
        let wanted = selected.map(|(_, it)| (it.definition, it.holds != ConditionModality::Always));
        let wanted: Vec<_> = wanted.collect();
        let evaluators = BufferPool::default();
        (!wanted.is_empty()).then_some(SpecificationDistance { system: self, wanted, evaluators })
    }
}

impl SpecificationDistance<'_> {
    /// Returns the distance of a state: that to the nearest violation.
    pub fn of_state(&self, state: &[u8]) -> MeasuredDistance {
        let Ok(values) = self.system.decode(state) else {
            return MeasuredDistance { distance: UNIT_DISTANCE, evaluated: 1 };
        };
        let new_evaluator = || Evaluator::new(&self.system.program);
        self.evaluators.with(new_evaluator, |evaluator| {
            evaluator.set_state(&values);
            let mut nearest = MeasuredDistance { distance: u32::MAX, evaluated: 0 };
            for &(definition, wanted) in &self.wanted {
                let MeasuredDistance { distance, evaluated } =
                    evaluator.distance(definition, wanted);
                nearest.distance = nearest.distance.min(distance);
                nearest.evaluated += evaluated;
            }
            nearest
        })
    }
}
