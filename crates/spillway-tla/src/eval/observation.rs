//! What an evaluation reads of a state, and how it makes successors.
//!
//! While an evaluation is *observed*, it notes each read of a variable, as narrowly as it can: `f[x]` reads one value of
//! the variable `f`, `e \in s` reads whether one element is in the variable `s`. Two evaluations of the same expression
//! read the same first; as long as they read the same values, they read the same next. So the reads determine the result:
//! in a state with the same values at all places that were read, the result is the same.
//!
//! An assignment that keeps most of a variable is noted as a change: `UNCHANGED x`, `x' = [x EXCEPT ![a] = b]`,
//! `s' = s \cup {e}`, `s' = s \ {e}`. What it keeps is not read.
//!
//! An observed evaluation neither uses nor keeps [values of the state](super::state_memo), which hide reads. The value of
//! a slot outside the observed expression is constant.

use crate::value::Value;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The arguments that lead from a variable to a part of its value.
pub type ValuePath = SmallVec<[Value; 2]>;

/// A part of the value of a variable.
#[derive(Clone, Debug)]
pub struct ValuePlace {
    /// The variable.
    pub variable: u32,
    /// Whether it is the value in the successor.
    pub is_next: bool,
    /// The path to the part.
    pub path: ValuePath,
}

/// What is read of a part of a variable.
#[derive(Clone, Debug)]
pub enum ReadAspect {
    /// The value.
    Value,
    /// The domain.
    Domain,
    /// Whether this is an element.
    Member(Value),
    /// Which values can be elements.
    Candidates,
}

/// A read of a variable.
#[derive(Clone, Debug)]
pub struct VariableRead {
    /// What is read from.
    pub place: ValuePlace,
    /// What is read of it.
    pub aspect: ReadAspect,
}

/// How a successor gets the value of a variable.
#[derive(Clone, Debug, Default)]
pub enum VariableWrite {
    /// By a value that depends on nothing but the reads.
    #[default]
    Value,
    /// It is that of the state.
    Unchanged,
    /// It is that of the state except at these paths, where values depend on nothing but the reads.
    Parts(Vec<ValuePath>),
    /// It is the set of the state with these elements.
    With(Value),
    /// It is the set of the state without these elements.
    Without(Value),
}

/// What an observed evaluation noted.
#[derive(Debug, Default)]
pub(super) struct AccessObservation {
    /// Whether it is under way.
    pub is_active: bool,
    /// Whether the result depends on something that is not noted.
    pub is_opaque: Cell<bool>,
    /// The reads, in their order.
    pub reads: RefCell<Vec<VariableRead>>,
    /// How the variables with a value in the successor got it.
    pub writes: Vec<VariableWrite>,
    /// The writes of each successor, one after the other, each with one for each variable.
    pub successors: Vec<VariableWrite>,
    /// The values that can be elements of variables.
    pub candidates: Arc<ElementCandidates>,
}

/// What was noted in one observation.
#[derive(Debug, Default)]
pub struct ObservedAccesses {
    /// The reads, in their order.
    pub reads: Vec<VariableRead>,
    /// The writes of each successor, one after the other, each with one for each variable.
    pub writes: Vec<VariableWrite>,
    /// Whether the result depends on something that is not noted.
    pub is_opaque: bool,
}

/// The values that can be elements of variables that are sets, or arrays of sets.
#[derive(Debug, Default)]
pub struct ElementCandidates {
    /// By variable.
    pub variables: Vec<Option<VariableCandidates>>,
}

/// The values that can be elements of the sets of a variable.
#[derive(Debug)]
pub struct VariableCandidates {
    /// The number of arguments that lead to a set.
    pub depth: usize,
    /// The values.
    pub values: Vec<Value>,
}

impl ElementCandidates {
    /// Returns the values that can be elements of the set at a place.
    pub fn of(&self, place: &ValuePlace) -> Option<&[Value]> {
        let candidates = self.variables.get(place.variable as usize)?.as_ref()?;
        (candidates.depth == place.path.len()).then_some(&candidates.values)
    }
}
