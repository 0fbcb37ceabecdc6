//! Partial-order reduction: of steps that do not disturb each other one order is enough.
//!
//! In each state some of what is enabled is chosen such that whatever else happens first, what was
//! chosen stays possible and leads to the same. Runs that differ only in the order of such steps are
//! then followed once (Holzmann, Godefroid and Pirottin, "Coverage preserving reduction strategies for
//! reachability analysis", 1992; Godefroid and Pirottin, "Refining dependencies improves partial-order
//! verification methods", 1993; Valmari, "Stubborn sets for reduced state space generation", 1989).
//!
//! - `relation`: which action instances disturb which, as sets of bits; `facts`: what does not hold in a
//!   state, read off it by `tables`;
//! - `stubborn` with `deletion` and what both ask, `enabling_sets`; `processes`: the methods; `choice`: one of them at work, `choice_cache`: what it
//!   remembers, by what is enabled (`state_facts`) and the facts that are asked for then (`fact_dependence`); `multi_stubborn`: several sets of
//!   one state, whose steps are taken together;
//! - `sleep`: which steps are left out, of those chosen, since another order has been taken; `sleep_sets`: as
//!   values of states;
//! - `static_proviso`: the order of states that keeps steps from being put off for ever;
//! - `frozen_parameters`: what is known of processes once all have been started, `program_chooser`: the choice for each;
//! - `model`: the model that is left; `blocks`: states that it looks at together.
//!
//! What is put off must not be put off for ever: see [`Postpones`](crate::model::PostponingStateSpace) and
//! `docs/reductions.md`.

mod blocks;
mod chains;
mod choice;
mod choice_cache;
mod deletion;
mod enabling_sets;
mod entries;
mod fact_dependence;
mod facts;
mod frozen_parameters;
mod model;
mod multi_stubborn;
mod processes;
mod program_chooser;
mod relation;
mod sleep;
mod sleep_sets;
mod state_facts;
mod static_proviso;
mod stubborn;
mod tables;

pub use entries::{CONFLUENCE, POR, SIMULTANEOUS};

use super::{
    NotApplied, PreservedProperties, PropertyClass, Reduction, ReductionKind, ReductionRefusal,
    ReductionStack, ReductionTraits, confluence, simultaneous,
};
use crate::analysis::bit_sets;
use crate::analysis::instances::InstanceId;
use crate::budget::AnalysisBudget;
use crate::exec::{Interp, SelectiveStateSpace};
use crate::ir::layout::CellId;
use crate::ir::{ActionId, Layout};
use crate::model::{CheckSelection, Counters, StateSpace};
use crate::numbers::{count, grouped};
use model::PartialOrderModel;
use program_chooser::{ChecksOrRuns, ProgramChooser};
use sleep::SleepSetReducedModel;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How steps are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialOrderMethod {
    /// Those of a process, where they are all its own matter (1992, Algorithm 2).
    Local,
    /// Those of a set of processes that nobody else disturbs, now or later (Overman 1981).
    Overman,
    /// A strong stubborn set with few enabled steps (Valmari 1989).
    Stubborn,
    /// The same, with a relation that depends on how full channels are and what counters hold (1993).
    Conditional,
    /// All, but for those that are asleep (1992, Algorithm 3).
    Sleep,
    /// Those of a process, as with `Local`, but for those that are asleep.
    LocalSleep,
    /// One that is [confluent](super::confluence), where there is one; else all.
    Confluence,
    /// One that is confluent, where there is one; else as with `Conditional`.
    ConfluentConditional,
    /// One each of several sets, [taken together](super::simultaneous), the first as with `Conditional`.
    Simultaneous,
}

impl PartialOrderMethod {
    /// The method where none is named, and the one that `auto` tries.
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

    /// The method of a name.
    pub fn of_name(name: &str) -> Option<PartialOrderMethod> {
        PartialOrderMethod::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The names of the reductions of the table that it is.
    pub(super) fn entries(self) -> &'static [&'static str] {
        match self {
            PartialOrderMethod::Confluence => &["confluence"],
            PartialOrderMethod::ConfluentConditional => &["por", "confluence"],
            PartialOrderMethod::Simultaneous => &["simultaneous", "por"],
            _ => &["por"],
        }
    }

    /// As the command line and reports call it.
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

    /// Whether what does not go together depends on the state.
    pub(crate) fn is_conditional(self) -> bool {
        matches!(
            self,
            PartialOrderMethod::Conditional
                | PartialOrderMethod::ConfluentConditional
                | PartialOrderMethod::Simultaneous
        )
    }

    /// Whether a step may be several, of sets that have nothing in common.
    pub fn takes_several(self) -> bool {
        self == PartialOrderMethod::Simultaneous
    }

    /// Whether steps are asleep.
    pub(crate) fn sleeps(self) -> bool {
        matches!(self, PartialOrderMethod::Sleep | PartialOrderMethod::LocalSleep)
    }

    /// Whether confluent steps are taken at once.
    pub fn is_confluent(self) -> bool {
        matches!(self, PartialOrderMethod::Confluence | PartialOrderMethod::ConfluentConditional)
    }

    /// What is left of it where no step is confluent, if anything is.
    fn without_confluence(self) -> Option<PartialOrderMethod> {
        match self {
            PartialOrderMethod::Confluence => None,
            PartialOrderMethod::ConfluentConditional => Some(PartialOrderMethod::Conditional),
            other => Some(other),
        }
    }

