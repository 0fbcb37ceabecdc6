//! Checks of models from texts with all kinds of properties: the library interface to `spillway check`.

use super::check_plan::{CheckPlan, PlannedSearch};
use super::{
    Check, CheckConfig, CheckDirectory, CheckObserver, DirectoryConflict, Error, FoundTrace,
    LivenessCheck, LivenessSession, LivenessSummary, ProductCheck, ProductOptions, ReplayedRun,
    SavedCheck, SavedLimits, SearchBudget, SearchDirectory, SearchOutputs, SilentObserver,
    SlotCounts, TextModel, TraceVisitor, read_text, with_product,
};
use crate::budget::AnalysisBudget;
use crate::front::{Language, Options};
use crate::report::{
    PropertyJudgement, PropertyVerdict, TraceDisplayOptions, ViolatingRun, judgements,
    merge_judgements, overall_verdict, sort_violated_first,
};
use crate::search::liveness::nested_dfs::ProbeVerdict;
use crate::search::{SearchControl, SearchVerdict};
use crate::source::SourceMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A model as a text.
///
/// ```
/// use spillway::{CheckConfig, ModelText, SearchVerdict};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let dir = folder.path().join("search");
/// let text = "byte x; process P { state a; init a;
///     trans a -> a { guard x < 3; effect x = x + 1; }, a -> a { guard x == 3; effect x = 0; }; } system async;";
/// let model = ModelText::new("dve", "counter.dve", text)?;
/// let mut config = CheckConfig::default();
/// config.properties.invariants.push("x < 4".into());
/// config.properties.ltl.push("G F (x == 0)".into());
///
/// // The first session stops early; the second resumes the search.
/// config.limits.max_states = Some(2);
/// assert_eq!(model.check(&config).dir(&dir).run()?.verdict(), SearchVerdict::Incomplete);
/// config.limits.max_states = None;
/// let report = model.check(&config).dir(&dir).run()?;
/// for property in &report.properties {
///     println!("{}: {}", property.title(), property.verdict.name());
/// }
/// assert_eq!(report.verdict(), SearchVerdict::Verified);
/// # Ok::<(), spillway::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModelText {
    language: &'static Language,
    name: String,
    text: String,
    /// The texts that take the place of included files, each with the name of the file.
    included: Vec<(String, String)>,
}

impl ModelText {
    /// Creates a model from a text in the language of this name. `name` is the model's name in messages.
    ///
    /// # Errors
    ///
    /// If there is no such language.
    pub fn new(
        language: &str,
        name: impl Into<String>,
        text: impl Into<String>,
    ) -> Result<ModelText, Error> {
        let known = Language::from_name(language);
        let language = known.ok_or_else(|| Error::Language(language.to_owned()))?;
        Ok(ModelText { language, name: name.into(), text: text.into(), included: Vec::new() })
    }

    /// Reads the text of a file. The file name extension selects the language.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or its extension belongs to no language.
    pub fn open(path: &Path) -> Result<ModelText, Error> {
        let name = path.display().to_string();
        let language = Language::from_file_name(&name).ok_or_else(|| {
            Error::Unreadable(format!("the name {name} does not determine the language"))
        })?;
        Ok(ModelText { language, text: read_text(path)?, name, included: Vec::new() })
    }

    /// Sets texts that take the place of included files, each with the name by which the model includes the file.
    pub fn with_included(self, included: Vec<(String, String)>) -> ModelText {
        ModelText { included, ..self }
    }

    /// Creates a check of the model.
    pub fn check<'t>(&'t self, config: &'t CheckConfig) -> TextCheck<'t> {
        TextCheck { model: self, config, dir: None, control: None }
    }

    pub(super) fn sources(&self) -> SourceMap {
        let mut sources = SourceMap::default();
        sources.add(&*self.name, &*self.text);
        self.included.iter().for_each(|(name, text)| _ = sources.add(&**name, &**text));
        sources
    }
}

/// A check of a model from a text.
pub struct TextCheck<'t> {
    model: &'t ModelText,
    config: &'t CheckConfig,
    dir: Option<PathBuf>,
    control: Option<Arc<SearchControl>>,
}

/// Where a search of a check is done, and what receives its counterexample.
struct SearchPlace<'p, 'v> {
    dir: Option<&'p Path>,
    control: &'p Arc<SearchControl>,
    visit: &'p mut TraceVisitor<'v>,
}

/// The result of a check. `Display` prints the reports of its searches, each with its counterexample.
#[derive(Debug, Default)]
pub struct CheckReport {
    /// The verdict on each property, violated ones first.
    pub properties: Vec<PropertyJudgement>,
    /// The report of each search, with its counterexample.
    pub texts: Vec<String>,
}

impl CheckReport {
    /// Returns the verdict on all properties together.
    pub fn verdict(&self) -> SearchVerdict {
        overall_verdict(&self.properties)
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts.join("\n"))
    }
}

