//! Models that are specifications in TLA+.

use super::searched_model::{ModelSummary, SearchedModel};
use super::source_model::SourceModel;
use super::{CheckConfig, Error, SearchBudget, SearchJob, StoredSearch, TextModel, UnreducedModel};
use crate::diag::Diagnostic;
use crate::front::{Language, tla};
use crate::model::{
    ConditionModality, PreservedProperties, ReductionSummary, RuntimeFault, StateCondition,
    StateSpace, StateValue, SystemDescription,
};
use crate::report::CheckScope;
use crate::search::hunt::DistanceFn;
use crate::search::{SearchControl, SearchLimits, StateStorage};
use crate::session::config::{Definition, ModelConfig};
use crate::source::{SourceMap, Span};
use crate::tla::SpecificationRequest;
use crate::tla::eval::CompiledSpecification;
use crate::tla::modules::{NamedText, SearchPath};
use crate::tla::resolve::ResolvedSpecification;
use crate::tla::system::SpecificationSystem;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The variable with further folders of modules.
const LIBRARY_VARIABLE: &str = "TLA_LIBRARY";

/// The files of a specification.
#[derive(Clone, Copy)]
struct SpecificationFiles<'f> {
    root: &'f Path,
    configuration: &'f Path,
    search: &'f SearchPath,
}

impl SpecificationFiles<'_> {
    /// Reads the files, and resolves names. The sources get the texts even if there are errors.
    fn resolve(
        self,
        config: &CheckConfig,
        conditions: &[StateCondition],
        sources: &mut SourceMap,
    ) -> Result<ResolvedSpecification, Vec<Diagnostic>> {
        let constant = |it: &Definition| format!("{} = {}", it.name, it.text());
        let constants: Vec<String> = config.model.definitions.iter().map(constant).collect();
        let SpecificationFiles { root, configuration, search } = self;
        let request = SpecificationRequest {
            root,
            config: configuration,
            search,
            constants: &constants,
            conditions,
        };
        request.read(sources)
    }
}

/// A specification with some files that are open in an editor.
#[derive(Clone, Copy)]
pub(super) struct EditedSpecification<'e> {
    /// The file of the root module.
    pub path: &'e Path,
    /// The texts of open files, each with its path. They take the place of the files.
    pub open: &'e [(String, String)],
}

impl EditedSpecification<'_> {
    /// Reads the specification, and resolves names. The sources get the texts even if there are errors.
    pub(super) fn resolve(
        &self,
        config: &CheckConfig,
        sources: &mut SourceMap,
    ) -> Result<ResolvedSpecification, Vec<Diagnostic>> {
        let conditions = config.properties.conditions();
        self.with_files(config, |files| files.resolve(config, &conditions, sources))
    }

    /// Reads the specification.
    pub(super) fn read(&self, config: &CheckConfig) -> Result<SpecificationModel, Error> {
        let mut sources = SourceMap::default();
        let read = self
            .with_files(config, |files| SpecificationModel::read_into(&mut sources, files, config));
        Ok(read.map_err(|it| Error::text(&it, &sources))?.0)
    }

    /// Passes the files to a function.
    fn with_files<T>(
        &self,
        config: &CheckConfig,
        and_then: impl FnOnce(SpecificationFiles<'_>) -> T,
    ) -> T {
        let ModelConfig { configuration, libraries, .. } = &config.model;
        let library = std::env::var_os(LIBRARY_VARIABLE);
        let named = |(name, text): &(String, String)| NamedText {
            path: PathBuf::from(name),
            text: text.clone(),
        };
        let search = SearchPath::new(self.path, libraries, library.as_deref())
            .with_open_texts(self.open.iter().map(named).collect());
        let beside = self.path.with_extension(tla::CONFIGURATION_EXTENSION);
        let configuration = configuration.as_deref().unwrap_or(&beside);
        and_then(SpecificationFiles { root: self.path, configuration, search: &search })
    }
}

