//! Models that are written for [Stateright](stateright), searched on disk, in a fixed memory budget, each state compared as a
//! whole.
//!
//! [`Stateright::new`] makes a [`TransitionSystem`] of a [`stateright::Model`] whose states serde can write and read;
//! [`Actors::of`] of an [`ActorModel`](stateright::actor::ActorModel) whose parts it can. The same states are visited
//! as by Stateright: those of `init_states` and behind `next_state` that are within the boundary. What differs:
//!
//! - Stateright compares states by 64 bits that it makes of their hash; here they are compared by all that serde writes of
//!   them. Where `Hash` leaves something out that `Serialize` writes, there are more states here: as many as are not equal.
//!   So it is with Stateright's example `raft`, whose hash is without what was delivered; and with actors that set
//!   timers, as sets of timers are hashed one after the other without their sizes.
//! - Stateright ends as soon as each property has an example or a counterexample; here a search goes on to the end of the
//!   level with the first violation, or through all states with [`keep_going`](spillway::Check::keep_going).
//! - Symmetry ([`Representative`](stateright::Representative)) is not used.
//! - States without steps are no deadlocks, as there.
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
//! let found = spillway::check(&model)?;
//! assert_eq!((found.verdict(), found.states()), (spillway::Verdict::Verified, 101));
//! assert_eq!(found.example("full")?.unwrap().depth(), 50);
//! # Ok::<(), spillway::Error>(())
//! ```

mod actors;
mod kept;

pub use actors::{ActorState, Actors, Part, Written};
pub use kept::Kept;

use spillway::{Property, TransitionSystem};
use stateright::{Expectation, Model};
use std::fmt::Debug;
use std::marker::PhantomData;

/// A model written for Stateright as a transition system, whose states are kept as `K`: as themselves, if serde can
/// write and read them.
pub struct Stateright<'m, M: Model, K = <M as Model>::State> {
    model: &'m M,
    parameters: String,
    kept: PhantomData<fn() -> K>,
}

impl<'m, M: Model> Stateright<'m, M>
where
    M::State: Kept<M::State>,
{
    /// That of a model whose states serde can write and read.
    pub fn new(model: &'m M) -> Self {
        Stateright::of(model)
    }
}

impl<'m, M: Model, K: Kept<M::State>> Stateright<'m, M, K> {
    /// That of a model whose states are kept as `K`: `Actors::of(&model)`.
    pub fn of(model: &'m M) -> Self {
        Stateright { model, parameters: String::new(), kept: PhantomData }
    }

    /// The same, with what tells it from others of its type: a search in a directory goes on only with a model
    /// that says the same.
    pub fn parameters(self, parameters: impl Into<String>) -> Self {
        Stateright { parameters: parameters.into(), ..self }
    }
}

impl<M, K> TransitionSystem for Stateright<'_, M, K>
where
    M: Model + Send + Sync,
    M::Action: Clone + Debug,
    K: Kept<M::State>,
{
    type State = K;
    type Action = M::Action;

    fn initial(&self) -> Vec<K> {
        let all = self.model.init_states().into_iter();
        all.filter(|it| self.model.within_boundary(it)).map(K::of).collect()
    }

    fn actions(&self, state: &K, actions: &mut Vec<M::Action>) {
        self.model.actions(state.state(), actions);
    }

    fn next(&self, state: &K, action: &M::Action) -> Option<K> {
        let next = self.model.next_state(state.state(), action.clone())?;
        self.model.within_boundary(&next).then(|| K::of(next))
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
