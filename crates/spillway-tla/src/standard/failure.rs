//! Errors of evaluation: what TLC reports as an error of the specification.

use crate::resolve::ids::ExprId;
use crate::value::{Incomparable, SymbolTable, Value};
use std::fmt::Write as _;

/// The result of an evaluation.
pub type Outcome<T> = Result<T, Box<Failure>>;

/// An error of evaluation, with the values that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub reason: FailureReason,
    /// The values, each with its role: `left`, `argument`.
    pub values: Vec<FailureValue>,
    /// The innermost expression whose evaluation failed.
    pub place: Option<ExprId>,
    /// The calls around it, from the inside to the outside.
    pub calls: Vec<ExprId>,
}

/// A value of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureValue {
    /// The role.
    pub role: &'static str,
    /// The value.
    pub value: Value,
}

/// The greatest number of calls that a failure keeps.
const CALLS_MAX: usize = 16;

/// Why an evaluation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureReason {
    /// Two values of different kinds were compared.
    #[error("values of different kinds are compared")]
    Incomparable,
    /// An operand has the wrong kind.
    #[error("{operator} needs {expected}")]
    WrongKind {
        /// The operator or construct.
        operator: &'static str,
        /// The kind of value that it needs, with its article.
        expected: &'static str,
    },
    /// An integer leaves 32 bits.
    #[error("the result of {operator} does not fit 32 bits")]
    Overflow {
        /// The operator.
        operator: &'static str,
    },
    /// A division by zero, or a modulo by a number that is not positive.
    #[error("the second operand of {operator} must {requirement}")]
    InvalidDivisor {
        /// The operator.
        operator: &'static str,
        /// What it must do.
        requirement: &'static str,
    },
    /// A function was applied outside its domain.
    #[error("the argument is not in the domain of the function")]
    OutOfDomain,
    /// A record lacks a field.
    #[error("the record has no field `{field}`")]
    NoField {
        /// The field.
        field: String,
    },
    /// An operator was applied to a sequence or set that is too short or small.
    #[error("{operator} is not defined for these operands")]
    OutOfRange {
        /// The operator.
        operator: &'static str,
    },
    /// A set has to be enumerated, and cannot be.
    #[error("the set cannot be enumerated")]
    NotEnumerable,
    /// A set has too many elements.
    #[error("the set has too many elements")]
    TooManyElements,
    /// No element satisfies the predicate of CHOOSE.
    #[error("no element of the set satisfies the predicate of CHOOSE")]
    NothingToChoose,
    /// No arm of CASE applies.
    #[error("no arm of CASE applies")]
    NoCaseArm,
    /// `Assert` failed.
    #[error("assertion failed: {message}")]
    Assertion {
        /// The message of the specification.
        message: String,
    },
    /// A variable is used before it has a value.
    #[error("the variable `{name}` has no value here")]
    Unassigned {
        /// The name.
        name: String,
    },
    /// A construct that is not evaluated.
    #[error("{what} cannot be evaluated")]
    Unsupported {
        /// The construct.
        what: String,
    },
    /// A value that a function or set needs was not available when it was built.
    #[error("a value that the expression needs could not be evaluated")]
    NotCaptured,
    /// The evaluation is nested too deeply.
    #[error("the evaluation is nested too deeply; a recursion may not end")]
    TooDeep,
    /// A file could not be read.
    #[error("{operator}: {message}")]
    File {
        /// The operator.
        operator: &'static str,
        /// The problem.
        message: String,
    },
}

impl Failure {
    /// Creates a failure without values.
    pub fn new(reason: FailureReason) -> Box<Self> {
        Box::new(Self { reason, values: Vec::new(), place: None, calls: Vec::new() })
    }

    /// Creates a failure of an operand that has the wrong kind.
    pub fn wrong_kind(operator: &'static str, expected: &'static str, found: &Value) -> Box<Self> {
        Self::new(FailureReason::WrongKind { operator, expected }).with("value", found)
    }

    /// Creates a failure of a construct that is not evaluated.
    pub fn unsupported(what: impl Into<String>) -> Box<Self> {
        Self::new(FailureReason::Unsupported { what: what.into() })
    }

    /// Adds a value.
    pub fn with(mut self: Box<Self>, role: &'static str, value: &Value) -> Box<Self> {
        self.values.push(FailureValue { role, value: value.clone() });
        self
    }

    /// Sets the place, unless an inner expression did.
    pub fn at(mut self: Box<Self>, place: ExprId) -> Box<Self> {
        self.place.get_or_insert(place);
        self
    }

    /// Adds a call around the place.
    pub fn called_from(mut self: Box<Self>, call: ExprId) -> Box<Self> {
        if self.calls.len() < CALLS_MAX {
            self.calls.push(call);
        }
        self
    }

    /// Returns the reason and the values as text.
    pub fn text(&self, symbols: &SymbolTable) -> String {
        let mut text = self.reason.to_string();
        for (at, FailureValue { role, value }) in self.values.iter().enumerate() {
            let separator = if at == 0 { ": " } else { ", " };
            let _ = write!(text, "{separator}{role} {}", value.text(symbols));
        }
        text
    }
}

impl From<Box<Incomparable>> for Box<Failure> {
    fn from(error: Box<Incomparable>) -> Self {
        let failure = Failure::new(FailureReason::Incomparable);
        failure.with("left", &error.left).with("right", &error.right)
    }
}
