//! Partial-order reduction: explores one order of transitions that are independent.
//!
//! In each state it chooses some of the enabled transitions. The chosen ones form a persistent set: whatever other
//! transitions execute, the chosen ones stay enabled and have the same effect. Runs that differ only in the order of
//! such transitions are explored once (Holzmann, Godefroid and Pirottin, "Coverage preserving reduction strategies
//! for reachability analysis", 1992; Godefroid and Pirottin, "Refining dependencies improves partial-order
//! verification methods", 1993; Valmari, "Stubborn sets for reduced state space generation", 1989).
//!
//! - `relation`: the dependence of action instances, as bit sets.
//! - `visibility`: the instances that may change what a claim reads.
//! - `facts`: the conditions that do not hold in a state; `tables` reads them from the state.
//! - `singletons`, `deletion`, `processes`: the methods; `stubborn`: closed sets with given members; `enabling_sets`: the
//!   sets that members of closed sets require.
//! - `choice`: applies one method; `choice_cache` caches its choices by the enabled instances (`state_facts`) and the
//!   needed facts (`fact_dependence`).
//! - `multi_stubborn`: several stubborn sets of one state, whose transitions are taken simultaneously.
//! - `sleep`: omits chosen transitions whose successors another order reaches; `sleep_sets`: sleep sets as values of
//!   states.
//! - `static_proviso`: an order of the states, as cycle proviso.
//! - `frozen_parameters`: the configuration of a state; `future_processes`: the requirements for processes that start
//!   later; `program_chooser`: the chooser of each configuration.
//! - `model`: the reduced transition system; `blocks`: states that it expands in one batch.
//!
//! The cycle proviso prevents that a transition is postponed for ever: see
//! [`Postpones`](spillway_model::PostponingStateSpace) and `docs/reductions.md`.

mod blocks;
mod chains;
mod choice;
mod choice_cache;
mod deletion;
mod enabling_sets;
mod entries;
mod fact_dependence;
mod facts;
#[cfg(test)]
mod fault_tests;
mod frozen_parameters;
mod future_processes;
mod injected_faults;
mod member_counters;
mod model;
mod multi_stubborn;
mod processes;
mod program_chooser;
mod relation;
mod singletons;
mod sleep;
mod sleep_sets;
mod state_facts;
mod static_proviso;
mod stubborn;
mod tables;
#[cfg(test)]
mod test_programs;
mod visibility;
#[cfg(test)]
mod visibility_tests;

pub use entries::{CONFLUENCE, POR, SIMULTANEOUS};
pub use frozen_parameters::follows_live_processes;

use super::{
    NotApplied, PreservedProperties, PropertyClass, Reduction, ReductionKind, ReductionRefusal,
    ReductionStack, ReductionTraits, confluence, simultaneous,
};
use chains::{ChainBuffers, ChainRunner};
use model::PartialOrderModel;
use program_chooser::{ChecksOrRuns, ProgramChooser};
use sleep::SleepSetReducedModel;
use spillway_analysis::bit_sets;
use spillway_analysis::instances::InstanceId;
use spillway_base::budget::AnalysisBudget;
use spillway_base::numbers::{count, grouped};
use spillway_exec::{Interp, SelectiveStateSpace};
use spillway_ir::layout::CellId;
use spillway_ir::{ActionId, Layout};
use spillway_model::{CheckSelection, Counters, StateSpace};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of states that are tested together for whether chains pass through them.
const PASSED_TOGETHER: usize = 256;

/// The method that chooses transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialOrderMethod {
    /// Those of one process that no other process can disturb (1992, Algorithm 2).
    Local,
    /// Those of a set of processes that no other process can disturb, now or later (Overman 1981).
    Overman,
    /// The enabled part of a strong stubborn set with few enabled members (Valmari 1989).
    Stubborn,
    /// As `Stubborn`, by a relation that depends on the lengths of channels and the values of counters (1993).
    Conditional,
    /// All that are not in the sleep set (1992, Algorithm 3).
    Sleep,
    /// Those of `Local` that are not in the sleep set.
    LocalSleep,
    /// A single [confluent](super::confluence) one, if one is enabled; otherwise all.
    Confluence,
    /// A single confluent one, if one is enabled; otherwise as with `Conditional`.
    ConfluentConditional,
    /// One of each of several sets, [taken together](super::simultaneous); the first set is chosen as with
    /// `Conditional`.
    Simultaneous,
}

impl PartialOrderMethod {
    /// The default method, which is also the one that `auto` tries.
    pub const DEFAULT: PartialOrderMethod = PartialOrderMethod::Conditional;

