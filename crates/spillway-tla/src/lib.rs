//! TLA+ specifications as transition systems.
//!
//! A specification is a root module with the modules that it extends or instantiates, and a configuration file as TLC
//! reads it. It goes through these stages:
//!
//! | module | content |
//! | --- | --- |
//! | `syntax` | text to syntax tree: tokens, junction lists by column, operator precedence |
//! | `modules` | the search for modules, EXTENDS and INSTANCE |
//! | [`library`], [`level`] | the table of operators of standard modules, and levels |
//! | `config` | configuration files |
//! | `resolve` | syntax tree to resolved specification: names, arities, levels |
//! | `value` | values, their order, TLA+ text |
//! | `standard` | the standard modules' operators on values |
//! | `eval` | evaluation, initial states and successors as TLC generates them |
//! | `cells` | values as fixed-width cells with dictionaries |
//! | `system` | a specification as a state space |
//! | `cell_search` | a search in memory over cells |

pub mod cell_search;
pub mod cells;
pub mod config;
pub mod eval;
pub mod level;
pub mod library;
pub mod modules;
pub mod resolve;
pub mod standard;
pub mod syntax;
pub mod system;
pub mod value;

use modules::SearchPath;
use resolve::{Request, Resolved};
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span, read};
use std::path::Path;

/// Reads and resolves a specification: a root module, a configuration, and the modules that the root needs. Adds the
/// texts to the sources.
pub fn read_specification(
    root: &Path,
    config: &Path,
    search: &SearchPath,
    sources: &mut SourceMap,
) -> Result<Resolved, Vec<Diagnostic>> {
    let config = read_config(config, sources).map_err(|it| vec![it])?;
    let set = modules::load(root, search, sources).map_err(|it| vec![it])?;
    resolve::resolve(Request { set: &set, config: &config, formulas: &[], sources })
}

/// Reads a configuration. Adds its text to the sources.
pub fn read_config(path: &Path, sources: &mut SourceMap) -> Result<config::Config, Diagnostic> {
    let failed = |error: &dyn std::fmt::Display| {
        Diagnostic::error(Span::default(), format!("cannot read {}: {error}", path.display()))
    };
    let bytes = read(path).map_err(|error| failed(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| failed(&"it is no UTF-8"))?;
    let file = sources.add(path.display().to_string(), text);
    config::parse(file, &sources.file(file).text)
}
