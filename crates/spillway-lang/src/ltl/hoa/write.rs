//! Writer of automata.

use crate::ltl::automaton::Automaton;
use crate::ltl::components::{AutomatonComponents, ComponentClass};
use crate::ltl::cube::Cube;
use spillway_base::escape;
use std::fmt::Write;

impl Automaton {
    /// Returns the automaton in the Hanoi format.
    pub fn hoa(&self, name: &str) -> String {
        let mut out = format!("HOA: v1\nname: {}\ntool: \"spillway\"\n", quoted(name));
        let _ = writeln!(out, "States: {}", self.states.len());
        if !self.is_empty() {
            out += "Start: 0\n";
        }
        let names: String = self.propositions.iter().map(|it| format!(" {}", quoted(it))).collect();
        let _ = writeln!(out, "AP: {}{names}", self.propositions.len());
        out += "acc-name: Buchi\nAcceptance: 1 Inf(0)\n";
        let _ =
            writeln!(out, "properties: trans-labels explicit-labels state-acc{}", self.strength());
        out += "--BODY--\n";
        for (at, state) in self.states.iter().enumerate() {
            let _ = writeln!(out, "State: {at}{}", if state.accepts { " {0}" } else { "" });
            for edge in &state.edges {
                let _ = writeln!(out, "[{}] {}", label(edge.cube), edge.to);
            }
        }
        out + "--END--\n"
    }

    /// Returns the properties of the format for the class of the automaton.
    fn strength(&self) -> &'static str {
        match AutomatonComponents::of(self).class() {
            ComponentClass::Rejecting | ComponentClass::Terminal => " weak terminal",
            ComponentClass::Weak => " weak",
            ComponentClass::Strong => "",
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escape::hoa(text))
}

fn label(cube: Cube) -> String {
    let literal = |(number, holds)| if holds { format!("{number}") } else { format!("!{number}") };
    let literals: Vec<String> = cube.literals().map(literal).collect();
    if literals.is_empty() { "t".to_owned() } else { literals.join("&") }
}