/// A specification in TLA+ that can be searched.
///
/// ```no_run
/// use spillway::{Check, CheckConfig, SpecificationModel};
///
/// let config = CheckConfig::default();
/// let (model, warnings) = SpecificationModel::open("MC.tla".as_ref(), &config)?;
/// warnings.iter().for_each(|it| eprintln!("{it}"));
/// let found = Check::of_specification(&model).config(config).memory(256 << 20).run()?;
/// print!("{found}");
/// # Ok::<(), spillway::Error>(())
/// ```
pub struct SpecificationModel {
    system: SpecificationSystem,
    sources: SourceMap,
    conditions: Vec<StateCondition>,
    config: ModelConfig,
}

impl SpecificationModel {
    /// Reads the specification whose root module is in a file, and its configuration. Modules are searched in the
    /// folder of the file, in the folders of the configuration, and in those of the variable `TLA_LIBRARY`. Returns the warnings as
    /// text.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or a text has errors.
    pub fn open(
        path: &Path,
        config: &CheckConfig,
    ) -> Result<(SpecificationModel, Vec<String>), Error> {
        let ModelConfig { configuration, libraries, .. } = &config.model;
        let library = std::env::var_os(LIBRARY_VARIABLE);
        let search = SearchPath::new(path, libraries, library.as_deref());
        let cfg = match configuration {
            Some(configuration) => configuration.clone(),
            None => configuration_beside(path)?,
        };
        SpecificationModel::read(path, &cfg, &search, config)
    }

    /// Reads the specification of a job again: the root module, its configuration, then the other modules.
    pub(super) fn of_texts(
        files: &[(String, String)],
        config: &CheckConfig,
    ) -> Result<SpecificationModel, Error> {
        let [(root, _), (cfg, _), ..] = files else {
            return Err(Error::Unreadable("the specification has no configuration".into()));
        };
        let text = |(name, text): &(String, String)| NamedText {
            path: PathBuf::from(name),
            text: text.clone(),
        };
        let search = SearchPath::of_texts(files.iter().map(text).collect());
        Ok(SpecificationModel::read(root.as_ref(), cfg.as_ref(), &search, config)?.0)
    }

    fn read(
        root: &Path,
        configuration: &Path,
        search: &SearchPath,
        config: &CheckConfig,
    ) -> Result<(SpecificationModel, Vec<String>), Error> {
        let mut sources = SourceMap::default();
        let files = SpecificationFiles { root, configuration, search };
        let (model, warnings) = SpecificationModel::read_into(&mut sources, files, config)
            .map_err(|it| Error::text(&it, &sources))?;
        let warnings = warnings.iter().map(|it| it.render(&model.sources).to_string()).collect();
        Ok((model, warnings))
    }

    fn read_into(
        sources: &mut SourceMap,
        SpecificationFiles { root, configuration, search }: SpecificationFiles<'_>,
        config: &CheckConfig,
    ) -> Result<(SpecificationModel, Vec<Diagnostic>), Vec<Diagnostic>> {
        let conditions = config.properties.conditions();
        let files = SpecificationFiles { root, configuration, search };
        let resolved = files.resolve(config, &conditions, sources)?;
        let program = CompiledSpecification::new(resolved.specification);
        let system = SpecificationSystem::new(program, sources, &conditions);
        let system = system.map_err(|it| vec![it])?;
        let is_goal = |it: &StateCondition| it.holds == ConditionModality::Sometimes;
        if system.capabilities().views.is_some() && conditions.iter().any(is_goal) {
            return Err(vec![goal_beside_view()]);
        }
        let warnings = resolved.warnings.into_iter().chain(system.unapplied()).collect();
        let (sources, config) = (sources.clone(), config.model.clone());
        Ok((SpecificationModel { system, sources, conditions, config }, warnings))
    }

    /// Returns the system that is searched.
    pub fn system(&self) -> &SpecificationSystem {
        &self.system
    }

    /// Returns the reductions that the configuration demands.
    fn own_reductions(&self) -> Vec<ReductionSummary> {
        let summary = |name: &str, preserves, effect| ReductionSummary {
            name: name.to_owned(),
            preserves,
            effect: Some(effect),
            proviso: None,
            keeps_all_actions: true,
            is_of_model: true,
        };
        let states = self.system.orbit_size_max();
        let symmetry = (states > 1).then(|| {
            let effect = format!("a state represents up to {states}");
            summary("SYMMETRY", PreservedProperties::ALL, effect)
        });
        let view = self.system.view_name().map(|it| {
            let effect = format!("states with equal {it} are one");
            summary("VIEW", PreservedProperties::NONE, effect)
        });
        symmetry.into_iter().chain(view).collect()
    }

