//! Tests that models written for Stateright have the same states in Spillway: the protocols of its ten examples,
//! rewritten, and actors over each network.

mod increment;
mod interaction;
mod linearizable_register;
mod lww_register;
mod networks;
mod paxos;
mod raft;
mod registers;
mod search;
mod single_copy_register;
mod timers;
mod two_phase_commit;

use spillway::CheckResult;
use spillway_stateright::{Stateright, StoredState};
use stateright::{Checker, Expectation, Model, Property};
use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

const MEMORY: u64 = 192 << 20;

/// Locks out other tests that search, since their memory counts against the same limit.
fn exclusive_search() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of states that Stateright finds. Some property of the model must have no discovery, so that
/// Stateright visits all states.
fn stateright_states<M>(model: &M) -> u64
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + PartialEq + Debug + Send + Sync,
{
    let checker = model.clone().checker().spawn_bfs().join();
    let keeps_running = |it: &Property<M>| {
        it.expectation == Expectation::Always && checker.discovery(it.name).is_none()
    };
    assert!(model.properties().iter().any(keeps_running), "it ends before all states are visited");
    checker.unique_state_count() as u64
}

/// Returns the number of states that Stateright finds up to a depth. Initial states have depth 1.
fn stateright_states_to<M>(model: &M, depth: usize) -> u64
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Clone + Hash + PartialEq + Send + Sync,
    M::Action: Clone + PartialEq + Send + Sync,
{
    let checker = model.clone().checker().target_max_depth(depth).spawn_bfs().join();
    checker.unique_state_count() as u64
}

/// Returns the number of different reachable states up to a depth. Initial states have depth 1.
///
/// States are compared by `Eq`. `Hash` omits the lengths of the sets of timers. So Stateright identifies two states if
/// one has a timer of the first actor and the other has the same timer of the second actor.
fn distinct_states<M>(model: &M, depth: u64) -> u64
where
    M: Model<State: Clone + Eq + Hash>,
{
    let in_boundary = |all: Vec<M::State>| all.into_iter().filter(|it| model.within_boundary(it));
    let mut seen: HashSet<M::State> = in_boundary(model.init_states()).collect();
    let mut level: Vec<M::State> = seen.iter().cloned().collect();
    for _ in 1..depth {
        if level.is_empty() {
            break;
        }
        for state in mem::take(&mut level) {
            let next = in_boundary(model.next_states(&state));
            level.extend(next.filter(|it| seen.insert(it.clone())));
        }
    }
    seen.len() as u64
}

/// Returns the result of a search of all states of a model, up to a depth if one is set.
fn search_all<'m, M, K>(model: &'m Stateright<'_, M, K>) -> CheckResult<'m>
where
    M: Model<Action: Clone + Debug> + Send + Sync,
    K: StoredState<M::State>,
{
    model.check().memory(MEMORY).keep_going().run().unwrap()
}
