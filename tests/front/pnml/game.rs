//! Random nets, and the token game on them as one plays it by hand.

use proptest::prelude::*;
use std::collections::{HashSet, VecDeque};

/// A part of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A variable, and how far around its class from there.
    Variable(usize, u32),
    Constant(u32),
    All,
}

/// So many tokens of a colour.
pub type Addend = (i64, Vec<Part>);

/// What an arc does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    Take,
    Put,
    Test,
    Inhibit,
    Reset,
}

#[derive(Clone, Debug)]
pub struct Transition {
    /// The class of each variable.
    pub variables: Vec<usize>,
    /// Pairs of variables of one class, and whether these are to be the same.
    pub asks: Vec<(usize, usize, bool)>,
    pub arcs: Vec<(Does, usize, Vec<Addend>)>,
}

#[derive(Clone, Debug)]
pub struct Net {
    /// How many values each class has; none in a net without colours.
    pub classes: Vec<u32>,
    /// The classes of each place's colours, and its first tokens.
    pub places: Vec<(Vec<usize>, Vec<Addend>)>,
    pub transitions: Vec<Transition>,
}

/// Tokens by place and colour.
type Marking = Vec<Vec<i64>>;

/// What there is to count.
#[derive(Debug, PartialEq, Eq)]
pub struct Counts {
    pub states: u64,
    pub transitions: u64,
    pub deadlocks: u64,
    /// The most tokens of one colour of each place.
    pub most: Vec<i64>,
}

impl Net {
    /// The numbers of the colours that parts stand for.
    fn colours(&self, sort: &[usize], parts: &[Part], binding: &[u32]) -> Vec<usize> {
        parts.iter().zip(sort).fold(vec![0], |all, (part, class)| {
            let size = self.classes[*class];
            let positions: Vec<u32> = match *part {
                Part::Variable(variable, shift) => vec![(binding[variable] + shift) % size],
                Part::Constant(it) => vec![it],
                Part::All => (0..size).collect(),
            };
            let longer = |it: usize| {
                positions.iter().map(move |position| it * size as usize + *position as usize)
            };
            all.into_iter().flat_map(longer).collect()
        })
    }

    /// The tokens of each colour of a place.
    fn tokens(&self, place: usize, bag: &[Addend], binding: &[u32]) -> Vec<i64> {
        let sort = &self.places[place].0;
        let count = sort.iter().map(|it| self.classes[*it] as usize).product();
        let mut tokens = vec![0; count];
        for (times, parts) in bag {
            self.colours(sort, parts, binding).into_iter().for_each(|it| tokens[it] += times);
        }
        tokens
    }

    fn bindings(&self, of: &Transition) -> Vec<Vec<u32>> {
        let parts = || {
            of.arcs
                .iter()
                .filter(|it| it.0 != Does::Reset)
                .flat_map(|it| &it.2)
                .flat_map(|it| &it.1)
        };
        // One that nothing speaks of is none.
        let is_used = |variable: usize| {
            let in_arcs =
                parts().any(|it| matches!(it, Part::Variable(known, _) if *known == variable));
            in_arcs || of.asks.iter().any(|it| it.0 == variable || it.1 == variable)
        };
        let longer = |all: Vec<Vec<u32>>, (variable, class): (usize, &usize)| -> Vec<Vec<u32>> {
            let values = 0..if is_used(variable) { self.classes[*class] } else { 1 };
            let longer =
                |it: Vec<u32>| values.clone().map(move |value| [&it[..], &[value]].concat());
            all.into_iter().flat_map(longer).collect()
        };
        let all = of.variables.iter().enumerate().fold(vec![Vec::new()], longer);
        let asks = |it: &Vec<u32>| {
            of.asks.iter().all(|&(one, other, same)| (it[one] == it[other]) == same)
        };
        all.into_iter().filter(asks).collect()
    }