    /// Prepares a search, except for its directory. `storage` replaces the configuration's, if given.
    ///
    /// # Errors
    ///
    /// If the options leave nothing to check, or the budget is too small.
    pub fn prepare(
        &self,
        config: &CheckConfig,
        storage: Option<StateStorage>,
        goes_on: bool,
        control: &SearchControl,
    ) -> Result<StoredSearch<'_>, Error> {
        let limits = config.search_limits();
        let about = self.about(&limits);
        let job = |storage: &StateStorage| SearchJob::of_specification(config, self, storage);
        let model = UnreducedModel {
            model: Box::new(&self.system),
            about,
            limits,
            own_reductions: self.own_reductions(),
            storage,
        };
        model.store(config, goes_on, control, job)
    }
}

/// Returns the configuration file of a root module: in the same folder, with the same base name.
///
/// # Errors
///
/// There is none. If the module is there, the error names a model of it that has a configuration: the editors of TLA+
/// write models as `MC.tla` or `MCName.tla`.
fn configuration_beside(root: &Path) -> Result<PathBuf, Error> {
    let beside = |root: &Path| root.with_extension(tla::CONFIGURATION_EXTENSION);
    let (expected, name) = (beside(root), root.file_name().unwrap_or_default());
    if expected.exists() || !root.exists() {
        return Ok(expected);
    }
    let models = ["MC.tla".to_owned(), format!("MC{}", name.to_string_lossy())];
    let models = models.map(|it| root.with_file_name(it));
    let model = models.into_iter().find(|it| it.is_file() && beside(it).is_file());
    Err(Error::NoConfiguration(expected, model))
}

impl SourceModel for SpecificationModel {
    fn sources(&self) -> &SourceMap {
        &self.sources
    }

    fn language(&self) -> &'static Language {
        &tla::LANGUAGE
    }

    fn model_config(&self) -> ModelConfig {
        self.config.clone()
    }

    fn conditions(&self) -> &[StateCondition] {
        &self.conditions
    }

    fn searched(&self) -> SearchedModel<'_> {
        SearchedModel::unreduced(Box::new(&self.system)).with_own_reductions(self.own_reductions())
    }

    fn searched_within(&self, _: SearchBudget) -> SearchedModel<'_> {
        self.searched()
    }

    fn about(&self, limits: &SearchLimits) -> ModelSummary<'_> {
        let is_constraint = |it: &&StateCondition| it.holds == ConditionModality::Within;
        let given = self.conditions.iter().filter(is_constraint).count();
        ModelSummary {
            name: self.name().into(),
            language: self.language().name,
            key_order: "declared",
            sources: Cow::Borrowed(&self.sources),
            conditions: &self.conditions,
            claim: None,
            scope: CheckScope::of_specification(&self.system, &limits.checks, &self.sources, given),
        }
    }

    fn stored_description(&self) -> Option<&dyn SystemDescription> {
        Some(&self.system)
    }

    fn as_program(&self) -> Option<&TextModel> {
        None
    }

    fn condition_value(
        &self,
        property: u32,
        state: &[u8],
    ) -> Result<Option<StateValue>, RuntimeFault> {
        self.system.condition_value(property, state)
    }

    fn distance<'m>(&'m self, is_selected: &dyn Fn(u32) -> bool) -> Option<Box<DistanceFn<'m>>> {
        let distance = self.system.distance(is_selected)?;
        Some(Box::new(move |state| distance.of_state(state)))
    }
}

/// Returns the error of a search with a view for a state that satisfies a condition. A state that satisfies it may have
/// the view of another state, which was visited first.
fn goal_beside_view() -> Diagnostic {
    let told = "--cover does not apply to a specification with VIEW: the search visits one state of each view, and the \
                others may satisfy the condition";
    Diagnostic::error(Span::default(), told)
        .help("remove VIEW from the configuration, or write the negation as an INVARIANT to search for a violation")
}
