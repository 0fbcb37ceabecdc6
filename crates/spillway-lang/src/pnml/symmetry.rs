//! Detection of symmetric classes: those in which all values are used alike, so that values may be permuted.

use super::colours::{ClassId, ColourComponent};
use super::net::{PetriNet, PetriPlace};
use spillway_ir::BinaryOp;

/// Returns, for each class, whether its values are interchangeable.
pub(super) fn interchangeable(net: &PetriNet) -> Vec<bool> {
    let mut alike = vec![true; net.colours.classes.len()];
    for transition in &net.transitions {
        if let Some(condition) = &transition.condition {
            condition.visit_comparisons(&mut |operator, class, sides| {
                alike[class] &= matches!(operator, BinaryOp::Equal | BinaryOp::NotEqual)
                    && sides.iter().all(is_symmetric);
                for divided in sides.iter().filter_map(|it| partitioned_class(net, it)) {
                    alike[divided] = false;
                }
            });
        }
        for flow in &transition.arcs {
            let sort = &net.places[flow.place].sort;
            for (part, class) in flow.bag.iter().flat_map(|it| it.colour.iter().zip(sort)) {
                alike[*class] &= is_symmetric(part);
                partitioned_class(net, part).into_iter().for_each(|it| alike[it] = false);
            }
        }
    }
    for place in &net.places {
        for (class, alike) in
            alike.iter_mut().enumerate().filter(|(class, _)| place.sort.contains(class))
        {
            *alike &= is_marked_alike(net, place, class);
        }
    }
    alike
}

/// Returns the class whose values a component distinguishes by the elements of a partition.
fn partitioned_class(net: &PetriNet, part: &ColourComponent) -> Option<ClassId> {
    match part {
        ColourComponent::Element(_, _, partition) => Some(net.colours.partitions[*partition].base),
        _ => None,
    }
}

/// Returns whether the meaning of a component is invariant under permutations of its class.
fn is_symmetric(part: &ColourComponent) -> bool {
    matches!(part, ColourComponent::Variable(_, 0) | ColourComponent::All)
}

/// Returns whether the initial tokens are invariant under permutations of a class. It suffices to check transpositions
/// of neighbours, which generate all permutations.
fn is_marked_alike(net: &PetriNet, place: &PetriPlace, class: ClassId) -> bool {
    let sizes: Vec<usize> =
        place.sort.iter().map(|it| net.colours.classes[*it].size() as usize).collect();
    let exchanged = |colour: usize, value: usize| {
        let (mut rest, mut all) = (colour, Vec::new());
        for size in sizes.iter().rev() {
            all.push(rest % size);
            rest /= size;
        }
        let positions =
            all.into_iter().rev().zip(&place.sort).map(|(position, of)| match position {
                it if *of == class && it == value => it + 1,
                it if *of == class && it == value + 1 => value,
                it => it,
            });
        positions.zip(&sizes).fold(0, |number, (position, size)| number * size + position)
    };
    let first = place.initial.first();
    let is_even = place.initial.iter().all(|it| Some(it) == first);
    is_even
        || (0..net.colours.classes[class].size() as usize - 1).all(|value| {
            let same = |(colour, tokens): (usize, &i64)| {
                place.initial[exchanged(colour, value)] == *tokens
            };
            place.initial.iter().enumerate().all(same)
        })
}
