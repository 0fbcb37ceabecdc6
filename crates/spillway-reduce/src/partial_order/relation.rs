//! The relations between members that choices use, as bit sets.
//!
//! *Members* of a set are the action instances, by number, followed by the *watchers*: one for each invariant and
//! each assertion at a location. A watcher is treated as an action that is enabled where the property fails. It is
//! dependent on each instance that can change what it reads. So a choice treats it like any other disabled action. A
//! claim has a watcher too, which waits for the instances that may change what the claim reads.

use super::facts::{self, FactCollector};
use super::future_processes::FutureProcesses;
use super::injected_faults::{InjectedFault, is_injected};
use super::tables::FactReader;
use super::visibility::ClaimVisibility;
use crate::NotApplied;
use crate::claim::StutterDependence;
use spillway_analysis::access::{AccessTable, ConjunctCondition, GuardConjunct, LocationChange};
use spillway_analysis::bit_sets::{self, BitMatrix, BitSetInterner};
use spillway_analysis::dependence::{DependenceMatrix, DependenceRelation, ProgramDependence};
use spillway_analysis::instances::{ActionInstance, InstanceId};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{
    EndRule, Entity, ExprKind, LocationId, ProcessInstance, Program, PropertyId, PropertyKind,
};
use spillway_model::CheckSelection;
use std::collections::BTreeMap;

/// Programs with more action instances are not reduced: all pairs of instances are examined.
const INSTANCES_MAX: u32 = 8192;

/// Units of work for the enabling set of one condition.
const EACH_CONDITION: u64 = 64;

/// The properties that the reduction must preserve.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VerificationGoal {
    /// The selected checks.
    pub checks: CheckSelection,
    /// The stutter dependence of the claim that is searched with, if any.
    pub claim: Option<StutterDependence>,
    /// Whether the infinite runs accepted by the claim must be preserved.
    pub infinite_runs: bool,
}

/// Computes the dependence of the action instances in a table, in the states where `timeout` is false, or returns the
/// reason why it is not computed.
pub(super) fn dependence<'t>(
    table: &'t AccessTable<'t>,
    budget: &AnalysisBudget,
) -> Result<DependenceRelation<'t>, NotApplied> {
    let found = DependenceRelation::before_timeout(table, INSTANCES_MAX, budget)?;
    found.ok_or(NotApplied::TooManyInstances(INSTANCES_MAX))
}

/// A condition that a member waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EnablingCondition {
    /// The fact that the condition does not hold, if states show it.
    pub fact: Option<usize>,
    /// Whether the condition holds wherever the fact is absent.
    pub decides: bool,
    /// The number of its enabling set: the members that may make it hold.
    pub enabling: usize,
    /// The index in `movers` of the process whose location it is about, if any.
    pub mover: Option<usize>,
}

/// A location of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MoverLocation {
    /// The fact that the process is not there.
    pub fact: usize,
    /// The number of the set of members that may make the process leave the location.
    pub leaving: usize,
}

/// A set that a member requires for some values of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueDependence {
    /// The fact that the cell has another value, if states show it.
    pub unless: Option<usize>,
    /// The number of the set.
    pub with: usize,
}

/// The members of a program, and the relations between them.
#[derive(Clone, Debug)]
pub(super) struct MemberRelation {
    /// The number of action instances, which are the members below it.
    pub instances: usize,
    /// For each member, those that are dependent on it: where both are enabled, one may disable the other, or the
    /// order may matter.
    pub dependent: BitMatrix,
    /// For each member, those that are dependent on it only for some values of a cell.
    pub value_dependences: Vec<Vec<ValueDependence>>,
    /// The conditions that each member waits for.
    pub waits: Vec<Vec<EnablingCondition>>,
    /// The locations of each process that some condition is about.
    pub movers: Vec<Vec<MoverLocation>>,
    /// The interned sets: enabling sets, leaving sets, and sets that are dependent for some values.
    pub enabling: BitMatrix,
    /// The monitors: the members that can fail, and the watchers.
    pub monitors: Vec<u64>,
    /// For infinite runs, the members that require full expansion: those that a claim may observe, or that may end a
    /// run. `None` otherwise.
    pub shown: Option<Vec<u64>>,
    /// The slots of processes, with their members and location changes.
    pub places: Vec<ProcessSlot>,
    /// The instances whose guards read `timeout`. The relation is valid where any other instance is enabled, because
    /// `timeout` is false there.
    pub asking_for_timeout: Vec<u64>,
    pub facts: FactReader,
}

