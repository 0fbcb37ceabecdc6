//! What a file asks of a model, and in which form that is answered.

use super::headings;
use crate::cli::languages;
use crate::model::CtlFormula;
use clap::Args;
use std::path::PathBuf;

/// What a file asks.
#[derive(Args, Clone, Debug, Default)]
pub struct QuestionArgs {
    /// Answer what this file asks.
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

/// What is asked beside conditions on states and properties of runs.
#[derive(Clone, Debug)]
pub(in crate::cli) enum StateSpaceQuery {
    /// What these variables come to at most, their numbers added up.
    UpperBound(Vec<String>),
    /// Whether a formula of branching time holds.
    Branching(CtlFormula<String>),
    /// Nothing that is supported, for this reason.
    Refused(String),
}

impl StateSpaceQuery {
    /// Whether all states of the model as it is written are needed for it.
    pub(in crate::cli) fn needs_all(&self) -> bool {
        !matches!(self, StateSpaceQuery::Refused(_))
    }

    /// The variables whose numbers are added up.
    pub(in crate::cli) fn variables(&self) -> Option<Vec<String>> {
        match self {
            StateSpaceQuery::UpperBound(variables) => Some(variables.clone()),
            StateSpaceQuery::Branching(_) | StateSpaceQuery::Refused(_) => None,
        }
    }

    /// The formula of branching time.
    pub(in crate::cli) fn formula(&self) -> Option<&CtlFormula<String>> {
        match self {
            StateSpaceQuery::Branching(formula) => Some(formula),
            StateSpaceQuery::UpperBound(_) | StateSpaceQuery::Refused(_) => None,
        }
    }
}
