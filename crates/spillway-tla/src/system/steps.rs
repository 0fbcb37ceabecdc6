//! The steps of a state, in one order for the search and for reports.

use super::SpecificationSystem;
use crate::eval::{ActionParameter, EnteredAction, Evaluator, FailedCheck, GeneratedStates};
use crate::standard::{Failure, FailureReason};
use crate::value::Value;
use spillway_base::source::Span;
use spillway_model::{ConditionModality, FaultKind, RuntimeFault, Violation};

/// A step.
pub(super) struct SpecificationStep<'s> {
    /// The number of its action.
    pub number: u32,
    /// The parameters of its action, if requested.
    pub parameters: &'s [ActionParameter],
}

/// What a step leads to.
pub(super) enum SuccessorTarget<'s> {
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

/// The result of a condition on states in a state.
pub(super) enum ConditionFinding {
    /// It is a violated invariant, or a goal that is reached: its index.
    Decided(u32),
    /// Its evaluation fails.
    Failed {
        /// The number of the evaluation among actions.
        number: u32,
        /// The failure.
        fault: Box<RuntimeFault>,
    },
}

impl ConditionFinding {
    pub(super) fn check(&self) -> Violation {
        match self {
            ConditionFinding::Decided(index) => Violation::Property(*index),
            ConditionFinding::Failed { number, fault } => Violation::Fault(fault.kind, *number),
        }
    }
}

impl SpecificationSystem {
    /// Returns the number of the initial predicate. Numbers of actions are smaller.
    pub(super) fn initial_number(&self) -> u32 {
        self.actions.len() as u32
    }

    /// Returns the number of the next-state action. A step has it if its evaluation failed before its action was known.
    pub(super) fn next_number(&self) -> u32 {
        self.initial_number() + 1
    }

    /// Returns the number of the action that a definition is.
    pub(super) fn action_number(&self, definition: u32) -> u32 {
        self.action_numbers[definition as usize].unwrap_or_else(|| self.next_number())
    }

    /// Returns the first number of an evaluation of a condition on states. Numbers of steps are smaller.
    pub fn evaluations_from(&self) -> u32 {
        self.next_number() + 1
    }

    /// Returns the condition whose evaluation has a number.
    pub(super) fn condition_evaluated_by(&self, number: u32) -> Option<usize> {
        let condition = number.checked_sub(self.evaluations_from())? as usize;
        (condition < self.conditions.len()).then_some(condition)
    }

    /// Visits every initial state until `visit` returns false. A failed evaluation of the initial predicate is the last one.
    pub(super) fn visit_initial(&self, visit: &mut dyn FnMut(InitialTarget) -> bool) {
        let mut evaluator = Evaluator::new(&self.program);
        let assumed = match evaluator.false_assumption() {
            Ok(None) => Ok(()),
            Ok(Some(index)) => Err(self.false_assumption(index)),
            Err(failure) => Err(self.fault(&failure)),
        };
        let width = self.program.variable_count();
        // The states are checked while more of them are generated.
        let (mut checker, mut wants_more) = (Evaluator::new(&self.program), true);
        let generated = assumed.and_then(|()| {
            let generated = evaluator.visit_initial_states(&mut |states| {
                let mut states = states.chunks(width);
                wants_more = states.all(|it| visit(self.initial_target(&mut checker, it)));
                wants_more
            });
            generated.map_err(|failure| self.fault(&failure))
        });
        if let (true, Err(fault)) = (wants_more, generated) {
            visit(InitialTarget::Failed(fault));
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
        visit: &mut dyn FnMut(SpecificationStep<'_>, SuccessorTarget<'_>) -> bool,
    ) {
        let mut successors = GeneratedStates::default();
        let generated = evaluator.successors(state, &mut successors);
        let targets = successors.values.chunks(self.program.variable_count().max(1));
        for (successor, EnteredAction { definition, parameters }) in
            targets.zip(&successors.actions)
        {
            let target = self.step_target(evaluator, state, successor);
            let number = self.action_number(*definition);
            if !visit(SpecificationStep { number, parameters }, target) {
                return;
            }
        }
        if let Err(failure) = generated {
            let step = SpecificationStep { number: self.next_number(), parameters: &[] };
            visit(step, SuccessorTarget::Failed(self.fault(&failure)));
        }
    }

    pub(super) fn step_target<'s>(
        &self,
        evaluator: &mut Evaluator<'_>,
        state: &[Value],
        successor: &'s [Value],
    ) -> SuccessorTarget<'s> {
        match judge_step(evaluator, state, successor) {
            Err(failure) => SuccessorTarget::Failed(self.fault(&failure)),
            Ok(StepJudgement::Violated(failed)) => SuccessorTarget::Failed(self.violation(failed)),
            Ok(StepJudgement::InModel) => SuccessorTarget::State(successor),
            Ok(StepJudgement::Excluded) => SuccessorTarget::Excluded,
        }
    }

    /// Visits every condition that a state decides: invariants that it violates, and goals that it reaches.
    pub(super) fn visit_findings(
        &self,
        evaluator: &mut Evaluator<'_>,
        state: &[Value],
        visit: &mut dyn FnMut(ConditionFinding),
    ) {
        evaluator.set_state(state);
        for (index, condition) in self.conditions.iter().enumerate() {
            match evaluator.holds(condition.definition) {
                Ok(holds) if holds == (condition.holds == ConditionModality::Always) => {}
                Ok(_) => visit(ConditionFinding::Decided(index as u32)),
                Err(failure) => visit(ConditionFinding::Failed {
                    number: self.evaluations_from() + index as u32,
                    fault: self.fault(&failure),
                }),
            }
        }
    }

    /// Returns a false assumption as a failed assertion.
    fn false_assumption(&self, index: usize) -> Box<RuntimeFault> {
        let specification = &self.program.specification;
        let span = specification[specification.checks.assumptions[index]].span;
        Box::new(RuntimeFault::new(FaultKind::Assertion, "the assumption is false", span))
    }

    /// Returns a failed evaluation as a run-time error.
    pub(super) fn fault(&self, failure: &Failure) -> Box<RuntimeFault> {
        let kind = match failure.reason {
            FailureReason::Assertion { .. } => FaultKind::Assertion,
            _ => FaultKind::Evaluation,
        };
        let span = self.failure_span(failure).unwrap_or_default();
        Box::new(RuntimeFault::new(kind, failure.text(&self.program.symbols), span))
    }

    /// Returns where an evaluation failed, if it is known.
    pub(super) fn failure_span(&self, failure: &Failure) -> Option<Span> {
        let place = failure.place.or(failure.calls.first().copied())?;
        Some(self.program.specification[place].span)
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

/// The result of the checks of a step.
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
