//! Example `single-copy-register`: servers that do not communicate, each with its own value.

use super::registers::{Registers, registers};
use super::{exclusive_search, search_all, stateright_states};
use spillway::SearchVerdict;
use spillway_stateright::ActorSystem;
use spillway_stateright::register::RegisterMsg;
use stateright::actor::{Actor, Id, Out};
use std::borrow::Cow;

#[derive(Clone)]
struct Server;

impl Actor for Server {
    type Msg = RegisterMsg<u64, char, ()>;
    type State = char;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> char {
        char::default()
    }

    fn on_msg(
        &self,
        _: Id,
        state: &mut Cow<'_, char>,
        from: Id,
        message: Self::Msg,
        out: &mut Out<Self>,
    ) {
        match message {
            RegisterMsg::Get(request) => out.send(from, RegisterMsg::GetOk(request, **state)),
            RegisterMsg::Put(request, value) => {
                *state.to_mut() = value;
                out.send(from, RegisterMsg::PutOk(request));
            }
            _ => {}
        }
    }
}

fn model(servers: usize) -> Registers<Server> {
    registers(vec![Server; servers], 2)
}

#[test]
fn one_server_is_linearizable() {
    let _exclusive = exclusive_search();
    let one = model(1);
    let model = ActorSystem::of(&one);
    let found = search_all(&model);
    assert_eq!((found.verdict(), found.states()), (SearchVerdict::Verified, 93));
    assert_eq!(stateright_states(&one), 93);
    assert_eq!(found.example("value chosen").unwrap().unwrap().depth(), 3);
}

#[test]
fn two_servers_are_not_linearizable() {
    let _exclusive = exclusive_search();
    let two = model(2);
    let model = ActorSystem::of(&two);
    let found = model.check().memory(super::MEMORY).run().unwrap();
    assert_eq!(found.verdict(), SearchVerdict::Violated);
    assert_eq!(found.counterexample_of("linearizable").unwrap().unwrap().depth(), 4);
}
