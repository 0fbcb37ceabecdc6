//! Which reductions a search uses, each with its parameters: one value for flags, files, search directories and JSON.

use super::claim::FiniteRunPolicy;
use super::entry::{IncompatibilityKind, ReductionEntry};
use super::parameters::{ParameterValue, ParameterValues};
use super::{REDUCTIONS, ReductionKind, find_reduction};
use crate::model::CheckSelection;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use thiserror::Error;

/// Reductions of the [table](super::REDUCTIONS), each with its parameters. Serialized, it is a map from names to
/// parameters: `{"dead": {}, "por": {"method": "conditional"}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReductionSelection {
    /// By position in the table.
    chosen: BTreeMap<usize, ParameterValues>,
}

/// Why a selection of reductions makes no sense.
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
    /// The parameter does not have such values.
    #[error("the parameter `{parameter}` of the reduction `{reduction}` is one of: {values}")]
    WrongValue {
        /// The reduction.
        reduction: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it may be.
        values: String,
    },
    /// Two parameters of a reduction say the same.
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
        /// Why they do.
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
    /// These reductions, with default parameters.
    ///
    /// # Panics
    ///
    /// If the table has no reduction of such a name.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> ReductionSelection {
        names.into_iter().fold(ReductionSelection::default(), |all, name| {
            all.with(name, ParameterValues::DEFAULT)
        })
    }

    /// The same with a reduction, and its parameters.
    ///
    /// # Panics
    ///
    /// If the table has no reduction of this name.
    pub fn with(mut self, name: &str, parameters: ParameterValues) -> ReductionSelection {
        self.insert(name, parameters).unwrap_or_else(|error| panic!("{error}"));
        self
    }

    /// The same without a reduction.
    pub fn without(mut self, name: &str) -> ReductionSelection {
        self.remove(name);
        self
    }

    /// Adds a reduction, or gives it other parameters.
    pub fn insert(
        &mut self,
        name: &str,
        parameters: ParameterValues,
    ) -> Result<(), SelectionError> {
        let at = position(name).ok_or_else(|| SelectionError::UnknownReduction(name.into()))?;
        self.chosen.insert(at, parameters);
        Ok(())
    }

    /// Removes a reduction; gives its parameters, if it was chosen.
    pub fn remove(&mut self, name: &str) -> Option<ParameterValues> {
        self.chosen.remove(&position(name)?)
    }

    /// Whether a reduction is chosen.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The parameters of a reduction, if it is chosen.
    pub fn get(&self, name: &str) -> Option<&ParameterValues> {
        self.chosen.get(&position(name)?)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut ParameterValues> {
        self.chosen.get_mut(&position(name)?)
    }

    /// Whether nothing is chosen.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// The chosen reductions in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static ReductionEntry, &ParameterValues)> {
        self.chosen.iter().map(|(&at, parameters)| (REDUCTIONS[at], parameters))
    }

    /// Those of the chosen reductions for which this holds.
    pub fn filtered(&self, is_kept: impl Fn(&ReductionEntry) -> bool) -> ReductionSelection {
        let kept = self.chosen.iter().filter(|(at, _)| is_kept(REDUCTIONS[**at]));
        ReductionSelection { chosen: kept.map(|(at, it)| (*at, it.clone())).collect() }
    }

    /// Whether a reduction of this kind is chosen.
    pub fn has_kind(&self, kind: ReductionKind) -> bool {
        self.iter().any(|(entry, _)| entry.kind == kind)
    }

    /// These and others; the others' parameters count.
    pub fn and(mut self, others: &ReductionSelection) -> ReductionSelection {
        self.chosen.extend(others.chosen.iter().map(|(at, it)| (*at, it.clone())));
        self
    }

    /// Checks parameters against their specifications, and that no two reductions contradict each other.
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

/// Reductions, and what a search with them is to find out: which reductions apply, and how, depends on both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReductionPlan {
    /// The reductions.
    pub selection: ReductionSelection,
    /// What is checked.
    pub checks: CheckSelection,
    /// What becomes of finite runs, where the claim is checked on whole runs.
    pub finite_runs: Option<FiniteRunPolicy>,
}

impl ReductionPlan {
    /// Reductions of a search for some checks.
    pub fn new(selection: ReductionSelection, checks: CheckSelection) -> ReductionPlan {
        ReductionPlan { selection, checks, finite_runs: None }
    }

