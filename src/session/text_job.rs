//! The job of a search directory whose model is a text.

use super::error::Error;
use super::job::{SavedRunProperty, SearchJob, as_json};
use super::liveness_check::LivenessCheck;
use super::saved_reductions::SavedReductions;
use super::source_model::SourceModel;
use super::{
    CheckConfig, Fairness, KeyOrder, SearchedModel, SlotCounts, SpecificationModel, TextModel,
};
use crate::front::{Language, Options};
use crate::ir::layout::GroupId;
use crate::model::{StateCondition, StateSpace, TrialOutcome};
use crate::reduce::claim::FiniteRunPolicy;
use crate::reduce::{ReductionPlan, ReductionRequest};
use crate::search::files::JOB;
use crate::search::{SearchControl, StateStorage};
use crate::session::config::ModelConfig;
use crate::source::SourceMap;
use std::path::Path;

impl SearchJob {
    /// Creates the job of searching `model`, reduced as `searched` says.
    pub fn new(
        config: &CheckConfig,
        model: &TextModel,
        searched: &SearchedModel,
        storage: &StateStorage,
    ) -> SearchJob {
        let reductions = SavedReductions {
            selection: searched.wished().selection,
            is_undecided: searched.is_undecided(),
            trial: searched.stack().trial().clone(),
        };
        SearchJob {
            config: as_json(config),
            language: model.language.name.into(),
            files: model.sources.model_texts(),
            room: model.options.slots_by_process.clone(),
            reductions: reductions.saved(),
            order: model.interp.layout().order.iter().map(|group| group.0).collect(),
            digest: searched.model().digest(),
            runs: None,
            storage: storage.saved(),
        }
    }

