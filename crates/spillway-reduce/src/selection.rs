//! The reductions of a search, with their parameters: one type for flags, files, search directories and JSON.

use super::claim::FiniteRunPolicy;
use super::entry::{IncompatibilityKind, ReductionEntry};
use super::parameters::{ParameterValue, ParameterValues};
use super::{REDUCTIONS, ReductionKind, find_reduction};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use spillway_model::CheckSelection;
use std::collections::BTreeMap;
use thiserror::Error;

/// Reductions of the [table](super::REDUCTIONS), each with its parameters. Serialized, it is a map from names to
/// parameters: `{"dead": {}, "por": {"method": "conditional"}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReductionSelection {
    /// The parameters, by position in the table.
    chosen: BTreeMap<usize, ParameterValues>,
}

/// The reason why a selection of reductions is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectionError {
    /// The table has no such reduction.
    #[error("there is no reduction `{0}`")]
    UnknownReduction(String),
    /// The reduction has no such parameter.
    #[error("the reduction `{reduction}` has no parameter `{parameter}`")]
    UnknownParameter {
        /// The reduction.
        reduction: &'static str,
        /// The parameter.
        parameter: String,
    },
    /// The parameter does not allow the value.
    #[error("the parameter `{parameter}` of the reduction `{reduction}` is one of: {values}")]
    WrongValue {
        /// The reduction.
        reduction: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The possible values.
        values: String,
    },
    /// Two parameters of a reduction exclude each other.
    #[error(
        "the parameters `{one}` and `{other}` of the reduction `{reduction}` exclude each other"
    )]
    ExclusiveParameters {
        /// The reduction.
        reduction: &'static str,
        /// One parameter.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// Two reductions contradict each other.
    #[error("{reason}")]
    Contradiction {
        /// One reduction.
        one: &'static str,
        /// The other.
        other: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// A value of a parameter contradicts another reduction.
    #[error("the reduction `{other}` needs `{reduction}` with another {parameter} than {value}")]
    ContradictingParameter {
        /// The reduction with the parameter.
        reduction: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// The value that the other reduction needs.
        needed: &'static str,
        /// The other reduction.
        other: &'static str,
    },
}

impl ReductionSelection {
    /// Selects reductions with default parameters.
    ///
    /// # Panics
    ///
    /// If the table has no reduction of such a name.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> ReductionSelection {
        names.into_iter().fold(ReductionSelection::default(), |all, name| {
            all.with(name, ParameterValues::DEFAULT)
        })
    }

    /// Returns the selection with a reduction and its parameters.
    ///
    /// # Panics
    ///
    /// If the table has no reduction of this name.
    pub fn with(mut self, name: &str, parameters: ParameterValues) -> ReductionSelection {
        self.insert(name, parameters).unwrap_or_else(|error| panic!("{error}"));
        self
    }

    /// Returns the selection without a reduction.
    pub fn without(mut self, name: &str) -> ReductionSelection {
        self.remove(name);
        self
    }

    /// Adds a reduction, or replaces its parameters.
    pub fn insert(
        &mut self,
        name: &str,
        parameters: ParameterValues,
    ) -> Result<(), SelectionError> {
        let at = position(name).ok_or_else(|| SelectionError::UnknownReduction(name.into()))?;
        self.chosen.insert(at, parameters);
        Ok(())
    }

    /// Removes a reduction. Returns its parameters, if it was selected.
    pub fn remove(&mut self, name: &str) -> Option<ParameterValues> {
        self.chosen.remove(&position(name)?)
    }

    /// Whether a reduction is selected.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the parameters of a reduction, if it is selected.
    pub fn get(&self, name: &str) -> Option<&ParameterValues> {
        self.chosen.get(&position(name)?)
    }

    /// Returns the parameters of a reduction for modification.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut ParameterValues> {
        self.chosen.get_mut(&position(name)?)
    }

    /// Whether no reduction is selected.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Returns the selected reductions in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static ReductionEntry, &ParameterValues)> {
        self.chosen.iter().map(|(&at, parameters)| (REDUCTIONS[at], parameters))
    }

    /// Returns the selected reductions that satisfy a predicate.
    pub fn filtered(&self, is_kept: impl Fn(&ReductionEntry) -> bool) -> ReductionSelection {
        let kept = self.chosen.iter().filter(|(at, _)| is_kept(REDUCTIONS[**at]));
        ReductionSelection { chosen: kept.map(|(at, it)| (*at, it.clone())).collect() }
    }

    /// Whether a reduction of this kind is selected.
    pub fn has_kind(&self, kind: ReductionKind) -> bool {
        self.iter().any(|(entry, _)| entry.kind == kind)
    }

    /// Returns the union of both selections. The parameters of `others` have priority.
    pub fn and(mut self, others: &ReductionSelection) -> ReductionSelection {
        self.chosen.extend(others.chosen.iter().map(|(at, it)| (*at, it.clone())));
        self
    }

    /// Checks that parameters match their specifications, and that no two reductions contradict each other.
    pub fn validate(&self) -> Result<(), SelectionError> {
        for (entry, parameters) in self.iter() {
            parameters
                .iter()
                .try_for_each(|(name, value)| validate_parameter(entry, name, value))?;
            let exclusive = entry.parameters.iter().filter(|it| parameters.get(it.name).is_some());
            for (one, other) in exclusive.filter_map(|it| Some((it.name, it.excludes?))) {
                if parameters.get(other).is_some() {
                    let reduction = entry.name;
                    return Err(SelectionError::ExclusiveParameters { reduction, one, other });
                }
            }
            for it in entry.incompatible_with.iter().filter(|it| self.has(it.other)) {
                match it.kind {
                    IncompatibilityKind::Contradiction(reason) => {
                        let (one, other) = (entry.name, it.other);
                        return Err(SelectionError::Contradiction { one, other, reason });
                    }
                    IncompatibilityKind::OtherValue { parameter, default, needed } => {
                        let of_other = self.get(it.other).and_then(|it| it.choice(parameter));
                        let value = of_other.unwrap_or(default);
                        if value != needed {
                            return Err(SelectionError::ContradictingParameter {
                                reduction: it.other,
                                parameter,
                                value: value.to_owned(),
                                needed,
                                other: entry.name,
                            });
                        }
                    }
                    IncompatibilityKind::Unproven | IncompatibilityKind::OtherSteps => {}
                }
            }
        }
        Ok(())
    }
}

