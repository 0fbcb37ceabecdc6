//! Parameters of reductions: how each is specified, and the values that a selection gives them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A parameter of a reduction, as an entry of the table specifies it.
#[derive(Clone, Copy, Debug)]
pub struct ParameterSpec {
    /// The name in configuration files, JSON and documents.
    pub name: &'static str,
    /// The meaning and the default.
    pub summary: &'static str,
    /// The possible values.
    pub kind: ParameterKind,
    /// How the command line sets it.
    pub control: ParameterControl,
    /// Another parameter of the same reduction that excludes this one.
    pub excludes: Option<&'static str>,
}

/// The possible values of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParameterKind {
    /// True or false.
    Switch,
    /// One of some values.
    Choice(&'static [ChoiceValue]),
    /// A list of texts of one form.
    Names {
        /// The form, as help prints it: `NAME:down|up`.
        form: &'static str,
        /// Whether a text has the form.
        is_valid: fn(&str) -> bool,
    },
}

/// A value of a [`ParameterKind::Choice`].
#[derive(Clone, Copy, Debug)]
pub struct ChoiceValue {
    /// The name.
    pub name: &'static str,
    /// The meaning.
    pub summary: &'static str,
    /// Whether the reduction preserves infinite runs with it.
    pub preserves_runs: bool,
}

/// How the command line sets a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParameterControl {
    /// By a flag, which also selects the reduction: `--por stubborn`.
    Flag(FlagSpec),
    /// By an option for experts, which does not select the reduction: `-X por-proviso=levels`.
    Expert(ExpertOptionSpec),
    /// Not at all: only a configuration sets it.
    Configuration,
}

impl ParameterControl {
    /// Returns the flag, if a flag sets the parameter.
    pub fn flag(&self) -> Option<&FlagSpec> {
        match self {
            ParameterControl::Flag(flag) => Some(flag),
            ParameterControl::Expert(_) | ParameterControl::Configuration => None,
        }
    }

    /// Returns the option for experts, if one sets the parameter.
    pub fn expert(&self) -> Option<&ExpertOptionSpec> {
        match self {
            ParameterControl::Flag(_) | ParameterControl::Configuration => None,
            ParameterControl::Expert(option) => Some(option),
        }
    }
}

/// The option of `-X` that sets a parameter. Reductions may share an option.
#[derive(Clone, Copy, Debug)]
pub struct ExpertOptionSpec {
    /// The name.
    pub name: &'static str,
    /// The name of the value in help; empty for a switch.
    pub value_name: &'static str,
    /// The help of the command line.
    pub help: &'static str,
}

/// The flag of the command line that sets a parameter and selects its reduction.
#[derive(Clone, Copy, Debug)]
pub struct FlagSpec {
    /// The name, without dashes.
    pub name: &'static str,
    /// The name of the value in help; empty for a switch.
    pub value_name: &'static str,
    /// The help of the command line.
    pub help: &'static str,
    /// Whether the flag may be given without a value, which means all.
    pub bare: bool,
    /// The help of the value `off`, which excludes the reduction. `None` if there is no such value.
    pub off: Option<&'static str>,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParameterValue {
    /// Of a [`ParameterKind::Switch`].
    Switch(bool),
    /// Of a [`ParameterKind::Choice`].
    Choice(String),
    /// Of [`ParameterKind::Names`].
    Names(Vec<String>),
}

impl From<bool> for ParameterValue {
    fn from(value: bool) -> ParameterValue {
        ParameterValue::Switch(value)
    }
}

impl From<&str> for ParameterValue {
    fn from(value: &str) -> ParameterValue {
        ParameterValue::Choice(value.into())
    }
}

impl From<Vec<String>> for ParameterValue {
    fn from(values: Vec<String>) -> ParameterValue {
        ParameterValue::Names(values)
    }
}

impl ParameterKind {
    /// Whether a value is possible.
    pub fn accepts(&self, value: &ParameterValue) -> bool {
        match (self, value) {
            (ParameterKind::Switch, ParameterValue::Switch(_)) => true,
            (ParameterKind::Choice(values), ParameterValue::Choice(value)) => {
                values.iter().any(|it| it.name == value)
            }
            (ParameterKind::Names { is_valid, .. }, ParameterValue::Names(values)) => {
                values.iter().all(|it| is_valid(it))
            }
            _ => false,
        }
    }

    /// Describes the values: `true or false`, `exact, fast`, `a list of NAME`.
    pub fn describe(&self) -> String {
        match self {
            ParameterKind::Switch => "true or false".into(),
            ParameterKind::Choice(values) => {
                values.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
            }
            ParameterKind::Names { form, .. } => format!("a list of {form}"),
        }
    }
}

/// The values of a reduction's parameters. A parameter without a value has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ParameterValues(BTreeMap<String, ParameterValue>);

/// No values: all parameters have their defaults.
pub(super) static NO_PARAMETERS: ParameterValues = ParameterValues::DEFAULT;

impl ParameterValues {
    /// The default of every parameter.
    pub const DEFAULT: ParameterValues = ParameterValues(BTreeMap::new());

    /// Returns the same values with a new one for a parameter.
    pub fn with(mut self, name: &str, value: impl Into<ParameterValue>) -> ParameterValues {
        self.set(name, value);
        self
    }

    /// Sets the value of a parameter.
    pub fn set(&mut self, name: &str, value: impl Into<ParameterValue>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Returns the value of a parameter, if it has one.
    pub fn get(&self, name: &str) -> Option<&ParameterValue> {
        self.0.get(name)
    }

    /// Returns the value of a switch, if it has one.
    pub fn switch(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            ParameterValue::Switch(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the value of a choice, if it has one.
    pub fn choice(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            ParameterValue::Choice(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the texts of a list; empty if it has no value.
    pub fn names(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(ParameterValue::Names(values)) => values,
            _ => &[],
        }
    }

    /// Returns all parameters with values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}
