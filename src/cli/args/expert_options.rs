//! The table of the options for experts, which `-X NAME=VALUE` sets.
//!
//! An option is a parameter of reductions, an option of a store, or a key of the configuration. The first come from
//! [`REDUCTIONS`], the second from [`STORES`], the third from `CONFIGURATION_OPTIONS`. Parsing, `-X help`, the help of
//! `-X`, shell completions, the manual page and the table in `docs/reference/command-line.md` come from [`all`].

use crate::cli::languages;
use crate::reduce::parameters::{ChoiceValue, ParameterKind, ParameterSpec, ParameterValue};
use crate::reduce::{REDUCTIONS, ReductionEntry};
use crate::session::{CheckConfig, STORES, StoreEntry, StoreOption, StoreOptionError};
use serde::de::{DeserializeOwned, IntoDeserializer};
use std::num::{NonZeroU8, ParseIntError};
use thiserror::Error;

/// An option for experts.
#[derive(Clone, Debug)]
pub struct ExpertOption {
    /// The name.
    pub name: &'static str,
    /// The name of the value in help; empty for a switch.
    pub value_name: &'static str,
    /// The meaning and the default.
    pub help: String,
    /// The possible values. Empty if there are too many to list.
    pub values: Vec<ValueMeaning>,
    /// The commands that have the option.
    pub commands: &'static [&'static str],
    /// What it sets.
    pub target: ExpertTarget,
}

