//! Symmetry reduction over scalarsets (Ip and Dill, "Better verification through symmetry", 1996).
//!
//! The values of a scalarset are interchangeable: a permutation of them, applied everywhere in a state, gives a state
//! with the same future up to renaming. It is enough to visit one state of each such *orbit*. [`SymmetryModel`] wraps
//! a transition system and replaces each successor by the representative of its orbit.
//!
//! The number of permutations is factorial. So the elements are distinguished by what a state says about them,
//! regardless of their names (`refine`, as graph isomorphism is decided: McKay, "Practical graph isomorphism", 1981),
//! and the representative has them in that order. The exact method tries all orders of elements that remain equal,
//! unless exchanging them changes nothing (`search`): two states of one orbit have the same representative. The fast
//! method takes one of these elements arbitrarily. An orbit may then be visited more than once, which costs time and
//! never changes a verdict.
//!
//! Multisets are sorted in all states, and sorted again after a permutation.
//!
//! If there are no scalarsets, processes may still be symmetric. The program's [`automorphisms`] give the
//! permutations, and the representative is the least image under these (`group`).

mod blocks;
mod claims;
mod equivalent_checks;
mod exchange;
mod group;
mod incidence;
mod order;
mod refine;
mod representative_cache;
mod search;
#[cfg(test)]
mod tests;

pub use exchange::ElementExchange;
use spillway_model::{
    ActionCounts, ActionId, Capabilities, Counters, ObligationSink, PostponingStateSpace, Result,
    Simulation, StateSpace, SuccessorSink, SystemDescription, Violation, any_bits,
    concretise_single_step,
};

use super::entry::{
    AppliedReduction, AutomaticUse, DetectionContext, PreservedRuns, ReductionContext,
    ReductionEntry, ReductionMethod, ReductionSubject, SavingMeasure,
};
use super::parameters::{
    ChoiceValue, ExpertOptionSpec, FlagSpec, ParameterControl, ParameterKind, ParameterSpec,
    ParameterValues,
};
use super::state_map::{CANDIDATES, map_candidates};
use super::{
    NotApplied, PreservedProperties, Reduction, ReductionKind, ReductionStack, ReductionTraits,
};
use equivalent_checks::EquivalentChecks;
use group::IndependentGroups;
use incidence::IncidencePlan;
use representative_cache::RepresentativeCache;
use search::ElementBuffers;
use spillway_analysis::automorphisms::automorphisms;
use spillway_analysis::equivalence_classes::connected_sets;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::buffer_pool::BufferPool;
use spillway_base::numbers::grouped;
use spillway_ir::layout::{CellId, StateValidator};
use spillway_ir::{Domain, Layout, ProcessInstance, Program, ScalarsetId, Type, TypeId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The title of the reduction.
pub const NAME: &str = "symmetry";

/// The precision of representatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymmetryEffort {
    /// One state of each orbit.
    Exact,
    /// At least one state of each orbit, with less time per state.
    Fast,
}

impl SymmetryEffort {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            SymmetryEffort::Exact => "exact",
            SymmetryEffort::Fast => "fast",
        }
    }
}

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "symmetry",
    title: NAME,
    summary: "Symmetry of scalarsets and of identical processes",
    paper: "Ip and Dill 1996; Emerson and Sistla 1996",
    page: "symmetry",
    kind: ReductionKind::Representative,
    parameters: &[
        ParameterSpec {
            name: EFFORT,
            summary: "the number of visited states per orbit; by default exact",
            kind: ParameterKind::Choice(&[
                ChoiceValue { name: "exact", summary: "One state per orbit", preserves_runs: true },
                ChoiceValue {
                    name: "fast",
                    summary: "At least one, in less time for each",
                    preserves_runs: true,
                },
            ]),
            control: ParameterControl::Flag(FlagSpec {
                name: "symmetry",
                value_name: "EFFORT",
                help: "The representatives of an orbit [default: exact]",
                bare: false,
                off: Some("No symmetry: all states"),
            }),
            excludes: None,
        },
        ParameterSpec {
            name: PROCESSES,
            summary: "whether identical processes are permuted in models without scalarsets; by default they are",
            kind: ParameterKind::Switch,
            control: ParameterControl::Expert(ExpertOptionSpec {
                name: "symmetry-processes",
                value_name: "",
                help: "Permute identical processes in models without scalarsets [default: true; with --reduce auto if it pays]",
            }),
            excludes: None,
        },
    ],
    automatic: AutomaticUse::Always {
        // Symmetry of processes is used only if the first states show that it pays.
        switches: &[(PROCESSES, false)],
    },
    // The program does not distinguish the elements of a scalarset. So a state and its permutations have the same
    // futures up to renaming.
    preserves: PreservedProperties::ALL,
    preserved_runs: PreservedRuns::All,
    allows_joint_resets: false,
    allows_constraint: true,
    incompatible_with: &[],
    nothing_found: "nothing in the model is symmetric",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Wrap(apply),
};

