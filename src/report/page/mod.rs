//! A report as a web page: the verdict, the counterexample step by step and as a chart, the course of the search, and
//! the model's text with the coverage of each line.
//!
//! The page is one file without external resources. It contains its style and its script, and its policy forbids
//! everything else. Only a page of a running search may request its own parts again. The page is readable without the
//! script. Text of a model stays text: `maud` escapes it, and `escape` replaces control characters.

mod explorer;
mod explorer_breakpoints;
mod explorer_state;
mod explorer_text;
#[cfg(feature = "plots")]
mod plots;
#[cfg(not(feature = "plots"))]
#[path = "no_plots.rs"]
mod plots;
mod sequence;
mod source;
mod states;
mod status_panel;
mod trace_view;

pub use explorer::{
    ExploredProperty, ExplorerForm, ExplorerLink, ExplorerPage, RunWay, explorer_refusal,
};
pub use explorer_breakpoints::{ExploredBreakpoint, ExploredBreakpoints, LineBreakpoint};
pub use explorer_text::ExploredStep;
pub use source::AnnotatedSources;
pub use states::{StateDiagram, StateDiagramEdge};
pub use status_panel::{PanelStatus, StatusPanel, overview};
pub use trace_view::TraceView;

use super::{CounterexampleEnd, Report, SearchVerdict, print_result, text};
use crate::escape;
use crate::numbers::{count, grouped};
use crate::search::events::SearchEvent;
use crate::search::memory_plan::ByteCount;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The content security policy. It protects the browser from anything that a model brings into the page.
const POLICY: &str = include_str!("policy.txt");

/// The contents of a page.
pub struct ReportPage<'p> {
    /// The name of the model.
    pub name: &'p str,
    /// The verdict.
    pub verdict: SearchVerdict,
    /// The verdict as a sentence.
    pub says: String,
    /// A note at the top, if there is one: why the report is not that of a complete search.
    pub note: Option<&'p str>,
    /// The numbers of the search, each with its label.
    pub figures: Vec<(&'static str, String)>,
    /// The whole report as text.
    pub told: String,
    /// The counterexample that is shown.
    pub way: Option<TraceView>,
    /// The number of states in each level.
    pub levels: &'p [u64],
    /// The events of all sessions.
    pub events: &'p [SearchEvent],
    /// The layout of the state vector, as lines.
    pub layout: Option<&'p str>,
    /// The state graph of a small model.
    pub graph: Option<&'p StateDiagram>,
    /// The model's text.
    pub texts: Option<AnnotatedSources<'p>>,
    /// The search directory, if it is kept.
    pub dir: Option<&'p str>,
    /// The status of a search that may be running.
    pub live: Option<&'p StatusPanel>,
}

