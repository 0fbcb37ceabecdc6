//! Evaluation, initial states and successors as TLC generates them.
//!
//! | module | content |
//! | --- | --- |
//! | `program` | a compiled specification |
//! | `node` | the compiled form of expressions |
//! | `facts`, `compile` | compilation |
//! | `evaluator` | the evaluation of expressions |
//! | `formulas`, `collections`, `calls` | its parts |
//! | `application` | applications of functions |
//! | `comparisons` | comparisons |
//! | `actions`, `assignments` | initial states and successors |
//! | `named_actions` | the actions that steps are named by |
//! | `checks` | states, successors and checks: the interface |
//! | `distance` | the distance of a state to a violation |
//! | `state_memo` | values that are kept while the variables that they depend on are the same |
//! | `observation`, `observed` | what an evaluation reads of a state, and how it makes successors |
//! | `typing` | the units of memberships |
//! | `units`, `unit_walks` | the parts of the next-state action and of conditions that are evaluated one by one |
//! | `symmetry` | symmetry |
//! | `search` | a search in memory, the oracle |
//!
//! # Frames and laziness
//!
//! A call has a frame of slots on one stack. An argument is a *thunk*: an expression with the start of its frame, which
//! is still on the stack whenever the thunk is used. A thunk is replaced by its value if the value is constant, and
//! keeps its value and the expression if the value depends only on the state, since the expression is needed where it
//! is primed. A closure that can outlive its frame (a filter of a lazy set, a function without a table) captures its
//! slots.

mod actions;
mod application;
mod assignments;
mod calls;
mod checks;
mod collections;
mod comparisons;
mod compile;
mod distance;
mod evaluator;
mod facts;
mod formulas;
mod generation;
mod named_actions;
mod node;
mod observation;
mod observed;
mod program;
mod search;
mod state_memo;
mod symmetry;
mod typing;
mod unit_walks;
mod units;

pub use checks::{FailedCheck, GeneratedStates};
pub use evaluator::Evaluator;
pub use generation::{ActionParameter, EnteredAction};
pub use observation::{
    ElementCandidates, ObservedAccesses, ReadAspect, ValuePath, ValuePlace, VariableCandidates,
    VariableRead, VariableWrite,
};
pub use program::CompiledSpecification;
pub use search::{MemorySearch, MemorySearchOptions, SearchEnding};
pub use symmetry::SymmetryGroup;
pub use units::{CheckedCondition, JudgedUnit, NoUnits, SteppedUnit, UnitTable, WantedUnit};
