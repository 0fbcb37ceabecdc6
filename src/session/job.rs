//! The job of a search directory: the model's text and the flags that decide what is searched for, so that the search can be
//! resumed anywhere by itself.

use super::config::ModelConfig;
use super::error::Error;
use super::liveness_check::{Fairness, LivenessCheck, SavedProperty};
use super::{
    CheckConfig, KeyOrder, RunLimits, SearchOutputs, SearchedModel, SlotCounts, TextModel,
};
use crate::front::{Language, Options};
use crate::ir::layout::GroupId;
use crate::model::StateSpace;
use crate::reduce::claim::FiniteRunPolicy;
use crate::reduce::{ReductionPlan, ReductionRefusal, ReductionRequest, ReductionSelection};
use crate::report::RUST;
use crate::search::checkpoint::FORMAT;
use crate::search::files::JOB;
use crate::search::storage::SavedStorage;
use crate::search::{SearchControl, SearchLimits, StateStorage};
use crate::source::{self, SourceMap};
use rkyv::{Archive, Deserialize, Serialize};
use spill::Disk;
use std::path::Path;

/// How a directory's search is reduced.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct SavedReductions {
    /// The reductions, also where that is still to be decided.
    selection: ReductionSelection,
    /// Whether the first states are still to decide about further reductions.
    is_undecided: bool,
    /// What it is not reduced by, as that would not pay.
    left_off: Option<ReductionRefusal>,
}

impl SavedReductions {
    /// As a job keeps them: JSON.
    fn saved(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| unreachable!("reductions: {error}"))
    }
}

/// What a directory searches for.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct SearchJob {
    /// What is checked, and how: a [`CheckConfig`] in JSON.
    config: String,
    language: String,
    /// Names and texts of the model's files.
    files: Vec<(String, String)>,
    /// How many slots there are for processes that are started in loops or by recursion, by their names.
    room: SlotCounts,
    /// What was decided of the reductions: [`SavedReductions`] in JSON.
    reductions: String,
    /// The groups of the states' cells in key order, by number in declaration order.
    order: Vec<u32>,
    /// Of the model with that order.
    pub(super) digest: [u8; 32],
    /// What is asked of runs, if something is.
    pub(super) runs: Option<SavedRunProperty>,
    /// How states are stored.
    pub(super) storage: SavedStorage,
}

/// What is asked of runs.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub(super) struct SavedRunProperty {
    kept: SavedProperty,
    /// Whether those that end repeat their last state.
    stutter: bool,
    /// Whether only those that are weakly fair are judged.
    is_fair: bool,
}

impl SearchJob {
    /// The job of searching `model` as it is searched.
    pub fn new(
        config: &CheckConfig,
        model: &TextModel,
        searched: &SearchedModel,
        storage: &StateStorage,
    ) -> SearchJob {
        let reductions = SavedReductions {
            selection: searched.wished().selection,
            is_undecided: searched.is_undecided(),
            left_off: searched.stack().unprofitable().cloned(),
        };
        SearchJob {
            config: as_json(config),
            language: model.language.name.into(),
            files: model
                .sources
                .model_files()
                .map(|it| (it.name.clone(), it.text.clone()))
                .collect(),
            room: model.options.slots_by_process.clone(),
            reductions: reductions.saved(),
            order: model.interp.layout().order.iter().map(|group| group.0).collect(),
            digest: searched.model().digest(),
            runs: None,
            storage: storage.saved(),
        }
    }

    /// The job of searching a model that is a Rust type.
    pub fn of_rust(
        config: &CheckConfig,
        name: &str,
        model: &dyn StateSpace,
        storage: &StateStorage,
    ) -> SearchJob {
        SearchJob {
            config: as_json(config),
            language: RUST.into(),
            files: vec![(name.into(), String::new())],
            room: Vec::new(),
            reductions: SavedReductions::default().saved(),
            order: Vec::new(),
            digest: model.digest(),
            runs: None,
            storage: storage.saved(),
        }
    }

    /// The job of finding out whether runs of a model have a property, as it is searched.
    pub fn of_runs(
        config: &CheckConfig,
        watched: &LivenessCheck,
        searched: &SearchedModel,
        storage: &StateStorage,
    ) -> SearchJob {
        let stutter = watched.model.wished.finite_runs == Some(FiniteRunPolicy::Stutter);
        let is_fair = config.properties.fairness == Fairness::Weak;
        let kept = watched.saved_property.clone();
        SearchJob {
            runs: Some(SavedRunProperty { kept, stutter, is_fair }),
            ..SearchJob::new(config, &watched.model, searched, storage)
        }
    }

    /// What is checked, and how.
    pub fn config(&self) -> CheckConfig {
        // Loading has read it before.
        serde_json::from_str(&self.config).unwrap_or_default()
    }

    /// What is asked of runs, if something is, what becomes of those that end, and which are judged.
    pub fn runs(&self) -> Option<(&SavedProperty, FiniteRunPolicy, Fairness)> {
        let SavedRunProperty { kept, stutter, is_fair } = self.runs.as_ref()?;
        let ended = if *stutter { FiniteRunPolicy::Stutter } else { FiniteRunPolicy::Ignored };
        Some((kept, ended, if *is_fair { Fairness::Weak } else { Fairness::None }))
    }

