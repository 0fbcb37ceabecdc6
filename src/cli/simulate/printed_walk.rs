//! A walk whose steps are printed.

use crate::cli::model_walk::{ModelWalk, WalkStep};
use crate::cli::{output, print};
use crate::escape;
use crate::model::{RuntimeFault, StateValue, StepOutcome, Violation};
use crate::report::{self, WalkChart};
use std::collections::HashSet;

/// The indentation of the lines below a step.
pub(super) const MARGIN: &str = "       ";

/// A walk on a terminal.
pub(super) struct PrintedWalk<'w> {
    /// The walk.
    pub path: ModelWalk<'w>,
    /// Its message sequence chart.
    chart: WalkChart,
    /// Whether the arrow of each received message is printed.
    shows_messages: bool,
}

/// A line or several, wrapped below a step.
fn print_below(text: &str) {
    print(&report::wrapped(MARGIN, text));
}

impl<'w> PrintedWalk<'w> {
    /// Creates the presentation of a walk.
    pub fn new(path: ModelWalk<'w>, shows_messages: bool) -> PrintedWalk<'w> {
        let mut walk = PrintedWalk { path, chart: WalkChart::default(), shows_messages };
        walk.redraw_chart();
        walk
    }

    fn redraw_chart(&mut self) {
        if self.shows_messages {
            self.chart = WalkChart::of(&self.path.walked_steps());
        }
    }

    /// Takes a step and prints it, if `is_shown`.
    pub fn take_step(&mut self, taken: WalkStep, is_shown: bool) {
        let walked = self.path.walked;
        let described = |it: &[u8]| walked.describe(it);
        let before = self.path.state().map_or(Vec::new(), described);
        let after = taken.state().map_or(Vec::new(), described);
        let arrow = match self.shows_messages {
            true => self.chart.add(&taken.step, &before, &after),
            false => None,
        };
        self.path.steps.push(taken);
        if is_shown {
            self.print_step(self.path.steps.len() - 1, arrow.as_deref());
        }
    }

    /// Prints the step of a number, with its effects, and the arrow of a message.
    fn print_step(&self, number: usize, arrow: Option<&str>) {
        let ModelWalk { model, walked, ref steps, .. } = self.path;
        let taken = &steps[number];
        print(&report::wrapped(&format!("{number:>5}  "), &taken.step.title()));
        let before = number.checked_sub(1).and_then(|it| steps[it].state());
        let state = match &taken.step.outcome {
            StepOutcome::Successor(state) => state,
            StepOutcome::Fault(fault) => return self.print_fault(fault, before),
        };
        let after = walked.describe(state);
        let lines = match before {
            None => report::print_state(model.sources(), &after),
            Some(before) => report::print_changes(&walked.describe(before), &after),
        };
        arrow.into_iter().for_each(print_below);
        lines.iter().for_each(|it| print_below(it));
        self.wrong_in(state).iter().for_each(|it| print(it));
    }

    fn print_fault(&self, fault: &RuntimeFault, before: Option<&[u8]>) {
        let ModelWalk { model, walked, .. } = self.path;
        let sources = model.sources();
        let place = sources.locate(fault.span).unwrap_or_default();
        print_below(&format!("{} ({place})", fault.title()));
        for line in report::call_lines(&fault.calls, &mut |span| sources.locate(span)) {
            print_below(&line);
        }
        if let (Some(before), Some(reached)) = (before, &fault.reached) {
            let after = walked.describe(reached);
            for line in report::print_changes(&walked.describe(before), &after) {
                print_below(&line);
            }
        }
        print(&with(&fault.operands));
    }

    /// Returns whether the walk has ended in a violation.
    pub fn is_violated(&self) -> bool {
        match self.path.state() {
            Some(state) => !self.path.violations(state).is_empty(),
            None => !self.path.steps.is_empty(),
        }
    }

    /// Describes the violation in the current state, if there is one.
    pub fn current_violation(&self) -> Option<String> {
        self.path.state().and_then(|it| self.wrong_in(it))
    }

    /// Describes the violation in a state as lines, if there is one.
    fn wrong_in(&self, state: &[u8]) -> Option<String> {
        let ModelWalk { model, walked, .. } = self.path;
        let told = match self.path.violations(state).into_iter().next()? {
            Violation::Property(number) => {
                let info = &walked.properties()[number as usize];
                let place = model.sources().locate(info.span).unwrap_or_default();
                let told = match info.kind {
                    "claim" => format!("the claim `{}` ends here ({place})", info.name),
                    kind => format!("the {kind} `{}` does not hold here ({place})", info.name),
                };
                report::wrapped(MARGIN, &told) + &with(&walked.operands(state, number))
            }
            _ => format!("{MARGIN}deadlock: no step can be taken here\n"),
        };
        Some(told)
    }

    /// Undoes the last step. Returns whether there was one.
    pub fn undo_step(&mut self) -> bool {
        self.path.steps.pop().is_some()
    }

    /// Prints the position and the state after steps were undone.
    pub fn show_return(&mut self) {
        self.redraw_chart();
        match self.path.steps.len() {
            0 => print("back to the choice of an initial state\n"),
            number => {
                print(&format!("back to step {}\n", number - 1));
                self.show();
            }
        }
    }

    /// Prints the current state.
    pub fn show(&self) {
        let Some(state) = self.path.state() else {
            let why = match self.path.steps.is_empty() {
                true => "no state yet: choose an initial state",
                false => "no state: the last step failed",
            };
            return print_below(why);
        };
        for (name, value) in self.path.walked.describe(state) {
            print_below(&format!("{name} = {value}"));
        }
    }

    /// Prints the last steps, at most `most`.
    pub fn show_path(&self, most: usize) {
        let steps = self.path.steps.len();
        if steps == 0 {
            return print_below("no step has been taken");
        }
        (steps.saturating_sub(most)..steps).for_each(|it| self.print_step(it, None));
    }

    /// Prints the message sequence chart of the last steps.
    pub fn show_chart(&self, last: Option<u64>) {
        match self.path.steps.len() {
            0 | 1 => print_below("the chart is empty: no step has been taken"),
            _ => print(&self.chart.text(last, output::columns_of_output())),
        }
    }

    /// Prints the current lines of the processes.
    pub fn show_lines(&self) {
        match self.path.steps.len() {
            0 => print_below("before the initial state"),
            steps => print_below(&format!("depth {}", steps - 1)),
        }
        let ModelWalk { model, walked, .. } = self.path;
        let Some(state) = self.path.state() else { return };
        let locations = walked.process_locations(state);
        for it in &locations {
            let place = model.sources().locate(it.span).unwrap_or_default();
            print_below(&format!("{} at {}    {place}", it.process, it.location));
        }
        if locations.is_empty() && self.chart.has_processes() {
            print_below("all processes have ended");
        } else if locations.is_empty() {
            let name = model.language().title;
            print_below(&format!("no lines: this model in {name} has no processes"));
        }
    }

    /// Returns for each initial state the variables whose values differ between initial states. Returns nothing if the
    /// titles of the states differ.
    fn differing_values(&self, options: &[WalkStep]) -> Vec<Vec<(String, StateValue)>> {
        if have_own_titles(options) {
            return Vec::new();
        }
        let describe =
            |it: &WalkStep| it.state().map_or(Vec::new(), |it| self.path.walked.describe(it));
        let mut states: Vec<Vec<(String, StateValue)>> = options.iter().map(describe).collect();
        let first = states.first().cloned().unwrap_or_default();
        let is_common = |it: &(String, StateValue)| states.iter().all(|state| state.contains(it));
        let common: Vec<(String, StateValue)> = first.into_iter().filter(is_common).collect();
        states.iter_mut().for_each(|state| state.retain(|it| !common.contains(it)));
        states
    }

    /// Prints steps with their numbers.
    pub fn list(&self, options: &[WalkStep]) {
        let starts =
            if self.path.steps.is_empty() { self.differing_values(options) } else { Vec::new() };
        for (number, WalkStep { step, .. }) in options.iter().enumerate() {
            let place = step.spans.first().and_then(|&span| self.path.model.sources().locate(span));
            let place = place.unwrap_or_default();
            let fails = matches!(step.outcome, StepOutcome::Fault(_));
            let fails = if fails { ", fails" } else { "" };
            let mut title = step.title();
            if let Some(values) = starts.get(number).filter(|it| !it.is_empty()) {
                title += &format!(": {}", report::print_values(values));
            }
            let title = escape::line(&title);
            let line = format!("       [{number}] {title}    {}{fails}", escape::line(&place));
            print(&format!("{}\n", line.trim_end()));
        }
    }
}

/// Returns whether all steps have different titles.
fn have_own_titles(options: &[WalkStep]) -> bool {
    let titles: HashSet<String> = options.iter().map(|it| it.step.title()).collect();
    titles.len() == options.len()
}

/// Formats the operands of a violated property, if there are any.
fn with(operands: &[(String, StateValue)]) -> String {
    match operands {
        [] => String::new(),
        _ => report::wrapped(MARGIN, &format!("with {}", report::print_values(operands))),
    }
}
