//! Properties of a transition system.

/// A named property of a transition system's states or runs.
pub struct Property<'s, S> {
    name: String,
    expectation: PropertyExpectation,
    holds: Box<PropertyCondition<'s, S>>,
}

/// Whether a condition holds in a state.
type PropertyCondition<'s, S> = dyn Fn(&S) -> bool + Send + Sync + 's;

/// Where the condition of a property should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyExpectation {
    /// In every reachable state.
    Always,
    /// In some reachable state.
    Sometimes,
    /// In some state of every run.
    Eventually,
}

impl<'s, S> Property<'s, S> {
    /// An invariant: the condition should hold in every reachable state.
    pub fn always(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Property<'s, S> {
        Property::new(PropertyExpectation::Always, name.into(), Box::new(holds))
    }

    /// Reachability: the condition should hold in some reachable state. It is violated once all states have been visited
    /// and it held in none. A search that ends before, with another violation, leaves it undecided.
    pub fn sometimes(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Property<'s, S> {
        Property::new(PropertyExpectation::Sometimes, name.into(), Box::new(holds))
    }

    /// The condition should hold in some state of every run: of every infinite run, and of every run that ends in a state
    /// without actions. It is checked once all states have been visited and nothing else is violated. The counterexample is
    /// a run on which it never holds, as a stem and a cycle.
    pub fn eventually(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Property<'s, S> {
        Property::new(PropertyExpectation::Eventually, name.into(), Box::new(holds))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the condition should hold.
    pub fn expectation(&self) -> PropertyExpectation {
        self.expectation
    }

    /// Whether the condition holds in a state.
    pub fn holds(&self, state: &S) -> bool {
        (self.holds)(state)
    }

    fn new(
        expectation: PropertyExpectation,
        name: String,
        holds: Box<PropertyCondition<'s, S>>,
    ) -> Self {
        Property { name, expectation, holds }
    }
}
