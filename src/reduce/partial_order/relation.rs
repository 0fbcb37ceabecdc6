//! What a choice of steps must know of a program, as sets of bits.
//!
//! *Members* of a set are the action instances, by number, and behind them the *watchers*: one for each
//! invariant and each assertion at a location, thought of as an action that is possible where that does
//! not hold. It depends on whatever can change what it reads, and so the choice treats it like any other
//! action that is waited for. So is a claim: its watcher waits for whoever may change what it reads.

use super::facts::{self, FactCollector};
use super::tables::FactReader;
use crate::analysis::access::{AccessTable, ConjunctCondition, GuardConjunct, LocationChange};
use crate::analysis::bit_sets::{self, BitMatrix, BitSetInterner};
use crate::analysis::dependence::{DependenceMatrix, DependenceRelation, ProgramDependence};
use crate::analysis::instances::{ActionInstance, InstanceId};
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::Interp;
use crate::ir::layout::CellId;
use crate::ir::{
    EndRule, Entity, ExprKind, LocationId, ProcessInstance, Program, ProgramProperty, PropertyId,
    PropertyKind,
};
use crate::model::CheckSelection;
use crate::reduce::NotApplied;
use crate::reduce::claim::StutterDependence;
use std::collections::BTreeMap;

/// Programs with more action instances are not reduced: all pairs of them are looked at.
const INSTANCES_MAX: u32 = 8192;

/// Units of work to find out who may make a condition hold.
const EACH_CONDITION: u64 = 64;

/// What is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VerificationGoal {
    /// What is checked.
    pub checks: CheckSelection,
    /// Of a claim that is searched with, which does not see stuttering, what runs it follows.
    pub claim: Option<StutterDependence>,
    /// Whether the claim is looked at for the whole runs that it accepts.
    pub infinite_runs: bool,
}

/// How the action instances in a table stand to each other, or why that is not found out.
pub(super) fn dependence<'t>(
    table: &'t AccessTable<'t>,
    budget: &AnalysisBudget,
) -> Result<DependenceRelation<'t>, NotApplied> {
    let found = DependenceRelation::new(table, INSTANCES_MAX, budget)?;
    found.ok_or(NotApplied::TooManyInstances(INSTANCES_MAX))
}

/// One of the conditions that a member waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EnablingCondition {
    /// The fact that it does not hold, if that can be read off a state.
    pub fact: Option<usize>,
    /// Whether it holds wherever that fact is none.
    pub decides: bool,
    /// The number of the set of those that may make it hold.
    pub enabling: usize,
    /// The process that has to move for it, by its number in `movers`, if it is about one.
    pub mover: Option<usize>,
}

/// A location of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MoverLocation {
    /// The fact that the process is not there.
    pub fact: usize,
    /// The number of the set of those whose steps may take it from there.
    pub leaving: usize,
}

/// A set that has to be with a member for some values of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueDependence {
    /// The fact that the cell has another value, if that can be read off a state.
    pub unless: Option<usize>,
    /// The number of the set.
    pub with: usize,
}

/// The members of a program's sets, and how they stand to each other.
#[derive(Clone, Debug)]
pub(super) struct MemberRelation {
    /// The action instances are the members below.
    pub instances: usize,
    /// Of each member those that do not go with it where both are possible: one may be disabled, or the
    /// order may matter.
    pub dependent: BitMatrix,
    /// Of each member those that do not go with it for some values of a cell only.
    pub value_dependences: Vec<Vec<ValueDependence>>,
    /// What each member waits for.
    pub waits: Vec<Vec<EnablingCondition>>,
    /// Of each process that is waited for where it may be.
    pub movers: Vec<Vec<MoverLocation>>,
    /// Sets that are pointed to: of those that may make something hold, or that interact for some values.
    pub enabling: BitMatrix,
    /// The members that something is looked for in: that can fail, or watch.
    pub monitors: Vec<u64>,
    /// Where whole runs are looked at, the members that are taken only with all that is possible: whose steps a claim may
    /// see, or that may end a run.
    pub shown: Option<Vec<u64>>,
    /// Where each process is in a state, and who moves it.
    pub places: Vec<ProcessSlot>,
    pub facts: FactReader,
}

/// A process in a slot, as its location tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessSlot {
    /// The members that it has a part in.
    pub own: Vec<u64>,
    /// Of each location what begins there.
    pub at: BTreeMap<LocationId, LocationMembers>,
    /// Where its steps begin and where it may be after them; where others start it.
    pub moves: Vec<LocationChange>,
}

