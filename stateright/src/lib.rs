//! Search of [Stateright](stateright) models on disk, in a fixed memory budget. States are compared as a whole.
//!
//! [`Stateright::new`] turns a [`stateright::Model`] whose states serde can write and read into a
//! [`TransitionSystem`]. [`ActorSystem::of`] does this for an [`ActorModel`](stateright::actor::ActorModel) whose
//! parts serde can write and read. [`Stateright::check`] searches it. The search visits the same states as Stateright:
//! those of `init_states` and `next_state` that are within the boundary.
//!
//! # What a model changes
//!
//! - States derive `Serialize` and `Deserialize`. In an actor model the states, messages, timers, random choices and
//!   storages of the actors derive them, and the history does.
//! - Types of Stateright that serde can write but not read have a counterpart here. A model changes its `use` lines:
//!
//!   | in Stateright | here |
//!   | --- | --- |
//!   | `actor::register::{RegisterActor, RegisterActorState}` | [`register`] |
//!   | `semantics::register::{Register, RegisterOp, RegisterRet}` | [`register`] |
//!   | `semantics::{LinearizabilityTester, SequentialConsistencyTester}` | [`semantics`] |
//!   | `ActorModelState` | [`ActorState`], by [`ActorSystem::of`] |
//!
//!   `RegisterMsg` is Stateright's own, and so are `record_returns` and `record_invocations`.
//! - Sets and maps of a state are ordered: `BTreeSet` and `BTreeMap`. Stateright's `HashableHashSet` and
//!   `HashableHashMap`, and the standard library's `HashSet` and `HashMap`, are written in another order each time. A
//!   search that meets one ends with an error that shows the state. Stateright's examples `paxos`,
//!   `linearizable-register` and `raft` have such sets.
//! - Texts of a state are `String` or `Cow<'static, str>`, not `&'static str`, which cannot be deserialized. The
//!   compiler says `implementation of Deserialize is not general enough`, with the note that the state `actually
//!   implements Deserialize<'static>`. If there are few texts, an `enum` takes less space.
//! - Actors of several kinds, by `choice!`, need the feature `serde` of the crate `choice`.
//!
//! # Differences from Stateright
//!
//! - Stateright compares states by 64 bits of their hash. Here all that serde writes of them is compared. If `Hash`
//!   omits something that `Serialize` writes, there are more states here: one for each different state. In
//!   Stateright's example `raft` the hash of a server omits its delivered and its buffered messages, although a
//!   property reads them; the counts here are right. The same holds for actors that set timers, since sets of timers
//!   are hashed one after another without their sizes.
//! - Stateright ends once each property has an example or a counterexample. Here a search ends with the first
//!   violating state, at the depth of a shortest counterexample. With [`keep_going`](spillway::Check::keep_going) it
//!   visits all states. With [`Stateright::finish_when`] it ends with the requested discoveries.
//! - [`counterexample_of`](spillway::CheckResult::counterexample_of) returns a shortest counterexample of a violated
//!   property. [`example`](spillway::CheckResult::example) returns a shortest example of a property with `sometimes`.
//!   [`eventually`](spillway::CheckResult::eventually) contains a run that violates a property with `eventually`.
//! - A state at the depth of [`target_max_depth`](Stateright::target_max_depth) is checked. Stateright counts it and
//!   does not check it.
//! - With [`symmetry`](Stateright::symmetry) the states of a counterexample are representatives. Stateright shows a
//!   path without symmetry.
//! - As in Stateright, states without steps are not deadlocks.
//!
//! # Example
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use spillway_stateright::Stateright;
//! use stateright::{Model, Property};
//!
//! /// Counts up to a bound, by one or by two.
//! struct Counter(u8);
//!
//! #[derive(Clone, Debug, Hash, PartialEq, Serialize, Deserialize)]
//! struct Count(u8);
//!
//! impl Model for Counter {
//!     type State = Count;
//!     type Action = u8;
//!
//!     fn init_states(&self) -> Vec<Count> {
//!         vec![Count(0)]
//!     }
//!
//!     fn actions(&self, _: &Count, actions: &mut Vec<u8>) {
//!         actions.extend([1, 2]);
//!     }
//!
//!     fn next_state(&self, state: &Count, by: u8) -> Option<Count> {
//!         (state.0 + by <= self.0).then_some(Count(state.0 + by))
//!     }
//!
//!     fn properties(&self) -> Vec<Property<Self>> {
//!         vec![
//!             Property::sometimes("full", |model, state: &Count| state.0 == model.0),
//!             Property::always("within bounds", |model, state: &Count| state.0 <= model.0),
//!         ]
//!     }
//! }
//!
//! let counter = Counter(100);
//! let model = Stateright::new(&counter);
//! let found = model.check().memory(64 << 20).run()?;
//! assert_eq!((found.verdict(), found.states()), (spillway::SearchVerdict::Verified, 101));
//! assert_eq!(found.example("full")?.unwrap().depth(), 50);
//! # Ok::<(), spillway::Error>(())
//! ```

mod actors;
pub mod register;
pub mod semantics;
mod stored_state;

pub use actors::{ActorState, ActorSystem, SerdeActor, SerdeValue};
pub use stored_state::StoredState;

use spillway::{Check, Property, TransitionSystem};
use stateright::{Expectation, HasDiscoveries, Model, Representative};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::marker::PhantomData;

/// A function that returns the representative of a state.
type RepresentativeFn<S> = fn(&S) -> S;

