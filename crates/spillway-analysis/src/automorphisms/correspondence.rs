//! The correspondence of names under one permutation of processes.

use super::pair_walk::PairingRules;
use super::sorts::{
    LocalScope, LocationInProcess, ProgramSorts, SortedValue, TypeSorts, ValueSort,
};
use spillway_ir::interval::Interval;
use spillway_ir::{
    ActionId, ChannelId, LocalId, Owner, ProcessId, ProcessInstance, Program, PropertyId, Type,
    TypeId, VarId,
};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// A one-to-one relation.
#[derive(Debug)]
pub(super) struct Injection<T> {
    to: HashMap<T, T>,
    from: HashMap<T, T>,
    /// The keys that were added to each of the two maps, in order, for undo.
    log: Vec<(Option<T>, Option<T>)>,
}

impl<T> Default for Injection<T> {
    fn default() -> Self {
        Injection { to: HashMap::new(), from: HashMap::new(), log: Vec::new() }
    }
}

/// Adds a pair unless its key exists. Returns whether the pair is in the map afterwards, and whether it was added.
fn added<T: Copy + Eq + Hash>(pairs: &mut HashMap<T, T>, one: T, other: T) -> (bool, bool) {
    match pairs.entry(one) {
        Entry::Occupied(there) => (*there.get() == other, false),
        Entry::Vacant(free) => {
            free.insert(other);
            (true, true)
        }
    }
}

impl<T: Copy + Eq + Hash> Injection<T> {
    /// Maps one to the other. Fails if either has another partner.
    pub(super) fn pair(&mut self, one: T, other: T) -> Option<()> {
        let (goes, is_new) = added(&mut self.to, one, other);
        let (comes, is_new_there) = added(&mut self.from, other, one);
        if is_new || is_new_there {
            self.log.push((is_new.then_some(one), is_new_there.then_some(other)));
        }
        (goes && comes).then_some(())
    }

    /// Removes the pairs that were added after the first entries of the log.
    fn take_back(&mut self, entries: usize) {
        for (one, other) in self.log.drain(entries..) {
            one.and_then(|it| self.to.remove(&it));
            other.and_then(|it| self.from.remove(&it));
        }
    }

    /// Returns the image. An element without a known image stays, or closes the cycle of an open chain.
    pub(super) fn image(&self, one: T) -> T {
        if let Some(&other) = self.to.get(&one) {
            return other;
        }
        let mut first = one;
        while let Some(&before) = self.from.get(&first) {
            first = before;
        }
        first
    }

    pub(super) fn goes_to(&self, one: T) -> Option<T> {
        self.to.get(&one).copied()
    }

    /// Returns all elements that do not stay, with their images.
    pub(super) fn moved(&self) -> Vec<(T, T)> {
        let pairs = self.to.iter().map(|(one, other)| (*one, *other));
        pairs.filter(|(one, other)| one != other).collect()
    }

    pub(super) fn is_taken(&self, other: T) -> bool {
        self.from.contains_key(&other)
    }
}

/// An instance of a process, and its pid if it has one.
#[derive(Clone, Copy)]
pub(super) struct IdentifiedInstance {
    pub(super) instance: ProcessInstance,
    pub(super) pid: Option<i64>,
}

/// The known part of the correspondence.
#[derive(Debug)]
pub(super) struct Correspondence<'p> {
    program: &'p Program,
    sorts: &'p ProgramSorts,
    pub(super) processes: Injection<ProcessId>,
    pub(super) locations: Injection<LocationInProcess>,
    pub(super) variables: Injection<VarId>,
    pub(super) channels: Injection<ChannelId>,
    pub(super) actions: Injection<ActionId>,
    pub(super) properties: Injection<PropertyId>,
    classes: Injection<ValueSort>,
    /// The values of each class, mapped to values of the image of the class.
    values: HashMap<ValueSort, Injection<i64>>,
    /// The classes whose values got a new pair, in order.
    values_log: Vec<ValueSort>,
}

/// The lengths of the logs of a [`Correspondence`].
#[derive(Clone, Copy, Debug)]
pub(super) struct CorrespondenceMark {
    processes: usize,
    locations: usize,
    variables: usize,
    channels: usize,
    actions: usize,
    properties: usize,
    classes: usize,
    values: usize,
}

