//! Unfolding of coloured nets: a place for each colour of a place, a transition for each binding.

use super::game::{Does, Net, Transition};

/// Nets with more bindings are not unfolded.
const BINDINGS_MAX: usize = 2_000;

/// The same net without colours; nothing if there would be very many transitions.
pub fn unfolded(net: &Net) -> Option<Net> {
    let firsts = net.places.iter().zip(0..).map(|((_, bag), place)| net.tokens(place, bag, &[]));
    let firsts: Vec<Vec<i64>> = firsts.collect();
    // The number of the first colour of each place.
    let begin = |place: usize| firsts[..place].iter().map(Vec::len).sum::<usize>();
    let mut transitions = Vec::new();
    for transition in &net.transitions {
        for binding in net.bindings(transition) {
            let arcs = transition.arcs.iter().flat_map(|(does, place, bag)| {
                let tokens = match does {
                    // It empties the place whatever the binding.
                    Does::Reset => vec![1; firsts[*place].len()],
                    _ => net.tokens(*place, bag, &binding),
                };
                let each = tokens.into_iter().zip(begin(*place)..).filter(|(times, _)| *times > 0);
                each.map(|(times, colour)| (*does, colour, vec![(times, Vec::new())]))
            });
            let arcs = arcs.collect();
            transitions.push(Transition { variables: Vec::new(), asks: Vec::new(), arcs });
        }
        if transitions.len() > BINDINGS_MAX {
            return None;
        }
    }
    let places = firsts.concat().into_iter().map(|it| (Vec::new(), vec![(it, Vec::new())]));
    Some(Net { classes: Vec::new(), elements: Vec::new(), places: places.collect(), transitions })
}