/// A Stateright model as a transition system. Its states are stored as `K`: as themselves, if serde can write and read
/// them.
///
/// [`check`](Stateright::check) searches it with the settings of the methods below, whose names are those of
/// Stateright's [`CheckerBuilder`](stateright::CheckerBuilder).
pub struct Stateright<'m, M: Model, K = <M as Model>::State> {
    model: &'m M,
    parameters: String,
    /// Returns the representative of a state, for symmetry reduction.
    symmetry: Option<RepresentativeFn<M::State>>,
    target_max_depth: Option<u64>,
    finish_when: Option<HasDiscoveries>,
    kept: PhantomData<fn() -> K>,
}

impl<'m, M: Model> Stateright<'m, M>
where
    M::State: StoredState<M::State>,
{
    /// Creates the system of a model whose states serde can write and read.
    pub fn new(model: &'m M) -> Self {
        Stateright::of(model)
    }
}

impl<'m, M: Model, K: StoredState<M::State>> Stateright<'m, M, K> {
    /// Creates the system of a model whose states are stored as `K`: `ActorSystem::of(&model)`.
    pub fn of(model: &'m M) -> Self {
        Stateright {
            model,
            parameters: String::new(),
            symmetry: None,
            target_max_depth: None,
            finish_when: None,
            kept: PhantomData,
        }
    }

    /// Sets a text that distinguishes this model from others of its type. A search in a directory resumes only with a
    /// model that has the same text.
    pub fn parameters(self, parameters: impl Into<String>) -> Self {
        Stateright { parameters: parameters.into(), ..self }
    }

    /// Enables symmetry reduction: visits the [`representative`](Representative::representative) of each state instead
    /// of the state.
    ///
    /// The model must guarantee two things. A representative has the transitions of the states that it represents, up
    /// to symmetry. Every property holds in it if and only if it holds in them. The reduction is greatest if an orbit
    /// has one representative. A counterexample consists of representatives: an action is one of the state before it,
    /// and the state after it represents the action's successor.
    pub fn symmetry(self) -> Self
    where
        M::State: Representative,
    {
        self.symmetry_fn(Representative::representative)
    }

    /// Enables symmetry reduction by a function that returns the representative of a state.
    pub fn symmetry_fn(self, representative: fn(&M::State) -> M::State) -> Self {
        Stateright { symmetry: Some(representative), ..self }
    }

    /// Limits the depth of visited states; initial states have depth 1. States at this depth are checked, too, but
    /// their successors are not visited. As in Stateright, 0 means no limit.
    pub fn target_max_depth(self, depth: usize) -> Self {
        Stateright { target_max_depth: (depth > 0).then_some(depth as u64), ..self }
    }

    /// Stops at the end of the level that completes these discoveries. A discovery is a state that violates a property
    /// with `always`, or a state that satisfies one with `sometimes`. Without this, a search ends with the first
    /// violation. Properties with `eventually` are checked after all states are visited.
    ///
    /// The verdict of a search that stops so is Violated if a property is violated, and Incomplete otherwise: states
    /// that were not visited may contain further discoveries.
    pub fn finish_when(self, discoveries: HasDiscoveries) -> Self {
        Stateright { finish_when: Some(discoveries), ..self }
    }

    /// Creates a search with these settings, to be [run](Check::run).
    pub fn check(&self) -> Check<'_>
    where
        M: Send + Sync,
        M::Action: Clone + Debug,
    {
        let mut check = Check::new(self);
        if let Some(depth) = self.target_max_depth {
            check = check.max_depth(depth.saturating_sub(1));
        }
        match &self.finish_when {
            // A search ends with the first of these anyway, and need not visit the rest of its level.
            None | Some(HasDiscoveries::AnyFailures) => check,
            Some(discoveries) => check.stop_once(|found| self.is_enough(discoveries, found)),
        }
    }

    fn is_enough(&self, discoveries: &HasDiscoveries, found: &BTreeSet<&str>) -> bool {
        let properties = self.model.properties();
        let names = properties.iter().map(|it| it.name).filter(|it| found.contains(it));
        discoveries.matches(&names.collect(), &properties)
    }

    /// Returns the stored form of a reached state; `None` if it is outside the boundary.
    fn stored_state(&self, state: M::State) -> Option<K> {
        self.model.within_boundary(&state).then(|| match self.symmetry {
            Some(representative) => K::of(representative(&state)),
            None => K::of(state),
        })
    }
}

impl<M, K> TransitionSystem for Stateright<'_, M, K>
where
    M: Model + Send + Sync,
    M::Action: Clone + Debug,
    K: StoredState<M::State>,
{
    type State = K;
    type Action = M::Action;

    fn initial(&self) -> Vec<K> {
        self.model.init_states().into_iter().filter_map(|it| self.stored_state(it)).collect()
    }

    fn actions(&self, state: &K, actions: &mut Vec<M::Action>) {
        self.model.actions(state.state(), actions);
    }

    fn next(&self, state: &K, action: &M::Action) -> Option<K> {
        self.stored_state(self.model.next_state(state.state(), action.clone())?)
    }

    fn properties(&self) -> Vec<Property<'_, K>> {
        let all = self.model.properties().into_iter().map(|it| {
            let holds = move |state: &K| (it.condition)(self.model, state.state());
            match it.expectation {
                Expectation::Always => Property::always(it.name, holds),
                Expectation::Sometimes => Property::sometimes(it.name, holds),
                Expectation::Eventually => Property::eventually(it.name, holds),
            }
        });
        all.collect()
    }

    fn may_end(&self, _: &K) -> bool {
        true
    }

    fn name(&self, action: &M::Action) -> String {
        self.model.format_action(action)
    }

    fn parameters(&self) -> String {
        self.parameters.clone()
    }
}
