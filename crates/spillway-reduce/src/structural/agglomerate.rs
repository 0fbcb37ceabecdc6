//! Agglomerations: transitions that put tokens into a place are fused with those that take them.
//!
//! Let *p* be a place that is not observed and initially empty. *H* are the transitions that put tokens there and *F*
//! those that take them. Each does exactly one of both, and does not depend on *p* otherwise. The effects of one side
//! are known completely: no parameters, no failures.
//!
//! - *Post-agglomeration*: each of *F* needs only tokens of *p*, always the same number *w*, and changes nothing
//!   observed. Each of *H* puts *w* tokens or a multiple. Each of *H* is followed at once by as many of *F* as its
//!   tokens allow, in every combination.
//! - *Pre-agglomeration*: each of *H* puts tokens into *p* only, always the same number *w*, and changes nothing
//!   observed. Each of *F* takes *w* tokens or a multiple. Each of *F* is preceded at once by as many of *H* as it
//!   needs, in every combination. If deadlocks are checked, each of *H* takes tokens from some place, and no other
//!   transition needs tokens of these places. Otherwise that is not required (free agglomeration).

use super::action_parts::PlaceArc;
use super::net::{CounterNet, ReducibleTransition};
use std::collections::BTreeMap;

/// The most transitions that the removal of a place may add.
pub(super) const MORE_MAX: usize = 8;

/// The most transitions that are fused to one.
const SEQUENCE_MAX: usize = 64;

/// The kind of an agglomeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgglomerationKind {
    /// Transitions that put tokens there are continued.
    Post,
    /// Transitions that put tokens there wait for those that take them.
    Pre,
}

/// An agglomeration that was applied.
#[derive(Debug)]
pub(super) struct Agglomeration {
    pub place: usize,
    pub side: AgglomerationKind,
    /// The transitions that put tokens there.
    pub before: Vec<ReducibleTransition>,
}

/// Agglomerates the transitions around a place, if the conditions hold with or without deadlock checks, and at most
/// `more` transitions are added.
pub(super) fn agglomerate(
    net: &mut CounterNet,
    place: usize,
    deadlock: bool,
    more: usize,
) -> Option<Agglomeration> {
    if !net.is_place[place] || net.is_observed[place] || net.initial[place] != 0 {
        return None;
    }
    let (mut puts, mut takes) = (Vec::new(), Vec::new());
    for (number, transition, arc) in net.at(place) {
        let side = match () {
            () if transition.is_fixed => return None,
            () if arc.puts() => &mut puts,
            () if arc.takes() => &mut takes,
            () => return None,
        };
        side.push((number, arc));
    }
    if puts.is_empty() || takes.is_empty() {
        return None;
    }
    let around = AdjacentArcs { puts: &puts, takes: &takes };
    let post = may_follow(net, place, around);
    let (side, made) =
        match post.and_then(|it| composed(net, AgglomerationKind::Post, around, it, more)) {
            Some(made) => (AgglomerationKind::Post, made),
            None => {
                let pre = may_precede(net, place, around, deadlock)?;
                (AgglomerationKind::Pre, composed(net, AgglomerationKind::Pre, around, pre, more)?)
            }
        };
    let before = puts.iter().filter_map(|it| net.remove(it.0)).collect();
    takes.iter().for_each(|it| drop(net.remove(it.0)));
    made.into_iter().for_each(|it| net.add(it));
    Some(Agglomeration { place, side, before })
}

/// The transitions around a place, with their arcs.
#[derive(Clone, Copy)]
struct AdjacentArcs<'a> {
    /// The transitions that put tokens there.
    puts: &'a [(usize, PlaceArc)],
    /// The transitions that take tokens from there.
    takes: &'a [(usize, PlaceArc)],
}

/// Returns the number of tokens that each taking transition takes, if post-agglomeration is possible.
fn may_follow(
    net: &CounterNet,
    place: usize,
    AdjacentArcs { puts, takes }: AdjacentArcs<'_>,
) -> Option<i64> {
    let tokens = takes[0].1.needs;
    let is_free = |transition: &ReducibleTransition| {
        let mut others = transition.arcs.iter().filter(|it| *it.0 != place);
        others.all(|(_, arc)| arc.puts()) && !net.is_visible(transition)
    };
    let follow = takes.iter().all(|(number, arc)| {
        arc.needs == tokens && net.transitions[*number].as_ref().is_some_and(is_free)
    });
    (follow && puts.iter().all(|(_, arc)| arc.adds % tokens == 0)).then_some(tokens)
}

