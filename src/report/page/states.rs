//! A drawing of the state graph of a small model. Rows are the levels of breadth-first search. Each state is near its
//! predecessors.

use maud::{Markup, html};
use std::collections::BTreeMap;

/// The distance of states in a row, and of rows, in pixels.
const COLUMN: f64 = 46.0;
const ROW: f64 = 64.0;

/// The radius of a state.
const RADIUS: f64 = 13.0;

/// The margin of the drawing.
const MARGIN: f64 = 40.0;

/// The number of rounds that order each row by the row above.
const ROUNDS: usize = 8;

/// The state graph of a model, in breadth-first order.
#[derive(Clone, Debug, Default)]
pub struct StateDiagram {
    /// The depth of each state.
    pub levels: Vec<usize>,
    /// The variables of each state, as lines.
    pub values: Vec<String>,
    /// The states that violate a property.
    pub wrong: Vec<usize>,
    /// The transitions.
    pub steps: Vec<StateDiagramEdge>,
    /// The address of the page of each state. Empty if there are no such pages.
    pub addresses: Vec<String>,
}

/// A transition between states, given by number.
#[derive(Clone, Debug)]
pub struct StateDiagramEdge {
    /// The state before.
    pub from: usize,
    /// The state after. `None` if the step fails.
    pub to: Option<usize>,
    /// The name of the step, or why it fails.
    pub title: String,
}

/// A point of the drawing.
type CanvasPoint = (f64, f64);

impl StateDiagram {
    pub(super) fn section(&self) -> Markup {
        html! {
            section #states {
                h2 { "States" }
                p { "All states of the model, without reductions, in rows by depth; states that violate a property, \
                 or in which a transition fails, are red. "
                    "Point at a state or a transition for its name." }
                (self.drawing())
            }
        }
    }

    /// Draws the graph.
    pub(super) fn drawing(&self) -> Markup {
        let places = self.places();
        let end = |of: fn(&CanvasPoint) -> f64| places.iter().map(of).fold(0.0, f64::max) + MARGIN;
        let (width, height) = (end(|it| it.0), end(|it| it.1));
        let mut between: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
        let mut failing: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for StateDiagramEdge { from, to, title } in &self.steps {
            match to {
                Some(to) => between.entry((*from, *to)).or_default().push(title),
                None => failing.entry(*from).or_default().push(title),
            }
        }
        html! {
            div.wide {
                svg.states width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img" {
                    @for ((from, to), titles) in &between {
                        g { path d=(curve(places[*from], places[*to])) {} title { (from) " → " (to) ": " (titles.join("; ")) } }
                    }
                    @for (state, (x, y)) in places.iter().enumerate() {
                        a href=[self.addresses.get(state)] {
                            g class=[self.class(state, failing.contains_key(&state))] {
                                circle cx=(x) cy=(y) r=(RADIUS) {}
                                text x=(x) y=(y + 4.0) text-anchor="middle" { (state) }
                                title {
                                    (self.values[state])
                                    @for title in failing.get(&state).into_iter().flatten() { "\nfails: " (title) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn class(&self, state: usize, fails: bool) -> Option<&'static str> {
        match (fails || self.wrong.contains(&state), self.levels[state]) {
            (true, _) => Some("bad"),
            (false, 0) => Some("first"),
            (false, _) => None,
        }
    }

    /// Computes the position of each state.
    fn places(&self) -> Vec<CanvasPoint> {
        let rows = self.levels.iter().max().map_or(0, |it| it + 1);
        let mut of_row = vec![Vec::new(); rows];
        self.levels.iter().enumerate().for_each(|(state, &row)| of_row[row].push(state));
        let widest = of_row.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let mut above = vec![Vec::new(); self.levels.len()];
        for (from, to) in self.steps.iter().filter_map(|it| Some((it.from, it.to?))) {
            if self.levels[from] < self.levels[to] {
                above[to].push(from);
            }
        }
        let mut across = vec![0.0; self.levels.len()];
        for _ in 0..ROUNDS {
            for row in &mut of_row {
                let middle = |state: &usize| -> f64 {
                    let all = &above[*state];
                    let sum: f64 = all.iter().map(|&it| across[it]).sum();
                    if all.is_empty() { across[*state] } else { sum / all.len() as f64 }
                };
                let by_middle = |one: &usize, other: &usize| middle(one).total_cmp(&middle(other));
                row.sort_by(by_middle);
                let first = (widest - row.len() as f64) / 2.0;
                for (number, &state) in row.iter().enumerate() {
                    across[state] = first + number as f64;
                }
            }
        }
        let place = |(state, row): (usize, &usize)| {
            (MARGIN + across[state] * COLUMN, MARGIN + *row as f64 * ROW)
        };
        self.levels.iter().enumerate().map(place).collect()
    }
}

/// Draws an edge: a straight line to the next row, and a bent curve to any other, so that edges do not coincide.
fn curve((x, y): CanvasPoint, (to_x, to_y): CanvasPoint) -> String {
    let (across, down) = (to_x - x, to_y - y);
    let length = across.hypot(down);
    if length == 0.0 {
        return format!("M{x} {} c24 -22 24 44 4 26", y - RADIUS / 2.0);
    }
    let (one_x, one_y) = (across / length, down / length);
    let (begin_x, begin_y) = (x + one_x * RADIUS, y + one_y * RADIUS);
    let (end_x, end_y) = (to_x - one_x * RADIUS, to_y - one_y * RADIUS);
    let aside = if (down - ROW).abs() < 1.0 { 0.0 } else { (length / 4.0).min(60.0) };
    let (mid_x, mid_y) = ((x + to_x) / 2.0 - one_y * aside, (y + to_y) / 2.0 + one_x * aside);
    format!("M{begin_x:.1} {begin_y:.1} Q{mid_x:.1} {mid_y:.1} {end_x:.1} {end_y:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_a_row_are_separate_and_near_their_predecessors() {
        // Two chains that begin apart, given alternately.
        let step = |from, to| StateDiagramEdge { from, to: Some(to), title: "go".into() };
        let graph = StateDiagram {
            levels: vec![0, 0, 1, 1, 2, 2],
            values: vec![String::new(); 6],
            wrong: vec![],
            steps: vec![step(0, 3), step(1, 2), step(3, 4), step(2, 5), step(5, 0), step(4, 4)],
            addresses: vec![],
        };
        let places = graph.places();
        assert_eq!(places[0].0, places[3].0);
        assert_eq!(places[3].0, places[4].0);
        assert_eq!(places[1].0, places[2].0);
        assert!(places[0].0 < places[1].0 && places[4].1 > places[3].1);
        for (number, place) in places.iter().enumerate() {
            assert!(!places[number + 1..].contains(place));
        }
    }
}
