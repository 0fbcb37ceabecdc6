//! A counterexample as a message sequence chart, drawn.

use super::super::chart::{Chart, Row};
use maud::{Markup, html};

/// Of longer counterexamples the last steps are drawn.
const ROWS_MAX: usize = 300;

/// From one lifeline to the next, and from one step to the next, in pixels.
const COLUMN: usize = 190;
const ROW: usize = 26;

/// In front of the first lifeline.
const MARGIN: usize = 110;

/// Above the first step.
const HEAD: usize = 40;

/// What an action is called is cut behind so many characters.
const TEXT_MAX: usize = 26;

fn x(column: usize) -> usize {
    MARGIN + column * COLUMN
}

/// The chart; nothing of a model without processes.
pub(super) fn drawn(chart: &Chart) -> Option<Markup> {
    if chart.columns.is_empty() {
        return None;
    }
    let rows = &chart.rows[chart.rows.len().saturating_sub(ROWS_MAX)..];
    let left_out = chart.rows.len() - rows.len();
    let (width, height) = (x(chart.columns.len()), HEAD + rows.len() * ROW + ROW);
    Some(html! {
        @if left_out > 0 { p.note { "The last " (rows.len()) " steps are drawn." } }
        div.wide {
            svg.sequence width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img" {
                title { "message sequence chart" }
                @for (column, name) in chart.columns.iter().enumerate() {
                    line.life x1=(x(column)) x2=(x(column)) y1=(HEAD - 12) y2=(height - 8) {}
                    text.who x=(x(column)) y="18" text-anchor="middle" { (name) }
                }
                @for (number, row) in rows.iter().enumerate() { (step(row, HEAD + number * ROW + ROW / 2)) }
            }
        }
    })
}

/// A step, so far down.
fn step(row: &Row, y: usize) -> Markup {
    let to = row.actions.first().map_or(0, |it| it.0);
    html! {
        g class="step" data-step=(row.number) {
            text.number x="6" y=(y + 4) { (row.number) }
            @if let Some((from, sent)) = row.from.filter(|it| it.0 != to) {
                (arrow(x(from), x(to), y))
                title { "sent in step " (sent) }
            }
            @for (column, actions) in &row.actions {
                circle cx=(x(*column)) cy=(y) r="4" {}
                text x=(x(*column) + 8) y=(y - 5) { (cut(&actions.join("; "))) title { (actions.join("; ")) } }
            }
        }
    }
}

/// From one lifeline to another.
fn arrow(from: usize, to: usize, y: usize) -> Markup {
    let head = if from < to { to - 6 } else { to + 6 };
    let back = if from < to { head - 8 } else { head + 8 };
    html! {
        line.arrow x1=(from) x2=(head) y1=(y) y2=(y) {}
        path.arrow d={ "M" (back) " " (y - 4) " L" (head) " " (y) " L" (back) " " (y + 4) } {}
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
