//! What a choice of steps must know of a program, as sets of bits.
//!
//! *Members* of a set are the action instances, by number, and behind them the *watchers*: one for each
//! invariant and each assertion at a location, thought of as an action that is possible where that does
//! not hold. It depends on whatever can change what it reads, and so the choice treats it like any other
//! action that is waited for.

use super::bits::{self, Rows};
use super::facts::{self, Collected, Facts};
use super::fixed::Configuration;
use crate::analysis::access::{Condition, Moved, Table};
use crate::analysis::dependence::{Dependence, Matrix};
use crate::analysis::instances::{ActionInstance, InstanceId};
use crate::analysis::ranges::ranges;
use crate::exec::Checks;
use crate::ir::layout::CellId;
use crate::ir::{EndRule, Entity, Layout, LocationId, Program, PropertyId, PropertyKind};
use std::collections::{BTreeMap, HashMap};

/// Programs with more action instances are not reduced: all pairs of them are looked at.
pub(super) const INSTANCES_MAX: u32 = 8192;

/// One of the conditions that a member waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The fact that it does not hold, if that can be read off a state.
    pub fact: Option<usize>,
    /// Whether it holds wherever that fact is none.
    pub decides: bool,
    /// The number of the set of those that may make it hold.
    pub enabling: usize,
}

/// The members of a program's sets, and how they stand to each other.
#[derive(Debug)]
pub(super) struct Relation {
    /// The action instances are the members below.
    pub instances: usize,
    /// Of each member those that do not go with it where both are possible: one may be disabled, or the
    /// order may matter.
    pub dependent: Rows,
    /// What each member waits for.
    pub waits: Vec<Vec<Wait>>,
    /// Those that may make something hold.
    pub enabling: Rows,
    /// The members that something is looked for in: that can fail, or watch.
    pub monitors: Vec<u64>,
    /// Where each process is in a state, and who moves it.
    pub places: Vec<Place>,
    pub facts: Facts,
}

/// A process in a slot, as its location tells.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The members that it has a part in.
    pub own: Vec<u64>,
    /// Of each location what begins there.
    pub at: BTreeMap<LocationId, Beginning>,
    /// Where its steps begin and where it may be after them.
    pub moves: Vec<Moved>,
}

/// What begins where a process is.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    /// The fact that it is not there, if that can be read off a state.
    pub fact: Option<usize>,
    /// The members that begin there.
    pub from: Vec<u64>,
}

impl Relation {
    /// That of a program searched for some checks, in states from which on some cells never change; or why
    /// there is none.
    pub fn new(
        program: &Program,
        layout: &Layout,
        checks: &Checks,
        fixed: Configuration,
    ) -> Result<Relation, String> {
        let table = Table::where_fixed(program, layout, ranges(program), fixed);
        let table = table.map_err(|it| it.reason)?;
        let Some(dependence) = Dependence::new(&table, INSTANCES_MAX) else {
            return Err(format!("it has more than {INSTANCES_MAX} action instances"));
        };
        let watched = watched(program, checks);
        let instances = table.instances().count() as usize;
        let members = instances + watched.len();
        let mut building = Building {
            program,
            dependence: &dependence,
            matrix: dependence.matrix(),
            enabling: Rows::new(members),
            known: HashMap::new(),
            facts: Collected::new(program, layout),
        };
        let mut dependent = building.dependent(members);
        let mut waits: Vec<Vec<Wait>> = Vec::with_capacity(members);
        for instance in dependence.instances() {
            waits.push(building.waits(instance));
        }
        let mut monitors = dependent.none();
        for (at, property) in watched.into_iter().enumerate() {
            let watcher = instances + at;
            let mut seen = dependent.none();
            for instance in dependence.visible(property) {
                bits::insert(&mut seen, instance.index());
                bits::insert(dependent.row_mut(instance.index()), watcher);
            }
            dependent.row_mut(watcher).copy_from_slice(&seen);
            waits.push(vec![Wait { fact: None, decides: false, enabling: building.row(&seen) }]);
            bits::insert(&mut monitors, watcher);
        }
        for instance in building.that_fail(checks) {
            bits::insert(&mut monitors, instance.index());
        }
        let mut places = building.places(&table);
        let Building { enabling, facts, .. } = building;
        let (facts, numbers) = facts.finish();
        let renumber = |fact: &mut Option<usize>| *fact = fact.map(|it| numbers[it]);
        waits.iter_mut().flatten().for_each(|wait| renumber(&mut wait.fact));
        let beginnings = places.iter_mut().flat_map(|place| place.at.values_mut());
        beginnings.for_each(|it| renumber(&mut it.fact));
        Ok(Relation { instances, dependent, waits, enabling, monitors, places, facts })
    }
}

