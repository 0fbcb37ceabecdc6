//! The presentation of the result of an emptiness check.

use crate::cli::args::TraceArgs;
use crate::cli::command::{CheckCommand, SessionOptions};
use crate::cli::failure::{self, CommandFailure};
use crate::cli::next_commands::{self, CounterexampleShape};
use crate::cli::trail::WrittenTrail;
use crate::cli::{
    CommandResult, notify, print, print_json, result_files, run, say, trace, trail, warn, warnings,
};
use crate::front::TrailEnd;
use crate::model::{Counters, PropertyClass, StepDescription, StepOutcome};
use crate::reduce::{ReductionKind, ReductionRefusal};
use crate::report::{
    self, AnnotatedSources, CheckScope, FinalStateView, JudgementReport, PropertyJudgement,
    PropertyVerdict, ReportPage, TraceDisplayOptions, TraceFormat, TraceView, ViolatingRun,
    ViolatingRunEnd, count, grouped,
};
use crate::search::lasso::Lasso;
use crate::search::liveness::nested_dfs::ProbeVerdict;
use crate::search::{SearchVerdict, events};
use crate::session::{
    Fairness, LivenessCheck, LivenessStage, LivenessSummary, ProductCheck, ReplayedRun,
    SearchedModel, SweepStatus,
};
use serde_json::{Value, json};
use std::path::Path;

/// The treatment of steps that end in errors, if all runs without errors satisfy the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorPolicy {
    /// They are reported.
    Report,
    /// A separate search checks them.
    CheckNext,
}

/// The options of printing.
pub(super) struct LivenessPrintOptions<'a> {
    pub(super) json: bool,
    /// Whether nothing is printed here, because another part prints the result.
    is_quiet: bool,
    /// Whether unchecked properties count as violations.
    pub(super) strict: bool,
    /// Whether the run is printed.
    pub(super) trace: bool,
    /// The file of its SPIN trail.
    pub(super) trail: Option<&'a Path>,
    /// The display options of the run.
    pub(super) view: TraceDisplayOptions,
    /// The format in which the run alone is printed.
    pub(super) format: Option<TraceFormat>,
    /// The treatment of errors.
    pub(super) errors: ErrorPolicy,
    /// The session and its directory, for the commands that show the run again.
    again: Option<(&'a SessionOptions, Option<&'a Path>)>,
}

impl<'a> LivenessPrintOptions<'a> {
    /// Returns the options of the session, if there is one.
    pub(super) fn session(&self) -> Option<&'a SessionOptions> {
        self.again.map(|it| it.0)
    }
}

impl LivenessPrintOptions<'_> {
    /// Creates the options for the result of a session. `dir` is its directory, if it is kept.
    pub(super) fn of<'a>(
        args: &'a SessionOptions,
        errors: ErrorPolicy,
        dir: Option<&'a Path>,
    ) -> LivenessPrintOptions<'a> {
        let SessionOptions { json, mcc: is_quiet, strict, no_trace, ref spin_trail, .. } = *args;
        let (trail, view) = (spin_trail.as_deref(), args.view());
        let again = Some((args, dir));
        LivenessPrintOptions {
            json,
            is_quiet,
            strict,
            trace: !no_trace,
            trail,
            view,
            format: None,
            errors,
            again,
        }
    }

    /// Creates the options of `trace`.
    pub(super) fn of_trace(args: &TraceArgs) -> LivenessPrintOptions<'_> {
        let (json, trail, view) = (args.json, args.spin_trail.as_deref(), args.view.view());
        let format = args.format.map(TraceFormat::from);
        let (errors, again) = (ErrorPolicy::Report, None);
        let (is_quiet, strict) = (false, false);
        LivenessPrintOptions {
            json,
            is_quiet,
            strict,
            trace: true,
            trail,
            view,
            format,
            errors,
            again,
        }
    }

    /// Prints a result as one JSON object, or adds it to that of the whole check.
    fn print_document(&self, document: Value) {
        match self.again {
            Some((args, _)) => print_document(args, document),
            None => print_json(&format!("{document:#}\n")),
        }
    }

    /// Returns whether a search for errors follows this result.
    pub(super) fn checks_errors_next(&self, told: &LivenessSummary) -> bool {
        let is_verified = told.found == ProbeVerdict::None;
        // A search for violating states need not find all errors.
        let is_open = told.faults > 0 || told.invariant.is_some();
        is_verified && is_open && self.errors == ErrorPolicy::CheckNext
    }
}