/// What begins where a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocationMembers {
    /// The fact that it is not there, if that can be read off a state.
    pub fact: Option<usize>,
    /// The members that begin there.
    pub from: Vec<u64>,
}

impl MemberRelation {
    /// That of a program searched for some checks, in the states that the table of its instances is about, the
    /// constant one or the conditional one.
    pub fn new(
        interp: &Interp,
        related: ProgramDependence<'_>,
        aims: &VerificationGoal,
        conditional: bool,
        budget: &AnalysisBudget,
    ) -> Result<MemberRelation, BudgetExceeded> {
        let dependence = related.relation;
        let (table, program) = (dependence.table(), interp.program());
        let watched = watched(program, aims);
        let instances = table.instances().count() as usize;
        let members = instances + watched.len();
        let of_configuration = table.has_fixed_cells();
        // A set for each member, one of the conditions that it waits for, and those that are kept once.
        let words = bit_sets::words_of(members);
        budget.hold(2 * members * words * size_of::<u64>())?;
        let mut building = RelationBuilder::new(interp, of_configuration, related, members);
        let mut waits = Vec::new();
        let (dependent, sometimes) =
            (building.dependent(conditional), building.sometimes(conditional));
        for instance in dependence.instances() {
            let conditions = dependence.access(instance).guard.len();
            budget.work((EACH_CONDITION + words as u64) * (1 + conditions) as u64)?;
            waits.push(building.waits(table, instance));
        }
        let mut relation = MemberRelation {
            instances,
            dependent,
            value_dependences: sometimes,
            waits,
            movers: Vec::new(),
            enabling: BitMatrix::new(0, 0),
            monitors: building.none(),
            shown: None,
            places: Vec::new(),
            facts: FactReader::default(),
        };
        for (at, property) in watched.into_iter().enumerate() {
            building.watch(&mut relation, instances + at, property);
        }
        for instance in building.failing_instances(&aims.checks) {
            bit_sets::insert(&mut relation.monitors, instance.index());
        }
        if aims.claim.is_some_and(|it| it != StutterDependence::Always) {
            building.join_monitors(&mut relation);
        }
        relation.shown = aims.infinite_runs.then(|| building.shown());
        relation.places = building.places(table);
        let RelationBuilder { pointed, facts, movers, .. } = building;
        relation.movers = movers;
        relation.enabling = pointed.into_rows();
        relation.number_facts(facts);
        Ok(relation)
    }

    /// The bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        let words = |rows: &BitMatrix| rows.count() * rows.words() * size_of::<u64>();
        words(&self.dependent) + words(&self.enabling)
    }

    /// Whether the same is chosen by another wherever the same is enabled and the facts are the same, however
    /// these are read.
    pub fn chooses_like(&self, other: &MemberRelation) -> bool {
        let MemberRelation {
            instances,
            dependent,
            value_dependences: sometimes,
            waits,
            movers,
            enabling,
            monitors,
            shown,
            places,
            facts,
        } = self;
        (*instances, facts.words()) == (other.instances, other.facts.words())
            && (dependent, enabling) == (&other.dependent, &other.enabling)
            && (monitors, shown) == (&other.monitors, &other.shown)
            && (sometimes, waits) == (&other.value_dependences, &other.waits)
            && (movers, places) == (&other.movers, &other.places)
    }

    /// The instances that something is looked for in or behind, as a set of instances.
    pub fn visible(&self) -> Vec<u64> {
        let mut visible = vec![0; bit_sets::words_of(self.instances)];
        let is_watched =
            |it: &usize| bit_sets::members(self.dependent.row(*it)).any(|it| it >= self.instances);
        let is_seen = |it: &usize| bit_sets::has(&self.monitors, *it) || is_watched(it);
        (0..self.instances).filter(is_seen).for_each(|it| bit_sets::insert(&mut visible, it));
        visible
    }

    /// Whether anything is looked for but deadlocks.
    pub fn has_monitors(&self) -> bool {
        bit_sets::count(&self.monitors) > 0
    }

    /// Whether anything is looked for but what one property says.
    pub fn has_several_monitors(&self) -> bool {
        bit_sets::count(&self.monitors) > 1
    }

    /// Whether some of those in two sets is taken only with all that is possible.
    pub fn intersects_visible(&self, set: &[u64], enabled: &[u64]) -> bool {
        let Some(shown) = &self.shown else { return false };
        shown.iter().zip(set).zip(enabled).any(|((shown, set), enabled)| shown & set & enabled != 0)
    }

    /// The sets that have to be with a member which is possible, for the values that cells have by the facts.
    pub fn value_dependent_sets(
        &self,
        member: usize,
        facts: &[u64],
    ) -> impl Iterator<Item = usize> {
        let is_other =
            move |it: &&ValueDependence| !it.unless.is_some_and(|fact| bit_sets::has(facts, fact));
        self.value_dependences[member].iter().filter(is_other).map(|it| it.with)
    }

    /// The sets that all have to be with a member which is not possible though nothing is known to fail.
    pub fn unrefuted_enabling_sets(&self, member: usize) -> impl Iterator<Item = usize> {
        let waits = &self.waits[member];
        // If all of them hold, it is not understood why it is not possible.
        let any = waits.iter().any(|it| !it.decides);
        waits.iter().filter(move |it| !any || !it.decides).map(|it| it.enabling)
    }

    fn number_facts(&mut self, collected: FactCollector) {
        let (facts, numbers) = collected.finish();
        self.facts = facts;
        let renumber = |fact: &mut Option<usize>| *fact = fact.map(|it| numbers[it]);
        self.waits.iter_mut().flatten().for_each(|wait| renumber(&mut wait.fact));
        self.value_dependences.iter_mut().flatten().for_each(|it| renumber(&mut it.unless));
        self.movers.iter_mut().flatten().for_each(|it| it.fact = numbers[it.fact]);
        let beginnings = self.places.iter_mut().flat_map(|place| place.at.values_mut());
        beginnings.for_each(|it| renumber(&mut it.fact));
    }
}

