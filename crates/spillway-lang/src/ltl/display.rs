//! Automata as text and as Graphviz graphs.

use super::automaton::Automaton;
use super::components::AutomatonComponents;
use spillway_base::escape;
use spillway_base::numbers::count;
use std::fmt::Write;

impl Automaton {
    /// Returns the automaton as text: each state with its component's class and its edges.
    pub fn text(&self) -> String {
        let found = AutomatonComponents::of(self);
        let states = count(self.states.len() as u64, "state");
        let edges = count(self.edges() as u64, "edge");
        let mut out = format!("{states}, {edges}, {}\n", found.class());
        for (at, state) in self.states.iter().enumerate() {
            let class = found.classes[found.of_state[at]];
            let accepts = if state.accepts { ", accepting" } else { "" };
            let start = if at == 0 { ", start" } else { "" };
            let component = found.of_state[at];
            let _ = writeln!(out, "state {at}{start}{accepts}, component {component} ({class})");
            for edge in &state.edges {
                let _ = writeln!(out, "  {} -> {}", self.label(edge.cube, " && "), edge.to);
            }
        }
        out
    }

    /// Returns the automaton as a graph for `dot`.
    pub fn dot(&self, name: &str) -> String {
        let mut out = format!("digraph {} {{\n  rankdir=LR;\n", quoted(name));
        if !self.is_empty() {
            out += "  start [shape=point];\n  start -> 0;\n";
        }
        for (at, state) in self.states.iter().enumerate() {
            let shape = if state.accepts { "doublecircle" } else { "circle" };
            let _ = writeln!(out, "  {at} [shape={shape}];");
            for edge in &state.edges {
                let label = quoted(&self.label(edge.cube, " && "));
                let _ = writeln!(out, "  {at} -> {} [label={label}];", edge.to);
            }
        }
        out + "}\n"
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escape::dot(text))
}
