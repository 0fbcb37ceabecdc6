//! The status of a search: as lines for a terminal, and as a part of a page that is refreshed periodically.

use super::document;
use crate::escape;
use crate::numbers::grouped;
use crate::report::table::{row, wrapped};
use maud::{Markup, html};

/// The script that requests the panel every second, and the whole page if it has changed.
pub(super) const SCRIPT: &str = include_str!("live.js");

/// The minimum width of a bar in a terminal.
const BAR_MIN: usize = 10;

/// The status of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelStatus {
    /// The search is running.
    Running,
    /// It is complete, and no property is violated.
    Verified,
    /// It is complete, and a property is violated.
    Violated,
    /// It is stopped and can be resumed.
    Open,
    /// There is no data.
    Lost,
}

/// The status of a search at one moment.
#[derive(Clone, Debug)]
pub struct StatusPanel {
    /// The name of the model.
    pub name: String,
    /// The search directory.
    pub dir: String,
    /// The status of the search.
    pub status: PanelStatus,
    /// The status as a sentence.
    pub says: String,
    /// The details, each with its label.
    pub rows: Vec<(&'static str, String)>,
    /// The number of states of levels, with their labels. The last level may be incomplete while the search runs.
    pub bars: Vec<(String, u64)>,
    /// Changes whenever the page of the search changes.
    pub stamp: String,
}

impl StatusPanel {
    /// Formats the panel in at most this number of lines and columns.
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

    /// Returns the panel as the part of a page that is refreshed.
    pub fn part(&self) -> String {
        escape::html(&self.section().into_string()).into_owned()
    }

    /// Renders the panel. If the search is complete, the rest of the page describes it.
    pub(super) fn section(&self) -> Markup {
        let is_over = matches!(self.status, PanelStatus::Verified | PanelStatus::Violated);
        html! {
            section #live class={ "live " (self.class()) } data-stamp=(self.stamp) {
                p.now { (self.says) }
                @if !is_over { (self.table()) (self.draw_bars()) }
            }
        }
    }

    /// Renders the panel as one of several.
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

/// Returns a page with all observed searches, each with the path of its own page.
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