/// The parameter that says how many states of an orbit are visited.
const EFFORT: &str = "effort";

/// The parameter that says whether processes are exchanged.
const PROCESSES: &str = "processes";

/// Finds the symmetry of a program.
fn apply<'m>(context: &ReductionContext<'m, '_>) -> AppliedReduction<'m> {
    let (program, layout) = (context.interp.program(), context.interp.layout());
    let found = Symmetry::by_parameters(program, layout, context.parameters(), context.budget);
    context.applied(found.map_err(NotApplied::from))
}

/// Lists the variables that hold elements of scalarsets or are indexed by them. Without any it lists the symmetric
/// processes.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    if program.scalarsets.is_empty() {
        return alike_processes(context);
    }
    let variables = program.variables.values().filter_map(|variable| {
        let mut found = BTreeSet::new();
        scalarsets(program, variable.ty, &mut found);
        let names = found.iter().map(|&it| {
            let set = &program.scalarsets[it];
            format!("{} of {}", set.name, set.size)
        });
        let about = names.collect::<Vec<_>>().join(", ");
        (!about.is_empty()).then(|| context.variable(variable, about))
    });
    variables.collect()
}

/// Lists the processes that can be exchanged, each with its counterparts.
fn alike_processes(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    let budget = context.budget.for_analysis(NAME);
    let found = automorphisms(program, context.interp.layout(), &budget).unwrap_or_default();
    let kinds = connected_sets(found.iter().flat_map(|it| it.instances.iter().copied()));
    let name = |it: &ProcessInstance| {
        let name = &program.processes[it.process].name;
        match program.slots(it.process) {
            1 => name.clone(),
            _ => format!("{name}[{}]", it.slot),
        }
    };
    let subjects = kinds.iter().filter_map(|kind| {
        let first = kind.first()?;
        let others: Vec<_> = kind.iter().skip(1).map(name).collect();
        let span = program.processes[first.process].span;
        Some(context.at(&name(first), span, format!("alike: {}", others.join(", "))))
    });
    subjects.collect()
}

/// Collects the scalarsets that occur in a type.
fn scalarsets(program: &Program, ty: TypeId, found: &mut BTreeSet<ScalarsetId>) {
    match &program.types[ty] {
        Type::Scalar(scalar) => scalarsets_of_domain(&scalar.domain, found),
        Type::Array { by, element, .. } => {
            by.iter().for_each(|it| scalarsets_of_domain(it, found));
            scalarsets(program, *element, found);
        }
        Type::Record { fields, .. } => {
            fields.iter().for_each(|(_, ty)| scalarsets(program, *ty, found));
        }
        Type::Multiset { element, .. } => scalarsets(program, *element, found),
    }
}

fn scalarsets_of_domain(domain: &Domain, found: &mut BTreeSet<ScalarsetId>) {
    match domain {
        Domain::Scalarset(id) => drop(found.insert(*id)),
        Domain::Union(parts) => parts.iter().for_each(|it| scalarsets_of_domain(it, found)),
        _ => {}
    }
}

/// The symmetry of a program.
pub struct Symmetry<'m> {
    program: &'m Program,
    layout: &'m Layout,
    orbits: Arc<PermutationGroup>,
    effort: SymmetryEffort,
}

/// The objects that permutations act on.
enum PermutationGroup {
    /// The elements of scalarsets.
    Elements(IncidencePlan),
    /// Processes, with their actions and properties.
    Processes { groups: IndependentGroups, alike: EquivalentChecks },
}

