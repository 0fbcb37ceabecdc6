//! Example `lww-register`: copies of a value. The last write wins, by clocks that may go back.

use super::{distinct_states, exclusive_search, search_all, stateright_states_to};
use serde::{Deserialize, Serialize};
use spillway::SearchVerdict;
use spillway_stateright::ActorSystem;
use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Network, Out};
use std::borrow::Cow;

/// A value with its time. The latest is the greatest.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct TimedValue {
    time: u128,
    by: Id,
    value: char,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct NodeState {
    written: Option<TimedValue>,
    clock: u128,
    /// The latest time used on this node.
    used: u128,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum NodeChoice {
    Write(char),
    SetClock(u128),
}

#[derive(Clone)]
struct Node {
    all: Vec<Id>,
}

impl Node {
    fn choose(&self, clock: u128, out: &mut Out<Self>) {
        let clocks = [clock + 1, clock.saturating_sub(1)].map(NodeChoice::SetClock);
        out.choose_random(
            "next",
            ['A', 'B', 'C'].map(NodeChoice::Write).into_iter().chain(clocks).collect(),
        );
    }
}

impl Actor for Node {
    type Msg = TimedValue;
    type State = NodeState;
    type Timer = ();
    type Random = NodeChoice;
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> NodeState {
        self.choose(1000, out);
        NodeState { written: None, clock: 1000, used: 1000 }
    }

    fn on_random(
        &self,
        id: Id,
        state: &mut Cow<'_, NodeState>,
        random: &NodeChoice,
        out: &mut Out<Self>,
    ) {
        let state = state.to_mut();
        match *random {
            NodeChoice::SetClock(clock) => state.clock = clock,
            NodeChoice::Write(value) => {
                let mut time = state.clock;
                if state.written.is_some() {
                    time = time.max(state.used + 1);
                    state.used = time;
                }
                let written = TimedValue { time, by: id, value };
                state.written = Some(written);
                out.broadcast(&self.all, &written);
            }
        }
        self.choose(state.clock, out);
    }

    fn on_msg(
        &self,
        _: Id,
        state: &mut Cow<'_, NodeState>,
        _: Id,
        sent: TimedValue,
        _: &mut Out<Self>,
    ) {
        let latest = |it: TimedValue| (it.time, it.by);
        let state = state.to_mut();
        // The sent value replaces one of the same time by the same node.
        let stays = state.written.filter(|it| latest(*it) > latest(sent));
        state.written = Some(stays.unwrap_or(sent));
    }
}

fn model() -> ActorModel<Node> {
    let all: Vec<Id> = (0..2).map(Id::from).collect();
    ActorModel::new((), ())
        .actors((0..2).map(|_| Node { all: all.clone() }))
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, "equal once all is delivered", |_, state| {
            let [one, other] = &state.actor_states[..] else { return false };
            state.network.len() > 0 || one.written == other.written
        })
}

#[test]
fn copies_are_equal_when_all_messages_are_delivered() {
    let _exclusive = exclusive_search();
    let actors = model();
    let model = ActorSystem::of(&actors).target_max_depth(5);
    let found = search_all(&model);
    // The state space is infinite.
    assert_eq!(found.verdict(), SearchVerdict::Incomplete);
    assert_eq!(found.states(), distinct_states(&actors, 5));
    assert_eq!(found.states(), stateright_states_to(&actors, 5));
}