impl TextCheck<'_> {
    /// Sets the directory of the check: new, empty, or one in which this check was stopped, which then resumes. By
    /// default searches use temporary directories.
    pub fn dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.dir = Some(path.into());
        self
    }

    /// Sets the control, by which another thread stops the check and observes its progress.
    pub fn control(mut self, control: Arc<SearchControl>) -> Self {
        self.control = Some(control);
        self
    }

    /// Checks all properties that the configuration selects.
    ///
    /// # Errors
    ///
    /// If the text or a property is wrong, the budget is too small, the directory belongs to another check, the disk
    /// fails, or the model fails. The last checkpoint is kept.
    pub fn run(self) -> Result<CheckReport, Error> {
        self.run_with(&mut |_, _| ())
    }

    /// Does the same, and passes on each counterexample.
    ///
    /// # Errors
    ///
    /// Those of [`run`](TextCheck::run).
    pub fn run_with(self, visit: &mut TraceVisitor<'_>) -> Result<CheckReport, Error> {
        let limits = &self.config.limits;
        let deadline = limits.max_time.and_then(|time| Instant::now().checked_add(time));
        let control = self.control.clone();
        let control = control
            .unwrap_or_else(|| Arc::new(SearchControl::new(limits.checkpoint_every, deadline)));
        let language = self.model.language;
        let options = self.config.reading_options(language);
        let (model, _) = TextModel::load(language, self.model.sources(), options)?;
        let plan = CheckPlan::of(self.config, &model)?;
        let is_several = plan.searches.len() > 1;
        let _locked = match &self.dir {
            Some(dir) if is_several => Some(self.lock(dir, &plan, &model)?),
            _ => None,
        };
        drop(model);
        let mut report = CheckReport::default();
        for search in &plan.searches {
            let dir = self.dir.as_ref();
            let dir = dir.map(|it| if is_several { it.join(&search.folder) } else { it.clone() });
            let (judgements, text) = retry_with_slots(|slots| {
                let mut place = SearchPlace { dir: dir.as_deref(), control: &control, visit };
                self.search(search, slots, &mut place)
            })?;
            merge_judgements(&mut report.properties, judgements);
            report.texts.push(text);
        }
        report.properties.retain(|it| it.verdict != PropertyVerdict::Unchecked);
        sort_violated_first(&mut report.properties);
        Ok(report)
    }

    /// Locks the directory of a check of several searches, which is new or belongs to this check.
    fn lock(
        &self,
        dir: &Path,
        plan: &CheckPlan,
        model: &TextModel,
    ) -> Result<CheckDirectory, Error> {
        let ours = SavedCheck::new(self.config, model, plan.folders());
        match SavedCheck::load(dir)? {
            None => CheckDirectory::create(dir, &ours),
            Some(theirs) if theirs.is_of_same_check(&ours) => CheckDirectory::lock(dir),
            Some(_) => Err(Error::Taken(dir.to_path_buf(), DirectoryConflict::Otherwise)),
        }
    }

    fn search(
        &self,
        search: &PlannedSearch,
        slots: SlotCounts,
        place: &mut SearchPlace<'_, '_>,
    ) -> Result<(Vec<PropertyJudgement>, String), SlotFailure> {
        let language = self.model.language;
        let options = search.config.reading_options(language);
        let options = Options { slots_by_process: slots, ..options };
        match &search.property {
            None => {
                let (model, _) = TextModel::load(language, self.model.sources(), options)?;
                let (model, _) =
                    model.in_key_order(search.config.search.key_order, place.control)?;
                let searched = self.search_states(search, &model, place);
                searched.map_err(|error| SlotFailure::of(error, &model))
            }
            Some(property) => {
                let request = property.request();
                let (check, _) =
                    LivenessCheck::load(language, self.model.sources(), options, request)?;
                let finite_runs = search.config.properties.finite_runs;
                let finite_runs = finite_runs.unwrap_or(request.default_ended_runs());
                let check = check.reduced(search.config.run_reduction_request(), finite_runs);
                let searched = search_runs(search, &check, place);
                searched.map_err(|error| SlotFailure::of(error, &check.model))
            }
        }
    }

    fn search_states(
        &self,
        search: &PlannedSearch,
        model: &TextModel,
        place: &mut SearchPlace<'_, '_>,
    ) -> Result<(Vec<PropertyJudgement>, String), Error> {
        let control = Arc::clone(place.control);
        let mut check = Check::of_text(model).config(search.config.clone()).control(control);
        if let Some(dir) = place.dir {
            check = check.dir(dir);
        }
        let found = check.run()?;
        found.visit_trace(model, place.visit)?;
        let report = found.report();
        Ok((report.map_or(Vec::new(), |it| judgements(&it, None)), found.to_string()))
    }
}

