//! Which classes of colours are used alike in all their values, so that the values may be exchanged.

use super::colours::{Addend, ClassId, Part};
use super::net::{Net, Place};
use super::parse::Term;

/// Operators that a class is asked about the order of its values by.
const ORDERED: [&str; 6] = [
    "lessthan",
    "lessthanorequal",
    "greaterthan",
    "greaterthanorequal",
    "successor",
    "predecessor",
];

/// For each class, whether nothing tells one of its values from another.
pub(super) fn interchangeable(net: &Net) -> Vec<bool> {
    let mut alike = vec![true; net.colours.classes.len()];
    for transition in &net.transitions {
        transition.condition.into_iter().for_each(|it| in_condition(net, it, &mut alike));
        for flow in &transition.flows {
            flow.bag.iter().for_each(|it| in_bag(it, &net.places[flow.place].sort, &mut alike));
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

fn in_condition(net: &Net, term: &Term, alike: &mut [bool]) {
    let names_one = matches!(term.name(), "useroperator" | "finiteintrangeconstant");
    let asks_order = ORDERED.contains(&term.name());
    let of = |term: &Term| net.colours.class_of(term);
    let told = term.terms.iter().filter(|_| asks_order).filter_map(of);
    let told: Vec<ClassId> = told.chain(of(term).filter(|_| names_one)).collect();
    told.into_iter().for_each(|class| alike[class] = false);
    // A number is compared with values of a class that stands on the other side.
    if term.terms.iter().any(|it| it.name() == "finiteintrangeconstant") {
        term.terms.iter().filter_map(of).for_each(|class| alike[class] = false);
    }
    term.terms.iter().for_each(|it| in_condition(net, it, alike));
}

fn in_bag(addend: &Addend, sort: &[ClassId], alike: &mut [bool]) {
    for (part, class) in addend.colour.iter().zip(sort) {
        alike[*class] &= match part {
            Part::Variable(_, shift) => *shift == 0,
            Part::Constant(_) => false,
            Part::All => true,
        };
    }
}

/// Whether the first tokens are the same after values of a class change places: each with the next, which makes all orders.
fn is_marked_alike(net: &Net, place: &Place, class: ClassId) -> bool {
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
