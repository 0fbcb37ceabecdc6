//! The net in a program: counters, and what actions need of them and add to them.
//!
//! A place is a variable that is a number from 0 on, and that actions change by adding constants to it, never beyond its
//! range ([`growth`](crate::analysis::growth)). What else a guard asks and a body does is an action's *rest*: it is kept as it is. A place that
//! somebody asks for otherwise than whether there are enough tokens, a property, a rest, is *seen*.

use super::places::Places;
use crate::ir::{Action, ActionId, Binary, Entity as _, Expr, ExprKind, Place, Program, Root};
use crate::ir::{Stmt, StmtKind, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// What a transition has to do with a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Arc {
    /// So many tokens have to be there.
    pub needs: i64,
    /// So many are there more behind it, or fewer: at most those that have to be there.
    pub adds: i64,
}

impl Arc {
    /// What both do, one after the other.
    pub fn then(self, next: Arc) -> Arc {
        Arc { needs: self.needs.max(next.needs - self.adds), adds: self.adds + next.adds }
    }

    /// Whether it takes what it needs, all of it.
    pub fn takes(self) -> bool {
        self.needs > 0 && self.needs + self.adds == 0
    }

    /// Whether it only adds.
    pub fn puts(self) -> bool {
        self.needs == 0 && self.adds > 0
    }
}

/// One or more actions that are taken one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Transition {
    /// By the number of the place.
    pub arcs: BTreeMap<usize, Arc>,
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
pub(super) struct Net {
    /// By variable, whether it is a place.
    pub is_place: Vec<bool>,
    /// By variable, whether it is seen.
    pub is_seen: Vec<bool>,
    /// The tokens at first, by variable.
    pub initial: Vec<i64>,
    /// The most tokens that there are ever known to be.
    pub most: Vec<Option<i64>>,
    pub transitions: Vec<Option<Transition>>,
    /// The transitions that have to do with a variable that is a place.
    pub touching: Vec<BTreeSet<usize>>,
}

