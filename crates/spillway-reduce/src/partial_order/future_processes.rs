//! Requirements for processes that start later, in relations about the runs from a state.
//!
//! The access table of a configuration with live processes leaves two things out
//! (`spillway_analysis::access::LiveProcesses`): the channels that later processes get as parameters, and later
//! processes in the slots of live ones. Members of closed sets require other members instead, which exclude both:
//!
//! - the *passing* instances, which may pass one of the channels in question to a new process;
//! - the *ending* instances, with which a live process ends.
//!
//! The proof is in `docs/reductions/partial-order.md` ("Live processes").

use spillway_analysis::access::{
    AccessSet, AccessTable, ChannelSlot, ConjunctCondition, GuardConjunct,
};
use spillway_analysis::bit_sets;
use spillway_analysis::dependence::DependenceRelation;
use spillway_analysis::instances::{ActionInstance, InstanceId};
use spillway_ir::layout::CellId;
use spillway_ir::{Entity, Owner, ProcessId, ProcessInstance, TurnRule};
use std::collections::{BTreeMap, BTreeSet};

/// The processes of a rendezvous.
const PARTNERS: u32 = 2;

/// The processes that take part in instances, and the requirements for those that start later.
#[derive(Debug)]
pub(super) struct FutureProcesses {
    words: usize,
    /// The processes of each instance.
    movers: Vec<Vec<ProcessInstance>>,
    /// For each rendezvous of a live process with one that gets the channel later, the passing instances of the
    /// channels that the live process may use.
    joined: BTreeMap<usize, Vec<u64>>,
    /// The passing instances of each channel.
    passing: BTreeMap<ChannelSlot, Vec<u64>>,
    kinds: Vec<OpenKind>,
    /// The instances that end each live process whose slot may be used again.
    ending: BTreeMap<ProcessInstance, Vec<u64>>,
    /// The live processes whose slots may be used again, by the cells of their locations.
    by_location: BTreeMap<CellId, ProcessInstance>,
    /// The instances that may start a process in each free slot.
    starting: BTreeMap<ProcessInstance, Vec<u64>>,
}

/// A kind of which more processes may start.
#[derive(Debug)]
struct OpenKind {
    /// The instances of processes in free slots.
    later: Vec<u64>,
    /// The last live process of the kind. It ends before the slot of any live process of the kind is used again.
    last: Option<ProcessInstance>,
    /// Whether there are fewer free slots than processes of the kind in a rendezvous. Then the instances of free slots
    /// do not represent all instances of later processes.
    is_full: bool,
}

impl FutureProcesses {
    /// Returns the requirements for a relation, if its table is about the runs from a state.
    pub fn of(dependence: &DependenceRelation<'_>) -> Option<FutureProcesses> {
        let table = dependence.table();
        let live = table.live_processes()?;
        let none = vec![0; bit_sets::words_of(table.instances().count() as usize)];
        let mut found = FutureProcesses {
            words: none.len(),
            movers: dependence.instances().map(|it| table.movers(it)).collect(),
            joined: BTreeMap::new(),
            passing: BTreeMap::new(),
            kinds: Vec::new(),
            ending: BTreeMap::new(),
            by_location: BTreeMap::new(),
            starting: BTreeMap::new(),
        };
        let program = table.program();
        for at in program.instances() {
            let cell = table.location_cell(at.process, at.slot);
            let is_live = live.has(at);
            if is_live && !live.open.contains(&at.process) {
                continue;
            }
            let mut by = none.clone();
            for instance in dependence.instances() {
                let mut moves = dependence.access(instance).effect.moves.iter();
                if moves.any(|it| {
                    it.cell == cell && if is_live { it.to.is_none() } else { it.from.is_none() }
                }) {
                    bit_sets::insert(&mut by, instance.index());
                }
            }
            if is_live {
                found.by_location.insert(cell, at);
            }
            let known = if is_live { &mut found.ending } else { &mut found.starting };
            known.insert(at, by);
        }
        found.find_passing(dependence);
        found.find_joined(table);
        found.kinds = live.open.iter().map(|&it| found.kind(table, it)).collect();
        Some(found)
    }

