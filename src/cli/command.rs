//! Commands, as flags and a configuration file define them.

use super::args::{
    CheckArgs, CounterexampleArgs, ExpertArgs, LivenessArgs, ModelArgs, ModelFlags, QuestionArgs,
    SessionArgs, StateSpaceQuery,
};
use super::collector::CheckCollector;
use super::explored_trace::KeptTrace;
use super::failure::CommandFailure;
use super::unbuilt_outputs::reject_unbuilt;
use super::{output, say};
use crate::escape;
use crate::front::{LANGUAGES, Language};
use crate::report::TraceDisplayOptions;
use crate::session::config::ConfigError;
use crate::session::{
    CheckConfig, RunLimits, RunProperty, SavedCheck, SavedLimits, SearchBudget, SearchOutputs,
    SlotCounts,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A model that a command reads.
#[derive(Clone, Debug)]
pub(super) struct ModelInput {
    /// The file.
    pub path: PathBuf,
    /// The language, if the file name does not determine it.
    pub language: Option<&'static Language>,
    /// The texts with their names, if they differ from the files.
    pub texts: Vec<(String, String)>,
    /// The reading options and the properties.
    pub config: CheckConfig,
    /// The slots for processes by name, if an earlier search lacked some.
    pub slots: SlotCounts,
    /// The deadline of the survey of the model.
    pub deadline: Option<Instant>,
}

impl ModelInput {
    /// Creates the model in a file with a configuration.
    pub(super) fn new(path: &Path, config: &CheckConfig) -> Result<ModelInput, CommandFailure> {
        let language = config.model.language.as_deref().map(|name| {
            Language::from_name(name).ok_or_else(|| {
                let known: Vec<&str> = LANGUAGES.iter().map(|it| it.name).collect();
                let known = known.join(", ");
                CommandFailure::wrong(format!("unknown language {name}\n  help: use {known}"))
            })
        });
        Ok(ModelInput::in_language(path, language.transpose()?, config.clone()))
    }

    /// Creates the model of a command without a configuration file.
    pub(super) fn from_args(args: &ModelArgs, expert: &ExpertArgs) -> ModelInput {
        ModelInput::of_file(&args.model, &args.flags, expert)
    }

    /// Creates the model in a file, read as some flags say.
    pub(super) fn of_file(path: &Path, flags: &ModelFlags, expert: &ExpertArgs) -> ModelInput {
        let mut config = CheckConfig::default();
        flags.apply(&mut config);
        expert.apply(&mut config);
        ModelInput::in_language(path, flags.language, config)
    }

    fn in_language(path: &Path, language: Option<&'static Language>, config: CheckConfig) -> Self {
        ModelInput {
            path: path.to_path_buf(),
            language,
            texts: Vec::new(),
            config,
            slots: SlotCounts::new(),
            deadline: None,
        }
    }
}

/// The limits, the presentation and the outputs of a session.
#[derive(Clone, Default)]
pub(super) struct SessionOptions {
    /// The limits.
    pub limits: RunLimits,
    /// The outputs at its end.
    pub outputs: SearchOutputs,
    /// Whether the result is printed as one JSON object.
    pub json: bool,
    /// Whether the counterexample is omitted.
    pub no_trace: bool,
    /// Whether repeated steps of the counterexample are shown.
    pub unfolded: bool,
    /// Whether the counterexample is shown as a message sequence chart.
    pub msc: bool,
    /// Whether the costs of the search are printed.
    pub verbose: bool,
    /// The file of a SPIN trail.
    pub spin_trail: Option<PathBuf>,
    /// Whether an unchecked property of the model counts as a violation.
    pub strict: bool,
    /// Named questions about the whole state space.
    pub state_space_queries: Vec<(String, StateSpaceQuery)>,
    /// Whether only the lines of the Model Checking Contest are printed.
    pub mcc: bool,
    /// Whether the size of the state space is a question.
    pub asks_space: bool,
    /// The deadline, if it was fixed before the session began.
    pub deadline: Option<Instant>,
    /// Gathers the results if the check has several searches.
    pub collector: Option<Arc<CheckCollector>>,
    /// Keeps the first counterexample, if the explorer opens it afterwards.
    pub kept_trace: Option<Arc<KeptTrace>>,
}

impl SessionOptions {
    /// Creates the options of some flags for a check with this configuration.
    fn new(args: &SessionArgs, config: &CheckConfig) -> SessionOptions {
        let CounterexampleArgs { json, no_trace, unfolded, msc } = args.shown;
        SessionOptions {
            limits: config.limits.clone(),
            outputs: config.output.clone(),
            json,
            no_trace,
            unfolded,
            msc,
            verbose: args.verbose,
            spin_trail: args.spin_trail.clone(),
            strict: config.properties.strict || args.strict,
            ..SessionOptions::default()
        }
    }

    /// Creates the options of a resumed session. Limits and outputs default to those of the previous session.
    pub(super) fn resumed(args: &SessionArgs, saved: Option<&SavedLimits>, dir: &Path) -> Self {
        let mut config = CheckConfig::default();
        if let Some(saved) = saved {
            config.limits = saved.next_session();
            config.output = kept_outputs(args, saved, dir);
        }
        args.apply(&mut config);
        SessionOptions::new(args, &config)
    }

    /// Returns the deadline. Unless it was fixed before, the time counts from now.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let counted = || self.limits.max_time.and_then(|time| Instant::now().checked_add(time));
        self.deadline.or_else(counted)
    }

    /// Returns the limits and outputs that the directory saves for the next session. File names are absolute.
    pub(super) fn saved_limits(&self) -> SavedLimits {
        let absolute = |name: &Option<String>| {
            let path =
                |it: &String| std::path::absolute(it).ok().map(|it| it.display().to_string());
            name.as_ref().map(|it| path(it).unwrap_or_else(|| it.clone()))
        };
        let SearchOutputs { notify, report, junit, sarif } = &self.outputs;
        let outputs = SearchOutputs {
            notify: notify.clone(),
            report: absolute(report),
            junit: absolute(junit),
            sarif: absolute(sarif),
        };
        SavedLimits::new(self.limits.clone(), outputs)
    }

    /// Returns the budget of a search that begins or is resumed.
    pub(super) fn budget(&self, goes_on: bool) -> SearchBudget {
        SearchBudget::of(&self.limits, goes_on)
    }

    /// Returns the display options of a counterexample.
    pub(super) fn view(&self) -> TraceDisplayOptions {
        let width = output::columns_of_output();
        TraceDisplayOptions {
            unfolded: self.unfolded,
            chart: self.msc,
            width,
            ..TraceDisplayOptions::default()
        }
    }

    /// Returns whether a file with the result is written.
    pub(super) fn writes_results(&self) -> bool {
        let SearchOutputs { report, junit, sarif, .. } = &self.outputs;
        report.is_some() || junit.is_some() || sarif.is_some() || self.collector.is_some()
    }
}

