//! What names mean: scopes, environments of modules, entries of operators.
//!
//! An [`Environment`] is a module in one use: the root, a module that is extended, or an instance. Its symbols are found
//! by name and have an order, because a name is visible only after its declaration. An instance has its own environment,
//! in which the constants and variables of the module are the substituted symbols.
//!
//! An [`Entry`] is an operator of an environment, of a LET, or a LAMBDA. Entries become definitions when they are used.
//!
//! A [`Context`] holds the leading parameters of all entries of an environment: the parameters of instances, and the
//! surrounding names that an instance in a LET uses.

use super::ids::{ConstantId, DefinitionId, VariableId};
use crate::library::StandardOperator;
use crate::syntax::ast::{Argument, Definition, Expr, Instance, Module};
use spillway_base::source::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// Defines an index of a table of the resolver.
macro_rules! table_index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) struct $name(pub(super) usize);
    };
}

table_index!(
    /// An index into [`Tables::environments`].
    EnvironmentId
);
table_index!(
    /// An index into [`Tables::contexts`].
    ContextId
);
table_index!(
    /// An index into [`Tables::entries`].
    EntryId
);
table_index!(
    /// An index into [`Tables::instances`].
    InstanceId
);
table_index!(
    /// An index into [`Tables::locals`].
    LocalId
);
table_index!(
    /// An index into [`Tables::declared`].
    DeclaredId
);

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A variable of the root module.
    Variable(VariableId),
    /// A constant of the root module.
    DeclaredConstant(DeclaredId),
    /// An operator.
    Entry(EntryId),
    /// A named instance.
    Instance(InstanceId),
    /// An operator of a standard module.
    Standard(StandardOperator),
    /// A parameter, a bound variable or a LET value.
    Local(LocalId),
    /// The formula of a named theorem or assumption, or nothing if it is an ASSUME ... PROVE.
    Fact(Option<EntryId>),
}

/// A symbol in an environment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) symbol: Symbol,
    /// The index of the unit from which on it is visible. Units count from 1; 0 is EXTENDS.
    pub(super) order: usize,
    /// Whether it is LOCAL, so that modules that extend or instantiate this one do not see it.
    pub(super) is_local: bool,
    /// The text that declares it.
    pub(super) span: Span,
}

/// A module in one use.
pub(super) struct Environment<'a> {
    /// The module, unless it is a standard module without a file.
    pub(super) module: Option<&'a Module>,
    /// The name of the module.
    pub(super) name: &'a str,
    /// The text before the names of its operators: `I!`.
    pub(super) prefix: Rc<str>,
    pub(super) context: ContextId,
    /// Whether it is an instance in which variables are not renamed to other variables, one to one.
    pub(super) substitutes_expressions: bool,
    /// Where an inner module is.
    pub(super) parent: Option<NamePlace>,
    pub(super) symbols: HashMap<Box<str>, Row>,
    /// The inner modules, with the index of their unit.
    pub(super) inner: HashMap<&'a str, Inner<'a>>,
}

/// A module within a module.
#[derive(Clone, Copy)]
pub(super) struct Inner<'a> {
    pub(super) module: &'a Module,
    pub(super) order: usize,
    /// The environment that encloses it.
    pub(super) environment: EnvironmentId,
}

/// A position in an environment: symbols of a lower order are visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamePlace {
    pub(super) environment: EnvironmentId,
    pub(super) order: usize,
}

/// The leading parameters of the entries of an environment.
#[derive(Clone, Default)]
pub(super) struct Context {
    pub(super) parameters: Vec<LocalId>,
}

/// A parameter, a bound variable or a LET value.
#[derive(Clone)]
pub(super) struct Local {
    pub(super) name: Box<str>,
    pub(super) span: Span,
    pub(super) arity: usize,
}

/// A constant of the root module.
pub(super) struct DeclaredConstant {
    pub(super) name: Box<str>,
    pub(super) span: Span,
    pub(super) arity: usize,
    pub(super) value: DeclaredValue,
}