/// The properties that are looked at.
fn watched(
    program: &Program,
    VerificationGoal { checks, claim, .. }: &VerificationGoal,
) -> Vec<PropertyId> {
    let is_watched = |kind: &PropertyKind| match kind {
        PropertyKind::Invariant(_) | PropertyKind::Cover(_) | PropertyKind::Reached => {
            checks.invariants
        }
        PropertyKind::AssertionAt { .. } => checks.assertions,
        PropertyKind::Claim(_) => claim.is_some(),
        // What holds where nothing goes on is seen in the same states: each of them is found.
        PropertyKind::Assumption(_) | PropertyKind::AtEnd(_) | PropertyKind::Automaton(_) => false,
    };
    let all = program.properties.iter();
    all.filter(|(_, property)| is_watched(&property.kind)).map(|(id, _)| id).collect()
}

/// The instances whose steps may take a process from each location.
fn leaving(
    dependence: &DependenceRelation,
    members: usize,
) -> BTreeMap<(CellId, LocationId), Vec<u64>> {
    let mut leaving: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for instance in dependence.instances() {
        let moves = &dependence.access(instance).effect.moves;
        for moved in moves.iter().filter(|it| it.from != it.to) {
            if let Some(from) = moved.from {
                let row = leaving.entry((moved.cell, from)).or_default();
                row.resize(bit_sets::words_of(members), 0);
                bit_sets::insert(row, instance.index());
            }
        }
    }
    leaving
}

/// A relation being made.
struct RelationBuilder<'b> {
    program: &'b Program,
    dependence: &'b DependenceRelation<'b>,
    matrix: &'b DependenceMatrix,
    members: usize,
    /// Sets that are pointed to.
    pointed: BitSetInterner,
    facts: FactCollector<'b>,
    movers: Vec<Vec<MoverLocation>>,
    /// The number of the process whose location a cell tells, if it is one of these.
    told: BTreeMap<CellId, Option<usize>>,
    /// Whose steps take processes from each location.
    leaving: BTreeMap<(CellId, LocationId), Vec<u64>>,
}