fn position(name: &str) -> Option<usize> {
    REDUCTIONS.iter().position(|it| it.name == name)
}

fn validate_parameter(
    entry: &ReductionEntry,
    name: &str,
    value: &ParameterValue,
) -> Result<(), SelectionError> {
    let reduction = entry.name;
    let Some(spec) = entry.parameters.iter().find(|it| it.name == name) else {
        return Err(SelectionError::UnknownParameter { reduction, parameter: name.into() });
    };
    match spec.kind.accepts(value) {
        true => Ok(()),
        false => Err(SelectionError::WrongValue {
            reduction,
            parameter: spec.name,
            values: spec.kind.describe(),
        }),
    }
}

impl Serialize for ReductionSelection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(entry, parameters)| (entry.name, parameters)))
    }
}

impl<'de> Deserialize<'de> for ReductionSelection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let named = BTreeMap::<String, ParameterValues>::deserialize(deserializer)?;
        let mut selection = ReductionSelection::default();
        for (name, parameters) in named {
            selection.insert(&name, parameters).map_err(D::Error::custom)?;
        }
        selection.validate().map_err(D::Error::custom)?;
        Ok(selection)
    }
}

/// Reductions and the checks of a search. Both decide which reductions apply, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReductionPlan {
    /// The selected reductions.
    pub selection: ReductionSelection,
    /// The selected checks.
    pub checks: CheckSelection,
    /// The meaning of finite runs, if the claim is checked on infinite runs.
    pub finite_runs: Option<FiniteRunPolicy>,
}

impl ReductionPlan {
    /// Creates a plan for some checks.
    pub fn new(selection: ReductionSelection, checks: CheckSelection) -> ReductionPlan {
        ReductionPlan { selection, checks, finite_runs: None }
    }

    /// Creates a plan of reductions with default parameters, for all checks.
    ///
    /// # Panics
    ///
    /// If the table has no reduction of such a name.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> ReductionPlan {
        ReductionPlan::new(ReductionSelection::of(names), CheckSelection::ALL)
    }

    /// Returns the plan with another selection.
    pub fn with_selection(&self, selection: ReductionSelection) -> ReductionPlan {
        ReductionPlan { selection, ..self.clone() }
    }

    /// Returns the plan with another reduction added.
    ///
    /// # Panics
    ///
    /// If the table has no reduction of this name.
    pub fn with(&self, name: &str, parameters: ParameterValues) -> ReductionPlan {
        self.with_selection(self.selection.clone().with(name, parameters))
    }

    /// Returns the plan without reductions of a kind.
    pub fn without_kind(&self, kind: ReductionKind) -> ReductionPlan {
        self.with_selection(self.selection.filtered(|it| it.kind != kind))
    }

    /// Returns the parameters of a reduction, if it is selected.
    pub fn get(&self, name: &str) -> Option<&ParameterValues> {
        self.selection.get(name)
    }
}

