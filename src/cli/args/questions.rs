//! The questions of a property file, and the form of the answers.

use super::headings;
use crate::cli::languages;
use crate::model::CtlFormula;
use clap::Args;
use std::path::PathBuf;

/// The questions of a property file.
#[derive(Args, Clone, Debug, Default)]
pub struct QuestionArgs {
    /// Answer the properties in this file.
    #[arg(help_heading = headings::PROPERTIES, long = "property", value_name = "FILE", conflicts_with_all = ["ltl", "automaton", "acceptance", "non_progress", "shortest"], help = format!(
        "Answer the properties in this file, in the format of the Model Checking Contest ({})",
        languages::titles(|it| it.read_properties.is_some())
    ))]
    pub property_file: Option<PathBuf>,
    /// Answer only these properties of --property
    #[arg(help_heading = headings::PROPERTIES, long = "question", value_name = "NAME", requires = "property_file")]
    pub questions: Vec<String>,
    /// Print only the lines of the Model Checking Contest.
    #[arg(help_heading = headings::OUTPUT, long, conflicts_with_all = ["json", "spin_trail", "ltl", "automaton", "acceptance", "non_progress"], help = format!(
        "Print only the lines of the contest: the answers to --property, or the size of the state space ({})",
        languages::titles(|it| it.read_properties.is_some())
    ))]
    pub mcc: bool,
}

/// A question other than a condition on states or a property of runs.
#[derive(Clone, Debug)]
pub(in crate::cli) enum StateSpaceQuery {
    /// The greatest sum of these variables.
    UpperBound(Vec<String>),
    /// Whether a formula of branching time holds.
    Branching(CtlFormula<String>),
    /// Not supported, for this reason.
    Refused(String),
}

impl StateSpaceQuery {
    /// Returns whether the answer needs all states of the model as written.
    pub(in crate::cli) fn needs_all(&self) -> bool {
        !matches!(self, StateSpaceQuery::Refused(_))
    }

    /// Returns the variables of the sum.
    pub(in crate::cli) fn variables(&self) -> Option<Vec<String>> {
        match self {
            StateSpaceQuery::UpperBound(variables) => Some(variables.clone()),
            StateSpaceQuery::Branching(_) | StateSpaceQuery::Refused(_) => None,
        }
    }

    /// Returns the formula of branching time.
    pub(in crate::cli) fn formula(&self) -> Option<&CtlFormula<String>> {
        match self {
            StateSpaceQuery::Branching(formula) => Some(formula),
            StateSpaceQuery::UpperBound(_) | StateSpaceQuery::Refused(_) => None,
        }
    }
}