/// Prints the result of a search as one JSON object, or adds it to that of the whole check.
fn print_document(args: &SessionOptions, document: Value) {
    match &args.collector {
        Some(collector) => collector.add_document(document),
        None => print_json(&format!("{document:#}\n")),
    }
}

/// Prints the result of a search, with the run that was found.
pub(super) fn print_outcome(
    judged: &ProductCheck<'_, '_>,
    told: &LivenessSummary,
    how: LivenessPrintOptions<'_>,
) -> CommandResult {
    let watched = judged.check;
    let mut written = None;
    let run = match &told.found {
        ProbeVerdict::Found(_) if how.trace || how.trail.is_some() => {
            let run = shown_run(judged, told)?;
            let trail = how.trail.zip(run.as_ref());
            written = trail.map(|(path, run)| write_trail(path, judged, run)).transpose()?;
            run
        }
        ProbeVerdict::Found(_) | ProbeVerdict::None | ProbeVerdict::Open => None,
    };
    if let Some(format) = how.format {
        let run = run.ok_or_else(trace::none_to_print)?;
        let (model, sources) = (watched.model.name(), &watched.model.sources);
        print(&report::format_run(format, model, sources, &run, &watched.name));
        written.into_iter().for_each(WrittenTrail::say);
        return Ok(code(&told.found));
    }
    let run = run.filter(|_| how.trace);
    let errors_next = how.checks_errors_next(told);
    let code = code(&told.found);
    let report = LivenessReport { errors_next, ..LivenessReport::of(judged, told) };
    notify::summarise(|| report.text(None, &how.view));
    match how.json {
        _ if how.is_quiet => {}
        // Only one object is printed: that of the search for errors.
        true if errors_next => {
            let name = &watched.name;
            warn(format!("warning: every run that meets no run-time error satisfies {name}"));
        }
        true => {
            how.print_document(report.json(run.as_ref()));
        }
        false => {
            print(&report.text(run.as_ref(), &how.view));
            if let (ProbeVerdict::Found(_), Some((args, dir))) = (&told.found, how.again) {
                let dir = dir.map(|it| it.display().to_string());
                let next = next_commands::commands(
                    &watched.model,
                    CounterexampleShape::RUN,
                    dir.as_deref(),
                    Some(args),
                );
                print(&report::print_next(dir.as_deref(), &next));
            }
        }
    }
    written.into_iter().for_each(WrittenTrail::say);
    let scope = report.scope();
    Ok(if errors_next { code } else { strict_code(how.strict, code, &scope) })
}

/// Returns the page of the result of a search, with the run that was found.
pub(super) fn page<'p>(
    judged: &ProductCheck<'p, '_>,
    told: &LivenessSummary,
    has_way: bool,
) -> Result<ReportPage<'p>, CommandFailure> {
    let watched = judged.check;
    let (model, sources) = (&watched.model, &watched.model.sources);
    let run = if has_way { shown_run(judged, told)? } else { None };
    let way = run.map(|run| TraceView::of_run(&run, &watched.name, sources));
    let verdict = told.verdict();
    let view = TraceDisplayOptions::default();
    let as_text = LivenessReport::of(judged, told).text(None, &view);
    let figures = [("states", told.states), ("transitions", told.transitions)];
    Ok(ReportPage {
        says: verdict_sentence(told, judged.fairness(), &watched.name),
        figures: figures.map(|(what, number)| (what, grouped(number))).into(),
        way,
        texts: Some(AnnotatedSources::uncounted(sources)),
        ..ReportPage::new(model.name(), verdict, as_text)
    })
}

