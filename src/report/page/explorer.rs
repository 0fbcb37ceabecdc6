//! A state of a model as a page with links to the states around it: its variables, the enabled actions with their
//! effects, the model's text, and the path to it.
//!
//! Each page is complete without the script. The script adds keys for the links.

use super::super::changes::{changes, lines, print_state};
use super::super::chart::SequenceChart;
use super::super::steps::{call_lines, title};
use super::super::walked_steps::WalkedSteps;
use super::explorer_breakpoints::{ExploredBreakpoints, LineBreakpoint};
use super::explorer_state::{StateTable, state_table};
use super::explorer_text::{ExploredStep, MarkedTexts, TextMarks};
use super::trace_view::places;
use super::{StateDiagram, document, sequence};
use crate::model::{ProcessLocation, StateValue, StepDescription, StepOutcome, SystemDescription};
use crate::numbers::{count, grouped};
use crate::source::SourceMap;
use maud::{Markup, PreEscaped, html};

const SCRIPT: &str = include_str!("explorer.js");

/// The maximum number of lines of a preview.
const PREVIEW_MAX: usize = 12;

/// A property and its value in the state.
pub struct ExploredProperty {
    /// The kind and the name.
    pub name: String,
    /// Its value in words.
    pub value: String,
    /// Whether it is violated.
    pub is_violated: bool,
}

/// How a search finds a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunWay {
    /// Breadth-first from the current state.
    #[default]
    Nearest,
    /// By random steps from the current state.
    Random,
    /// In the states of the search directory.
    Stored,
}

impl RunWay {
    /// All ways, each with its name in addresses and on the page.
    const ALL: [(RunWay, &'static str, &'static str); 3] = [
        (RunWay::Nearest, "nearest", "the nearest state"),
        (RunWay::Random, "random", "random steps"),
        (RunWay::Stored, "stored", "the first state in the search directory"),
    ];

    /// Returns the way with a name in addresses.
    pub fn of_name(name: &str) -> RunWay {
        RunWay::ALL.iter().find(|it| it.1 == name).map_or_else(RunWay::default, |it| it.0)
    }
}

/// The form that searches from the state, with the values that were sent before.
#[derive(Clone, Debug, Default)]
pub struct ExplorerForm {
    /// The address to which the form is sent.
    pub address: String,
    /// The name of the language of expressions.
    pub language: &'static str,
    /// The reason why no expressions are evaluated, if so.
    pub refusal: Option<&'static str>,
    /// The expression.
    pub until: String,
    /// How it finds a state.
    pub way: RunWay,
    /// Whether there is a search directory with states.
    pub has_store: bool,
    /// The maximum number of states.
    pub states: usize,
    /// The seed of random steps.
    pub seed: u64,
}

/// A link with its title.
pub struct ExplorerLink {
    /// The title.
    pub title: String,
    /// The address.
    pub address: String,
    /// The name of the key.
    pub key: Option<&'static str>,
}

/// The contents of a page of the explorer.
pub struct ExplorerPage<'p> {
    /// The name of the model.
    pub name: &'p str,
    /// Where the state is, as a sentence.
    pub says: String,
    /// A message about the last request.
    pub notice: Option<String>,
    /// The texts of the model.
    pub sources: &'p SourceMap,
    /// The path.
    pub walked: &'p WalkedSteps<'p>,
    /// The last steps of the path with their addresses.
    pub path: Vec<ExploredStep<'p>>,
    /// The number of steps before them.
    pub left_out: usize,
    /// The next steps of the counterexample, if the path goes along it.
    pub ahead: Vec<ExploredStep<'p>>,
    /// The number of steps after them.
    pub ahead_left_out: usize,
    /// The steps that may follow.
    pub options: Vec<ExploredStep<'p>>,
    /// Whether there are more of these.
    pub has_more_options: bool,
    /// The properties. Empty without a state.
    pub properties: Vec<ExploredProperty>,
    /// Links to other positions.
    pub links: Vec<ExplorerLink>,
    /// Links to the path in other formats.
    pub exports: Vec<ExplorerLink>,
    /// The form.
    pub form: ExplorerForm,
    /// The breakpoints.
    pub breakpoints: ExploredBreakpoints,
    /// Returns the breakpoint that can be set at a line of a file, or the one that is set there.
    pub line_breakpoint: &'p dyn Fn(u32, usize) -> Option<LineBreakpoint>,
    /// The states around the current one.
    pub graph: Option<StateDiagram>,
}

