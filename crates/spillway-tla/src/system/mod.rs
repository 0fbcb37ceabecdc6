//! A specification as a [`StateSpace`] that every engine of Spillway searches.
//!
//! A state is the cells of its values. The dictionaries grow between levels ([`GrowingStateSpace`]).
//!
//! # Findings
//!
//! | TLC reports | finding |
//! | --- | --- |
//! | deadlock | [`Violation::Deadlock`] of the state |
//! | a violated invariant | [`Violation::Property`] of the state |
//! | a violated invariant in a state outside of CONSTRAINT, which is not stored | an assertion that fails in the step |
//! | a violated step property or initial predicate of a property | an assertion that fails in the step |
//! | a false assumption | an assertion that fails in the initial predicate |
//! | a failed evaluation | an evaluation that fails in the step, or in a step that is named like the invariant |
//!
//! With SYMMETRY, a stored state represents its orbit. With VIEW, the first state of each view is stored.
//! `TLCGet("level")` has no value, because a state is stored without its level.

mod describe;
mod distance;
mod encoding;
mod expansion;
mod quotient;
mod records;
mod steps;
mod view;

use crate::cell_search::{SampleSize, sample_states};
use crate::cells::{CellLayout, ESCAPE_BITS};
use crate::eval::{CompiledSpecification, Evaluator, SymmetryGroup};
use crate::level::Level;
use crate::resolve::tree::{
    Definition, DefinitionId, Expr, ExprKind, PropertyPart, Specification, StandardOperator,
};
pub use distance::SpecificationDistance;
use encoding::Encoding;
use expansion::{ExpandedState, RecordPool, StateExpander};
use quotient::Quotient;
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};
use spillway_model::{
    BACK_EDGE_BYTES, BackEdge, Capabilities, ConditionModality, GrowingStateSpace, Simulation,
    StateCondition, StateSpace, SuccessorSink, SystemDescription, UncheckedKind,
    UncheckedRequirement, ViewedStateSpace, Violation, any_bits,
};
use std::sync::{Arc, RwLock};
use steps::InitialTarget;
use view::{StateEncoder, StateView};

/// A specification that can be searched.
pub struct SpecificationSystem {
    program: Arc<CompiledSpecification>,
    layout: CellLayout,
    encoding: RwLock<Encoding>,
    /// The actions, by number.
    actions: Vec<u32>,
    /// The number of the action that each definition is, by the index of the definition.
    action_numbers: Vec<Option<u32>>,
    /// The invariants of the configuration, those that are parts of properties, and further conditions.
    conditions: Vec<NamedCondition>,
    checks_deadlock: bool,
    digest: [u8; 32],
    /// The symmetry, if the configuration has SYMMETRY.
    quotient: Option<Quotient>,
    /// The view, if the configuration has VIEW. Then there is no quotient.
    view: Option<StateView>,
    /// Outcomes that are known without evaluation.
    records: RecordPool,
}

/// A condition on states.
#[derive(Clone)]
struct NamedCondition {
    name: String,
    definition: DefinitionId,
    /// The states in which it must hold.
    holds: ConditionModality,
}

impl SpecificationSystem {
    /// Creates a system. `sources` are the texts of the specification. `conditions` are the conditions on states with
    /// which it was [read](crate::SpecificationRequest::conditions). A sample of states determines the cells.
    ///
    /// # Errors
    ///
    /// SYMMETRY cannot be evaluated, or is no set of permutations of model values.
    pub fn new(
        program: CompiledSpecification,
        sources: &SourceMap,
        conditions: &[StateCondition],
    ) -> Result<Self, Diagnostic> {
        let group = SymmetryGroup::of(&mut Evaluator::new(&program));
        let group = group.map_err(|failure| {
            let place = failure.place.or(failure.calls.first().copied());
            let span = place.map_or(Span::default(), |it| program.specification[it].span);
            Diagnostic::error(span, format!("SYMMETRY: {}", failure.text(&program.symbols)))
        })?;
        let (view, group) = match program.specification.checks.view {
            Some(definition) => (Some(StateView::new(definition, group, sources.clone())), None),
            None => (None, group),
        };
        let mut system = Self::without_quotient(program, view, sources, conditions);
        system.quotient = group.map(|it| Quotient::new(it, Box::new(system.concrete())));
        Ok(system)
    }

