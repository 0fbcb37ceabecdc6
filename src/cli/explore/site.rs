//! The pages of the explorer.

use super::address::{self, EXPORT, ExplorerRoute, PathError, RUN, SHORTEST, STATE};
use super::around::states_around;
use super::request::ExplorerRequest;
use super::run_to::{self, RunGoal, RunResult};
use super::searches::ExplorerSearch;
use super::stops::{BreakpointError, RequestBreakpoints, fragment_of};
use super::stored_paths::{StoredPathResult, StoredStateResult, stored_path, stored_state};
use crate::cli::breakpoints::{BreakpointKind, FileLine, StopLines, WatchedBreakpoints};
use crate::cli::explored_trace::{ExploredModel, ExploredTrace};
use crate::cli::failure::CommandFailure;
use crate::cli::http::{HTML, HttpResponse, RequestTarget, TEXT};
use crate::cli::model_walk::{ModelWalk, WalkStep};
use crate::cli::path_export::{self, EXPORTS, ExportEntry, ExportFormat};
use crate::cli::state_goal::StateGoal;
use crate::model::{
    EVENTUALLY, POSTCONDITION, PropertyInfo, StepOutcome, Violation, is_reachability_kind,
};
use crate::report::{
    ExploredProperty, ExploredStep, ExplorerForm, ExplorerLink, ExplorerPage, RunWay, count,
    explorer_refusal, print_values,
};
use crate::session::SearchJob;
use std::path::Path;
use thiserror::Error;

/// The maximum number of next steps that are listed.
const OPTIONS_MAX: usize = 200;

/// The maximum number of steps of a path that are listed before the current state, and after it.
const LISTED_MAX: usize = 300;

/// Why a model has no runs to a condition.
const NO_EXPRESSIONS: &str = "This search checks a temporal property. No expression is evaluated beside it; `spillway \
                              explore MODEL` evaluates expressions.";

/// The notice about a shortest path to another state.
const EQUIVALENT: &str = "This is a shortest path to a state that the search does not distinguish from the one before. \
                          Some of its values may differ.";

/// The kinds of never claims, and of processes that observe the others.
const CLAIM: &str = "claim";
const AUTOMATON: &str = "automaton";

/// Why a request has no page of a state.
#[derive(Debug, Error)]
enum ExplorerError {
    /// The text is no path.
    #[error("the address names no path: {0}")]
    Path(#[from] PathError),
    /// The path leads nowhere.
    #[error("the path ends before its part {number}: {}", no_choice(*choice, *number))]
    Choice {
        /// The number of the part, from 1 on.
        number: usize,
        /// The choice that does not exist.
        choice: usize,
    },
    /// The path is empty, and has nothing to export.
    #[error("the path is empty: choose an initial state first")]
    Empty,
    /// The address has another form.
    #[error("/ is the first page, and /at/0 the first initial state")]
    Address,
    /// The path cannot be exported.
    #[error("{0}")]
    Export(String),
    /// A breakpoint of the address cannot be set.
    #[error("a breakpoint of the address cannot be set: {0}")]
    Breakpoint(#[from] BreakpointError),
}

/// Says that a choice does not exist.
fn no_choice(choice: usize, number: usize) -> String {
    match number {
        1 => format!("the model has no initial state {choice}"),
        _ => format!("no step has the number {choice} there"),
    }
}

/// The pages of a model.
pub(super) struct ExplorerSite<'s> {
    job: &'s SearchJob,
    /// The search directory, if it has states.
    dir: Option<&'s Path>,
    /// The walk of the last page. Most pages continue it.
    walk: ModelWalk<'s>,
    /// The counterexample, with its steps.
    trace: Option<SiteTrace<'s>>,
    /// The lines at which breakpoints can be set.
    lines: StopLines,
    /// The breakpoints of the request.
    breakpoints: RequestBreakpoints,
}

/// A counterexample with its steps.
struct SiteTrace<'s> {
    trace: &'s ExploredTrace,
    steps: Vec<WalkStep>,
}