    /// Every method of partial order alone.
    pub const ALL: [PartialOrderMethod; 6] = [
        PartialOrderMethod::Local,
        PartialOrderMethod::Overman,
        PartialOrderMethod::Stubborn,
        PartialOrderMethod::Conditional,
        PartialOrderMethod::Sleep,
        PartialOrderMethod::LocalSleep,
    ];

    /// Returns the method with a name.
    pub fn of_name(name: &str) -> Option<PartialOrderMethod> {
        PartialOrderMethod::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns the names of the table entries that the method belongs to.
    pub(super) fn entries(self) -> &'static [&'static str] {
        match self {
            PartialOrderMethod::Confluence => &["confluence"],
            PartialOrderMethod::ConfluentConditional => &["por", "confluence"],
            PartialOrderMethod::Simultaneous => &["simultaneous", "por"],
            _ => &["por"],
        }
    }

    /// Returns the name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            PartialOrderMethod::Local => "local",
            PartialOrderMethod::Overman => "overman",
            PartialOrderMethod::Stubborn => "stubborn",
            PartialOrderMethod::Conditional => "conditional",
            PartialOrderMethod::Sleep => "sleep",
            PartialOrderMethod::LocalSleep => "local+sleep",
            PartialOrderMethod::Confluence => "confluence",
            PartialOrderMethod::ConfluentConditional => "confluence+conditional",
            PartialOrderMethod::Simultaneous => "simultaneous",
        }
    }

    /// Whether the dependence relation depends on the state.
    pub(crate) fn is_conditional(self) -> bool {
        matches!(
            self,
            PartialOrderMethod::Conditional
                | PartialOrderMethod::ConfluentConditional
                | PartialOrderMethod::Simultaneous
        )
    }

    /// Whether one transition may be composed of several, of disjoint sets.
    pub fn takes_several(self) -> bool {
        self == PartialOrderMethod::Simultaneous
    }

    /// Whether the method uses sleep sets.
    pub(crate) fn sleeps(self) -> bool {
        matches!(self, PartialOrderMethod::Sleep | PartialOrderMethod::LocalSleep)
    }

    /// Whether confluent transitions have priority.
    pub fn is_confluent(self) -> bool {
        matches!(self, PartialOrderMethod::Confluence | PartialOrderMethod::ConfluentConditional)
    }

    /// Returns the method that remains if no transition is confluent, or `None` if nothing remains.
    fn without_confluence(self) -> Option<PartialOrderMethod> {
        match self {
            PartialOrderMethod::Confluence => None,
            PartialOrderMethod::ConfluentConditional => Some(PartialOrderMethod::Conditional),
            other => Some(other),
        }
    }

    /// Returns the refusal of partial order with this method.
    pub fn refusal(self, reason: NotApplied) -> ReductionRefusal {
        let (reductions, name) = (vec![POR.name.into()], self.reduction_name());
        ReductionRefusal { reductions, name, reason }
    }

    /// Returns the name of the reduction.
    pub fn reduction_name(self) -> String {
        match self {
            PartialOrderMethod::Confluence => confluence::NAME.into(),
            PartialOrderMethod::ConfluentConditional => {
                format!(
                    "{} and partial order {}",
                    confluence::NAME,
                    PartialOrderMethod::Conditional.name()
                )
            }
            PartialOrderMethod::Simultaneous => simultaneous::NAME.into(),
            method => format!("partial order {}", method.name()),
        }
    }
}

/// The cycle proviso: prevents that a transition is postponed for ever. Deadlocks alone need none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleProviso {
    /// Re-expands a state unless one of its chosen transitions leads to the next level.
    Levels,
    /// Takes the proviso transitions at once, unless a chosen transition ascends in an order of the states.
    Static,
    /// Passes through states with a single chosen transition; takes the proviso transitions at the end of the chain.
    Chains,
    /// Passes through states; takes the proviso transitions if no chain from a state ends in a greater state.
    StaticChains,
}

impl CycleProviso {
    /// Every proviso.
    pub const ALL: [CycleProviso; 4] = [
        CycleProviso::Static,
        CycleProviso::Levels,
        CycleProviso::Chains,
        CycleProviso::StaticChains,
    ];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CycleProviso::Levels => "levels",
            CycleProviso::Static => "static",
            CycleProviso::Chains => "chains",
            CycleProviso::StaticChains => "static+chains",
        }
    }

    /// Returns the proviso with a name.
    pub fn of_name(name: &str) -> Option<CycleProviso> {
        CycleProviso::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Whether the proviso uses an order of the states.
    fn orders_states(self) -> bool {
        matches!(self, CycleProviso::Static | CycleProviso::StaticChains)
    }
}

