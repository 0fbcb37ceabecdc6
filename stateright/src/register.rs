//! Clients and servers of a register, as in Stateright's module of this name, with states that serde can write and
//! read.
//!
//! A model only changes its `use` lines. Messages are Stateright's own, which serde can write and read.

pub use stateright::actor::register::RegisterMsg;

use crate::semantics::{
    ConsistencyTester, LinearizabilityTester, SequentialConsistencyTester, SequentialSpec,
};
use serde::{Deserialize, Serialize};
use stateright::actor::{Actor, Id, Out};
use stateright::semantics::register as theirs;
use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;

/// A client of a register, or one of its servers.
///
/// Servers are the first actors of a model: a client addresses them by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterActor<S> {
    /// A client that writes some values, one after another, and then reads one. It uses the servers in turn.
    Client {
        /// The number of values that it writes.
        put_count: usize,
        /// The number of servers.
        server_count: usize,
    },
    /// A server.
    Server(S),
}

/// The state of a client or a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RegisterActorState<S, R = u64> {
    /// The state of a client.
    Client {
        /// The request whose answer it awaits.
        awaiting: Option<R>,
        /// The number of requests sent or answered, as Stateright counts them.
        op_count: u64,
    },
    /// The state of a server.
    Server(S),
}

impl<S, I> RegisterActor<S>
where
    S: Actor<Msg = RegisterMsg<u64, char, I>>,
    I: Clone + Debug + Eq + Hash,
{
    /// Passes an event to the server, if this is one.
    fn serve(
        &self,
        state: &mut Cow<'_, RegisterActorState<S::State>>,
        out: &mut Out<Self>,
        act: impl FnOnce(&S, &mut Cow<'_, S::State>, &mut Out<S>),
    ) {
        let (RegisterActor::Server(server), RegisterActorState::Server(before)) = (self, &**state)
        else {
            return;
        };
        let (mut after, mut of_server) = (Cow::Borrowed(before), Out::new());
        act(server, &mut after, &mut of_server);
        out.append(&mut of_server);
        if let Cow::Owned(after) = after {
            *state = Cow::Owned(RegisterActorState::Server(after));
        }
    }
}

/// Returns the server to which a client sends a request.
fn target_server(client: Id, sent: u64, servers: usize) -> Id {
    Id::from((usize::from(client) + sent as usize) % servers)
}

/// Returns the number of a client.
fn client_number(client: Id, servers: usize) -> u8 {
    let number = usize::from(client).checked_sub(servers);
    number.expect("the servers of a register come before its clients in a model") as u8
}

impl<S, I> Actor for RegisterActor<S>
where
    S: Actor<Msg = RegisterMsg<u64, char, I>>,
    I: Clone + Debug + Eq + Hash,
{
    type Msg = S::Msg;
    type State = RegisterActorState<S::State>;
    type Timer = S::Timer;
    type Random = S::Random;
    type Storage = S::Storage;

    fn on_start(&self, id: Id, storage: &Option<S::Storage>, out: &mut Out<Self>) -> Self::State {
        match self {
            RegisterActor::Client { put_count: 0, .. } => {
                RegisterActorState::Client { awaiting: None, op_count: 0 }
            }
            RegisterActor::Client { server_count, .. } => {
                let request = usize::from(id) as u64;
                let value = char::from(b'A' + client_number(id, *server_count));
                out.send(target_server(id, 0, *server_count), RegisterMsg::Put(request, value));
                RegisterActorState::Client { awaiting: Some(request), op_count: 1 }
            }
            RegisterActor::Server(server) => {
                let mut of_server = Out::new();
                let state = server.on_start(id, storage, &mut of_server);
                out.append(&mut of_server);
                RegisterActorState::Server(state)
            }
        }
    }

    fn on_msg(
        &self,
        id: Id,
        state: &mut Cow<'_, Self::State>,
        from: Id,
        message: S::Msg,
        out: &mut Out<Self>,
    ) {
        let (
            &RegisterActor::Client { put_count, server_count },
            &RegisterActorState::Client { awaiting, op_count },
        ) = (self, &**state)
        else {
            return self.serve(state, out, |server, state, out| {
                server.on_msg(id, state, from, message, out);
            });
        };
        let next = (op_count + 1) * usize::from(id) as u64;
        let to = target_server(id, op_count, server_count);
        let awaiting = match message {
            RegisterMsg::GetOk(request, _) if Some(request) == awaiting => None,
            RegisterMsg::PutOk(request) if Some(request) == awaiting => {
                out.send(
                    to,
                    match op_count < put_count as u64 {
                        true => {
                            let value = char::from(b'Z' - client_number(id, server_count));
                            RegisterMsg::Put(next, value)
                        }
                        false => RegisterMsg::Get(next),
                    },
                );
                Some(next)
            }
            _ => return,
        };
        *state = Cow::Owned(RegisterActorState::Client { awaiting, op_count: op_count + 1 });
    }

    fn on_timeout(
        &self,
        id: Id,
        state: &mut Cow<'_, Self::State>,
        timer: &S::Timer,
        out: &mut Out<Self>,
    ) {
        self.serve(state, out, |server, state, out| server.on_timeout(id, state, timer, out));
    }

    fn on_random(
        &self,
        id: Id,
        state: &mut Cow<'_, Self::State>,
        random: &S::Random,
        out: &mut Out<Self>,
    ) {
        self.serve(state, out, |server, state, out| server.on_random(id, state, random, out));
    }

    fn name(&self) -> String {
        match self {
            RegisterActor::Client { .. } => "Client".into(),
            RegisterActor::Server(server) => {
                Some(server.name()).filter(|it| !it.is_empty()).unwrap_or("Server".into())
            }
        }
    }
}

/// A register: the reference object of testers.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Register<V>(pub V);

/// An operation on a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RegisterOp<V> {
    /// Writes a value.
    Write(V),
    /// Reads the value.
    Read,
}

/// An answer of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RegisterRet<V> {
    /// Confirms a write.
    WriteOk,
    /// Contains the value.
    ReadOk(V),
}

impl<V: Clone + Debug + PartialEq> SequentialSpec for Register<V> {
    type Op = RegisterOp<V>;
    type Ret = RegisterRet<V>;

    fn invoke(&mut self, operation: &RegisterOp<V>) -> RegisterRet<V> {
        match operation {
            RegisterOp::Read => RegisterRet::ReadOk(self.0.clone()),
            RegisterOp::Write(value) => {
                self.0.clone_from(value);
                RegisterRet::WriteOk
            }
        }
    }
}

impl<V> From<theirs::RegisterOp<V>> for RegisterOp<V> {
    fn from(operation: theirs::RegisterOp<V>) -> Self {
        match operation {
            theirs::RegisterOp::Write(value) => RegisterOp::Write(value),
            theirs::RegisterOp::Read => RegisterOp::Read,
        }
    }
}

impl<V> From<theirs::RegisterRet<V>> for RegisterRet<V> {
    fn from(answer: theirs::RegisterRet<V>) -> Self {
        match answer {
            theirs::RegisterRet::WriteOk => RegisterRet::WriteOk,
            theirs::RegisterRet::ReadOk(value) => RegisterRet::ReadOk(value),
        }
    }
}

crate::semantics::records_for!(
    Register,
    theirs::Register<V>,
    theirs::RegisterOp<V>,
    theirs::RegisterRet<V>
);