/// Returns the number of tokens that each putting transition puts, if pre-agglomeration is possible.
fn may_precede(
    net: &CounterNet,
    place: usize,
    AdjacentArcs { puts, takes }: AdjacentArcs<'_>,
    deadlock: bool,
) -> Option<i64> {
    let tokens = puts[0].1.adds;
    let may_wait = |number: usize, transition: &ReducibleTransition| {
        let mut others = transition.arcs.iter().filter(|it| *it.0 != place);
        let is_alone =
            |from: usize| net.at(from).all(|(it, _, arc)| it == number || arc.needs == 0);
        let is_sure = !deadlock
            || transition.arcs.len() > 1 && others.clone().all(|(from, _)| is_alone(*from));
        is_sure && others.all(|(_, arc)| arc.takes()) && !net.is_visible(transition)
    };
    let wait = puts.iter().all(|(number, arc)| {
        let transition = net.transitions[*number].as_ref();
        arc.adds == tokens && transition.is_some_and(|it| may_wait(*number, it))
    });
    (wait && takes.iter().all(|(_, arc)| arc.needs % tokens == 0)).then_some(tokens)
}

/// Returns the fused transitions, for `tokens` tokens at a time. Returns `None` if there are too many.
fn composed(
    net: &CounterNet,
    side: AgglomerationKind,
    AdjacentArcs { puts, takes }: AdjacentArcs<'_>,
    tokens: i64,
    more: usize,
) -> Option<Vec<ReducibleTransition>> {
    let (one, many) = match side {
        AgglomerationKind::Post => (puts, takes),
        AgglomerationKind::Pre => (takes, puts),
    };
    let most = puts.len() + takes.len() + more;
    let mut made = Vec::new();
    for (number, arc) in one {
        let times = usize::try_from(arc.adds.abs() / tokens).ok()?;
        let core = net.transitions[*number].as_ref()?;
        for chosen in choices(many.len(), times, most - made.len())? {
            let chosen = chosen.iter().map(|it| net.transitions[many[*it].0].as_ref());
            let mut sequence = chosen.collect::<Option<Vec<&ReducibleTransition>>>()?;
            match side {
                AgglomerationKind::Post => sequence.insert(0, core),
                AgglomerationKind::Pre => sequence.push(core),
            }
            made.push(in_turn(&sequence, core)?);
        }
    }
    Some(made)
}

/// Returns all multisets of a size over some choices. Returns `None` if there are more than `most`.
fn choices(count: usize, times: usize, most: usize) -> Option<Vec<Vec<usize>>> {
    if times > SEQUENCE_MAX {
        return None;
    }
    let mut all = vec![Vec::new()];
    for _ in 0..times {
        let longer = |it: Vec<usize>| {
            let first = it.last().copied().unwrap_or(0);
            (first..count).map(move |next| [&it[..], &[next]].concat())
        };
        all = all.into_iter().flat_map(longer).take(most + 1).collect();
    }
    (all.len() <= most).then_some(all)
}

/// Fuses a sequence of transitions.
fn in_turn(
    sequence: &[&ReducibleTransition],
    core: &ReducibleTransition,
) -> Option<ReducibleTransition> {
    let mut arcs: BTreeMap<usize, PlaceArc> = BTreeMap::new();
    for transition in sequence {
        for (place, arc) in &transition.arcs {
            let before = arcs.entry(*place).or_default();
            *before = before.then(*arc);
        }
    }
    arcs.retain(|_, arc| *arc != PlaceArc::default());
    let actions: Vec<_> = sequence.iter().flat_map(|it| it.sequence.iter().copied()).collect();
    (actions.len() <= SEQUENCE_MAX).then_some(ReducibleTransition {
        arcs,
        sequence: actions,
        core: core.core,
        has_rest: core.has_rest,
        is_fixed: false,
        is_changed: true,
    })
}
