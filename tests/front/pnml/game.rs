//! Random nets, and a direct implementation of the token game.

use proptest::prelude::*;
use std::collections::{HashSet, VecDeque};

/// A part of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A variable, and how far around its class from there.
    Variable(usize, u32),
    Constant(u32),
    All,
    /// The values that an element of the partition of the class holds.
    Held(u32),
}

/// Something that is asked of the variables of a transition.
#[derive(Clone, Debug)]
pub enum Ask {
    /// How two values of variables of one class compare, each so far around its class.
    Compares(&'static str, [(usize, u32); 2]),
    /// Whether a value is in an element of the partition of its class; or what order their elements have.
    In(&'static str, (usize, u32), u32),
    Not(Box<Ask>),
    All(Vec<Ask>),
    Any(Vec<Ask>),
}

impl Ask {
    fn mentions(&self, variable: usize) -> bool {
        match self {
            Ask::Compares(_, sides) => sides.iter().any(|it| it.0 == variable),
            Ask::In(_, (it, _), _) => *it == variable,
            Ask::Not(inner) => inner.mentions(variable),
            Ask::All(all) | Ask::Any(all) => all.iter().any(|it| it.mentions(variable)),
        }
    }
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
    pub asks: Vec<Ask>,
    pub arcs: Vec<(Does, usize, Vec<Addend>)>,
}

#[derive(Clone, Debug)]
pub struct Net {
    /// How many values each class has; none in a net without colours.
    pub classes: Vec<u32>,
    /// The element of its partition that each value of a class is in.
    pub elements: Vec<Vec<u32>>,
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
                Part::Held(element) => {
                    let held = |it: &u32| self.elements[*class][*it as usize] == element;
                    (0..size).filter(held).collect()
                }
            };
            let longer = |it: usize| {
                positions.iter().map(move |position| it * size as usize + *position as usize)
            };
            all.into_iter().flat_map(longer).collect()
        })
    }

    /// The tokens of each colour of a place.
    pub fn tokens(&self, place: usize, bag: &[Addend], binding: &[u32]) -> Vec<i64> {
        let sort = &self.places[place].0;
        let count = sort.iter().map(|it| self.classes[*it] as usize).product();
        let mut tokens = vec![0; count];
        for (times, parts) in bag {
            self.colours(sort, parts, binding).into_iter().for_each(|it| tokens[it] += times);
        }
        tokens
    }

    /// The bindings of a transition that its conditions allow.
    pub fn bindings(&self, of: &Transition) -> Vec<Vec<u32>> {
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
            in_arcs || of.asks.iter().any(|it| it.mentions(variable))
        };
        let longer = |all: Vec<Vec<u32>>, (variable, class): (usize, &usize)| -> Vec<Vec<u32>> {
            let values = 0..if is_used(variable) { self.classes[*class] } else { 1 };
            let longer =
                |it: Vec<u32>| values.clone().map(move |value| [&it[..], &[value]].concat());
            all.into_iter().flat_map(longer).collect()
        };
        let all = of.variables.iter().enumerate().fold(vec![Vec::new()], longer);
        let asks = |it: &Vec<u32>| of.asks.iter().all(|ask| self.holds(of, ask, it));
        all.into_iter().filter(asks).collect()
    }

    fn holds(&self, of: &Transition, ask: &Ask, binding: &[u32]) -> bool {
        let value = |&(variable, shift): &(usize, u32)| {
            (binding[variable] + shift) % self.classes[of.variables[variable]]
        };
        let compares = |sign: &str, left: u32, right: u32| match sign {
            "equality" => left == right,
            "inequality" => left != right,
            "lessthan" | "ltp" => left < right,
            "lessthanorequal" => left <= right,
            "greaterthan" | "gtp" => left > right,
            "greaterthanorequal" => left >= right,
            other => panic!("{other}"),
        };
        match ask {
            Ask::Compares(sign, [left, right]) => compares(sign, value(left), value(right)),
            Ask::In(sign, side, element) => {
                let own = self.elements[of.variables[side.0]][value(side) as usize];
                compares(sign, own, *element)
            }
            Ask::Not(inner) => !self.holds(of, inner, binding),
            Ask::All(all) => all.iter().all(|it| self.holds(of, it, binding)),
            Ask::Any(all) => all.iter().any(|it| self.holds(of, it, binding)),
        }
    }

    /// Whether some arc, for some binding, has fewer than no tokens of a colour.
    pub fn has_negative_tokens(&self) -> bool {
        self.transitions.iter().any(|it| {
            self.bindings(it).iter().any(|binding| {
                let arcs = it.arcs.iter().filter(|it| it.0 != Does::Reset);
                let mut tokens = arcs.flat_map(|(_, place, bag)| self.tokens(*place, bag, binding));
                tokens.any(|it| it < 0)
            })
        })
    }

    fn fire(&self, marking: &Marking, of: &Transition, binding: &[u32]) -> Option<Marking> {
        let lacks = |(does, place, bag): &(Does, usize, Vec<Addend>)| {
            let tokens = || self.tokens(*place, bag, binding);
            *does == Does::Take
                && marking[*place].iter().zip(tokens()).any(|(there, it)| *there < it)
        };
        if of.arcs.iter().any(lacks) {
            return None;
        }
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
        out += &declarations(net);
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
                    0 => "<usersort declaration=\"dot\"/>".to_owned(),
                    1 => sorts.collect(),
                    // Declared before the classes.
                    _ if number % 2 == 0 => format!("<usersort declaration=\"s{number}\"/>"),
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
        let asks = transition
            .asks
            .iter()
            .map(|it| format!("<subterm>{}</subterm>", asked(net, transition, number, it)));
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

/// The classes, their partitions, products of them and variables.
fn declarations(net: &Net) -> String {
    let mut out = "<declaration><structure><declarations>".to_owned();
    for (number, (sort, _)) in net.places.iter().enumerate().filter(|(_, it)| it.0.len() > 1) {
        let sorts = sort.iter().map(|it| format!("<usersort declaration=\"c{it}\"/>"));
        out += &format!(
            "<namedsort id=\"s{number}\" name=\"s{number}\"><productsort>{}</productsort></namedsort>",
            sorts.collect::<String>()
        );
    }
    for (class, elements) in net.elements.iter().enumerate() {
        let count = elements.iter().max().map_or(0, |it| it + 1);
        let element = |element: u32| {
            let held = (0..net.classes[class]).filter(|it| elements[*it as usize] == element);
            let values = held.map(|it| format!("<useroperator declaration=\"c{class}.{it}\"/>"));
            format!(
                "<partitionelement id=\"e{class}.{element}\" name=\"e{element}\">{}</partitionelement>",
                values.collect::<String>()
            )
        };
        out += &format!(
            "<partition id=\"q{class}\" name=\"q{class}\"><usersort declaration=\"c{class}\"/>{}</partition>",
            (0..count).map(element).collect::<String>()
        );
    }
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
    out + "</declarations></structure></declaration>"
}

/// A condition of a transition.
fn asked(net: &Net, of: &Transition, number: usize, ask: &Ask) -> String {
    let value = |&(variable, shift): &(usize, u32)| {
        moved(net.classes[of.variables[variable]], (number, variable), shift)
    };
    let sub = |it: &Ask| format!("<subterm>{}</subterm>", asked(net, of, number, it));
    let all = |all: &[Ask]| all.iter().map(sub).collect::<String>();
    match ask {
        Ask::Compares(sign, [left, right]) => format!(
            "<{sign}><subterm>{}</subterm><subterm>{}</subterm></{sign}>",
            value(left),
            value(right)
        ),
        Ask::In(sign, side, element) => {
            let (class, value) = (of.variables[side.0], value(side));
            // That a value equals an element means that it is in it.
            let left = match (*sign, element % 2) {
                ("equality" | "inequality", 0) => value,
                _ => format!(
                    "<partitionelementof refpartition=\"q{class}\"><subterm>{value}</subterm></partitionelementof>"
                ),
            };
            format!(
                "<{sign}><subterm>{left}</subterm><subterm><useroperator declaration=\"e{class}.{element}\"/></subterm></{sign}>"
            )
        }
        Ask::Not(inner) => format!("<not>{}</not>", sub(inner)),
        Ask::All(parts) => format!("<and>{}</and>", all(parts)),
        Ask::Any(parts) => format!("<or>{}</or>", all(parts)),
    }
}

/// A value so far around a class of this size from that of a variable.
fn moved(size: u32, (transition, variable): (usize, usize), shift: u32) -> String {
    let name = format!("<variable refvariable=\"v{transition}.{variable}\"/>");
    // The same the other way round.
    let (operator, times) = match shift > size / 2 {
        true => ("predecessor", size - shift),
        false => ("successor", shift),
    };
    (0..times).fold(name, |inner, _| format!("<{operator}><subterm>{inner}</subterm></{operator}>"))
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
                moved(net.classes[*class], (transition, variable), shift)
            }
            Part::Held(element) => format!("<useroperator declaration=\"e{class}.{element}\"/>"),
        };
        let parts: Vec<String> = parts.iter().zip(sort).map(part).collect();
        let colour = match parts.len() {
            0 if *times == 1 => "<useroperator declaration=\"dot\"/>".to_owned(),
            0 => "<dotconstant/>".to_owned(),
            1 => parts.concat(),
            _ => format!(
                "<tuple>{}</tuple>",
                parts.iter().map(|it| format!("<subterm>{it}</subterm>")).collect::<String>()
            ),
        };
        let count = match times.abs() {
            1 if parts.len() == 1 => String::new(),
            count => format!("<subterm><numberconstant value=\"{count}\"/></subterm>"),
        };
        format!("<subterm><numberof>{count}<subterm>{colour}</subterm></numberof></subterm>")
    };
    let of = |is_less: bool| -> String {
        tokens.iter().filter(|it| (it.0 < 0) == is_less).map(addend).collect()
    };
    match of(true) {
        less if less.is_empty() => format!("<add>{}</add>", of(false)),
        less => format!("<subtract><subterm><add>{}</add></subterm>{less}</subtract>", of(false)),
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
            elements: Vec::new(),
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
    fn parts(&mut self, of: &Net, sort: &[usize], variables: &[usize]) -> Vec<Part> {
        let mut part = |class: &usize| {
            let fit: Vec<usize> =
                (0..variables.len()).filter(|it| variables[*it] == *class).collect();
            let any = |dice: &mut Self| fit[dice.roll(fit.len() as u32) as usize];
            match self.roll(9) {
                0 => Part::All,
                1 => Part::Constant(self.roll(of.classes[*class])),
                2 => Part::Held(of.elements[*class][self.roll(of.classes[*class]) as usize]),
                _ if fit.is_empty() => Part::Constant(self.roll(of.classes[*class])),
                3 => Part::Variable(any(self), self.roll(of.classes[*class])),
                _ => Part::Variable(any(self), 0),
            }
        };
        sort.iter().map(&mut part).collect()
    }

    fn bag(&mut self, of: &Net, sort: &[usize], variables: &[usize]) -> Vec<Addend> {
        if self.roll(6) == 0 && !sort.is_empty() {
            let less = (0..1 + self.roll(2)).map(|_| (-1, self.parts(of, sort, variables)));
            let less: Vec<Addend> = less.collect();
            return [vec![(1, vec![Part::All; sort.len()])], less].concat();
        }
        let count = 1 + self.roll(2);
        (0..count).map(|_| (1 + i64::from(self.roll(2)), self.parts(of, sort, variables))).collect()
    }

    /// Something that is asked of variables of these classes.
    fn ask(&mut self, of: &Net, variables: &[usize], depth: u32) -> Ask {
        let one = self.roll(variables.len() as u32) as usize;
        let class = variables[one];
        let size = of.classes[class];
        let same: Vec<usize> = (0..variables.len()).filter(|it| variables[*it] == class).collect();
        let other = same[self.roll(same.len() as u32) as usize];
        let shift = |dice: &mut Self| if dice.roll(3) == 0 { dice.roll(size) } else { 0 };
        let signs = [
            "inequality",
            "equality",
            "inequality",
            "lessthan",
            "lessthanorequal",
            "greaterthan",
            "greaterthanorequal",
        ];
        let several = |dice: &mut Self| {
            (0..2).map(|_| dice.ask(of, variables, depth + 1)).collect::<Vec<_>>()
        };
        match self.roll(if depth < 2 { 8 } else { 5 }) {
            0 | 1 => {
                let element = of.elements[class][self.roll(size) as usize];
                let sign = ["equality", "inequality", "ltp", "gtp"][self.roll(4) as usize];
                Ask::In(sign, (one, shift(self)), element)
            }
            2..=4 => {
                let sign = signs[self.roll(7) as usize];
                Ask::Compares(sign, [(one, shift(self)), (other, shift(self))])
            }
            5 => Ask::Not(Box::new(self.ask(of, variables, depth + 1))),
            6 => Ask::All(several(self)),
            _ => Ask::Any(several(self)),
        }
    }
}

