//! The searches that a check takes: one for the properties of states and steps, then one for each property of runs.

use super::config::{ALL_FORMULAS, CheckKind, PropertyConfig, SearchConfig};
use super::{CheckConfig, Error, Fairness, PropertyRequest, TextModel};
use crate::front::{ClaimChoice, CycleLabel};
use std::path::PathBuf;

/// The folder of the search for properties of states and steps.
const STATES_FOLDER: &str = "0-states";

/// A property of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunProperty {
    /// A formula, or the name of a property of the model.
    Formula(String),
    /// A file with an automaton that accepts the runs that violate it.
    Automaton(PathBuf),
    /// No acceptance cycle.
    Acceptance,
    /// No non-progress cycle.
    NonProgress,
}

impl RunProperty {
    /// Those that a configuration asks for, of a model.
    fn requested(properties: &PropertyConfig, model: &TextModel) -> Vec<RunProperty> {
        let own = model.run_properties();
        let formula = |name: &&str| RunProperty::Formula((*name).to_owned());
        let expanded = properties.run_properties().flat_map(|property| match &property {
            RunProperty::Formula(text) if text == ALL_FORMULAS && !own.contains(&ALL_FORMULAS) => {
                own.iter().map(formula).collect()
            }
            _ => vec![property],
        });
        let mut all: Vec<RunProperty> = Vec::new();
        for property in expanded {
            if !all.contains(&property) {
                all.push(property);
            }
        }
        all
    }

    /// As a model is read together with it.
    pub fn request(&self) -> PropertyRequest<'_> {
        match self {
            RunProperty::Formula(text) => PropertyRequest::Formula(text),
            RunProperty::Automaton(path) => PropertyRequest::Automaton(path),
            RunProperty::Acceptance => PropertyRequest::Labels(CycleLabel::Accept),
            RunProperty::NonProgress => PropertyRequest::Labels(CycleLabel::Progress),
        }
    }

    /// Has a configuration ask for this property alone.
    fn select(&self, properties: &mut PropertyConfig) {
        match self {
            RunProperty::Formula(text) => properties.ltl = vec![text.clone()],
            RunProperty::Automaton(path) => properties.automata = vec![path.clone()],
            RunProperty::Acceptance => properties.acceptance = true,
            RunProperty::NonProgress => properties.non_progress = true,
        }
    }

    /// The name of a folder for its search, beside those of other properties.
    fn folder(&self, number: usize) -> String {
        let word = match self {
            RunProperty::Formula(_) => "ltl",
            RunProperty::Automaton(_) => "automaton",
            RunProperty::Acceptance => "acceptance",
            RunProperty::NonProgress => "non-progress",
        };
        format!("{number}-{word}")
    }
}

/// One of the searches of a check.
#[derive(Clone, Debug)]
pub struct PlannedSearch {
    /// The name of its folder, in the directory of a check that takes several searches.
    pub folder: String,
    /// What it checks, and how.
    pub config: CheckConfig,
    /// The property of runs that it checks; nothing if it checks properties of states and steps.
    pub property: Option<RunProperty>,
}

/// The searches of a check, in order.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    /// At least one.
    pub searches: Vec<PlannedSearch>,
}

impl CheckPlan {
    /// The searches that decide what a configuration asks for, of a model. Where it asks for nothing in particular, these
    /// are all properties of the model, if it has several properties of runs.
    ///
    /// # Errors
    ///
    /// If all properties of runs of the model are asked for, and it has none.
    pub fn of(config: &CheckConfig, model: &TextModel) -> Result<CheckPlan, Error> {
        let properties = &config.properties;
        let asks_runs = properties.asks_runs();
        let mut runs = RunProperty::requested(properties, model);
        if asks_runs && runs.is_empty() {
            return Err(Error::NoRunProperty(model.name().to_owned()));
        }
        let own = model.run_properties();
        let is_default = !asks_runs && config.checks_model_properties();
        if is_default && model.own_property().is_none() {
            runs = own.iter().map(|&it| RunProperty::Formula(it.to_owned())).collect();
        }
        let is_decided = |name: &&str| runs.contains(&RunProperty::Formula((*name).to_owned()));
        let decided: Vec<String> = own.into_iter().filter(is_decided).map(str::to_owned).collect();
        let states = (!asks_runs || properties.asks_states()).then(|| {
            let leaves_out_claim = model.language.options.model_property
                && (asks_runs || !runs.is_empty() && model.accepting_claim().is_some());
            states_config(config, leaves_out_claim, &decided)
        });
        let states = states.map(|config| PlannedSearch {
            folder: STATES_FOLDER.to_owned(),
            config,
            property: None,
        });
        let runs = runs.into_iter().zip(1..).map(|(property, number)| PlannedSearch {
            folder: property.folder(number),
            config: run_config(config, &property, &decided),
            property: Some(property),
        });
        Ok(CheckPlan { searches: states.into_iter().chain(runs).collect() })
    }

    /// The folders of the searches, in order.
    pub fn folders(&self) -> Vec<String> {
        self.searches.iter().map(|it| it.folder.clone()).collect()
    }
}

/// The configuration of the search for properties of states and steps.
fn states_config(config: &CheckConfig, leaves_out_claim: bool, decided: &[String]) -> CheckConfig {
    let mut states = config.clone();
    let properties = &mut states.properties;
    if properties.asks_runs() {
        properties.only.get_or_insert_with(|| vec![CheckKind::Invariant]);
    }
    (properties.ltl, properties.automata) = (Vec::new(), Vec::new());
    (properties.acceptance, properties.non_progress) = (false, false);
    (properties.finite_runs, properties.fairness) = (None, Fairness::default());
    properties.decided_elsewhere = decided.to_vec();
    states.model.no_claim |= leaves_out_claim;
    states
}

/// The configuration of the search for a run that violates a property.
fn run_config(config: &CheckConfig, property: &RunProperty, decided: &[String]) -> CheckConfig {
    let mut runs = config.clone();
    let PropertyConfig { finite_runs, fairness, strict, .. } = config.properties;
    let decided_elsewhere = decided.to_vec();
    runs.properties = PropertyConfig {
        finite_runs,
        fairness,
        strict,
        decided_elsewhere,
        ..PropertyConfig::default()
    };
    property.select(&mut runs.properties);
    let SearchConfig { shortest, no_coverage, .. } = config.search;
    runs.search = SearchConfig { shortest, no_coverage, ..SearchConfig::default() };
    runs
}

impl PropertyConfig {
    /// The properties of runs that are asked for, as they are written.
    pub fn run_properties(&self) -> impl Iterator<Item = RunProperty> {
        let formulas = self.ltl.iter().cloned().map(RunProperty::Formula);
        let automata = self.automata.iter().cloned().map(RunProperty::Automaton);
        let accept = self.acceptance.then_some(RunProperty::Acceptance);
        let progress = self.non_progress.then_some(RunProperty::NonProgress);
        formulas.chain(automata).chain(accept).chain(progress)
    }
}

impl CheckConfig {
    /// Whether the properties of runs that a model brings with it are checked: nothing in particular is asked for.
    pub fn checks_model_properties(&self) -> bool {
        let CheckConfig { model, properties, search, .. } = self;
        let is_said = properties.asks_states() || properties.no_deadlock || search.keep_going;
        !is_said && model.claim_choice() == ClaimChoice::First
    }
}
