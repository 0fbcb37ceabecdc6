//! Shortest runs, beside all there are.

use super::digraph::{Dice, Digraph, node};
use spillway::search::Control;
use spillway::search::lasso::{Lasso, ProbeLimits, Probed, probe};
use spillway::search::shortest::shortest;
use spillway::{Model as _, Packed, Steps, TransitionSystem};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

const LIMITS: ProbeLimits = ProbeLimits { states: 10_000, bytes: 1 << 30 };

/// A graph with long ways and few steps back, or a wild one.
fn graph(seed: u64) -> Digraph {
    let mut dice = Dice(seed);
    let (nodes, back) = (1 + dice.below(40), 1 + dice.below(12));
    let ends = |dice: &mut Dice, from: usize| match dice.below(back) {
        0 => dice.below(nodes) as u16,
        _ => (from + 1 + dice.below(3)).min(nodes - 1) as u16,
    };
    let next =
        (0..nodes).map(|from| (0..1 + dice.below(3)).map(|_| ends(&mut dice, from)).collect());
    let next = next.collect();
    let accepts = (0..nodes).map(|_| dice.below(4) == 0).collect();
    Digraph { next, accepts }
}

/// Steps from a node to each, at least one; whether something accepting was passed, both ends included, doubles the nodes.
fn steps_from(graph: &Digraph, start: usize) -> Vec<[Option<usize>; 2]> {
    let mut steps = vec![[None; 2]; graph.next.len()];
    let mut open = VecDeque::from([(start, usize::from(graph.accepts[start]), 0)]);
    while let Some((at, passed, length)) = open.pop_front() {
        for &to in &graph.next[at] {
            let to = usize::from(to);
            let passed = passed.max(usize::from(graph.accepts[to]));
            if steps[to][passed].is_none() {
                steps[to][passed] = Some(length + 1);
                open.push_back((to, passed, length + 1));
            }
        }
    }
    steps
}

/// How many states the shortest run has.
fn least(graph: &Digraph) -> Option<usize> {
    let from_first = steps_from(graph, 0);
    let depth = |at: usize| match at {
        0 => Some(0),
        at => from_first[at].into_iter().flatten().min(),
    };
    let loops = (0..graph.next.len()).map(|at| Some(depth(at)? + steps_from(graph, at)[at][1]?));
    loops.flatten().min()
}

fn found(graph: &Digraph) -> Option<Lasso> {
    let model = Packed::new(graph);
    let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
    match probe(&model, &accepts, LIMITS, &Control::default()).unwrap().found {
        Probed::Found(lasso) => Some(lasso),
        Probed::None | Probed::Open => None,
    }
}

#[test]
fn no_run_is_shorter() {
    let (mut shortened, mut were_least) = (0, 0);
    for seed in 0..3000 {
        let graph = graph(seed);
        let model = Packed::new(&graph);
        let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
        let (found, least) = (found(&graph), least(&graph));
        assert_eq!(found.is_some(), least.is_some(), "{seed}");
        let Some((found, least)) = found.zip(least) else { continue };
        let first = found.states.len();
        let told = shortest(&model, &accepts, found, LIMITS, &Control::default()).unwrap();
        graph.check(&model, &told.lasso, seed);
        assert!(told.is_shortest, "{seed}");
        assert_eq!(told.lasso.states.len(), least, "{seed}");
        shortened += u32::from(least < first);
        were_least += u32::from(least == first);
    }
    assert!(shortened > 200 && were_least > 200, "{shortened} {were_least}");
}

/// With room for some of the states, what is found is a run, no longer than the one there was, and a shortest one where
/// that is said.
#[test]
fn with_room_for_the_nearest_states_no_shorter_run_is_denied() {
    let (mut proved, mut shortened, mut kept) = (0, 0, 0);
    for seed in 0..3000 {
        let graph = graph(seed);
        let model = Packed::new(&graph);
        let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
        let Some((found, least)) = found(&graph).zip(least(&graph)) else { continue };
        let states = 1 + seed % 12;
        for limits in
            [ProbeLimits { states, ..LIMITS }, ProbeLimits { bytes: 210 * states, ..LIMITS }]
        {
            let first = found.states.len();
            let told = shortest(&model, &accepts, found.clone(), limits, &Control::default());
            let told = told.unwrap();
            graph.check(&model, &told.lasso, seed);
            let length = told.lasso.states.len();
            assert!(least <= length && length <= first, "{seed}");
            assert!(!told.is_shortest || length == least, "{seed}");
            // A state has fewer than three successors more than are looked at behind the last that had room.
            assert!(told.states <= states + 4, "{seed}: {}", told.states);
            proved += u32::from(told.is_shortest && length < first);
            shortened += u32::from(!told.is_shortest && length < first);
            kept += u32::from(!told.is_shortest && length == first);
        }
    }
    assert!(proved > 100 && shortened > 5 && kept > 100, "{proved} {shortened} {kept}");
}

#[test]
fn what_is_stopped_is_as_it_was() {
    let next = (0..100).map(|at| vec![(at + 1) % 100, (at + 7) % 100, at]).collect();
    let mut graph = Digraph { next, accepts: vec![false; 100] };
    graph.accepts[90] = true;
    let lasso = found(&graph).unwrap();
    let model = Packed::new(&graph);
    let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
    let stopped = Control::default();
    stopped.stop();
    let told = shortest(&model, &accepts, lasso.clone(), LIMITS, &stopped).unwrap();
    assert_eq!((told.lasso, told.states, told.is_shortest), (lasso, 1, false));
}

#[test]
fn a_run_of_one_state_is_a_shortest_one() {
    let graph = Digraph { next: vec![vec![0, 1], vec![1]], accepts: vec![true, true] };
    let (lasso, model) = (found(&graph).unwrap(), Packed::new(&graph));
    let accepts = |_: &[u8]| true;
    let told = shortest(&model, &accepts, lasso, LIMITS, &Control::default()).unwrap();
    graph.check(&model, &told.lasso, 0);
    assert_eq!((told.lasso.states.len(), told.lasso.back, told.is_shortest), (1, 0, true));
}

/// Counts to 50 and stays there; on the way it may take up one of many burdens at each step.
struct Burdens(AtomicU64);

impl TransitionSystem for Burdens {
    type State = (u8, u32);

    fn initial(&self) -> Vec<(u8, u32)> {
        vec![(0, 0)]
    }

    fn steps(&self, &(at, burden): &(u8, u32), steps: &mut Steps<(u8, u32)>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        steps.add("goes on", ((at + 1).min(50), burden));
        (1..=3).for_each(|it| steps.add("takes it up", (at, (4 * burden + it) % 2000)));
    }
}

#[test]
fn what_makes_a_run_short_in_the_first_search_keeps_to_the_room_there_is() {
    let system = Burdens(AtomicU64::new(0));
    let model = Packed::new(&system);
    let accepts = |state: &[u8]| model.explained().describe(state)[0].1.starts_with("(50,");
    let limits = ProbeLimits { states: 1000, bytes: 1 << 30 };
    let found = probe(&model, &accepts, limits, &Control::default()).unwrap().found;
    let Probed::Found(lasso) = found else { panic!("{found:?}") };
    assert_eq!((lasso.states.len(), lasso.back), (51, 50));
    // Each state is expanded twice by the search, once for the way and once for the loop, at most.
    let expanded = system.0.load(Ordering::Relaxed);
    assert!(expanded < 4100, "{expanded}");
}
