//! Example `timers`: actors that ping each other when a timer is due.

use super::{alone, counted_to, searched, unequal};
use serde::{Deserialize, Serialize};
use spillway_stateright::ActorSystem;
use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Network, Out, model_peers, model_timeout};
use std::borrow::Cow;

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Say {
    Ask,
    Answer,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Wait {
    Even,
    Odd,
    Idle,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct Count {
    asked: usize,
    answered: usize,
}

#[derive(Clone)]
struct Node {
    others: Vec<Id>,
}

impl Actor for Node {
    type Msg = Say;
    type State = Count;
    type Timer = Wait;
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> Count {
        for timer in [Wait::Even, Wait::Odd, Wait::Idle] {
            out.set_timer(timer, model_timeout());
        }
        Count { asked: 0, answered: 0 }
    }

    fn on_msg(&self, _: Id, state: &mut Cow<'_, Count>, from: Id, said: Say, out: &mut Out<Self>) {
        match said {
            Say::Ask => out.send(from, Say::Answer),
            Say::Answer => state.to_mut().answered += 1,
        }
    }

    fn on_timeout(&self, _: Id, state: &mut Cow<'_, Count>, timer: &Wait, out: &mut Out<Self>) {
        out.set_timer(*timer, model_timeout());
        let rest = match timer {
            Wait::Even => 0,
            Wait::Odd => 1,
            Wait::Idle => return,
        };
        for &other in self.others.iter().filter(|it| usize::from(**it) % 2 == rest) {
            state.to_mut().asked += 1;
            out.send(other, Say::Ask);
        }
    }
}

#[test]
fn actors_with_timers_have_as_many_states_up_to_a_depth() {
    let _alone = alone();
    let actors: ActorModel<Node> = ActorModel::new((), ())
        .actors((0..3).map(|it| Node { others: model_peers(it, 3) }))
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, "nobody answers unasked", |_, state| {
            state.actor_states.iter().all(|it| it.answered <= it.asked)
        });
    let model = ActorSystem::of(&actors).target_max_depth(6);
    let found = searched(&model);
    assert_eq!(found.states(), unequal(&actors, 6));
    // All timers are always set here, so Stateright's hash merges no states.
    assert_eq!(found.states(), counted_to(&actors, 6));
}
