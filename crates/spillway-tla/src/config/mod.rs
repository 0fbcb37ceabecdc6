//! Configuration files, as TLC reads them.
//!
//! A configuration is a sequence of sections. A section begins with a keyword and ends at the next keyword, so a
//! keyword cannot be the name of a constant or an operator. Comments are those of TLA+.

mod parse;

pub use parse::parse;
use spillway_base::source::Span;

/// A configuration.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// `C = value`
    pub assignments: Vec<Assignment>,
    /// `C <- Operator`
    pub overrides: Vec<Override>,
    /// INIT.
    pub init: Option<ConfigName>,
    /// NEXT.
    pub next: Option<ConfigName>,
    /// SPECIFICATION.
    pub specification: Option<ConfigName>,
    /// INVARIANT, INVARIANTS.
    pub invariants: Vec<ConfigName>,
    /// PROPERTY, PROPERTIES.
    pub properties: Vec<ConfigName>,
    /// CONSTRAINT, CONSTRAINTS.
    pub constraints: Vec<ConfigName>,
    /// ACTION_CONSTRAINT, ACTION_CONSTRAINTS.
    pub action_constraints: Vec<ConfigName>,
    /// SYMMETRY.
    pub symmetry: Option<ConfigName>,
    /// VIEW.
    pub view: Option<ConfigName>,
    /// ALIAS.
    pub alias: Option<ConfigName>,
    /// POSTCONDITION, POSTCONDITIONS.
    pub postconditions: Vec<ConfigName>,
    /// CHECK_DEADLOCK.
    pub check_deadlock: Option<bool>,
    /// Sections that have no effect on a search, such as _RL_REWARD.
    pub ignored: Vec<ConfigName>,
}

/// A name in a configuration: `Op`, or `I!Op`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigName {
    /// The name.
    pub text: String,
    /// The position.
    pub span: Span,
}

/// `C = value`
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The constant.
    pub name: ConfigName,
    /// `M` of `C = [M] value`.
    pub module: Option<ConfigName>,
    /// The value.
    pub value: ConfigValue,
}

/// `C <- Operator`
#[derive(Clone, Debug)]
pub struct Override {
    /// The constant or the operator.
    pub name: ConfigName,
    /// `M` of `C <- [M] Operator`.
    pub module: Option<ConfigName>,
    /// The operator of the root module that replaces it.
    pub replacement: ConfigName,
}

/// A value.
#[derive(Clone, Debug)]
pub enum ConfigValue {
    /// TRUE or FALSE.
    Boolean(bool),
    /// A number.
    Integer(i64),
    /// A string.
    String(String),
    /// A model value.
    ModelValue(ConfigName),
    /// A set.
    Set(Vec<ConfigValue>),
}