/// The directory and the time of a search.
pub(super) struct SearchProvenance<'m> {
    /// The directory, if it is kept.
    pub(super) dir: Option<&'m Path>,
    pub(super) seconds: f64,
}

/// Writes the requested files with the result of a search.
pub(super) fn write_files(
    args: &SessionOptions,
    judged: &ProductCheck<'_, '_>,
    told: &LivenessSummary,
    made: SearchProvenance<'_>,
) -> Result<(), CommandFailure> {
    match args.writes_results() {
        true => {
            let scope = LivenessReport::of(judged, told).scope();
            let page = page(judged, told, true)?;
            write_page(args, judged.check, &scope, page, made)
        }
        false => Ok(()),
    }
}

fn write_page(
    args: &SessionOptions,
    watched: &LivenessCheck,
    scope: &CheckScope,
    page: ReportPage<'_>,
    SearchProvenance { dir, seconds }: SearchProvenance<'_>,
) -> Result<(), CommandFailure> {
    let (events, name) = (dir.map(events::read), dir.map(|it| it.display().to_string()));
    let mut page: ReportPage<'_> = page;
    let came = PropertyVerdict::from(page.verdict);
    if let Some(path) = &args.outputs.report {
        let (events, dir) = (events.as_deref().unwrap_or_default(), name.as_deref());
        page = ReportPage { events, dir, ..page };
        result_files::write_page(args, path, page.verdict, page.render())?;
    }
    let (kind, name) = watched.property();
    let property = PropertyJudgement::of_runs(kind, name, came);
    let (model, sources) = (&watched.model.interp, &watched.model.sources);
    let all = report::judgements_of_runs(property, model, sources, scope);
    let (model, strict) = (watched.model.name().to_owned(), args.strict);
    let ReportPage { told, way, .. } = page;
    result_files::write_judgements(args, JudgementReport { model, seconds, all, told, way, strict })
}

/// Returns the run of a result for display, if there is one.
pub(in crate::cli) fn shown_run<'r>(
    judged: &ProductCheck<'r, '_>,
    told: &LivenessSummary,
) -> Result<Option<ViolatingRun<'r>>, CommandFailure> {
    let ProbeVerdict::Found(lasso) = &told.found else { return Ok(None) };
    let shown = judged.replay(lasso);
    let shown = shown.map_err(|error| CommandFailure::wrong(error.to_string()))?;
    Ok(Some(run_of(judged, told, lasso, shown)))
}

/// Writes a run as a SPIN trail.
pub(in crate::cli) fn write_trail(
    path: &Path,
    judged: &ProductCheck<'_, '_>,
    run: &ViolatingRun<'_>,
) -> Result<WrittenTrail, CommandFailure> {
    let last = run.steps.last().and_then(|step| match &step.outcome {
        StepOutcome::Successor(state) => judged.product.last_moves(state),
        StepOutcome::Fault(_) => None,
    });
    let last = last.unwrap_or_default();
    let end = match run.loop_start() {
        Some(back) => TrailEnd::LoopAfter(back),
        None => TrailEnd::LastMoves(&last),
    };
    let mut each_step = |visit: &mut dyn FnMut(&StepDescription)| run.steps.iter().for_each(visit);
    trail::write(path, &judged.check.model, &mut each_step, end)
}