impl Net {
    /// That of a program of which these are the places.
    pub fn of(program: &Program, places: &Places) -> Net {
        let Places { is_place, is_seen, most } = places;
        let initial = program.variables.values().map(|it| match it.initial[..] {
            [Some(first)] => first,
            _ => 0,
        });
        let mut net = Net {
            is_place: is_place.clone(),
            is_seen: is_seen.clone(),
            initial: initial.collect(),
            most: most.clone(),
            transitions: Vec::new(),
            touching: vec![BTreeSet::new(); program.variables.len()],
        };
        for (id, action) in program.actions.iter() {
            let parts = Parts::of(program, action, is_place);
            if parts.is_never {
                continue;
            }
            let is_fixed = !action.parameters.is_empty() || parts.may_fail(program);
            net.add(Transition {
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

    /// Adds a transition.
    pub fn add(&mut self, transition: Transition) {
        for &place in transition.arcs.keys() {
            self.touching[place].insert(self.transitions.len());
        }
        self.transitions.push(Some(transition));
    }

    /// Takes a transition away.
    pub fn remove(&mut self, number: usize) -> Option<Transition> {
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
    pub fn all(&self) -> impl Iterator<Item = (usize, &Transition)> {
        let all = self.transitions.iter().enumerate();
        all.filter_map(|(number, it)| Some((number, it.as_ref()?)))
    }

    /// Those that have to do with a place, with what they do there.
    pub fn at(&self, place: usize) -> impl Iterator<Item = (usize, &Transition, Arc)> {
        let all = self.touching[place].iter();
        all.filter_map(move |&number| {
            let it = self.transitions[number].as_ref()?;
            Some((number, it, it.arcs[&place]))
        })
    }

    /// Whether a transition changes anything that is seen.
    pub fn is_visible(&self, transition: &Transition) -> bool {
        let changes = |(place, arc): (&usize, &Arc)| arc.adds != 0 && self.is_seen[*place];
        transition.has_rest || transition.arcs.iter().any(changes)
    }
}

/// An action, taken apart.
pub(super) struct Parts<'p> {
    pub arcs: BTreeMap<usize, Arc>,
    /// What else the guard asks.
    pub guards: Vec<&'p Expr>,
    /// What else the body does.
    pub rest: Vec<&'p Stmt>,
    /// The statements by which counters change, with how much they add.
    pub adding: Vec<(&'p Stmt, usize, i64)>,
    /// Whether it is never taken.
    pub is_never: bool,
}

impl<'p> Parts<'p> {
    /// Those of an action, where these variables may be places.
    pub fn of(program: &Program, action: &'p Action, is_place: &[bool]) -> Parts<'p> {
        let mut parts = Parts {
            arcs: BTreeMap::new(),
            guards: Vec::new(),
            rest: Vec::new(),
            adding: Vec::new(),
            is_never: false,
        };
        let mut conjuncts = Vec::new();
        action.guard.iter().for_each(|it| split(it, &mut conjuncts));
        for it in conjuncts {
            match (it.as_constant(), needed(it).filter(|it| is_place[it.0])) {
                (Some(0), _) => parts.is_never = true,
                (Some(_), _) => {}
                (None, Some((place, needs))) => {
                    let arc = parts.arcs.entry(place).or_default();
                    arc.needs = arc.needs.max(needs);
                }
                (None, None) => parts.guards.push(it),
            }
        }
        for stmt in &action.body {
            match added(program, stmt).filter(|it| is_place[it.0]) {
                Some((place, adds)) => {
                    parts.arcs.entry(place).or_default().adds += adds;
                    parts.adding.push((stmt, place, adds));
                }
                None => parts.rest.push(stmt),
            }
        }
        parts.arcs.retain(|_, arc| *arc != Arc::default());
        parts
    }

    fn has_rest(&self) -> bool {
        !self.guards.is_empty() || !self.rest.is_empty()
    }

    /// Whether the rest may fail, or say when it is too late that the action is not taken.
    fn may_fail(&self, program: &Program) -> bool {
        use crate::analysis::live::{bounds, surely_stored};
        let is_sure = |it: &&Stmt| match &it.kind {
            StmtKind::Assign { target, value, overflow } => {
                surely_stored(program, target, value, *overflow)
            }
            StmtKind::Clear(target) => {
                matches!(target.root, Root::Variable(_) if target.path.is_empty())
            }
            _ => false,
        };
        !self.guards.iter().all(|it| bounds(program, it).is_some())
            || !self.rest.iter().all(is_sure)
    }
}

/// What is joined by conjunctions.
fn split<'p>(guard: &'p Expr, found: &mut Vec<&'p Expr>) {
    let mut open = vec![guard];
    while let Some(it) = open.pop() {
        match &it.kind {
            ExprKind::Binary(Binary::And, left, right) => open.extend([&**right, &**left]),
            _ => found.push(it),
        }
    }
}

/// The variable that is there as a whole.
fn variable(place: &Place) -> Option<VarId> {
    match place.root {
        Root::Variable(id) if place.slot.is_none() && place.path.is_empty() => Some(id),
        _ => None,
    }
}

fn read(expr: &Expr) -> Option<VarId> {
    match &expr.kind {
        ExprKind::Read(place) => variable(place),
        _ => None,
    }
}

/// The variable of which a condition asks that it is at least so much, and no more.
fn needed(condition: &Expr) -> Option<(usize, i64)> {
    let ExprKind::Binary(operator, left, right) = &condition.kind else { return None };
    let (place, least) = match operator {
        Binary::GreaterEqual => (read(left)?, right.as_constant()?),
        Binary::LessEqual => (read(right)?, left.as_constant()?),
        Binary::Greater => (read(left)?, right.as_constant()?.checked_add(1)?),
        Binary::Less => (read(right)?, left.as_constant()?.checked_add(1)?),
        _ => return None,
    };
    (least >= 0).then_some((place.index(), least))
}

/// The variable that a statement adds to, and how much.
fn added(program: &Program, stmt: &Stmt) -> Option<(usize, i64)> {
    let StmtKind::Assign { target, value, .. } = &stmt.kind else { return None };
    let ExprKind::Binary(operator, left, right) = &value.kind else { return None };
    let id = variable(target)?;
    let by = match operator {
        Binary::Add if read(left) == Some(id) => right.as_constant()?,
        Binary::Add if read(right) == Some(id) => left.as_constant()?,
        Binary::Subtract if read(left) == Some(id) => right.as_constant()?.checked_neg()?,
        _ => return None,
    };
    let is_small = by.abs() <= i64::from(i32::MAX) && id.index() < program.variables.len();
    is_small.then_some((id.index(), by))
}
