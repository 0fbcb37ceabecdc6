//! What transitions wait for, in words: `2 Fork[x] + Fork[x + 1]`.

use super::colours::{Addend, Part, Values, Variable};
use super::net::{Does, Flow, Net};
use crate::source::Sources;

/// Tells it of each arc and condition.
pub(super) fn say(net: &Net, sources: &mut Sources) {
    for transition in &net.transitions {
        if let Some((condition, says)) = transition.condition.as_ref().zip(transition.says.as_ref())
        {
            sources.say(condition.span, says.clone());
        }
        for flow in &transition.flows {
            let bag = bag(net, flow, true);
            let words = match flow.does {
                Does::Take | Does::Test => bag,
                Does::Inhibit => format!("less than {bag}"),
                Does::Put | Does::Reset => continue,
            };
            sources.say(flow.span, words);
        }
    }
}

/// The tokens of an arc, each with its place, or without.
pub(super) fn bag(net: &Net, flow: &Flow, with_place: bool) -> String {
    let all = flow.bag.iter().map(|it| addend(net, (flow.place, with_place), it));
    all.collect::<Vec<_>>().join(" + ")
}

fn addend(net: &Net, (place, with_place): (usize, bool), it: &Addend) -> String {
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
            (Part::All, _) => "all".to_owned(),
            (Part::Constant(at), Values::Names(names)) => names[at as usize].clone(),
            (Part::Constant(at), Values::Range(low, _)) => (low + i64::from(at)).to_string(),
            (Part::Variable(variable, shift), _) => moved(net, variable, shift),
            (Part::Element(variable, shift, _), _) => {
                format!("{} of {}", class.name, moved(net, variable, shift))
            }
        };
        format!("[{value}]")
    });
    format!("{times}{name}{}", parts.collect::<String>())
}

/// A value so many behind that of a variable.
fn moved(net: &Net, variable: usize, shift: u32) -> String {
    let Variable { name, class } = &net.colours.variables[variable];
    let size = net.colours.classes[*class].size();
    match shift {
        0 => name.clone(),
        // The class is a circle: the shorter way round.
        it if it > size / 2 => format!("{name} - {}", size - it),
        it => format!("{name} + {it}"),
    }
}
