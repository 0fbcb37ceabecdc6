//! The operators of standard and community modules, on values.
//!
//! | module | content |
//! | --- | --- |
//! | [`failure`] | errors of evaluation |
//! | [`sets`] | sets of the language, also lazy ones |
//! | [`elements`] | enumeration of sets |
//! | [`functions`] | functions of the language, `:>`, `@@` |
//! | [`numbers`] | Naturals, Integers, Bitwise, Combinatorics |
//! | [`sequences`] | Sequences |
//! | [`bags`] | Bags |
//! | [`tlc`] | FiniteSets, TLC, TLCExt |
//! | [`folds`] | Folds, FiniteSetsExt, BagsExt |
//! | [`function_sets`] | Functions |
//! | [`relations`] | Relation, Graphs, UndirectedGraphs |
//! | [`files`] | Json, CSV, IOUtils |
//! | [`sequence_extensions`] | SequencesExt |
//!
//! An operator is a function of values. What it needs of the evaluator is behind two traits: [`ClosureHost`] evaluates
//! the expressions of lazy sets and functions, and [`OperatorHost`] calls operators that are arguments.

pub mod bags;
pub mod elements;
pub mod failure;
pub mod files;
pub mod folds;
pub mod function_sets;
pub mod functions;
pub mod numbers;
pub mod relations;
pub mod sequence_extensions;
pub mod sequences;
pub mod sets;
mod tables;
pub mod tlc;

pub use failure::{Failure, FailureReason, FailureValue, Outcome};

use crate::library::StandardOperator;
use crate::value::{InfiniteSet, LazyValue, SymbolTable, Value};
use std::collections::BTreeMap;
use triomphe::Arc;

/// Evaluates the expressions of lazy sets and functions.
pub trait ClosureHost {
    /// Returns the symbols of the specification.
    fn symbols(&self) -> &SymbolTable;

    /// Evaluates the expression of a lazy filter or function with its variables bound to `argument`.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    fn apply_closure(&mut self, closure: &Arc<LazyValue>, argument: &Value) -> Outcome<Value>;

    /// Returns whether a set that cannot be enumerated became a component of a value. Values are searched for one only
    /// then.
    fn infinite_components(&mut self) -> &mut bool;

    /// Evaluates a closure that is a predicate.
    ///
    /// # Errors
    ///
    /// The evaluation fails, or its value is not Boolean.
    fn holds(&mut self, closure: &Arc<LazyValue>, argument: &Value) -> Outcome<bool> {
        boolean("a set filter", &self.apply_closure(closure, argument)?)
    }
}

/// Calls operators that are arguments of the present operator.
pub trait OperatorHost: ClosureHost {
    /// Calls the operator that is the argument at `position`.
    ///
    /// # Errors
    ///
    /// The evaluation fails.
    fn call(&mut self, position: usize, arguments: &[Value]) -> Outcome<Value>;

    /// Returns the level of the present state, 1 for initial states, if it is known. A search on disk does not know it.
    fn level(&self) -> Option<u32>;

    /// Returns the counts of the search, once it has visited all states.
    fn statistics(&self) -> Option<SearchStatistics>;

    /// Returns the environment variables of the process.
    fn environment(&self) -> &BTreeMap<String, String>;

    /// Takes a line that the specification prints.
    fn print(&mut self, line: String);

    /// Returns this host as one for closures.
    fn closures(&mut self) -> &mut dyn ClosureHost;
}

/// The counts of a search that has visited all states, as `TLCGet` gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchStatistics {
    /// The distinct states.
    pub distinct: u64,
    /// The generated states, with duplicates.
    pub generated: u64,
    /// The initial states among the generated ones.
    pub initial: u64,
    /// The number of levels.
    pub diameter: u64,
}

/// The arguments of an operator: `None` where an argument is an operator.
pub type Operands = [Option<Value>];

/// Returns the expression at a position of the arguments.
fn operand(operands: &Operands, position: usize) -> &Value {
    operands[position].as_ref().expect("the front end checks the arity of arguments")
}

/// Calls a standard operator.
///
/// # Errors
///
/// The operator is not defined for these operands, or it is one that is not evaluated.
pub fn call(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Outcome<Value> {
    if let Some(value) = constant(operator) {
        return Ok(value);
    }
    if let Some(result) = numbers::call(operator, operands) {
        return result;
    }
    for library in LIBRARIES {
        if let Some(result) = library(host, operator, operands) {
            return result;
        }
    }
    Err(unsupported(operator))
}

/// The operators of a module. Returns nothing for an operator of another one.
type Library = fn(&mut dyn OperatorHost, StandardOperator, &Operands) -> Option<Outcome<Value>>;

/// The modules, the frequent ones first.
const LIBRARIES: &[Library] = &[
    sequences::call,
    tlc::call,
    bags::call,
    folds::call,
    function_sets::call,
    sequence_extensions::call,
    relations::call,
    files::call,
];

/// Returns the value of an operator without parameters.
fn constant(operator: StandardOperator) -> Option<Value> {
    let set = match operator {
        StandardOperator::Nat => InfiniteSet::Nat,
        StandardOperator::Int => InfiniteSet::Int,
        StandardOperator::Any => InfiniteSet::Any,
        _ => return None,
    };
    Some(sets::lazy(LazyValue::Infinite(set)))
}

/// Returns the failure of an operator that is not evaluated.
fn unsupported(operator: StandardOperator) -> Box<Failure> {
    Failure::unsupported(format!("{} of {}", operator.name(), operator.module()))
}

/// Returns a Boolean.
///
/// # Errors
///
/// The value is not Boolean.
pub fn boolean(operator: &'static str, value: &Value) -> Outcome<bool> {
    match value {
        Value::Bool(it) => Ok(*it),
        other => Err(Failure::wrong_kind(operator, "a Boolean", other)),
    }
}

/// Returns an integer.
///
/// # Errors
///
/// The value is no integer.
pub fn integer(operator: &'static str, value: &Value) -> Outcome<i32> {
    match value {
        Value::Int(it) => Ok(*it),
        other => Err(Failure::wrong_kind(operator, "an integer", other)),
    }
}

#[cfg(test)]
mod tests;
