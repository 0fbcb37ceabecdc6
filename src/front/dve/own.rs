//! The property process of a model, as an automaton: it accepts the runs that there must not be.

use super::ast::{Model, Process};
use crate::diag::Diagnostic;
use crate::front::asked::{Demand, Split, not_too_many};
use crate::ltl::{Automaton, Cube, Edge, State};
use crate::source::{Sources, Span};

/// The property process, if it is called this.
pub(super) fn property<'m, 'a>(model: &'m Model<'a>, name: &str) -> Option<&'m Process<'a>> {
    model.system.property.filter(|it| it.text == name)?;
    model.processes.iter().find(|it| it.name.text == name && it.family.is_none())
}

/// The automaton of a property process; each guard is a proposition.
pub(super) fn automaton(process: &Process<'_>, sources: &Sources) -> Result<Split, Diagnostic> {
    let mut states: Vec<&str> = process.states.iter().map(|it| it.text).collect();
    // An automaton begins in its first state.
    let first = process.init.and_then(|init| states.iter().position(|it| *it == init.text));
    if let Some(first) = first {
        states[..=first].rotate_right(1);
    }
    let accepts = |it: &&str| process.accepts.iter().any(|accepts| accepts.text == *it);
    let mut made: Vec<State> =
        states.iter().map(|it| State { accepts: accepts(it), edges: Vec::new() }).collect();
    let mut guards: Vec<Span> = Vec::new();
    for transition in &process.transitions {
        if let Some(effect) = transition.effects.first() {
            let error = "a property process that changes variables is not supported";
            return Err(Diagnostic::error(effect.target.span, error));
        }
        let cube = match &transition.guard {
            None => Cube::ANY,
            Some(guard) => {
                let is_same = |it: &Span| sources.text(*it) == sources.text(guard.span);
                let known = guards.iter().position(is_same);
                let number = known.unwrap_or(guards.len());
                if known.is_none() {
                    guards.push(guard.span);
                    not_too_many(guards.len(), guard.span)?;
                }
                Cube::literal(number, true)
            }
        };
        // A state that there is not is complained of where the process is declared.
        let state = |name: &str| states.iter().position(|it| *it == name);
        if let (Some(from), Some(to)) = (state(transition.from.text), state(transition.to.text)) {
            made[from].edges.push(Edge { cube, to });
        }
    }
    let automaton = Automaton { propositions: Vec::new(), states: made };
    Ok(Split::plain(Demand::Automaton(automaton), guards))
}
