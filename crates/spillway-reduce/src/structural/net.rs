//! The net of a program: counters, and the tokens that actions need and add.
//!
//! A place is a variable with values from 0 on that actions change only by adding constants, never beyond its range
//! ([`place_bounds`](spillway_analysis::place_bounds)). The other parts of guard and body are the *rest* of an action,
//! which stays unchanged. A place is *observed* if a property or a rest reads it, other than for enough tokens.

use super::action_parts::{ActionParts, PlaceArc};
use super::places::NetPlaces;
use spillway_ir::{ActionId, Program};
use std::collections::{BTreeMap, BTreeSet};

/// One or more actions that are executed in sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReducibleTransition {
    /// The arcs by place.
    pub arcs: BTreeMap<usize, PlaceArc>,
    /// The actions in order.
    pub sequence: Vec<ActionId>,
    /// The action that may change something observed, or has a rest.
    pub core: ActionId,
    /// Whether the core has a rest.
    pub has_rest: bool,
    /// Whether it must stay unchanged: it has parameters, or its rest may fail or disable it.
    pub is_fixed: bool,
    /// Whether it differs from its single action.
    pub is_changed: bool,
}

/// The remaining places and transitions.
#[derive(Debug)]
pub(super) struct CounterNet {
    /// By variable, whether it is a place.
    pub is_place: Vec<bool>,
    /// By variable, whether it is observed.
    pub is_observed: Vec<bool>,
    /// By variable, the initial tokens.
    pub initial: Vec<i64>,
    /// By variable, the known upper bound of its tokens.
    pub most: Vec<Option<i64>>,
    pub transitions: Vec<Option<ReducibleTransition>>,
    /// By variable, the transitions with an arc to it.
    pub touching: Vec<BTreeSet<usize>>,
}

impl CounterNet {
    /// Builds the net of a program with the given places.
    pub fn of(program: &Program, places: &NetPlaces) -> CounterNet {
        let NetPlaces { is_place, is_observed: is_seen, most } = places;
        let initial = program.variables.values().map(|it| match it.initial[..] {
            [Some(first)] => first,
            _ => 0,
        });
        let mut net = CounterNet {
            is_place: is_place.clone(),
            is_observed: is_seen.clone(),
            initial: initial.collect(),
            most: most.clone(),
            transitions: Vec::new(),
            touching: vec![BTreeSet::new(); program.variables.len()],
        };
        for (id, action) in program.actions.iter() {
            let parts = ActionParts::of(program, action, is_place);
            if parts.is_never {
                continue;
            }
            let is_fixed = !action.parameters.is_empty() || parts.may_fail(program);
            net.add(ReducibleTransition {
                has_rest: parts.has_rest(),
                arcs: parts.arcs,
                sequence: vec![id],
                core: id,
                is_fixed,
                is_changed: false,
            });
        }
        net
    }

    /// Returns the number of arcs and transitions.
    pub fn arcs(&self) -> u64 {
        self.all().map(|(_, it)| 1 + it.arcs.len() as u64).sum()
    }

    /// Adds a transition.
    pub fn add(&mut self, transition: ReducibleTransition) {
        for &place in transition.arcs.keys() {
            self.touching[place].insert(self.transitions.len());
        }
        self.transitions.push(Some(transition));
    }

    /// Removes a transition.
    pub fn remove(&mut self, number: usize) -> Option<ReducibleTransition> {
        let removed = self.transitions[number].take()?;
        for place in removed.arcs.keys() {
            self.touching[*place].remove(&number);
        }
        Some(removed)
    }

    /// Removes the arc between a transition and a place.
    pub fn cut(&mut self, number: usize, place: usize) {
        if let Some(it) = &mut self.transitions[number]
            && it.arcs.remove(&place).is_some()
        {
            it.is_changed = true;
            self.touching[place].remove(&number);
        }
    }

    /// Returns the remaining transitions, with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (usize, &ReducibleTransition)> {
        let all = self.transitions.iter().enumerate();
        all.filter_map(|(number, it)| Some((number, it.as_ref()?)))
    }

    /// Returns the transitions at a place, with their arcs.
    pub fn at(
        &self,
        place: usize,
    ) -> impl Iterator<Item = (usize, &ReducibleTransition, PlaceArc)> {
        let all = self.touching[place].iter();
        all.filter_map(move |&number| {
            let it = self.transitions[number].as_ref()?;
            Some((number, it, it.arcs[&place]))
        })
    }

    /// Whether a transition may change something observed.
    pub fn is_visible(&self, transition: &ReducibleTransition) -> bool {
        let changes = |(place, arc): (&usize, &PlaceArc)| arc.adds != 0 && self.is_observed[*place];
        transition.has_rest || transition.arcs.iter().any(changes)
    }
}
