//! Example `linearizable-register`: a register on several servers; a majority answers each request (Attiya, Bar-Noy
//! and Dolev, "Sharing memory robustly in message-passing systems", 1995).

use super::registers::{Registers, registers};
use super::{exclusive_search, search_all, stateright_states};
use serde::{Deserialize, Serialize};
use spillway::SearchVerdict;
use spillway_stateright::ActorSystem;
use spillway_stateright::register::RegisterMsg;
use stateright::actor::{Actor, Id, Out, majority, model_peers};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The number of earlier writes of a value, and its writer.
type Version = (u64, Id);

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum ServerMessage {
    Ask(u64),
    Tell(u64, Version, char),
    Store(u64, Version, char),
    Stored(u64),
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct ServerState {
    version: Version,
    value: char,
    task: Option<PendingRequest>,
}

/// The request that a server handles.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct PendingRequest {
    request: u64,
    client: Id,
    step: RequestPhase,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
enum RequestPhase {
    Asking { write: Option<char>, told: BTreeMap<Id, (Version, char)> },
    Storing { read: Option<char>, stored: BTreeSet<Id> },
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

    fn begin(
        &self,
        (id, client): (Id, Id),
        state: &mut ServerState,
        (request, write): (u64, Option<char>),
        out: &mut Out<Self>,
    ) {
        let told = [(id, (state.version, state.value))].into();
        state.task =
            Some(PendingRequest { request, client, step: RequestPhase::Asking { write, told } });
        self.broadcast(ServerMessage::Ask(request), out);
    }

    /// Continues after a majority has answered: stores the newest value, or the one to be written.
    fn store(&self, id: Id, state: &mut ServerState, out: &mut Out<Self>) {
        let Some(PendingRequest { request, step: step @ RequestPhase::Asking { .. }, .. }) =
            &mut state.task
        else {
            return;
        };
        let RequestPhase::Asking { write, told } = step else { return };
        let Some(&newest) = told.values().max_by_key(|it| it.0) else { return };
        let (version, value) = match *write {
            Some(value) => ((newest.0.0 + 1, id), value),
            None => newest,
        };
        let read = write.is_none().then_some(value);
        self.broadcast(ServerMessage::Store(*request, version, value), out);
        *step = RequestPhase::Storing { read, stored: [id].into() };
        if version > state.version {
            (state.version, state.value) = (version, value);
        }
    }
}

impl Actor for Server {
    type Msg = RegisterMsg<u64, char, ServerMessage>;
    type State = ServerState;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, id: Id, _: &Option<()>, _: &mut Out<Self>) -> ServerState {
        ServerState { version: (0, id), value: char::default(), task: None }
    }

    fn on_msg(
        &self,
        id: Id,
        state: &mut Cow<'_, ServerState>,
        from: Id,
        message: Self::Msg,
        out: &mut Out<Self>,
    ) {
        let at = state.task.as_ref().map(|it| (it.request, &it.step));
        match message {
            RegisterMsg::Put(request, value) if at.is_none() => {
                self.begin((id, from), state.to_mut(), (request, Some(value)), out);
            }
            RegisterMsg::Get(request) if at.is_none() => {
                self.begin((id, from), state.to_mut(), (request, None), out);
            }
            RegisterMsg::Internal(ServerMessage::Ask(request)) => {
                let tell = ServerMessage::Tell(request, state.version, state.value);
                out.send(from, RegisterMsg::Internal(tell));
            }
            RegisterMsg::Internal(ServerMessage::Tell(request, version, value)) if matches!(at, Some((it, RequestPhase::Asking { .. })) if it == request) =>
            {
                let state = state.to_mut();
                if let Some(PendingRequest { step: RequestPhase::Asking { told, .. }, .. }) =
                    &mut state.task
                {
                    told.insert(from, (version, value));
                    if told.len() == self.majority() {
                        self.store(id, state, out);
                    }
                }
            }
            RegisterMsg::Internal(ServerMessage::Store(request, version, value)) => {
                out.send(from, RegisterMsg::Internal(ServerMessage::Stored(request)));
                if version > state.version {
                    let state = state.to_mut();
                    (state.version, state.value) = (version, value);
                }
            }
            RegisterMsg::Internal(ServerMessage::Stored(request))
                if matches!(at, Some((it, RequestPhase::Storing { stored, .. }))
                    if it == request && !stored.contains(&from)) =>
            {
                let state = state.to_mut();
                if let Some(PendingRequest {
                    step: RequestPhase::Storing { read, stored },
                    client,
                    ..
                }) = &mut state.task
                {
                    stored.insert(from);
                    if stored.len() == self.majority() {
                        let answer = match *read {
                            Some(value) => RegisterMsg::GetOk(request, value),
                            None => RegisterMsg::PutOk(request),
                        };
                        out.send(*client, answer);
                        state.task = None;
                    }
                }
            }
            _ => {}
        }
    }
}

fn model(servers: usize, clients: usize) -> Registers<Server> {
    let all = (0..servers).map(|it| Server { others: model_peers(it, servers) });
    registers(all.collect(), clients)
}

#[test]
fn two_servers_are_linearizable() {
    let _exclusive = exclusive_search();
    let actors = model(2, 2);
    let model = ActorSystem::of(&actors);
    let found = search_all(&model);
    assert_eq!((found.verdict(), found.states()), (SearchVerdict::Verified, 544));
    assert_eq!(stateright_states(&actors), 544);
    assert_eq!(found.example("value chosen").unwrap().unwrap().depth(), 11);
}
