//! `hunt`: bug hunts, inexact searches in memory.

mod presentation;

use super::args::{CounterexampleArgs, HuntArgs};
use super::command::{ModelInput, SessionOptions};
use super::failure::{self, CommandFailure};
use super::preparation::SearchPreparation;
use super::progress::ProgressDisplay;
use super::trail::WrittenTrail;
use super::{CommandResult, liveness, model, print, print_json, slots, trail, warn, warnings};
use crate::budget::AnalysisBudget;
use crate::model::StateSpace;
use crate::reduce::ReductionSelection;
use crate::report::{self, TraceFormat};
use crate::search::control::SearchPhase;
use crate::search::hunt::{HuntEnd, HuntProgress};
use crate::search::{MemoryPlan, SearchControl, StateStorage};
use crate::session::{
    CheckConfig, CheckPlan, Fairness, HUNT_TIME, HuntRequest, PlannedSearch, ProductCheck,
    ProductOptions, RunHuntResult, RunLimits, RunProperty, SearchBudget, SourceModel, StateHunt,
    StateHuntResult, hunt_run, with_product,
};
use presentation::{HuntFigures, HuntReport, HuntSubject};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `spillway hunt`.
#[derive(Clone)]
struct HuntCommand {
    input: ModelInput,
    config: CheckConfig,
    options: SessionOptions,
    request: HuntRequest,
    format: Option<TraceFormat>,
    /// The time for all hunts of the command, and when it began.
    max_time: Option<Duration>,
    begun: Instant,
}

impl HuntCommand {
    fn new(args: &HuntArgs) -> Result<HuntCommand, CommandFailure> {
        args.runs.reject_unsupported()?;
        let input = ModelInput::from_args(&args.model, &args.expert);
        let mut config = input.config.clone();
        args.runs.apply(&mut config);
        if config.properties.fairness != Fairness::None {
            let help = "`spillway check` checks fair runs";
            let why = "--fair is not supported by hunt: random walks are not fair";
            return Err(CommandFailure::wrong(format!("{why}\n  help: {help}")));
        }
        if !args.only.is_empty() {
            config.properties.only = Some(args.only.iter().map(|&it| it.into()).collect());
        }
        config.properties.no_deadlock |= args.no_deadlock;
        let mut limits = RunLimits { threads: args.threads, ..RunLimits::default() };
        args.memory.into_iter().for_each(|it| limits.memory = it);
        args.exec.into_iter().for_each(|it| limits.exec = it.into());
        config.limits = limits.clone();
        let default_time = args.walks.is_none().then_some(HUNT_TIME);
        let mut request = HuntRequest { seed: args.seed, walks: args.walks, ..Default::default() };
        if !args.strategies.is_empty() {
            request.strategies.retain(|it| args.strategies.iter().any(|own| own.0.name == it.name));
        }
        let CounterexampleArgs { json, no_trace, unfolded, msc } = args.shown;
        let options = SessionOptions {
            limits,
            json,
            no_trace,
            unfolded,
            msc,
            spin_trail: args.spin_trail.clone(),
            ..SessionOptions::default()
        };
        Ok(HuntCommand {
            input: ModelInput { config: config.clone(), ..input },
            config,
            options,
            request,
            format: args.format.map(TraceFormat::from),
            max_time: args.max_time.or(default_time),
            begun: Instant::now(),
        })
    }

    /// Returns the input of one of its hunts.
    fn input_of(&self, search: &PlannedSearch) -> ModelInput {
        ModelInput { config: search.config.clone(), ..self.input.clone() }
    }

    /// Returns the options of a hunt, which gets an equal part of the remaining time.
    fn options_of(&self, left: usize) -> SessionOptions {
        let mut options = self.options.clone();
        let elapsed = self.begun.elapsed();
        options.limits.max_time =
            self.max_time.map(|it| it.saturating_sub(elapsed) / left.max(1) as u32);
        options
    }

    fn budget(&self) -> SearchBudget {
        SearchBudget { counts: true, ..SearchBudget::of(&self.options.limits, false) }
    }
}

/// One hunt of a command.
struct SingleHunt<'c> {
    command: &'c HuntCommand,
    search: &'c PlannedSearch,
    options: SessionOptions,
    preparation: SearchPreparation,
}

/// The end of a hunt.
struct HuntOutput {
    code: u8,
    document: serde_json::Value,
}

/// `spillway hunt`.
pub(super) fn hunt(args: &HuntArgs) -> CommandResult {
    let command = HuntCommand::new(args)?;
    crate::search::return_large_blocks(command.options.limits.memory);
    slots::retry_with_more_slots(command, |it| &mut it.input, hunt_all)
}