/// A transition system that visits representatives only. Its states are those of a program; bytes may follow that no
/// permutation changes.
pub struct SymmetryModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    layout: &'m Layout,
    /// Distinguishes encoded states from other bytes.
    codes: StateValidator,
    orbits: Arc<PermutationGroup>,
    effort: SymmetryEffort,
    rooms: BufferPool<SymmetryBuffers>,
}

/// Buffers for the representatives of candidates.
struct SymmetryBuffers {
    scratch: OrbitBuffers,
    known: RepresentativeCache,
    candidates: Vec<u8>,
}

/// Buffers for successive computations of a representative.
enum OrbitBuffers {
    Elements(Box<ElementBuffers>),
    Processes(group::GroupBuffers),
}

impl PermutationGroup {
    fn scratch(&self) -> OrbitBuffers {
        match self {
            PermutationGroup::Elements(plan) => {
                OrbitBuffers::Elements(Box::new(ElementBuffers::new(plan)))
            }
            PermutationGroup::Processes { .. } => {
                OrbitBuffers::Processes(group::GroupBuffers::default())
            }
        }
    }

    fn represent(
        &self,
        layout: &Layout,
        scratch: &mut OrbitBuffers,
        effort: SymmetryEffort,
        state: &mut [u8],
    ) {
        match (self, scratch) {
            (PermutationGroup::Elements(plan), OrbitBuffers::Elements(scratch)) => {
                scratch.represent(plan, layout, effort, state);
            }
            (PermutationGroup::Processes { groups, .. }, OrbitBuffers::Processes(room)) => {
                groups.represent(layout, room, state);
            }
            _ => unreachable!("room is made for what it is used for"),
        }
    }
}

/// Returns `number` times the factorial of `elements`, or `None` on overflow.
fn times_orders(number: u64, elements: u64) -> Option<u64> {
    (1..=elements).try_fold(number, u64::checked_mul)
}

impl<'m> Symmetry<'m> {
    /// Returns the symmetry of a program's scalarsets, if it has any.
    pub fn of(
        program: &'m Program,
        layout: &'m Layout,
        effort: SymmetryEffort,
    ) -> Option<Symmetry<'m>> {
        // Orbits are compared by codes of 32 bits.
        if layout.has_wide_cells() {
            return None;
        }
        let orbits = Arc::new(PermutationGroup::Elements(IncidencePlan::new(program, layout)?));
        Some(Symmetry { program, layout, orbits, effort })
    }

    /// Returns the symmetry of a program's processes, if any are found.
    pub fn of_processes(
        program: &'m Program,
        layout: &'m Layout,
        budget: &AnalysisBudget,
    ) -> std::result::Result<Option<Symmetry<'m>>, BudgetExceeded> {
        let found = automorphisms(program, layout, budget)?;
        let alike = EquivalentChecks::of(&found);
        let Some(groups) = IndependentGroups::of(found, layout) else { return Ok(None) };
        let orbits = Arc::new(PermutationGroup::Processes { groups, alike });
        Ok(Some(Symmetry { program, layout, orbits, effort: SymmetryEffort::Exact }))
    }

    /// Returns the symmetry of a program according to the parameters of the reduction.
    pub fn by_parameters(
        program: &'m Program,
        layout: &'m Layout,
        parameters: &ParameterValues,
        budget: &AnalysisBudget,
    ) -> std::result::Result<Option<Symmetry<'m>>, BudgetExceeded> {
        let budget = budget.for_analysis(NAME);
        let effort = match parameters.choice(EFFORT) {
            Some("fast") => SymmetryEffort::Fast,
            _ => SymmetryEffort::Exact,
        };
        match Symmetry::of(program, layout, effort) {
            None if parameters.switch(PROCESSES).unwrap_or(true) => {
                Symmetry::of_processes(program, layout, &budget)
            }
            elements => Ok(elements),
        }
    }

    /// Wraps a transition system of the program.
    pub fn of_model(&self, model: impl StateSpace + 'm) -> SymmetryModel<'m> {
        let Symmetry { layout, ref orbits, effort, .. } = *self;
        let (model, codes) = (Box::new(model), layout.codes());
        SymmetryModel {
            model,
            layout,
            codes,
            orbits: orbits.clone(),
            effort,
            rooms: BufferPool::default(),
        }
    }
}

