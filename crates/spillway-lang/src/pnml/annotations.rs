//! Descriptions of the conditions of transitions: `2 Fork[x] + Fork[x + 1]`.

use super::colours::{BagAddend, ClassValues, ColourComponent, ColourVariable};
use super::net::{ArcEffect, PetriArc, PetriNet};
use spillway_base::source::SourceMap;

/// Adds a description of each arc and condition to the sources.
pub(super) fn annotate_sources(net: &PetriNet, sources: &mut SourceMap) {
    for transition in &net.transitions {
        if let Some((condition, says)) =
            transition.condition.as_ref().zip(transition.condition_text.as_ref())
        {
            sources.set_words(condition.span, says.clone());
        }
        for flow in &transition.arcs {
            let bag = bag(net, flow, true);
            let words = match flow.effect {
                ArcEffect::Take | ArcEffect::Test => bag,
                ArcEffect::Inhibit => format!("less than {bag}"),
                ArcEffect::Put | ArcEffect::Reset => continue,
            };
            sources.set_words(flow.span, words);
        }
    }
}

/// Describes the tokens of an arc, with or without the place of each.
pub(super) fn bag(net: &PetriNet, flow: &PetriArc, with_place: bool) -> String {
    let all = flow.bag.iter().map(|it| addend(net, flow.place, with_place, it));
    all.collect::<Vec<_>>().join(" + ")
}

fn addend(net: &PetriNet, place: usize, with_place: bool, it: &BagAddend) -> String {
    let place = &net.places[place];
    let name = if with_place { place.name.as_str() } else { "" };
    let has_parts = with_place || !it.colour.is_empty();
    let times = match it.times {
        1 if has_parts => String::new(),
        times if has_parts => format!("{times} "),
        times => times.to_string(),
    };
    let parts = it.colour.iter().zip(&place.sort).map(|(part, class)| {
        let class = &net.colours.classes[*class];
        let value = match (*part, &class.values) {
            (ColourComponent::All, _) => "all".to_owned(),
            (ColourComponent::Constant(at), ClassValues::Names(names)) => {
                names[at as usize].clone()
            }
            (ColourComponent::Constant(at), ClassValues::Range(low, _)) => {
                (low + i64::from(at)).to_string()
            }
            (ColourComponent::Variable(variable, shift), _) => {
                shifted_variable(net, variable, shift)
            }
            (ColourComponent::Element(variable, shift, _), _) => {
                format!("{} of {}", class.name, shifted_variable(net, variable, shift))
            }
        };
        format!("[{value}]")
    });
    format!("{times}{name}{}", parts.collect::<String>())
}

/// Describes the value `shift` positions after that of a variable.
fn shifted_variable(net: &PetriNet, variable: usize, shift: u32) -> String {
    let ColourVariable { name, class } = &net.colours.variables[variable];
    let size = net.colours.classes[*class].size();
    match shift {
        0 => name.clone(),
        // The class is circular: the shorter direction is used.
        it if it > size / 2 => format!("{name} - {}", size - it),
        it => format!("{name} + {it}"),
    }
}
