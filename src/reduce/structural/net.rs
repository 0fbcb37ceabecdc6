//! The net in a program: counters, and what actions need of them and add to them.
//!
//! A place is a variable that is a number from 0 on, and that actions change by adding constants to it, never beyond its
//! range ([`growth`](crate::analysis::growth)). What else a guard asks and a body does is an action's *rest*: it is kept as it is. A place that
//! somebody asks for otherwise than whether there are enough tokens, a property, a rest, is *seen*.

use super::action_parts::{ActionParts, PlaceArc};
use super::places::NetPlaces;
use crate::ir::{ActionId, Program};
use std::collections::{BTreeMap, BTreeSet};

/// One or more actions that are taken one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReducibleTransition {
    /// By the number of the place.
    pub arcs: BTreeMap<usize, PlaceArc>,
    /// The actions.
    pub sequence: Vec<ActionId>,
    /// The one of them that may change what is seen, or has a rest.
    pub core: ActionId,
    /// Whether that has a rest.
    pub has_rest: bool,
    /// Whether it stays as it is: it has parameters, or its rest may fail or keep it from being taken.
    pub is_fixed: bool,
    /// Whether it is no longer what its one action says.
    pub is_changed: bool,
}

/// Places and transitions, as far as there still are.
#[derive(Debug)]
pub(super) struct CounterNet {
    /// By variable, whether it is a place.
    pub is_place: Vec<bool>,
    /// By variable, whether it is seen.
    pub is_observed: Vec<bool>,
    /// The tokens at first, by variable.
    pub initial: Vec<i64>,
    /// The most tokens that there are ever known to be.
    pub most: Vec<Option<i64>>,
    pub transitions: Vec<Option<ReducibleTransition>>,
    /// The transitions that have to do with a variable that is a place.
    pub touching: Vec<BTreeSet<usize>>,
}

impl CounterNet {
    /// That of a program of which these are the places.
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

    /// How many arcs there are, and transitions.
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

    /// Takes a transition away.
    pub fn remove(&mut self, number: usize) -> Option<ReducibleTransition> {
        let removed = self.transitions[number].take()?;
        for place in removed.arcs.keys() {
            self.touching[*place].remove(&number);
        }
        Some(removed)
    }

    /// Takes a place away from a transition.
    pub fn cut(&mut self, number: usize, place: usize) {
        if let Some(it) = &mut self.transitions[number]
            && it.arcs.remove(&place).is_some()
        {
            it.is_changed = true;
            self.touching[place].remove(&number);
        }
    }

    /// Those that there are, with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (usize, &ReducibleTransition)> {
        let all = self.transitions.iter().enumerate();
        all.filter_map(|(number, it)| Some((number, it.as_ref()?)))
    }

    /// Those that have to do with a place, with what they do there.
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

    /// Whether a transition changes anything that is seen.
    pub fn is_visible(&self, transition: &ReducibleTransition) -> bool {
        let changes = |(place, arc): (&usize, &PlaceArc)| arc.adds != 0 && self.is_observed[*place];
        transition.has_rest || transition.arcs.iter().any(changes)
    }
}