/// A slot of a process, identified by its location cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessSlot {
    /// The members in which the process takes part.
    pub own: Vec<u64>,
    /// For each location, the members that start there.
    pub at: BTreeMap<LocationId, LocationMembers>,
    /// The location changes of the process, and those by which others start it.
    pub moves: Vec<LocationChange>,
}

/// The members that start at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocationMembers {
    /// The fact that the process is not there, if states show it.
    pub fact: Option<usize>,
    /// The members that start there.
    pub from: Vec<u64>,
}

impl MemberRelation {
    /// Builds the relation of a program for the given goal, in the states that the instance table covers.
    /// `conditional` selects the conditional relation.
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
        // The matrix of members, the enabling sets of their conditions, and the interned sets.
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
            asking_for_timeout: dependence.asking_for_timeout().unwrap_or_default().to_vec(),
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

    /// Takes the monitors, and what they observe, from a relation that holds in all states.
    pub fn watch_like(&mut self, base: &MemberRelation) {
        self.monitors.clone_from(&base.monitors);
        for watcher in self.instances..self.waits.len() {
            let seen = base.dependent.row(watcher);
            for instance in bit_sets::members(seen) {
                bit_sets::insert(self.dependent.row_mut(instance), watcher);
            }
            self.dependent.row_mut(watcher).copy_from_slice(seen);
            let enabling = self.enabling.push(seen);
            let watched = EnablingCondition { fact: None, decides: false, enabling, mover: None };
            self.waits[watcher] = vec![watched];
        }
    }

    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> usize {
        let words = |rows: &BitMatrix| rows.count() * rows.words() * size_of::<u64>();
        words(&self.dependent) + words(&self.enabling)
    }

    /// Whether the other relation gives the same choice for the same enabled instances and facts, regardless of how
    /// facts are read.
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
            asking_for_timeout,
            facts,
        } = self;
        (*instances, facts.words()) == (other.instances, other.facts.words())
            && (dependent, enabling) == (&other.dependent, &other.enabling)
            && (monitors, shown) == (&other.monitors, &other.shown)
            && (sometimes, waits) == (&other.value_dependences, &other.waits)
            && (movers, places) == (&other.movers, &other.places)
            && asking_for_timeout == &other.asking_for_timeout
    }

    /// Returns the visible instances: monitors, and those that a watcher is dependent on.
    pub fn visible(&self) -> Vec<u64> {
        let mut visible = vec![0; bit_sets::words_of(self.instances)];
        let is_watched =
            |it: &usize| bit_sets::members(self.dependent.row(*it)).any(|it| it >= self.instances);
        let is_seen = |it: &usize| bit_sets::has(&self.monitors, *it) || is_watched(it);
        (0..self.instances).filter(is_seen).for_each(|it| bit_sets::insert(&mut visible, it));
        visible
    }

    /// Whether anything but deadlocks is checked.
    pub fn has_monitors(&self) -> bool {
        bit_sets::count(&self.monitors) > 0
    }

    /// Whether there is more than one monitor.
    pub fn has_several_monitors(&self) -> bool {
        bit_sets::count(&self.monitors) > 1
    }

    /// Whether the intersection of both sets has a member that requires full expansion.
    pub fn intersects_visible(&self, set: &[u64], enabled: &[u64]) -> bool {
        let Some(shown) = &self.shown else { return false };
        shown.iter().zip(set).zip(enabled).any(|((shown, set), enabled)| shown & set & enabled != 0)
    }

    /// Returns the sets that an enabled member requires for the values of cells that the facts allow.
    pub fn value_dependent_sets(
        &self,
        member: usize,
        facts: &[u64],
    ) -> impl Iterator<Item = usize> {
        let is_other =
            move |it: &&ValueDependence| !it.unless.is_some_and(|fact| bit_sets::has(facts, fact));
        self.value_dependences[member].iter().filter(is_other).map(|it| it.with)
    }

    /// Returns the sets that a disabled member requires if none of its conditions is known to fail.
    pub fn unrefuted_enabling_sets(&self, member: usize) -> impl Iterator<Item = usize> {
        let waits = &self.waits[member];
        // If all conditions decide, all hold, and the reason why the member is disabled is unknown.
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

/// Returns the properties that need watchers.
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
        // These properties concern states without successors. The reduction preserves each such state.
        PropertyKind::AtEnd(_) | PropertyKind::Constraint(_) => false,
        PropertyKind::Assumption(_) | PropertyKind::Automaton(_) => false,
    };
    let all = program.properties.iter();
    all.filter(|(_, property)| is_watched(&property.kind)).map(|(id, _)| id).collect()
}