    /// Finds the instances that may pass each channel.
    fn find_passing(&mut self, dependence: &DependenceRelation<'_>) {
        let table = dependence.table();
        let all = all_channels(table);
        for instance in dependence.instances() {
            let sides =
                || table.instances().get(instance).into_iter().flat_map(ActionInstance::sides);
            let goes_on = |action| table.program().actions[action].control.turn != TurnRule::Open;
            // Later actions of the step may start processes, too.
            let starts_more =
                dependence.access(instance).effect.moves.iter().any(|it| it.from.is_none())
                    && sides().any(|it| goes_on(it.action));
            let passed: BTreeSet<ChannelSlot> = match starts_more {
                true => all.clone(),
                false => sides().flat_map(|it| table.passed_channels(it)).collect(),
            };
            for channel in passed {
                let none = || vec![0; self.words];
                let by = self.passing.entry(channel).or_insert_with(none);
                bit_sets::insert(by, instance.index());
            }
        }
    }

    /// Finds the rendezvous of live processes with later ones that get the channel when they start.
    fn find_joined(&mut self, table: &AccessTable<'_>) {
        for number in (0..table.instances().count()).map(InstanceId) {
            let Some(ActionInstance::Meeting { sender, receiver }) = table.instances().get(number)
            else {
                continue;
            };
            let [sends, receives] = [sender, receiver].map(|it| table.is_linked_later(it));
            let live = match (sends, receives) {
                (true, false) => receiver,
                (false, true) => sender,
                _ => continue,
            };
            let edge = table.program().actions[live.action].edge;
            let process = edge.map(|it| ProcessInstance { process: it.process, slot: live.slot });
            if process.is_some_and(|it| table.live_processes().is_some_and(|live| live.has(it))) {
                let mut by = vec![0; self.words];
                self.extend_by_passing(&mut by, table.channels_of(live));
                self.joined.insert(number.index(), by);
            }
        }
    }

    fn kind(&self, table: &AccessTable<'_>, kind: ProcessId) -> OpenKind {
        let is_free = |it: &ProcessInstance| it.process == kind && self.starting.contains_key(it);
        let mut later = vec![0; self.words];
        for (instance, movers) in self.movers.iter().enumerate() {
            if movers.iter().any(is_free) {
                bit_sets::insert(&mut later, instance);
            }
        }
        let mut own = self.ending.keys().filter(|it| it.process == kind);
        let slots = table.program().slots(kind);
        let is_full = own.clone().count() as u32 + PARTNERS > slots;
        OpenKind { later, last: own.next_back().copied(), is_full }
    }

    /// Adds the instances that may pass some channels to a process that starts later.
    fn extend_by_passing(&self, row: &mut [u64], channels: impl IntoIterator<Item = ChannelSlot>) {
        for by in channels.into_iter().filter_map(|it| self.passing.get(&it)) {
            bit_sets::extend(row, by);
        }
    }

    /// Replaces each rendezvous with a process that gets the channel when it starts, by the instances that may pass
    /// the channel.
    pub fn replace_joined(&self, row: &mut [u64]) {
        for (&instance, by) in &self.joined {
            if bit_sets::has(row, instance) {
                bit_sets::remove_member(row, instance);
                bit_sets::extend(row, by);
            }
        }
    }

    /// Returns the instances that may start the missing process of an instance, if one is missing.
    pub fn starts_of(&self, instance: InstanceId) -> Option<&[u64]> {
        let mut movers = self.movers[instance.index()].iter();
        movers.find_map(|it| self.starting.get(it)).map(Vec::as_slice)
    }

    /// Returns the instances that end a process of an instance, so that another may start in its slot.
    pub fn ends_of(&self, instance: InstanceId) -> Vec<u64> {
        let mut row = vec![0; self.words];
        let movers = self.movers[instance.index()].iter().filter_map(|it| self.ending.get(it));
        movers.for_each(|it| bit_sets::extend(&mut row, it));
        row
    }