    fn fire(&self, marking: &Marking, of: &Transition, binding: &[u32]) -> Option<Marking> {
        let mut after = marking.clone();
        let arcs = || {
            of.arcs
                .iter()
                .map(|(does, place, bag)| (*does, *place, self.tokens(*place, bag, binding)))
        };
        // Several arcs that take from one place take together.
        for (_, place, tokens) in arcs().filter(|it| it.0 == Does::Take) {
            after[place].iter_mut().zip(tokens).for_each(|(there, it)| *there -= it);
        }
        let is_open = after.iter().flatten().all(|it| *it >= 0)
            && arcs().all(|(does, place, tokens)| {
                let mut pairs = marking[place].iter().zip(tokens);
                match does {
                    Does::Test => pairs.all(|(there, it)| *there >= it),
                    Does::Inhibit => pairs.all(|(there, it)| it == 0 || *there < it),
                    Does::Take | Does::Put | Does::Reset => true,
                }
            });
        for (_, place, _) in arcs().filter(|it| it.0 == Does::Reset) {
            after[place].fill(0);
        }
        for (_, place, tokens) in arcs().filter(|it| it.0 == Does::Put) {
            after[place].iter_mut().zip(tokens).for_each(|(there, it)| *there += it);
        }
        is_open.then_some(after)
    }

    /// All markings; nothing if there are more than so many, or so many tokens of a colour.
    pub fn play(&self, states_max: usize, tokens_max: i64) -> Option<Counts> {
        let first: Marking =
            (0..self.places.len()).map(|it| self.tokens(it, &self.places[it].1, &[])).collect();
        let bound: Vec<Vec<Vec<u32>>> =
            self.transitions.iter().map(|it| self.bindings(it)).collect();
        let (mut known, mut next) = (HashSet::from([first.clone()]), VecDeque::from([first]));
        let mut counts =
            Counts { states: 0, transitions: 0, deadlocks: 0, most: vec![0; self.places.len()] };
        while let Some(marking) = next.pop_front() {
            for (most, tokens) in counts.most.iter_mut().zip(&marking) {
                *most = (*most).max(tokens.iter().copied().max().unwrap_or(0));
            }
            let each = self.transitions.iter().zip(&bound);
            let each = each.flat_map(|(it, all)| all.iter().map(move |binding| (it, binding)));
            let after: Vec<Marking> =
                each.filter_map(|(it, binding)| self.fire(&marking, it, binding)).collect();
            counts.transitions += after.len() as u64;
            counts.deadlocks += u64::from(after.is_empty());
            for it in after {
                if it.iter().flatten().any(|it| *it > tokens_max) {
                    return None;
                }
                if known.insert(it.clone()) {
                    next.push_back(it);
                }
            }
            if known.len() > states_max {
                return None;
            }
        }
        counts.states = known.len() as u64;
        Some(counts)
    }
}

/// The net as PNML.
pub fn text(net: &Net) -> String {
    let is_coloured = !net.classes.is_empty();
    let kind = if is_coloured { "symmetricnet" } else { "ptnet" };
    let mut out = format!("<pnml><net id=\"n\" type=\"http://example.org/grammar/{kind}\">");
    if is_coloured {
        out += "<declaration><structure><declarations>";
        for (class, size) in net.classes.iter().enumerate() {
            let values =
                (0..*size).map(|it| format!("<feconstant id=\"c{class}.{it}\" name=\"{it}\"/>"));
            out += &format!(
                "<namedsort id=\"c{class}\" name=\"c{class}\"><cyclicenumeration>{}</cyclicenumeration></namedsort>",
                values.collect::<String>()
            );
        }
        for (number, transition) in net.transitions.iter().enumerate() {
            for (variable, class) in transition.variables.iter().enumerate() {
                out += &format!(
                    "<variabledecl id=\"v{number}.{variable}\" name=\"v{variable}\"><usersort declaration=\"c{class}\"/></variabledecl>"
                );
            }
        }
        out += "</declarations></structure></declaration>";
    }
    out += "<page id=\"page\">";
    for (number, (sort, tokens)) in net.places.iter().enumerate() {
        out += &format!("<place id=\"p{number}\">");
        out += &match is_coloured {
            false => format!(
                "<initialMarking><text>{}</text></initialMarking>",
                tokens.iter().map(|it| it.0).sum::<i64>()
            ),
            true => {
                let sorts = sort.iter().map(|it| format!("<usersort declaration=\"c{it}\"/>"));
                let sort_text = match sort.len() {
                    0 => "<dot/>".to_owned(),
                    1 => sorts.collect(),
                    _ => format!("<productsort>{}</productsort>", sorts.collect::<String>()),
                };
                let marking = if tokens.is_empty() {
                    String::new()
                } else {
                    structure("hlinitialMarking", &bag(net, sort, tokens, 0))
                };
                structure("type", &sort_text) + &marking
            }
        };
        out += "</place>";
    }
    for (number, transition) in net.transitions.iter().enumerate() {
        let asks = transition.asks.iter().map(|(one, other, same)| {
            let name = if *same { "equality" } else { "inequality" };
            format!("<subterm><{name}><subterm><variable refvariable=\"v{number}.{one}\"/></subterm><subterm><variable refvariable=\"v{number}.{other}\"/></subterm></{name}></subterm>")
        });
        let asks: String = asks.collect();
        let condition = if asks.is_empty() {
            asks
        } else {
            structure("condition", &format!("<and>{asks}</and>"))
        };
        out += &format!("<transition id=\"t{number}\">{condition}</transition>");
        for (at, (does, place, tokens)) in transition.arcs.iter().enumerate() {
            let (place_id, transition_id) = (format!("p{place}"), format!("t{number}"));
            let (source, target) = match does {
                Does::Put => (transition_id, place_id),
                _ => (place_id, transition_id),
            };
            let kind = match does {
                Does::Take | Does::Put => "",
                Does::Test => "<type value=\"test\"/>",
                Does::Inhibit => "<type value=\"inhibitor\"/>",
                Does::Reset => "<type value=\"reset\"/>",
            };
            let sort = &net.places[*place].0;
            let inscription = match (is_coloured, does) {
                (_, Does::Reset) => String::new(),
                (false, _) => format!(
                    "<inscription><text>{}</text></inscription>",
                    tokens.iter().map(|it| it.0).sum::<i64>()
                ),
                (true, _) => structure("hlinscription", &bag(net, sort, tokens, number)),
            };
            out += &format!(
                "<arc id=\"a{number}.{at}\" source=\"{source}\" target=\"{target}\">{kind}{inscription}</arc>"
            );
        }
    }
    out + "</page></net></pnml>"
}