/// Returns the run for display. It ends where every continuation violates the property, if it reaches such a state.
fn run_of<'r>(
    judged: &ProductCheck<'r, '_>,
    told: &LivenessSummary,
    lasso: &Lasso,
    ReplayedRun { mut steps, back, closes }: ReplayedRun,
) -> ViolatingRun<'r> {
    let (model, sources) = (judged.searched.model().description(), &judged.check.model.sources);
    let is_done = told.is_shortest();
    if let Some((after, state)) = judged.violation_point(&steps) {
        let property = judged.product.property();
        let (operands, standing) =
            (model.operands(&state, property), model.process_locations(&state));
        let scene = FinalStateView::new(operands, standing, false, sources);
        steps.truncate(after + 1);
        let end = ViolatingRunEnd::Decided(Box::new(scene));
        return ViolatingRun { model, steps, end, is_shortest: is_done };
    }
    if !closes {
        say(
            "one round of the cycle is shown; the next rounds visit symmetric states, and the cycle closes after \
             several rounds",
        );
    }
    // A cycle that is unrolled makes a longer run than the one that was found.
    let is_as_found = closes && steps.len() == lasso.states.len() + 1;
    ViolatingRun::with_cycle(model, steps, back, sources).shortest_if(is_as_found && is_done)
}

/// Returns the exit code of a verdict.
pub(super) fn verdict_code(verdict: SearchVerdict) -> u8 {
    match verdict {
        SearchVerdict::Verified => failure::VERIFIED,
        SearchVerdict::Violated => failure::VIOLATED,
        SearchVerdict::Incomplete => failure::STOPPED,
    }
}

pub(super) fn code(found: &ProbeVerdict) -> u8 {
    match found {
        ProbeVerdict::None => failure::VERIFIED,
        ProbeVerdict::Found(_) => failure::VIOLATED,
        ProbeVerdict::Open => failure::STOPPED,
    }
}

/// Describes how safety properties are checked.
fn how_to_look(watched: &LivenessCheck) -> String {
    match watched.model.language.options.model_property {
        true => "use --no-claim".to_owned(),
        false => format!("leave out {}", watched.saved_property.flag()),
    }
}

/// Returns the exit code of a search that ends with `code`. With `strict`, unchecked properties are reported and
/// count.
fn strict_code(strict: bool, code: u8, scope: &CheckScope) -> u8 {
    run::strict_code(strict, code, scope.unchecked.is_empty() && !scope.leaves_out_asked())
}

/// Reports that no run can violate the property.
pub(super) fn print_vacuous(
    args: &CheckCommand,
    watched: &LivenessCheck,
    fairness: Fairness,
) -> CommandResult {
    let (model, name) = (watched.model.name(), &watched.name);
    let report = LivenessReport::new(watched, None, fairness, &LivenessSummary::UNSEARCHED);
    let scope = report.scope();
    let says = format!("verified: no run violates {name}, whatever the model does");
    let as_text = report::wrapped("", &format!("{model}: {says}"))
        + &report::print_unchecked(&scope.unchecked);
    notify::summarise(|| as_text.clone());
    match args.run.json {
        _ if args.run.mcc => {}
        false => print(&as_text),
        true => {
            print_document(&args.run, report.json(None));
        }
    }
    let texts = Some(AnnotatedSources::uncounted(&watched.model.sources));
    let page =
        ReportPage { says, texts, ..ReportPage::new(model, SearchVerdict::Verified, as_text) };
    let made = SearchProvenance { dir: None, seconds: 0.0 };
    if args.run.writes_results() {
        write_page(&args.run, watched, &scope, page, made)?;
    }
    Ok(strict_code(args.run.strict, failure::VERIFIED, &scope))
}

/// Formats the reductions of a search.
fn reductions(names: &[String]) -> String {
    match names.is_empty() {
        true => "without reductions".to_owned(),
        false => format!("reduced by {}", names.join(", ")),
    }
}

