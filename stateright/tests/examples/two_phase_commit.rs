//! Example `2pc`: two-phase commit.

use super::{MEMORY, exclusive_search, stateright_states};
use serde::{Deserialize, Serialize};
use spillway::{Check, SearchVerdict};
use spillway_stateright::Stateright;
use stateright::{Checker, Model, Property, Representative};
use std::collections::{BTreeSet, HashSet};

/// Two-phase commit (Gray and Lamport, "Consensus on transaction commit", 2006): resource managers and a transaction
/// manager.
#[derive(Clone)]
struct Commit {
    managers: u8,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct Transaction {
    managers: Vec<Manager>,
    decided: Option<bool>,
    heard: BTreeSet<u8>,
    sent: BTreeSet<Message>,
}

#[derive(Clone, Debug, PartialEq)]
enum ManagerAction {
    GetReady(u8),
    GiveUp(u8),
    Hear(u8),
    Decide(bool),
    Obey(u8, bool),
}

impl Model for Commit {
    type State = Transaction;
    type Action = ManagerAction;

    fn init_states(&self) -> Vec<Transaction> {
        let managers = vec![Manager::Working; self.managers.into()];
        let (heard, sent) = (BTreeSet::new(), BTreeSet::new());
        vec![Transaction { managers, decided: None, heard, sent }]
    }

    fn actions(&self, state: &Transaction, actions: &mut Vec<ManagerAction>) {
        if state.decided.is_none() {
            actions.push(ManagerAction::Decide(false));
            if state.heard.len() == state.managers.len() {
                actions.push(ManagerAction::Decide(true));
            }
        }
        for (index, manager) in (0..).zip(&state.managers) {
            if *manager == Manager::Working {
                actions.extend([ManagerAction::GetReady(index), ManagerAction::GiveUp(index)]);
            }
            if state.decided.is_none() && state.sent.contains(&Message::Ready(index)) {
                actions.push(ManagerAction::Hear(index));
            }
            for (message, commit) in [(Message::Commit, true), (Message::Abort, false)] {
                if state.sent.contains(&message) {
                    actions.push(ManagerAction::Obey(index, commit));
                }
            }
        }
    }

    fn next_state(&self, state: &Transaction, action: ManagerAction) -> Option<Transaction> {
        let mut next = state.clone();
        match action {
            ManagerAction::GetReady(index) => {
                next.managers[usize::from(index)] = Manager::Ready;
                next.sent.insert(Message::Ready(index));
            }
            ManagerAction::GiveUp(index) => next.managers[usize::from(index)] = Manager::Aborted,
            ManagerAction::Hear(index) => {
                next.heard.insert(index);
            }
            ManagerAction::Decide(commit) => {
                next.decided = Some(commit);
                next.sent.insert(if commit { Message::Commit } else { Message::Abort });
            }
            ManagerAction::Obey(index, commit) => {
                next.managers[usize::from(index)] =
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

#[test]
fn two_phase_commit_has_the_states_of_the_literature() {
    let _exclusive = exclusive_search();
    for (managers, states) in [(3, 288), (5, 8832)] {
        let commit = Commit { managers };
        assert_eq!(stateright_states(&commit), states);
        let model = Stateright::new(&commit).parameters(managers.to_string());
        let found = Check::new(&model).memory(MEMORY).run().unwrap();
        assert_eq!((found.verdict(), found.states()), (SearchVerdict::Verified, states));
        let theirs = commit.clone().checker().spawn_bfs().join();
        for (name, shortest) in [("all commit", 3 * managers + 1), ("all abort", managers)] {
            let ours = found.example(name).unwrap().unwrap().depth();
            assert_eq!(ours, usize::from(shortest), "{name}");
            // Stateright keeps the last path that it finds.
            assert!(ours < theirs.discovery(name).unwrap().into_states().len(), "{name}");
        }
    }
}

impl Representative for Transaction {
    /// Sorts the managers by their states.
    fn representative(&self) -> Self {
        let manager_key = |it: u8| {
            let sent = self.sent.contains(&Message::Ready(it));
            (self.managers[usize::from(it)], self.heard.contains(&it), sent)
        };
        let mut all: Vec<_> = (0..self.managers.len() as u8).map(manager_key).collect();
        all.sort();
        let of_all = (0..).zip(&all);
        let sent = of_all.clone().filter(|(_, it)| it.2).map(|(index, _)| Message::Ready(index));
        let decision = self.sent.iter().filter(|it| !matches!(it, Message::Ready(_)));
        Transaction {
            managers: all.iter().map(|it| it.0).collect(),
            decided: self.decided,
            heard: of_all.filter(|(_, it)| it.1).map(|(index, _)| index).collect(),
            sent: sent.chain(decision.cloned()).collect(),
        }
    }
}

#[test]
fn symmetric_states_are_visited_once() {
    let _exclusive = exclusive_search();
    let commit = Commit { managers: 5 };
    let model = Stateright::new(&commit).symmetry();
    let found = model.check().memory(MEMORY).run().unwrap();
    // All states, each replaced by its representative.
    let mut orbits = HashSet::new();
    let mut open = commit.init_states();
    let mut seen = HashSet::new();
    while let Some(state) = open.pop() {
        if seen.insert(state.clone()) {
            orbits.insert(state.representative());
            open.extend(commit.next_states(&state));
        }
    }
    assert_eq!((seen.len(), found.states()), (8832, orbits.len() as u64));
    assert_eq!(found.verdict(), SearchVerdict::Verified);
    let theirs = commit.clone().checker().symmetry().spawn_dfs().join();
    assert_eq!(found.states(), theirs.unique_state_count() as u64);
    let example = found.example("all commit").unwrap().unwrap();
    assert_eq!(example.depth(), 16);
}

#[test]
fn a_search_is_continued_in_its_directory() {
    let _exclusive = exclusive_search();
    let folder = tempfile::tempdir().unwrap();
    let commit = Commit { managers: 5 };
    let model = Stateright::new(&commit).parameters("5");
    let check = || Check::new(&model).memory(MEMORY).dir(folder.path());
    assert_eq!(check().max_states(500).run().unwrap().verdict(), SearchVerdict::Incomplete);
    assert_eq!(check().run().unwrap().states(), 8832);
}