fn structure(label: &str, term: &str) -> String {
    format!("<{label}><structure>{term}</structure></{label}>")
}

/// What is added, less what is taken away from that.
fn bag(net: &Net, sort: &[usize], tokens: &[Addend], transition: usize) -> String {
    let addend = |(times, parts): &Addend| {
        let part = |(part, class): (&Part, &usize)| match *part {
            Part::Constant(it) => format!("<useroperator declaration=\"c{class}.{it}\"/>"),
            Part::All => format!("<all><usersort declaration=\"c{class}\"/></all>"),
            Part::Variable(variable, shift) => {
                let name = format!("<variable refvariable=\"v{transition}.{variable}\"/>");
                // The same the other way round.
                let (operator, times) = match shift > net.classes[*class] / 2 {
                    true => ("predecessor", net.classes[*class] - shift),
                    false => ("successor", shift),
                };
                (0..times).fold(name, |inner, _| {
                    format!("<{operator}><subterm>{inner}</subterm></{operator}>")
                })
            }
        };
        let parts: Vec<String> = parts.iter().zip(sort).map(part).collect();
        let colour = match parts.len() {
            0 => "<dotconstant/>".to_owned(),
            1 => parts.concat(),
            _ => format!(
                "<tuple>{}</tuple>",
                parts.iter().map(|it| format!("<subterm>{it}</subterm>")).collect::<String>()
            ),
        };
        format!(
            "<subterm><numberof><subterm><numberconstant value=\"{}\"/></subterm><subterm>{colour}</subterm></numberof></subterm>",
            times.abs()
        )
    };
    let of = |is_less: bool| -> String {
        tokens.iter().filter(|it| (it.0 < 0) == is_less).map(addend).collect()
    };
    match of(true) {
        less if less.is_empty() => format!("<add>{}</add>", of(false)),
        less => format!(
            "<subtract><subterm><add>{}</add></subterm><subterm><add>{less}</add></subterm></subtract>",
            of(false)
        ),
    }
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        6 => Just(Does::Take),
        6 => Just(Does::Put),
        1 => Just(Does::Test),
        1 => Just(Does::Inhibit),
        1 => Just(Does::Reset),
    ]
}

