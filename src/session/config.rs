//! The configuration of a check in one value.
//!
//! A [`CheckConfig`] has four uses. The flags of the command line parse into it. A program that uses the library
//! builds it. `spillway check --config FILE.toml` reads it. A search directory stores it. Its keys are the long names
//! of the flags and the names of the options of `-X`. Each default is in the `Default` of its section.

pub use super::quantity::{
    DurationError, SizeError, format_duration, format_size, parse_duration, parse_size,
};

pub use super::sweep_config::{ConstantValues, ConstantValuesError, SweepConfig, split_list};

use super::{Fairness, KeyOrder, RunLimits, RunProperty, SearchOutputs};
use crate::model::{ConditionModality, EndRule, FiniteRunPolicy, OverflowRule, StateCondition};
#[cfg(feature = "languages")]
use crate::reduce::ReductionConfig;
use crate::search::comback::{CombackSettings, HashWidth, StateCacheConfig};
use crate::search::{CheckSelection, SearchLimits};
use crate::source;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

/// The configuration of a check: the model, its properties, the search, the limits and the outputs. That of a sweep also
/// has lists of values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct CheckConfig {
    /// How the model is read.
    pub model: ModelConfig,
    /// The properties that are checked.
    pub properties: PropertyConfig,
    /// How the state space is searched.
    pub search: SearchConfig,
    /// The limits of a session.
    pub limits: RunLimits,
    /// The files and commands at the end of the search.
    pub output: SearchOutputs,
    /// Lists of values of constants, each of which a sweep checks.
    #[serde(skip_serializing_if = "SweepConfig::is_empty")]
    pub sweep: SweepConfig,
}

/// The reason why a file has no valid configuration.
#[derive(Debug, Error)]
#[error("{}: {message}", match .line { Some(line) => format!("{}:{line}", .file.display()), None => .file.display().to_string() })]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// The line of the error, from 1. `None` if the file could not be read.
    pub line: Option<usize>,
    /// The description of the error.
    pub message: String,
}

impl CheckConfig {
    /// Reads a configuration from a file in TOML.
    pub fn read(path: &Path) -> Result<CheckConfig, ConfigError> {
        let failed = |line, message| ConfigError { file: path.to_path_buf(), line, message };
        let bytes = source::read(path).map_err(|error| failed(None, error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|it| failed(None, it.to_string()))?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|it| text[..it.start].matches('\n').count() + 1);
            failed(line, error.message().to_owned())
        })
    }

    /// Returns what a search checks and when it stops.
    pub fn search_limits(&self) -> SearchLimits {
        let SearchConfig { keep_going, stop_when_answered, shortest, no_coverage, no_dive, .. } =
            self.search;
        SearchLimits {
            checks: self.properties.checks(),
            stop_on_violation: !keep_going && !stop_when_answered,
            stop_within_level: false,
            stop_when_answered: stop_when_answered && !keep_going,
            max_states: self.limits.max_states,
            shortest,
            coverage: !no_coverage,
            hunts: !no_dive,
        }
    }
}

/// How a model is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ModelConfig {
    /// The name of the language. The default follows from the file name extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Constants and macros, in order.
    #[serde(rename = "define", skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<Definition>,
    /// The rule for values outside their variable's range, in languages that leave it open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow: Option<OverflowRule>,
    /// The definition of a deadlock, in languages that leave it open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadlock: Option<EndRule>,
    /// The number of instances that a `run` in a loop may start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// Whether messages that are sent to a full channel are lost.
    #[serde(skip_serializing_if = "is_false")]
    pub lossy: bool,
    /// The configuration file of a specification. The default is in the folder of the model's file.
    #[serde(rename = "cfg", skip_serializing_if = "Option::is_none")]
    pub configuration: Option<PathBuf>,
    /// Further folders with modules of a specification.
    #[serde(rename = "library", skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<PathBuf>,
    /// The name of the never claim of the program. The default is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// Whether the property of the model is left out.
    #[serde(skip_serializing_if = "is_false")]
    pub no_claim: bool,
}

/// A constant or macro that is defined outside the model: `NAME=VALUE`, or `NAME` alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Definition {
    /// The name. The name of a macro may include parameters.
    pub name: String,
    /// The value, if given.
    pub value: Option<String>,
}