impl ExplorerPage<'_> {
    /// Returns the page as HTML.
    pub fn html(&self) -> String {
        let is_bad = self.failure().is_some() || self.properties.iter().any(|it| it.is_violated);
        let values = self.values();
        let body = html! {
            header class=(if is_bad { "bad" } else { "good" }) {
                h1 { (self.name) }
                p.verdict { (self.says) }
                @for line in self.failure().into_iter().flatten() { p.wrong { (line) } }
                @for it in self.properties.iter().filter(|it| it.is_violated) { p.wrong { (it.name) ": " (it.value) } }
            }
            @if let Some(notice) = &self.notice { p #notice.note role="status" { (notice) } }
            nav {
                @for link in &self.links { (link.link()) }
                @for part in ["actions", "state", "model", "path", "breakpoints", "run", "export"] { a href={ "#" (part) } { (part) } }
            }
            div.columns {
                div { (self.actions(&values)) (self.state(&values)) }
                div { (self.model()) (self.path()) }
            }
            (self.breakpoints.section())
            (self.run())
            (self.chart())
            @if let Some(graph) = &self.graph {
                section #around {
                    h2 { "States around this one" }
                    p { "State 0 is this state. States that violate a property, or in which a transition fails, are red. A state \
                         links to its page." }
                    (graph.drawing())
                }
            }
            section #export {
                h2 { "Export the path" }
                p { @for link in &self.exports { (link.link()) " " } }
            }
            p.keys { "Keys: the number of an action takes it (Enter ends a number that begins another one), b goes back, n goes on \
                      along the counterexample, / goes to the expression." }
            script { (PreEscaped(SCRIPT)) }
        };
        document(&format!("{}: {}", self.name, self.says), false, &body)
    }

    fn model_description(&self) -> &dyn SystemDescription {
        self.walked.model
    }

    /// Returns lines about the failure of the last step, if it has failed.
    fn failure(&self) -> Option<Vec<String>> {
        let StepOutcome::Fault(fault) = &self.walked.steps.last()?.outcome else { return None };
        let mut locate = |span| self.sources.locate(span);
        let place = locate(fault.span).map_or(String::new(), |it| format!(" ({it})"));
        let error = format!("{}{place}", fault.title());
        let operands = fault.operands.iter().map(|(name, value)| format!("{name} = {value}"));
        let calls = call_lines(&fault.calls, &mut locate);
        Some(std::iter::once(error).chain(calls).chain(operands).collect())
    }

    /// Returns the values after the last step and before it.
    fn values(&self) -> CurrentValues {
        let model = self.model_description();
        let described = |step: &StepDescription| match &step.outcome {
            StepOutcome::Successor(state) => Some(model.describe(state)),
            StepOutcome::Fault(fault) => fault.reached.as_ref().map(|it| model.describe(it)),
        };
        let mut steps = self.walked.steps.iter().rev();
        let after = steps.next().map(|it| described(it));
        let before = steps.next().and_then(|it| described(it));
        match after {
            // A step that fails before it changes anything leaves the state as it was.
            Some(None) => CurrentValues { now: before.unwrap_or_default(), before: None },
            after => CurrentValues { now: after.flatten().unwrap_or_default(), before },
        }
    }

    /// Returns the locations of the processes, after a failing step those before it.
    fn locations(&self) -> Vec<ProcessLocation> {
        let states = self.walked.steps.iter().rev().filter_map(|it| match &it.outcome {
            StepOutcome::Successor(state) => Some(state),
            StepOutcome::Fault(_) => None,
        });
        let state = { states }.next();
        state.map_or_else(Vec::new, |it| self.model_description().process_locations(it))
    }

    fn actions(&self, values: &CurrentValues) -> Markup {
        let is_start = self.walked.steps.is_empty();
        html! {
            section #actions {
                h2 { (if is_start { "Initial states" } else { "Enabled actions" }) }
                @if self.options.is_empty() { p { "No step can be taken here." } }
                table.actions {
                    @for option in &self.options { (self.action(option, values)) }
                }
                @if self.has_more_options {
                    p.note { "These are the first " (grouped(self.options.len() as u64)) "; the address of a further one ends in its \
                              number." }
                }
            }
        }
    }

    fn action(&self, option: &ExploredStep<'_>, values: &CurrentValues) -> Markup {
        let number = option.choice;
        let fails = matches!(option.step.outcome, StepOutcome::Fault(_));
        html! {
            tr id={ "a" (number) } class=[fails.then_some("bad")] {
                td.number { a.take data-choice=(number) href=(option.address) { (number) } }
                td {
                    a href=(option.address) { (option.step.title()) }
                    span.place { @for at in places(self.sources, &option.step.spans) { " " (at.link()) } }
                    (preview(&self.effect(option.step, values)))
                }
            }
        }
    }

    /// Describes the effect of a step in the current state.
    fn effect(&self, step: &StepDescription, values: &CurrentValues) -> Vec<String> {
        match &step.outcome {
            StepOutcome::Fault(fault) => {
                vec![format!("fails: {}", fault.title())]
            }
            StepOutcome::Successor(state) => {
                let after = self.model_description().describe(state);
                match self.walked.steps.is_empty() {
                    true => print_state(self.sources, &after),
                    false => {
                        let found = changes(&values.now, &after);
                        let told: Vec<String> = found.iter().flat_map(lines).collect();
                        if told.is_empty() { vec!["changes nothing".to_owned()] } else { told }
                    }
                }
            }
        }
    }

    fn state(&self, values: &CurrentValues) -> Markup {
        if self.walked.steps.is_empty() {
            return Markup::default();
        }
        let names: Vec<String> = self.locations().into_iter().map(|it| it.process).collect();
        let found = values.before.as_deref().map(|before| changes(before, &values.now));
        let changed = found.as_deref().unwrap_or_default();
        html! {
            section #state {
                h2 { "State" }
                (state_table(&StateTable {
                    values: &values.now,
                    processes: &names,
                    changed,
                    are_counts: self.sources.are_counts(),
                }))
                @if !self.properties.is_empty() {
                    h3 { "Properties" }
                    table.properties {
                        @for it in &self.properties {
                            tr class=[it.is_violated.then_some("bad")] { td { (it.name) } td { (it.value) } }
                        }
                    }
                }
            }
        }
    }

    fn model(&self) -> Markup {
        let mut marks = TextMarks::default();
        if let Some(step) = self.walked.steps.last() {
            marks.add_last_step(self.sources, step);
        }
        for at in self.locations() {
            marks.add_process(self.sources, &at);
        }
        for option in &self.options {
            marks.add_option(self.sources, option);
        }
        let breakpoint = self.line_breakpoint;
        MarkedTexts { sources: self.sources, marks: &marks, breakpoint }.section()
    }

    fn path(&self) -> Markup {
        let end = self.left_out + self.path.len();
        let row = |number: usize, it: &ExploredStep<'_>, class: &'static str| {
            html! {
                tr class=(class) {
                    td.number { (number) }
                    td { a href=(it.address) { (title(number as u64, it.step)) } }
                    td.place { @for at in places(self.sources, &it.step.spans) { (at.link()) " " } }
                }
            }
        };
        html! {
            section #path {
                h2 { "Path" }
                @if self.path.is_empty() { p { "It is empty: no initial state is chosen." } }
                @if self.left_out > 0 { p.note { "Left out: the first " (count(self.left_out as u64, "step")) "." } }
                div.scrolling {
                    table {
                        @for (number, it) in (self.left_out..).zip(&self.path) {
                            (row(number, it, if number + 1 == end { "now" } else { "" }))
                        }
                        @for (number, it) in (end..).zip(&self.ahead) { (row(number, it, "ahead")) }
                    }
                }
                @if self.ahead_left_out > 0 { p.note { "Left out: the last " (count(self.ahead_left_out as u64, "step")) "." } }
            }
        }
    }

    fn run(&self) -> Markup {
        html! {
            section #run {
                h2 { "Run to a condition or a breakpoint" }
                (self.form.form(&self.breakpoints))
            }
        }
    }

    fn chart(&self) -> Markup {
        let mut chart = SequenceChart::default();
        let mut number = 0;
        self.walked.each(&mut |step, values| {
            if number > 0 {
                chart.add(number, step, values);
            }
            number += 1;
        });
        let fails = self.failure().is_some();
        let drawn = if chart.rows.is_empty() { None } else { sequence::draw_chart(&chart, fails) };
        html! {
            @if let Some(drawn) = drawn {
                section #chart {
                    h2 { "Message sequence chart of the path" }
                    (drawn)
                }
            }
        }
    }
}

