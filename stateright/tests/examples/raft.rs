//! Example `raft`: servers that elect a leader and copy its log (Ongaro and Ousterhout, "In search of an understandable
//! consensus algorithm", 2014).
//!
//! Votes are an ordered set. A `HashSet` is written in another order each time, and a search that detects this ends
//! with an error. The hash covers the whole state. Stateright's example omits a server's delivered and waiting messages
//! from the hash, so Stateright counts fewer states there.

use super::{MEMORY, distinct_states, exclusive_search, search_all, stateright_states_to};
use serde::{Deserialize, Serialize};
use spillway::SearchVerdict;
use spillway_stateright::ActorSystem;
use stateright::actor::{Actor, ActorModel, Id, Network, Out, model_timeout};
use stateright::{Expectation, HasDiscoveries};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
enum Role {
    Follower,
    Candidate,
    Leader,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct LogEntry {
    term: usize,
    text: String,
}

/// The part of a leader's log in a message.
#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct LogPart {
    term: usize,
    /// The number of entries before the part. The next field is the term of the last of these.
    before: usize,
    before_term: usize,
    committed: usize,
    entries: Vec<LogEntry>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum RaftMessage {
    /// Requests a vote for a term, with the number of log entries and the term of the last.
    AskVote {
        term: usize,
        entries: usize,
        last_term: usize,
    },
    Vote {
        term: usize,
        is_granted: bool,
    },
    Append(LogPart),
    /// Reports up to which entry the log equals the leader's, or `None` if it does not.
    Appended {
        term: usize,
        up_to: Option<usize>,
    },
    Broadcast(String),
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum RaftTimer {
    Election,
    Replication,
}

/// A leader's knowledge of the log of another server.
#[derive(Clone, Copy, Debug, Default, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct FollowerProgress {
    sent: usize,
    acknowledged: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ServerState<const HASHES_ALL: bool> {
    term: usize,
    voted_for: Option<Id>,
    log: Vec<LogEntry>,
    committed: usize,
    role: Role,
    leader: Option<Id>,
    votes: BTreeSet<Id>,
    known: BTreeMap<Id, FollowerProgress>,
    delivered: Vec<String>,
    /// Messages to broadcast once there is a leader.
    waiting: Vec<String>,
}

impl<const HASHES_ALL: bool> Hash for ServerState<HASHES_ALL> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let ServerState { term, voted_for, log, committed, role, leader, votes, known, .. } = self;
        (term, voted_for, log, committed, role, leader).hash(hasher);
        (votes, known).hash(hasher);
        if HASHES_ALL {
            (&self.delivered, &self.waiting).hash(hasher);
        }
    }
}

/// A server. The parameter determines whether its hash covers the whole state.
#[derive(Clone)]
struct Server<const HASHES_ALL: bool> {
    all: Vec<Id>,
}

impl<const HASHES_ALL: bool> Server<HASHES_ALL> {
    fn majority(&self) -> usize {
        (self.all.len() + 1).div_ceil(2)
    }

    fn others(&self, id: Id) -> impl Iterator<Item = Id> {
        self.all.iter().copied().filter(move |it| *it != id)
    }

    fn send_log(&self, state: &ServerState<HASHES_ALL>, to: Id, out: &mut Out<Self>) {
        let before = state.known[&to].sent;
        let part = LogPart {
            term: state.term,
            before,
            before_term: before.checked_sub(1).map_or(0, |it| state.log[it].term),
            committed: state.committed,
            entries: state.log[before..].to_vec(),
        };
        out.send(to, RaftMessage::Append(part));
    }

    fn send_log_to_all(&self, id: Id, state: &ServerState<HASHES_ALL>, out: &mut Out<Self>) {
        if state.role == Role::Leader {
            self.others(id).for_each(|it| self.send_log(state, it, out));
        }
    }

    fn follow(state: &mut ServerState<HASHES_ALL>, term: usize) {
        state.term = term;
        state.role = Role::Follower;
        state.voted_for = None;
    }

    fn vote(
        id: Id,
        state: &mut ServerState<HASHES_ALL>,
        from: Id,
        asked: [usize; 3],
        out: &mut Out<Self>,
    ) {
        let [term, entries, last_term] = asked;
        if term > state.term {
            Self::follow(state, term);
        }
        let own = (state.log.last().map_or(0, |it| it.term), state.log.len());
        let is_granted = term == state.term
            && (last_term, entries) >= own
            && state.voted_for.is_none_or(|it| it == from);
        if is_granted {
            state.voted_for = Some(from);
        }
        debug_assert_ne!(id, from);
        out.send(from, RaftMessage::Vote { term: state.term, is_granted });
    }

