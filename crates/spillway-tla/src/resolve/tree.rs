//! The resolved specification, which the evaluator compiles.
//!
//! A resolved specification has no names left to look up. Four decisions make it simple to compile:
//!
//! 1. **Flat frames.** Each [`Definition`] has one frame of numbered slots: its parameters first, then the variables
//!    bound inside its body and its LET values. An operator that is defined by LET with parameters, or a LAMBDA, becomes
//!    a definition of its own. What it uses of the surrounding frame becomes its leading parameters (lambda lifting), so
//!    no expression refers to the frame of another definition.
//! 2. **Instances are definitions.** `I == INSTANCE M WITH x <- e` makes a copy of each used definition of `M`, in which
//!    `x` is a call of a definition whose body is `e`. The parameters of `I(p)` are the leading parameters of each copy.
//!    `x'` is [`UnaryOperator::Prime`] of that call. A bare variable, constant or operator is substituted directly.
//! 3. **Laziness is explicit.** Arguments and LET values are expressions that are evaluated when they are used, at most
//!    once a state in which they are used. The operand of `Prime` may contain a slot: its expression is evaluated in the
//!    next state then.
//! 4. **One arena.** All expressions are in [`Specification::expressions`], in an order in which operands precede the
//!    expressions that use them. An analysis is a table indexed by [`ExprId`].
//!
//! Names from the configuration are substituted before: `C <- Op` makes each use of `C` a use of `Op`.

pub use super::expr::*;
pub use super::ids::*;
pub use crate::level::Level;
pub use crate::library::StandardOperator;
use spillway_base::source::Span;
use std::ops::Index;

/// A resolved specification with its configuration.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// The name of the root module.
    pub module: String,
    /// The variables of the root module in the order of their declaration, those of extended modules first. Variables
    /// that are no part of a state follow: see [`Specification::state_variables`].
    pub variables: Vec<Variable>,
    /// The number of variables that make up a state. The variables from this index on are those of temporal
    /// quantifiers.
    pub state_variables: usize,
    /// The constants that have a value of the configuration. Constants that the configuration replaces by an operator
    /// are not here.
    pub constants: Vec<Constant>,
    /// Every operator that is reachable from a check of the configuration or from a requested formula.
    pub definitions: Vec<Definition>,
    /// Every expression. Operands precede the expressions that use them.
    pub expressions: Vec<Expr>,
    /// The model values of the configuration, in the order of their first appearance.
    pub model_values: Vec<ModelValue>,
    /// The strings, the names of record fields and the identifiers of the text, in TLC's order.
    pub strings: Vec<String>,
    /// The parts of the configuration and its checks.
    pub checks: Checks,
}

/// The parts of the configuration and its checks. Each check is a definition without parameters.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// The conjuncts of the initial predicate, in order: from INIT, or from the formula of SPECIFICATION.
    pub init: Vec<DefinitionId>,
    /// The next-state action: from NEXT, or `A` of `[][A]_v` in the formula of SPECIFICATION.
    pub next: Option<DefinitionId>,
    /// `v` of `[][A]_v` in the formula of SPECIFICATION.
    pub subscript: Option<DefinitionId>,
    /// The conjuncts of the formula of SPECIFICATION that are neither initial predicates nor `[][A]_v`.
    pub fairness: Vec<DefinitionId>,
    /// INVARIANT.
    pub invariants: Vec<DefinitionId>,
    /// PROPERTY, in the parts that are checked separately.
    pub properties: Vec<Property>,
    /// CONSTRAINT.
    pub constraints: Vec<DefinitionId>,
    /// ACTION_CONSTRAINT.
    pub action_constraints: Vec<DefinitionId>,
    /// SYMMETRY: each a set of permutations.
    pub symmetries: Vec<DefinitionId>,
    /// VIEW.
    pub view: Option<DefinitionId>,
    /// ALIAS: the record that a trace shows.
    pub alias: Option<DefinitionId>,
    /// POSTCONDITION.
    pub postconditions: Vec<DefinitionId>,
    /// ASSUME statements, of constant level.
    pub assumptions: Vec<DefinitionId>,
    /// The formulas that were requested in addition to the configuration.
    pub formulas: Vec<DefinitionId>,
    /// CHECK_DEADLOCK, if the configuration has it.
    pub check_deadlock: Option<bool>,
}

