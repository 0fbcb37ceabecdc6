//! Linear sets: variables that are only counted on from each other are shifted so that the first of each set is 0.
//!
//! [`linear_sets`] computes these sets. Adding a constant to all variables of a set, modulo the number of values,
//! gives a state with the same future, shifted by the same constant. So a state in which the first variable of each
//! set is 0 represents all shifted ones. [`LinearSetModel`] wraps a transition system and replaces each successor by
//! this representative.
//!
//! ```text
//! bit = 0, seen = 1, message 1      represents itself
//! bit = 1, seen = 0, message 0      becomes bit = 0, seen = 1, message 1
//! ```

use super::entry::{
    AppliedReduction, AutomaticUse, DetectionContext, Incompatibility, IncompatibilityKind,
    PreservedRuns, ReductionContext, ReductionEntry, ReductionMethod, ReductionSubject,
    SavingMeasure,
};
use super::state_map::{CANDIDATES, map_candidates};
use super::{
    NotApplied, PreservedProperties, Reduction, ReductionKind, ReductionStack, ReductionTraits,
};
use spillway_analysis::def_use::CellPresence;
use spillway_analysis::linear_sets::{LinearSet, linear_sets};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::numbers::grouped;
use spillway_ir::layout::{CellId, StateValidator};
use spillway_ir::{Layout, Program, Variable};
use spillway_model::{
    Capabilities, Counters, StateSpace, StepwiseSimulation, SuccessorSink, SystemDescription,
    any_bits,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The title of the reduction.
pub const NAME: &str = "linear sets";

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "linear",
    title: NAME,
    summary: "Linear sets: counters that are only compared with each other are shifted to 0",
    paper: "none: it was found in this project",
    page: "linear",
    kind: ReductionKind::Representative,
    parameters: &[],
    automatic: AutomaticUse::Never,
    preserves: PreservedProperties::ALL,
    preserved_runs: PreservedRuns::None,
    allows_joint_resets: false,
    allows_constraint: false,
    incompatible_with: &[
        Incompatibility { other: "por", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "confluence", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "simultaneous", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "reversible", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "symmetry", kind: IncompatibilityKind::Unproven },
    ],
    nothing_found: "no linear set of variables was found",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Wrap(apply),
};

/// Finds the linear sets of a program.
fn apply<'m>(context: &ReductionContext<'m, '_>) -> AppliedReduction<'m> {
    let find = || {
        context.check_rewritable()?;
        let budget = context.budget.for_analysis(NAME);
        let interp = context.interp;
        Ok(LinearSetReduction::of(interp.program(), interp.layout(), &budget)?)
    };
    context.applied(find())
}

/// Lists the variables of linear sets.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let (program, layout) = (context.program(), context.interp.layout());
    let named = |id| {
        let Variable { owner, name, .. } = &program.variables[id];
        program.owned_name(*owner, name)
    };
    let budget = context.budget.for_analysis(NAME);
    let sets = linear_sets(program, layout, &budget).unwrap_or_default();
    let subjects = sets.into_iter().flat_map(|set| {
        let of = |id| match id == set.first {
            true => format!("always 0, modulo {}", set.modulus),
            false => format!("relative to {}, modulo {}", named(set.first), set.modulus),
        };
        let subject = |&id| context.variable(&program.variables[id], of(id));
        set.variables.iter().map(subject).collect::<Vec<_>>()
    });
    subjects.collect()
}

/// The linear sets of a program.
pub struct LinearSetReduction<'m> {
    layout: &'m Layout,
    sets: Arc<[LinearSet]>,
}

impl<'m> LinearSetReduction<'m> {
    /// Computes the linear sets of a program, if it has any.
    pub fn of(
        program: &Program,
        layout: &'m Layout,
        budget: &AnalysisBudget,
    ) -> std::result::Result<Option<LinearSetReduction<'m>>, BudgetExceeded> {
        let sets = linear_sets(program, layout, budget)?;
        Ok((!sets.is_empty()).then(|| LinearSetReduction { layout, sets: sets.into() }))
    }
}

impl<'m> Reduction<'m> for LinearSetReduction<'m> {
    fn name(&self) -> String {
        NAME.into()
    }

    fn traits(&self) -> ReductionTraits {
        ENTRY.traits()
    }

    fn describe_effect(&self, _: &Counters) -> Option<String> {
        let all = self.sets.iter().try_fold(1i64, |all, it| all.checked_mul(it.modulus));
        all.map(|all| format!("a state represents up to {}", grouped(all.unsigned_abs())))
    }

    fn conflict(&self, _: &ReductionStack<'m>) -> Option<NotApplied> {
        None
    }

    fn changed_cells(&self, _: &Layout) -> BTreeSet<CellId> {
        self.sets.iter().flat_map(|set| set.cells.iter().map(|it| it.0)).collect()
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        let (layout, sets) = (self.layout, self.sets.clone());
        Box::new(LinearSetModel { model, layout, codes: layout.codes(), sets })
    }
}

/// A transition system that visits only states in which the first variable of each set is 0. Its states are those of
/// a program; bytes may follow that do not depend on the sets.
struct LinearSetModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    layout: &'m Layout,
    /// Distinguishes encoded states from other bytes.
    codes: StateValidator,
    sets: Arc<[LinearSet]>,
}

impl LinearSetModel<'_> {
    /// Replaces a state by its representative.
    fn represent(&self, state: &mut [u8]) {
        let layout = self.layout;
        for LinearSet { modulus, first_cell, cells, .. } in self.sets.iter() {
            let by = layout.get(state, *first_cell).unwrap_or_default();
            if by == 0 {
                continue;
            }
            for &(cell, kept) in cells {
                let holds = match kept {
                    CellPresence::Always => true,
                    CellPresence::Above(other, code) => layout.code(state, other) > code,
                };
                if let Some(value) = layout.get(state, cell).filter(|_| holds) {
                    layout.set(state, cell, Some((value - by).rem_euclid(*modulus)));
                }
            }
        }
    }

    fn represented(&self, state: &[u8]) -> Vec<u8> {
        let mut state = state.to_vec();
        self.represent(&mut state[..self.layout.bytes]);
        state
    }

    /// Passes on the additions of `run` to an expansion, with candidates replaced by representatives.
    fn with_mapped_candidates(
        &self,
        out: &mut SuccessorSink,
        run: impl FnOnce(&mut SuccessorSink),
    ) {
        let width = self.model.width();
        let mut candidates = Vec::with_capacity(CANDIDATES * width);
        let represent = |state: &mut [u8]| self.represent(&mut state[..self.layout.bytes]);
        map_candidates(out, width, &mut candidates, represent, run);
    }
}

impl StateSpace for LinearSetModel<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.with_mapped_candidates(out, |inner| self.model.initial(inner));
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.with_mapped_candidates(out, |inner| self.model.expand(states, inner));
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(NAME.as_bytes());
        *hasher.finalize().as_bytes()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: Some(self),
            postponing: None,
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

impl StepwiseSimulation for LinearSetModel<'_> {
    fn concrete_space(&self) -> &dyn StateSpace {
        &*self.model
    }

    fn represents(&self, own: &[u8], below: &[u8]) -> bool {
        let bytes = self.layout.bytes;
        let are_states = [own, below]
            .into_iter()
            .all(|it| it.len() >= bytes && self.codes.is_state(&it[..bytes]));
        are_states && self.represented(own) == self.represented(below)
    }
}