    /// Returns the same system without symmetry and view.
    fn concrete(&self) -> Self {
        let Self { program, layout, actions, action_numbers, conditions, .. } = self;
        Self {
            records: RecordPool::new(self.grouped_conditions()),
            program: Arc::clone(program),
            layout: layout.clone(),
            encoding: RwLock::new(Encoding::new(layout)),
            actions: actions.clone(),
            action_numbers: action_numbers.clone(),
            conditions: conditions.clone(),
            checks_deadlock: self.checks_deadlock,
            digest: self.digest,
            quotient: None,
            view: None,
        }
    }

    fn without_quotient(
        program: CompiledSpecification,
        view: Option<StateView>,
        sources: &SourceMap,
        conditions: &[StateCondition],
    ) -> Self {
        let sample = sample_states(&program, SampleSize::default());
        let variables = program.variable_count();
        let layout = match &view {
            None => CellLayout::from_sample(variables, &sample),
            Some(view) => {
                let rows = view.rows(&program, &sample);
                CellLayout::from_sample(variables + 1, &rows).with_first(variables)
            }
        };
        let conditions = named_conditions(&program, conditions);
        let actions = program.named_actions();
        let checks_deadlock = program.specification.checks.check_deadlock.unwrap_or(true);
        let mut system = Self {
            records: RecordPool::default(),
            encoding: RwLock::new(Encoding::new(&layout)),
            digest: digest(sources, &layout),
            action_numbers: action_numbers(&program, &actions),
            actions,
            program: Arc::new(program),
            layout,
            conditions,
            checks_deadlock,
            quotient: None,
            view,
        };
        system.records = RecordPool::new(system.grouped_conditions());
        system
    }

    /// Returns the specification.
    pub fn program(&self) -> &CompiledSpecification {
        &self.program
    }

    /// Returns the bits of each variable in a state, without the values in dictionaries.
    pub fn variable_bits(&self) -> impl Iterator<Item = u32> {
        let bits = self.layout.cell_bits().map(|it| it + ESCAPE_BITS);
        bits.take(self.program.variable_count())
    }

    /// Returns whether a state without successor is a violation.
    pub fn checks_deadlock(&self) -> bool {
        self.checks_deadlock
    }

    /// Returns whether there are assertions to check in steps: assumptions, parts of properties that are about initial
    /// states or steps, and calls of `Assert`.
    pub fn has_assertions(&self) -> bool {
        let Specification { checks, expressions, .. } = &self.program.specification;
        let parts = || checks.properties.iter().flat_map(|it| &it.parts);
        let is_asserted =
            |it: &PropertyPart| matches!(it, PropertyPart::Initial(_) | PropertyPart::Step { .. });
        let asserts = |it: &Expr| {
            matches!(&it.kind, ExprKind::Standard { operator: StandardOperator::Assert, .. })
        };
        !checks.assumptions.is_empty()
            || parts().any(is_asserted)
            || expressions.iter().any(asserts)
    }

    /// Returns the requirements of the configuration that this system does not check.
    pub fn unchecked(&self) -> Vec<UncheckedRequirement> {
        let specification = &self.program.specification;
        let checks = &specification.checks;
        let is_temporal = |it: &PropertyPart| matches!(it, PropertyPart::Temporal(_));
        let temporal = checks.properties.iter().filter(|it| it.parts.iter().any(is_temporal));
        let temporal = temporal.map(|it| UncheckedRequirement {
            kind: UncheckedKind::TemporalProperty,
            name: it.name.clone(),
            span: it.span,
        });
        temporal.collect()
    }

    /// Returns warnings about the parts of the configuration that this system does not apply.
    pub fn unapplied(&self) -> Vec<Diagnostic> {
        let specification = &self.program.specification;
        let checks = &specification.checks;
        let mut warnings = Vec::new();
        if let (Some(alias), None) = (checks.alias, self.state_alias()) {
            let Definition { name, span, .. } = &specification[alias];
            let message = format!("ALIAS {name} is not applied: it has primed variables");
            warnings.push(Diagnostic::warning(*span, message));
        }
        warnings
    }