/// A net with colours.
pub fn coloured() -> impl Strategy<Value = Net> {
    prop::collection::vec(any::<u32>(), 20..60).prop_map(|rolls| {
        let mut dice = Dice { rolls: &rolls, at: 0 };
        let classes: Vec<u32> = (0..1 + dice.roll(2)).map(|_| 2 + dice.roll(4)).collect();
        let elements = classes.iter().map(|size| {
            // Each element holds something.
            let count = 1 + dice.roll(*size);
            (0..*size).map(|it| if it < count { it } else { dice.roll(count) }).collect()
        });
        let elements: Vec<Vec<u32>> = elements.collect();
        let (places, transitions) = (Vec::new(), Vec::new());
        let mut net = Net { classes, elements, places, transitions };
        let count = net.classes.len() as u32;
        for _ in 0..1 + dice.roll(3) {
            let sort: Vec<usize> = (0..dice.roll(3)).map(|_| dice.roll(count) as usize).collect();
            let tokens = if dice.roll(3) > 0 { dice.bag(&net, &sort, &[]) } else { Vec::new() };
            net.places.push((sort, tokens));
        }
        for _ in 0..1 + dice.roll(3) {
            let variables: Vec<usize> =
                (0..dice.roll(5)).map(|_| dice.roll(count) as usize).collect();
            let asks = if variables.is_empty() { 0 } else { dice.roll(3) };
            let asks = (0..asks).map(|_| dice.ask(&net, &variables, 0)).collect();
            let arcs = (0..1 + dice.roll(5)).map(|_| {
                let place = dice.roll(net.places.len() as u32) as usize;
                let does = [
                    Does::Take,
                    Does::Put,
                    Does::Take,
                    Does::Put,
                    Does::Test,
                    Does::Inhibit,
                    Does::Reset,
                ][dice.roll(7) as usize];
                (does, place, dice.bag(&net, &net.places[place].0, &variables))
            });
            let arcs: Vec<_> = arcs.collect();
            net.transitions.push(Transition { variables, asks, arcs });
        }
        net
    })
}