    /// Completes the set that an enabled instance requires. `dependent` are the instances that it depends on for any
    /// values.
    pub fn complete_dependence(
        &self,
        dependence: &DependenceRelation<'_>,
        instance: InstanceId,
        dependent: &[u64],
        row: &mut [u64],
    ) {
        let access = dependence.access(instance);
        let mut used = UsedObjects::default();
        used.add(&access.effect);
        access.guard.iter().for_each(|it| used.add_conjunct(it));
        let mut dependent = dependent.to_vec();
        self.replace_joined(&mut dependent);
        self.complete(instance, &used, &dependent, row);
    }

    /// Completes the enabling set of a conjunct of a disabled instance.
    pub fn complete_enabling(
        &self,
        instance: InstanceId,
        conjunct: &GuardConjunct<'_>,
        row: &mut [u64],
    ) {
        let mut enabling = row.to_vec();
        self.replace_joined(&mut enabling);
        let mut used = UsedObjects::default();
        used.add_conjunct(conjunct);
        self.complete(instance, &used, &enabling, row);
        bit_sets::extend(row, &self.ends_of(instance));
    }

    fn complete(&self, instance: InstanceId, used: &UsedObjects, related: &[u64], row: &mut [u64]) {
        self.replace_joined(row);
        self.extend_by_passing(row, used.channels.iter().copied());
        let movers = self.movers[instance.index()].as_slice();
        let located = used.locations.iter().filter_map(|it| self.by_location.get(it));
        for process in located.filter(|it| !movers.contains(it)) {
            bit_sets::extend(row, &self.ending[process]);
        }
        self.exclude_later(movers, related, row);
    }

    /// Completes a set of instances that make a live process leave its location.
    pub fn complete_leaving(&self, row: &mut [u64]) {
        self.replace_joined(row);
        let leaving = row.to_vec();
        self.exclude_later(&[], &leaving, row);
    }

    /// Adds the instances with which later processes get the slots of live ones, for the kinds with instances in
    /// `related`.
    fn exclude_later(&self, movers: &[ProcessInstance], related: &[u64], row: &mut [u64]) {
        for kind in &self.kinds {
            let Some(last) = kind.last.filter(|it| !movers.contains(it)) else { continue };
            if kind.is_full || bit_sets::intersects(related, &kind.later) {
                bit_sets::extend(row, &self.ending[&last]);
            }
        }
    }
}

/// The objects of an instance that a later process may use, too.
#[derive(Debug, Default)]
struct UsedObjects {
    /// The buffered channels.
    channels: BTreeSet<ChannelSlot>,
    /// The cells of locations that are compared.
    locations: BTreeSet<CellId>,
}

impl UsedObjects {
    fn add(&mut self, access: &AccessSet) {
        self.channels.extend(access.channels.iter().map(|it| it.0));
        self.locations.extend(access.asks.iter().map(|it| it.0));
    }

    fn add_conjunct(&mut self, conjunct: &GuardConjunct<'_>) {
        self.add(&conjunct.access);
        match &conjunct.condition {
            ConjunctCondition::Asks(channels, _) => self.channels.extend(channels),
            ConjunctCondition::At(cell, _) => drop(self.locations.insert(*cell)),
            ConjunctCondition::Compares(..) | ConjunctCondition::Holds => {}
        }
    }
}

/// Returns all channels of a program, in all slots.
fn all_channels(table: &AccessTable<'_>) -> BTreeSet<ChannelSlot> {
    let program = table.program();
    let of_slots = program.channels.iter().flat_map(|(id, about)| {
        let slots = match about.owner {
            Owner::Program => 1,
            Owner::Process(process) => program.slots(process),
        };
        (0..slots).map(move |slot| ChannelSlot { id, slot })
    });
    of_slots.collect()
}
