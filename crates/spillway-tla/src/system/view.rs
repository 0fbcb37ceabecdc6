//! VIEW: states that a value identifies.
//!
//! An encoded state is a *row*: the values of the variables, and the value of the view, whose cells come first. With
//! SYMMETRY, it is the view of the least state of the orbit, as in TLC. The stored state is the one that was generated.

use super::SpecificationSystem;
use crate::cells::EncodedState;
use crate::eval::{CompiledSpecification, Evaluator, SymmetryGroup};
use crate::resolve::ids::DefinitionId;
use crate::standard::{Failure, Outcome, sets};
use crate::value::Value;
use spillway_base::source::SourceMap;
use spillway_model::{BackEdge, ModelError, SuccessorSink, ViewedStateSpace};
use std::borrow::Cow;

/// The view of a configuration.
pub(super) struct StateView {
    definition: DefinitionId,
    /// The symmetry, if the configuration has SYMMETRY.
    group: Option<SymmetryGroup>,
    /// The texts, to name the place of a failure.
    sources: SourceMap,
}

/// The view of a state cannot be evaluated.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{place}: VIEW: {reason}, in the state {state}")]
struct NoView {
    /// The file, line and column of the failure.
    place: String,
    /// The failure of the evaluation.
    reason: String,
    /// The state: `x = 1, y = 2`.
    state: String,
}

impl StateView {
    pub(super) fn new(
        definition: DefinitionId,
        group: Option<SymmetryGroup>,
        sources: SourceMap,
    ) -> StateView {
        StateView { definition, group, sources }
    }

    /// Returns the symmetry, if there is one.
    pub(super) fn group(&self) -> Option<&SymmetryGroup> {
        self.group.as_ref()
    }

    /// Returns the row of a state.
    pub(super) fn row(
        &self,
        evaluator: &mut Evaluator<'_>,
        state: &[Value],
    ) -> Outcome<Vec<Value>> {
        let representative = self.group.as_ref().map(|it| it.representative(state)).transpose()?;
        evaluator.set_state(representative.as_deref().unwrap_or(state));
        let value = evaluator.evaluate(self.definition)?;
        let value = sets::stored(evaluator, value)?;
        let mut row = Vec::with_capacity(state.len() + 1);
        row.extend_from_slice(state);
        row.push(value);
        Ok(row)
    }

    /// Returns the rows of the states of a sample, up to the first one whose view cannot be evaluated. A search ends there,
    /// and an endless recursion takes long in every state.
    pub(super) fn rows(
        &self,
        program: &CompiledSpecification,
        sample: &[Vec<Value>],
    ) -> Vec<Vec<Value>> {
        let mut evaluator = Evaluator::new(program);
        sample.iter().map_while(|it| self.row(&mut evaluator, it).ok()).collect()
    }
}

/// Passes states to a search.
pub(super) struct StateEncoder<'s> {
    system: &'s SpecificationSystem,
    /// Evaluates the view, if there is one.
    viewer: Option<Evaluator<'s>>,
    /// A buffer for an encoding.
    key: Vec<u8>,
}

impl<'s> StateEncoder<'s> {
    pub(super) fn new(system: &'s SpecificationSystem) -> Self {
        let viewer = system.view.as_ref().map(|_| Evaluator::new(&system.program));
        Self { system, viewer, key: vec![0; system.layout.width()] }
    }

    /// Adds a state as a candidate, with its back-edge if it has one. `before` is a state that shares most values with it.
    pub(super) fn pass_on(
        &mut self,
        state: &[Value],
        before: Option<EncodedState<'_>>,
        edge: Option<BackEdge>,
        out: &mut SuccessorSink,
    ) {
        let Self { system, viewer, key } = self;
        let stored = match system.stored_row(viewer.as_mut(), state) {
            Ok(stored) => stored,
            Err(error) => return out.give_up(error),
        };
        let edge = match edge.map(BackEdge::bytes).transpose() {
            Ok(edge) => edge,
            Err(error) => return out.fail(error),
        };
        let edge = edge.as_ref().map_or(&[][..], |it| it);
        // A representative need not share anything with the state before.
        let before = before.filter(|_| system.quotient.is_none());
        match system.write_key(&stored, before, key) {
            true => out.record(key, edge),
            false => out.set_aside(&[&system.unencoded(&stored)[..], edge].concat()),
        }
    }
}

impl SpecificationSystem {
    /// Returns the stored form of a state. `viewer` evaluates the view.
    ///
    /// # Errors
    ///
    /// The view cannot be evaluated, or values of a permuted set are not comparable.
    pub(super) fn stored_row<'v>(
        &self,
        viewer: Option<&mut Evaluator<'_>>,
        state: &'v [Value],
    ) -> Result<Cow<'v, [Value]>, ModelError> {
        let (Some(view), Some(viewer)) = (&self.view, viewer) else {
            return self.stored_state(state);
        };
        let failed = |failure: Box<Failure>| {
            let span = match self.failure_span(&failure) {
                Some(span) => span,
                None => self.program.specification[view.definition].span,
            };
            let place = view.sources.locate(span).unwrap_or_default();
            let reason = failure.text(&self.program.symbols);
            ModelError::failed(NoView { place, reason, state: self.assignments(state) })
        };
        view.row(viewer, state).map(Cow::Owned).map_err(failed)
    }

    /// Returns the variables of a state with their values as text: `x = 1, y = 2`.
    fn assignments(&self, state: &[Value]) -> String {
        let name = |at: usize| self.program.variable_name(at);
        let value = |it: &Value| it.text(&self.program.symbols).to_string();
        let each = state.iter().enumerate().map(|(at, it)| format!("{} = {}", name(at), value(it)));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Returns the name of the view, if the configuration has one.
    pub fn view_name(&self) -> Option<&str> {
        let view = self.view.as_ref()?;
        Some(&self.program.specification[view.definition].name)
    }

    /// Returns the number of values of a row.
    pub(super) fn row_values(&self) -> usize {
        self.program.variable_count() + usize::from(self.view.is_some())
    }
}

impl ViewedStateSpace for SpecificationSystem {
    fn view_bytes(&self) -> usize {
        self.layout.first_bytes()
    }

    fn initial_with_edges(&self, out: &mut SuccessorSink) {
        self.add_initial(true, out);
    }

    fn expand_with_edges(&self, states: &[u8], out: &mut SuccessorSink) {
        self.add_successors(states, true, out);
    }
}
