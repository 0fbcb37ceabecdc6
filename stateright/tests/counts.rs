//! Models written for Stateright have the states here that they have there: protocols, and actors over each network.

use serde::{Deserialize, Serialize};
use spillway::{Check, Verdict};
use spillway_stateright::{Actors, Stateright};
use stateright::actor::{Actor, ActorModel, Id, LossyNetwork, Network, Out, model_timeout};
use stateright::{Checker, Expectation, Model, Property};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

const MEMORY: u64 = 128 << 20;

/// Held by tests that search: what one holds counts against the memory of the others.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Two-phase commit (Gray and Lamport, "Consensus on transaction commit", 2006): resource managers and one that decides.
#[derive(Clone)]
struct Commit {
    managers: u8,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
enum Manager {
    Working,
    Ready,
    Committed,
    Aborted,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Message {
    Ready(u8),
    Commit,
    Abort,
}

#[derive(Clone, Debug, Hash, PartialEq, Serialize, Deserialize)]
struct Transaction {
    managers: Vec<Manager>,
    decided: Option<bool>,
    heard: BTreeSet<u8>,
    sent: BTreeSet<Message>,
}

#[derive(Clone, Debug, PartialEq)]
enum Act {
    GetReady(u8),
    GiveUp(u8),
    Hear(u8),
    Decide(bool),
    Obey(u8, bool),
}

impl Model for Commit {
    type State = Transaction;
    type Action = Act;

    fn init_states(&self) -> Vec<Transaction> {
        let managers = vec![Manager::Working; self.managers.into()];
        let (heard, sent) = (BTreeSet::new(), BTreeSet::new());
        vec![Transaction { managers, decided: None, heard, sent }]
    }

    fn actions(&self, state: &Transaction, actions: &mut Vec<Act>) {
        if state.decided.is_none() {
            actions.push(Act::Decide(false));
            if state.heard.len() == state.managers.len() {
                actions.push(Act::Decide(true));
            }
        }
        for (who, manager) in (0..).zip(&state.managers) {
            if *manager == Manager::Working {
                actions.extend([Act::GetReady(who), Act::GiveUp(who)]);
            }
            if state.decided.is_none() && state.sent.contains(&Message::Ready(who)) {
                actions.push(Act::Hear(who));
            }
            for (message, commit) in [(Message::Commit, true), (Message::Abort, false)] {
                if state.sent.contains(&message) {
                    actions.push(Act::Obey(who, commit));
                }
            }
        }
    }

    fn next_state(&self, state: &Transaction, action: Act) -> Option<Transaction> {
        let mut next = state.clone();
        match action {
            Act::GetReady(who) => {
                next.managers[usize::from(who)] = Manager::Ready;
                next.sent.insert(Message::Ready(who));
            }
            Act::GiveUp(who) => next.managers[usize::from(who)] = Manager::Aborted,
            Act::Hear(who) => {
                next.heard.insert(who);
            }
            Act::Decide(commit) => {
                next.decided = Some(commit);
                next.sent.insert(if commit { Message::Commit } else { Message::Abort });
            }
            Act::Obey(who, commit) => {
                next.managers[usize::from(who)] =
                    if commit { Manager::Committed } else { Manager::Aborted };
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::sometimes("all commit", |_, state: &Transaction| {
                state.managers.iter().all(|it| *it == Manager::Committed)
            }),
            Property::sometimes("all abort", |_, state: &Transaction| {
                state.managers.iter().all(|it| *it == Manager::Aborted)
            }),
            Property::always("nobody aborts what another commits", |_, state: &Transaction| {
                let is = |it| state.managers.contains(&it);
                !(is(Manager::Aborted) && is(Manager::Committed))
            }),
        ]
    }
}

/// How many states Stateright finds; a property of the model must be one that it looks for to the end.
fn counted<M>(model: &M) -> u64
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Clone + std::fmt::Debug + std::hash::Hash + PartialEq + Send + Sync,
    M::Action: Clone + PartialEq + std::fmt::Debug + Send + Sync,
{
    let checker = model.clone().checker().spawn_bfs().join();
    let open = |it: &Property<M>| {
        it.expectation == Expectation::Always && checker.discovery(it.name).is_none()
    };
    assert!(model.properties().iter().any(open), "it ends before all states are visited");
    checker.unique_state_count() as u64
}

#[test]
fn two_phase_commit_has_the_states_of_the_literature() {
    let _alone = alone();
    for (managers, states) in [(3, 288), (5, 8832)] {
        let commit = Commit { managers };
        assert_eq!(counted(&commit), states);
        let model = Stateright::new(&commit).parameters(managers.to_string());
        let found = Check::new(&model).memory(MEMORY).run().unwrap();
        assert_eq!((found.verdict(), found.states()), (Verdict::Verified, states));
        let theirs = commit.clone().checker().spawn_bfs().join();
        for (name, shortest) in [("all commit", 3 * managers + 1), ("all abort", managers)] {
            let ours = found.example(name).unwrap().unwrap().depth();
            assert_eq!(ours, usize::from(shortest), "{name}");
            // What Stateright keeps is the last way that it finds.
            assert!(ours < theirs.discovery(name).unwrap().into_states().len(), "{name}");
        }
    }
}

/// Threads that each add one to a number, in two steps.
#[derive(Clone)]
struct Adders {
    threads: usize,
    locks: bool,
}

#[derive(Clone, Debug, Hash, PartialEq, Serialize, Deserialize)]
struct Sum {
    number: u8,
    holder: Option<u8>,
    threads: Vec<Thread>,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Serialize, Deserialize)]
enum Thread {
    Begins,
    Locked,
    Read(u8),
    Wrote,
    Ends,
}

impl Model for Adders {
    type State = Sum;
    type Action = usize;

