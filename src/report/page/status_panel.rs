//! A search as it looks at one moment: in lines for a terminal, and on a page that asks for it again and again.

use super::document;
use crate::escape;
use crate::numbers::grouped;
use crate::report::table::{row, wrapped};
use maud::{Markup, html};

/// Asks for the glance again every second, and for the whole page where more than that is new.
pub(super) const SCRIPT: &str = include_str!("live.js");

/// A bar in a terminal is as wide as this at least.
const BAR_MIN: usize = 10;

/// What kind of moment it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelStatus {
    /// The search is running.
    Running,
    /// It came to its end, and nothing is violated.
    Verified,
    /// It came to its end, and something is.
    Violated,
    /// It is not running, and can be gone on with.
    Open,
    /// There is nothing to be seen.
    Lost,
}

/// A search as it looks at one moment.
#[derive(Clone, Debug)]
pub struct StatusPanel {
    /// What is searched.
    pub name: String,
    /// Where that is kept.
    pub dir: String,
    /// What kind of moment it is.
    pub status: PanelStatus,
    /// The same in a sentence.
    pub says: String,
    /// What there is to tell, each with its label.
    pub rows: Vec<(&'static str, String)>,
    /// States of levels, the last of which is not whole yet where the search runs: each with what it is called.
    pub bars: Vec<(String, u64)>,
    /// Another whenever there is something new on the page of the search.
    pub stamp: String,
}

impl StatusPanel {
    /// In no more than so many lines of so many columns.
    pub fn lines(&self, columns: usize, lines_max: usize) -> Vec<String> {
        let says = wrapped("", &format!("{}: {}", self.name, self.says));
        let mut out: Vec<String> = says.lines().map(str::to_owned).collect();
        for (label, told) in &self.rows {
            out.extend(row(label, told).lines().map(str::to_owned));
        }
        let room = lines_max.saturating_sub(out.len());
        let bars = &self.bars[self.bars.len().saturating_sub(room)..];
        let most = bars.iter().map(|it| it.1).max().unwrap_or(0).max(1);
        let label = bars.iter().map(|it| it.0.len()).max().unwrap_or(0);
        let number = grouped(most).len();
        let wide = columns.saturating_sub(label + number + 6).max(BAR_MIN);
        for (level, states) in bars {
            let length = (*states as f64 / most as f64 * wide as f64).ceil() as usize;
            let bar = "#".repeat(length);
            out.push(format!("  {level:>label$}  {:>number$}  {bar}", grouped(*states)));
        }
        out.truncate(lines_max);
        out
    }

    /// As the part of a page that is asked for again and again.
    pub fn part(&self) -> String {
        escape::html(&self.section().into_string()).into_owned()
    }

    /// The same, where the rest of the page tells of one that has ended.
    pub(super) fn section(&self) -> Markup {
        let is_over = matches!(self.status, PanelStatus::Verified | PanelStatus::Violated);
        html! {
            section #live class={ "live " (self.class()) } data-stamp=(self.stamp) {
                p.now { (self.says) }
                @if !is_over { (self.table()) (self.draw_bars()) }
            }
        }
    }

    /// As one of several.
    fn entry(&self) -> Markup {
        html! {
            div class={ "live " (self.class()) } { p.now { (self.says) } (self.table()) }
        }
    }

    fn class(&self) -> &'static str {
        match self.status {
            PanelStatus::Running => "running",
            PanelStatus::Verified => "good",
            PanelStatus::Violated => "bad",
            PanelStatus::Open | PanelStatus::Lost => "open",
        }
    }

    fn table(&self) -> Markup {
        html! { dl.rows { @for (label, told) in &self.rows { dt { (label) } dd { (told) } } } }
    }

    fn draw_bars(&self) -> Markup {
        let most = self.bars.iter().map(|it| it.1).max().unwrap_or(0).max(1);
        html! {
            @if !self.bars.is_empty() {
                table.bars {
                    @for (level, states) in &self.bars {
                        tr {
                            td.number { (level) }
                            td.number { (grouped(*states)) }
                            td { meter value=(states) max=(most) {} }
                        }
                    }
                }
            }
        }
    }
}

/// A page with all searches that are looked at, each with the path of its own page.
pub fn overview(all: &[(String, StatusPanel)]) -> String {
    let body = html! {
        header { h1 { "Searches" } }
        main #searches {
            @for (path, glance) in all {
                article {
                    h2 { a href=(path) { (glance.name) } }
                    p.keys { (glance.dir) }
                    (glance.entry())
                }
            }
        }
    };
    document("spillway watch", true, &body)
}