    fn count_vote(
        &self,
        id: Id,
        state: &mut ServerState<HASHES_ALL>,
        from: Id,
        out: &mut Out<Self>,
    ) {
        state.votes.insert(from);
        if state.votes.len() < self.majority() {
            return;
        }
        state.role = Role::Leader;
        state.leader = Some(id);
        for text in state.waiting.drain(..) {
            out.send(id, RaftMessage::Broadcast(text));
        }
        let known = FollowerProgress { sent: state.log.len(), acknowledged: 0 };
        state.known.extend(self.others(id).map(|it| (it, known)));
        self.send_log_to_all(id, state, out);
    }

    fn append(state: &mut ServerState<HASHES_ALL>, from: Id, part: LogPart, out: &mut Out<Self>) {
        if part.term > state.term {
            state.term = part.term;
            state.voted_for = None;
        }
        let is_current = part.term == state.term;
        if is_current {
            state.role = Role::Follower;
            state.leader = Some(from);
        }
        out.set_timer(RaftTimer::Election, model_timeout());
        let fits = part.before == 0
            || state.log.get(part.before - 1).is_some_and(|it| it.term == part.before_term);
        let up_to = (is_current && fits).then(|| part.before + part.entries.len());
        if let Some(up_to) = up_to {
            let overlap = state.log.len().min(up_to).checked_sub(1).filter(|it| *it >= part.before);
            if overlap.is_some_and(|it| state.log[it].term != part.entries[it - part.before].term) {
                state.log.truncate(part.before);
            }
            if up_to > state.log.len() {
                let have = state.log.len() - part.before;
                state.log.extend(part.entries.into_iter().skip(have));
            }
            Self::deliver(state, part.committed);
        }
        out.send(from, RaftMessage::Appended { term: state.term, up_to });
    }

    fn deliver(state: &mut ServerState<HASHES_ALL>, up_to: usize) {
        if up_to > state.committed {
            let new = state.log[state.committed..up_to].iter().map(|it| it.text.clone());
            state.delivered.extend(new);
            state.committed = up_to;
        }
    }

    fn acknowledge(
        &self,
        state: &mut ServerState<HASHES_ALL>,
        from: Id,
        up_to: Option<usize>,
        out: &mut Out<Self>,
    ) {
        let known = state.known.entry(from).or_default();
        match up_to {
            Some(up_to) if up_to >= known.acknowledged => {
                *known = FollowerProgress { sent: up_to, acknowledged: up_to };
                let has = |count: &usize| {
                    let have = state.known.values().filter(|it| it.acknowledged >= *count);
                    have.count() >= self.majority()
                };
                let safe = (state.committed + 1..=state.log.len()).rev().find(has);
                if let Some(safe) = safe.filter(|it| state.log[it - 1].term == state.term) {
                    Self::deliver(state, safe);
                }
            }
            _ if known.sent > 0 => {
                known.sent -= 1;
                self.send_log(state, from, out);
            }
            _ => {}
        }
    }
}

impl<const HASHES_ALL: bool> Actor for Server<HASHES_ALL> {
    type Msg = RaftMessage;
    type State = ServerState<HASHES_ALL>;
    type Timer = RaftTimer;
    type Random = ();
    type Storage = ();

    fn on_start(&self, id: Id, _: &Option<()>, out: &mut Out<Self>) -> ServerState<HASHES_ALL> {
        out.set_timer(RaftTimer::Election, model_timeout());
        out.set_timer(RaftTimer::Replication, model_timeout());
        out.send(id, RaftMessage::Broadcast(usize::from(id).to_string()));
        ServerState {
            term: 0,
            voted_for: None,
            log: Vec::new(),
            committed: 0,
            role: Role::Follower,
            leader: None,
            votes: BTreeSet::new(),
            known: self.all.iter().map(|it| (*it, FollowerProgress::default())).collect(),
            delivered: Vec::new(),
            waiting: Vec::new(),
        }
    }

