//! The property process of a model, as an automaton that accepts the violating runs.

use super::ast::{DveModel, DveProcess};
use crate::ltl::{Automaton, AutomatonEdge, AutomatonState, Cube};
use crate::temporal_property::{TemporalSpec, UnresolvedProperty, check_proposition_count};
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};

/// Returns the property process, if it has this name.
pub(super) fn find_property_process<'m, 'a>(
    model: &'m DveModel<'a>,
    name: &str,
) -> Option<&'m DveProcess<'a>> {
    model.system.property.filter(|it| it.text == name)?;
    model.processes.iter().find(|it| it.name.text == name && it.family.is_none())
}

/// Returns the automaton of a property process; each guard is a proposition.
pub(super) fn automaton(
    process: &DveProcess<'_>,
    sources: &SourceMap,
) -> Result<UnresolvedProperty, Diagnostic> {
    let mut states: Vec<&str> = process.states.iter().map(|it| it.text).collect();
    // An automaton starts in its first state.
    let first = process.init.and_then(|init| states.iter().position(|it| *it == init.text));
    if let Some(first) = first {
        states[..=first].rotate_right(1);
    }
    let accepts = |it: &&str| process.accepts.iter().any(|accepts| accepts.text == *it);
    let mut made: Vec<AutomatonState> = states
        .iter()
        .map(|it| AutomatonState { accepts: accepts(it), edges: Vec::new() })
        .collect();
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
                    check_proposition_count(guards.len(), guard.span)?;
                }
                Cube::literal(number, true)
            }
        };
        // An undeclared state is reported at the declaration of the process.
        let state = |name: &str| states.iter().position(|it| *it == name);
        if let (Some(from), Some(to)) = (state(transition.from.text), state(transition.to.text)) {
            made[from].edges.push(AutomatonEdge { cube, to });
        }
    }
    let automaton = Automaton { propositions: Vec::new(), states: made };
    Ok(UnresolvedProperty::unquantified(TemporalSpec::Automaton(automaton), guards))
}