impl<'b> RelationBuilder<'b> {
    fn new(
        interp: &'b Interp,
        of_configuration: bool,
        related: ProgramDependence<'b>,
        members: usize,
    ) -> RelationBuilder<'b> {
        let ProgramDependence { relation: dependence, matrix } = related;
        RelationBuilder {
            program: interp.program(),
            dependence,
            matrix,
            members,
            pointed: BitSetInterner::new(members),
            facts: FactCollector::new(interp, of_configuration),
            movers: Vec::new(),
            told: BTreeMap::new(),
            leaving: leaving(dependence, members),
        }
    }

    fn none(&self) -> Vec<u64> {
        vec![0; bit_sets::words_of(self.members)]
    }

    /// A set of instances as one of members.
    fn as_members(&self, instances: &[u64]) -> Vec<u64> {
        let mut row = self.none();
        row[..instances.len()].copy_from_slice(instances);
        row
    }

    /// Of each member those that have to be with it where it is possible, whatever the values.
    fn dependent(&self, conditional: bool) -> BitMatrix {
        let from = if conditional { &self.matrix.interacting } else { &self.matrix.dependent };
        let mut rows = BitMatrix::new(self.members, self.members);
        for instance in self.dependence.instances() {
            let row = self.as_members(from.row(instance.index()));
            rows.row_mut(instance.index()).copy_from_slice(&row);
        }
        if self.program.end == EndRule::NeverStuttering {
            self.keep_from_stuttering(&mut rows);
        }
        rows
    }

    /// Where a step back to where it began is none that leads on, none may make another such a step: those
    /// that store the same constant are dependent.
    fn keep_from_stuttering(&self, rows: &mut BitMatrix) {
        let mut storing: BTreeMap<CellId, Vec<InstanceId>> = BTreeMap::new();
        for instance in self.dependence.instances() {
            for (cell, _) in &self.dependence.access(instance).effect.sets {
                storing.entry(*cell).or_default().push(instance);
            }
        }
        for all in storing.values() {
            for &one in all {
                for &other in all.iter().filter(|&&it| !self.dependence.exclude(one, it)) {
                    bit_sets::insert(rows.row_mut(one.index()), other.index());
                }
            }
        }
    }

    /// Of each instance those that have to be with it for some values only.
    fn sometimes(&mut self, conditional: bool) -> Vec<Vec<ValueDependence>> {
        let mut all = vec![Vec::new(); self.members];
        if conditional {
            for instance in self.dependence.instances() {
                for it in self.matrix.conditional[instance].clone() {
                    let with = self.as_members(self.matrix.sets.row(it.with));
                    let unless = self.facts.value_fact(it.cell, |value| !it.from(value));
                    let with = self.pointed.intern(with);
                    all[instance.index()].push(ValueDependence { unless, with });
                }
            }
        }
        all
    }

    fn waits(&mut self, table: &AccessTable, instance: InstanceId) -> Vec<EnablingCondition> {
        let guard = &self.dependence.access(instance).guard;
        let sets = self.matrix.enabling_of[instance].clone();
        let constant = |conjunct: &GuardConjunct| match conjunct.expr.map(|it| &it.kind) {
            Some(ExprKind::Constant(value)) => Some(*value != 0),
            _ => None,
        };
        if guard.iter().any(|it| constant(it) == Some(false)) {
            // Nothing makes it possible.
            let (fact, none) = (self.facts.in_any_state(), self.none());
            let enabling = self.pointed.intern(none);
            return vec![EnablingCondition {
                fact,
                decides: fact.is_some(),
                enabling,
                mover: None,
            }];
        }
        // Behind one that may fail, as that is a step, more matters than where a process is.
        let certain = 1 + guard.iter().take_while(|it| !it.may_fail()).count();
        let waits = guard.iter().zip(sets).enumerate();
        let waits = waits.filter(|(_, (it, _))| constant(it).is_none());
        let waits = waits.map(|(at, (conjunct, set))| {
            let row = self.as_members(self.matrix.sets.row(set));
            let computed = self.facts.computed_fact(table.instances(), conjunct);
            let fact = computed.or_else(|| self.facts.failure_fact(&conjunct.condition));
            let decides = computed.is_some() || facts::decide(&conjunct.condition);
            let decides = fact.is_some() && decides;
            let mover = match conjunct.condition {
                ConjunctCondition::At(cell, _) if at < certain => self.mover(table, cell),
                _ => None,
            };
            EnablingCondition { fact, decides, enabling: self.pointed.intern(row), mover }
        });
        waits.collect()
    }

    /// The number of the process whose location a cell tells, if its locations can be read off a state.
    fn mover(&mut self, table: &AccessTable, cell: CellId) -> Option<usize> {
        if let Some(known) = self.told.get(&cell) {
            return *known;
        }
        let found = self.where_it_may_be(table, cell);
        let number = found.map(|found| {
            self.movers.push(found);
            self.movers.len() - 1
        });
        self.told.insert(cell, number);
        number
    }

    fn where_it_may_be(&mut self, table: &AccessTable, cell: CellId) -> Option<Vec<MoverLocation>> {
        let told = |it: &ProcessInstance| table.location_cell(it.process, it.slot) == cell;
        let process = self.program.instances().find(told)?.process;
        let mut found = Vec::new();
        for location in self.program.processes[process].locations.keys() {
            let fact = self.facts.failure_fact(&ConjunctCondition::At(cell, location))?;
            let leaving = self.leaving.get(&(cell, location)).cloned();
            let leaving = leaving.unwrap_or_else(|| self.none());
            let leaving = self.pointed.intern(leaving);
            found.push(MoverLocation { fact, leaving });
        }
        Some(found)
    }

    /// Has a member watch a property.
    fn watch(&mut self, relation: &mut MemberRelation, watcher: usize, property: PropertyId) {
        let mut seen = self.none();
        for instance in self.dependence.visible(property) {
            bit_sets::insert(&mut seen, instance.index());
            bit_sets::insert(relation.dependent.row_mut(instance.index()), watcher);
        }
        relation.dependent.row_mut(watcher).copy_from_slice(&seen);
        let enabling = self.pointed.intern(seen);
        relation.waits.push(vec![EnablingCondition {
            fact: None,
            decides: false,
            enabling,
            mover: None,
        }]);
        bit_sets::insert(&mut relation.monitors, watcher);
    }

    /// Has what a claim sees chosen with all that is looked for: behind it the claim may not follow a run
    /// any more.
    fn join_monitors(&self, relation: &mut MemberRelation) {
        let program = self.program;
        let is_claim = |(_, it): &(_, &ProgramProperty)| matches!(it.kind, PropertyKind::Claim(_));
        for (claim, _) in program.properties.iter().filter(is_claim) {
            for instance in self.dependence.visible(claim) {
                bit_sets::extend(relation.dependent.row_mut(instance.index()), &relation.monitors);
            }
        }
    }

    /// The members whose steps a claim may see, or that may end a run.
    fn shown(&self) -> Vec<u64> {
        let mut shown = self.none();
        let is_claim = |(_, it): &(_, &ProgramProperty)| matches!(it.kind, PropertyKind::Claim(_));
        for (claim, _) in self.program.properties.iter().filter(is_claim) {
            for instance in self.dependence.visible(claim) {
                bit_sets::insert(&mut shown, instance.index());
            }
        }
        let may_end = |it: &InstanceId| {
            let access = self.dependence.access(*it);
            access.effect.may_drop || access.failures().any()
        };
        for instance in self.dependence.instances().filter(may_end) {
            bit_sets::insert(&mut shown, instance.index());
        }
        shown
    }

    /// The instances that something is looked for in: whose step may end in an error.
    fn failing_instances(&self, checks: &CheckSelection) -> Vec<InstanceId> {
        let all = self.dependence.instances();
        let fails = |it: &InstanceId| {
            let failures = self.dependence.access(*it).failures();
            (checks.faults && failures.other) || (checks.assertions && failures.assertion)
        };
        all.filter(fails).collect()
    }

    fn places(&mut self, table: &AccessTable) -> Vec<ProcessSlot> {
        let mut places: BTreeMap<CellId, ProcessSlot> = BTreeMap::new();
        for instance in self.dependence.instances() {
            let sides = table.instances().get(instance).into_iter().flat_map(ActionInstance::sides);
            for side in sides {
                let Some(edge) = self.program.actions[side.action].edge else { continue };
                let cell = table.location_cell(edge.process, side.slot);
                let (own, at, moves) = (self.none(), BTreeMap::new(), Vec::new());
                let place = places.entry(cell).or_insert(ProcessSlot { own, at, moves });
                bit_sets::insert(&mut place.own, instance.index());
                bit_sets::insert(
                    &mut self.beginning(place, cell, edge.from).from,
                    instance.index(),
                );
                let effect = &self.dependence.access(instance).effect;
                for moved in effect.moves.iter().filter(|it| it.cell == cell) {
                    if let Some(to) = moved.to {
                        self.beginning(place, cell, to);
                    }
                    place.moves.push(*moved);
                }
            }
        }
        // Where one has ended another may be started.
        for instance in self.dependence.instances() {
            let moves = &self.dependence.access(instance).effect.moves;
            for started in moves.iter().filter(|it| it.from.is_none()) {
                places.get_mut(&started.cell).into_iter().for_each(|it| it.moves.push(*started));
            }
        }
        places.into_values().collect()
    }

    fn beginning<'p>(
        &mut self,
        place: &'p mut ProcessSlot,
        cell: CellId,
        location: LocationId,
    ) -> &'p mut LocationMembers {
        place.at.entry(location).or_insert_with(|| {
            let fact = self.facts.failure_fact(&ConjunctCondition::At(cell, location));
            LocationMembers { fact, from: self.none() }
        })
    }
}