    /// Creates the job of checking a temporal property of a model.
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
            runs: Some(SavedRunProperty { kept, stutter, is_fair, is_invariant: false }),
            ..SearchJob::new(config, &watched.model, searched, storage)
        }
    }

    /// Creates the job of searching a specification.
    pub fn of_specification(
        config: &CheckConfig,
        model: &SpecificationModel,
        storage: &StateStorage,
    ) -> SearchJob {
        let files = model.sources().model_texts();
        let digest = model.system().digest();
        SearchJob::unreduced(config, model.language().name, files, digest, storage)
    }

    /// Returns whether the job has this model: the same texts with the same constants. Other reading options belong to
    /// the search.
    pub fn is_of(&self, model: &dyn SourceModel) -> bool {
        let definitions = match model.as_program() {
            Some(program) => ModelConfig::of(&self.options(program.language)).definitions,
            None => self.config().model.definitions,
        };
        let texts = self.files.iter().map(|it| it.1.as_str());
        self.language == model.language().name
            && definitions == model.model_config().definitions
            && texts.eq(model.sources().model_files().map(|it| it.text.as_str()))
    }

    /// Reads the model again from the texts in `dir`: a program or a specification.
    pub fn source_model(&self, dir: &Path) -> Result<Box<dyn SourceModel>, Error> {
        match self.is_of_specification() {
            true => Ok(Box::new(self.specification()?)),
            false => Ok(Box::new(self.model(dir)?)),
        }
    }

    /// Reads the model again without reductions. If the job checks a temporal property, the model is the product with
    /// its automaton. Steps have the order of the searched model's.
    ///
    /// # Errors
    ///
    /// If the job is of a Rust type.
    pub fn unreduced_model(&self) -> Result<Box<dyn SourceModel>, Error> {
        let Some((kept, finite_runs, _)) = self.runs() else {
            return self.unreduced_without_automaton(&self.config());
        };
        let (language, sources, options) = self.reading_inputs()?;
        let (watched, _) = LivenessCheck::load(language, sources, options, kept.wanted())?;
        let plan = ReductionPlan { finite_runs: Some(finite_runs), ..watched.model.wished.clone() };
        Ok(Box::new(watched.model.with_plan(plan)))
    }

    /// Reads the [unreduced model](SearchJob::unreduced_model) with further conditions on states. It has the same
    /// steps. `None` if the job checks a temporal property: no language combines it with a condition.
    ///
    /// # Errors
    ///
    /// If the job is of a Rust type, or a condition is no expression of the language.
    pub fn model_with_conditions(
        &self,
        conditions: Vec<StateCondition>,
    ) -> Result<Option<Box<dyn SourceModel>>, Error> {
        if self.runs().is_some() {
            return Ok(None);
        }
        let mut config = self.config();
        config.properties.named_conditions.extend(conditions);
        self.unreduced_without_automaton(&config).map(Some)
    }

    /// Reads the model again without reductions, as a configuration says.
    fn unreduced_without_automaton(
        &self,
        config: &CheckConfig,
    ) -> Result<Box<dyn SourceModel>, Error> {
        if self.is_of_specification() {
            return Ok(Box::new(SpecificationModel::of_texts(&self.files, config)?));
        }
        let (language, sources, _) = self.reading_inputs()?;
        let slots_by_process = self.room.clone();
        let options = Options { slots_by_process, ..config.reading_options(language) };
        Ok(Box::new(TextModel::load(language, sources, options)?.0))
    }

    /// Returns whether a directory with this job belongs to a check of a temporal property with the other job. That of a
    /// search for a violating state has another model.
    pub(super) fn is_of_same_runs(&self, other: &SearchJob) -> bool {
        if !self.is_of_invariant() {
            return self.digest == other.digest;
        }
        let of_product =
            |it: &SavedRunProperty| SavedRunProperty { is_invariant: false, ..it.clone() };
        self.runs.as_ref().map(of_product) == other.runs
            && self.files == other.files
            && self.config == other.config
    }

    /// Returns whether the model is a specification.
    pub fn is_of_specification(&self) -> bool {
        Language::from_name(&self.language).is_some_and(|it| !it.has_programs())
    }

    /// Reads the specification again.
    pub fn specification(&self) -> Result<SpecificationModel, Error> {
        let model = SpecificationModel::of_texts(&self.files, &self.config())?;
        match model.system().digest() == self.digest {
            true => Ok(model),
            false => Err(Error::Understood),
        }
    }

    /// Returns the options of reading the model in its language.
    fn options(&self, language: &Language) -> Options {
        let options = self.config().reading_options(language);
        Options { slots_by_process: self.room.clone(), ..options }
    }

    /// Returns the model's language, its files and its reading options.
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
        if !language.has_programs() {
            return Err(Error::NoProgram(self.model_name().into()));
        }
        Ok((language, sources, self.options(language)))
    }

    /// Reads the model again from the text in `dir`, with its temporal property, if there is one.
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
        let (wished, trial) = (self.applied(), self.trial());
        let model = TextModel { wished, trial, ..model };
        self.check_digest(&model)?;
        Ok(model)
    }

    /// Returns the same job with these slots for processes. Its search restarts. The width of states changes: storage
    /// that depends on the width becomes the default, and a key order other than the declared one becomes the static
    /// one.
    pub fn with_slots(&self, room: SlotCounts) -> Result<SearchJob, Error> {
        let (language, sources, options) = self.reading_inputs()?;
        let options = Options { slots_by_process: room.clone(), ..options };
        let mut model = match self.runs() {
            None => TextModel::load(language, sources, options)?.0,
            Some((kept, ..)) => {
                let check = LivenessCheck::load(language, sources, options, kept.wanted())?.0;
                let invariant = check.invariant.filter(|_| self.is_of_invariant());
                invariant.map_or(check.model, |it| *it)
            }
        };
        if !self.order.is_sorted() {
            // The static order needs no sample, so nothing stops it.
            model = model.in_key_order(KeyOrder::Static, &SearchControl::default())?.0;
        }
        let order = model.interp.layout().order.iter().map(|group| group.0).collect();
        let (wished, trial) = (self.applied(), self.trial());
        let model = TextModel { wished, trial, ..model };
        let searched = model.searched();
        let storage = self.storage.restore(searched.model().width());
        let storage = storage.unwrap_or_default().saved();
        let digest = searched.model().digest();
        Ok(SearchJob { room, order, digest, storage, ..self.clone() })
    }

    /// Reads the model again with its temporal property, if there is one.
    pub fn liveness_check(&self) -> Result<Option<LivenessCheck>, Error> {
        let Some((kept, ..)) = self.runs() else { return Ok(None) };
        let (language, sources, options) = self.reading_inputs()?;
        let (mut watched, _) = LivenessCheck::load(language, sources, options, kept.wanted())?;
        let invariant = watched.invariant.take().filter(|_| self.is_of_invariant());
        let Some(mut invariant) = invariant else {
            watched.model.wished = self.applied();
            watched.model.trial = self.trial();
            self.check_digest(&watched.model)?;
            return Ok(Some(watched));
        };
        let finite_runs = self.runs().map(|(_, ended, _)| ended);
        watched.model.wished = ReductionPlan { finite_runs, ..ReductionPlan::default() };
        invariant.wished = self.applied();
        invariant.trial = self.trial();
        self.check_digest(&invariant)?;
        watched.invariant = Some(invariant);
        Ok(Some(watched))
    }

    /// Returns the requested reductions if they are still undecided. The search has then not begun.
    pub fn undecided(&self) -> Option<ReductionRequest> {
        let search = self.config().search;
        self.saved_reductions().is_undecided.then(|| search.reduction_request())
    }

    /// Returns the plan of reductions. It may be provisional.
    pub fn wished(&self) -> ReductionPlan {
        let selection = self.saved_reductions().selection;
        // The model of an invariant has no automaton.
        let runs = self.runs().filter(|_| !self.is_of_invariant());
        let finite_runs = runs.map(|(_, ended, _)| ended);
        ReductionPlan { finite_runs, ..ReductionPlan::new(selection, self.limits(None).checks) }
    }

    /// Returns the reductions in effect. There are none before they are decided.
    fn applied(&self) -> ReductionPlan {
        let wished = self.wished();
        match self.undecided() {
            Some(_) => ReductionPlan { finite_runs: wished.finite_runs, ..Default::default() },
            None => wished,
        }
    }

    /// Returns the saved reductions. [`SearchJob::load`] rejects a job whose reductions are unreadable.
    fn saved_reductions(&self) -> SavedReductions {
        serde_json::from_str(&self.reductions).unwrap_or_default()
    }

    /// Returns the outcome of the trial that decided the reductions.
    pub(super) fn trial(&self) -> TrialOutcome {
        self.saved_reductions().trial
    }

    fn check_digest(&self, model: &TextModel) -> Result<(), Error> {
        match model.searched().model().digest() == self.digest {
            true => Ok(()),
            false => Err(Error::Understood),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::NO_REDUCTIONS;
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
    fn the_job_of_a_rust_type_has_no_reductions() {
        assert_eq!(SavedReductions::default().saved(), NO_REDUCTIONS);
    }

    #[test]
    fn a_job_keeps_the_key_order() {
        let model = job().model(Path::new("d")).unwrap();
        assert_eq!(model.interp.layout().order, [2, 0, 1].map(GroupId));
    }

    #[test]
    fn an_impossible_key_order_is_damage_and_another_one_is_rejected() {
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
