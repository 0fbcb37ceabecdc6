//! States of actor models in a form that serde can write and read. It contains the parts that Stateright can only
//! write, and hash tables in a fixed order.

use crate::{Stateright, StoredState};
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
pub type ActorSystem<'m, A, C = (), H = ()> = Stateright<'m, ActorModel<A, C, H>, ActorState<A, H>>;

/// A state of an actor model. serde can write and read its actors' states, messages, timers, random choices and
/// storages, and its history.
pub struct ActorState<A: Actor, H = ()>(ActorModelState<A, H>);

/// A type that serde can write and read.
pub trait SerdeValue: Serialize + DeserializeOwned {}

impl<T: Serialize + DeserializeOwned> SerdeValue for T {}

/// An actor whose states, messages, timers, random choices and storages serde can write and read.
pub trait SerdeActor:
    Actor<
        State: SerdeValue,
        Msg: SerdeValue + Ord,
        Timer: SerdeValue + Ord,
        Random: SerdeValue,
        Storage: SerdeValue,
    >
{
}

impl<A> SerdeActor for A where
    A: Actor<
            State: SerdeValue,
            Msg: SerdeValue + Ord,
            Timer: SerdeValue + Ord,
            Random: SerdeValue,
            Storage: SerdeValue,
        >
{
}

/// A message with its source and its destination.
type SentMessage<M> = (Id, Id, M);

/// The form in which a network is read.
#[derive(Deserialize)]
enum NetworkMessages<M> {
    Set(Vec<SentMessage<M>>, Option<SentMessage<M>>),
    Bag(Vec<(SentMessage<M>, usize)>),
    Flows(BTreeMap<(Id, Id), VecDeque<M>>),
}

/// The form in which a network is written: the same, borrowed, with messages in order.
#[derive(Serialize)]
#[serde(rename = "Messages")]
enum BorrowedMessages<'s, M> {
    Set(Vec<SentMessage<&'s M>>, Option<SentMessage<&'s M>>),
    Bag(Vec<(SentMessage<&'s M>, usize)>),
    Flows(&'s BTreeMap<(Id, Id), VecDeque<M>>),
}

/// The form in which a state is read.
#[derive(Deserialize)]
struct ActorStateForm<S, M, T, R, D, H> {
    actors: Vec<Arc<S>>,
    network: NetworkMessages<M>,
    timers: Vec<Vec<T>>,
    choices: Vec<BTreeMap<String, Vec<R>>>,
    crashed: Vec<bool>,
    history: H,
    storages: Vec<Option<D>>,
}

/// The form in which a state is written: the same, borrowed, with timers and choices in order.
#[derive(Serialize)]
#[serde(rename = "Form")]
struct BorrowedActorStateForm<'s, S, M, T, R, D, H> {
    actors: &'s [Arc<S>],
    network: BorrowedMessages<'s, M>,
    timers: Vec<Vec<&'s T>>,
    choices: Vec<BTreeMap<&'s str, &'s [R]>>,
    crashed: &'s [bool],
    history: &'s H,
    storages: &'s [Option<D>],
}

/// The form of a state of given actors.
type ActorStateFormOf<A, H> = ActorStateForm<
    <A as Actor>::State,
    <A as Actor>::Msg,
    <A as Actor>::Timer,
    <A as Actor>::Random,
    <A as Actor>::Storage,
    H,
>;

/// Returns the elements of a set in an order that depends only on the set.
fn sorted_elements<T: Ord + Serialize>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.collect();
    all.sort_unstable();
    // If `Ord` and `Eq` disagree, different elements may compare as equal. Then their serialized forms are compared.
    // An element that cannot be serialized fails when the state is written.
    if all.windows(2).any(|it| it[0].cmp(&it[1]).is_eq()) {
        all.sort_by_cached_key(|it| postcard::to_stdvec(it).unwrap_or_default());
    }
    all
}

fn sent_message<M>(envelope: &Envelope<M>) -> SentMessage<&M> {
    (envelope.src, envelope.dst, &envelope.msg)
}

fn envelope<M>((src, dst, msg): SentMessage<M>) -> Envelope<M> {
    Envelope { src, dst, msg }
}

impl<'s, M: Eq + Hash + Ord + Serialize> BorrowedMessages<'s, M> {
    fn of(network: &'s Network<M>) -> Self {
        match network {
            Network::UnorderedDuplicating(set, last) => BorrowedMessages::Set(
                sorted_elements(set.iter().map(sent_message)),
                last.as_ref().map(sent_message),
            ),
            Network::UnorderedNonDuplicating(bag) => BorrowedMessages::Bag(sorted_elements(
                bag.iter().map(|(it, count)| (sent_message(it), *count)),
            )),
            Network::Ordered(flows) => BorrowedMessages::Flows(flows),
        }
    }
}

impl<M: Eq + Hash> NetworkMessages<M> {
    fn network(self) -> Network<M> {
        match self {
            NetworkMessages::Set(set, last) => Network::UnorderedDuplicating(
                set.into_iter().map(envelope).collect(),
                last.map(envelope),
            ),
            NetworkMessages::Bag(bag) => Network::UnorderedNonDuplicating(
                bag.into_iter().map(|(it, count)| (envelope(it), count)).collect(),
            ),
            NetworkMessages::Flows(flows) => Network::Ordered(flows),
        }
    }
}

impl<A, H> Serialize for ActorState<A, H>
where
    A: SerdeActor,
    H: Serialize,
{
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let state = &self.0;
        let choices = state.random_choices.iter();
        let choices = choices.map(|it| {
            let choices = it.map.iter();
            choices.map(|(key, all)| (key.as_str(), all.as_slice())).collect()
        });
        let form = BorrowedActorStateForm {
            actors: &state.actor_states,
            network: BorrowedMessages::of(&state.network),
            timers: state.timers_set.iter().map(|it| sorted_elements(it.iter())).collect(),
            choices: choices.collect(),
            crashed: &state.crashed,
            history: &state.history,
            storages: &state.actor_storages,
        };
        form.serialize(to)
    }
}

impl<'de, A, H> Deserialize<'de> for ActorState<A, H>
where
    A: SerdeActor,
    H: SerdeValue,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let form: ActorStateFormOf<A, H> = ActorStateForm::deserialize(from)?;
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

impl<A, H> StoredState<ActorModelState<A, H>> for ActorState<A, H>
where
    A: SerdeActor,
    H: Debug + SerdeValue,
{
    fn of(state: ActorModelState<A, H>) -> Self {
        ActorState(state)
    }

    fn state(&self) -> &ActorModelState<A, H> {
        &self.0
    }
}
