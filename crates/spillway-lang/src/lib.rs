//! Front ends: from text to programs, one module for each language.
//!
//! A new language is a folder with a `LANGUAGE` ([`Language`]) and a line in [`LANGUAGES`]. Code outside this folder
//! names no language.

mod comment_syntax;
mod cursor;
mod diagnostics;
pub mod dve;
mod external_property;
mod language;
#[doc(hidden)]
pub mod ltl;
pub mod murphi;
pub mod name_suggestion;
pub mod pnml;
pub mod promela;
mod quantifier_expansion;
mod quote;
mod temporal_property;
pub mod tla;
mod token;

pub use comment_syntax::CommentSyntax;
pub use external_property::{ExternalProperty, ExternalPropertyKind};
pub use language::{
    DrawModel, DrawnState, ForeignFlag, Language, LanguageOptions, LoadModel, MakeTrailWriter,
    ModelForm, ReadPropertyFile, StepSource, TrailEnd, TrailWriter,
};
pub use temporal_property::{
    CycleLabel, PropertySource, Proposition, TemporalProperty, TemporalSpec,
};

use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{EndRule, OverflowRule, Program, StateCondition};

/// All languages, in the order in which they are listed to users.
pub static LANGUAGES: &[&Language] =
    &[&dve::LANGUAGE, &murphi::LANGUAGE, &pnml::LANGUAGE, &promela::LANGUAGE, &tla::LANGUAGE];

/// Options of the command line that affect the meaning of a model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Constants to replace: name and value.
    pub defines: Vec<(String, i64)>,
    /// Macros to define, if the language has a preprocessor: the name, optionally with parameters, and the text.
    pub macros: Vec<(String, String)>,
    /// The treatment of values outside their variable's domain, if the language leaves a choice.
    pub overflow: Option<OverflowRule>,
    /// The definition of a deadlock, if the language leaves a choice.
    pub deadlock: Option<EndRule>,
    /// The maximum number of instances that a `run` in a loop may create, if processes are created dynamically. One
    /// more is an error of the model.
    pub slots: Option<u32>,
    /// The number of slots for instances of each process, by its name, if `slots` is not given. A search that needs one
    /// more ends with [`NoSlot`](spillway_model::OutOfSlots), and can be repeated with more.
    pub slots_by_process: Vec<(String, u32)>,
    /// The claim that belongs to the program, if the language has claims.
    pub claim: ClaimChoice,
    /// Whether a message to a full channel is lost instead of blocking the sender, if the language leaves that choice.
    pub lossy: bool,
    /// Conditions on states that are checked in addition to the properties of the model. Loading adds their texts to
    /// the sources.
    pub conditions: Vec<StateCondition>,
    /// The names of properties of the model that other searches of the same check decide. They do not count as unchecked.
    pub decided_elsewhere: Vec<String>,
}

impl Options {
    /// Returns the definitions in the syntax of `-D`.
    pub fn definitions(&self) -> impl Iterator<Item = String> {
        let constants = self.defines.iter().map(|(name, value)| format!("{name}={value}"));
        constants.chain(self.macros.iter().map(|(name, text)| format!("{name}={text}")))
    }
}

/// The choice of the claim for a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClaimChoice {
    /// The first claim, if there is one.
    #[default]
    First,
    /// No claim.
    Omit,
    /// The claim of this name.
    Named(String),
}

/// A program and the data for its messages.
#[derive(Debug)]
pub struct LoadedModel {
    /// The program.
    pub program: Program,
    /// Warnings about the model.
    pub warnings: Vec<Diagnostic>,
    /// The temporal property to check.
    pub property: Option<TemporalProperty>,
    /// The names that the text declares and the program lacks.
    pub names: Vec<DeclaredName>,
}

/// A name that the text of a model declares and its program lacks: the program has the value of the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredName {
    /// The name.
    pub name: String,
    /// What it names.
    pub kind: DeclaredNameKind,
    /// The position of the name in its declaration.
    pub span: Span,
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredNameKind {
    /// A constant, or a value of an enumeration.
    Constant,
    /// A type.
    Type,
    /// A macro, or statements that a call inserts.
    Macro,
}

impl DeclaredName {
    pub(crate) fn new(name: &str, kind: DeclaredNameKind, span: Span) -> DeclaredName {
        DeclaredName { name: name.to_owned(), kind, span }
    }
}