/// A definition without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected NAME=VALUE, or NAME alone")]
pub struct DefinitionError;

impl Definition {
    /// Returns the value, if it is an integer.
    pub fn integer(&self) -> Option<i64> {
        self.value.as_ref()?.parse().ok()
    }

    /// Returns the expansion of a macro, 1 if no value is given.
    pub fn text(&self) -> &str {
        self.value.as_deref().unwrap_or("1")
    }
}

impl FromStr for Definition {
    type Err = DefinitionError;

    fn from_str(text: &str) -> Result<Definition, DefinitionError> {
        let (name, value) = match text.split_once('=') {
            None => (text, None),
            Some((name, value)) => (name, Some(value.trim().to_owned())),
        };
        match name.trim() {
            "" => Err(DefinitionError),
            name => Ok(Definition { name: name.to_owned(), value }),
        }
    }
}

impl TryFrom<String> for Definition {
    type Error = DefinitionError;

    fn try_from(text: String) -> Result<Definition, DefinitionError> {
        text.parse()
    }
}

impl From<Definition> for String {
    fn from(definition: Definition) -> String {
        let Definition { name, value } = definition;
        value.map_or(name.clone(), |value| format!("{name}={value}"))
    }
}

/// Selects all temporal properties of the model, in place of a formula or name.
pub const ALL_FORMULAS: &str = "all";

/// The properties that are checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PropertyConfig {
    /// Expressions of the model's language that must hold in every state.
    #[serde(rename = "invariant", skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<String>,
    /// Expressions of the model's language that must hold in some state.
    #[serde(rename = "cover", skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// Expressions of the model's language. States in which one does not hold are checked, and not expanded.
    #[serde(rename = "constraint", skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Named conditions, as in a file of questions.
    #[serde(rename = "condition", skip_serializing_if = "Vec::is_empty")]
    pub named_conditions: Vec<StateCondition>,
    /// The checks that count. The default is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<CheckKind>>,
    /// Whether states without successors are not violations.
    #[serde(skip_serializing_if = "is_false")]
    pub no_deadlock: bool,
    /// LTL formulas, or names of properties of the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ltl: Vec<String>,
    /// Files with automata that accept the violating runs.
    #[serde(rename = "automaton", skip_serializing_if = "Vec::is_empty")]
    pub automata: Vec<PathBuf>,
    /// Whether acceptance cycles are violations.
    #[serde(skip_serializing_if = "is_false")]
    pub acceptance: bool,
    /// Whether non-progress cycles are violations.
    #[serde(skip_serializing_if = "is_false")]
    pub non_progress: bool,
    /// The semantics of finite runs for temporal properties. The default depends on the property.
    #[serde(rename = "deadlock-runs", skip_serializing_if = "Option::is_none")]
    pub finite_runs: Option<FiniteRunPolicy>,
    /// Which runs are checked.
    #[serde(rename = "fair", skip_serializing_if = "is_default")]
    pub fairness: Fairness,
    /// Whether an unchecked property of the model counts as a violation.
    #[serde(skip_serializing_if = "is_false")]
    pub strict: bool,
    /// The names of properties of the model that other searches of the same check decide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decided_elsewhere: Vec<String>,
}

impl PropertyConfig {
    /// Returns the conditions on states that are checked in addition to the model's own properties, and the constraints.
    pub fn conditions(&self) -> Vec<StateCondition> {
        let unnamed = [
            (ConditionModality::Always, &self.invariants),
            (ConditionModality::Sometimes, &self.covers),
            (ConditionModality::Within, &self.constraints),
        ];
        let unnamed = unnamed.into_iter().flat_map(|(holds, texts)| {
            texts.iter().map(move |text| StateCondition::new(holds, text.as_str()))
        });
        unnamed.chain(self.named_conditions.iter().cloned()).collect()
    }

    /// Returns the selected temporal properties as they are written.
    pub fn run_properties(&self) -> impl Iterator<Item = RunProperty> {
        let formulas = self.ltl.iter().cloned().map(RunProperty::Formula);
        let automata = self.automata.iter().cloned().map(RunProperty::Automaton);
        let accept = self.acceptance.then_some(RunProperty::Acceptance);
        let progress = self.non_progress.then_some(RunProperty::NonProgress);
        formulas.chain(automata).chain(accept).chain(progress)
    }

