//! From text to programs: one module a language.
//!
//! A new language is a folder with a `LANGUAGE` ([`Language`]) and a line in [`LANGUAGES`]; nothing
//! outside knows one by name.

mod cursor;
mod diagnostics;
pub mod dve;
mod external_property;
mod language;
pub mod murphi;
pub mod name_suggestion;
pub mod pnml;
pub mod promela;
mod quantifier_expansion;
mod quote;
mod temporal_property;
mod token;

pub use external_property::{ExternalProperty, ExternalPropertyKind};
pub use language::{
    DrawModel, DrawnState, ForeignFlag, Language, LanguageOptions, MakeTrailWriter,
    ReadPropertyFile, StepSource, TrailEnd, TrailWriter,
};
pub use temporal_property::{
    CycleLabel, PropertySource, Proposition, TemporalProperty, TemporalSpec,
};

use crate::diag::Diagnostic;
use crate::ir::{EndRule, OverflowRule, Program, StateCondition};

/// All languages, in the order in which they are listed to users.
pub static LANGUAGES: &[&Language] =
    &[&dve::LANGUAGE, &murphi::LANGUAGE, &pnml::LANGUAGE, &promela::LANGUAGE];

/// What the command line may say about the meaning of a model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Constants to replace: name and value.
    pub defines: Vec<(String, i64)>,
    /// Macros to define, if the language has a preprocessor: name, perhaps with parameters, and text.
    pub macros: Vec<(String, String)>,
    /// What becomes of values outside their variable's domain, where the language leaves a choice.
    pub overflow: Option<OverflowRule>,
    /// What counts as a deadlock, where the language leaves a choice.
    pub deadlock: Option<EndRule>,
    /// How many instances a `run` in a loop may make, if the language has processes that come and
    /// go. One more is an error of the model then.
    pub slots: Option<u32>,
    /// How many slots there are for instances of processes, by their names, where `slots` says nothing. A search that needs
    /// one more ends with [`NoSlot`](crate::model::OutOfSlots), and can be made again with more.
    pub slots_by_process: Vec<(String, u32)>,
    /// Which of the model's claims belongs to the program, if the language has claims.
    pub claim: ClaimChoice,
    /// Whether what is sent to a full channel is lost, rather than waiting for room, if the language leaves that choice.
    pub lossy: bool,
    /// Conditions on states that are checked beside the properties of the model. Loading adds their texts to the sources.
    pub conditions: Vec<StateCondition>,
    /// The names of properties of the model that other searches of the same check decide. They do not count as unchecked.
    pub decided_elsewhere: Vec<String>,
}

impl Options {
    /// What is defined, as `-D` has it.
    pub fn definitions(&self) -> impl Iterator<Item = String> {
        let constants = self.defines.iter().map(|(name, value)| format!("{name}={value}"));
        constants.chain(self.macros.iter().map(|(name, text)| format!("{name}={text}")))
    }
}

/// Which claim of a model is searched with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClaimChoice {
    /// The first, if there is one.
    #[default]
    First,
    /// None.
    Omit,
    /// That of this name.
    Named(String),
}

/// A program and all that its messages need.
#[derive(Debug)]
pub struct LoadedModel {
    /// What the model means.
    pub program: Program,
    /// Advice about it.
    pub warnings: Vec<Diagnostic>,
    /// What was asked of it in temporal logic.
    pub property: Option<TemporalProperty>,
}