/// Returns the verdict as a sentence.
pub(super) fn verdict_sentence(told: &LivenessSummary, fairness: Fairness, name: &str) -> String {
    let of_a_sort = match fairness {
        Fairness::None => "run",
        Fairness::Weak => "weakly fair run",
    };
    match told.verdict() {
        SearchVerdict::Verified if told.faults > 0 => {
            format!("every {of_a_sort} that meets no run-time error satisfies {name}")
        }
        SearchVerdict::Verified => format!("verified: every {of_a_sort} satisfies {name}"),
        SearchVerdict::Violated => format!("VIOLATED: a {of_a_sort} does not satisfy {name}"),
        SearchVerdict::Incomplete => {
            format!("incomplete: no {of_a_sort} that violates {name} was found so far")
        }
    }
}

/// Formats rows with the checked and unchecked safety properties.
fn print_scope(watched: &LivenessCheck, scope: &CheckScope) -> String {
    let mut out = String::new();
    if !scope.checked.is_empty() {
        out += &report::row("checked", &format!("{}, too", scope.checked.join(", ")));
    }
    out += &report::print_unchecked(&scope.unchecked);
    if !scope.left_out.is_empty() {
        out += &report::row("not checked", &scope.left_out.join(", "));
        out += &report::row("", &how_to_look(watched));
    }
    out
}

/// The result of an emptiness check, prepared for display.
pub(super) struct LivenessReport<'r, 'm> {
    /// The check.
    check: &'r LivenessCheck,
    /// The model that was searched. `None` if no run can violate the property, whatever the model does.
    searched: Option<&'r SearchedModel<'m>>,
    fairness: Fairness,
    summary: &'r LivenessSummary,
    /// Whether a search for errors follows.
    errors_next: bool,
}

impl<'r, 'm> LivenessReport<'r, 'm> {
    pub(super) fn new(
        check: &'r LivenessCheck,
        searched: Option<&'r SearchedModel<'m>>,
        fairness: Fairness,
        summary: &'r LivenessSummary,
    ) -> LivenessReport<'r, 'm> {
        LivenessReport { check, searched, fairness, summary, errors_next: false }
    }

    fn of(
        judged: &'r ProductCheck<'_, 'm>,
        summary: &'r LivenessSummary,
    ) -> LivenessReport<'r, 'm> {
        LivenessReport::new(judged.check, Some(judged.searched), judged.fairness(), summary)
    }

    /// Returns the scope apart from the temporal property. It includes errors in steps if the property is verified and
    /// the reductions preserve them.
    fn scope(&self) -> CheckScope {
        let LivenessReport { check, searched, summary, .. } = self;
        let is_whole = searched.is_some_and(|it| {
            let preserved = it.stack().preserves_without(ReductionKind::Product);
            preserved.has(PropertyClass::StepErrors) && summary.invariant.is_none()
        });
        check.scope(is_whole && summary.found == ProbeVerdict::None && summary.faults == 0)
    }

    /// Returns the names of the reductions of the search that decided, or of the current one.
    fn reduced_by(&self) -> Vec<String> {
        let summaries = |it: &SearchedModel<'_>| it.stack().summaries(&Counters::default());
        match (&self.summary.invariant, self.searched) {
            (Some(invariant), _) => invariant.reductions.clone(),
            (None, Some(searched)) => summaries(searched).into_iter().map(|it| it.name).collect(),
            (None, None) => Vec::new(),
        }
    }

    /// Returns the reductions that this search does not use.
    fn unused_reductions(&self) -> Vec<ReductionRefusal> {
        match (&self.summary.invariant, self.searched) {
            (Some(invariant), _) => invariant.refusals.clone(),
            (None, Some(searched)) => searched.stack().unused_reductions(),
            (None, None) => Vec::new(),
        }
    }

    /// Describes how the search was done, and how far it is.
    fn how_it_searched(&self) -> String {
        let how = reductions(&self.reduced_by());
        match self.summary.stage {
            _ if self.summary.invariant.is_some() => format!("as an invariant, {how}"),
            LivenessStage::Memory => format!("in memory, {how}"),
            LivenessStage::Reachability => format!("on disk, {how}: reaching states"),
            LivenessStage::Sweeping(SweepStatus { stage, sweeps, set, round }) => {
                let (sweeps, set) = (count(sweeps, "sweep"), count(set, "state"));
                let rounds = round.map_or_else(String::new, |it| {
                    let full = count(it.full_states, "state");
                    format!(", round {}: {full} fully expanded", it.number)
                });
                format!("on disk, {how}: {stage}, {sweeps}, {set} left{rounds}")
            }
        }
    }

