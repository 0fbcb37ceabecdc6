//! Example `timers`: actors that ping each other when a timer is due.

use super::{distinct_states, exclusive_search, search_all, stateright_states_to};
use serde::{Deserialize, Serialize};
use spillway_stateright::ActorSystem;
use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Network, Out, model_peers, model_timeout};
use std::borrow::Cow;

#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum NodeMessage {
    Ask,
    Answer,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum NodeTimer {
    Even,
    Odd,
    Idle,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct NodeState {
    asked: usize,
    answered: usize,
}

#[derive(Clone)]
struct Node {
    others: Vec<Id>,
}

impl Actor for Node {
    type Msg = NodeMessage;
    type State = NodeState;
    type Timer = NodeTimer;
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> NodeState {
        for timer in [NodeTimer::Even, NodeTimer::Odd, NodeTimer::Idle] {
            out.set_timer(timer, model_timeout());
        }
        NodeState { asked: 0, answered: 0 }
    }

    fn on_msg(
        &self,
        _: Id,
        state: &mut Cow<'_, NodeState>,
        from: Id,
        message: NodeMessage,
        out: &mut Out<Self>,
    ) {
        match message {
            NodeMessage::Ask => out.send(from, NodeMessage::Answer),
            NodeMessage::Answer => state.to_mut().answered += 1,
        }
    }

    fn on_timeout(
        &self,
        _: Id,
        state: &mut Cow<'_, NodeState>,
        timer: &NodeTimer,
        out: &mut Out<Self>,
    ) {
        out.set_timer(*timer, model_timeout());
        let rest = match timer {
            NodeTimer::Even => 0,
            NodeTimer::Odd => 1,
            NodeTimer::Idle => return,
        };
        for &other in self.others.iter().filter(|it| usize::from(**it) % 2 == rest) {
            state.to_mut().asked += 1;
            out.send(other, NodeMessage::Ask);
        }
    }
}

#[test]
fn actors_with_timers_have_the_states_of_stateright_up_to_a_depth() {
    let _exclusive = exclusive_search();
    let actors: ActorModel<Node> = ActorModel::new((), ())
        .actors((0..3).map(|it| Node { others: model_peers(it, 3) }))
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, "nobody answers unasked", |_, state| {
            state.actor_states.iter().all(|it| it.answered <= it.asked)
        });
    let model = ActorSystem::of(&actors).target_max_depth(6);
    let found = search_all(&model);
    assert_eq!(found.states(), distinct_states(&actors, 6));
    // All timers are always set here, so Stateright's hash merges no states.
    assert_eq!(found.states(), stateright_states_to(&actors, 6));
}