/// Hunts for each of the properties, until there is a violation.
fn hunt_all(command: &HuntCommand) -> CommandResult {
    let searches = planned(command)?;
    let (mut code, mut documents) = (failure::VERIFIED, Vec::new());
    for (number, search) in searches.iter().enumerate() {
        let options = command.options_of(searches.len() - number);
        let preparation = SearchPreparation::begin(&options);
        let hunt = SingleHunt { command, search, options, preparation };
        let output = match &search.property {
            None => hunt.of_states()?,
            Some(property) => hunt.of_runs(property)?,
        };
        documents.push(output.document);
        code = output.code;
        if code != failure::VERIFIED {
            break;
        }
    }
    if command.format.is_some() && code != failure::VIOLATED {
        return Err(CommandFailure::of_code(code, "no counterexample was found"));
    }
    if command.options.json {
        let document = presentation::document(documents, &warnings());
        print_json(&format!("{document:#}\n"));
    }
    Ok(code)
}

/// Returns the hunts of a command: one for the properties of states and transitions, and one for each temporal property.
fn planned(command: &HuntCommand) -> Result<Vec<PlannedSearch>, CommandFailure> {
    let config = &command.config;
    let alone =
        || vec![PlannedSearch { folder: String::new(), config: config.clone(), property: None }];
    if model::is_specification(&command.input)? {
        return match config.properties.asks_runs() {
            false => Ok(alone()),
            true => Err(CommandFailure::wrong(
                "temporal properties are hunted in programs, and this model is a specification",
            )),
        };
    }
    let (model, _) = model::open_quietly(&command.input)?;
    let plan = CheckPlan::of(config, &model)?;
    let own = config.checks_model_properties().then(|| model.own_property()).flatten();
    let (Some(name), [PlannedSearch { property: None, .. }]) = (own, &plan.searches[..]) else {
        return Ok(plan.searches);
    };
    let [mut states, mut runs] = [config.clone(), config.clone()];
    states.model.no_claim |= model.language.options.model_property;
    states.properties.decided_elsewhere = vec![name.to_owned()];
    runs.properties.ltl = vec![name.to_owned()];
    let property = Some(RunProperty::Formula(name.to_owned()));
    Ok(vec![
        PlannedSearch { config: states, ..alone().remove(0) },
        PlannedSearch { folder: String::new(), config: runs, property },
    ])
}