    fn init_states(&self) -> Vec<Sum> {
        vec![Sum { number: 0, holder: None, threads: vec![Thread::Begins; self.threads] }]
    }

    fn actions(&self, _: &Sum, actions: &mut Vec<usize>) {
        actions.extend(0..self.threads);
    }

    fn next_state(&self, state: &Sum, thread: usize) -> Option<Sum> {
        let mut next = state.clone();
        next.threads[thread] = match state.threads[thread] {
            Thread::Begins if !self.locks => Thread::Locked,
            Thread::Begins if state.holder.is_none() => {
                next.holder = Some(thread as u8);
                Thread::Locked
            }
            Thread::Locked => Thread::Read(state.number),
            Thread::Read(number) => {
                next.number = number + 1;
                Thread::Wrote
            }
            Thread::Wrote => {
                next.holder = None;
                Thread::Ends
            }
            Thread::Begins | Thread::Ends => return None,
        };
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing is lost", |_, state: &Sum| {
                let wrote = |it: &&Thread| matches!(it, Thread::Wrote | Thread::Ends);
                state.threads.iter().filter(wrote).count() == usize::from(state.number)
            }),
            Property::eventually("all end", |_, state: &Sum| {
                state.threads.iter().all(|it| *it == Thread::Ends)
            }),
        ]
    }
}

#[test]
fn a_race_is_found_by_a_shortest_way_and_a_lock_ends_it() {
    let _alone = alone();
    let race = Adders { threads: 3, locks: false };
    let model = Stateright::new(&race);
    let found = Check::new(&model).memory(MEMORY).run().unwrap();
    let theirs = race.clone().checker().spawn_bfs().join().discovery("nothing is lost").unwrap();
    let ours = found.counterexample().unwrap().unwrap();
    assert_eq!((ours.depth(), ours.depth() < theirs.into_states().len()), (6, true));

    let lock = Adders { threads: 4, locks: true };
    let model = Stateright::new(&lock);
    let found = Check::new(&model).memory(MEMORY).run().unwrap();
    assert_eq!((found.verdict(), found.states()), (Verdict::Verified, counted(&lock)));
}

