//! From text to programs: one module a language.

pub mod dve;
pub mod murphi;
pub mod promela;
mod report;

use crate::diag::Diagnostic;
use crate::ir::{EndRule, Overflow, Program};
use crate::source::Sources;

/// A modelling language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// DiVinE's language, as the BEEM models use it.
    Dve,
    /// Murphi, as CMurphi and Rumur have it.
    Murphi,
    /// Promela, the language of SPIN.
    Promela,
}

impl Language {
    /// The language that files of this name are written in, going by the ending.
    pub fn of_file(name: &str) -> Option<Language> {
        match name.rsplit_once('.')?.1 {
            "dve" => Some(Language::Dve),
            "m" | "murphi" => Some(Language::Murphi),
            "pml" | "prom" | "promela" | "pr" | "prm" | "spin" | "pm" => Some(Language::Promela),
            _ => None,
        }
    }

    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Dve => "dve",
            Language::Murphi => "murphi",
            Language::Promela => "promela",
        }
    }

    /// The language of this name.
    pub fn from_name(name: &str) -> Option<Language> {
        [Language::Dve, Language::Murphi, Language::Promela]
            .into_iter()
            .find(|language| language.name() == name)
    }
}

/// What the command line may say about the meaning of a model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Constants to replace: name and value.
    pub defines: Vec<(String, i64)>,
    /// What becomes of values outside their variable's domain, where the language leaves a choice.
    pub overflow: Option<Overflow>,
    /// What counts as a deadlock, where the language leaves a choice.
    pub deadlock: Option<EndRule>,
    /// How many instances a `run` in a loop may make, if the language has processes that come and
    /// go.
    pub slots: Option<u32>,
    /// Which of the model's claims belongs to the program, if the language has claims.
    pub claim: ClaimChoice,
}

/// Which claim of a model is searched with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClaimChoice {
    /// The first, if there is one.
    #[default]
    First,
    /// None.
    Leave,
    /// That of this name.
    Named(String),
}

/// A program and all that its messages need.
#[derive(Debug)]
pub struct Loaded {
    /// What the model means.
    pub program: Program,
    /// Advice about it.
    pub warnings: Vec<Diagnostic>,
}

/// Parses, checks and lowers the model in file 0 of `sources`, which may gain included files.
pub fn load(
    language: Language,
    sources: &mut Sources,
    options: &Options,
) -> Result<Loaded, Vec<Diagnostic>> {
    match language {
        Language::Dve => dve::load(sources, options),
        Language::Murphi => murphi::load(sources, options),
        Language::Promela => promela::load(sources, options),
    }
}