impl SingleHunt<'_> {
    /// Hunts for a violation of properties of states and transitions.
    fn of_states(&self) -> Result<HuntOutput, CommandFailure> {
        let SingleHunt { command, search, preparation, .. } = self;
        let input = command.input_of(search);
        preparation.enter(SearchPhase::Reading);
        let (model, warned) = model::open_any(&input, model::open_quietly)?;
        warned.iter().for_each(warn);
        let model = &*model;
        trail::refuse(command.options.spin_trail.as_deref(), model)?;
        preparation.enter(SearchPhase::Compiling);
        let searched = model.searched_within(command.budget());
        preparation.check_not_stopped()?;
        let plan = match model.as_program() {
            Some(program) => command.budget().plan(program, searched.model().width())?,
            None => command.budget().plan_without_text(searched.model().width())?,
        };
        let limits = search.config.search_limits();
        let about = model.about(&limits);
        let hunt = StateHunt::new(searched.model(), &about, &limits)?.with_source(model);
        let StateHuntResult { outcome, counterexample, found_depth } = self
            .run(searched.model(), |control, progress| {
                hunt.run(&command.request.within(&plan), control, progress)
            })?;
        let report = HuntReport {
            model,
            subject: HuntSubject::States {
                conditions: about.conditions,
                counterexample: counterexample.as_ref(),
                claim: about.claim,
            },
            outcome: &outcome,
            scope: &about.scope,
            figures: self.figures(&plan, searched.model(), found_depth),
        };
        self.print(&report)
    }

    /// Hunts for a run that violates a temporal property.
    fn of_runs(&self, property: &RunProperty) -> Result<HuntOutput, CommandFailure> {
        let SingleHunt { command, search, preparation, .. } = self;
        preparation.enter(SearchPhase::Reading);
        let wanted = property.request();
        let watched = model::open_with_property(&command.input_of(search), wanted)?;
        trail::refuse(command.options.spin_trail.as_deref(), &watched.model)?;
        let finite_runs = search.config.properties.finite_runs;
        let finite_runs = finite_runs.unwrap_or(wanted.default_ended_runs());
        let watched =
            watched.without_invariant().reduced(ReductionSelection::default(), finite_runs);
        let (budget, fairness) = (command.budget(), Fairness::None);
        let options = ProductOptions {
            budget,
            finite_runs,
            fairness,
            shortest: true,
            hunts: false,
            control: &preparation.control,
        };
        let analysis = AnalysisBudget::new(budget.memory, &*preparation.control);
        let executor = |it| preparation.executor(it, budget);
        with_product(&watched, options, &analysis, executor, |judged| match judged {
            None => self.print_vacuous(&watched.model, &watched.name),
            Some(judged) => self.of_product(judged),
        })
    }

    fn of_product(&self, judged: &ProductCheck<'_, '_>) -> Result<HuntOutput, CommandFailure> {
        let SingleHunt { command, preparation, .. } = self;
        preparation.check_not_stopped()?;
        let (watched, searched) = (judged.check, judged.searched.model());
        let width = StateStorage::default().stored_width(searched);
        let plan = command.budget().plan(&watched.model, width)?;
        let RunHuntResult { outcome, summary } = self.run(searched, |control, progress| {
            hunt_run(judged, &command.request.within(&plan), control, progress)
        })?;
        let run = liveness::hunted_run(judged, &summary)?;
        let scope = watched.scope(false);
        let report = HuntReport {
            model: &watched.model,
            subject: HuntSubject::Runs { property: &watched.name, run: run.as_ref() },
            outcome: &outcome,
            scope: &scope,
            figures: self.figures(&plan, searched, None),
        };
        let output = self.print(&report)?;
        if let (Some(path), Some(run)) = (command.options.spin_trail.as_deref(), &run) {
            liveness::write_trail(path, judged, run)?.say();
        }
        Ok(output)
    }

    /// Runs a hunt with its progress display.
    fn run<R>(
        &self,
        searched: &dyn StateSpace,
        run: impl FnOnce(&SearchControl, &HuntProgress) -> Result<R, crate::session::Error>,
    ) -> Result<R, CommandFailure> {
        let (control, _signals) = self.preparation.end();
        let progress = Arc::new(HuntProgress::default());
        let actions = searched.description().actions().len() as u64;
        let shown = ProgressDisplay::of_hunt(&control, &progress, actions, &self.options);
        let result = run(&control, &progress);
        drop(shown);
        Ok(result?)
    }

    fn figures(
        &self,
        plan: &MemoryPlan,
        searched: &dyn StateSpace,
        found_depth: Option<u64>,
    ) -> HuntFigures {
        HuntFigures {
            seconds: self.command.begun.elapsed().as_secs_f64(),
            seed: self.command.request.seed,
            threads: plan.threads,
            actions: searched.description().actions().len(),
            found_depth,
        }
    }

    /// Prints the result of a hunt.
    fn print(&self, report: &HuntReport<'_>) -> Result<HuntOutput, CommandFailure> {
        let SessionOptions { json, no_trace, ref spin_trail, .. } = self.options;
        match self.command.format {
            Some(format) => report.formatted(format).iter().for_each(|it| print(it)),
            None if json => {}
            None => {
                if !no_trace {
                    report.write_trace(&self.options.view(), &mut |it| print(it));
                }
                print(&report.text());
            }
        }
        if let (Some(path), HuntSubject::States { counterexample: Some((_, way)), .. }) =
            (spin_trail.as_deref(), &report.subject)
        {
            trail::write_counterexample(path, report.model, way).map(WrittenTrail::say)?;
        }
        let is_interrupted = report.outcome.end == HuntEnd::Stopped && !self.is_over();
        let code = match report.is_violated() {
            true => failure::VIOLATED,
            false if is_interrupted => failure::STOPPED,
            false => failure::VERIFIED,
        };
        Ok(HuntOutput { code, document: report.json(!no_trace) })
    }

    /// Returns whether the time of the hunt is over. Otherwise a signal stopped it.
    fn is_over(&self) -> bool {
        let elapsed = self.preparation.control.elapsed();
        self.options.limits.max_time.is_some_and(|it| elapsed >= it)
    }

    /// Prints that no run can violate a property.
    fn print_vacuous(
        &self,
        model: &dyn SourceModel,
        name: &str,
    ) -> Result<HuntOutput, CommandFailure> {
        let says = format!("verified: no run violates {name}, whatever the model does");
        if !self.options.json && self.command.format.is_none() {
            print(&report::wrapped("", &format!("{}: {says}", model.name())));
        }
        let document = presentation::vacuous_document(model, name);
        Ok(HuntOutput { code: failure::VERIFIED, document })
    }
}
