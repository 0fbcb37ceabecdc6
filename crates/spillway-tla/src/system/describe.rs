//! Steps and states for reports.

use super::SpecificationSystem;
use super::steps::{InitialTarget, InvariantViolation, SpecificationStep, StepTarget};
use crate::eval::Evaluator;
use crate::value::Value;
use spillway_base::source::Span;
use spillway_model::{
    ProgramDescription, PropertyInfo, RuntimeFault, StateValue, StepDescription, StepOutcome,
    SystemDescription, Violation,
};
use std::ops::ControlFlow;

impl SystemDescription for SpecificationSystem {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let Ok(values) = self.decode(state) else { return Vec::new() };
        let mut evaluator = Evaluator::new(&self.program);
        evaluator.keep_parameters(true);
        let mut steps = Vec::new();
        self.visit_steps(&mut evaluator, &values, &mut |step, target| {
            let outcome = match target {
                StepTarget::State(successor) => match self.key(successor) {
                    Some(key) => StepOutcome::Successor(key),
                    // A search that was stopped has not reached it.
                    None => return true,
                },
                StepTarget::Excluded => return true,
                StepTarget::Failed(fault) => StepOutcome::Fault(*fault),
            };
            steps.push(self.step_description(&step, outcome));
            true
        });
        self.visit_invariants(&mut evaluator, &values, &mut |violation| {
            if let InvariantViolation::Failed { number, fault } = violation {
                let step = SpecificationStep { number, parameters: &[] };
                steps.push(self.step_description(&step, StepOutcome::Fault(*fault)));
            }
        });
        steps
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        let step = SpecificationStep { number: self.initial_number(), parameters: &[] };
        self.visit_initial(&mut |target| {
            let outcome = match target {
                InitialTarget::State(state) => self.key(&state).map(StepOutcome::Successor),
                InitialTarget::Excluded => None,
                InitialTarget::Failed(fault) => Some(StepOutcome::Fault(*fault)),
            };
            outcome.is_none_or(|it| visit(self.step_description(&step, it)).is_continue())
        });
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        let info = |it: &super::NamedCheck| PropertyInfo {
            kind: "invariant",
            name: it.name.clone(),
            span: self.program.specification[it.definition].span,
        };
        self.invariants.iter().map(info).collect()
    }

    fn action_name(&self, action: u32) -> String {
        let definitions = &self.program.specification.definitions;
        let action = action as usize;
        match definitions.get(action) {
            Some(definition) => definition.name.clone(),
            None => match self.invariants.get(action - definitions.len()) {
                Some(invariant) => format!("evaluation of {}", invariant.name),
                None => "initial predicate".to_owned(),
            },
        }
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        let Ok(values) = self.decode(state) else { return Vec::new() };
        let mut evaluator = Evaluator::new(&self.program);
        let (mut violations, mut is_stuck) = (Vec::new(), true);
        if self.checks_deadlock {
            self.visit_steps(&mut evaluator, &values, &mut |_, _| {
                is_stuck = false;
                false
            });
            violations.extend(is_stuck.then_some(Violation::Deadlock));
        }
        self.visit_invariants(&mut evaluator, &values, &mut |violation| {
            if let InvariantViolation::False(_) = violation {
                violations.push(violation.check());
            }
        });
        violations
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        let values = self.decode(state).unwrap_or_default();
        let named = values.iter().enumerate();
        named.map(|(at, it)| (self.program.variable_name(at).to_owned(), self.shown(it))).collect()
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}

impl SpecificationSystem {
    fn step_description(
        &self,
        step: &SpecificationStep<'_>,
        outcome: StepOutcome,
    ) -> StepDescription {
        let specification = &self.program.specification;
        let definition = specification.definitions.get(step.number as usize);
        let parameters = step.parameters.iter().enumerate().map(|(at, it)| {
            let definition = &specification.definitions[it.definition as usize];
            let name = definition.parameters.get(it.slot as usize);
            let name = name.map_or_else(|| format!("#{}", at + 1), |it| it.name.clone());
            (name, self.shown(&it.value))
        });
        let span = definition.map(|it| it.span).or(match &outcome {
            StepOutcome::Fault(RuntimeFault { span, .. }) => Some(*span),
            StepOutcome::Successor(_) => None,
        });
        StepDescription {
            action: step.number,
            name: self.action_name(step.number),
            parameters: parameters.collect(),
            actors: Vec::new(),
            spans: span.into_iter().filter(|it| *it != Span::default()).collect(),
            actions: Vec::new(),
            movers: Vec::new(),
            outcome,
        }
    }

    /// Returns a value as TLA+ text, except for numbers and truth values.
    fn shown(&self, value: &Value) -> StateValue {
        match value {
            Value::Bool(truth) => StateValue::Truth(*truth),
            Value::Int(number) => StateValue::Number(i64::from(*number)),
            value => StateValue::Name(value.text(&self.program.symbols).to_string()),
        }
    }
}
