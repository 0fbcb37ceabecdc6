//! Unfolding of coloured nets: a place for each colour of a place, a transition for each binding.

use super::token_game::{ArcKind, Net, Transition};

/// Nets with more bindings are not unfolded.
const BINDINGS_MAX: usize = 2_000;

/// Returns the equivalent net without colours, or nothing if there are too many transitions.
pub fn unfold_colours(net: &Net) -> Option<Net> {
    let initial_tokens =
        net.places.iter().zip(0..).map(|((_, bag), place)| net.tokens(place, bag, &[]));
    let initial_tokens: Vec<Vec<i64>> = initial_tokens.collect();
    // The number of the place for the first colour of a place.
    let first_place_of = |place: usize| initial_tokens[..place].iter().map(Vec::len).sum::<usize>();
    let mut transitions = Vec::new();
    for transition in &net.transitions {
        for binding in net.bindings(transition) {
            let arcs = transition.arcs.iter().flat_map(|(kind, place, bag)| {
                let tokens = match kind {
                    // It empties the place for every binding.
                    ArcKind::Reset => vec![1; initial_tokens[*place].len()],
                    _ => net.tokens(*place, bag, &binding),
                };
                let each = tokens
                    .into_iter()
                    .zip(first_place_of(*place)..)
                    .filter(|(times, _)| *times > 0);
                each.map(|(times, colour)| (*kind, colour, vec![(times, Vec::new())]))
            });
            let arcs = arcs.collect();
            transitions.push(Transition { variables: Vec::new(), conditions: Vec::new(), arcs });
        }
        if transitions.len() > BINDINGS_MAX {
            return None;
        }
    }
    let places = initial_tokens.concat().into_iter().map(|it| (Vec::new(), vec![(it, Vec::new())]));
    Some(Net { classes: Vec::new(), elements: Vec::new(), places: places.collect(), transitions })
}
