//! Syntax trees to a resolved specification: names, arities, levels.
//!
//! | module | content |
//! | --- | --- |
//! | [`tree`] | the resolved specification; it re-exports `expr`, `ids` and the operators' names |
//! | [`expr`], `operands` | its expressions |
//! | [`ids`] | its indices |
//! | `names`, `resolver` | what names mean, and looking them up |
//! | `usage`, `environments`, `instances` | modules in use: the root, extended modules, instances |
//! | `arena`, `lowering`, `lower`, `paths`, `lets` | expressions |
//! | `selectors`, `labels` | subexpressions by position or label |
//! | `levels` | levels |
//! | `theorems` | statements of theorems, which are only checked |
//! | `strings`, `standard_texts` | the order of strings |
//! | `print` | expressions as text |
//! | `settings`, `pieces`, `quantified`, `checks` | the configuration |

mod arena;
mod checks;
mod environments;
pub mod expr;
pub mod ids;
mod instances;
mod labels;
mod lets;
mod levels;
mod lower;
mod lowering;
mod names;
pub mod operands;
mod paths;
mod pieces;
mod print;
mod quantified;
mod resolver;
mod selectors;
mod settings;
mod standard_texts;
mod strings;
mod theorems;
pub mod tree;
mod usage;

pub use crate::library as operators;

use crate::config::Config;
use crate::modules::ModuleSet;
use crate::syntax::ast::{Expr, Module, Unit};
use crate::syntax::pluscal;
use checks::{CheckBuilder, ConfigFormulas};
use names::{NamePlace, Symbol};
use resolver::Resolver;
use spillway_base::diag::Diagnostic;
use spillway_base::source::SourceMap;
use tree::{Checks, Specification};

/// The size of the stack of a resolution, in bytes. Texts within the limit on nesting need a part of it.
const STACK_BYTES: usize = 64 << 20;

/// A request to resolve modules.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The modules.
    pub set: &'a ModuleSet,
    /// The configuration.
    pub config: &'a Config,
    /// Further formulas of the root module, in [`Checks::formulas`] of the result.
    pub formulas: &'a [Expr],
    /// The texts.
    pub sources: &'a SourceMap,
}

/// A resolved specification with the warnings about it.
#[derive(Clone, Debug)]
pub struct ResolvedSpecification {
    /// The specification.
    pub specification: Specification,
    /// What probably is not intended.
    pub warnings: Vec<Diagnostic>,
}

/// Resolves a specification. All operators of all its modules are checked first, whether or not they are used.
pub fn resolve(request: Request<'_>) -> Result<ResolvedSpecification, Vec<Diagnostic>> {
    with_stack(|| {
        let errors = check_modules(request.set);
        match errors.is_empty() {
            true => resolve_checked(request),
            false => Err(errors),
        }
    })
}

/// Checks the names, arities and levels of all modules, each on its own.
pub fn check(set: &ModuleSet) -> Vec<Diagnostic> {
    with_stack(|| check_modules(set))
}

/// An operator of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperatorSummary {
    /// The name.
    pub name: String,
    /// The number of parameters.
    pub arity: usize,
    /// The level if all arguments are constants.
    pub level: tree::Level,
}

/// Returns the operators that the text of the root module defines, in their order.
pub fn operators_of_root(set: &ModuleSet) -> Vec<OperatorSummary> {
    with_stack(|| {
        let mut resolver = Resolver::new(set, Vec::new());
        resolver.check_module(set.root(), None);
        let written = |it: &&tree::Definition| {
            it.origin == tree::DefinitionOrigin::Module
                && it.module == *set.root().name.text
                && it.captured == 0
                && !it.name.contains('!')
        };
        let summary = |it: &tree::Definition| OperatorSummary {
            name: it.name.clone(),
            arity: it.parameters.len(),
            level: it.level,
        };
        resolver.definitions.iter().filter(written).map(summary).collect()
    })
}

/// Runs a function with enough stack for the deepest texts.
fn with_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, run).expect("a thread can be started");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn check_modules(set: &ModuleSet) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    for &index in &set.order {
        let mut resolver = Resolver::new(set, Vec::new());
        resolver.check_module(&set.modules[index], None);
        errors.append(&mut resolver.errors);
    }
    errors
}