    /// Returns the result as text, with the run that was found.
    pub(super) fn text(
        &self,
        run: Option<&ViolatingRun<'_>>,
        view: &TraceDisplayOptions,
    ) -> String {
        let LivenessReport { check: watched, fairness, summary: told, errors_next, .. } = *self;
        let (model, name) = (watched.model.name(), &watched.name);
        let says = verdict_sentence(told, fairness, name);
        let (states, transitions) =
            (count(told.states, "state"), count(told.transitions, "transition"));
        let mut out = report::wrapped("", &format!("{model}: {says}"));
        if let Some(run) = run {
            out += &run.rows();
        }
        if let Some(shortened) = told.shortened {
            let says = report::print_shortened("search for shorter runs", shortened);
            out += &report::row("shortest", &says);
        }
        let of = match told.invariant {
            Some(_) => "of the model",
            None => "of the model and the automaton",
        };
        let found = format!("{states}, {transitions} {of}");
        out += &report::row("found", &found);
        out += &report::row("searched", &self.how_it_searched());
        if let Some(strategy) = &told.strategy {
            out += &report::row("hunt", &format!("{strategy} found the run"));
        }
        // What a trial rejected was not requested.
        let unused = self.unused_reductions().into_iter().filter(|_| !watched.tries_reductions);
        for ReductionRefusal { name, reason, .. } in unused {
            out += &report::row(
                "not reduced",
                &format!("by {name}: {}", report::print_refusal(&reason)),
            );
        }
        out += &print_scope(watched, &self.scope());
        if told.faults > 0 {
            let are = if errors_next { "are checked next" } else { "were not checked" };
            let steps = count(told.faults, "step");
            out += &report::row("", &format!("{steps} ended in errors that {are}"));
        } else if errors_next {
            out += &report::row("", "errors in steps are checked next");
        }
        match run {
            None => out,
            Some(run) => run.text(&watched.model.sources, view, name) + "\n" + &out,
        }
    }

    /// Returns the result as JSON, with the run that was found.
    pub(super) fn json(&self, run: Option<&ViolatingRun<'_>>) -> Value {
        let LivenessReport { check: watched, searched, fairness, summary: told, .. } = *self;
        let swept = told.stage.swept();
        let unused = self.unused_reductions().into_iter();
        let unused =
            unused.map(|it| json!({ "name": it.name, "why": report::print_refusal(&it.reason) }));
        let scope = self.scope();
        json!({
            "model": watched.model.name(),
            "language": watched.model.language.name,
            "property": watched.name,
            "verdict": told.verdict().name(),
            "vacuous": searched.is_none(),
            "fairness": fairness.name(),
            "states": told.states,
            "transitions": told.transitions,
            "reductions": self.reduced_by(),
            "not_reduced": unused.collect::<Vec<_>>(),
            "steps_cut_off": told.faults,
            "checked": scope.checked,
            "left_out": scope.left_out,
            "unchecked": report::unchecked_as_json(&scope.unchecked),
            "warnings": warnings(),
            "stage": told.stage_name(),
            "sweeps": swept.map_or(0, |it| it.sweeps),
            "states_left": swept.map(|it| it.set),
            "round": swept.and_then(|it| it.round).map(|it| {
                json!({ "number": it.number, "fully_expanded": it.full_states })
            }),
            "shortened": told.shortened.map(report::shortening_as_json),
            "hunt": told.strategy.as_ref().map(|it| json!({ "strategy": it })),
            "counterexample": run.map(|run| run.json(&watched.model.sources)),
        })
    }
}