    /// Returns whether temporal properties are selected.
    pub fn asks_runs(&self) -> bool {
        self.run_properties().next().is_some()
    }

    /// Returns whether safety properties are selected explicitly.
    pub fn asks_states(&self) -> bool {
        let is_property = |it: &StateCondition| it.holds != ConditionModality::Within;
        self.only.is_some() || self.conditions().iter().any(is_property)
    }

    /// Returns whether several properties are selected. All safety properties together count as one.
    pub fn are_several(&self) -> bool {
        let is_all = self.ltl.iter().any(|it| it == ALL_FORMULAS);
        is_all || self.run_properties().count() + usize::from(self.asks_states()) > 1
    }

    /// Selects exactly these safety checks.
    pub fn set_checks(&mut self, checks: CheckSelection) {
        let CheckSelection { deadlock, assertions, invariants, faults, claims } = checks;
        let all = [
            (CheckKind::Deadlock, deadlock),
            (CheckKind::Assert, assertions),
            (CheckKind::Invariant, invariants),
            (CheckKind::Error, faults),
            (CheckKind::Claim, claims),
        ];
        self.only = Some(all.into_iter().filter(|it| it.1).map(|it| it.0).collect());
        self.no_deadlock = false;
    }

    /// Returns the selected safety checks.
    pub fn checks(&self) -> CheckSelection {
        let is_selected = |kind| self.only.as_ref().is_none_or(|it| it.contains(&kind));
        CheckSelection {
            deadlock: is_selected(CheckKind::Deadlock) && !self.no_deadlock,
            assertions: is_selected(CheckKind::Assert),
            invariants: is_selected(CheckKind::Invariant),
            faults: is_selected(CheckKind::Error),
            claims: is_selected(CheckKind::Claim),
        }
    }
}

/// A kind of safety check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// States without a successor.
    Deadlock,
    /// Assertions.
    Assert,
    /// Invariants.
    Invariant,
    /// Run-time errors.
    Error,
    /// Never claims.
    Claim,
}

/// How a state space is searched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SearchConfig {
    /// Whether the search continues after violations, so that each violated property is found.
    #[serde(skip_serializing_if = "is_false")]
    pub keep_going: bool,
    /// Whether the search stops once each property of states is decided.
    #[serde(skip_serializing_if = "is_false")]
    pub stop_when_answered: bool,
    /// Whether a shortest counterexample is searched for.
    #[serde(skip_serializing_if = "is_false")]
    pub shortest: bool,
    /// Whether a search does without hunts, which look for a violation depth-first and at random.
    #[serde(skip_serializing_if = "is_false")]
    pub no_dive: bool,
    /// Whether executions of actions are not counted.
    #[serde(skip_serializing_if = "is_false")]
    pub no_coverage: bool,
    /// Which reductions are used.
    #[cfg(feature = "languages")]
    #[serde(skip_serializing_if = "is_default")]
    pub reductions: ReductionConfig,
    /// The order of the variables in stored states.
    #[serde(skip_serializing_if = "is_default")]
    pub key_order: KeyOrder,
    /// How states are stored.
    #[serde(skip_serializing_if = "is_default")]
    pub store: StoreKind,
    /// A file of byte frequencies for `huffman`. By default they come from a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huffman_table: Option<PathBuf>,
    /// The width of the hash for `comback`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comback_hash: Option<HashWidth>,
    /// The cache of reconstructed states for `comback`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comback_cache: Option<StateCacheConfig>,
}

impl SearchConfig {
    /// Returns whether the search for a violating run hunts. The run that a hunt finds is rarely a shortest one.
    pub fn hunts_for_runs(&self) -> bool {
        !self.no_dive && !self.shortest
    }

    /// Returns the settings of ComBack storage.
    pub fn comback(&self) -> CombackSettings {
        let CombackSettings { hash_bits, cache, groups } = CombackSettings::default();
        CombackSettings {
            hash_bits: self.comback_hash.map_or(hash_bits, HashWidth::bits),
            cache: self.comback_cache.unwrap_or(cache),
            groups,
        }
    }
}

/// How states are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreKind {
    /// As compressed differences between sorted states.
    #[default]
    Sorted,
    /// Uncompressed.
    Raw,
    /// Run-length encoded.
    Rle,
    /// As static Huffman codes.
    Huffman,
    /// As hashes and back-edges.
    Comback,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
