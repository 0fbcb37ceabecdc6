//! A report as one page for a browser: the verdict, the counterexample step by step and as a chart, how the search went, and
//! the model's text with how often each line's actions were taken.
//!
//! The page is one file that asks nobody for anything: its style and its script are in it, and it forbids itself all else.
//! It is read without the script, too. What comes from a model is text and stays text: the writer escapes it.

mod plots;
mod sequence;
mod source;
mod way;

use super::coverage::coverage;
use super::{Ending, Report, Verdict, print_result, text};
use crate::numbers::{count, grouped};
use crate::search::events::Event;
use crate::search::plan::Bytes;
use crate::search::trace::Counterexample;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use way::Way;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What a browser is to refuse, whatever a model has brought into the page.
const POLICY: &str = include_str!("policy.txt");

/// What is on a page beside the report.
pub struct Beside<'p> {
    /// The counterexample that is shown, with its end.
    pub shown: Option<(&'p Ending, &'p Counterexample<'p>)>,
    /// What happened in all sittings.
    pub events: &'p [Event],
    /// Which bits of a state hold what, in lines.
    pub layout: &'p str,
    /// Said above all else, if something is: why the report is not of a whole search.
    pub note: Option<&'p str>,
}

/// The page.
pub fn page(report: &Report, beside: &Beside) -> String {
    let ending = beside.shown.map(|it| it.0);
    let told = print_result(report, ending, true);
    let (verdict, class) = match report.verdict() {
        Verdict::Verified => ("verified", "good"),
        Verdict::Violated => ("VIOLATED", "bad"),
        Verdict::Incomplete => ("incomplete", "open"),
    };
    let covered = coverage(report);
    let way = beside.shown.map(|(ending, way)| Way::of(report, ending, way));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY.trim());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "spillway " (env!("CARGO_PKG_VERSION")) };
                title { (report.model_name) ": " (verdict) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header class=(class) {
                    h1 { (report.model_name) }
                    p.verdict { (text::verdict(report, ending)) }
                    @if let Some(note) = beside.note { p.note { (note) } }
                    (figures(report))
                }
                nav {
                    @if way.is_some() { a href="#way" { "counterexample" } }
                    a href="#result" { "result" }
                    a href="#search" { "search" }
                    a href="#model" { "model" }
                    a href="#again" { "again" }
                }
                @if let Some(way) = &way { (way.shown()) }
                section #result { h2 { "Result" } pre { (told) } }
                section #search {
                    h2 { "How the search went" }
                    (plots::all(report.outcome, beside.events))
                    details {
                        summary { "which bits of a state hold what" }
                        pre { (beside.layout) }
                    }
                }
                section #model {
                    h2 { "Model" }
                    (source::texts(report, covered.as_deref()))
                }
                section #again { h2 { "Once more" } (again(report, beside.events)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The search in numbers.
fn figures(report: &Report) -> Markup {
    let outcome = report.outcome;
    let figures = [
        (grouped(outcome.states()), "states"),
        (grouped(outcome.transitions), "transitions"),
        (grouped(outcome.levels.len() as u64), "levels"),
        (grouped(outcome.deadlocks()), "deadlocks"),
        (format!("{:.1}", report.seconds), "seconds"),
        (Bytes(report.peak_rss_bytes).to_string(), "memory"),
        (Bytes(report.disk.peak).to_string(), "disk"),
    ];
    html! {
        dl.figures {
            @for (value, what) in figures { div { dt { (what) } dd { (value) } } }
        }
    }
}

/// How to do it again.
fn again(report: &Report, events: &[Event]) -> Markup {
    let sittings = events.iter().filter_map(|it| match it {
        Event::Sitting { command, .. } => Some(command.as_deref().unwrap_or("by a program")),
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
        @if let Some(dir) = &report.dir {
            p { "It is kept in " code { (dir) } ": " code { "spillway trace " (dir) } " tells its counterexamples, "
                code { "spillway status " (dir) } " how far it is." }
        }
        p.made { "Made by spillway " (env!("CARGO_PKG_VERSION")) "." }
    }
}
