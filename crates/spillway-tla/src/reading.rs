//! From files to a resolved specification.

use crate::config::{self, Assignment, Config};
use crate::level::Level;
use crate::modules::{self, SearchPath, read_file};
use crate::resolve::tree::Specification;
use crate::resolve::{Request, ResolvedSpecification, resolve};
use crate::syntax::ast::Expr;
use crate::syntax::parser::parse_expression;
use spillway_base::diag::Diagnostic;
use spillway_base::source::SourceMap;
use spillway_model::{ConditionModality, StateCondition};
use std::path::Path;

/// A specification to read.
#[derive(Clone, Copy, Debug)]
pub struct SpecificationRequest<'a> {
    /// The file of the root module.
    pub root: &'a Path,
    /// The configuration file.
    pub config: &'a Path,
    /// The places in which modules are searched.
    pub search: &'a SearchPath,
    /// Values of constants that replace those of the configuration, each as `NAME = VALUE`.
    pub constants: &'a [String],
    /// Conditions on states that are checked besides the configuration, in
    /// [`Checks::formulas`](crate::resolve::tree::Checks::formulas) of the result.
    pub conditions: &'a [StateCondition],
}

/// Reads and resolves a specification: a root module, a configuration, and the modules that the root needs. Adds the
/// texts to the sources: the root, the configuration, then the others.
///
/// # Errors
///
/// A file cannot be read, or a text has errors.
pub fn read_specification(
    root: &Path,
    config: &Path,
    search: &SearchPath,
    sources: &mut SourceMap,
) -> Result<ResolvedSpecification, Vec<Diagnostic>> {
    SpecificationRequest { root, config, search, constants: &[], conditions: &[] }.read(sources)
}

impl SpecificationRequest<'_> {
    /// Reads and resolves the specification. Adds the texts to the sources: the root, the configuration, the other
    /// modules, then the constants and the conditions.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or a text has errors.
    pub fn read(&self, sources: &mut SourceMap) -> Result<ResolvedSpecification, Vec<Diagnostic>> {
        let read = self.read_texts(sources);
        let (set, config, formulas) = read.map_err(|it| vec![it])?;
        let request = Request { set: &set, config: &config, formulas: &formulas, sources };
        let mut resolved = resolve(request)?;
        let checks = &mut resolved.specification.checks;
        let given = checks.formulas.iter().zip(self.conditions);
        let constraints = given.filter(|(_, it)| it.holds == ConditionModality::Within);
        checks.constraints.extend(constraints.map(|(definition, _)| *definition));
        let errors = level_errors(&resolved.specification);
        if errors.is_empty() { Ok(resolved) } else { Err(errors) }
    }

    fn read_texts(
        &self,
        sources: &mut SourceMap,
    ) -> Result<(modules::ModuleSet, Config, Vec<Expr>), Diagnostic> {
        let root = read_file(self.root, self.search, sources)?;
        let file = read_file(self.config, self.search, sources).map_err(|it| {
            let name = self.config.display();
            it.help(format!("a specification needs a configuration as TLC reads it: write {name}"))
        })?;
        let mut config = config::parse(file, &sources.file(file).text)?;
        let set = modules::load_file(root, self.search, sources)?;
        for constant in self.constants {
            let file = sources.add_property("constant", format!("CONSTANT {constant}"));
            let given = config::parse(file, &sources.file(file).text)?;
            given.assignments.into_iter().for_each(|it| replace_constant(&mut config, it));
            config.overrides.extend(given.overrides);
        }
        let formula = |it: &StateCondition| {
            let file = sources.add_property(it.source_name(), &*it.text);
            parse_expression(file, &it.text)
        };
        let formulas = self.conditions.iter().map(formula).collect::<Result<_, _>>()?;
        Ok((set, config, formulas))
    }
}

/// Sets the value of a constant of the root module.
fn replace_constant(config: &mut Config, given: Assignment) {
    config.assignments.retain(|it| it.module.is_some() || it.name.text != given.name.text);
    config.overrides.retain(|it| it.module.is_some() || it.name.text != given.name.text);
    config.assignments.push(given);
}

/// Returns an error for each condition that is no predicate of states.
fn level_errors(specification: &Specification) -> Vec<Diagnostic> {
    let formulas = specification.checks.formulas.iter().map(|it| &specification[*it]);
    let wrong = formulas.filter(|it| it.level > Level::State);
    wrong
        .map(|it| {
            let message = format!("this formula has {} level, not state level", it.level);
            Diagnostic::error(it.span, message).help("use no primes and no temporal operators")
        })
        .collect()
}