/// The values of the current state, and of the state before it if there is one.
struct CurrentValues {
    now: Vec<(String, StateValue)>,
    before: Option<Vec<(String, StateValue)>>,
}

impl ExplorerForm {
    fn form(&self, breakpoints: &ExploredBreakpoints) -> Markup {
        let ExplorerForm { address, language, refusal, until, way, has_store, states, seed } = self;
        let ways = RunWay::ALL.iter().filter(|it| it.0 != RunWay::Stored || *has_store);
        html! {
            form action=(address) method="get" {
                (breakpoints.fields())
                @match refusal {
                    None => label { "until " input #until name="until" value=(until) size="30" placeholder={ "an expression in " (language) } autocomplete="off"; },
                    Some(why) => p { (why) },
                }
                @for (it, name, title) in ways {
                    label { input type="radio" name="by" value=(name) checked[it == way]; " " (title) }
                }
                label { "at most " input name="states" type="number" min="1" value=(states); " states" }
                label { "seed " input name="seed" type="number" min="0" value=(seed); }
                button { "run" }
            }
        }
    }
}

impl ExplorerLink {
    fn link(&self) -> Markup {
        html! { a href=(self.address) data-key=[self.key] { (self.title) } }
    }
}

/// Formats the lines of a preview.
fn preview(all: &[String]) -> Markup {
    html! {
        @for line in all.iter().take(PREVIEW_MAX) { div.change { (line) } }
        @if let Some(more) = all.len().checked_sub(PREVIEW_MAX).filter(|&it| it > 0) {
            details {
                summary { "and " (count(more as u64, "further line")) }
                @for line in &all[PREVIEW_MAX..] { div.change { (line) } }
            }
        }
    }
}

/// Returns the page of a request without a state, with the reason.
pub fn explorer_refusal(name: &str, why: &str) -> String {
    let body = html! {
        header.bad {
            h1 { (name) }
            p.verdict { "There is no such page." }
            p.wrong { (why) }
        }
        p { a href="/" { "Back to the beginning" } }
    };
    document(&format!("{name}: not found"), false, &body)
}
