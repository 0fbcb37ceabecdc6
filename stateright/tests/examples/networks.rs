//! Actors over each network, lossy or not, with crashes, timers, random choices and storages.

use super::{MEMORY, distinct_states, exclusive_search};
use serde::{Deserialize, Serialize};
use spillway::{Check, SearchVerdict};
use spillway_stateright::ActorSystem;
use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, LossyNetwork, Network, Out, model_timeout};
use std::borrow::Cow;

/// An actor that counts a number up with a neighbour, to a maximum. After a timeout it requests the number again. A
/// random choice may reset the request. The number is in its storage.
#[derive(Clone)]
struct Node {
    next: Id,
    most: u8,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum NodeMessage {
    Count(u8),
    Again,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum NodeTimer {
    Short,
    Long,
}

impl Actor for Node {
    type Msg = NodeMessage;
    type Timer = NodeTimer;
    type State = (u8, bool);
    type Storage = u8;
    type Random = bool;

    fn on_start(&self, id: Id, storage: &Option<u8>, out: &mut Out<Self>) -> (u8, bool) {
        let at = storage.unwrap_or_default();
        if usize::from(id) == 0 {
            out.send(self.next, NodeMessage::Count(at));
        }
        out.set_timer(NodeTimer::Long, model_timeout());
        (at, false)
    }

    fn on_msg(
        &self,
        _: Id,
        state: &mut Cow<(u8, bool)>,
        from: Id,
        message: NodeMessage,
        out: &mut Out<Self>,
    ) {
        match message {
            NodeMessage::Count(number) if number >= state.0 && number < self.most => {
                state.to_mut().0 = number + 1;
                out.save(number + 1);
                out.send(self.next, NodeMessage::Count(number + 1));
                out.set_timer(NodeTimer::Short, model_timeout());
                out.choose_random("flip", vec![false, true]);
            }
            NodeMessage::Count(_) => {}
            NodeMessage::Again => out.send(from, NodeMessage::Count(state.0)),
        }
    }

    fn on_timeout(
        &self,
        _: Id,
        state: &mut Cow<(u8, bool)>,
        timer: &NodeTimer,
        out: &mut Out<Self>,
    ) {
        if *timer == NodeTimer::Short && !state.1 {
            state.to_mut().1 = true;
            out.send(self.next, NodeMessage::Again);
        }
    }

    fn on_random(&self, _: Id, state: &mut Cow<(u8, bool)>, random: &bool, _: &mut Out<Self>) {
        state.to_mut().1 = *random;
    }
}

fn ring(
    network: Network<NodeMessage>,
    lossy: LossyNetwork,
    crashes: usize,
) -> ActorModel<Node, (), u8> {
    ActorModel::new((), 0)
        .actors([Node { next: 1.into(), most: 2 }, Node { next: 0.into(), most: 2 }])
        .init_network(network)
        .lossy_network(lossy)
        .max_crashes(crashes)
        .record_msg_out(|(), sent, _| Some((*sent + 1).min(3)))
        .within_boundary(|(), state| state.network.len() < 4)
        .property(Expectation::Always, "bounded", |_, state| {
            state.actor_states.iter().all(|it| it.0 <= 2)
        })
        .property(Expectation::Sometimes, "done", |_, state| {
            state.actor_states.iter().any(|it| it.0 == 2)
        })
}

#[test]
fn actors_have_the_states_of_stateright_over_each_network() {
    let _exclusive = exclusive_search();
    let networks = || {
        let networks: [Network<NodeMessage>; 3] = [
            Network::new_ordered([]),
            Network::new_unordered_duplicating([]),
            Network::new_unordered_nonduplicating([]),
        ];
        networks
    };
    let mut most = 0;
    let settings = [
        ("", LossyNetwork::No, 0),
        ("lossy", LossyNetwork::Yes, 0),
        ("crash", LossyNetwork::No, 1),
    ];
    for (setting, lossy, crashes) in settings {
        for network in networks() {
            let which = format!("{network:?} {setting}");
            let actors = ring(network, lossy, crashes);
            let model = ActorSystem::of(&actors);
            let found = Check::new(&model).memory(MEMORY).run().unwrap();
            assert_eq!(found.verdict(), SearchVerdict::Verified, "{which}");
            assert_eq!(found.states(), distinct_states(&actors, u64::MAX), "{which}");
            most = most.max(found.states());
        }
    }
    assert!(most > 1000, "{most}");
}
