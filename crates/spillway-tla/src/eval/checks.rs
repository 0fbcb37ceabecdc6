//! Initial states, successors and checks of a specification: the interface of the evaluator.

use super::evaluator::Evaluator;
use super::generation::{ActionParameter, EnteredAction, GenerationPhase};
use crate::resolve::ids::DefinitionId;
use crate::resolve::tree::PropertyPart;
use crate::standard::{Outcome, SearchStatistics, boolean, sets};
use crate::value::{Symbol, Value};
use std::cell::RefCell;
use std::ops::ControlFlow;

/// States that were generated.
#[derive(Debug, Default)]
pub struct GeneratedStates {
    /// The values of the variables, state after state.
    pub values: Vec<Value>,
    /// The action of each state. Initial states have none. After a failure there can be one more, of a successor without
    /// a value for each variable.
    pub actions: Vec<EnteredAction>,
}

/// A check that a state or a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedCheck {
    /// An invariant: its index among the invariants of the configuration.
    Invariant(usize),
    /// A part of a property.
    Property {
        /// The index among the properties of the configuration.
        property: usize,
        /// The index among its parts.
        part: usize,
    },
}

impl Evaluator<'_> {
    /// Forgets what a failed evaluation left behind.
    pub(super) fn reset(&mut self) {
        self.stack.clear();
        self.depth = 0;
        self.is_primed = false;
        self.is_complete = true;
        self.generation.phase = GenerationPhase::Evaluation;
    }

    /// Sets whether the parameters of actions are recorded.
    pub fn keep_parameters(&mut self, keeps: bool) {
        self.generation.keeps_parameters = keeps;
    }

    /// Sets the level of the states whose successors or checks are evaluated: 1 for initial states.
    pub fn set_level(&mut self, level: u32) {
        self.level = Some(level);
    }

    /// Sets the state in which expressions are evaluated.
    pub fn set_state(&mut self, state: &[Value]) {
        replace_values(&mut self.current, state);
    }

    /// Sets the successor in which primed expressions are evaluated.
    pub fn set_successor(&mut self, state: &[Value]) {
        replace_values(&mut self.next, state);
    }

    /// Evaluates a definition without parameters.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn evaluate(&mut self, definition: DefinitionId) -> Outcome<Value> {
        self.reset();
        let frame = self.open_frame(definition.0, &[], 0);
        let value = self.eval(self.program.body(definition), frame)?;
        self.close_frame(frame);
        Ok(value)
    }

    /// Evaluates a definition without parameters that is a predicate of the state or of the step.
    ///
    /// # Errors
    ///
    /// The evaluation fails, or the value is not Boolean.
    pub fn holds(&mut self, definition: DefinitionId) -> Outcome<bool> {
        boolean("a predicate", &self.evaluate(definition)?)
    }

    /// Generates the initial states, with duplicates, and visits them in pieces until `visit` returns false. A piece has the
    /// values of its states, one state after the other.
    ///
    /// # Errors
    ///
    /// An evaluation fails, or a state does not have a value for each variable. The states before were visited.
    pub fn visit_initial_states(&mut self, visit: &mut dyn FnMut(&[Value]) -> bool) -> Outcome<()> {
        self.reset();
        let program = self.program;
        let init: Vec<u32> =
            program.specification.checks.init.iter().map(|it| program.body(*it)).collect();
        let slots = program.specification.checks.init.iter();
        let slots = slots.map(|it| program.definitions[it.index()].slots).max();
        self.stack.resize_with(slots.unwrap_or(0) as usize, Default::default);
        self.generation.states.clear();
        let visit = RefCell::new(visit);
        self.generate_initial(&init, &|states| match (visit.borrow_mut())(states) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })
    }

    /// Generates the initial states, with duplicates.
    ///
    /// # Errors
    ///
    /// An evaluation fails, or a state does not have a value for each variable.
    pub fn initial_states(&mut self) -> Outcome<GeneratedStates> {
        let mut values = Vec::new();
        self.visit_initial_states(&mut |states| {
            values.extend_from_slice(states);
            true
        })?;
        Ok(GeneratedStates { values, actions: Vec::new() })
    }

    /// Generates the successors of a state, with duplicates, into `successors`.
    ///
    /// # Errors
    ///
    /// An evaluation fails, or a successor does not have a value for each variable.
    pub fn successors(&mut self, state: &[Value], successors: &mut GeneratedStates) -> Outcome<()> {
        self.reset();
        self.set_state(state);
        successors.values.clear();
        successors.actions.clear();
        let Some(next) = self.program.specification.checks.next else { return Ok(()) };
        std::mem::swap(&mut self.generation.states, &mut successors.values);
        std::mem::swap(&mut self.generation.actions, &mut successors.actions);
        let result = self.generate(GenerationPhase::Next, self.program.body(next), next.0);
        std::mem::swap(&mut self.generation.states, &mut successors.values);
        std::mem::swap(&mut self.generation.actions, &mut successors.actions);
        result
    }

    /// Evaluates a definition without parameters whose value is a record. Returns its fields.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn record_fields(
        &mut self,
        definition: DefinitionId,
    ) -> Outcome<Option<Vec<(String, Value)>>> {
        let value = self.evaluate(definition)?;
        let Value::Record(record) = sets::normalise(self, value)? else { return Ok(None) };
        let names = record.header.header.slice.iter();
        let name = |it: &Symbol| self.program.symbols.text(*it).to_owned();
        Ok(Some(names.map(name).zip(record.slice.iter().cloned()).collect()))
    }

    /// Returns the action of each step of a path, as text: `Receive(p: 1)`. Nothing for what is no step.
    pub fn explain(&mut self, path: &[Vec<Value>]) -> Vec<Option<String>> {
        let kept = std::mem::replace(&mut self.generation.keeps_parameters, true);
        let mut successors = GeneratedStates::default();
        let width = self.program.variable_count();
        let steps = path.windows(2).map(|step| {
            self.successors(&step[0], &mut successors).ok()?;
            let index = successors.values.chunks(width).position(|it| it == step[1])?;
            Some(self.action_text(&successors.actions[index]))
        });
        let actions = steps.collect();
        self.generation.keeps_parameters = kept;
        actions
    }

    /// Returns an action as text: `Receive(p: 1)`.
    pub fn action_text(&self, action: &EnteredAction) -> String {
        let specification = &self.program.specification;
        let name = &specification.definitions[action.definition as usize].name;
        if action.parameters.is_empty() {
            return name.clone();
        }
        let parameter = |it: &ActionParameter| {
            let definition = &specification.definitions[it.definition as usize];
            let name = &definition.slot_names[it.slot as usize];
            format!("{name}: {}", it.value.text(&self.program.symbols))
        };
        let parameters: Vec<String> = action.parameters.iter().map(parameter).collect();
        format!("{name}({})", parameters.join(", "))
    }

    /// Returns whether the state satisfies the constraints of the configuration.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn is_in_model(&mut self) -> Outcome<bool> {
        self.all_hold(&self.program.specification.checks.constraints)
    }

    /// Returns whether the step satisfies the action constraints of the configuration.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn is_step_in_model(&mut self) -> Outcome<bool> {
        self.all_hold(&self.program.specification.checks.action_constraints)
    }

    /// Returns whether a step leads to a state of the model: whether the constraints and the action constraints of the
    /// configuration hold. Changes the state and the successor of the evaluator.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn leads_into_model(&mut self, state: &[Value], successor: &[Value]) -> Outcome<bool> {
        let checks = &self.program.specification.checks;
        if !checks.constraints.is_empty() {
            self.set_state(successor);
            if !self.is_in_model()? {
                return Ok(false);
            }
        }
        if checks.action_constraints.is_empty() {
            return Ok(true);
        }
        self.set_state(state);
        self.set_successor(successor);
        self.is_step_in_model()
    }

    /// Returns the first property that the step violates. Changes the state and the successor of the evaluator.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn violated_by_step(
        &mut self,
        state: &[Value],
        successor: &[Value],
    ) -> Outcome<Option<FailedCheck>> {
        if self.program.specification.checks.properties.is_empty() {
            return Ok(None);
        }
        self.set_state(state);
        self.set_successor(successor);
        self.violated_step_property()
    }

    /// Returns the index of the first assumption that is false.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn false_assumption(&mut self) -> Outcome<Option<usize>> {
        for (index, it) in self.program.specification.checks.assumptions.iter().enumerate() {
            if !self.holds(*it)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Evaluates a postcondition with the counts of a search that has visited all states.
    ///
    /// # Errors
    ///
    /// The evaluation fails, or the value is not Boolean.
    pub fn satisfies_postcondition(
        &mut self,
        postcondition: DefinitionId,
        statistics: SearchStatistics,
    ) -> Outcome<bool> {
        self.current.fill(None);
        self.statistics = Some(statistics);
        let holds = self.holds(postcondition);
        self.statistics = None;
        holds
    }

    fn all_hold(&mut self, definitions: &[DefinitionId]) -> Outcome<bool> {
        for definition in definitions {
            if !self.holds(*definition)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the first invariant that the state violates, among those of the configuration and of properties.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn violated_invariant(&mut self) -> Outcome<Option<FailedCheck>> {
        let invariants = &self.program.specification.checks.invariants;
        for (index, invariant) in invariants.iter().enumerate() {
            if !self.holds(*invariant)? {
                return Ok(Some(FailedCheck::Invariant(index)));
            }
        }
        self.violated_part(|it, part| match part {
            PropertyPart::Invariant(invariant) => it.holds(invariant),
            _ => Ok(true),
        })
    }

    /// Returns the first property that the initial state violates.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn violated_initial_property(&mut self) -> Outcome<Option<FailedCheck>> {
        self.violated_part(|it, part| match part {
            PropertyPart::Initial(predicate) => it.holds(predicate),
            _ => Ok(true),
        })
    }

    /// Returns the first property that the step violates.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn violated_step_property(&mut self) -> Outcome<Option<FailedCheck>> {
        self.violated_part(|it, part| match part {
            PropertyPart::Step { action, subscript } => {
                Ok(it.holds(action)? || it.is_definition_unchanged(subscript)?)
            }
            _ => Ok(true),
        })
    }

    fn violated_part(
        &mut self,
        mut holds: impl FnMut(&mut Self, PropertyPart) -> Outcome<bool>,
    ) -> Outcome<Option<FailedCheck>> {
        for (property, it) in self.program.specification.checks.properties.iter().enumerate() {
            for (index, part) in it.parts.iter().enumerate() {
                if !holds(self, *part)? {
                    return Ok(Some(FailedCheck::Property { property, part: index }));
                }
            }
        }
        Ok(None)
    }

    fn is_definition_unchanged(&mut self, definition: DefinitionId) -> Outcome<bool> {
        self.reset();
        let frame = self.open_frame(definition.0, &[], 0);
        let is_unchanged = self.is_unchanged(self.program.body(definition), frame)?;
        self.close_frame(frame);
        Ok(is_unchanged)
    }
}

/// Gives values to the variables of a state.
fn replace_values(variables: &mut [Option<Value>], state: &[Value]) {
    for (variable, value) in variables.iter_mut().zip(state) {
        if !variable.as_ref().is_some_and(|it| it.is_identical(value)) {
            *variable = Some(value.clone());
        }
    }
}
