//! A counterexample as a message sequence chart in SVG.

use super::super::chart::{ChartRow, SequenceChart, break_lines};
use maud::{Markup, html};

/// The maximum number of steps. Of longer counterexamples the last steps are drawn.
const ROWS_MAX: usize = 300;

/// In pixels: the distance of steps, the height of a further line of text, and the width of a character.
const ROW: usize = 26;
const LINE: usize = 13;
const CHARACTER: usize = 7;

/// The margin before the first lifeline.
const MARGIN: usize = 110;

/// The bounds of the line length for names of actions and processes. Within these bounds it is the length of the
/// longest word.
const NARROW: usize = 26;
const WIDE: usize = 48;

/// The positions of lifelines.
#[derive(Clone, Copy)]
struct LifelineLayout {
    /// The number of characters between two lifelines.
    characters: usize,
}

impl LifelineLayout {
    /// Computes the layout for these texts.
    fn of<'t>(texts: impl Iterator<Item = &'t String>) -> LifelineLayout {
        let words = texts.flat_map(|it| it.split(' ')).map(|it| it.chars().count());
        LifelineLayout { characters: words.max().unwrap_or(0).clamp(NARROW, WIDE) }
    }

    fn x(self, column: usize) -> usize {
        MARGIN + column * (self.characters + 1) * CHARACTER
    }

    fn broken(self, text: &str) -> Vec<String> {
        break_lines(text, self.characters)
    }
}

/// Draws the chart. If `fails` is set, its last step fails. `None` for a model without processes.
pub(super) fn draw_chart(chart: &SequenceChart, fails: bool) -> Option<Markup> {
    if chart.columns.is_empty() {
        return None;
    }
    let rows = &chart.rows[chart.rows.len().saturating_sub(ROWS_MAX)..];
    let left_out = chart.rows.len() - rows.len();
    let actions = rows.iter().flat_map(|row| row.actions.iter().flat_map(|it| &it.1));
    let at = LifelineLayout::of(chart.columns.iter().chain(actions));
    let names: Vec<Vec<String>> = chart.columns.iter().map(|it| at.broken(it)).collect();
    let head = ROW + LINE * names.iter().map(Vec::len).max().unwrap_or(1);
    // The height of a step depends on its text.
    let (mut placed, mut end) = (Vec::new(), head);
    for row in rows {
        let actions: Vec<_> =
            row.actions.iter().map(|it| (it.0, at.broken(&it.1.join("; ")))).collect();
        end += actions.iter().map(|it| it.1.len() - 1).max().unwrap_or(0) * LINE;
        placed.push((row, actions, end + ROW / 2));
        end += ROW;
    }
    let (width, height) = (at.x(chart.columns.len()), end + ROW / 2);
    Some(html! {
        @if left_out > 0 { p.note { "The last " (rows.len()) " steps are drawn." } }
        div.wide {
            svg.sequence width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img" {
                title { "message sequence chart" }
                @for (column, name) in names.iter().enumerate() {
                    line.life x1=(at.x(column)) x2=(at.x(column)) y1=(head - 12) y2=(height - 8) {}
                    (lines(name, at.x(column), head - ROW + 4, Some("middle"), "who"))
                }
                @for (number, (row, actions, y)) in placed.iter().enumerate() {
                    (step(row, actions, at, *y, fails && number + 1 == placed.len()))
                }
            }
        }
    })
}

/// Draws a step at a vertical position.
fn step(
    row: &ChartRow,
    actions: &[(usize, Vec<String>)],
    at: LifelineLayout,
    y: usize,
    fails: bool,
) -> Markup {
    let to = row.actions.first().map_or(0, |it| it.0);
    let class = if fails { "step bad" } else { "step" };
    html! {
        g class=(class) data-step=(row.number) {
            text.number x="6" y=(y + 4) { (row.number) }
            @if let Some((from, sent)) = row.from.filter(|it| it.0 != to) {
                (arrow(at.x(from), at.x(to), y))
                title { "sent in step " (sent) }
            }
            @for (column, action) in actions {
                circle cx=(at.x(*column)) cy=(y) r="4" {}
                (lines(action, at.x(*column) + 8, y - 5, None, "does"))
            }
        }
    }
}

/// Draws lines of text. The last line is at the given position.
fn lines(all: &[String], x: usize, y: usize, anchor: Option<&str>, class: &str) -> Markup {
    html! {
        @for (number, line) in all.iter().rev().enumerate() {
            text class=(class) x=(x) y=(y - number * LINE) text-anchor=[anchor] { (line) }
        }
    }
}

/// Draws an arrow between two lifelines.
fn arrow(from: usize, to: usize, y: usize) -> Markup {
    let head = if from < to { to - 6 } else { to + 6 };
    let back = if from < to { head - 8 } else { head + 8 };
    html! {
        line.arrow x1=(from) x2=(head) y1=(y) y2=(y) {}
        path.arrow d={ "M" (back) " " (y - 4) " L" (head) " " (y) " L" (back) " " (y + 4) } {}
    }
}