/// A possible value of an option.
#[derive(Clone, Copy, Debug)]
pub struct ValueMeaning {
    /// The value.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

/// What an option for experts sets.
#[derive(Clone, Debug)]
pub enum ExpertTarget {
    /// A key of the configuration.
    Configuration(SetKeyFn),
    /// An option of a store.
    Store(&'static StoreOption),
    /// A parameter of one reduction or of several.
    Parameter(Vec<ParameterTarget>),
}

/// Sets a key of the configuration to the value of a text.
pub type SetKeyFn = fn(&mut CheckConfig, &str) -> Result<(), ExpertOptionError>;

/// A parameter of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct ParameterTarget {
    /// The reduction.
    pub entry: &'static ReductionEntry,
    /// The parameter.
    pub spec: &'static ParameterSpec,
}

/// The reason why a text is no option with a value.
#[derive(Debug, Error)]
pub enum ExpertOptionError {
    /// The command has no option of this name.
    #[error("there is no option `{name}`; `-X help` lists them: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names of the options of the command.
        known: String,
    },
    /// The option needs a value.
    #[error("`{name}` needs a value: -X {form}")]
    NoValue {
        /// The option.
        name: &'static str,
        /// The option with a value, as help prints it.
        form: String,
    },
    /// The option has other values.
    #[error("the values of `{name}` are {values}")]
    WrongValue {
        /// The option.
        name: &'static str,
        /// Its values.
        values: String,
    },
    /// The configuration has no such value.
    #[error(transparent)]
    Key(#[from] serde::de::value::Error),
    /// The text is no number of slots.
    #[error("expected a number from 1 to {}", u8::MAX)]
    Slots(#[from] ParseIntError),
    /// The store does not take the value.
    #[error(transparent)]
    Store(#[from] StoreOptionError),
}

/// An option that sets a key of the configuration.
struct ConfigurationOption {
    name: &'static str,
    value_name: &'static str,
    help: fn() -> String,
    values: &'static [ValueMeaning],
    commands: &'static [&'static str],
    set: SetKeyFn,
}

/// The commands that read a model.
const READING: &[&str] = &["check", "explain", "explore", "graph", "hunt", "simulate"];
/// The commands that plan a search.
const PLANNING: &[&str] = &["check", "explain"];
/// The commands that store states.
const STORING: &[&str] = &["check"];

/// The values of a switch.
const SWITCH: [ValueMeaning; 2] = [
    ValueMeaning { name: "true", meaning: "The same as without a value" },
    ValueMeaning { name: "false", meaning: "Off" },
];

/// The orders of variables.
const KEY_ORDERS: &[ValueMeaning] = &[
    ValueMeaning { name: "declared", meaning: "The order of declaration" },
    ValueMeaning {
        name: "static",
        meaning: "An order computed from the processes and channels that own the variables",
    },
    ValueMeaning {
        name: "sampled",
        meaning: "The order that compresses a sample of the states best",
    },
];

/// The options that belong to no reduction and to no store.
static CONFIGURATION_OPTIONS: &[ConfigurationOption] = &[
    ConfigurationOption {
        name: "slots",
        value_name: "N",
        help: || {
            format!(
                "The number of instances that a `run` in a loop may create, from 1 to {} ({}) [default: from a survey \
                 of the model]",
                u8::MAX,
                languages::titles(|it| it.options.slots.is_some())
            )
        },
        values: &[],
        commands: READING,
        set: |config, text| {
            config.model.slots = Some(text.parse::<NonZeroU8>()?.get().into());
            Ok(())
        },
    },
    ConfigurationOption {
        name: "key-order",
        value_name: "ORDER",
        help: || "The order of the variables in stored states [default: declared]".into(),
        values: KEY_ORDERS,
        commands: PLANNING,
        set: |config, text| {
            config.search.key_order = key_value(text)?;
            Ok(())
        },
    },
];

/// Reads the value of a key by its name in configuration files.
fn key_value<T: DeserializeOwned>(text: &str) -> Result<T, serde::de::value::Error> {
    T::deserialize(text.into_deserializer())
}

/// Returns the options of all commands, each once.
pub fn all() -> Vec<ExpertOption> {
    let of_configuration = CONFIGURATION_OPTIONS.iter().map(|it| ExpertOption {
        name: it.name,
        value_name: it.value_name,
        help: (it.help)(),
        values: it.values.to_vec(),
        commands: it.commands,
        target: ExpertTarget::Configuration(it.set),
    });
    let of_stores = STORES
        .iter()
        .flat_map(|store| store.options.iter().map(move |option| of_store(store, option)));
    of_configuration.chain(of_parameters()).chain(of_stores).collect()
}

/// Returns the options of a command.
pub fn of_command(command: &str) -> Vec<ExpertOption> {
    let mut options = all();
    options.retain(|it| it.commands.contains(&command));
    options
}

fn of_store(store: &StoreEntry, option: &'static StoreOption) -> ExpertOption {
    let values = option.values.iter().map(|&(name, meaning)| ValueMeaning { name, meaning });
    ExpertOption {
        name: option.name,
        value_name: option.value_name,
        help: format!("For --store {}: {}", store.name, option.help),
        values: values.collect(),
        commands: STORING,
        target: ExpertTarget::Store(option),
    }
}

/// Returns the options that set parameters of reductions. Parameters with the same option share one entry.
fn of_parameters() -> Vec<ExpertOption> {
    let mut options: Vec<ExpertOption> = Vec::new();
    for entry in REDUCTIONS {
        for spec in entry.parameters {
            let Some(option) = spec.control.expert() else { continue };
            let target = ParameterTarget { entry, spec };
            let of_other = options.iter_mut().find(|it| it.name == option.name);
            match of_other.map(|it| &mut it.target) {
                Some(ExpertTarget::Parameter(targets)) => targets.push(target),
                _ => options.push(ExpertOption {
                    name: option.name,
                    value_name: option.value_name,
                    help: option.help.into(),
                    values: values_of(spec.kind),
                    commands: PLANNING,
                    target: ExpertTarget::Parameter(vec![target]),
                }),
            }
        }
    }
    options
}

fn values_of(kind: ParameterKind) -> Vec<ValueMeaning> {
    match kind {
        ParameterKind::Switch => SWITCH.to_vec(),
        ParameterKind::Choice(values) => {
            let meaning = |it: &ChoiceValue| ValueMeaning { name: it.name, meaning: it.summary };
            values.iter().map(meaning).collect()
        }
        ParameterKind::Names { .. } => Vec::new(),
    }
}

impl ExpertOption {
    /// Returns whether the option may be given without a value.
    pub fn is_switch(&self) -> bool {
        self.value_name.is_empty()
    }

    /// Returns the option as help prints it: `por-proviso=PROVISO`, `check-reversible`.
    pub fn form(&self) -> String {
        match self.is_switch() {
            true => self.name.into(),
            false => format!("{}={}", self.name, self.value_name),
        }
    }

    /// Returns the option with a value as a user gives it: `-X por-proviso=levels`, `-X check-reversible`.
    pub fn as_given(&self, value: &str) -> String {
        match self.is_switch() && value == SWITCH[0].name {
            true => format!("-X {}", self.name),
            false => format!("-X {}={value}", self.name),
        }
    }

    /// Returns the value that a text sets. A switch without a text is on.
    ///
    /// # Errors
    ///
    /// If the option does not take the value.
    pub fn value(&self, text: Option<&str>) -> Result<String, ExpertOptionError> {
        let text = match text {
            Some(text) => text,
            None if self.is_switch() => SWITCH[0].name,
            None => {
                return Err(ExpertOptionError::NoValue { name: self.name, form: self.form() });
            }
        };
        let wrong = |values| ExpertOptionError::WrongValue { name: self.name, values };
        if !self.values.is_empty() && self.values.iter().all(|it| it.name != text) {
            let names: Vec<&str> = self.values.iter().map(|it| it.name).collect();
            return Err(wrong(names.join(", ")));
        }
        if let Some((targets, value)) = self.parameter(text)
            && let Some(target) = targets.iter().find(|it| !it.spec.kind.accepts(&value))
        {
            return Err(wrong(target.spec.kind.describe()));
        }
        self.set(text, &mut CheckConfig::default())?;
        Ok(text.to_owned())
    }

    /// Sets a key of the configuration. Parameters of reductions depend on the selection, so
    /// [`parameter`](ExpertOption::parameter) gives their values.
    ///
    /// # Errors
    ///
    /// If the option does not take the value.
    pub fn set(&self, text: &str, config: &mut CheckConfig) -> Result<(), ExpertOptionError> {
        match &self.target {
            ExpertTarget::Configuration(set) => set(config, text),
            ExpertTarget::Store(option) => Ok((option.set)(&mut config.search, text)?),
            ExpertTarget::Parameter(_) => Ok(()),
        }
    }

    /// Returns the parameters that the option sets, and their value for a text. `None` if it sets no parameters.
    pub fn parameter(&self, text: &str) -> Option<(&[ParameterTarget], ParameterValue)> {
        let ExpertTarget::Parameter(targets) = &self.target else { return None };
        let value = match targets.first()?.spec.kind {
            ParameterKind::Switch => (text == SWITCH[0].name).into(),
            ParameterKind::Choice(_) => text.into(),
            ParameterKind::Names { .. } => {
                text.split(',').map(|it| it.trim().to_owned()).collect::<Vec<_>>().into()
            }
        };
        Some((targets, value))
    }
}
