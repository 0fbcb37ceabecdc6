//! A net as DOT (Graphviz): places with their tokens, transitions and arcs.

use super::annotations;
use super::net::{ArcEffect, PetriArc, PetriNet};
use crate::DrawnState;
use spillway_base::escape;
use spillway_model::StateValue;
use std::fmt::Write;

/// The maximum number of tokens drawn as dots; more are drawn as a number.
const DOTS_MAX: i64 = 3;

/// Draws the net with a marking, and highlights its enabled transitions.
pub(super) fn net_to_dot(net: &PetriNet, drawn: &DrawnState<'_>) -> String {
    let mut out = format!("digraph {} {{\n", quoted(drawn.name));
    out += "  node [fontname=\"monospace\", fontsize=10];\n  edge [fontname=\"monospace\", fontsize=9];\n";
    for (number, place) in net.places.iter().enumerate() {
        let value = drawn.values.iter().find(|(name, _)| *name == place.name).map(|it| &it.1);
        let there = value.and_then(StateValue::nonzero_part);
        let style = if there.is_some() { ", penwidth=2" } else { "" };
        let tokens = there.map_or(String::new(), |it| tokens(&it));
        let label = quoted(&tokens);
        let name = quoted(&place.name);
        let _ = writeln!(out, "  p{number} [shape=ellipse, label={label}, xlabel={name}{style}];");
    }
    for (number, transition) in net.transitions.iter().enumerate() {
        let label = match &transition.condition_text {
            Some(says) => format!("{}\\n[{}]", escape::dot(&transition.name), escape::dot(says)),
            None => escape::dot(&transition.name),
        };
        let can_be = drawn.next.contains(&transition.name);
        let style = if can_be { ", style=filled, fillcolor=palegreen" } else { "" };
        let _ = writeln!(out, "  t{number} [shape=box, label=\"{label}\"{style}];");
        for flow in &transition.arcs {
            out += &arc(net, number, flow);
        }
    }
    out + "}\n"
}

/// Draws tokens.
fn tokens(value: &StateValue) -> String {
    match value {
        StateValue::Number(count @ 1..=DOTS_MAX) => "●".repeat(*count as usize),
        it => it.to_string(),
    }
}

/// Draws an arc from a place to a transition, or to a place.
fn arc(net: &PetriNet, transition: usize, flow: &PetriArc) -> String {
    let place = flow.place;
    let bag = annotations::bag(net, flow, false);
    let label = if bag == "1" { String::new() } else { format!("label={}", quoted(&bag)) };
    let (from_place, style) = match flow.effect {
        ArcEffect::Take => (true, ""),
        ArcEffect::Put => (false, ""),
        ArcEffect::Test => (true, "dir=none"),
        ArcEffect::Inhibit => (true, "arrowhead=odot"),
        ArcEffect::Reset => (true, "arrowhead=normalnormal"),
    };
    let all = [label.as_str(), style].into_iter().filter(|it| !it.is_empty());
    let attributes = all.collect::<Vec<_>>().join(", ");
    let ends = match from_place {
        true => format!("p{place} -> t{transition}"),
        false => format!("t{transition} -> p{place}"),
    };
    match attributes.is_empty() {
        true => format!("  {ends};\n"),
        false => format!("  {ends} [{attributes}];\n"),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escape::dot(text))
}
