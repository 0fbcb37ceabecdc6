//! Example `interaction`: a user driven by timers, and a counter: actors of two kinds.

use super::{alone, counted_to, searched, unequal};
use choice::{Choice, choice};
use serde::{Deserialize, Serialize};
use spillway::SearchVerdict;
use spillway::session::EventuallyVerdict;
use spillway_stateright::ActorSystem;
use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Out, model_timeout};
use std::borrow::Cow;

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Say {
    Add(u32),
    Ask,
    Tell(u32),
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Wait {
    Input,
    Query,
}

#[derive(Clone)]
struct Counter;

impl Actor for Counter {
    type Msg = Say;
    type State = u32;
    type Timer = Wait;
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> u32 {
        0
    }

    fn on_msg(&self, _: Id, state: &mut Cow<'_, u32>, from: Id, said: Say, out: &mut Out<Self>) {
        match said {
            Say::Add(number) => *state.to_mut() += number,
            Say::Ask => out.send(from, Say::Tell(**state)),
            Say::Tell(_) => {}
        }
    }
}

#[derive(Clone)]
struct User {
    wants: u32,
    counter: Id,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    timers: u32,
    is_content: bool,
}

impl Actor for User {
    type Msg = Say;
    type State = Seen;
    type Timer = Wait;
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> Seen {
        out.set_timer(Wait::Input, model_timeout());
        Seen { timers: 0, is_content: false }
    }

    fn on_msg(&self, _: Id, state: &mut Cow<'_, Seen>, _: Id, said: Say, _: &mut Out<Self>) {
        if matches!(said, Say::Tell(number) if number >= self.wants) {
            state.to_mut().is_content = true;
        }
    }

    fn on_timeout(&self, _: Id, state: &mut Cow<'_, Seen>, timer: &Wait, out: &mut Out<Self>) {
        state.to_mut().timers += 1;
        match timer {
            Wait::Input => {
                out.set_timer(Wait::Query, model_timeout());
                out.send(self.counter, Say::Add(3));
            }
            Wait::Query => out.send(self.counter, Say::Ask),
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
fn a_user_and_a_counter_have_as_many_states_up_to_a_depth() {
    let _alone = alone();
    let actors = model();
    for depth in [1, 2, 8, 12] {
        let model = ActorSystem::of(&actors).target_max_depth(depth);
        let found = searched(&model);
        assert_eq!(found.verdict(), SearchVerdict::Incomplete);
        assert_eq!(found.states(), unequal(&actors, depth as u64), "{depth}");
        assert_eq!(found.states(), counted_to(&actors, depth), "{depth}");
    }
}

/// Properties with `eventually` are decided only over all states; here the counts are small.
#[test]
fn a_user_may_never_be_content() {
    let _alone = alone();
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
        (SearchVerdict::Violated, unequal(&actors, u64::MAX))
    );
    assert!(matches!(found.eventually("content").unwrap(), EventuallyVerdict::Violated(_)));
}
