//! The steps of a state, in one order for the search and for reports.

use super::SpecificationSystem;
use crate::eval::{ActionParameter, Evaluator, FailedCheck, GeneratedStates, TakenAction};
use crate::standard::{Failure, FailureReason};
use crate::value::Value;
use spillway_base::source::Span;
use spillway_model::{FaultKind, RuntimeFault, Violation};

/// A step.
pub(super) struct SpecificationStep<'s> {
    /// The number of its action.
    pub number: u32,
    /// The parameters of its action, if they were asked for.
    pub parameters: &'s [ActionParameter],
}

/// What a step leads to.
pub(super) enum StepTarget<'s> {
    /// A state of the model.
    State(&'s [Value]),
    /// A state that a constraint excludes.
    Excluded,
    /// A failure.
    Failed(Box<RuntimeFault>),
}

/// What an initial state is.
pub(super) enum InitialTarget {
    /// A state of the model.
    State(Vec<Value>),
    /// A state that a constraint excludes.
    Excluded,
    /// A failure.
    Failed(Box<RuntimeFault>),
}

/// An invariant that does not hold.
pub(super) enum InvariantViolation {
    /// It is false: its index.
    False(u32),
    /// Its evaluation fails.
    Failed {
        /// The number of the evaluation among actions.
        number: u32,
        /// The failure.
        fault: Box<RuntimeFault>,
    },
}

impl InvariantViolation {
    pub(super) fn check(&self) -> Violation {
        match self {
            InvariantViolation::False(index) => Violation::Property(*index),
            InvariantViolation::Failed { number, fault } => Violation::Fault(fault.kind, *number),
        }
    }
}

impl SpecificationSystem {
    /// Returns the number of the evaluation of an invariant. Actions have the numbers of their definitions.
    fn invariant_number(&self, invariant: usize) -> u32 {
        (self.program.specification.definitions.len() + invariant) as u32
    }

    /// Returns the number of the initial predicate.
    pub(super) fn initial_number(&self) -> u32 {
        self.invariant_number(self.invariants.len())
    }

    /// Visits every initial state until `visit` returns false.
    pub(super) fn visit_initial(&self, visit: &mut dyn FnMut(InitialTarget) -> bool) {
        let mut evaluator = Evaluator::new(&self.program);
        let initial = match evaluator.initial_states() {
            Ok(initial) => initial,
            Err(failure) => {
                visit(InitialTarget::Failed(self.fault(&failure)));
                return;
            }
        };
        for state in initial.values.chunks(self.program.variable_count()) {
            if !visit(self.initial_target(&mut evaluator, state)) {
                return;
            }
        }
    }

    fn initial_target(&self, evaluator: &mut Evaluator<'_>, state: &[Value]) -> InitialTarget {
        evaluator.set_state(state);
        let judged = evaluator.violated_initial_property().and_then(|failed| {
            let is_in_model = evaluator.is_in_model()?;
            let failed = match failed {
                None if !is_in_model => evaluator.violated_invariant()?,
                failed => failed,
            };
            Ok((failed, is_in_model))
        });
        match judged {
            Err(failure) => InitialTarget::Failed(self.fault(&failure)),
            Ok((Some(failed), _)) => InitialTarget::Failed(self.violation(failed)),
            Ok((None, true)) => InitialTarget::State(state.to_vec()),
            Ok((None, false)) => InitialTarget::Excluded,
        }
    }

