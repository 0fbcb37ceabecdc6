//! How a module is used: as itself, or as an instance.

use super::names::{ContextId, EnvironmentId, NamePlace, Scope, Symbol};
use crate::library::StandardModule;
use crate::syntax::ast::{Instance, Module};
use std::collections::HashMap;
use std::rc::Rc;

/// How a module and the modules that it extends are used.
pub(super) struct Use<'a> {
    /// The instance, or nothing if the declarations declare new variables and constants.
    pub(super) instance: Option<InstanceUse<'a>>,
    pub(super) context: ContextId,
    pub(super) prefix: Rc<str>,
    /// The environments of this use, so that a module that is extended twice is the same one.
    pub(super) built: HashMap<&'a str, EnvironmentId>,
}

/// An instance.
pub(super) struct InstanceUse<'a> {
    pub(super) text: &'a Instance,
    /// What WITH and the implicit substitutions see.
    pub(super) scope: Scope,
    /// The names of WITH that were declared by the module.
    pub(super) used: Vec<&'a str>,
    /// Whether the module declares variables.
    pub(super) has_variables: bool,
    /// The symbols that are substituted for the variables.
    pub(super) for_variables: Vec<Symbol>,
}

impl InstanceUse<'_> {
    /// Returns whether each variable is renamed to a variable of its own.
    pub(super) fn is_renaming(&self) -> bool {
        let symbols = &self.for_variables;
        let is_own = |at: usize| !symbols[..at].contains(&symbols[at]);
        (0..symbols.len()).all(|at| matches!(symbols[at], Symbol::Variable(_)) && is_own(at))
    }
}

/// A module to build an environment of.
#[derive(Clone, Copy)]
pub(super) struct ModuleSource<'a> {
    pub(super) module: Option<&'a Module>,
    pub(super) standard: Option<&'static StandardModule>,
    pub(super) name: &'a str,
    pub(super) parent: Option<NamePlace>,
}

impl<'a> Use<'a> {
    /// Creates the use of a module whose declarations declare new variables and constants.
    pub(super) fn new() -> Self {
        let (context, prefix) = (ContextId(0), Rc::from(""));
        Self { instance: None, context, prefix, built: HashMap::new() }
    }
}