/// A net without colours.
pub fn plain() -> impl Strategy<Value = Net> {
    let places = prop::collection::vec(0i64..4, 1..6);
    let arc = (does(), any::<prop::sample::Index>(), 1i64..4);
    let transitions = prop::collection::vec(prop::collection::vec(arc, 1..6), 1..6);
    (places, transitions).prop_map(|(tokens, transitions)| {
        let count = tokens.len();
        let transition = |arcs: Vec<(Does, prop::sample::Index, i64)>| Transition {
            variables: Vec::new(),
            asks: Vec::new(),
            arcs: arcs
                .into_iter()
                .map(|(does, place, times)| (does, place.index(count), vec![(times, Vec::new())]))
                .collect(),
        };
        Net {
            classes: Vec::new(),
            places: tokens.into_iter().map(|it| (Vec::new(), vec![(it, Vec::new())])).collect(),
            transitions: transitions.into_iter().map(transition).collect(),
        }
    })
}

/// Numbers that something random is made of, one after the other.
struct Dice<'d> {
    rolls: &'d [u32],
    at: usize,
}

impl Dice<'_> {
    fn roll(&mut self, below: u32) -> u32 {
        self.at += 1;
        self.rolls[(self.at - 1) % self.rolls.len()].wrapping_add(self.at as u32 * 7) % below
    }

    /// A colour of these classes, with these variables, if any.
    fn parts(&mut self, classes: &[u32], sort: &[usize], variables: &[usize]) -> Vec<Part> {
        sort.iter()
            .map(|class| {
                let fit: Vec<usize> =
                    (0..variables.len()).filter(|it| variables[*it] == *class).collect();
                match self.roll(8) {
                    0 => Part::All,
                    1 => Part::Constant(self.roll(classes[*class])),
                    _ if fit.is_empty() => Part::Constant(self.roll(classes[*class])),
                    2 => Part::Variable(
                        fit[self.roll(fit.len() as u32) as usize],
                        self.roll(classes[*class]),
                    ),
                    _ => Part::Variable(fit[self.roll(fit.len() as u32) as usize], 0),
                }
            })
            .collect()
    }

    fn bag(&mut self, classes: &[u32], sort: &[usize], variables: &[usize]) -> Vec<Addend> {
        if self.roll(6) == 0 && !sort.is_empty() {
            let whole = vec![Part::All; sort.len()];
            return vec![(1, whole), (-1, self.parts(classes, sort, variables))];
        }
        let count = 1 + self.roll(2);
        (0..count)
            .map(|_| (1 + i64::from(self.roll(2)), self.parts(classes, sort, variables)))
            .collect()
    }
}

/// A net with colours.
pub fn coloured() -> impl Strategy<Value = Net> {
    prop::collection::vec(any::<u32>(), 20..60).prop_map(|rolls| {
        let mut dice = Dice { rolls: &rolls, at: 0 };
        let classes: Vec<u32> = (0..1 + dice.roll(2)).map(|_| 2 + dice.roll(2)).collect();
        let count = classes.len() as u32;
        let places: Vec<_> = (0..1 + dice.roll(3))
            .map(|_| {
                let sort: Vec<usize> =
                    (0..dice.roll(3)).map(|_| dice.roll(count) as usize).collect();
                let tokens =
                    if dice.roll(3) > 0 { dice.bag(&classes, &sort, &[]) } else { Vec::new() };
                (sort, tokens)
            })
            .collect();
        let transitions = (0..1 + dice.roll(3)).map(|_| {
            let variables: Vec<usize> =
                (0..dice.roll(3)).map(|_| dice.roll(count) as usize).collect();
            let alike = variables.len() == 2 && variables[0] == variables[1];
            let asks = if alike && dice.roll(2) == 0 {
                vec![(0, 1, dice.roll(3) == 0)]
            } else {
                Vec::new()
            };
            let arcs = (0..1 + dice.roll(4)).map(|_| {
                let place = dice.roll(places.len() as u32) as usize;
                let does = [
                    Does::Take,
                    Does::Put,
                    Does::Take,
                    Does::Put,
                    Does::Test,
                    Does::Inhibit,
                    Does::Reset,
                ][dice.roll(7) as usize];
                (does, place, dice.bag(&classes, &places[place].0, &variables))
            });
            let arcs: Vec<_> = arcs.collect();
            Transition { variables, asks, arcs }
        });
        let transitions: Vec<_> = transitions.collect();
        Net { classes: classes.clone(), places: places.clone(), transitions }
    })
}
