//! Upper bounds of the numbers of tokens in places, regardless of colour.

use super::colours::{BagAddend, ColourComponent, ColourDeclarations};
use super::net::{ArcEffect, PetriNet};
use spillway_analysis::place_bounds::CounterSystem;

/// Returns the maximum number of tokens in each place, or `None` if no bound was found.
pub(super) fn bounds(net: &PetriNet) -> Vec<Option<i64>> {
    skeleton(net).bounds(|_, it| it <= 1)
}

/// Returns the net without colours, as a system of counters.
fn skeleton(net: &PetriNet) -> CounterSystem {
    let initial = net.places.iter().map(|it| it.initial.iter().sum());
    let changes = net.transitions.iter().map(|transition| {
        let mut changes: Vec<(usize, i64)> = Vec::new();
        for flow in &transition.arcs {
            let tokens = tokens(&flow.bag, &net.colours, &net.places[flow.place].sort);
            let change = match flow.effect {
                ArcEffect::Take => -tokens,
                ArcEffect::Put => tokens,
                // The number of removed tokens is unknown; to assume 0 is safe for an upper bound.
                ArcEffect::Reset | ArcEffect::Test | ArcEffect::Inhibit => continue,
            };
            match changes.iter_mut().find(|it| it.0 == flow.place) {
                Some(known) => known.1 += change,
                None => changes.push((flow.place, change)),
            }
        }
        changes.retain(|it| it.1 != 0);
        changes
    });
    CounterSystem { initial: initial.collect(), changes: changes.collect() }
}

/// Returns the number of tokens in a bag, over all colours.
fn tokens(bag: &[BagAddend], colours: &ColourDeclarations, sort: &[usize]) -> i64 {
    let each = bag.iter().map(|it| {
        let parts = it.colour.iter().zip(sort).filter(|(part, _)| **part == ColourComponent::All);
        let times = parts.map(|(_, class)| i64::from(colours.classes[*class].size()));
        times.fold(it.times, i64::saturating_mul)
    });
    each.fold(0, i64::saturating_add)
}