/// Searches for a run that violates a property.
fn search_runs(
    search: &PlannedSearch,
    check: &LivenessCheck,
    place: &mut SearchPlace<'_, '_>,
) -> Result<(Vec<PropertyJudgement>, String), Error> {
    let (dir, control) = (place.dir, place.control);
    let limits = &search.config.limits;
    let goes_on = dir.is_some_and(SearchDirectory::has_search);
    let (memory, threads, exec) = (limits.memory, limits.threads, limits.exec);
    let budget = SearchBudget { memory, threads, exec, goes_on, counts: false };
    let options = ProductOptions {
        budget,
        finite_runs: check.finite_runs(),
        fairness: search.config.properties.fairness,
        shortest: search.config.search.shortest,
        hunts: search.config.search.hunts_for_runs(),
        control,
    };
    let analysis = AnalysisBudget::new(memory, &**control);
    let executor = |it| {
        let _heeding = control.heed();
        budget.executor(it)
    };
    with_product(check, options, &analysis, executor, |product| {
        let (summary, text) = match product {
            None => (LivenessSummary::UNSEARCHED, String::new()),
            Some(product) => {
                let session = LivenessSession::new(product, budget, limits.max_states, control);
                let saved = SavedLimits::new(limits.clone(), SearchOutputs::default());
                let job = session.job(&search.config);
                let observer: &mut dyn CheckObserver = &mut SilentObserver;
                let result = match dir {
                    Some(dir) if goes_on => {
                        let (directory, contents) = SearchDirectory::open(dir, limits.disk_limit)?;
                        if !contents.job.is_of_same_runs(&job) {
                            let taken = DirectoryConflict::Otherwise;
                            return Err(Error::Taken(dir.to_path_buf(), taken));
                        }
                        session.resume(directory, contents, &saved, observer)?
                    }
                    _ => session.begin(&job, dir, &saved, observer)?,
                };
                dir.map_or(Ok(()), |dir| result.keep_answer(&job, dir, &saved))?;
                let mut visit = |found: &FoundTrace<'_>| (place.visit)(&job, found);
                let run = replayed(product, &result.summary)?
                    .map(|it| present_run(check, product, it, &mut visit));
                (result.summary, run.unwrap_or_default())
            }
        };
        let verdict = PropertyVerdict::from(summary.verdict());
        let (kind, name) = check.property();
        let judgement = PropertyJudgement::of_runs(kind, name, verdict);
        let text =
            format!("{text}{}: {}: {}\n", check.model.name(), judgement.title(), verdict.name());
        Ok((vec![judgement], text))
    })
}

/// Returns the violating run, if there is one.
fn replayed(
    product: &ProductCheck<'_, '_>,
    summary: &LivenessSummary,
) -> Result<Option<ReplayedRun>, Error> {
    match &summary.found {
        ProbeVerdict::Found(lasso) => product.replay(lasso).map(Some).map_err(Error::Sample),
        ProbeVerdict::None | ProbeVerdict::Open => Ok(None),
    }
}

/// Passes a violating run to a function, and formats it as text.
fn present_run(
    check: &LivenessCheck,
    product: &ProductCheck<'_, '_>,
    found: ReplayedRun,
    visit: &mut dyn FnMut(&FoundTrace<'_>),
) -> String {
    let (model, sources) = (product.searched.model().description(), &check.model.sources);
    let run = ViolatingRun::with_cycle(model, found.steps.clone(), found.back, sources);
    let text = run.text(sources, &TraceDisplayOptions::default(), &check.name) + "\n";
    visit(&FoundTrace::of_run(&check.model, model, found, &check.name));
    text
}

/// The error of a search, with more slots for processes if a process lacked one.
struct SlotFailure {
    error: Error,
    more: Option<SlotCounts>,
}

impl SlotFailure {
    fn of(error: Error, model: &TextModel) -> SlotFailure {
        match error.lacks_slots().map(|it| model.more_slots(it)) {
            None => SlotFailure { error, more: None },
            Some(Ok(more)) => SlotFailure { error, more: Some(more) },
            Some(Err(error)) => SlotFailure { error, more: None },
        }
    }
}

impl From<Error> for SlotFailure {
    fn from(error: Error) -> SlotFailure {
        SlotFailure { error, more: None }
    }
}

/// Runs a search, and repeats it with more slots whenever a process lacks one.
fn retry_with_slots<T>(
    mut search: impl FnMut(SlotCounts) -> Result<T, SlotFailure>,
) -> Result<T, Error> {
    let mut slots = SlotCounts::new();
    loop {
        match search(slots) {
            Ok(found) => return Ok(found),
            Err(SlotFailure { more: Some(more), .. }) => slots = more,
            Err(SlotFailure { error, .. }) => return Err(error),
        }
    }
}