    /// What the reduction by it is called.
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

/// What keeps steps from being put off for ever, where more is looked for than deadlocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleProviso {
    /// A state is taken up again unless one of its chosen steps leads to the next level.
    Levels,
    /// What is looked for is taken up at once, unless one of the chosen steps climbs in an order of the states.
    Static,
    /// States of which a single step is taken are run through; where that ends what is looked for is taken up.
    Chains,
    /// States are run through; where that ends in no state above where it began what is looked for is taken up.
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

    /// As the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            CycleProviso::Levels => "levels",
            CycleProviso::Static => "static",
            CycleProviso::Chains => "chains",
            CycleProviso::StaticChains => "static+chains",
        }
    }

    /// The proviso of a name.
    pub fn of_name(name: &str) -> Option<CycleProviso> {
        CycleProviso::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Whether it goes by an order of the states.
    fn orders_states(self) -> bool {
        matches!(self, CycleProviso::Static | CycleProviso::StaticChains)
    }
}

/// How steps are chosen, and what keeps the others from being put off for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialOrderStrategy {
    /// How they are chosen.
    pub method: PartialOrderMethod,
    /// What keeps the others from being put off for ever.
    pub proviso: CycleProviso,
}

impl From<PartialOrderMethod> for PartialOrderStrategy {
    fn from(method: PartialOrderMethod) -> PartialOrderStrategy {
        PartialOrderStrategy { method, proviso: CycleProviso::Static }
    }
}

/// Partial-order reduction of one program, searched for some checks.
#[derive(Clone)]
pub struct PartialOrder<'m> {
    selective: Arc<dyn SelectiveStateSpace + 'm>,
    choosers: Arc<ProgramChooser<'m>>,
    /// The method that was asked for: another one is used if the program has nothing for a part of it.
    wanted: PartialOrderMethod,
}

impl<'m> PartialOrder<'m> {
    /// What is taken of a state, at first: enabled instances, ascending.
    pub fn chosen_instances(&self, state: &[u8]) -> crate::model::Result<Vec<InstanceId>> {
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

    /// The action instances that are taken at once where they are possible, as they are confluent.
    pub fn confluent(&self) -> Vec<InstanceId> {
        bit_sets::members(self.choosers.confluent()).map(|it| InstanceId(it as u32)).collect()
    }

    /// The actions that begin each of these.
    pub fn confluent_actions(&self) -> Vec<ActionId> {
        let instances = self.selective.instances();
        let begins = self.confluent().into_iter().filter_map(|it| instances.get(it));
        begins.filter_map(|it| Some(it.sides().next()?.action)).collect()
    }

    /// That of a program, whose steps `selective` takes by choice; or why it cannot be reduced so.
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

    /// The same where the program's claim is looked at for the whole runs that it accepts, and does not see how often a
    /// state is repeated.
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

    /// The same with [`CycleProviso::Levels`], not an order of the states; what it knows of the program is not found out
    /// again.
    pub fn with_level_proviso(&self) -> PartialOrder<'m> {
        let choosers = Arc::new(self.choosers.with_level_proviso());
        PartialOrder { selective: self.selective.clone(), choosers, wanted: self.wanted }
    }

    /// How many members of sets were looked at so far to choose, in all models that were made of it. It is the
    /// same each time if one thread expands the same states.
    pub fn members_examined(&self) -> u64 {
        self.choosers.members_examined()
    }

    /// The same, its steps taken by another executor of the program.
    pub fn with_executor(&self, selective: Box<dyn SelectiveStateSpace + 'm>) -> PartialOrder<'m> {
        PartialOrder { selective: selective.into(), ..self.clone() }
    }
}

impl PartialOrder<'_> {
    /// Deadlocks are found where they are; what is looked for besides is found, but perhaps deeper.
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
            CycleProviso::Static => "an order of the states",
            CycleProviso::Chains => "chains",
            CycleProviso::StaticChains => "an order of the states and chains",
        };
        let are_asleep = choosers.sleep_sets().is_some();
        let is_left_out = self.wanted.is_confluent() && !choosers.method().is_confluent();
        let reason = || NotApplied::NothingFound(CONFLUENCE.nothing_found.into());
        let unused = is_left_out.then(|| ReductionRefusal::of(&CONFLUENCE, reason()));
        let entries = choosers.method().entries().to_vec();
        ReductionTraits {
            proviso: Some(proviso),
            orders_states: has_obligations && choosers.proviso() != CycleProviso::Levels,
            stores_all: !(are_asleep || choosers.may_reexpand() || choosers.runs_chains()),
            unused: unused.into_iter().collect(),
            ..ReductionTraits::new(entries, ReductionKind::Choice, self.preserves())
        }
    }

    fn describe_effect(&self, counters: &Counters) -> Option<String> {
        let Counters { partially_expanded, re_expanded, skipped, .. } = *counters;
        let fewer =
            format!("{} expanded by fewer than all steps", count(partially_expanded, "state"));
        let confluent = self.confluent().len() as u64;
        let fewer = match confluent {
            0 => fewer,
            some => format!("{} confluent; {fewer}", count(some, "action instance")),
        };
        let through = match self.choosers.may_take_several_steps() {
            true => format!(", {} run through without being stored", grouped(skipped)),
            false => String::new(),
        };
        Some(match self.choosers.may_reexpand() {
            true => format!("{fewer}, {} of them again by the rest{through}", grouped(re_expanded)),
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