    /// Whether a shortest counterexample is wanted.
    pub fn wants_shortest(&self) -> bool {
        self.config().search.shortest
    }

    /// The name of the model's file.
    pub fn model_name(&self) -> &str {
        self.files.first().map_or("", |(name, _)| name)
    }

    /// The model's files that have another text now than when the search began.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        let is_other = |(name, text): &&(String, String)| {
            source::has_text(Path::new(name), text).is_ok_and(|has| !has)
        };
        self.files.iter().filter(is_other).map(|(name, _)| name.as_str())
    }

    /// The model's language.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// What the search checks and when it stops; `max_states` is each session's own.
    pub fn limits(&self, max_states: Option<u64>) -> SearchLimits {
        let limits = SearchLimits { max_states, ..self.config().search_limits() };
        match &self.runs {
            None => limits,
            Some(_) => SearchLimits { checks: LivenessCheck::limits(None).checks, ..limits },
        }
    }

    /// How states are stored, in a search of a model with states of `width` bytes.
    pub fn storage(&self, dir: &Path, width: usize) -> Result<StateStorage, Error> {
        self.storage.restore(width).ok_or_else(|| {
            let what = "its codec is none for states of this model";
            Error::Open(dir.to_path_buf(), spill::Error::corrupt(JOB, 0, what))
        })
    }

    /// What that is called.
    pub fn storage_name(&self) -> &'static str {
        self.storage.name()
    }

    /// Whether the other job's search is of the same model; its states may have another order.
    pub(super) fn is_of_same_model(&self, other: &SearchJob) -> bool {
        let reading = |job: &SearchJob| {
            let CheckConfig { model, properties, .. } = job.config();
            (job.language.clone(), ModelConfig { language: None, ..model }, properties.conditions())
        };
        let texts = |job: &SearchJob| job.files.iter().map(|it| it.1.clone()).collect::<Vec<_>>();
        reading(self) == reading(other) && texts(self) == texts(other)
    }

    /// Whether its search is of this model: of the same texts, with the same constants. How it is read otherwise is the
    /// search's.
    pub fn is_of(&self, model: &TextModel) -> bool {
        let Options { defines, macros, .. } = self.options(model.language);
        let texts = self.files.iter().map(|it| it.1.as_str());
        self.language == model.language.name
            && (&defines, &macros) == (&model.options.defines, &model.options.macros)
            && texts.eq(model.sources.model_files().map(|it| it.text.as_str()))
    }

    /// The options of reading its model in its language.
    fn options(&self, language: &Language) -> Options {
        let options = self.config().reading_options(language);
        Options { slots_by_process: self.room.clone(), ..options }
    }

    /// Whether its model is a Rust type: what that is, only the program knows that began the search.
    pub fn is_of_rust_type(&self) -> bool {
        self.language == RUST
    }

    /// The model's language, its files, and how they are read.
    fn reading_inputs(&self) -> Result<(&'static Language, SourceMap, Options), Error> {
        if self.is_of_rust_type() {
            return Err(Error::RustType(self.model_name().into()));
        }
        let mut sources = SourceMap::default();
        for (name, text) in &self.files {
            sources.add(name.as_str(), text.as_str());
        }
        let language = Language::from_name(&self.language)
            .ok_or_else(|| Error::Language(self.language.clone()))?;
        Ok((language, sources, self.options(language)))
    }

    /// Reads the model again, from the text that was kept in `dir`; with what is asked of its runs, if something is.
    pub fn model(&self, dir: &Path) -> Result<TextModel, Error> {
        if let Some(watched) = self.liveness_check()? {
            return Ok(watched.model);
        }
        let (language, sources, options) = self.reading_inputs()?;
        let (model, _) = TextModel::load(language, sources, options)?;
        let order: Vec<GroupId> = self.order.iter().copied().map(GroupId).collect();
        let model = model.with_order(&order).map_err(|error| {
            Error::Open(
                dir.to_path_buf(),
                spill::Error::corrupt(JOB, 0, format!("the key order: {error}")),
            )
        })?;
        let (wished, left_off) = (self.applied(), self.left_off());
        let model = TextModel { wished, left_off, ..model };
        self.check_digest(&model)?;
        Ok(model)
    }

    /// The same job with these slots for processes: its search is to begin again. States are stored in the default way where
    /// the way so far is one for states of another width, and an order of the key other than the declared one becomes the
    /// static one.
    pub fn with_slots(&self, room: SlotCounts) -> Result<SearchJob, Error> {
        let (language, sources, options) = self.reading_inputs()?;
        let options = Options { slots_by_process: room.clone(), ..options };
        let mut model = match self.runs() {
            None => TextModel::load(language, sources, options)?.0,
            Some((kept, ..)) => {
                LivenessCheck::load(language, sources, options, kept.wanted())?.0.model
            }
        };
        if !self.order.is_sorted() {
            // No sample is taken for it, so that nothing has to be stopped.
            model = model.in_key_order(KeyOrder::Static, &SearchControl::default())?.0;
        }
        let order = model.interp.layout().order.iter().map(|group| group.0).collect();
        let (wished, left_off) = (self.applied(), self.left_off());
        let model = TextModel { wished, left_off, ..model };
        let searched = model.searched();
        let storage = self.storage.restore(searched.model().width());
        let storage = storage.unwrap_or_default().saved();
        let digest = searched.model().digest();
        Ok(SearchJob { room, order, digest, storage, ..self.clone() })
    }

    /// Reads the model again with what is asked of its runs, if something is.
    pub fn liveness_check(&self) -> Result<Option<LivenessCheck>, Error> {
        let Some((kept, ..)) = self.runs() else { return Ok(None) };
        let (language, sources, options) = self.reading_inputs()?;
        let (mut watched, _) = LivenessCheck::load(language, sources, options, kept.wanted())?;
        watched.model.wished = self.applied();
        watched.model.left_off = self.left_off();
        self.check_digest(&watched.model)?;
        Ok(Some(watched))
    }

    /// How the state space is to be reduced, where that is still to be decided: the search has not begun.
    pub fn undecided(&self) -> Option<ReductionRequest> {
        let search = self.config().search;
        self.saved_reductions().is_undecided.then(|| search.reduction_request())
    }

    /// How the state space is reduced, also where that is still to be decided.
    pub fn wished(&self) -> ReductionPlan {
        let selection = self.saved_reductions().selection;
        let finite_runs = self.runs().map(|(_, ended, _)| ended);
        ReductionPlan { finite_runs, ..ReductionPlan::new(selection, self.limits(None).checks) }
    }

    /// How the state space is reduced so far. Before that is decided it is not reduced.
    fn applied(&self) -> ReductionPlan {
        let wished = self.wished();
        match self.undecided() {
            Some(_) => ReductionPlan { finite_runs: wished.finite_runs, ..Default::default() },
            None => wished,
        }
    }

    /// The reductions that were kept. [`SearchJob::load`] refuses a job whose reductions cannot be read.
    fn saved_reductions(&self) -> SavedReductions {
        serde_json::from_str(&self.reductions).unwrap_or_default()
    }

    /// What it is not reduced by, as that would not pay.
    pub(super) fn left_off(&self) -> Option<ReductionRefusal> {
        self.saved_reductions().left_off
    }

    fn check_digest(&self, model: &TextModel) -> Result<(), Error> {
        match model.searched().model().digest() == self.digest {
            true => Ok(()),
            false => Err(Error::Understood),
        }
    }

    pub(super) fn commit(&self, disk: &dyn Disk) -> spill::Result<()> {
        spill::commit_value(disk, JOB, FORMAT, self)
    }

    /// The digest of the model.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Reads the job of the search in `disk`.
    pub fn load(disk: &dyn Disk) -> spill::Result<SearchJob> {
        let job: SearchJob = spill::load_value(disk, JOB, FORMAT)?;
        let damage = |what, error| spill::Error::corrupt(JOB, 0, format!("{what}: {error}"));
        serde_json::from_str::<CheckConfig>(&job.config)
            .map_err(|error| damage("its configuration", error))?;
        serde_json::from_str::<SavedReductions>(&job.reductions)
            .map_err(|error| damage("its reductions", error))?;
        Ok(job)
    }
}

