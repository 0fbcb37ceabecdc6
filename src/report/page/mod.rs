//! A report as one page for a browser: the verdict, the counterexample step by step and as a chart, how the search went, and
//! the model's text with how often each line's actions were taken.
//!
//! The page is one file that asks nobody for anything: its style and its script are in it, and it forbids itself all else;
//! only one that is shown while its search runs may ask for its own parts again. It is read without the script, too. What
//! comes from a model is text and stays text: `maud` escapes it, and `escape` what is no text in it.

mod plots;
mod sequence;
mod source;
mod states;
mod status_panel;
mod trace_view;

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

/// What a browser is to refuse, whatever a model has brought into the page.
const POLICY: &str = include_str!("policy.txt");

/// What is on a page.
pub struct ReportPage<'p> {
    /// What was searched.
    pub name: &'p str,
    /// What came of it.
    pub verdict: SearchVerdict,
    /// The same in a sentence.
    pub says: String,
    /// Said above all else, if something is: why the report is not of a whole search.
    pub note: Option<&'p str>,
    /// The search in numbers, each with what it is.
    pub figures: Vec<(&'static str, String)>,
    /// The whole report as text.
    pub told: String,
    /// The counterexample that is shown.
    pub way: Option<TraceView>,
    /// How many states there are in each level.
    pub levels: &'p [u64],
    /// What happened in all sittings.
    pub events: &'p [SearchEvent],
    /// Which bits of a state hold what, in lines.
    pub layout: Option<&'p str>,
    /// All states, of a model that has few.
    pub graph: Option<&'p StateDiagram>,
    /// The model's text.
    pub texts: Option<AnnotatedSources<'p>>,
    /// Where the search is kept, if it is.
    pub dir: Option<&'p str>,
    /// How the search goes, where it may still be running.
    pub live: Option<&'p StatusPanel>,
}

impl<'p> ReportPage<'p> {
    /// That of a report, whose counterexample ends so, if one is shown.
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

    /// One that has no more on it than a text.
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

    /// The page as text.
    pub fn html(&self) -> String {
        self.render().html()
    }

    /// The page.
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
            @if let Some(way) = &self.way { (way.section()) }
            section #result { h2 { "Result" } pre { (self.told) } }
            section #search {
                h2 { "How the search went" }
                (plots::all(self.levels, self.events))
                @if let Some(layout) = self.layout {
                    details { summary { "which bits of a state hold what" } pre { (layout) } }
                }
            }
            @if let Some(graph) = self.graph { (graph.section()) }
            @if let Some(texts) = &self.texts { (texts.section()) }
            section #again { h2 { "Once more" } (self.again()) }
            script { (PreEscaped(SCRIPT)) }
        };
        let (title, is_live) = (format!("{}: {verdict}", self.name), self.live.is_some());
        RenderedPage { title, is_live, heading, sections }
    }

    /// How to do it again.
    fn again(&self) -> Markup {
        let sittings = self.events.iter().filter_map(|it| match it {
            SearchEvent::Sitting { command, .. } => {
                Some(command.as_deref().unwrap_or("by a program"))
            }
            _ => None,
        });
        let sittings: Vec<&str> = sittings.collect();
        html! {
            @match &sittings[..] {
                [] => p { "How it was asked for is not on record." },
                [one] => { p { "It was asked for by:" } pre { (one) } },
                all => {
                    p { "It was asked for, in " (count(all.len() as u64, "sitting")) ", by:" }
                    pre { (all.join("\n")) }
                },
            }
            @if let Some(dir) = self.dir {
                p { "It is kept in " code { (dir) } ": " code { "spillway trace " (dir) } " tells its counterexamples, "
                    code { "spillway status " (dir) } " how far it is." }
            }
            p.made { "Made by spillway " (env!("CARGO_PKG_VERSION")) "." }
        }
    }
}

/// A page, of which the part between its heading and its sections is open.
pub struct RenderedPage {
    title: String,
    is_live: bool,
    heading: Markup,
    sections: Markup,
}

impl RenderedPage {
    /// The page as text.
    pub fn html(&self) -> String {
        self.document(&Markup::default())
    }

    /// The page of a check that took several searches, of which this was one: with the verdict on each property, and what
    /// the searches found as text.
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

/// A whole document, which may ask for parts of itself again if it is `status_panel`.
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
