//! The arguments of `launch`, and what they lead to: a model, with a counterexample if there is one.

use crate::cli::args::EditorArgs;
use crate::cli::command::ModelInput;
use crate::cli::editors::bounded_check::{self, SelectedProperties, bounded_config};
use crate::cli::explored_input;
use crate::cli::explored_trace::ExploredModel;
use crate::cli::failure::CommandFailure;
use crate::front::Language;
use crate::search::SearchControl;
use crate::session::config::{Definition, parse_duration, parse_size};
use crate::session::{CheckConfig, EditedModel};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;

/// The arguments of `launch`. Unknown ones are the client's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LaunchArguments {
    /// The model.
    program: Option<PathBuf>,
    /// A search directory with a counterexample.
    pub directory: Option<PathBuf>,
    /// Whether the model is checked for a counterexample first.
    #[serde(default = "yes")]
    check: bool,
    /// The seed of random steps without a counterexample. Without it the first enabled step is taken.
    pub seed: Option<u64>,
    /// Whether the session stops before the first step, and not at the first breakpoint or violation.
    #[serde(default = "yes")]
    pub stop_on_entry: bool,
    /// Constants and macros, as for `--define`.
    #[serde(default)]
    define: Vec<String>,
    /// Expressions that must hold in every state.
    #[serde(default)]
    invariant: Vec<String>,
    /// The properties that are checked.
    #[serde(default)]
    properties: SelectedProperties,
    memory: Option<String>,
    max_time: Option<String>,
    max_states: Option<u64>,
}

fn yes() -> bool {
    true
}

/// Why nothing can be debugged.
#[derive(Debug, Error)]
pub(super) enum LaunchError {
    /// There are none or both of these.
    #[error(
        "the launch configuration needs either `program`, a model file, or `directory`, a search directory"
    )]
    Target,
    /// An argument has a malformed value.
    #[error("the argument `{0}` of the launch configuration is malformed: {1}")]
    Value(&'static str, String),
    /// The model cannot be read or checked.
    #[error("{}", .0.message)]
    Failed(Box<CommandFailure>),
}

impl From<CommandFailure> for LaunchError {
    fn from(failure: CommandFailure) -> LaunchError {
        LaunchError::Failed(Box::new(failure))
    }
}

/// A model to debug, which may have to be checked first.
pub(super) enum LaunchTarget {
    Directory(PathBuf),
    Model { path: PathBuf, config: Box<CheckConfig>, is_checked: bool },
}

/// A model that was launched.
pub(super) struct LaunchedModel {
    pub explored: ExploredModel,
    /// What a check has found, in one sentence.
    pub says: Option<String>,
}

impl LaunchArguments {
    /// Returns what they name, with the bounds of the command line as defaults.
    pub(super) fn target(&self, args: &EditorArgs) -> Result<LaunchTarget, LaunchError> {
        match (&self.program, &self.directory) {
            (Some(path), None) => Ok(LaunchTarget::Model {
                path: path.clone(),
                config: Box::new(self.config(args)?),
                is_checked: self.check,
            }),
            (None, Some(path)) => Ok(LaunchTarget::Directory(path.clone())),
            _ => Err(LaunchError::Target),
        }
    }

    fn config(&self, args: &EditorArgs) -> Result<CheckConfig, LaunchError> {
        let mut config = bounded_config(args, &self.properties);
        let limits = &mut config.limits;
        if let Some(memory) = &self.memory {
            let parsed = parse_size(memory);
            limits.memory = parsed.map_err(|it| LaunchError::Value("memory", it.to_string()))?;
        }
        if let Some(time) = &self.max_time {
            let parsed = parse_duration(time);
            let parsed = parsed.map_err(|it| LaunchError::Value("maxTime", it.to_string()))?;
            limits.max_time = Some(parsed);
        }
        limits.max_states = self.max_states.or(limits.max_states);
        let define = |it: &String| {
            it.parse::<Definition>().map_err(|it| LaunchError::Value("define", it.to_string()))
        };
        config.model.definitions = self.define.iter().map(define).collect::<Result<_, _>>()?;
        config.properties.invariants.clone_from(&self.invariant);
        Ok(config)
    }
}

impl LaunchTarget {
    /// Returns the control of the check.
    pub(super) fn control(&self) -> Arc<SearchControl> {
        match self {
            LaunchTarget::Directory(_) => Arc::default(),
            LaunchTarget::Model { config, .. } => bounded_check::control_of(config),
        }
    }

    /// Reads the model, and checks it if that is wanted.
    pub(super) fn launch(self, control: &Arc<SearchControl>) -> Result<LaunchedModel, LaunchError> {
        let (path, config, is_checked) = match self {
            LaunchTarget::Directory(path) => {
                let explored = explored_input::of_directory(&path)?;
                return Ok(LaunchedModel { explored, says: None });
            }
            LaunchTarget::Model { path, config, is_checked } => (path, config, is_checked),
        };
        let mut says = None;
        let language = Language::from_file_name(&path.display().to_string());
        if let Some(language) = language.filter(|_| is_checked) {
            let model = EditedModel { path: path.clone(), language, open: Vec::new() };
            let found = bounded_check::check(&model, &config, control);
            let found = found.map_err(CommandFailure::from)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            says = Some(found.sentence(&name));
            if let Some(trace) = found.traces.into_iter().next() {
                return Ok(LaunchedModel { explored: trace.explored, says });
            }
        }
        let input = ModelInput::new(&path, &config)?;
        Ok(LaunchedModel { explored: explored_input::of_file(&input)?, says })
    }
}
