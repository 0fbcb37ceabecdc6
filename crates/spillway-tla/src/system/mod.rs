//! A specification as a [`StateSpace`] that every engine of Spillway searches.
//!
//! A state is the cells of its values. The dictionaries grow between levels ([`GrowingStateSpace`]).
//!
//! # What is a finding
//!
//! | TLC reports | finding |
//! | --- | --- |
//! | deadlock | [`Violation::Deadlock`] of the state |
//! | a violated invariant | [`Violation::Property`] of the state |
//! | a violated invariant in a state outside of CONSTRAINT, which is not stored | an assertion that fails in the step |
//! | a violated step property or initial predicate of a property | an assertion that fails in the step |
//! | a failed evaluation | an evaluation that fails in the step, or in a step that is named like the invariant |
//!
//! SYMMETRY and VIEW are not applied: every state is visited. `TLCGet("level")` has no value, because a state is stored
//! without its level.

mod describe;
mod encoding;
mod steps;

use crate::cell_search::{SampleSize, sample_states};
use crate::cells::{CellLayout, EncodedState};
use crate::eval::{Evaluator, Program};
use crate::resolve::ids::DefinitionId;
use crate::resolve::tree::PropertyPart;
use crate::standard::Outcome;
use encoding::Encoding;
use spillway_base::source::SourceMap;
use spillway_model::{
    Capabilities, GrowingStateSpace, StateSpace, SuccessorSink, SystemDescription, Violation,
    any_bits, stop_request,
};
use std::sync::RwLock;
use steps::{InitialTarget, StepTarget};

/// A specification that can be searched.
pub struct SpecificationSystem {
    program: Program,
    layout: CellLayout,
    encoding: RwLock<Encoding>,
    /// The invariants of the configuration and those that are parts of properties, with their names.
    invariants: Vec<NamedCheck>,
    checks_deadlock: bool,
    digest: [u8; 32],
}

/// An invariant.
struct NamedCheck {
    name: String,
    definition: DefinitionId,
}

impl SpecificationSystem {
    /// Creates a system. `sources` are the texts of the specification. A sample of states determines the cells.
    pub fn new(program: Program, sources: &SourceMap) -> Self {
        let sample = sample_states(&program, SampleSize::default());
        let layout = CellLayout::from_sample(program.variable_count(), &sample);
        let invariants = invariants(&program);
        let checks_deadlock = program.specification.checks.check_deadlock.unwrap_or(true);
        Self {
            encoding: RwLock::new(Encoding::new(&layout)),
            digest: digest(sources, &layout),
            program,
            layout,
            invariants,
            checks_deadlock,
        }
    }

    /// Sets whether a state without successor is a violation. The default is that of the configuration.
    pub fn with_deadlock_check(self, checks_deadlock: bool) -> Self {
        Self { checks_deadlock, ..self }
    }

    /// Returns the specification.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns what the configuration has and this system does not check or apply, by name: temporal properties,
    /// fairness, SYMMETRY and VIEW.
    pub fn unchecked(&self) -> Vec<String> {
        let specification = &self.program.specification;
        let checks = &specification.checks;
        let temporal = checks
            .properties
            .iter()
            .filter(|it| it.parts.iter().any(|part| matches!(part, PropertyPart::Temporal(_))));
        let mut names: Vec<String> =
            temporal.map(|it| format!("the temporal part of {}", it.name)).collect();
        let fairness = (!checks.fairness.is_empty()).then_some("fairness".to_owned());
        names.extend(fairness);
        let named = |what: &str, id: DefinitionId| format!("{what} {}", specification[id].name);
        names.extend(checks.symmetries.iter().map(|&it| named("SYMMETRY", it)));
        names.extend(checks.view.map(|it| named("VIEW", it)));
        names.extend(checks.postconditions.iter().map(|&it| named("POSTCONDITION", it)));
        names
    }

    /// Returns the index of the first assumption that is false.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    pub fn false_assumption(&self) -> Outcome<Option<usize>> {
        Evaluator::new(&self.program).false_assumption()
    }
}

/// Returns the invariants of the configuration and of its properties.
fn invariants(program: &Program) -> Vec<NamedCheck> {
    let specification = &program.specification;
    let direct = specification
        .checks
        .invariants
        .iter()
        .map(|&definition| NamedCheck { name: specification[definition].name.clone(), definition });
    let of_properties = specification.checks.properties.iter().flat_map(|property| {
        property.parts.iter().filter_map(|part| match part {
            PropertyPart::Invariant(definition) => {
                Some(NamedCheck { name: property.name.clone(), definition: *definition })
            }
            _ => None,
        })
    });
    direct.chain(of_properties).collect()
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

impl StateSpace for SpecificationSystem {
    fn width(&self) -> usize {
        self.layout.width()
    }

    fn bits(&self) -> u32 {
        8 * self.layout.width() as u32
    }

    fn initial(&self, out: &mut SuccessorSink) {
        let zero = vec![0; self.width()];
        let mut buffer = zero.clone();
        self.visit_initial(&mut |target| {
            match target {
                InitialTarget::State(state) => self.pass_on(&state, None, &mut buffer, out),
                InitialTarget::Excluded => out.count_excluded(1),
                InitialTarget::Failed(fault) => {
                    let check = Violation::Fault(fault.kind, self.initial_number());
                    out.record_finding(check, &zero);
                }
            }
            !out.has_failed()
        });
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        let mut evaluator = Evaluator::new(&self.program);
        let mut buffer = vec![0; self.width()];
        // Neighbours in the order of keys share most values.
        let (mut last_state, mut last_key) = (None, &[][..]);
        for key in states.chunks_exact(self.width()) {
            if stop_request::is_requested() || out.has_failed() {
                return;
            }
            let last = last_state.as_deref().map(|values| EncodedState { values, key: last_key });
            let state = match self.decode_like(key, last) {
                Ok(state) => state,
                Err(error) => return out.fail(error),
            };
            let before = EncodedState { values: &state, key };
            let mut is_stuck = true;
            self.visit_steps(&mut evaluator, &state, &mut |step, target| {
                is_stuck = false;
                match target {
                    StepTarget::State(successor) => {
                        self.pass_on(successor, Some(before), &mut buffer, out)
                    }
                    StepTarget::Excluded => out.count_excluded(1),
                    StepTarget::Failed(fault) => {
                        out.record_finding(Violation::Fault(fault.kind, step.number), key);
                    }
                }
                !out.has_failed()
            });
            if is_stuck && self.checks_deadlock {
                out.record_finding(Violation::Deadlock, key);
            }
            self.visit_invariants(&mut evaluator, &state, &mut |violation| {
                out.record_finding(violation.check(), key);
            });
            (last_state, last_key) = (Some(state), key);
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        self.digest
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { growing: Some(self as &dyn GrowingStateSpace), ..Capabilities::NONE }
    }
}
