//! What is asked of a transition system.

/// Something that is asked of a transition system's states or runs, with a name.
pub struct Property<'s, S> {
    pub(super) name: String,
    pub(super) expectation: PropertyExpectation,
    pub(super) holds: Box<PropertyCondition<'s, S>>,
}

/// Whether something holds in a state.
type PropertyCondition<'s, S> = dyn Fn(&S) -> bool + Send + Sync + 's;

/// Where it should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PropertyExpectation {
    Always,
    Sometimes,
    Eventually,
}

impl<'s, S> Property<'s, S> {
    /// Something that holds in every reachable state, or else is violated there: an invariant.
    pub fn always(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Property<'s, S> {
        Property::new(PropertyExpectation::Always, name.into(), Box::new(holds))
    }

    /// Something that holds in some reachable state, or else is violated once all were visited. A search
    /// that ends before, with another violation, leaves it open.
    pub fn sometimes(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Property<'s, S> {
        Property::new(PropertyExpectation::Sometimes, name.into(), Box::new(holds))
    }

    /// Something that every run comes to a state with: each that goes on for ever, and each that ends in a state from
    /// which no action leads. It is looked for once all states were visited and nothing else is violated; what violates
    /// it is a run that never has it, told up to where it repeats.
    pub fn eventually(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Property<'s, S> {
        Property::new(PropertyExpectation::Eventually, name.into(), Box::new(holds))
    }

    /// Whether it is about runs.
    pub(super) fn is_eventuality(&self) -> bool {
        self.expectation == PropertyExpectation::Eventually
    }

    fn new(
        expectation: PropertyExpectation,
        name: String,
        holds: Box<PropertyCondition<'s, S>>,
    ) -> Self {
        Property { name, expectation, holds }
    }
}