/// Returns the outputs that were saved when the search began. Empty if the directory was copied from elsewhere.
fn kept_outputs(args: &SessionArgs, saved: &SavedLimits, dir: &Path) -> SearchOutputs {
    if saved.is_kept_in(dir) {
        return saved.outputs.clone();
    }
    let mut config = CheckConfig::default();
    args.apply(&mut config);
    let given = config.output.flags();
    let left: Vec<String> = saved
        .outputs
        .flags()
        .iter()
        .filter(|it| !given.iter().any(|flag| flag.0 == it.0))
        .map(|(flag, value)| format!("{flag} {}", escape::shell(value)))
        .collect();
    if !left.is_empty() {
        say(format!(
            "note: the directory is not from this machine, so its flags for output are ignored: {}; repeat those that \
             you need",
            left.join(" ")
        ));
    }
    SearchOutputs::default()
}

/// `spillway resume`.
#[derive(Clone)]
pub(super) struct ResumeCommand {
    /// The search directory.
    pub dir: PathBuf,
    /// The options of the session.
    pub run: SessionOptions,
}

/// `spillway check`.
#[derive(Clone)]
pub(super) struct CheckCommand {
    /// The model.
    pub model: ModelInput,
    /// The configuration.
    pub config: CheckConfig,
    /// The options of the session.
    pub run: SessionOptions,
    /// The search directory. The default is a temporary one.
    pub dir: Option<PathBuf>,
    /// The flags for temporal properties.
    pub runs: LivenessArgs,
    /// The flags for a file of questions.
    pub questions: QuestionArgs,
}