/// A net with few tokens of many colours: more than fit the words of a machine.
pub fn of_many_colours() -> impl Strategy<Value = Net> {
    prop::collection::vec(any::<u32>(), 20..60).prop_map(|rolls| {
        let mut dice = Dice { rolls: &rolls, at: 0 };
        let classes = vec![60 + dice.roll(20), 2 + dice.roll(3)];
        let elements = classes.iter().map(|size| vec![0; *size as usize]).collect();
        let sorts = [vec![0, 1], vec![1, 0], vec![0]];
        let mut places = Vec::new();
        for sort in &sorts {
            let mut token = || {
                let colour = sort.iter().map(|it| Part::Constant(dice.roll(classes[*it])));
                let colour: Vec<Part> = colour.collect();
                (1 + i64::from(dice.roll(3)), colour)
            };
            let tokens = (0..2).map(|_| token()).collect();
            places.push((sort.clone(), tokens));
        }
        let mut transitions = Vec::new();
        for _ in 0..2 {
            let variables = vec![0, 1];
            let mut arcs = Vec::new();
            for does in [Does::Take, Does::Test, Does::Put] {
                let place = dice.roll(3) as usize;
                let part = |dice: &mut Dice, class: usize| match class {
                    1 => Part::Variable(1, dice.roll(2) * dice.roll(classes[1])),
                    _ => Part::Variable(0, dice.roll(2) * dice.roll(classes[0])),
                };
                let colour: Vec<Part> =
                    sorts[place].iter().map(|it| part(&mut dice, *it)).collect();
                arcs.push((does, place, vec![(1 + i64::from(dice.roll(4) / 3), colour)]));
            }
            // The same tokens are put that are taken, but for their colours.
            let (_, place, taken) = arcs[0].clone();
            let turned = |part: &Part| match *part {
                Part::Variable(variable, _) => Part::Variable(variable, 1),
                part => part,
            };
            let put = |(times, it): &Addend| (*times, it.iter().map(turned).collect::<Vec<_>>());
            arcs[2] = (Does::Put, place, taken.iter().map(put).collect());
            transitions.push(Transition { variables, asks: Vec::new(), arcs });
        }
        Net { classes, elements, places, transitions }
    })
}