impl<'p> ReportPage<'p> {
    /// Creates the page of a report. `ending` is the end of the counterexample, if one is shown.
    pub fn of(report: &'p Report, ending: Option<&CounterexampleEnd>) -> ReportPage<'p> {
        let outcome = report.outcome;
        let figures = [
            ("states", grouped(outcome.states())),
            ("transitions", grouped(outcome.counters.transitions)),
            ("levels", grouped(outcome.levels.len() as u64)),
            ("deadlocks", grouped(outcome.deadlocks())),
            ("seconds", format!("{:.1}", report.seconds)),
            ("memory", ByteCount(report.peak_rss_bytes).to_string()),
            ("disk", ByteCount(report.disk.peak).to_string()),
        ];
        ReportPage {
            says: text::verdict(report, ending),
            figures: figures.into(),
            levels: &outcome.levels,
            texts: Some(AnnotatedSources::of(report)),
            dir: report.dir.as_deref(),
            ..ReportPage::new(
                report.model_name,
                report.verdict(),
                print_result(report, ending, true),
            )
        }
    }

    /// Creates a page with a text only.
    pub fn new(name: &'p str, verdict: SearchVerdict, told: String) -> ReportPage<'p> {
        ReportPage {
            name,
            verdict,
            says: String::new(),
            note: None,
            figures: Vec::new(),
            told,
            way: None,
            levels: &[],
            events: &[],
            layout: None,
            graph: None,
            texts: None,
            dir: None,
            live: None,
        }
    }

    /// Returns the page as HTML.
    pub fn html(&self) -> String {
        self.render().html()
    }

    /// Renders the page.
    pub fn render(&self) -> RenderedPage {
        let (verdict, class) = match self.verdict {
            SearchVerdict::Verified => ("verified", "good"),
            SearchVerdict::Violated => ("VIOLATED", "bad"),
            SearchVerdict::Incomplete => ("incomplete", "open"),
        };
        let heading = html! {
            header class=(class) {
                h1 { (self.name) }
                p.verdict { (self.says) }
                @if let Some(note) = self.note { p.note { (note) } }
                @if !self.figures.is_empty() {
                    dl.figures {
                        @for (what, value) in &self.figures { div { dt { (what) } dd { (value) } } }
                    }
                }
            }
            @if let Some(glance) = self.live { (glance.section()) }
        };
        let sections = html! {
            nav {
                @if self.way.is_some() { a href="#way" { "counterexample" } }
                a href="#result" { "result" }
                a href="#search" { "search" }
                @if self.graph.is_some() { a href="#states" { "states" } }
                @if self.texts.is_some() { a href="#model" { "model" } }
                a href="#again" { "again" }
            }
            @if let Some(way) = &self.way {
                (way.section())
                @if let Some(command) = self.exploring_command() {
                    p { "Explore this counterexample step by step in a browser:" }
                    pre { (command) }
                }
            }
            section #result { h2 { "Result" } pre { (self.told) } }
            section #search {
                h2 { "How the search went" }
                (plots::all(self.levels, self.events))
                @if let Some(layout) = self.layout {
                    details { summary { "layout of the state vector" } pre { (layout) } }
                }
            }
            @if let Some(graph) = self.graph { (graph.section()) }
            @if let Some(texts) = &self.texts { (texts.section()) }
            section #again { h2 { "Run it again" } (self.again()) }
            script { (PreEscaped(SCRIPT)) }
        };
        let (title, is_live) = (format!("{}: {verdict}", self.name), self.live.is_some());
        RenderedPage { title, is_live, heading, sections }
    }

    /// Returns the command that opens the counterexample in the explorer: of the search directory, or else of the check
    /// that finds it again.
    fn exploring_command(&self) -> Option<String> {
        match (self.dir, &self.commands()[..]) {
            (Some(dir), _) => Some(format!("spillway explore {}", escape::shell(dir))),
            (None, [Some(check)]) if check.starts_with("spillway check ") => {
                Some(format!("{check} --explore"))
            }
            (None, _) => None,
        }
    }

    /// Returns the command of each session. `None`: a program without a command line.
    fn commands(&self) -> Vec<Option<&str>> {
        let commands = self.events.iter().filter_map(|it| match it {
            SearchEvent::Sitting { command, .. } => Some(command.as_deref()),
            _ => None,
        });
        commands.collect()
    }

    /// Renders the commands that repeat the search.
    fn again(&self) -> Markup {
        let sittings = self.commands();
        let sittings: Vec<&str> = sittings.iter().map(|it| it.unwrap_or("by a program")).collect();
        html! {
            @match &sittings[..] {
                [] => p { "The command is not on record." },
                [one] => { p { "The command was:" } pre { (one) } },
                all => {
                    p { "The commands of " (count(all.len() as u64, "session")) ":" }
                    pre { (all.join("\n")) }
                },
            }
            @if let Some(dir) = self.dir {
                p { "The search directory is " code { (dir) } ": " code { "spillway trace " (dir) } " prints its \
                 counterexamples, "
                    code { "spillway status " (dir) } " its progress." }
            }
            p.made { "Made by spillway " (env!("CARGO_PKG_VERSION")) "." }
        }
    }
}

/// A rendered page. The part between its heading and its sections is open.
pub struct RenderedPage {
    title: String,
    is_live: bool,
    heading: Markup,
    sections: Markup,
}

impl RenderedPage {
    /// Returns the page as HTML.
    pub fn html(&self) -> String {
        self.document(&Markup::default())
    }

    /// Returns the page of a check with several searches, this being one of them. It has the verdict on each property
    /// and the reports of the searches as text.
    pub fn with_properties(&self, summary: &str, searches: &str) -> String {
        self.document(&html! {
            section #properties {
                h2 { "Properties" }
                pre { (summary) }
                details { summary { "all searches" } pre { (searches) } }
            }
        })
    }

    fn document(&self, between: &Markup) -> String {
        let RenderedPage { title, is_live, heading, sections } = self;
        document(title, *is_live, &html! { (heading) (between) (sections) })
    }
}

/// Returns a whole document. If `live` is set, its policy lets it request parts of itself again.
fn document(title: &str, live: bool, body: &Markup) -> String {
    let own = if live { "; connect-src 'self'" } else { "" };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content={ (POLICY.trim()) (own) };
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "spillway " (env!("CARGO_PKG_VERSION")) };
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                @if live { script { (PreEscaped(status_panel::SCRIPT)) } }
            }
        }
    };
    escape::html(&page.into_string()).into_owned()
}