/// A configuration as a job keeps it: without what is each session's own.
fn as_json(config: &CheckConfig) -> String {
    let (limits, output) = (RunLimits::default(), SearchOutputs::default());
    let config = CheckConfig { limits, output, ..config.clone() };
    serde_json::to_string(&config)
        .unwrap_or_else(|error| unreachable!("its keys are texts: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::dve;

    fn job() -> SearchJob {
        let text = "byte x; byte y; process P { state a; init a;
                    trans a -> a { effect x = 5, y = 9; }; } system async;";
        let mut sources = SourceMap::default();
        sources.add("model.dve", text);
        let (model, _) = TextModel::load(&dve::LANGUAGE, sources, Options::default()).unwrap();
        let order: Vec<GroupId> = [2, 0, 1].into_iter().map(GroupId).collect();
        let model = model.with_order(&order).unwrap();
        let config = CheckConfig::default();
        SearchJob::new(&config, &model, &model.searched(), &StateStorage::default())
    }

    #[test]
    fn a_job_keeps_the_key_order() {
        let model = job().model(Path::new("d")).unwrap();
        assert_eq!(model.interp.layout().order, [2, 0, 1].map(GroupId));
    }

    #[test]
    fn an_impossible_key_order_is_damage_and_another_one_is_refused() {
        for order in [vec![], vec![0, 1], vec![0, 1, 1], vec![0, 1, 3], vec![0, 1, 2, 3]] {
            let error = SearchJob { order, ..job() }.model(Path::new("d")).err().unwrap();
            let damaged = matches!(error, Error::Open(_, spill::Error::Corrupt { .. }));
            assert!(damaged, "{error}");
        }
        let error =
            SearchJob { order: vec![0, 1, 2], ..job() }.model(Path::new("d")).err().unwrap();
        assert!(matches!(error, Error::Understood), "{error}");
    }
}