impl<'p> Correspondence<'p> {
    pub(super) fn new(program: &'p Program, sorts: &'p ProgramSorts) -> Self {
        Correspondence {
            program,
            sorts,
            processes: Injection::default(),
            locations: Injection::default(),
            variables: Injection::default(),
            channels: Injection::default(),
            actions: Injection::default(),
            properties: Injection::default(),
            classes: Injection::default(),
            values: HashMap::new(),
            values_log: Vec::new(),
        }
    }

    /// Returns the image of a value of a sort.
    pub(super) fn value(&self, sort: ValueSort, value: i64) -> i64 {
        self.values.get(&self.sorts.class(sort)).map_or(value, |it| it.image(value))
    }

    /// Returns whether all values of a sort stay.
    pub(super) fn values_stay(&self, sort: ValueSort) -> bool {
        let values = self.values.get(&self.sorts.class(sort));
        values.is_none_or(|it| it.to.iter().all(|(one, other)| one == other))
    }

    /// Maps a value of a sort to another one.
    pub(super) fn pair_values(&mut self, sort: ValueSort, one: i64, other: i64) -> Option<()> {
        let class = self.sorts.class(sort);
        let there = self.classes.goes_to(class).unwrap_or(class);
        self.pair_classes(class, there)?;
        if one != other && (self.sorts.is_fixed(class) || self.sorts.is_fixed(there)) {
            return None;
        }
        let fits = one == other
            || self.sorts.can_be_anywhere(class, one) && self.sorts.can_be_anywhere(there, other);
        fits.then_some(())?;
        let values = self.values.entry(class).or_default();
        let before = values.log.len();
        let is_paired = values.pair(one, other);
        if values.log.len() > before {
            self.values_log.push(class);
        }
        is_paired
    }

    fn pair_classes(&mut self, one: ValueSort, other: ValueSort) -> Option<()> {
        let (one, other) = (self.sorts.class(one), self.sorts.class(other));
        self.classes.pair(one, other)?;
        (self.sorts.is_fixed(one) == self.sorts.is_fixed(other)).then_some(())
    }

    fn pair_shapes(&mut self, one: &TypeSorts, other: &TypeSorts) -> Option<()> {
        match (one, other) {
            (
                TypeSorts::Scalar { sort, range },
                TypeSorts::Scalar { sort: there, range: others },
            ) if range == others => self.pair_classes(*sort, *there),
            (
                TypeSorts::Array { index, low, length, element },
                TypeSorts::Array { index: there, low: from, length: count, element: others },
            ) if (low, length) == (from, count) => {
                self.pair_classes(*index, *there)?;
                self.pair_shapes(element, others)
            }
            (TypeSorts::Record(one), TypeSorts::Record(other)) if one.len() == other.len() => {
                one.iter().zip(other).try_for_each(|(one, other)| self.pair_shapes(one, other))
            }
            _ => None,
        }
    }

    fn pair_owners(&mut self, one: Owner, other: Owner) -> Option<()> {
        match (one, other) {
            (Owner::Program, Owner::Program) => Some(()),
            (Owner::Process(one), Owner::Process(other)) => self.processes.pair(one, other),
            _ => None,
        }
    }

    /// Maps an instance, with its slot and its pid, to another one.
    pub(super) fn pair_instances(
        &mut self,
        one: IdentifiedInstance,
        other: IdentifiedInstance,
    ) -> Option<()> {
        let (here, there) = (one.instance, other.instance);
        self.processes.pair(here.process, there.process)?;
        self.pair_classes(self.sorts.slots[here.process], self.sorts.slots[there.process])?;
        self.pair_values(self.sorts.slots[here.process], here.slot.into(), there.slot.into())?;
        match (one.pid, other.pid) {
            (Some(pid), Some(others)) => self.pair_values(self.sorts.pids, pid, others),
            (None, None) => Some(()),
            _ => None,
        }
    }
}

