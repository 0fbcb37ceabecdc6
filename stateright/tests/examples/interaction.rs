//! Example `interaction`: a user driven by timers, and a counter: actors of two kinds.

use super::{distinct_states, exclusive_search, search_all, stateright_states_to};
use choice::{Choice, choice};
use serde::{Deserialize, Serialize};
use spillway::SearchVerdict;
use spillway::session::EventuallyVerdict;
use spillway_stateright::ActorSystem;
use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Out, model_timeout};
use std::borrow::Cow;

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum CounterMessage {
    Add(u32),
    Ask,
    Tell(u32),
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum UserTimer {
    Input,
    Query,
}

#[derive(Clone)]
struct Counter;

impl Actor for Counter {
    type Msg = CounterMessage;
    type State = u32;
    type Timer = UserTimer;
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> u32 {
        0
    }

    fn on_msg(
        &self,
        _: Id,
        state: &mut Cow<'_, u32>,
        from: Id,
        message: CounterMessage,
        out: &mut Out<Self>,
    ) {
        match message {
            CounterMessage::Add(number) => *state.to_mut() += number,
            CounterMessage::Ask => out.send(from, CounterMessage::Tell(**state)),
            CounterMessage::Tell(_) => {}
        }
    }
}

#[derive(Clone)]
struct User {
    wants: u32,
    counter: Id,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct UserState {
    timers: u32,
    is_content: bool,
}

impl Actor for User {
    type Msg = CounterMessage;
    type State = UserState;
    type Timer = UserTimer;
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> UserState {
        out.set_timer(UserTimer::Input, model_timeout());
        UserState { timers: 0, is_content: false }
    }

    fn on_msg(
        &self,
        _: Id,
        state: &mut Cow<'_, UserState>,
        _: Id,
        message: CounterMessage,
        _: &mut Out<Self>,
    ) {
        if matches!(message, CounterMessage::Tell(number) if number >= self.wants) {
            state.to_mut().is_content = true;
        }
    }

    fn on_timeout(
        &self,
        _: Id,
        state: &mut Cow<'_, UserState>,
        timer: &UserTimer,
        out: &mut Out<Self>,
    ) {
        state.to_mut().timers += 1;
        match timer {
            UserTimer::Input => {
                out.set_timer(UserTimer::Query, model_timeout());
                out.send(self.counter, CounterMessage::Add(3));
            }
            UserTimer::Query => out.send(self.counter, CounterMessage::Ask),
        }
    }
}

fn model() -> ActorModel<choice![User, Counter]> {
    ActorModel::new((), ())
        .actor(Choice::new(User { wants: 3, counter: Id::from(1) }))
        .actor(Choice::new(Counter).or())
        .property(Expectation::Eventually, "content", |_, state| {
            state.actor_states.iter().any(|it| match it.as_ref() {
                choice!(0 -> seen) => seen.is_content,
                choice!(1 -> _count) => false,
                choice!(2 -> !) => false,
            })
        })
        .property(Expectation::Always, "two timers", |_, state| {
            state.actor_states.iter().all(|it| match it.as_ref() {
                choice!(0 -> seen) => seen.timers <= 2,
                choice!(1 -> _count) => true,
                choice!(2 -> !) => true,
            })
        })
}

/// Messages may be delivered more than once, so the counter grows without bound.
#[test]
fn a_user_and_a_counter_have_the_states_of_stateright_up_to_a_depth() {
    let _exclusive = exclusive_search();
    let actors = model();
    for depth in [1, 2, 8, 12] {
        let model = ActorSystem::of(&actors).target_max_depth(depth);
        let found = search_all(&model);
        assert_eq!(found.verdict(), SearchVerdict::Incomplete);
        assert_eq!(found.states(), distinct_states(&actors, depth as u64), "{depth}");
        assert_eq!(found.states(), stateright_states_to(&actors, depth), "{depth}");
    }
}

/// Properties with `eventually` are decided only over all states; here the counts are small.
#[test]
fn an_eventual_property_of_a_user_is_violated() {
    let _exclusive = exclusive_search();
    let actors = model().within_boundary(|(), state| {
        state.actor_states.iter().all(|it| match it.as_ref() {
            choice!(0 -> _seen) => true,
            choice!(1 -> count) => *count <= 6,
            choice!(2 -> !) => true,
        })
    });
    let model = ActorSystem::of(&actors);
    let found = model.check().memory(super::MEMORY).run().unwrap();
    assert_eq!(
        (found.verdict(), found.states()),
        (SearchVerdict::Violated, distinct_states(&actors, u64::MAX))
    );
    assert!(matches!(found.eventually("content").unwrap(), EventuallyVerdict::Violated(_)));
}
