//! An order of the states as cycle proviso. Most transitions ascend in it; on each cycle some transition does not.
//!
//! A run that only ascends is finite. So it is enough to take the postponed transitions of those states from which no
//! chosen transition ascends. Covering sets of actions, which intersect every cycle, serve the same purpose (Kurshan,
//! Levin, Minea, Peled and Yenigün, "Static partial order reduction", 1998). Here the values decide: a transition is
//! examined with its source and its target.
//!
//! The order compares the processes one after another, each by its location:
//!
//! 1. Locations in different strongly connected components are ordered as control passes through the components.
//! 2. Within a component a counter is compared first that its edges only raise, or only lower. These edges are
//!    removed, and the rest is decomposed again.
//! 3. Without a counter, the edge that most instances depend on is removed: it is rarely chosen without them.

use super::choice::AscendingInstances;
use super::relation::MemberRelation;
use spillway_analysis::access::{AccessTable, CounterAddition};
use spillway_analysis::bit_sets;
use spillway_analysis::dependence::DependenceRelation;
use spillway_analysis::instances::{ActionInstance, InstanceId};
use spillway_base::components::components;
use spillway_ir::layout::CellId;
use spillway_ir::{Entity, Layout, LocationId};
use spillway_model::StepDescent;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;

/// The order of a program's states.
#[derive(Debug)]
pub(super) struct StaticOrder {
    sections: Vec<ProcessOrder>,
    layout: Layout,
    /// The instances whose transitions ascend, except where a counter wraps around.
    climbing: Vec<u64>,
}

/// The part of the order for one process, or for the actions of no process.
#[derive(Debug)]
struct ProcessOrder {
    /// The cell of the process's location. `None` for actions of no process.
    location: Option<CellId>,
    root: LocationRanks,
}

/// Locations in ascending order.
#[derive(Debug, Default)]
struct LocationRanks {
    /// The rank by the code of the location; `None` for codes without one.
    by_code: Vec<Option<LocationRank>>,
    /// The orders within components, which `LocationRank::within` refers to.
    within: Vec<CycleOrder>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LocationRank {
    height: usize,
    /// The index of the order within the component, if the component has an edge.
    within: Option<usize>,
}

/// The order of states in which a process is in one component.
#[derive(Debug)]
struct CycleOrder {
    counter: Option<MonotoneCounter>,
    then: LocationRanks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MonotoneCounter {
    cell: CellId,
    rises: bool,
}

/// An edge of a process, or an action of no process.
#[derive(Clone, Copy, Debug)]
struct ControlEdge {
    from: u32,
    to: u32,
    instance: InstanceId,
}

impl LocationRanks {
    fn at(&self, code: u32) -> Option<LocationRank> {
        *self.by_code.get(code as usize)?
    }

    fn put(&mut self, code: u32, rung: LocationRank) {
        let length = self.by_code.len().max(code as usize + 1);
        self.by_code.resize(length, None);
        self.by_code[code as usize] = Some(rung);
    }
}

impl StaticOrder {
    /// Returns the instances whose transitions ascend. `are_demanded` says whether the proviso demands that.
    pub fn ascending(&self, are_demanded: bool) -> AscendingInstances {
        AscendingInstances { instances: self.climbing.clone(), are_demanded }
    }

    /// Computes the order of a program's states.
    pub fn new(dependence: &DependenceRelation, relation: &MemberRelation) -> StaticOrder {
        let table = dependence.table();
        let building = StaticOrderBuilder { dependence, relation };
        let mut climbing = vec![0; bit_sets::words_of(relation.instances)];
        let sections = building.edges(table).into_iter().map(|(location, edges)| {
            let root = building.rungs(&edges, &mut climbing);
            ProcessOrder { location, root }
        });
        StaticOrder { sections: sections.collect(), layout: table.layout().clone(), climbing }
    }

    /// Whether `to` is greater than `from`.
    pub fn climbs(&self, from: &[u8], to: &[u8]) -> bool {
        self.first_difference(from, to).is_some_and(|(_, order)| order.is_lt())
    }

    /// Returns what leads a step down, unless `to` is greater than `from`.
    pub fn descent(&self, from: &[u8], to: &[u8]) -> Option<StepDescent> {
        match self.first_difference(from, to) {
            None => Some(StepDescent::Equal),
            Some((_, Ordering::Less)) => None,
            Some((part, _)) => {
                let location = self.sections[part].location;
                let code = |state| location.map_or(0, |it| self.layout.code(state, it));
                Some(StepDescent::Part { part: part as u32, from: code(from), to: code(to) })
            }
        }
    }