    fn on_msg(
        &self,
        id: Id,
        state: &mut Cow<'_, ServerState<HASHES_ALL>>,
        from: Id,
        message: RaftMessage,
        out: &mut Out<Self>,
    ) {
        let state = state.to_mut();
        match message {
            RaftMessage::AskVote { term, entries, last_term } => {
                Self::vote(id, state, from, [term, entries, last_term], out);
            }
            RaftMessage::Vote { term, is_granted: true }
                if state.role == Role::Candidate && term == state.term =>
            {
                self.count_vote(id, state, from, out);
            }
            RaftMessage::Append(part) => Self::append(state, from, part, out),
            RaftMessage::Appended { term, up_to }
                if state.role == Role::Leader && term == state.term =>
            {
                self.acknowledge(state, from, up_to, out);
            }
            RaftMessage::Vote { term, .. } | RaftMessage::Appended { term, .. }
                if term > state.term =>
            {
                Self::follow(state, term);
                out.set_timer(RaftTimer::Election, model_timeout());
            }
            RaftMessage::Vote { .. } | RaftMessage::Appended { .. } => {}
            RaftMessage::Broadcast(text) if state.role == Role::Leader => {
                state.log.push(LogEntry { term: state.term, text });
                let acknowledged = state.log.len();
                state.known.entry(id).or_default().acknowledged = acknowledged;
                self.send_log_to_all(id, state, out);
            }
            RaftMessage::Broadcast(text) => match state.leader {
                Some(leader) => out.send(leader, RaftMessage::Broadcast(text)),
                None => state.waiting.push(text),
            },
        }
    }

    fn on_timeout(
        &self,
        id: Id,
        state: &mut Cow<'_, ServerState<HASHES_ALL>>,
        timer: &RaftTimer,
        out: &mut Out<Self>,
    ) {
        let state = state.to_mut();
        match timer {
            RaftTimer::Replication => self.send_log_to_all(id, state, out),
            RaftTimer::Election if state.role == Role::Leader => {}
            RaftTimer::Election => {
                state.term += 1;
                state.voted_for = Some(id);
                state.role = Role::Candidate;
                state.votes = [id].into();
                let entries = state.log.len();
                let last_term = state.log.last().map_or(0, |it| it.term);
                let ask = RaftMessage::AskVote { term: state.term, entries, last_term };
                self.others(id).for_each(|it| out.send(it, ask.clone()));
            }
        }
    }
}

fn cluster<const HASHES_ALL: bool>() -> ActorModel<Server<HASHES_ALL>> {
    let all: Vec<Id> = (0..3).map(Id::from).collect();
    ActorModel::new((), ())
        .max_crashes(1)
        .actors((0..3).map(|_| Server { all: all.clone() }))
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Sometimes, "a leader", |_, state| {
            state.actor_states.iter().any(|it| it.role == Role::Leader)
        })
        .property(Expectation::Sometimes, "a commit", |_, state| {
            state.actor_states.iter().any(|it| it.committed > 0)
        })
        .property(Expectation::Always, "one leader of a term", |_, state| {
            let mut terms = BTreeSet::new();
            let mut leaders = state.actor_states.iter().filter(|it| it.role == Role::Leader);
            leaders.all(|it| terms.insert(it.term))
        })
        .property(Expectation::Always, "one log", |_, state| {
            let logs = || state.actor_states.iter().map(|it| &it.delivered);
            let differ = |one: &Vec<String>| {
                logs().any(|other| one.iter().zip(other).any(|(one, other)| one != other))
            };
            !logs().any(differ)
        })
}

/// Stateright counts fewer states: two servers with the same timer have the same hash, whichever server has it.
#[test]
fn servers_have_all_distinct_states() {
    let _exclusive = exclusive_search();
    let actors = cluster::<true>();
    let model = ActorSystem::of(&actors).target_max_depth(6);
    let found = search_all(&model);
    assert_eq!(found.states(), distinct_states(&actors, 6));
    assert_eq!(found.verdict(), SearchVerdict::Incomplete);
    assert!(found.example("a leader").unwrap().is_some());
    let (hashed, hashed_in_part) =
        (stateright_states_to(&actors, 6), stateright_states_to(&cluster::<false>(), 6));
    // A hash of a part of the state merges more states.
    assert!(hashed_in_part < hashed && hashed < found.states(), "{hashed_in_part} {hashed}");
}

/// A leader is elected within few steps. With `finish_when` the search then ends.
#[test]
fn a_search_ends_with_the_first_leader() {
    let _exclusive = exclusive_search();
    let actors = cluster::<true>();
    let leader = HasDiscoveries::AnyOf(["a leader"].into());
    let model = ActorSystem::of(&actors).finish_when(leader);
    let found = model.check().memory(MEMORY).run().unwrap();
    assert_eq!(found.verdict(), SearchVerdict::Incomplete);
    // The steps are a timeout, the delivery of a request, and a vote.
    let way = found.example("a leader").unwrap().unwrap();
    assert_eq!((way.depth(), found.outcome().levels.len()), (3, 4));
}