/// Returns the members that may make a process leave each location.
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

/// Returns the instances that may change what each claim reads.
fn seen_by_claims(
    interp: &Interp,
    dependence: &DependenceRelation<'_>,
    of_configuration: bool,
) -> BTreeMap<PropertyId, Vec<InstanceId>> {
    let properties = interp.program().properties.iter();
    let seen = properties.filter_map(|(property, it)| match &it.kind {
        PropertyKind::Claim(claim) => {
            let mut visibility = ClaimVisibility::new(interp, dependence, of_configuration);
            let mut visible = visibility.visible(property, claim);
            if is_injected(InjectedFault::HiddenChange) {
                visible.pop();
            }
            Some((property, visible))
        }
        _ => None,
    });
    seen.collect()
}

/// A relation under construction.
struct RelationBuilder<'b> {
    program: &'b Program,
    dependence: &'b DependenceRelation<'b>,
    matrix: &'b DependenceMatrix,
    members: usize,
    /// The interned sets.
    pointed: BitSetInterner,
    facts: FactCollector<'b>,
    movers: Vec<Vec<MoverLocation>>,
    /// The number of the process of each location cell, if it is a mover.
    told: BTreeMap<CellId, Option<usize>>,
    /// The members that may make processes leave each location.
    leaving: BTreeMap<(CellId, LocationId), Vec<u64>>,
    /// The requirements for processes that start later, if the relation is about the runs from a state.
    future: Option<FutureProcesses>,
    /// For each claim, the instances that may change what it reads.
    seen_by_claims: BTreeMap<PropertyId, Vec<InstanceId>>,
}