fn resolve_checked(request: Request<'_>) -> Result<ResolvedSpecification, Vec<Diagnostic>> {
    let Request { set, config, formulas, sources } = request;
    let config_formulas = ConfigFormulas::new(config);
    let mut resolver = Resolver::new(set, strings::ordered(set, config, sources));
    let root = resolver.own_environment(set.root(), None);
    resolver.apply_settings(root, config);
    for module in &set.modules {
        let text = &sources.file(module.span.file).text;
        resolver.warnings.extend(pluscal::warnings(text, module));
    }
    let mut builder = CheckBuilder {
        resolver: &mut resolver,
        root,
        formulas: &config_formulas,
        checks: Checks::default(),
    };
    builder.build(config, formulas);
    let checks = builder.checks;
    resolver.build_pending();
    resolver.check_levels();
    resolver.check_assumptions(&checks.assumptions);
    match resolver.errors.is_empty() {
        true => Ok(resolver.finish(set.root(), checks)),
        false => Err(resolver.errors),
    }
}

impl<'a> Resolver<'a> {
    /// Checks all operators and assumptions of a module and of its inner modules.
    fn check_module(&mut self, module: &'a Module, parent: Option<NamePlace>) {
        let environment = self.own_environment(module, parent);
        for (index, unit) in module.units.iter().enumerate() {
            self.check_labels(unit);
            match unit {
                Unit::Definition { definition, .. } => {
                    let row = self.environment(environment).symbols.get(&definition.name.text);
                    match row.map(|it| it.symbol) {
                        Some(Symbol::Entry(entry)) => {
                            self.definition_of(entry);
                        }
                        Some(Symbol::Instance(instance)) => {
                            self.instance_environment(instance);
                        }
                        _ => {}
                    }
                }
                Unit::Module(inner) => {
                    self.check_module(inner, Some(NamePlace { environment, order: index + 1 }));
                }
                _ => {}
            }
        }
        let assumptions = self.add_assumptions(environment, module, true);
        self.add_theorems(environment, module);
        self.build_pending();
        self.build_substitutions();
        self.check_levels();
        self.check_assumptions(&assumptions);
    }

    /// Builds what instances substitute, so that its level is checked.
    fn build_substitutions(&mut self) {
        for index in 0..self.limits.len() {
            if let Symbol::Entry(entry) = self.limits[index].symbol {
                self.definition_of(entry);
            }
        }
        self.build_pending();
    }

    /// Returns the specification.
    fn finish(mut self, root: &Module, checks: Checks) -> ResolvedSpecification {
        self.compute_frame_use();
        self.mark_recursion();
        let state_variables = self.variables.len();
        let shift = state_variables as u32;
        for expr in &mut self.arena.expressions {
            if let expr::ExprKind::Variable(variable) = &mut expr.kind
                && variable.0 >= lowering::BOUND_VARIABLES
            {
                variable.0 = variable.0 - lowering::BOUND_VARIABLES + shift;
            }
        }
        self.variables.append(&mut self.bound_variables);
        let specification = Specification {
            module: root.name.text.to_string(),
            variables: self.variables,
            state_variables,
            constants: self.constants,
            definitions: self.definitions,
            expressions: self.arena.expressions,
            model_values: self.model_values,
            strings: self.strings,
            checks,
        };
        ResolvedSpecification { specification, warnings: self.warnings }
    }

    /// Marks the definitions that call themselves, directly or by others.
    fn mark_recursion(&mut self) {
        let count = self.definitions.len();
        let ranges = levels::ranges(&self.definitions, self.arena.expressions.len());
        let calls: Vec<Vec<usize>> = ranges
            .iter()
            .map(|range| {
                let mut called = Vec::new();
                for expr in &self.arena.expressions[range.start..range.end] {
                    expr.kind.for_each_definition(&mut |it| called.push(it.index()));
                }
                called.sort_unstable();
                called.dedup();
                called
            })
            .collect();
        for start in 0..count {
            let mut seen = vec![false; count];
            let mut open = calls[start].clone();
            while let Some(it) = open.pop() {
                if !std::mem::replace(&mut seen[it], true) {
                    open.extend(&calls[it]);
                }
            }
            self.definitions[start].is_recursive = seen[start];
        }
    }
}