    /// Returns the number of the first process by which two states differ, and their order. `None` if they are equal.
    fn first_difference(&self, from: &[u8], to: &[u8]) -> Option<(usize, Ordering)> {
        let order = self.sections.iter().map(|section| self.compare(section, from, to));
        order.enumerate().find(|(_, it)| it.is_ne())
    }

    fn compare(&self, section: &ProcessOrder, from: &[u8], to: &[u8]) -> Ordering {
        let code = |state, cell| self.layout.code(state, cell);
        let at = |state| section.location.map_or(0, |cell| code(state, cell));
        let (before, after) = (at(from), at(to));
        let mut rungs = &section.root;
        loop {
            let height = |code| rungs.at(code).map_or(0, |it| 1 + it.height);
            let order = height(before).cmp(&height(after));
            let within = rungs.at(before).and_then(|it| it.within);
            let Some(within) = within.map(|it| &rungs.within[it]).filter(|_| order.is_eq()) else {
                return order;
            };
            if let Some(MonotoneCounter { cell, rises }) = within.counter {
                let order = code(from, cell).cmp(&code(to, cell));
                if order.is_ne() {
                    return if rises { order } else { order.reverse() };
                }
            }
            rungs = &within.then;
        }
    }
}

/// The inputs of an order under construction.
struct StaticOrderBuilder<'b> {
    dependence: &'b DependenceRelation<'b>,
    relation: &'b MemberRelation,
}

impl StaticOrderBuilder<'_> {
    /// Returns the edges of each process. Those of no process have the key `None`.
    fn edges(&self, table: &AccessTable) -> BTreeMap<Option<CellId>, Vec<ControlEdge>> {
        let mut edges: BTreeMap<Option<CellId>, Vec<ControlEdge>> = BTreeMap::new();
        for instance in self.dependence.instances() {
            let sides = table.instances().get(instance).into_iter().flat_map(ActionInstance::sides);
            for side in sides {
                let Some(edge) = table.program().actions[side.action].edge else {
                    edges.entry(None).or_default().push(ControlEdge { from: 0, to: 0, instance });
                    continue;
                };
                let cell = table.location_cell(edge.process, side.slot);
                let has_slots = table.program().processes[edge.process].has_slots();
                let code = |at: LocationId| at.0 + u32::from(has_slots);
                let moves = self.dependence.access(instance).effect.moves.iter();
                for moved in moves.filter(|it| it.cell == cell) {
                    let (Some(from), to) = (moved.from, moved.to) else { continue };
                    let (from, to) = (code(from), to.map_or(0, code));
                    edges.entry(Some(cell)).or_default().push(ControlEdge { from, to, instance });
                }
            }
        }
        edges
    }

    /// Ranks the locations that some edges connect.
    fn rungs(&self, edges: &[ControlEdge], climbing: &mut [u64]) -> LocationRanks {
        let mut rungs = LocationRanks::default();
        for (height, component) in on_cycles(edges).into_iter().enumerate() {
            let has = |code| component.contains(&code);
            let inner: Vec<ControlEdge> =
                edges.iter().copied().filter(|it| has(it.from) && has(it.to)).collect();
            let within = (!inner.is_empty()).then(|| {
                rungs.within.push(self.within(inner, climbing));
                rungs.within.len() - 1
            });
            component.iter().for_each(|&code| rungs.put(code, LocationRank { height, within }));
        }
        let height = |code| rungs.at(code).map(|it| it.height);
        for edge in edges.iter().filter(|it| height(it.from) != height(it.to)) {
            bit_sets::insert(climbing, edge.instance.index());
        }
        rungs
    }

    /// Returns the order within a component.
    fn within(&self, mut edges: Vec<ControlEdge>, climbing: &mut [u64]) -> CycleOrder {
        let counter = self.counter(&edges);
        match counter {
            Some(counter) => {
                let counts = |it: &ControlEdge| self.counts(it.instance, counter);
                edges.iter().filter(|it| counts(it)).for_each(|it| {
                    bit_sets::insert(climbing, it.instance.index());
                });
                edges.retain(|it| !counts(it));
            }
            None => {
                let disturbed = |it: &&ControlEdge| {
                    bit_sets::count(self.relation.dependent.row(it.instance.index()))
                };
                if let Some(ControlEdge { from, to, .. }) =
                    edges.iter().max_by_key(disturbed).copied()
                {
                    edges.retain(|it| (it.from, it.to) != (from, to));
                }
            }
        }
        CycleOrder { counter, then: self.rungs(&edges, climbing) }
    }