impl<'s> ExplorerSite<'s> {
    /// Creates the pages of the model of a walk.
    ///
    /// # Errors
    ///
    /// If the model has no such counterexample, which is a bug.
    pub(super) fn new(
        explored: &'s ExploredModel,
        walk: ModelWalk<'s>,
    ) -> Result<ExplorerSite<'s>, CommandFailure> {
        let lines = StopLines::of(walk.model, walk.walked);
        let breakpoints = RequestBreakpoints::default();
        let ExploredModel { job, trace, dir } = explored;
        let dir = dir.as_deref();
        let mut site = ExplorerSite { job, dir, walk, trace: None, lines, breakpoints };
        if let Some(trace) = trace {
            site.go(&trace.choices).map_err(|error| {
                CommandFailure::wrong(format!(
                    "the counterexample cannot be replayed: {error}\nthis is a bug in spillway, please report it"
                ))
            })?;
            site.trace = Some(SiteTrace { trace, steps: site.walk.steps.clone() });
        }
        Ok(site)
    }

    /// Returns the response to a request.
    pub(super) fn answer(&mut self, target: &RequestTarget) -> HttpResponse {
        self.route(target).unwrap_or_else(|error| {
            let page = explorer_refusal(self.walk.model.name(), &error.to_string());
            HttpResponse::new(404, HTML, page)
        })
    }

    fn route(&mut self, target: &RequestTarget) -> Result<HttpResponse, ExplorerError> {
        let request = ExplorerRequest::of_query(&target.query);
        self.breakpoints = RequestBreakpoints::read(&request.breakpoints, &self.walk)?;
        Ok(match ExplorerRoute::of(target) {
            ExplorerRoute::Home => HttpResponse::redirect(self.home()),
            ExplorerRoute::Icon => HttpResponse::new(204, TEXT, ""),
            ExplorerRoute::State(path) => {
                self.open(path)?;
                match &request.toggled {
                    Some(text) => self.toggle(text, &request),
                    None => HttpResponse::new(200, HTML, self.page(None, &request)),
                }
            }
            ExplorerRoute::Run(path) => {
                self.open(path)?;
                self.run(&request)
            }
            ExplorerRoute::Shortest(path) => {
                self.open(path)?;
                self.shortest(&request)
            }
            ExplorerRoute::Export(format, path) => {
                self.open(path)?;
                self.export(format)?
            }
            ExplorerRoute::Nothing => return Err(ExplorerError::Address),
        })
    }

    /// Sets a breakpoint, or deletes it if it is set. The response is the address with the others.
    fn toggle(&mut self, text: &str, request: &ExplorerRequest) -> HttpResponse {
        let old = self.breakpoints.find(text).map(|it| fragment_of(Some(it)));
        let read = RequestBreakpoints::read(&self.breakpoints.toggled(text), &self.walk);
        let new = match read {
            Ok(new) => std::mem::replace(&mut self.breakpoints, new),
            Err(error) => return self.refused(error.to_string(), request),
        };
        let added = self.breakpoints.find(text);
        if let Some(added) = added.filter(|it| it.kind == BreakpointKind::Expression) {
            let why = match self.search().condition_refusal(added.number) {
                _ if self.job.runs().is_some() => Some(NO_EXPRESSIONS.to_owned()),
                Ok(why) => why.map(|it| format!("`{text}` is no condition: {it}")),
                Err(error) => Some(error.to_string()),
            };
            if let Some(why) = why {
                self.breakpoints = new;
                return self.refused(why, request);
            }
        }
        let fragment = old.unwrap_or_else(|| fragment_of(added));
        HttpResponse::redirect(self.state_address(&self.choices()) + &fragment)
    }

    /// Returns the page of the current state with the reason why a request is refused.
    fn refused(&self, why: String, request: &ExplorerRequest) -> HttpResponse {
        HttpResponse::new(400, HTML, self.page(Some(why), request))
    }

    fn search(&self) -> ExplorerSearch<'_> {
        let ExplorerSite { job, walk, breakpoints, .. } = self;
        ExplorerSearch { job, walk, breakpoints: &breakpoints.set }
    }

    /// Returns the address of the first page: the end of the counterexample, the only initial state, or the choice of
    /// one.
    fn home(&self) -> String {
        if self.trace.is_some() {
            return self.state_address(self.counterexample());
        }
        let start = ModelWalk::new(self.walk.model, self.walk.walked);
        match &start.options(2)[..] {
            [only] => self.state_address(&[only.choice]),
            _ => self.state_address(&[]),
        }
    }

    /// Returns the choices of the counterexample. Empty without one.
    fn counterexample(&self) -> &[usize] {
        self.trace.as_ref().map_or(&[], |it| &it.trace.choices)
    }

    fn state_address(&self, choices: &[usize]) -> String {
        self.address(STATE, choices)
    }

    /// Returns the address of a page about a path, with the breakpoints.
    fn address(&self, prefix: &str, choices: &[usize]) -> String {
        format!("{prefix}{}{}", self.path_text(choices), self.breakpoints.query)
    }

    fn path_text(&self, choices: &[usize]) -> String {
        address::format_path(choices, self.counterexample())
    }

    /// Returns the choices of the current walk.
    fn choices(&self) -> Vec<usize> {
        self.walk.choices()
    }

    /// Goes to the end of the path in an address.
    fn open(&mut self, path: &str) -> Result<(), ExplorerError> {
        let choices = address::parse_path(path, self.counterexample())?;
        self.go(&choices)
    }

    /// Goes to the end of a path. The part in common with the current walk is kept.
    fn go(&mut self, choices: &[usize]) -> Result<(), ExplorerError> {
        if self.walk.go(choices) {
            return Ok(());
        }
        let number = self.walk.steps.len();
        Err(ExplorerError::Choice { number: number + 1, choice: choices[number] })
    }

    /// Searches for a state that satisfies an expression, or a step that stops at a breakpoint.
    fn run(&self, run: &ExplorerRequest) -> HttpResponse {
        if let (RunWay::Stored, Some(dir), false) = (run.way, self.dir, run.until.is_empty()) {
            return self.jump(dir, run);
        }
        let has_breakpoints = self.breakpoints.set.iter().next().is_some();
        let wanted = match (run.until.as_str(), has_breakpoints) {
            ("", false) => {
                return self.refused("An expression or a breakpoint is needed.".to_owned(), run);
            }
            ("", true) => "is at a breakpoint".to_owned(),
            (until, false) => format!("satisfies {until}"),
            (until, true) => format!("satisfies {until} or is at a breakpoint"),
        };
        let found = match self.search().run(run) {
            Ok(Some(found)) => found,
            Ok(None) => return self.refused(NO_EXPRESSIONS.to_owned(), run),
            Err(error) => return self.refused(error.to_string(), run),
        };
        let notice = match found {
            RunResult::Found(choices) => {
                let all = [self.choices(), choices].concat();
                return HttpResponse::redirect(self.state_address(&all));
            }
            RunResult::Nowhere(states) => {
                let all = count(states as u64, "state");
                format!("No state that can be reached from here {wanted}: all {all} were visited.")
            }
            RunResult::Open(states) => {
                let all = count(states as u64, "state");
                format!(
                    "No state that {wanted} was found. The search ended at its bound, after {all}."
                )
            }
        };
        HttpResponse::new(200, HTML, self.page(Some(notice), run))
    }

    /// Goes to the first state in the search directory that satisfies an expression. The path there begins at an initial
    /// state.
    fn jump(&self, dir: &Path, run: &ExplorerRequest) -> HttpResponse {
        let until = &run.until;
        let notice = match stored_state(dir, until) {
            Ok(StoredStateResult::Found(path)) => {
                return HttpResponse::redirect(self.state_address(&path));
            }
            Ok(StoredStateResult::Nowhere) => {
                format!("No state in the search directory satisfies {until}.")
            }
            Ok(StoredStateResult::Unknown(why)) => format!(
                "The states in the search directory were not looked at: {why}. The nearest state can be searched."
            ),
            Err(error) => return self.refused(error.message, run),
        };
        HttpResponse::new(200, HTML, self.page(Some(notice), run))
    }

    /// Finds a shortest path to the current state: in the search directory, or else by a search.
    fn shortest(&mut self, run: &ExplorerRequest) -> HttpResponse {
        let choices = self.choices();
        if self.walk.state().is_none() {
            return HttpResponse::redirect(self.state_address(&choices));
        }
        let why = match self.dir.map(|dir| stored_path(dir, &choices)) {
            None => String::new(),
            Some(Ok(StoredPathResult::Found(path))) => {
                return HttpResponse::redirect(self.state_address(&path));
            }
            Some(Ok(StoredPathResult::Equivalent(path))) => {
                let notice = match self.go(&path) {
                    Ok(()) => EQUIVALENT.to_owned(),
                    Err(error) => error.to_string(),
                };
                return HttpResponse::new(200, HTML, self.page(Some(notice), run));
            }
            Some(Ok(StoredPathResult::Unknown(why))) => {
                format!(" The search directory has no shortest path: {why}.")
            }
            Some(Err(error)) => format!(" The search directory cannot be read: {}", error.message),
        };
        match self.searched_path(run) {
            RunResult::Found(choices) => HttpResponse::redirect(self.state_address(&choices)),
            RunResult::Open(states) | RunResult::Nowhere(states) => {
                let all = count(states as u64, "state");
                let notice = format!(
                    "No shortest path was found: the search ended at its bound, after {all}.{why}"
                );
                HttpResponse::new(200, HTML, self.page(Some(notice), run))
            }
        }
    }

    /// Searches for a shortest path to the current state.
    fn searched_path(&self, run: &ExplorerRequest) -> RunResult {
        let ModelWalk { model, walked, .. } = self.walk;
        let start = ModelWalk::new(model, walked);
        let breakpoints = WatchedBreakpoints::of(std::iter::empty(), model, walked);
        let until = self.walk.state().map(|it| StateGoal::State(it.to_vec()));
        run_to::nearest(&start, &RunGoal { until, breakpoints }, run.bounds())
    }

    /// Returns the path in a format of other tools.
    fn export(&self, format: ExportFormat) -> Result<HttpResponse, ExplorerError> {
        if self.walk.steps.is_empty() {
            return Err(ExplorerError::Empty);
        }
        let entry = EXPORTS.iter().find(|it| it.format == format).ok_or(ExplorerError::Address)?;
        let text = path_export::export(&self.walk, format, &self.position());
        let text = text.map_err(|it| ExplorerError::Export(it.message))?;
        Ok(HttpResponse::new(200, TEXT, text).saved_as(&format!("path.{}", entry.extension)))
    }

    /// Describes where the walk is.
    fn position(&self) -> String {
        let Some(step) = self.walk.steps.len().checked_sub(1) else {
            return "before the initial state".to_owned();
        };
        match &self.trace {
            Some(SiteTrace { trace, .. }) if trace.choices.starts_with(&self.choices()) => {
                let all = count(trace.choices.len() as u64 - 1, "step");
                let at = if step == 0 {
                    "at the start".to_owned()
                } else {
                    format!("after step {step}")
                };
                let cycle = trace.loop_start.map_or(String::new(), |back| {
                    format!(", whose last step leads back to the state after step {back}")
                });
                format!("{at} of the counterexample to {}, of {all}{cycle}", trace.to)
            }
            _ => format!("after {}", count(step as u64, "step")),
        }
    }

    fn page(&self, notice: Option<String>, run: &ExplorerRequest) -> String {
        let (model, choices) = (self.walk.model, self.choices());
        let mut options = self.walk.options(OPTIONS_MAX + 1);
        let has_more_options = options.len() > OPTIONS_MAX;
        options.truncate(OPTIONS_MAX);
        let steps = &self.walk.steps;
        let ahead = self.ahead(&choices);
        let listed = steps.len().saturating_sub(LISTED_MAX)..steps.len();
        let further = steps.len()..steps.len() + ahead.len().min(LISTED_MAX);
        let counterexample = self.counterexample();
        let option = |it: &WalkStep| self.state_address(&[&choices[..], &[it.choice]].concat());
        let hit = self.search().hit_by_last_step();
        let notice = notice.or_else(|| hit.as_ref().err().map(ToString::to_string));
        let shown = STATE.to_owned() + &self.path_text(&choices);
        let page = ExplorerPage {
            name: model.name(),
            says: self.position(),
            notice,
            sources: model.sources(),
            walked: &self.walk.walked_steps(),
            left_out: listed.start,
            path: listed
                .map(|it| explored(&steps[it], self.state_address(&choices[..=it])))
                .collect(),
            ahead_left_out: ahead.len() - further.len(),
            ahead: { further }
                .zip(ahead)
                .map(|(at, it)| explored(it, self.state_address(&counterexample[..=at])))
                .collect(),
            options: options.iter().map(|it| explored(it, option(it))).collect(),
            has_more_options,
            properties: self.properties(),
            links: self.links(&choices),
            exports: self.exports(&choices),
            form: self.form(run, &choices),
            breakpoints: self.breakpoints.shown(shown, &hit.unwrap_or_default()),
            line_breakpoint: &|file, line| {
                self.breakpoints.at_line(FileLine { file, line }, &self.lines, model.sources())
            },
            graph: states_around(&self.walk, |further| {
                self.state_address(&[&choices[..], further].concat())
            }),
        };
        page.html()
    }

    /// Returns the form of a search from the current state.
    fn form(&self, run: &ExplorerRequest, choices: &[usize]) -> ExplorerForm {
        ExplorerForm {
            address: RUN.to_owned() + &self.path_text(choices),
            language: self.walk.model.language().title,
            refusal: self.job.runs().map(|_| NO_EXPRESSIONS),
            until: run.until.clone(),
            way: run.way,
            has_store: self.dir.is_some(),
            states: run.states,
            seed: run.seed,
        }
    }

    /// Returns the steps of the counterexample after a path along it. Empty after another path.
    fn ahead(&self, choices: &[usize]) -> &[WalkStep] {
        match &self.trace {
            Some(SiteTrace { trace, steps }) if trace.choices.starts_with(choices) => {
                &steps[choices.len()..]
            }
            _ => &[],
        }
    }

    /// Returns the properties with their values in the current state.
    fn properties(&self) -> Vec<ExploredProperty> {
        let (Some(state), walked) = (self.walk.state(), self.walk.walked) else {
            return Vec::new();
        };
        let (found, steps) = (walked.violations(state), walked.steps(state));
        let of_property = |(number, info): (u32, PropertyInfo)| {
            let failure = steps.iter().find_map(|step| match &step.outcome {
                StepOutcome::Fault(fault) => {
                    let judged = walked.property_judged_by(step.action);
                    (judged == Some(number)).then_some(fault)
                }
                StepOutcome::Successor(_) => None,
            });
            let is_found = found.contains(&Violation::Property(number));
            let is_reachability = is_reachability_kind(info.kind);
            let value = match (failure, is_found, info.kind) {
                (Some(fault), ..) => format!("cannot be evaluated: {}", fault.message),
                (None, _, POSTCONDITION | EVENTUALLY | AUTOMATON) => {
                    "no single state decides it".to_owned()
                }
                (None, true, CLAIM) => "its end is reached here".to_owned(),
                (None, false, CLAIM) => "its end is not reached here".to_owned(),
                _ if is_reachability && self.walk.model.as_program().is_none() => {
                    "a search looks for a state in which it holds".to_owned()
                }
                (None, is_found, _) if is_found == is_reachability => "holds here".to_owned(),
                _ => "does not hold here".to_owned(),
            };
            let operands = walked.operands(state, number);
            let with = match is_found && !operands.is_empty() {
                true => format!(", with {}", print_values(&operands)),
                false => String::new(),
            };
            ExploredProperty {
                name: format!("{} {}", info.kind, info.name),
                value: value + &with,
                is_violated: failure.is_some() || is_found && !is_reachability,
            }
        };
        let deadlock = found.contains(&Violation::Deadlock).then(|| ExploredProperty {
            name: "deadlock".to_owned(),
            value: "no step can be taken here".to_owned(),
            is_violated: true,
        });
        let properties = (0..).zip(walked.properties()).map(of_property);
        properties.chain(deadlock).collect()
    }

    /// Returns the links to other positions.
    fn links(&self, choices: &[usize]) -> Vec<ExplorerLink> {
        let mut links = Vec::new();
        let mut add = |title: &str, address: String, key| {
            links.push(ExplorerLink { title: title.to_owned(), address, key });
        };
        if let Some((_, before)) = choices.split_last() {
            add("back", self.state_address(before), Some("b"));
            add("initial states", self.state_address(&[]), Some("i"));
        }
        if !self.ahead(choices).is_empty() {
            let next = &self.counterexample()[..=choices.len()];
            add("next step of the counterexample", self.state_address(next), Some("n"));
        }
        if self.trace.is_some() && choices != self.counterexample() {
            let end = self.state_address(self.counterexample());
            add("end of the counterexample", end, Some("e"));
        }
        if choices.len() > 1 && self.walk.state().is_some() {
            add("shortest path here", self.address(SHORTEST, choices), None);
        }
        links
    }

    /// Returns the links to the path in other formats.
    fn exports(&self, choices: &[usize]) -> Vec<ExplorerLink> {
        let path = self.path_text(choices);
        let can_be_written = |format| match format {
            ExportFormat::Trace(_) => true,
            ExportFormat::Trail => self.walk.model.language().spin_trail.is_some(),
        };
        let entries = EXPORTS.iter().filter(|it| can_be_written(it.format) && !choices.is_empty());
        let link = |it: &ExportEntry| ExplorerLink {
            title: it.title.to_owned(),
            address: format!("{EXPORT}{}/{path}", it.name),
            key: None,
        };
        entries.map(link).collect()
    }
}

/// Returns a step with the address of the state after it.
fn explored(step: &WalkStep, address: String) -> ExploredStep<'_> {
    ExploredStep { choice: step.choice, step: &step.step, address }
}