/// A property of the configuration.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name in the configuration.
    pub name: String,
    /// Its position in the configuration.
    pub span: Span,
    /// Its conjuncts.
    pub parts: Vec<PropertyPart>,
}

/// A conjunct of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyPart {
    /// A predicate of the initial states.
    Initial(DefinitionId),
    /// `[]P` with a state predicate `P`.
    Invariant(DefinitionId),
    /// `[][A]_v`: each step is a step of `A` or leaves `v` unchanged.
    Step {
        /// `A`.
        action: DefinitionId,
        /// `v`.
        subscript: DefinitionId,
    },
    /// Any other temporal formula.
    Temporal(DefinitionId),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The declaration.
    pub span: Span,
}

/// A constant with a value from the configuration.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The name.
    pub name: String,
    /// The declaration.
    pub span: Span,
    /// The value.
    pub value: ConstantValue,
}

/// A value that is written in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConstantValue {
    /// TRUE or FALSE.
    Boolean(bool),
    /// A number.
    Integer(i64),
    /// A string.
    String(StringId),
    /// A model value.
    ModelValue(ModelValueId),
    /// A set, in the order of the text, with duplicates.
    Set(Vec<ConstantValue>),
}

/// A model value. It equals only itself.
#[derive(Clone, Debug)]
pub struct ModelValue {
    /// The name.
    pub name: String,
    /// Its place among strings.
    pub string: StringId,
    /// Its first appearance in the configuration.
    pub span: Span,
}

/// An operator.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name as it is written from the root module: `Next`, `I!Op`, or `Op` of a LET. A LAMBDA is `LAMBDA`. A
    /// definition that substitutes a constant or variable of an instance has the name of that constant or variable.
    pub name: String,
    /// The module with the text.
    pub module: String,
    /// The name in its text.
    pub span: Span,
    /// Why it exists.
    pub origin: DefinitionOrigin,
    /// The parameters, in slots 0, 1, ...: first the captured ones, then those that are written.
    pub parameters: Vec<Parameter>,
    /// The number of leading parameters that are not written in the definition: the surrounding names that a LET
    /// operator or a LAMBDA uses, and the parameters of instances.
    pub captured: usize,
    /// The number of slots of the frame. Each parameter and each binder of the body has a slot of its own.
    pub slots: u32,
    /// The name of each slot: of a parameter, a bound variable, a LET value, a recursive function, or `@`.
    pub slot_names: Vec<String>,
    /// The body.
    pub body: ExprId,
    /// The level of the body if all arguments are constants.
    pub level: Level,
    /// Whether the body calls the definition, directly or by others.
    pub is_recursive: bool,
}

/// Why a definition exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionOrigin {
    /// A definition of a module.
    Module,
    /// A LET definition.
    Let,
    /// A LAMBDA.
    Lambda,
    /// What an instance substitutes for a constant or variable.
    Substitution,
    /// A part of a formula of the configuration, or an assumption.
    Part,
}

/// A parameter of an operator.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The declaration.
    pub span: Span,
    /// The number of its own parameters: 0 for an expression, more for an operator.
    pub arity: usize,
    /// The greatest level of an argument: the definition may prime it, for example.
    pub level_max: Level,
    /// Whether the level of the argument is part of the level of the call.
    pub is_level_counted: bool,
}

impl Specification {
    /// Returns the definition with this name as it is written from the root module.
    pub fn find(&self, name: &str) -> Option<DefinitionId> {
        let found = self.definitions.iter().position(|it| {
            it.name == name && it.origin == DefinitionOrigin::Module && it.captured == 0
        });
        found.map(|it| DefinitionId(it as u32))
    }

    /// Returns the text of a string.
    pub fn string(&self, id: StringId) -> &str {
        &self.strings[id.index()]
    }
}

impl Index<ExprId> for Specification {
    type Output = Expr;

    fn index(&self, id: ExprId) -> &Expr {
        &self.expressions[id.index()]
    }
}

impl Index<DefinitionId> for Specification {
    type Output = Definition;

    fn index(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.index()]
    }
}
