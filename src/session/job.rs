//! The job of a search directory: the model's text and the flags that decide what is checked. With it the search can
//! be resumed anywhere without other files.

use super::config::ModelConfig;
use super::error::Error;
use super::run_property::product_limits;
#[cfg(feature = "languages")]
use super::saved_reductions::SavedReductions as ReductionDecision;
use super::{CheckConfig, Fairness, RunLimits, SavedProperty, SearchOutputs};
use crate::model::{CheckSelection, FiniteRunPolicy};
use crate::report::RUST;
use crate::search::checkpoint::FORMAT;
use crate::search::files::JOB;
use crate::search::storage::SavedStorage;
use crate::search::{SearchLimits, StateStorage};
use crate::source;
use rkyv::{Archive, Deserialize, Serialize};
use spill::Disk;
use std::path::Path;

/// The decisions on reductions of a search without any.
pub(super) const NO_REDUCTIONS: &str = r#"{"selection":{},"is_undecided":false,"left_off":null}"#;

/// What every build reads of the decisions on reductions: whether they are provisional.
#[cfg(not(feature = "languages"))]
#[derive(Clone, Debug, Default, serde::Deserialize)]
struct ReductionDecision {
    is_undecided: bool,
}

/// The job of a directory: the model, its properties, and how the search stores states.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct SearchJob {
    /// A [`CheckConfig`] in JSON.
    pub(super) config: String,
    pub(super) language: String,
    /// The names and texts of the model's files.
    pub(super) files: Vec<(String, String)>,
    /// The number of slots for processes that are started in loops or by recursion, by process name.
    pub(super) room: Vec<(String, u32)>,
    /// The decisions on reductions: [`SavedReductions`] in JSON.
    pub(super) reductions: String,
    /// The groups of the state vector's cells in key order, by number in declaration order.
    pub(super) order: Vec<u32>,
    /// The digest of the model with that key order.
    pub(super) digest: [u8; 32],
    /// The temporal property, if one is checked.
    pub(super) runs: Option<SavedRunProperty>,
    /// How states are stored.
    pub(super) storage: SavedStorage,
}

/// A temporal property, as a job stores it.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub(super) struct SavedRunProperty {
    pub(super) kept: SavedProperty,
    /// Whether a finite run repeats its last state.
    pub(super) stutter: bool,
    /// Whether only weakly fair runs are checked.
    pub(super) is_fair: bool,
    /// Whether the search is one for a state that violates the invariant to which the property is equivalent.
    pub(super) is_invariant: bool,
}

impl SearchJob {
    /// Creates the job of searching a Rust type.
    pub fn of_rust(
        config: &CheckConfig,
        name: &str,
        digest: [u8; 32],
        storage: &StateStorage,
    ) -> SearchJob {
        let files = vec![(name.into(), String::new())];
        SearchJob::unreduced(config, RUST, files, digest, storage)
    }

    /// Creates the job of searching a model without reductions.
    pub(super) fn unreduced(
        config: &CheckConfig,
        language: &str,
        files: Vec<(String, String)>,
        digest: [u8; 32],
        storage: &StateStorage,
    ) -> SearchJob {
        SearchJob {
            config: as_json(config),
            language: language.into(),
            files,
            room: Vec::new(),
            reductions: NO_REDUCTIONS.into(),
            order: Vec::new(),
            digest,
            runs: None,
            storage: storage.saved(),
        }
    }

    /// Returns the configuration of the check.
    pub fn config(&self) -> CheckConfig {
        // The JSON was validated on loading.
        serde_json::from_str(&self.config).unwrap_or_default()
    }

    /// Returns the temporal property, the semantics of finite runs, and the fairness assumption.
    pub fn runs(&self) -> Option<(&SavedProperty, FiniteRunPolicy, Fairness)> {
        let SavedRunProperty { kept, stutter, is_fair, .. } = self.runs.as_ref()?;
        let ended = if *stutter { FiniteRunPolicy::Stutter } else { FiniteRunPolicy::Ignored };
        Some((kept, ended, if *is_fair { Fairness::Weak } else { Fairness::None }))
    }