/// A method and a cycle proviso.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialOrderStrategy {
    /// The method that chooses transitions.
    pub method: PartialOrderMethod,
    /// The cycle proviso for the postponed transitions.
    pub proviso: CycleProviso,
}

impl From<PartialOrderMethod> for PartialOrderStrategy {
    fn from(method: PartialOrderMethod) -> PartialOrderStrategy {
        PartialOrderStrategy { method, proviso: CycleProviso::Static }
    }
}

/// Partial-order reduction of one program for the selected checks.
#[derive(Clone)]
pub struct PartialOrder<'m> {
    selective: Arc<dyn SelectiveStateSpace + 'm>,
    choosers: Arc<ProgramChooser<'m>>,
    /// The requested method. Another one is used if the program has no confluent transitions.
    wanted: PartialOrderMethod,
}

impl<'m> PartialOrder<'m> {
    /// Returns the enabled instances that are chosen in a state before any re-expansion, ascending.
    pub fn chosen_instances(&self, state: &[u8]) -> spillway_model::Result<Vec<InstanceId>> {
        let mut sets = self.selective.instances().sets();
        self.selective.enabled(state, &mut sets)?;
        if sets.is_none(0) {
            return Ok(Vec::new());
        }
        let mut rooms = self.choosers.rooms();
        let chosen = self.choosers.choose(state, sets.words(0), &mut rooms).chosen.to_vec();
        sets.words_mut(0).copy_from_slice(&chosen);
        Ok(sets.iter(0).collect())
    }

    /// Returns the confluent action instances, which are taken first where they are enabled.
    pub fn confluent(&self) -> Vec<InstanceId> {
        bit_sets::members(self.choosers.confluent()).map(|it| InstanceId(it as u32)).collect()
    }

    /// Returns the first action of each confluent instance.
    pub fn confluent_actions(&self) -> Vec<ActionId> {
        let instances = self.selective.instances();
        let begins = self.confluent().into_iter().filter_map(|it| instances.get(it));
        begins.filter_map(|it| Some(it.sides().next()?.action)).collect()
    }

    /// Creates the reduction of a program. `selective` executes the chosen instances. Returns the reason if it does
    /// not apply.
    pub fn of(
        interp: &'m Interp,
        selective: Box<dyn SelectiveStateSpace + 'm>,
        way: impl Into<PartialOrderStrategy>,
        checks: &CheckSelection,
        budget: &AnalysisBudget,
    ) -> Result<PartialOrder<'m>, NotApplied> {
        let (way, sought) = (way.into(), ChecksOrRuns::Checks(checks));
        let choosers = Arc::new(ProgramChooser::new(interp, way, sought, budget)?);
        Ok(PartialOrder { selective: selective.into(), choosers, wanted: way.method })
    }

    /// Creates the reduction that preserves the infinite runs accepted by the program's claim, which must be stutter
    /// invariant.
    pub fn for_infinite_runs(
        interp: &'m Interp,
        selective: Box<dyn SelectiveStateSpace + 'm>,
        way: impl Into<PartialOrderStrategy>,
        budget: &AnalysisBudget,
    ) -> Result<PartialOrder<'m>, NotApplied> {
        let way = way.into();
        let choosers = Arc::new(ProgramChooser::new(interp, way, ChecksOrRuns::Runs, budget)?);
        Ok(PartialOrder { selective: selective.into(), choosers, wanted: way.method })
    }

    /// Returns the same reduction with another proviso. It keeps the computed relation. A reduction whose proviso has
    /// no order of the states cannot get one.
    pub fn with_proviso(&self, proviso: CycleProviso) -> PartialOrder<'m> {
        let choosers = Arc::new(self.choosers.with_proviso(proviso));
        PartialOrder { selective: self.selective.clone(), choosers, wanted: self.wanted }
    }

    /// Returns the proviso that passes through states with the fewest re-expansions: with an order of the states, if
    /// postponed transitions may be proviso obligations.
    pub fn chain_proviso(&self) -> CycleProviso {
        match self.choosers.has_proviso_obligations() {
            true => CycleProviso::StaticChains,
            false => CycleProviso::Chains,
        }
    }

    /// Returns for each of some states whether a chain passes through it.
    ///
    /// # Errors
    ///
    /// If the program fails other than by a violation.
    pub fn passes_through(&self, states: &[u8]) -> spillway_model::Result<Vec<bool>> {
        let width = self.choosers.width();
        let chains = ChainRunner { selective: &*self.selective, choosers: &self.choosers, width };
        let (mut room, mut after, mut leads) = (ChainBuffers::new(chains), Vec::new(), Vec::new());
        for block in states.chunks(PASSED_TOGETHER * width) {
            chains.step(block, &mut after, &mut leads, &mut room)?;
        }
        Ok(leads)
    }

    /// Returns the same reduction with another executor of the program.
    pub fn with_executor(&self, selective: Box<dyn SelectiveStateSpace + 'm>) -> PartialOrder<'m> {
        PartialOrder { selective: selective.into(), ..self.clone() }
    }
}