/// The way a user selects the reductions of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReductionMode {
    /// Those that pay, according to samples of the states.
    #[default]
    Auto,
    /// Only the listed ones.
    Listed,
}

/// The request of a user: `auto` or a list, with parameters, and exclusions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReductionConfig {
    /// The reductions that are used in addition to the listed ones.
    pub mode: ReductionMode,
    /// The names of reductions that are not used in any mode.
    pub exclude: Vec<String>,
    /// The listed reductions. In a file: `[reductions.use.por]`.
    #[serde(rename = "use")]
    pub selection: ReductionSelection,
}

impl From<ReductionSelection> for ReductionConfig {
    fn from(selection: ReductionSelection) -> ReductionConfig {
        ReductionConfig { mode: ReductionMode::Listed, exclude: Vec::new(), selection }
    }
}

impl From<ReductionPlan> for ReductionConfig {
    /// Converts a plan. The checks are those of the search.
    fn from(plan: ReductionPlan) -> ReductionConfig {
        plan.selection.into()
    }
}

/// A [`ReductionConfig`] resolved for one search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReductionRequest {
    /// The reductions that are used wherever they apply.
    pub selection: ReductionSelection,
    /// Whether trials on the first states may add reductions.
    pub is_tried: bool,
}

impl From<ReductionSelection> for ReductionRequest {
    /// Requests exactly these reductions.
    fn from(selection: ReductionSelection) -> ReductionRequest {
        ReductionRequest { selection, is_tried: false }
    }
}

impl ReductionConfig {
    /// Requests no reduction.
    pub fn none() -> ReductionConfig {
        ReductionSelection::default().into()
    }

    /// Requests the reductions that pay.
    pub fn auto() -> ReductionConfig {
        ReductionConfig::default()
    }

    /// Whether a reduction is listed explicitly.
    pub fn lists(&self, name: &str) -> bool {
        self.mode == ReductionMode::Listed && self.selection.has(name)
    }

    /// Checks names and parameters.
    pub fn validate(&self) -> Result<(), SelectionError> {
        let unknown = self.exclude.iter().find(|it| find_reduction(it).is_none());
        match unknown {
            Some(name) => Err(SelectionError::UnknownReduction(name.clone())),
            None => self.selection.validate(),
        }
    }

    /// Resolves the request for a search.
    pub fn resolve(&self) -> ReductionRequest {
        let is_auto = self.mode != ReductionMode::Listed;
        let base = match is_auto {
            true => automatic(),
            false => ReductionSelection::default(),
        };
        let selection = self.without_excluded(base.and(&self.selection));
        let is_tried = is_auto && self.may_try_order(&selection);
        ReductionRequest { selection: with_joint_resets(selection, is_tried), is_tried }
    }

    /// Resolves the request for a check of infinite runs: only reductions that preserve them. `is_fair` says whether only
    /// weakly fair runs are checked. Those that a trial may add do not preserve these.
    pub fn resolve_for_runs(&self, is_fair: bool) -> ReductionRequest {
        let is_auto = self.mode != ReductionMode::Listed;
        let base = if is_auto { automatic() } else { ReductionSelection::default() };
        let selection = self.without_excluded(base.and(&self.selection));
        let selection = selection.filtered(|it| it.preserves_runs(is_fair));
        let is_tried = is_auto && !is_fair && self.may_try_order(&selection);
        ReductionRequest { selection: with_joint_resets(selection, is_tried), is_tried }
    }

    /// Whether trials may add partial order to a selection.
    fn may_try_order(&self, selection: &ReductionSelection) -> bool {
        !selection.has_kind(ReductionKind::Choice) && !self.exclude.iter().any(|it| it == "por")
    }

    fn without_excluded(&self, selection: ReductionSelection) -> ReductionSelection {
        selection.filtered(|entry| !self.exclude.iter().any(|it| it == entry.name))
    }
}

/// Returns the reductions that `auto` uses without a trial.
fn automatic() -> ReductionSelection {
    REDUCTIONS
        .iter()
        .filter_map(|it| Some((it.name, it.automatic_use()?)))
        .fold(ReductionSelection::default(), |all, (name, parameters)| all.with(name, parameters))
}

/// Sets the default of joint resets: resets of variables that are dead only with several processes at certain
/// locations. They add guards over other processes' locations. So they are made only if no selected reduction depends
/// on the readers of locations, unless the selection sets the parameter.
fn with_joint_resets(mut selection: ReductionSelection, is_tried: bool) -> ReductionSelection {
    let is_joint = !is_tried && selection.iter().all(|(entry, _)| entry.allows_joint_resets);
    if let Some(dead) = selection.get_mut("dead")
        && dead.switch("joint").is_none()
    {
        dead.set("joint", is_joint);
    }
    selection
}
