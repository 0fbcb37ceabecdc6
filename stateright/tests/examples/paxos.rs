//! Example `paxos`: servers that agree on a value (Lamport, "Paxos made simple", 2001). Each of them may lead.

use super::registers::{Registers, registers};
use super::{exclusive_search, search_all, stateright_states};
use serde::{Deserialize, Serialize};
use spillway::SearchVerdict;
use spillway_stateright::ActorSystem;
use spillway_stateright::register::RegisterMsg;
use stateright::actor::{Actor, Id, Out, majority, model_peers};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A round and its leader.
type Ballot = (u32, Id);

/// The request of a client.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Proposal {
    request: u64,
    client: Id,
    value: char,
}

/// An accepted proposal with its ballot.
type Accepted = (Ballot, Proposal);

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum ServerMessage {
    Prepare(Ballot),
    Promise(Ballot, Option<Accepted>),
    Accept(Accepted),
    Agree(Ballot),
    Decide(Accepted),
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct Voter {
    ballot: Ballot,
    /// For a leader: its proposal, the promises, and the servers that agree.
    proposal: Option<Proposal>,
    promises: BTreeMap<Id, Option<Accepted>>,
    agreed: BTreeSet<Id>,
    accepted: Option<Accepted>,
    is_decided: bool,
}

#[derive(Clone)]
struct Server {
    others: Vec<Id>,
}

impl Server {
    fn majority(&self) -> usize {
        majority(self.others.len() + 1)
    }

    fn broadcast(&self, what: ServerMessage, out: &mut Out<Self>) {
        out.broadcast(&self.others, &RegisterMsg::Internal(what));
    }

    fn lead(&self, id: Id, state: &mut Voter, proposal: Proposal, out: &mut Out<Self>) {
        state.proposal = Some(proposal);
        state.ballot = (state.ballot.0 + 1, id);
        state.promises = [(id, state.accepted)].into();
        state.agreed.clear();
        self.broadcast(ServerMessage::Prepare(state.ballot), out);
    }

    /// Continues after a majority has promised: proposes the newest accepted proposal, or else the leader's own.
    fn propose(&self, id: Id, state: &mut Voter, out: &mut Out<Self>) {
        let newest = state.promises.values().flatten().max().map(|it| it.1);
        state.proposal = newest.or(state.proposal);
        let Some(proposal) = state.proposal else { return };
        state.accepted = Some((state.ballot, proposal));
        state.agreed.insert(id);
        self.broadcast(ServerMessage::Accept((state.ballot, proposal)), out);
    }

    fn receive(
        &self,
        (id, from): (Id, Id),
        state: &mut Cow<'_, Voter>,
        message: ServerMessage,
        out: &mut Out<Self>,
    ) {
        match message {
            ServerMessage::Prepare(ballot) if ballot > state.ballot => {
                let promise = ServerMessage::Promise(ballot, state.accepted);
                state.to_mut().ballot = ballot;
                out.send(from, RegisterMsg::Internal(promise));
            }
            ServerMessage::Promise(ballot, accepted) if ballot == state.ballot => {
                let state = state.to_mut();
                state.promises.insert(from, accepted);
                if state.promises.len() == self.majority() {
                    self.propose(id, state, out);
                }
            }
            ServerMessage::Accept(accepted) if accepted.0 >= state.ballot => {
                let state = state.to_mut();
                state.ballot = accepted.0;
                state.accepted = Some(accepted);
                out.send(from, RegisterMsg::Internal(ServerMessage::Agree(accepted.0)));
            }
            ServerMessage::Agree(ballot) if ballot == state.ballot => {
                let state = state.to_mut();
                state.agreed.insert(from);
                if let (true, Some(proposal)) =
                    (state.agreed.len() == self.majority(), state.proposal)
                {
                    state.is_decided = true;
                    self.broadcast(ServerMessage::Decide((ballot, proposal)), out);
                    out.send(proposal.client, RegisterMsg::PutOk(proposal.request));
                }
            }
            ServerMessage::Decide(accepted) => {
                let state = state.to_mut();
                state.ballot = accepted.0;
                state.accepted = Some(accepted);
                state.is_decided = true;
            }
            _ => {}
        }
    }
}

impl Actor for Server {
    type Msg = RegisterMsg<u64, char, ServerMessage>;
    type State = Voter;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> Voter {
        Voter {
            ballot: (0, Id::from(0)),
            proposal: None,
            promises: BTreeMap::new(),
            agreed: BTreeSet::new(),
            accepted: None,
            is_decided: false,
        }
    }

    fn on_msg(
        &self,
        id: Id,
        state: &mut Cow<'_, Voter>,
        from: Id,
        message: Self::Msg,
        out: &mut Out<Self>,
    ) {
        match (message, state.accepted) {
            (RegisterMsg::Get(request), Some((_, proposal))) if state.is_decided => {
                out.send(from, RegisterMsg::GetOk(request, proposal.value));
            }
            _ if state.is_decided => {}
            (RegisterMsg::Put(request, value), _) if state.proposal.is_none() => {
                let proposal = Proposal { request, client: from, value };
                self.lead(id, state.to_mut(), proposal, out);
            }
            (RegisterMsg::Internal(message), _) => self.receive((id, from), state, message, out),
            _ => {}
        }
    }
}

fn model(clients: usize) -> Registers<Server> {
    let all = (0..3).map(|it| Server { others: model_peers(it, 3) });
    registers(all.collect(), clients)
}

#[test]
fn three_servers_agree() {
    let _exclusive = exclusive_search();
    let actors = model(2);
    let model = ActorSystem::of(&actors);
    let found = search_all(&model);
    assert_eq!((found.verdict(), found.states()), (SearchVerdict::Verified, 16_668));
    assert_eq!(stateright_states(&actors), 16_668);
    assert_eq!(found.example("value chosen").unwrap().unwrap().depth(), 8);
}