impl<'m> Reduction<'m> for Symmetry<'m> {
    fn name(&self) -> String {
        match &*self.orbits {
            PermutationGroup::Elements(_) => format!("symmetry {}", self.effort.name()),
            PermutationGroup::Processes { .. } => "symmetry of processes".into(),
        }
    }

    fn traits(&self) -> ReductionTraits {
        ENTRY.traits()
    }

    /// Reports the largest size of an orbit.
    fn describe_effect(&self, _: &Counters) -> Option<String> {
        let all = match &*self.orbits {
            PermutationGroup::Elements(_) => {
                let mut sizes = self.program.scalarsets.values().map(|it| u64::from(it.size));
                sizes.try_fold(1, times_orders)
            }
            PermutationGroup::Processes { groups, .. } => groups.order(),
        };
        let told = |all: u64| format!("a state represents up to {}", grouped(all));
        Some(all.map_or_else(|| "a state may represent more than 10^19".into(), told))
    }

    /// A claim that observes an element would have to be permuted with the state.
    fn conflict(&self, before: &ReductionStack<'m>) -> Option<NotApplied> {
        if let Some(other) = before.state_comparing_member() {
            return Some(NotApplied::ComparesStates(other));
        }
        if let Some(other) = before.asymmetric_member() {
            return Some(NotApplied::NotSymmetric(other));
        }
        let undone = before.names(&[ReductionKind::Representative]);
        if let (PermutationGroup::Processes { .. }, Some(other)) = (&*self.orbits, undone.first()) {
            return Some(NotApplied::DiffersByProcess(other.clone()));
        }
        let claims = before.names(&[ReductionKind::Product]);
        let claim = claims.first()?.clone();
        let why = match &*self.orbits {
            PermutationGroup::Elements(_) => claims::claim_asymmetry(self.program, self.layout)?,
            PermutationGroup::Processes { .. } => "may distinguish processes".into(),
        };
        Some(NotApplied::ClaimBreaksSymmetry { claim, why })
    }

    fn changed_cells(&self, _: &Layout) -> BTreeSet<CellId> {
        BTreeSet::new()
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        Box::new(self.of_model(model))
    }
}

impl<'m> SymmetryModel<'m> {
    /// Wraps the transition system of a program, if the program has symmetric scalarsets.
    pub fn new(
        model: impl StateSpace + 'm,
        program: &'m Program,
        layout: &'m Layout,
        effort: SymmetryEffort,
    ) -> Option<Self> {
        Some(Symmetry::of(program, layout, effort)?.of_model(model))
    }

    /// Returns the precision.
    pub fn effort(&self) -> SymmetryEffort {
        self.effort
    }

    /// Calls `run` with buffers.
    fn with_room<T>(&self, run: impl FnOnce(&mut SymmetryBuffers) -> T) -> T {
        let make = || SymmetryBuffers {
            scratch: self.orbits.scratch(),
            known: RepresentativeCache::new(self.model.width()),
            candidates: Vec::with_capacity(CANDIDATES * self.model.width()),
        };
        self.rooms.with(make, run)
    }

    /// Replaces states by the representatives of their orbits.
    fn represent<'s>(&self, effort: SymmetryEffort, states: impl Iterator<Item = &'s mut [u8]>) {
        self.with_room(|room| {
            for state in states {
                let state = &mut state[..self.layout.bytes];
                self.orbits.represent(self.layout, &mut room.scratch, effort, state);
            }
        });
    }

    /// Returns the exact representative of a state's orbit, regardless of the precision.
    fn canonical(&self, state: &[u8]) -> Vec<u8> {
        let mut state = state.to_vec();
        self.represent(SymmetryEffort::Exact, std::iter::once(state.as_mut_slice()));
        state
    }

    /// Passes on the additions of `run` to an expansion, with candidates replaced by representatives.
    fn with_mapped_candidates(
        &self,
        out: &mut SuccessorSink,
        run: impl FnOnce(&mut SuccessorSink),
    ) {
        let width = self.model.width();
        self.with_room(|SymmetryBuffers { scratch, known, candidates }| {
            let represent = |state: &mut [u8]| {
                known.represent(state, |state| {
                    let state = &mut state[..self.layout.bytes];
                    self.orbits.represent(self.layout, scratch, self.effort, state);
                });
            };
            map_candidates(out, width, candidates, represent, run);
        });
    }
}

