//! The searches of a check: one for the safety properties, then one for each temporal property.

use super::config::{ALL_FORMULAS, CheckKind, PropertyConfig, SearchConfig};
use super::{CheckConfig, Error, Fairness, PropertyRequest, RunProperty, TextModel};
use crate::front::{ClaimChoice, CycleLabel};

/// The folder of the search for safety properties.
const STATES_FOLDER: &str = "0-states";

impl RunProperty {
    /// Returns the temporal properties that a configuration selects for a model.
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

    /// Returns the request with which the model is read.
    pub fn request(&self) -> PropertyRequest<'_> {
        match self {
            RunProperty::Formula(text) => PropertyRequest::Formula(text),
            RunProperty::Automaton(path) => PropertyRequest::Automaton(path),
            RunProperty::Acceptance => PropertyRequest::Labels(CycleLabel::Accept),
            RunProperty::NonProgress => PropertyRequest::Labels(CycleLabel::Progress),
        }
    }

    /// Selects this property alone in a configuration.
    fn select(&self, properties: &mut PropertyConfig) {
        match self {
            RunProperty::Formula(text) => properties.ltl = vec![text.clone()],
            RunProperty::Automaton(path) => properties.automata = vec![path.clone()],
            RunProperty::Acceptance => properties.acceptance = true,
            RunProperty::NonProgress => properties.non_progress = true,
        }
    }

    /// Returns a folder name for its search. The name is unique within the check.
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
    /// The name of its folder in the directory of a check of several searches.
    pub folder: String,
    /// The configuration of the search.
    pub config: CheckConfig,
    /// The temporal property that it checks. `None`: it checks safety properties.
    pub property: Option<RunProperty>,
}

/// The searches of a check, in order.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    /// The searches, at least one.
    pub searches: Vec<PlannedSearch>,
}

impl CheckPlan {
    /// Plans the searches for a configuration and a model. If the configuration selects no property, and the model has
    /// several temporal properties, the searches check all properties of the model.
    ///
    /// # Errors
    ///
    /// If the configuration selects all temporal properties of the model, and it has none, or if there are temporal
    /// properties together with a constraint.
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
        if !runs.is_empty() && !properties.constraints.is_empty() {
            return Err(Error::ConstrainedRuns);
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

    /// Returns the folders of the searches, in order.
    pub fn folders(&self) -> Vec<String> {
        self.searches.iter().map(|it| it.folder.clone()).collect()
    }
}

/// Returns the configuration of the search for safety properties.
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

/// Returns the configuration of the search for a run that violates a property.
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
    let SearchConfig { shortest, no_dive, no_coverage, .. } = config.search;
    runs.search = SearchConfig { shortest, no_dive, no_coverage, ..SearchConfig::default() };
    runs
}

impl CheckConfig {
    /// Returns whether the model's own temporal properties are checked by default: no option restricts the check to
    /// safety properties.
    pub fn checks_model_properties(&self) -> bool {
        let CheckConfig { model, properties, search, .. } = self;
        let is_said = properties.asks_states() || properties.no_deadlock || search.keep_going;
        !is_said && model.claim_choice() == ClaimChoice::First
    }
}