/// Sends what it is told to a neighbour, until that is enough; asks again after a while; may forget; keeps what it must not
/// forget.
#[derive(Clone)]
struct Node {
    next: Id,
    most: u8,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Say {
    Count(u8),
    Again,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Wait {
    Short,
    Long,
}

impl Actor for Node {
    type Msg = Say;
    type Timer = Wait;
    type State = (u8, bool);
    type Storage = u8;
    type Random = bool;

    fn on_start(&self, id: Id, storage: &Option<u8>, out: &mut Out<Self>) -> (u8, bool) {
        let at = storage.unwrap_or_default();
        if usize::from(id) == 0 {
            out.send(self.next, Say::Count(at));
        }
        out.set_timer(Wait::Long, model_timeout());
        (at, false)
    }

    fn on_msg(&self, _: Id, state: &mut Cow<(u8, bool)>, from: Id, said: Say, out: &mut Out<Self>) {
        match said {
            Say::Count(number) if number >= state.0 && number < self.most => {
                state.to_mut().0 = number + 1;
                out.save(number + 1);
                out.send(self.next, Say::Count(number + 1));
                out.set_timer(Wait::Short, model_timeout());
                out.choose_random("flip", vec![false, true]);
            }
            Say::Count(_) => {}
            Say::Again => out.send(from, Say::Count(state.0)),
        }
    }

    fn on_timeout(&self, _: Id, state: &mut Cow<(u8, bool)>, timer: &Wait, out: &mut Out<Self>) {
        if *timer == Wait::Short && !state.1 {
            state.to_mut().1 = true;
            out.send(self.next, Say::Again);
        }
    }

    fn on_random(&self, _: Id, state: &mut Cow<(u8, bool)>, random: &bool, _: &mut Out<Self>) {
        state.to_mut().1 = *random;
    }
}

fn ring(network: Network<Say>, lossy: LossyNetwork, crashes: usize) -> ActorModel<Node, (), u8> {
    ActorModel::new((), 0)
        .actors([Node { next: 1.into(), most: 2 }, Node { next: 0.into(), most: 2 }])
        .init_network(network)
        .lossy_network(lossy)
        .max_crashes(crashes)
        .record_msg_out(|(), sent, _| Some((*sent + 1).min(3)))
        .within_boundary(|(), state| state.network.len() < 4)
        .property(Expectation::Always, "bounded", |_, state| {
            state.actor_states.iter().all(|it| it.0 <= 2)
        })
        .property(Expectation::Sometimes, "done", |_, state| {
            state.actor_states.iter().any(|it| it.0 == 2)
        })
}

/// How many states are reached of which no two are equal.
///
/// By `Eq`: `Hash` writes no lengths of the sets of timers, and so two states whose first and whose second actor has
/// the same timer are one state for Stateright.
fn unequal<C, H>(model: &ActorModel<Node, C, H>) -> u64
where
    H: Clone + std::fmt::Debug + Eq + std::hash::Hash,
{
    let mut seen = HashSet::new();
    let mut open = model.init_states();
    while let Some(state) = open.pop() {
        if model.within_boundary(&state) && !seen.contains(&state) {
            open.extend(model.next_states(&state));
            seen.insert(state);
        }
    }
    seen.len() as u64
}

#[test]
fn actors_have_as_many_states_over_each_network() {
    let _alone = alone();
    let networks = || {
        let networks: [Network<Say>; 3] = [
            Network::new_ordered([]),
            Network::new_unordered_duplicating([]),
            Network::new_unordered_nonduplicating([]),
        ];
        networks
    };
    let mut most = 0;
    let settings = [
        ("", LossyNetwork::No, 0),
        ("lossy", LossyNetwork::Yes, 0),
        ("crash", LossyNetwork::No, 1),
    ];
    for (setting, lossy, crashes) in settings {
        for network in networks() {
            let which = format!("{network:?} {setting}");
            let actors = ring(network, lossy, crashes);
            let model = Actors::of(&actors);
            let found = Check::new(&model).memory(MEMORY).run().unwrap();
            assert_eq!(found.verdict(), Verdict::Verified, "{which}");
            assert_eq!(found.states(), unequal(&actors), "{which}");
            most = most.max(found.states());
        }
    }
    assert!(most > 1000, "{most}");
}

#[test]
fn a_search_goes_on_in_its_directory() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let commit = Commit { managers: 5 };
    let model = Stateright::new(&commit).parameters("5");
    let ask = || Check::new(&model).memory(MEMORY).dir(folder.path());
    assert_eq!(ask().max_states(500).run().unwrap().verdict(), Verdict::Incomplete);
    assert_eq!(ask().run().unwrap().states(), 8832);
}