    /// Returns the definition of ALIAS, if it is about single states.
    fn state_alias(&self) -> Option<DefinitionId> {
        let specification = &self.program.specification;
        specification.checks.alias.filter(|it| specification[*it].level <= Level::State)
    }
}

/// Returns the number of the action that each definition is.
fn action_numbers(program: &CompiledSpecification, actions: &[u32]) -> Vec<Option<u32>> {
    let mut numbers = vec![None; program.specification.definitions.len()];
    for (number, &definition) in (0..).zip(actions) {
        numbers[definition as usize] = Some(number);
    }
    numbers
}

/// Returns the conditions on states: the invariants of the configuration and of its properties, then further ones.
fn named_conditions(
    program: &CompiledSpecification,
    further: &[StateCondition],
) -> Vec<NamedCondition> {
    let specification = &program.specification;
    let checks = &specification.checks;
    let always = |name: &str, definition: DefinitionId| NamedCondition {
        name: name.to_owned(),
        definition,
        holds: ConditionModality::Always,
    };
    let direct = checks.invariants.iter().map(|it| always(&specification[*it].name, *it));
    let of_properties = checks.properties.iter().flat_map(|property| {
        property.parts.iter().filter_map(|part| match part {
            PropertyPart::Invariant(definition) => Some(always(&property.name, *definition)),
            _ => None,
        })
    });
    let further = checks.formulas.iter().zip(further);
    let further = further.filter(|(_, it)| it.holds != ConditionModality::Within);
    let further = further.map(|(&definition, it)| NamedCondition {
        name: it.name.clone().unwrap_or_else(|| it.text.trim().to_owned()),
        definition,
        holds: it.holds,
    });
    direct.chain(of_properties).chain(further).collect()
}

/// Returns a digest of the texts and of the layout, which the sample determined.
fn digest(sources: &SourceMap, layout: &CellLayout) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for file in sources.iter() {
        hasher.update(&(file.text.len() as u64).to_be_bytes());
        hasher.update(file.text.as_bytes());
    }
    for bits in layout.cell_bits() {
        hasher.update(&bits.to_be_bytes());
    }
    hasher.finalize().into()
}

impl SpecificationSystem {
    /// Adds the initial states, with their back-edges if they are wanted.
    fn add_initial(&self, has_edges: bool, out: &mut SuccessorSink) {
        let unknown = vec![0; self.width() + if has_edges { BACK_EDGE_BYTES } else { 0 }];
        let (mut encoder, mut position) = (StateEncoder::new(self), 0);
        self.visit_initial(&mut |target| {
            match target {
                InitialTarget::State(state) => {
                    let edge = has_edges.then(|| BackEdge::of_start(position));
                    encoder.pass_on(&state, None, edge, out);
                    position += 1;
                }
                InitialTarget::Excluded => out.count_excluded(1),
                InitialTarget::Failed(fault) => {
                    let check = Violation::Fault(fault.kind, self.initial_number());
                    out.record_finding(check, &unknown);
                }
            }
            !out.has_failed()
        });
    }

    /// Expands states. With `has_edges`, each follows its number, and back-edges follow successors.
    fn add_successors(&self, states: &[u8], has_edges: bool, out: &mut SuccessorSink) {
        let number_bytes = if has_edges { BACK_EDGE_BYTES } else { 0 };
        let states = states.chunks_exact(number_bytes + self.width()).map(|numbered| {
            let (number, key) = numbered.split_at(number_bytes);
            let edge = has_edges.then(|| BackEdge::of_bytes(number));
            ExpandedState { numbered, key, edge }
        });
        StateExpander::new(self).expand_all(states, out);
    }
}

impl StateSpace for SpecificationSystem {
    fn width(&self) -> usize {
        self.layout.width()
    }

    fn bits(&self) -> u32 {
        8 * self.layout.width() as u32
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.add_initial(false, out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.add_successors(states, false, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        self.digest
    }

    fn description(&self) -> &dyn SystemDescription {
        self.quotient.as_ref().map_or(self, |it| &*it.concrete)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        let simulation = self.quotient.as_ref().map(|_| self as &dyn Simulation);
        Capabilities {
            simulation,
            growing: Some(self as &dyn GrowingStateSpace),
            views: self.view.as_ref().map(|_| self as &dyn ViewedStateSpace),
            ..Capabilities::NONE
        }
    }
}