/// The entry of a constant in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeclaredValue {
    /// Nothing.
    Missing,
    /// A value.
    Value(ConstantId),
    /// An operator.
    Operator(Symbol),
}

/// The names that are visible at a place of an expression.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) place: NamePlace,
    pub(super) locals: Option<Rc<ScopeNode>>,
}

/// A name of an expression's surroundings.
pub(super) struct ScopeNode {
    pub(super) name: Box<str>,
    pub(super) symbol: Symbol,
    pub(super) parent: Option<Rc<ScopeNode>>,
}

impl Scope {
    /// Returns the scope with one more name.
    pub(super) fn with(&self, name: &str, symbol: Symbol) -> Scope {
        let node = ScopeNode { name: name.into(), symbol, parent: self.locals.clone() };
        Scope { place: self.place, locals: Some(Rc::new(node)) }
    }

    /// Returns the innermost local symbol with a name.
    pub(super) fn local(&self, name: &str) -> Option<Symbol> {
        let mut node = self.locals.as_ref();
        while let Some(it) = node {
            if *it.name == *name {
                return Some(it.symbol);
            }
            node = it.parent.as_ref();
        }
        None
    }
}

/// Parameters with the entries of their arguments.
pub(super) type ClosedParameters = Rc<HashMap<LocalId, EntryId>>;

/// The text of an operator.
#[derive(Clone, Copy)]
pub(super) enum Text<'a> {
    /// A definition of a module or of LET.
    Definition(&'a Definition),
    /// A LAMBDA, or a value of WITH.
    Argument(&'a Argument),
    /// A formula.
    Formula(&'a Expr),
}

/// An operator.
pub(super) struct Entry<'a> {
    pub(super) name: Box<str>,
    pub(super) span: Span,
    pub(super) text: Text<'a>,
    pub(super) origin: super::tree::DefinitionOrigin,
    /// The names that its body can use, without its parameters.
    pub(super) scope: Scope,
    /// The leading parameters: those of the context, and the surrounding names that it uses.
    pub(super) leading: Vec<LocalId>,
    /// The arities of the parameters that follow.
    pub(super) arities: Vec<usize>,
    /// The definition, once it is used.
    pub(super) definition: Option<DefinitionId>,
    /// The configuration's value.
    pub(super) value: Option<ConstantId>,
    /// What the configuration puts in its place.
    pub(super) replacement: Option<Symbol>,
    /// The operators that take the place of parameters that its body sees: the arguments of a formula that is taken
    /// apart.
    pub(super) closed: ClosedParameters,
}

/// An operator whose definition was not used yet, as written. It has only the leading parameters.
pub(super) struct NewEntry<'a> {
    pub(super) name: Box<str>,
    pub(super) span: Span,
    pub(super) text: Text<'a>,
    pub(super) origin: super::tree::DefinitionOrigin,
    pub(super) scope: Scope,
    pub(super) leading: Vec<LocalId>,
}

impl<'a> From<NewEntry<'a>> for Entry<'a> {
    fn from(new: NewEntry<'a>) -> Self {
        let NewEntry { name, span, text, origin, scope, leading } = new;
        Entry {
            name,
            span,
            text,
            origin,
            scope,
            leading,
            arities: Vec::new(),
            definition: None,
            value: None,
            replacement: None,
            closed: ClosedParameters::default(),
        }
    }
}

/// A named instance.
pub(super) struct InstanceEntry<'a> {
    pub(super) name: Box<str>,
    pub(super) span: Span,
    pub(super) instance: &'a Instance,
    /// What WITH sees, with the parameters of the instance.
    pub(super) scope: Scope,
    /// Its own parameters.
    pub(super) parameters: Vec<LocalId>,
    /// The leading parameters of its operators, its own ones last.
    pub(super) leading: Vec<LocalId>,
    /// Its environment, once it is used.
    pub(super) environment: Option<EnvironmentId>,
}