    /// Returns a counter that some edges only raise, or only lower, and that no edge changes otherwise.
    fn counter(&self, edges: &[ControlEdge]) -> Option<MonotoneCounter> {
        let mut found = BTreeSet::new();
        for edge in edges {
            for add in &self.dependence.access(edge.instance).effect.adds {
                let cells = add.cells.ranges().iter().cloned().flatten();
                found.extend(
                    cells.map(|it| MonotoneCounter { cell: CellId(it), rises: add.by > 0 }),
                );
            }
        }
        let all_count = |counter: &MonotoneCounter| {
            edges.iter().all(|it| {
                self.counts(it.instance, *counter) || !self.touches(it.instance, counter.cell)
            })
        };
        let any_counts =
            |counter: &MonotoneCounter| edges.iter().any(|it| self.counts(it.instance, *counter));
        found.into_iter().find(|it| all_count(it) && any_counts(it))
    }

    /// Whether an instance only raises, or only lowers, a counter.
    fn counts(
        &self,
        instance: InstanceId,
        MonotoneCounter { cell, rises }: MonotoneCounter,
    ) -> bool {
        let (mut adds, others) = self.changes(instance, cell);
        let is_so = |add: &CounterAddition| add.by != 0 && (add.by > 0) == rises;
        adds.peek().is_some() && adds.all(is_so) && !others
    }

    fn touches(&self, instance: InstanceId, cell: CellId) -> bool {
        let (mut adds, others) = self.changes(instance, cell);
        others || adds.peek().is_some()
    }

    /// Returns the constants that an instance adds to a cell, and whether it may change the cell otherwise.
    fn changes(
        &self,
        instance: InstanceId,
        cell: CellId,
    ) -> (Peekable<impl Iterator<Item = &CounterAddition>>, bool) {
        let effect = &self.dependence.access(instance).effect;
        let adds = effect.adds.iter().filter(move |it| it.cells.contains(cell)).peekable();
        (adds, effect.writes.contains(cell) || effect.sets.iter().any(|it| it.0 == cell))
    }
}

/// Returns the strongly connected components of locations, as codes, in topological order.
fn on_cycles(edges: &[ControlEdge]) -> Vec<BTreeSet<u32>> {
    let ends: BTreeSet<(u32, u32)> = edges.iter().map(|it| (it.from, it.to)).collect();
    let codes: BTreeSet<u32> = ends.iter().flat_map(|&(from, to)| [from, to]).collect();
    let codes: Vec<u32> = codes.into_iter().collect();
    let place = |code: u32| codes.partition_point(|&it| it < code);
    let ends: Vec<_> = ends.into_iter().map(|(from, to)| (place(from), place(to))).collect();
    let mut all: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for (code, component) in codes.iter().zip(components(codes.len(), &ends)) {
        all.entry(component).or_default().insert(*code);
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partial_order::test_programs::{interp, state_graph, with_relation};
    use spillway_exec::Interp;
    use std::cmp::Ordering;

    fn ascent(interp: &Interp) -> StaticOrder {
        with_relation(interp, true, |dependence, relation| StaticOrder::new(dependence, &relation))
    }

    const COUNTS: &str = "byte turn[2];
        active [2] proctype user() {
            byte j, k;
        again: k = 0;
            do
            :: k < 2 -> turn[k] = _pid; j = 0;
                do
                :: j == _pid -> j++
                :: j != _pid -> if :: j < 2 -> turn[j] != _pid; j++ :: j >= 2 -> break fi
                od;
                k++
            :: else -> break
            od;
            turn[0] = 9;
            goto again
        }";

    /// If it were not an order, a cycle could ascend everywhere.
    #[test]
    fn the_static_order_is_a_strict_weak_order() {
        let interp = interp(COUNTS);
        let (ascent, space) = (ascent(&interp), state_graph(&interp));
        let states: Vec<&Vec<u8>> = space.keys().step_by(1 + space.len() / 60).collect();
        let compare =
            |one: &[u8], other: &[u8]| match (ascent.climbs(one, other), ascent.climbs(other, one))
            {
                (true, true) => panic!("each is above the other"),
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => Ordering::Equal,
            };
        for one in &states {
            for two in &states {
                for three in &states {
                    let (first, second) = (compare(one, two), compare(two, three));
                    if first == second {
                        assert_eq!(compare(one, three), first);
                    }
                }
            }
        }
    }

    /// On each cycle of a process only one edge does not ascend: the others are counted.
    #[test]
    fn one_edge_of_each_process_cycle_does_not_ascend() {
        let interp = interp(COUNTS);
        let (ascent, space) = (ascent(&interp), state_graph(&interp));
        let cell = CellId(interp.layout().locations.values().next().unwrap().first.0);
        let at = |state: &[u8]| interp.layout().code(state, cell);
        let mut descents = BTreeSet::new();
        for (state, after) in &space {
            let descending =
                after.iter().filter(|it| at(it) != at(state) && !ascent.climbs(state, it));
            descents.extend(descending.map(|it| (at(state), at(it))));
        }
        assert_eq!(descents.len(), 1, "{descents:?}");
    }
}