impl PairingRules for Correspondence<'_> {
    const NOTHING_MOVES: bool = false;
    type UndoMark = CorrespondenceMark;

    fn mark(&self) -> CorrespondenceMark {
        CorrespondenceMark {
            processes: self.processes.log.len(),
            locations: self.locations.log.len(),
            variables: self.variables.log.len(),
            channels: self.channels.log.len(),
            actions: self.actions.log.len(),
            properties: self.properties.log.len(),
            classes: self.classes.log.len(),
            values: self.values_log.len(),
        }
    }

    fn undo_to(&mut self, mark: CorrespondenceMark) {
        self.processes.take_back(mark.processes);
        self.locations.take_back(mark.locations);
        self.variables.take_back(mark.variables);
        self.channels.take_back(mark.channels);
        self.actions.take_back(mark.actions);
        self.properties.take_back(mark.properties);
        self.classes.take_back(mark.classes);
        for class in self.values_log.drain(mark.values..).rev() {
            if let Some(values) = self.values.get_mut(&class) {
                values.take_back(values.log.len().saturating_sub(1));
            }
        }
    }

    fn sorts(&self) -> &ProgramSorts {
        self.sorts
    }

    fn unify(&mut self, one: SortedValue, other: SortedValue) -> Option<()> {
        match (one, other) {
            (SortedValue::Constant(here, there), SortedValue::Of { sort, .. })
            | (SortedValue::Of { sort, .. }, SortedValue::Constant(here, there)) => {
                self.pair_values(sort, here, there)
            }
            (SortedValue::Constant(..), _) | (_, SortedValue::Constant(..)) => {
                self.fix(one)?;
                self.fix(other)
            }
            _ => Some(()),
        }
    }

    fn fix(&mut self, value: SortedValue) -> Option<()> {
        match value {
            SortedValue::Constant(one, other) => (one == other).then_some(()),
            // The inference of the sorts has already fixed these.
            SortedValue::Of { .. } | SortedValue::Plain => Some(()),
        }
    }

    fn unify_shapes(&mut self, _: &TypeSorts, _: &TypeSorts) -> Option<()> {
        Some(())
    }

    fn bind(&mut self, _: LocalScope, _: LocalId, _: Interval) -> Option<()> {
        Some(())
    }

    fn processes(&mut self, one: ProcessId, other: ProcessId) -> Option<()> {
        self.processes.pair(one, other)
    }

    fn locations(&mut self, one: LocationInProcess, other: LocationInProcess) -> Option<()> {
        let at = |it: LocationInProcess| &self.program.processes[it.process].locations[it.location];
        let (here, there) = (at(one), at(other));
        let are_alike = here.urgency == there.urgency
            && here.valid_end == there.valid_end
            && here.progress == there.progress
            && here.accepting == there.accepting;
        are_alike.then_some(())?;
        self.locations.pair(one, other)
    }

    fn variables(&mut self, one: VarId, other: VarId) -> Option<()> {
        if self.variables.goes_to(one) == Some(other) {
            return Some(());
        }
        self.variables.pair(one, other)?;
        let (here, there) = (&self.program.variables[one], &self.program.variables[other]);
        self.pair_owners(here.owner, there.owner)?;
        let sorts = self.sorts;
        self.pair_shapes(&sorts.variables[one], &sorts.variables[other])?;
        same_scalars(self.program, here.ty, there.ty).then_some(())
    }

    fn channels(&mut self, one: ChannelId, other: ChannelId) -> Option<()> {
        if self.channels.goes_to(one) == Some(other) {
            return Some(());
        }
        self.channels.pair(one, other)?;
        let (here, there) = (&self.program.channels[one], &self.program.channels[other]);
        self.pair_owners(here.owner, there.owner)?;
        let are_alike = here.capacity == there.capacity
            && here.overflow == there.overflow
            && here.fields.len() == there.fields.len();
        are_alike.then_some(())?;
        let sorts = self.sorts;
        let fields = sorts.channels[one].iter().zip(&sorts.channels[other]);
        for (own, others) in fields {
            self.pair_shapes(own, others)?;
        }
        Some(())
    }
}

/// Returns whether scalars of two types of one shape agree on whether they may be undefined.
fn same_scalars(program: &Program, one: TypeId, other: TypeId) -> bool {
    match (&program.types[one], &program.types[other]) {
        (Type::Scalar(one), Type::Scalar(other)) => one.undefined == other.undefined,
        (Type::Array { element, .. }, Type::Array { element: others, .. }) => {
            same_scalars(program, *element, *others)
        }
        (Type::Record { fields, .. }, Type::Record { fields: others, .. }) => {
            let pairs = fields.iter().zip(others);
            pairs
                .map(|((_, one), (_, other))| (*one, *other))
                .all(|(one, other)| same_scalars(program, one, other))
        }
        _ => false,
    }
}
