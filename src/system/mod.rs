//! Models that are Rust types.
//!
//! A [`TransitionSystem`] has states of some type, and says which it starts in and where it can go from
//! each. [`Packed`] makes it a [`Model`](crate::exec::Model): a state is then a key, the bytes that
//! [`Pack`] says, and is searched, stored and reported like that of any model. Whoever needs more
//! (a form of states of their own, masks of what steps write) writes a `Model`.

mod agree;
mod pack;
mod packed;

pub use agree::{Disagreement, agree};
pub use pack::Pack;
pub use packed::Packed;

use std::fmt::{Debug, Display};

/// Something that is in one state and can go to others.
///
/// It is a function: the same steps from a state each time it is asked, by whichever thread.
///
/// Two jugs of five and of three litres, from which four are to be measured:
///
/// ```
/// use spillway::{Check, Invariant, Steps, TransitionSystem};
///
/// struct Jugs;
///
/// impl TransitionSystem for Jugs {
///     type State = (u8, u8);
///
///     fn initial(&self) -> Vec<(u8, u8)> {
///         vec![(0, 0)]
///     }
///
///     fn steps(&self, &(five, three): &(u8, u8), steps: &mut Steps<(u8, u8)>) {
///         let (to_three, to_five) = (five.min(3 - three), three.min(5 - five));
///         steps.add("fill the larger", (5, three));
///         steps.add("fill the smaller", (five, 3));
///         steps.add("empty the larger", (0, three));
///         steps.add("empty the smaller", (five, 0));
///         steps.add("pour into the smaller", (five - to_three, three + to_three));
///         steps.add("pour into the larger", (five + to_five, three - to_five));
///     }
///
///     fn invariants(&self) -> Vec<Invariant<(u8, u8)>> {
///         vec![Invariant::new("nobody has four litres", |&(five, _)| five != 4)]
///     }
/// }
///
/// let found = Check::new(&Jugs).memory(64 << 20).run()?;
/// assert_eq!(found.counterexample()?.unwrap().depth(), 6);
/// # Ok::<(), spillway::Error>(())
/// ```
pub trait TransitionSystem: Send + Sync {
    /// What it can be in.
    type State: Pack + Debug;

    /// The states that it starts in.
    fn initial(&self) -> Vec<Self::State>;

    /// Adds every step that it can take in `state`.
    fn steps(&self, state: &Self::State, steps: &mut Steps<Self::State>);

    /// What holds in every state, or else is violated.
    fn invariants(&self) -> Vec<Invariant<Self::State>> {
        Vec::new()
    }

    /// Whether it may end in `state`: then it is no deadlock that there is no step.
    fn may_end(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// A state as variables: names and values, in order.
    fn describe(&self, state: &Self::State) -> Vec<(String, String)> {
        vec![("state".into(), format!("{state:?}"))]
    }

    /// What tells it from others of its type: its parameters. A search goes on only with a system that says the
    /// same.
    fn parameters(&self) -> String {
        String::new()
    }
}

/// Told of each step: its name, and the next state or what goes wrong.
type EachStep<'a, S> = dyn FnMut(&dyn Display, Result<S, String>) + 'a;

/// Where the steps out of a state go.
pub struct Steps<'a, S> {
    each: &'a mut EachStep<'a, S>,
}

impl<'a, S> Steps<'a, S> {
    fn new(each: &'a mut EachStep<'a, S>) -> Self {
        Steps { each }
    }

    /// A step to `state`. Its name is only made where it is shown.
    pub fn add(&mut self, name: impl Display, state: S) {
        (self.each)(&name, Ok(state));
    }

    /// A step that goes wrong: an error, whatever is checked.
    pub fn fail(&mut self, name: impl Display, message: impl Into<String>) {
        (self.each)(&name, Err(message.into()));
    }
}

/// Something that holds in every state, or else is violated.
pub struct Invariant<S> {
    name: String,
    holds: Box<dyn Fn(&S) -> bool + Send + Sync>,
}

impl<S> Invariant<S> {
    /// One with this name.
    pub fn new(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 'static,
    ) -> Self {
        Invariant { name: name.into(), holds: Box::new(holds) }
    }
}
