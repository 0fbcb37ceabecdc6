//! Steps and states for reports.

use super::SpecificationSystem;
use super::steps::{ConditionFinding, InitialTarget, SpecificationStep, SuccessorTarget};
use crate::eval::Evaluator;
use crate::resolve::tree::{Definition, DefinitionId};
use crate::standard::SearchStatistics;
use crate::value::Value;
use spillway_base::source::Span;
use spillway_model::{
    ActionInfo, ConditionModality, DisabledRuleInstance, EndViolation, POSTCONDITION,
    ProcessLocation, ProgramDescription, PropertyInfo, RuntimeFault, SearchOutcome, StateValue,
    StepDescription, StepOutcome, SystemDescription, Violation,
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
                SuccessorTarget::State(successor) => match self.key(successor) {
                    Some(key) => StepOutcome::Successor(key),
                    // A search that was stopped has not reached it.
                    None => return true,
                },
                SuccessorTarget::Excluded => return true,
                SuccessorTarget::Failed(fault) => StepOutcome::Fault(*fault),
            };
            steps.push(self.step_description(&step, outcome));
            true
        });
        self.visit_findings(&mut evaluator, &values, &mut |finding| {
            if let ConditionFinding::Failed { number, fault } = finding {
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
        let info = |it: &super::NamedCondition| PropertyInfo {
            kind: it.holds.name(),
            name: it.name.clone(),
            span: self.program.specification[it.definition].span,
        };
        let specification = &self.program.specification;
        let postcondition = |it: &DefinitionId| PropertyInfo {
            kind: POSTCONDITION,
            name: specification[*it].name.clone(),
            span: specification[*it].span,
        };
        let postconditions = specification.checks.postconditions.iter().map(postcondition);
        self.conditions.iter().map(info).chain(postconditions).collect()
    }

    fn violated_at_end(&self, outcome: &SearchOutcome) -> Vec<EndViolation> {
        let statistics = SearchStatistics {
            distinct: outcome.states(),
            generated: outcome.generated(),
            initial: outcome.counters.initial,
            diameter: outcome.levels.len() as u64,
        };
        let mut evaluator = Evaluator::new(&self.program);
        let postconditions = &self.program.specification.checks.postconditions;
        let judged = (self.conditions.len() as u32..).zip(postconditions).map(|(property, it)| {
            match evaluator.satisfies_postcondition(*it, statistics) {
                Ok(true) => None,
                Ok(false) => Some(EndViolation { property, failure: None }),
                Err(failure) => {
                    let failure = Some(failure.text(&self.program.symbols));
                    Some(EndViolation { property, failure })
                }
            }
        });
        judged.flatten().collect()
    }

    fn counts_generated_states(&self) -> bool {
        true
    }

    fn action_name(&self, action: u32) -> String {
        let number = action as usize;
        if let Some(&definition) = self.actions.get(number) {
            return self.program.specification.definitions[definition as usize].name.clone();
        }
        match self.condition_evaluated_by(action) {
            Some(condition) => format!("evaluation of {}", self.conditions[condition].name),
            None if action == self.initial_number() => "initial predicate".to_owned(),
            None => "next-state action".to_owned(),
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
        self.visit_findings(&mut evaluator, &values, &mut |finding| {
            if let ConditionFinding::Decided(index) = finding
                && self.conditions[index as usize].holds == ConditionModality::Always
            {
                violations.push(finding.check());
            }
        });
        violations
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        self.described(state, |value| self.shown(value))
    }

    fn describe_parts(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        self.described(state, |value| self.parts(value))
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        Some(self)
    }
}

impl ProgramDescription for SpecificationSystem {
    fn actions(&self) -> Vec<ActionInfo> {
        let definitions = &self.program.specification.definitions;
        let info = |it: &u32| {
            let definition = &definitions[*it as usize];
            ActionInfo { name: definition.name.clone(), span: self.extent(definition) }
        };
        self.actions.iter().map(info).collect()
    }

    fn operands(&self, _: &[u8], _: u32) -> Vec<(String, StateValue)> {
        Vec::new()
    }

    fn process_locations(&self, _: &[u8]) -> Vec<ProcessLocation> {
        Vec::new()
    }

    fn disabled_rules(&self, _: &[u8]) -> Vec<DisabledRuleInstance> {
        Vec::new()
    }

    fn property_judged_by(&self, action: u32) -> Option<u32> {
        self.condition_evaluated_by(action).map(|it| it as u32)
    }
}

impl SpecificationSystem {
    /// Returns the value of a condition on states in a state. The value need not be Boolean. `None` if there is no
    /// condition of this number, or no such state.
    ///
    /// # Errors
    ///
    /// If the evaluation fails, with the reason.
    pub fn condition_value(
        &self,
        condition: u32,
        state: &[u8],
    ) -> Result<Option<StateValue>, RuntimeFault> {
        let Some(condition) = self.conditions.get(condition as usize) else { return Ok(None) };
        let Ok(values) = self.decode(state) else { return Ok(None) };
        let mut evaluator = Evaluator::new(&self.program);
        evaluator.set_state(&values);
        match evaluator.evaluate(condition.definition) {
            Ok(Value::Bool(truth)) => Ok(Some(StateValue::Truth(truth))),
            Ok(value) => Ok(Some(self.shown(&value))),
            Err(failure) => Err(*self.fault(&failure)),
        }
    }

    /// Describes a state by its variables, or by the fields of ALIAS.
    fn described(
        &self,
        state: &[u8],
        described: impl Fn(&Value) -> StateValue,
    ) -> Vec<(String, StateValue)> {
        let values = self.decode(state).ok();
        if let Some(fields) = values.as_deref().and_then(|it| self.alias_fields(it)) {
            return fields.into_iter().map(|(name, value)| (name, described(&value))).collect();
        }
        let value =
            |at: usize| values.as_ref().map_or(StateValue::Undefined, |it| described(&it[at]));
        let variables = 0..self.program.variable_count();
        variables.map(|at| (self.program.variable_name(at).to_owned(), value(at))).collect()
    }

    /// Returns the fields of ALIAS in a state. Nothing if there is no such record, or its evaluation fails.
    fn alias_fields(&self, values: &[Value]) -> Option<Vec<(String, Value)>> {
        let alias = self.state_alias()?;
        let mut evaluator = Evaluator::new(&self.program);
        evaluator.set_state(values);
        evaluator.record_fields(alias).ok()?
    }

    /// Returns the position of a definition with its body.
    fn extent(&self, definition: &Definition) -> Span {
        let (name, body) = (definition.span, self.program.specification[definition.body].span);
        if body.file == name.file && body.start >= name.start { name.to(body) } else { name }
    }

    fn step_description(
        &self,
        step: &SpecificationStep<'_>,
        outcome: StepOutcome,
    ) -> StepDescription {
        let specification = &self.program.specification;
        let action = self.actions.get(step.number as usize);
        let definition = action.map(|it| &specification.definitions[*it as usize]);
        let parameters = step.parameters.iter().map(|it| {
            let definition = &specification.definitions[it.definition as usize];
            (definition.slot_names[it.slot as usize].clone(), self.shown(&it.value))
        });
        let span = definition.map(|it| self.extent(it)).or(match &outcome {
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

    /// Returns a value as TLA+ text, with its parts.
    fn shown(&self, value: &Value) -> StateValue {
        let text = |value: &Value| value.text(&self.program.symbols).to_string();
        match value {
            Value::Set(_) | Value::Tuple(_) | Value::Record(_) | Value::Function(_) => {
                let parts = self.parts_by(value, &|it| self.shown(it));
                StateValue::Written(text(value), Box::new(parts))
            }
            _ => self.parts(value),
        }
    }

    /// Returns a value by its parts. Only the innermost ones have their text.
    fn parts(&self, value: &Value) -> StateValue {
        self.parts_by(value, &|it| self.parts(it))
    }

    /// Returns a value by its parts, which are described by `part`.
    fn parts_by(&self, value: &Value, part: &dyn Fn(&Value) -> StateValue) -> StateValue {
        let symbols = &self.program.symbols;
        let all = |values: &[Value]| values.iter().map(part).collect::<Vec<_>>();
        let written =
            |inner: StateValue| StateValue::Written(value.text(symbols).to_string(), inner.into());
        match value {
            Value::Int(number) => StateValue::Number(i64::from(*number)),
            Value::Bool(truth) => written(StateValue::Truth(*truth)),
            Value::Str(symbol) => written(StateValue::Name(symbols.text(*symbol).to_owned())),
            Value::Set(elements) => StateValue::Set(all(&elements.slice)),
            Value::Tuple(elements) => StateValue::Array(1, all(&elements.slice)),
            Value::Record(record) => {
                let names =
                    record.header.header.slice.iter().map(|it| symbols.text(*it).to_owned());
                StateValue::Record(names.zip(all(&record.slice)).collect())
            }
            Value::Function(function) => {
                let domain = &function.header.header.slice;
                if let Some(first) = first_of_interval(domain) {
                    return StateValue::Array(first, all(&function.slice));
                }
                let arguments = domain.iter().map(|it| it.text(symbols).to_string());
                StateValue::Table(arguments.zip(all(&function.slice)).collect())
            }
            Value::Model(_) | Value::Interval(..) | Value::Lazy(_) => {
                StateValue::Name(value.text(symbols).to_string())
            }
        }
    }
}

/// Returns the first number of a sorted domain, if the domain is an interval of integers.
fn first_of_interval(domain: &[Value]) -> Option<i64> {
    let Some(Value::Int(first)) = domain.first() else { return None };
    let mut numbered = domain.iter().zip(i64::from(*first)..);
    let is_interval =
        numbered.all(|(it, number)| matches!(it, Value::Int(it) if i64::from(*it) == number));
    is_interval.then_some(i64::from(*first))
}
