//! Properties of a transition system.

/// A named property of a transition system's states or runs.
pub struct Property<'s, S> {
    name: String,
    expectation: PropertyExpectation,
    holds: Box<PropertyCondition<'s, S>>,
}

/// Whether a condition holds in a state.
type PropertyCondition<'s, S> = dyn Fn(&S) -> bool + Send + Sync + 's;

/// The states in which the condition of a property must hold.
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
    /// Creates an invariant: the condition must hold in every reachable state.
    pub fn always(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Property<'s, S> {
        Property::new(PropertyExpectation::Always, name.into(), Box::new(holds))
    }

    /// Creates a reachability property: the condition must hold in some reachable state. It is violated if the
    /// condition held in none once all states have been visited. A search that ends earlier, with another violation,
    /// leaves it undecided.
    pub fn sometimes(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Property<'s, S> {
        Property::new(PropertyExpectation::Sometimes, name.into(), Box::new(holds))
    }

    /// Creates a property whose condition must hold in some state of every run: of every infinite run, and of every run
    /// that ends in a state without actions. It is checked once all states have been visited without another violation.
    /// The counterexample is a run on which it never holds, as a stem and a cycle.
    pub fn eventually(
        name: impl Into<String>,
        holds: impl Fn(&S) -> bool + Send + Sync + 's,
    ) -> Property<'s, S> {
        Property::new(PropertyExpectation::Eventually, name.into(), Box::new(holds))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the states in which the condition must hold.
    pub fn expectation(&self) -> PropertyExpectation {
        self.expectation
    }

    /// Returns whether the condition holds in a state.
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