/// The properties of states that are looked at.
fn watched(program: &Program, checks: &Checks) -> Vec<PropertyId> {
    let is_watched = |kind: &PropertyKind| match kind {
        PropertyKind::Invariant(_) => checks.invariants,
        PropertyKind::AssertionAt { .. } => checks.assertions,
        PropertyKind::Assumption(_) | PropertyKind::Automaton(_) | PropertyKind::Claim(_) => false,
    };
    let all = program.properties.iter();
    all.filter(|(_, property)| is_watched(&property.kind)).map(|(id, _)| id).collect()
}

/// A relation being made.
struct Building<'b> {
    program: &'b Program,
    dependence: &'b Dependence<'b>,
    matrix: Matrix,
    enabling: Rows,
    /// The numbers of the sets that are there.
    known: HashMap<Vec<u64>, usize>,
    facts: Collected<'b>,
}

impl Building<'_> {
    /// The number of a set of those that may make something hold.
    fn row(&mut self, row: &[u64]) -> usize {
        if let Some(&number) = self.known.get(row) {
            return number;
        }
        let number = self.enabling.push(row);
        self.known.insert(row.to_vec(), number);
        number
    }

    /// Those that do not commute with each, wherever both are possible.
    fn dependent(&self, members: usize) -> Rows {
        let mut rows = Rows::of(members, members);
        for one in self.dependence.instances() {
            bits::extend(rows.row_mut(one.index()), self.matrix.dependent.row(one.index()));
            for other in self.that_set_the_same(one) {
                bits::insert(rows.row_mut(one.index()), other.index());
            }
        }
        rows
    }

    /// Where a step back to where it began is none that leads on, neither of two may make the other such a
    /// step.
    fn that_set_the_same(&self, one: InstanceId) -> impl Iterator<Item = InstanceId> {
        let sets = |it: InstanceId| &self.dependence.access(it).effect.sets;
        let is_asked = self.program.end == EndRule::NeverStuttering && !sets(one).is_empty();
        let others = is_asked.then(|| self.dependence.instances()).into_iter().flatten();
        others.filter(move |&other| {
            other != one
                && sets(one).iter().any(|(cell, _)| sets(other).iter().any(|(at, _)| at == cell))
                && !self.matrix.excluded.contains(one.index(), other)
        })
    }

    fn waits(&mut self, instance: InstanceId) -> Vec<Wait> {
        let dependence = self.dependence;
        let guard = &dependence.access(instance).guard;
        let mut waits = Vec::with_capacity(guard.len());
        for (number, conjunct) in guard.iter().enumerate() {
            let mut row = self.enabling.none();
            let by = self.matrix.enabling_of[instance][number];
            bits::extend(&mut row, self.matrix.sets.row(by));
            let fact = self.facts.that_fails(&conjunct.condition);
            let decides = fact.is_some() && facts::decide(&conjunct.condition);
            waits.push(Wait { fact, decides, enabling: self.row(&row) });
        }
        waits
    }

    /// The instances that something is looked for in: whose step may end in an error.
    fn that_fail(&self, checks: &Checks) -> Vec<InstanceId> {
        let all = self.dependence.instances();
        let fails = |it: &InstanceId| {
            let failures = self.dependence.access(*it).failures();
            (checks.faults && failures.other) || (checks.assertions && failures.assertion)
        };
        all.filter(fails).collect()
    }

    fn places(&mut self, table: &Table) -> Vec<Place> {
        let mut places: BTreeMap<CellId, Place> = BTreeMap::new();
        for instance in self.dependence.instances() {
            let sides = table.instances().get(instance).into_iter().flat_map(ActionInstance::sides);
            for side in sides {
                let Some(edge) = self.program.actions[side.action].edge else { continue };
                let cell = table.location_cell(edge.process, side.slot);
                let (own, at, moves) = (self.enabling.none(), BTreeMap::new(), Vec::new());
                let place = places.entry(cell).or_insert(Place { own, at, moves });
                bits::insert(&mut place.own, instance.index());
                bits::insert(&mut self.beginning(place, cell, edge.from).from, instance.index());
                let effect = &self.dependence.access(instance).effect;
                for moved in effect.moves.iter().filter(|it| it.cell == cell) {
                    self.beginning(place, cell, moved.to);
                    place.moves.push(*moved);
                }
            }
        }
        places.into_values().collect()
    }

    fn beginning<'p>(
        &mut self,
        place: &'p mut Place,
        cell: CellId,
        location: LocationId,
    ) -> &'p mut Beginning {
        place.at.entry(location).or_insert_with(|| {
            let fact = self.facts.that_fails(&Condition::At(cell, location));
            Beginning { fact, from: self.enabling.none() }
        })
    }
}