impl StateSpace for SymmetryModel<'_> {
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

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest());
        let of: &[u8] = match &*self.orbits {
            PermutationGroup::Elements(_) => b"symmetry ",
            PermutationGroup::Processes { .. } => b"symmetry of processes ",
        };
        hasher.update(of).update(self.effort.name().as_bytes());
        *hasher.finalize().as_bytes()
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: Some(self),
            postponing: self
                .model
                .capabilities()
                .postponing
                .map(|_| self as &dyn PostponingStateSpace),
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

/// The base system postpones the same transitions in a state and in its representative, up to renaming.
impl PostponingStateSpace for SymmetryModel<'_> {
    fn expand_reduced(&self, states: &[u8], out: &mut SuccessorSink, owed: &mut ObligationSink) {
        let Some(below) = self.model.capabilities().postponing else { return };
        let mut owe = |position: usize, successor: &[u8]| {
            let mut successor = successor.to_vec();
            self.represent(self.effort, std::iter::once(successor.as_mut_slice()));
            owed.add(position, &successor);
        };
        self.with_mapped_candidates(out, |inner| {
            below.expand_reduced(states, inner, &mut ObligationSink::new(&mut owe));
        });
    }

    fn expand_postponed(&self, states: &[u8], out: &mut SuccessorSink) {
        let Some(below) = self.model.capabilities().postponing else { return };
        self.with_mapped_candidates(out, |inner| below.expand_postponed(states, inner));
    }
}

impl Simulation for SymmetryModel<'_> {
    fn concrete_space(&self) -> &dyn StateSpace {
        &*self.model
    }

    fn represents(&self, representative: &[u8], state: &[u8]) -> bool {
        let are_states = [representative, state].into_iter().all(|it| {
            it.len() == self.model.width() && self.codes.is_state(&it[..self.layout.bytes])
        });
        are_states && self.canonical(representative) == self.canonical(state)
    }

    fn equivalent_violations(&self, check: Violation) -> Vec<Violation> {
        match &*self.orbits {
            PermutationGroup::Elements(_) => Vec::new(),
            PermutationGroup::Processes { alike, .. } => alike.to(check),
        }
    }

    fn concretise_step(&self, own: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        match concretise_single_step(self, from, to)? {
            None => self.along(own, from, to),
            way => Ok(way),
        }
    }

    fn unreduced_space(&self) -> Option<&dyn StateSpace> {
        None
    }

    fn intermediate_states(&self, _: &[u8], _: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        Ok(None)
    }

    fn concrete_violation_path(&self, _: &[u8], _: Violation) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    fn hides_action(&self, _: ActionId) -> bool {
        false
    }

    fn concrete_action_counts(&self, taken: ActionCounts) -> ActionCounts {
        taken
    }

    fn preserves_depth(&self) -> bool {
        true
    }
}

impl SymmetryModel<'_> {
    /// Concretises a transition that is several transitions of the base system. The base system gives them from the
    /// representative of `from`; they are the same up to renaming.
    fn along(&self, own: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let Some(lift) = self.model.capabilities().simulation else { return Ok(None) };
        let mut led = Vec::new();
        let run = |out: &mut SuccessorSink| self.model.expand(own, out);
        let _ = SuccessorSink::collect(self.width(), &mut led, run)?;
        let led = led.chunks_exact(self.width()).filter(|it| self.represents(to, it)).min();
        let Some(led) = led else { return Ok(None) };
        let Some(steps) = lift.intermediate_states(own, led)? else { return Ok(None) };
        let mut way: Vec<Vec<u8>> = Vec::new();
        for step in steps {
            let at = way.last().map_or(from, Vec::as_slice);
            let Some(mut next) = concretise_single_step(self, at, &step)? else { return Ok(None) };
            way.append(&mut next);
        }
        Ok(Some(way))
    }
}