impl CheckCommand {
    /// Creates the command from flags and the configuration file.
    pub(super) fn new(args: &CheckArgs) -> Result<CheckCommand, CommandFailure> {
        let read = |path: &PathBuf| CheckConfig::read(path);
        let mut config = args.config.as_ref().map(read).transpose()?.unwrap_or_default();
        if let (Some(file), false) = (&args.config, config.sweep.is_empty()) {
            return Err(CommandFailure::wrong(format!(
                "{} has lists of values in its section [sweep], and `check` takes one value of each constant\n  help: \
                 `spillway sweep MODEL --config {}` checks the model with each of them",
                file.display(),
                escape::shell_path(file)
            )));
        }
        args.apply(&mut config)?;
        reject_unbuilt(&config.output)?;
        Ok(CheckCommand {
            model: ModelInput::new(&args.model.model, &config)?,
            run: SessionOptions {
                kept_trace: args.explore.map(|_| Arc::default()),
                ..SessionOptions::new(&args.run, &config)
            },
            config,
            dir: args.dir.clone(),
            runs: args.runs.clone(),
            questions: args.questions.clone(),
        })
    }

    /// Creates the command of a saved check, with other limits and another presentation.
    pub(super) fn resumed(
        saved: &SavedCheck,
        dir: &Path,
        run: SessionOptions,
    ) -> Result<CheckCommand, CommandFailure> {
        let config = CheckConfig {
            limits: run.limits.clone(),
            output: run.outputs.clone(),
            ..saved.config()
        };
        let name = saved.files.first().map_or("", |it| &it.0);
        let model = ModelInput::new(Path::new(name), &config)?;
        Ok(CheckCommand {
            model: ModelInput {
                language: Some(saved.language()?),
                texts: saved.files.clone(),
                ..model
            },
            config,
            run,
            dir: Some(dir.to_path_buf()),
            runs: LivenessArgs::default(),
            questions: QuestionArgs::default(),
        })
    }

    /// Returns the temporal property, if one is checked.
    pub(super) fn property(&self) -> Option<RunProperty> {
        self.config.properties.run_properties().next()
    }

    /// Returns whether the deadline is over.
    pub(super) fn is_over(&self) -> bool {
        self.run.deadline.is_some_and(|it| it <= Instant::now())
    }

    /// Returns whether a limit may stop each of its searches.
    pub(super) fn is_limited(&self) -> bool {
        let RunLimits { max_states, max_time, .. } = self.run.limits;
        max_states.is_some() || max_time.is_some()
    }

    /// Returns the same command with a changed configuration.
    pub(super) fn reconfigured(&self, change: impl FnOnce(&mut CheckConfig)) -> CheckCommand {
        let mut command = self.clone();
        change(&mut command.config);
        let CheckConfig { limits, output, .. } = &command.config;
        command.model.config = command.config.clone();
        (command.run.limits, command.run.outputs) = (limits.clone(), output.clone());
        command
    }
}

impl From<ConfigError> for CommandFailure {
    fn from(error: ConfigError) -> CommandFailure {
        let help = "keys are the long names of the flags and the names of options of -X, in the sections that \
                    docs/reference/command-line.md lists";
        CommandFailure::wrong(format!("{error}\n  help: {help}"))
    }
}
