//! States of actor models: what Stateright can only write, read back; what it keeps in tables of hashes, in order.

use crate::{Kept, Stateright};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stateright::actor::{
    Actor, ActorModel, ActorModelState, Envelope, Id, Network, RandomChoices, Timers,
};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Debug, Formatter};
use std::hash::Hash;
use std::sync::Arc;

/// An actor model as a transition system.
pub type Actors<'m, A, C = (), H = ()> = Stateright<'m, ActorModel<A, C, H>, ActorState<A, H>>;

/// A state of an actor model whose actors' states, messages, timers, random choices and storages, and whose history,
/// serde can write and read.
pub struct ActorState<A: Actor, H = ()>(ActorModelState<A, H>);

/// What serde can write and read.
pub trait Part: Serialize + DeserializeOwned {}

impl<T: Serialize + DeserializeOwned> Part for T {}

/// An actor whose states, messages, timers, random choices and storages serde can write and read.
pub trait Written: Actor<State: Part, Msg: Part, Timer: Part, Random: Part, Storage: Part> {}

impl<A> Written for A where
    A: Actor<State: Part, Msg: Part, Timer: Part, Random: Part, Storage: Part>
{
}

/// A message with where it is from and where it goes.
type Sent<M> = (Id, Id, M);

/// What is written of a network.
#[derive(Serialize, Deserialize)]
enum Messages<M> {
    Set(Vec<Sent<M>>, Option<Sent<M>>),
    Bag(Vec<(Sent<M>, usize)>),
    Flows(BTreeMap<(Id, Id), VecDeque<M>>),
}

/// What is written of a state.
#[derive(Serialize, Deserialize)]
struct Form<S, M, T, R, D, H> {
    actors: Vec<Arc<S>>,
    network: Messages<M>,
    timers: Vec<Vec<T>>,
    choices: Vec<BTreeMap<String, Vec<R>>>,
    crashed: Vec<bool>,
    history: H,
    storages: Vec<Option<D>>,
}

/// The form of a state of certain actors.
type FormOf<A, H> = Form<
    <A as Actor>::State,
    <A as Actor>::Msg,
    <A as Actor>::Timer,
    <A as Actor>::Random,
    <A as Actor>::Storage,
    H,
>;

/// In the order of what is written of them.
fn ordered<T: Serialize>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.collect();
    // What cannot be written fails when the state is.
    all.sort_by_cached_key(|it| postcard::to_stdvec(it).unwrap_or_default());
    all
}

fn sent<M: Clone>(envelope: &Envelope<M>) -> Sent<M> {
    (envelope.src, envelope.dst, envelope.msg.clone())
}

fn envelope<M>((src, dst, msg): Sent<M>) -> Envelope<M> {
    Envelope { src, dst, msg }
}

impl<M: Clone + Eq + Hash + Serialize> Messages<M> {
    fn of(network: &Network<M>) -> Self {
        match network {
            Network::UnorderedDuplicating(set, last) => {
                Messages::Set(ordered(set.iter().map(sent)), last.as_ref().map(sent))
            }
            Network::UnorderedNonDuplicating(bag) => {
                Messages::Bag(ordered(bag.iter().map(|(it, count)| (sent(it), *count))))
            }
            Network::Ordered(flows) => Messages::Flows(flows.clone()),
        }
    }

    fn network(self) -> Network<M> {
        match self {
            Messages::Set(set, last) => Network::UnorderedDuplicating(
                set.into_iter().map(envelope).collect(),
                last.map(envelope),
            ),
            Messages::Bag(bag) => Network::UnorderedNonDuplicating(
                bag.into_iter().map(|(it, count)| (envelope(it), count)).collect(),
            ),
            Messages::Flows(flows) => Network::Ordered(flows),
        }
    }
}

impl<A, H> Serialize for ActorState<A, H>
where
    A: Written,
    H: Clone + Part,
{
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let state = &self.0;
        let choices = state.random_choices.iter();
        let choices =
            choices.map(|it| it.map.iter().map(|(key, all)| (key.clone(), all.clone())).collect());
        let form: FormOf<A, H> = Form {
            actors: state.actor_states.clone(),
            network: Messages::of(&state.network),
            timers: state.timers_set.iter().map(|it| ordered(it.iter().cloned())).collect(),
            choices: choices.collect(),
            crashed: state.crashed.clone(),
            history: state.history.clone(),
            storages: state.actor_storages.clone(),
        };
        form.serialize(to)
    }
}

impl<'de, A, H> Deserialize<'de> for ActorState<A, H>
where
    A: Written,
    H: Part,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let form: FormOf<A, H> = Form::deserialize(from)?;
        let timers = form.timers.into_iter().map(|all| {
            let mut timers = Timers::new();
            all.into_iter().for_each(|it| {
                timers.set(it);
            });
            timers
        });
        let choices = form.choices.into_iter().map(|all| {
            let mut choices = RandomChoices::default();
            all.into_iter().for_each(|(key, it)| choices.insert(key, it));
            choices
        });
        Ok(ActorState(ActorModelState {
            actor_states: form.actors,
            network: form.network.network(),
            timers_set: timers.collect(),
            random_choices: choices.collect(),
            crashed: form.crashed,
            history: form.history,
            actor_storages: form.storages,
        }))
    }
}

impl<A: Actor, H: Debug> Debug for ActorState<A, H> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<A, H> Kept<ActorModelState<A, H>> for ActorState<A, H>
where
    A: Written,
    H: Clone + Debug + Part,
{
    fn of(state: ActorModelState<A, H>) -> Self {
        ActorState(state)
    }

    fn state(&self) -> &ActorModelState<A, H> {
        &self.0
    }
}