impl PartialOrder<'_> {
    /// Deadlocks keep their depth. Other violations are found, but possibly deeper.
    fn preserves(&self) -> PreservedProperties {
        if self.choosers.is_for_infinite_runs() {
            return PreservedProperties::ALL
                .without(PropertyClass::StepErrors)
                .without(PropertyClass::Invariants)
                .without(PropertyClass::Claims)
                .without(PropertyClass::Depth);
        }
        let mut kept = PreservedProperties::ALL
            .without(PropertyClass::Claims)
            .without(PropertyClass::StutterInvariant);
        if !self.choosers.preserves_claim() {
            kept = kept.without(PropertyClass::StutteringClaims);
        }
        match self.choosers.method() {
            PartialOrderMethod::Sleep => return kept,
            PartialOrderMethod::LocalSleep => {
                return kept.without(PropertyClass::StepErrors).without(PropertyClass::Invariants);
            }
            _ => {}
        }
        match self.choosers.has_proviso_obligations() || self.choosers.may_take_several_steps() {
            true => kept.without(PropertyClass::Depth),
            false => kept,
        }
    }
}

impl<'m> Reduction<'m> for PartialOrder<'m> {
    fn name(&self) -> String {
        self.choosers.method().reduction_name()
    }

    fn traits(&self) -> ReductionTraits {
        let choosers = &self.choosers;
        let has_obligations = choosers.has_proviso_obligations();
        let proviso = match choosers.proviso() {
            _ if !has_obligations => "none needed",
            CycleProviso::Levels => "obligations",
            CycleProviso::Static => "static order",
            CycleProviso::Chains => "chains",
            CycleProviso::StaticChains => "static order and chains",
        };
        let are_asleep = choosers.sleep_sets().is_some();
        let is_left_out = self.wanted.is_confluent() && !choosers.method().is_confluent();
        let reason = || NotApplied::NothingFound(CONFLUENCE.nothing_found.into());
        let unused = is_left_out.then(|| CONFLUENCE.refusal(reason()));
        let entries = choosers.method().entries().to_vec();
        ReductionTraits {
            proviso: Some(proviso),
            orders_states: has_obligations && choosers.proviso() != CycleProviso::Levels,
            stores_all: !(are_asleep || choosers.may_reexpand() || choosers.runs_chains()),
            unused: unused.into_iter().collect(),
            ..ReductionTraits::new(entries, ReductionKind::Choice, self.preserves())
        }
    }

    fn members_examined(&self) -> u64 {
        self.choosers.members_examined()
    }

    fn describe_effect(&self, counters: &Counters) -> Option<String> {
        let Counters { partially_expanded, re_expanded, skipped, .. } = *counters;
        let fewer = format!("{} partially expanded", count(partially_expanded, "state"));
        let confluent = self.confluent().len() as u64;
        let fewer = match confluent {
            0 => fewer,
            some => format!("{} confluent; {fewer}", count(some, "action instance")),
        };
        let through = match self.choosers.may_take_several_steps() {
            true => format!(", {} passed through without being stored", grouped(skipped)),
            false => String::new(),
        };
        Some(match self.choosers.may_reexpand() {
            true => format!("{fewer}, {} of them re-expanded{through}", grouped(re_expanded)),
            false => format!("{fewer}{through}"),
        })
    }

    fn conflict(&self, before: &ReductionStack<'m>) -> Option<NotApplied> {
        let already = before.names(&[ReductionKind::Choice]);
        already.into_iter().next().map(NotApplied::AlreadyChosen)
    }

    fn changed_cells(&self, _: &Layout) -> BTreeSet<CellId> {
        BTreeSet::new()
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        let (selective, choosers) = (self.selective.clone(), self.choosers.clone());
        match self.choosers.sleep_sets().cloned() {
            None => Box::new(PartialOrderModel::new(model, selective, choosers)),
            Some(sets) => Box::new(SleepSetReducedModel::new(model, selective, choosers, sets)),
        }
    }
}