    /// Visits every step of a state until `visit` returns false. A failed evaluation of the next-state action is the last
    /// step.
    pub(super) fn visit_steps(
        &self,
        evaluator: &mut Evaluator<'_>,
        state: &[Value],
        visit: &mut dyn FnMut(SpecificationStep<'_>, StepTarget<'_>) -> bool,
    ) {
        let mut successors = GeneratedStates::default();
        let generated = evaluator.successors(state, &mut successors);
        let targets = successors.values.chunks(self.program.variable_count().max(1));
        for (successor, TakenAction { definition, parameters }) in targets.zip(&successors.actions)
        {
            let target = self.step_target(evaluator, state, successor);
            if !visit(SpecificationStep { number: *definition, parameters }, target) {
                return;
            }
        }
        if let Err(failure) = generated {
            let next = self.program.specification.checks.next;
            let number = next.map_or(self.initial_number(), |it| it.0);
            let step = SpecificationStep { number, parameters: &[] };
            visit(step, StepTarget::Failed(self.fault(&failure)));
        }
    }

    fn step_target<'s>(
        &self,
        evaluator: &mut Evaluator<'_>,
        state: &[Value],
        successor: &'s [Value],
    ) -> StepTarget<'s> {
        match judge_step(evaluator, state, successor) {
            Err(failure) => StepTarget::Failed(self.fault(&failure)),
            Ok(StepJudgement::Violated(failed)) => StepTarget::Failed(self.violation(failed)),
            Ok(StepJudgement::InModel) => StepTarget::State(successor),
            Ok(StepJudgement::Excluded) => StepTarget::Excluded,
        }
    }

    /// Visits every invariant that a state violates.
    pub(super) fn visit_invariants(
        &self,
        evaluator: &mut Evaluator<'_>,
        state: &[Value],
        visit: &mut dyn FnMut(InvariantViolation),
    ) {
        evaluator.set_state(state);
        for (index, invariant) in self.invariants.iter().enumerate() {
            match evaluator.holds(invariant.definition) {
                Ok(true) => {}
                Ok(false) => visit(InvariantViolation::False(index as u32)),
                Err(failure) => visit(InvariantViolation::Failed {
                    number: self.invariant_number(index),
                    fault: self.fault(&failure),
                }),
            }
        }
    }

    /// Returns a failed evaluation as a run-time error.
    fn fault(&self, failure: &Failure) -> Box<RuntimeFault> {
        let kind = match failure.reason {
            FailureReason::Assertion { .. } => FaultKind::Assertion,
            _ => FaultKind::Evaluation,
        };
        let place = failure.place.or(failure.calls.first().copied());
        let span = place.map_or(Span::default(), |it| self.program.specification[it].span);
        Box::new(RuntimeFault::new(kind, failure.text(&self.program.symbols), span))
    }

    /// Returns a violated check of a step as a failed assertion.
    fn violation(&self, failed: FailedCheck) -> Box<RuntimeFault> {
        let specification = &self.program.specification;
        let (message, span) = match failed {
            FailedCheck::Invariant(index) => {
                let definition = &specification[specification.checks.invariants[index]];
                let name = &definition.name;
                (format!("a state outside of CONSTRAINT violates {name}"), definition.span)
            }
            FailedCheck::Property { property, .. } => {
                let property = &specification.checks.properties[property];
                (format!("this violates {}", property.name), property.span)
            }
        };
        Box::new(RuntimeFault::new(FaultKind::Assertion, message, span))
    }
}

/// What the checks of a step say.
enum StepJudgement {
    InModel,
    Excluded,
    Violated(FailedCheck),
}

/// Checks a step: the constraints, the step properties, and the invariants of a state that is not stored.
fn judge_step(
    evaluator: &mut Evaluator<'_>,
    state: &[Value],
    successor: &[Value],
) -> Result<StepJudgement, Box<Failure>> {
    let is_in_model = evaluator.leads_into_model(state, successor)?;
    if !is_in_model {
        evaluator.set_state(successor);
        if let Some(failed) = evaluator.violated_invariant()? {
            return Ok(StepJudgement::Violated(failed));
        }
    }
    if let Some(failed) = evaluator.violated_by_step(state, successor)? {
        return Ok(StepJudgement::Violated(failed));
    }
    Ok(if is_in_model { StepJudgement::InModel } else { StepJudgement::Excluded })
}
