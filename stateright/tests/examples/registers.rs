//! Models of registers, and the testers that check them.

use serde::{Deserialize, Serialize};
use spillway_stateright::SerdeActor;
use spillway_stateright::register::{
    Register, RegisterActor, RegisterMsg, RegisterOp, RegisterRet,
};
use spillway_stateright::semantics::{
    ConsistencyTester, LinearizabilityTester, SequentialConsistencyTester,
};
use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Network};
use stateright::semantics as theirs;
use stateright::semantics::register as their;
use std::fmt::Debug;
use std::hash::Hash;

/// The tester of the models.
pub type Tester = LinearizabilityTester<Id, Register<char>>;

/// A model of a register.
pub type Registers<S> = ActorModel<RegisterActor<S>, (), Tester>;

/// Servers of a register, and clients that write once and read, over a network that neither orders nor duplicates
/// messages.
pub fn registers<S, I>(servers: Vec<S>, clients: usize) -> Registers<S>
where
    S: SerdeActor + Actor<Msg = RegisterMsg<u64, char, I>, Timer: Ord>,
    I: Clone + Debug + Hash + Ord,
{
    let server_count = servers.len();
    ActorModel::new((), Tester::new(Register(char::default())))
        .actors(servers.into_iter().map(RegisterActor::Server))
        .actors((0..clients).map(|_| RegisterActor::Client { put_count: 1, server_count }))
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, "linearizable", |_, state| state.history.is_consistent())
        .property(Expectation::Sometimes, "value chosen", |_, state| {
            let mut sent = state.network.iter_deliverable();
            sent.any(
                |it| matches!(it.msg, RegisterMsg::GetOk(_, value) if *value != char::default()),
            )
        })
        .record_msg_in(RegisterMsg::record_returns)
        .record_msg_out(RegisterMsg::record_invocations)
}

/// An event of a register: a thread begins an operation or gets an answer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum RegisterEvent {
    Write(u8, char),
    Read(u8),
    Wrote(u8),
    Got(u8, char),
}

/// Records the same events in a tester of this crate and in one of Stateright. Returns whether both accept them as
/// valid and as consistent.
fn tester_answers<T, U>(mut ours: T, mut their_tester: U, events: &[RegisterEvent]) -> (bool, bool)
where
    T: ConsistencyTester<u8, Register<char>>,
    U: ConsistencyTester<u8, their::Register<char>>,
{
    let mut is_valid = true;
    for event in events {
        let (here, there) = match *event {
            RegisterEvent::Write(thread, value) => (
                ours.on_invoke(thread, RegisterOp::Write(value)).map(drop),
                their_tester.on_invoke(thread, their::RegisterOp::Write(value)).map(drop),
            ),
            RegisterEvent::Read(thread) => (
                ours.on_invoke(thread, RegisterOp::Read).map(drop),
                their_tester.on_invoke(thread, their::RegisterOp::Read).map(drop),
            ),
            RegisterEvent::Wrote(thread) => (
                ours.on_return(thread, RegisterRet::WriteOk).map(drop),
                their_tester.on_return(thread, their::RegisterRet::WriteOk).map(drop),
            ),
            RegisterEvent::Got(thread, value) => (
                ours.on_return(thread, RegisterRet::ReadOk(value)).map(drop),
                their_tester.on_return(thread, their::RegisterRet::ReadOk(value)).map(drop),
            ),
        };
        assert_eq!(here.is_ok(), there.is_ok(), "{events:?}");
        is_valid &= here.is_ok();
    }
    assert_eq!(ours.is_consistent(), their_tester.is_consistent(), "{events:?}");
    (is_valid, ours.is_consistent())
}

#[test]
fn testers_accept_the_histories_that_stateright_accepts() {
    let (mut linearizable, mut sequential, mut invalid) = ([0; 2], [0; 2], 0);
    let mut seed = 1_u64;
    let mut below = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound
    };
    for _ in 0..3000 {
        let events = (0..12).map(|_| {
            let (thread, value) = (below(3) as u8, char::from(b'a' + below(2) as u8));
            match below(4) {
                0 => RegisterEvent::Write(thread, value),
                1 => RegisterEvent::Read(thread),
                2 => RegisterEvent::Wrote(thread),
                _ => RegisterEvent::Got(thread, value),
            }
        });
        let mut events: Vec<RegisterEvent> = events.collect();
        if below(8) > 0 {
            events = possible_events(&events);
        }
        let (valid, consistent) = tester_answers(
            LinearizabilityTester::new(Register('a')),
            theirs::LinearizabilityTester::new(their::Register('a')),
            &events,
        );
        linearizable[usize::from(consistent)] += 1;
        invalid += i32::from(!valid);
        let (_, consistent) = tester_answers(
            SequentialConsistencyTester::new(Register('a')),
            theirs::SequentialConsistencyTester::new(their::Register('a')),
            &events,
        );
        sequential[usize::from(consistent)] += 1;
    }
    // Each answer occurred often. Fewer histories are consistent in real time.
    assert!(
        linearizable.iter().chain(&sequential).all(|it| *it > 100),
        "{linearizable:?} {sequential:?}"
    );
    assert!(
        linearizable[1] < sequential[1] && invalid > 100,
        "{linearizable:?} {sequential:?} {invalid}"
    );
}

/// Returns the events that are possible in sequence: a thread begins no operation before its answer, and the answer is
/// that of its request.
fn possible_events(events: &[RegisterEvent]) -> Vec<RegisterEvent> {
    let mut pending: [Option<RegisterEvent>; 3] = [None; 3];
    let happens = |event: &&RegisterEvent| {
        let (RegisterEvent::Write(thread, _)
        | RegisterEvent::Read(thread)
        | RegisterEvent::Wrote(thread)
        | RegisterEvent::Got(thread, _)) = **event;
        let pending = &mut pending[usize::from(thread)];
        let fits = match **event {
            RegisterEvent::Write(..) | RegisterEvent::Read(_) => pending.is_none(),
            RegisterEvent::Wrote(_) => matches!(pending, Some(RegisterEvent::Write(..))),
            RegisterEvent::Got(..) => matches!(pending, Some(RegisterEvent::Read(_))),
        };
        if fits {
            let begins = matches!(event, RegisterEvent::Write(..) | RegisterEvent::Read(_));
            *pending = begins.then_some(**event);
        }
        fits
    };
    events.iter().filter(happens).copied().collect()
}

#[test]
fn a_consistent_history_has_an_order_of_operations() {
    let mut tester = LinearizabilityTester::<u8, Register<char>>::new(Register('a'));
    assert!(tester.is_empty() && tester.is_consistent());
    ConsistencyTester::<u8, Register<char>>::on_invoke(&mut tester, 0, RegisterOp::Write('b'))
        .unwrap();
    ConsistencyTester::<u8, Register<char>>::on_invoke(&mut tester, 1, RegisterOp::Read).unwrap();
    ConsistencyTester::<u8, Register<char>>::on_return(&mut tester, 1, RegisterRet::ReadOk('b'))
        .unwrap();
    let write = (RegisterOp::Write('b'), RegisterRet::WriteOk);
    let read = (RegisterOp::Read, RegisterRet::ReadOk('b'));
    assert_eq!((tester.len(), tester.serialized_history()), (2, Some(vec![write, read])));
    let error =
        ConsistencyTester::<u8, Register<char>>::on_return(&mut tester, 1, RegisterRet::WriteOk);
    assert_eq!(error.unwrap_err(), "thread 1 is answered WriteOk without an operation");
    assert_eq!(tester.serialized_history(), None);
}