    /// Returns whether the search is one for a state that violates the invariant to which the temporal property is
    /// equivalent.
    pub fn is_of_invariant(&self) -> bool {
        self.runs.as_ref().is_some_and(|it| it.is_invariant)
    }

    /// Returns whether a shortest counterexample is requested.
    pub fn wants_shortest(&self) -> bool {
        self.config().search.shortest
    }

    /// Returns the name of the model's file.
    pub fn model_name(&self) -> &str {
        self.files.first().map_or("", |(name, _)| name)
    }

    /// Returns the model's files whose text has changed since the search began.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        let is_other = |(name, text): &&(String, String)| {
            source::has_text(Path::new(name), text).is_ok_and(|has| !has)
        };
        self.files.iter().filter(is_other).map(|(name, _)| name.as_str())
    }

    /// Returns the name of the model's language.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Returns what the search checks and when it stops. `max_states` belongs to the session.
    pub fn limits(&self, max_states: Option<u64>) -> SearchLimits {
        let limits = SearchLimits { max_states, ..self.config().search_limits() };
        match &self.runs {
            None => limits,
            Some(it) if it.is_invariant => SearchLimits {
                checks: CheckSelection { invariants: true, ..CheckSelection::NONE },
                ..limits
            },
            Some(_) => SearchLimits { checks: product_limits(None).checks, ..limits },
        }
    }

    /// Returns the storage of states, for states of `width` bytes.
    pub fn storage(&self, dir: &Path, width: usize) -> Result<StateStorage, Error> {
        self.storage.restore(width).ok_or_else(|| {
            let what = "its codec does not fit the states of this model";
            Error::Open(dir.to_path_buf(), spill::Error::corrupt(JOB, 0, what))
        })
    }

    /// Returns the name of the storage.
    pub fn storage_name(&self) -> &'static str {
        self.storage.name()
    }

    /// Returns whether the other job has the same model. The key orders may differ.
    pub(super) fn is_of_same_model(&self, other: &SearchJob) -> bool {
        let reading = |job: &SearchJob| {
            let CheckConfig { model, properties, .. } = job.config();
            (job.language.clone(), ModelConfig { language: None, ..model }, properties.conditions())
        };
        let texts = |job: &SearchJob| job.files.iter().map(|it| it.1.clone()).collect::<Vec<_>>();
        reading(self) == reading(other) && texts(self) == texts(other)
    }

    /// Returns whether the model is a Rust type. Only the program that began the search knows that type.
    pub fn is_of_rust_type(&self) -> bool {
        self.language == RUST
    }

    /// Returns whether the reductions are undecided. The search has then not begun.
    pub fn is_undecided(&self) -> bool {
        // [`SearchJob::load`] rejects a job whose reductions are unreadable.
        let saved: ReductionDecision = serde_json::from_str(&self.reductions).unwrap_or_default();
        saved.is_undecided
    }

    pub(super) fn commit(&self, disk: &dyn Disk) -> spill::Result<()> {
        spill::commit_value(disk, JOB, FORMAT, self)
    }

    /// Returns the digest of the model.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Reads the job of the search in `disk`.
    pub fn load(disk: &dyn Disk) -> spill::Result<SearchJob> {
        let job: SearchJob = spill::load_value(disk, JOB, FORMAT)?;
        let damage = |what, error| spill::Error::corrupt(JOB, 0, format!("{what}: {error}"));
        serde_json::from_str::<CheckConfig>(&job.config)
            .map_err(|error| damage("its configuration", error))?;
        serde_json::from_str::<ReductionDecision>(&job.reductions)
            .map_err(|error| damage("its reductions", error))?;
        Ok(job)
    }
}

/// Returns a configuration as a job stores it: without the limits and outputs of a session.
pub(super) fn as_json(config: &CheckConfig) -> String {
    let (limits, output) = (RunLimits::default(), SearchOutputs::default());
    let config = CheckConfig { limits, output, ..config.clone() };
    serde_json::to_string(&config)
        .unwrap_or_else(|error| unreachable!("its keys are texts: {error}"))
}