    /// These reductions, with default parameters, in a search for everything.
    ///
    /// # Panics
    ///
    /// If the table has no reduction of such a name.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> ReductionPlan {
        ReductionPlan::new(ReductionSelection::of(names), CheckSelection::ALL)
    }

    /// The same with other reductions.
    pub fn with_selection(&self, selection: ReductionSelection) -> ReductionPlan {
        ReductionPlan { selection, ..self.clone() }
    }

    /// The same with a reduction more.
    ///
    /// # Panics
    ///
    /// If the table has no reduction of this name.
    pub fn with(&self, name: &str, parameters: ParameterValues) -> ReductionPlan {
        self.with_selection(self.selection.clone().with(name, parameters))
    }

    /// The same without reductions of a kind.
    pub fn without_kind(&self, kind: ReductionKind) -> ReductionPlan {
        self.with_selection(self.selection.filtered(|it| it.kind != kind))
    }

    /// The parameters of a reduction, if it is chosen.
    pub fn get(&self, name: &str) -> Option<&ParameterValues> {
        self.selection.get(name)
    }
}

/// Which reductions a search is to use, as a user says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReductionMode {
    /// As [`Auto`](ReductionMode::Auto); in a search that counts all violations only what keeps the counts of violations;
    /// in a check of whole runs none.
    #[default]
    Default,
    /// Those that pay, as the first states of the search show.
    Auto,
    /// Only those that are listed.
    Listed,
}

/// What a user asks for: `auto` or a list, with parameters, and exclusions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReductionConfig {
    /// Which reductions are used beside those that are listed.
    pub mode: ReductionMode,
    /// The names of reductions that are not used, whatever the mode.
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
    /// The reductions of a plan. What is checked is the search's.
    fn from(plan: ReductionPlan) -> ReductionConfig {
        plan.selection.into()
    }
}

/// A [`ReductionConfig`] for one search: what is used in any case, and whether more is tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReductionRequest {
    /// Used wherever it applies.
    pub selection: ReductionSelection,
    /// Whether the first states decide about further reductions.
    pub is_tried: bool,
}

impl ReductionConfig {
    /// No reduction.
    pub fn none() -> ReductionConfig {
        ReductionSelection::default().into()
    }

    /// Reductions that pay.
    pub fn auto() -> ReductionConfig {
        ReductionConfig { mode: ReductionMode::Auto, ..ReductionConfig::default() }
    }

    /// Whether a reduction is one of a list.
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

    /// What it comes to in a search that goes on beyond violations, or that does not.
    pub fn resolve(&self, keeps_going: bool) -> ReductionRequest {
        let counts = self.mode == ReductionMode::Default && keeps_going;
        let is_auto = self.mode != ReductionMode::Listed;
        let base = match is_auto {
            true => automatic(counts),
            false => ReductionSelection::default(),
        };
        let selection = self.without_excluded(base.and(&self.selection));
        let is_tried = is_auto
            && !counts
            && !selection.has_kind(ReductionKind::Choice)
            && !self.exclude.iter().any(|it| it == "por");
        ReductionRequest { selection: with_joint_resets(selection, is_tried), is_tried }
    }

    /// What it comes to in a check of whole runs: only reductions that preserve them, and nothing is tried.
    pub fn resolve_for_runs(&self) -> ReductionSelection {
        let base = match self.mode {
            ReductionMode::Auto => automatic(false),
            ReductionMode::Default | ReductionMode::Listed => ReductionSelection::default(),
        };
        let selection = self.without_excluded(base.and(&self.selection));
        let is_auto = self.mode == ReductionMode::Auto;
        with_joint_resets(selection, is_auto).filtered(|it| it.preserves_runs)
    }

    fn without_excluded(&self, selection: ReductionSelection) -> ReductionSelection {
        selection.filtered(|entry| !self.exclude.iter().any(|it| it == entry.name))
    }
}

/// The reductions that `auto` uses without a trial; in a search for counts those that keep what is counted.
fn automatic(counts: bool) -> ReductionSelection {
    REDUCTIONS
        .iter()
        .filter_map(|it| Some((it.name, it.automatic_use(counts)?)))
        .fold(ReductionSelection::default(), |all, (name, parameters)| all.with(name, parameters))
}

/// Resets of variables that are dead where several processes are add guards over other processes' locations. They are
/// made only if no chosen reduction depends on who reads what, unless the selection says.
fn with_joint_resets(mut selection: ReductionSelection, is_tried: bool) -> ReductionSelection {
    let is_joint = !is_tried && selection.iter().all(|(entry, _)| entry.allows_joint_resets);
    if let Some(dead) = selection.get_mut("dead")
        && dead.switch("joint").is_none()
    {
        dead.set("joint", is_joint);
    }
    selection
}