impl<'b> RelationBuilder<'b> {
    fn new(
        interp: &'b Interp,
        of_configuration: bool,
        related: ProgramDependence<'b>,
        members: usize,
    ) -> RelationBuilder<'b> {
        let ProgramDependence { relation: dependence, matrix } = related;
        let mut leaving = leaving(dependence, members);
        let future = FutureProcesses::of(dependence);
        if let Some(future) = &future {
            leaving.values_mut().for_each(|it| future.complete_leaving(it));
        }
        RelationBuilder {
            program: interp.program(),
            dependence,
            matrix,
            members,
            pointed: BitSetInterner::new(members),
            facts: FactCollector::new(interp, of_configuration),
            movers: Vec::new(),
            told: BTreeMap::new(),
            leaving,
            future,
            seen_by_claims: seen_by_claims(interp, dependence, of_configuration),
        }
    }

    /// Returns the instances that may change whether a property holds.
    fn visible(&self, property: PropertyId) -> Vec<InstanceId> {
        let seen = self.seen_by_claims.get(&property).cloned();
        seen.unwrap_or_else(|| self.dependence.visible(property))
    }

    fn none(&self) -> Vec<u64> {
        vec![0; bit_sets::words_of(self.members)]
    }

    /// Converts a set of instances to a set of members.
    fn as_members(&self, instances: &[u64]) -> Vec<u64> {
        let mut row = self.none();
        row[..instances.len()].copy_from_slice(instances);
        row
    }

    /// Returns the unconditional dependence: for each member, those that it requires where it is enabled, for all
    /// values.
    fn dependent(&self, conditional: bool) -> BitMatrix {
        let from = if conditional { &self.matrix.interacting } else { &self.matrix.dependent };
        let mut rows = BitMatrix::new(self.members, self.members);
        for instance in self.dependence.instances() {
            let mut row = from.row(instance.index()).to_vec();
            if let Some(future) = &self.future {
                let dependent = self.matrix.dependent.row(instance.index());
                future.complete_dependence(self.dependence, instance, dependent, &mut row);
            }
            let row = self.as_members(&row);
            rows.row_mut(instance.index()).copy_from_slice(&row);
        }
        if self.program.end == EndRule::NeverStuttering {
            self.keep_from_stuttering(&mut rows);
        }
        rows
    }

    /// If self-loops do not count as progress, no instance may turn another's transition into a self-loop. So
    /// instances that store the same constant are dependent.
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

    /// Returns the conditional dependence: the sets that an instance requires only for some values.
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
            // The relation is about states in which `timeout` is false.
            Some(ExprKind::Timeout) => Some(false),
            _ => None,
        };
        let access = self.dependence.access(instance);
        let starts = self.future.as_ref().and_then(|it| it.starts_of(instance));
        if let Some(starts) = starts.map(<[u64]>::to_vec) {
            return vec![self.wait_in_any_state(&starts)];
        }
        if guard.is_empty()
            && let Some(future) = &self.future
        {
            // The live processes never enable the member.
            let ends = future.ends_of(instance);
            return vec![self.wait_in_any_state(&ends)];
        }
        if access.certain_conjuncts().any(|it| constant(it) == Some(false)) {
            // Nothing can enable the member.
            return vec![self.wait_in_any_state(&[])];
        }
        // The location alone decides only up to the first conjunct that may fail: a failure is a transition.
        let certain = 1 + guard.iter().take_while(|it| !it.may_fail()).count();
        let waits = guard.iter().zip(sets).enumerate();
        let waits = waits.filter(|(_, (it, _))| constant(it).is_none());
        let waits = waits.map(|(at, (conjunct, set))| {
            let mut row = self.matrix.sets.row(set).to_vec();
            if let Some(future) = &self.future {
                future.complete_enabling(instance, conjunct, &mut row);
            }
            let row = self.as_members(&row);
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

    /// Returns a condition that holds in no state in question, and that only some instances can make hold later.
    fn wait_in_any_state(&mut self, enabling: &[u64]) -> EnablingCondition {
        let fact = self.facts.in_any_state();
        let enabling = self.as_members(enabling);
        let enabling = self.pointed.intern(enabling);
        EnablingCondition { fact, decides: fact.is_some(), enabling, mover: None }
    }

    /// Returns the number of the process of a location cell, if states show its locations.
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

    /// Adds the watcher of a property.
    fn watch(&mut self, relation: &mut MemberRelation, watcher: usize, property: PropertyId) {
        let mut seen = self.none();
        for instance in self.visible(property) {
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

    /// Makes all instances that a claim observes dependent on the monitors: after them the claim may not accept the
    /// run any more.
    fn join_monitors(&self, relation: &mut MemberRelation) {
        for instance in self.seen_by_claims.values().flatten() {
            bit_sets::extend(relation.dependent.row_mut(instance.index()), &relation.monitors);
        }
    }

    /// Returns the members that a claim may observe, or that may end a run.
    fn shown(&self) -> Vec<u64> {
        let mut shown = self.none();
        for instance in self.seen_by_claims.values().flatten() {
            bit_sets::insert(&mut shown, instance.index());
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

    /// Returns the instances that may fail.
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
        // After a process ends, another may be started in its slot.
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
