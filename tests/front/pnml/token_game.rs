//! Random nets, and a direct implementation of the token game.

use proptest::prelude::*;
use std::collections::{HashSet, VecDeque};

/// A component of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourPart {
    /// A variable, shifted by a number of positions in its class.
    Variable(usize, u32),
    Constant(u32),
    All,
    /// The values of an element of the class's partition.
    InElement(u32),
}

/// A condition on the variables of a transition.
#[derive(Clone, Debug)]
pub enum VariableCondition {
    /// A comparison of two values of one class, each shifted.
    Comparison(&'static str, [(usize, u32); 2]),
    /// A comparison of a value's partition element with an element.
    In(&'static str, (usize, u32), u32),
    Not(Box<VariableCondition>),
    All(Vec<VariableCondition>),
    Any(Vec<VariableCondition>),
}

impl VariableCondition {
    fn mentions(&self, variable: usize) -> bool {
        match self {
            VariableCondition::Comparison(_, sides) => sides.iter().any(|it| it.0 == variable),
            VariableCondition::In(_, (it, _), _) => *it == variable,
            VariableCondition::Not(inner) => inner.mentions(variable),
            VariableCondition::All(all) | VariableCondition::Any(all) => {
                all.iter().any(|it| it.mentions(variable))
            }
        }
    }
}

/// A number of tokens of a colour.
pub type Addend = (i64, Vec<ColourPart>);

/// The kind of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArcKind {
    Consume,
    Produce,
    Test,
    Inhibit,
    Reset,
}

#[derive(Clone, Debug)]
pub struct Transition {
    /// The class of each variable.
    pub variables: Vec<usize>,
    pub conditions: Vec<VariableCondition>,
    pub arcs: Vec<(ArcKind, usize, Vec<Addend>)>,
}

#[derive(Clone, Debug)]
pub struct Net {
    /// The number of values of each class. A net without colours has no classes.
    pub classes: Vec<u32>,
    /// The partition element of each value of a class.
    pub elements: Vec<Vec<u32>>,
    /// The classes of each place's colours, and its initial tokens.
    pub places: Vec<(Vec<usize>, Vec<Addend>)>,
    pub transitions: Vec<Transition>,
}

/// Tokens by place and colour.
type Marking = Vec<Vec<i64>>;

/// The counts of the token game.
#[derive(Debug, PartialEq, Eq)]
pub struct Counts {
    pub states: u64,
    pub transitions: u64,
    pub deadlocks: u64,
    /// The maximum number of tokens of one colour, by place.
    pub max_tokens: Vec<i64>,
}

impl Net {
    /// Returns the numbers of the colours that the parts denote.
    fn colours(&self, sort: &[usize], parts: &[ColourPart], binding: &[u32]) -> Vec<usize> {
        parts.iter().zip(sort).fold(vec![0], |all, (part, class)| {
            let size = self.classes[*class];
            let positions: Vec<u32> = match *part {
                ColourPart::Variable(variable, shift) => vec![(binding[variable] + shift) % size],
                ColourPart::Constant(it) => vec![it],
                ColourPart::All => (0..size).collect(),
                ColourPart::InElement(element) => {
                    let is_held = |it: &u32| self.elements[*class][*it as usize] == element;
                    (0..size).filter(is_held).collect()
                }
            };
            let extend = |it: usize| {
                positions.iter().map(move |position| it * size as usize + *position as usize)
            };
            all.into_iter().flat_map(extend).collect()
        })
    }

    /// Returns the tokens of each colour of a place.
    pub fn tokens(&self, place: usize, bag: &[Addend], binding: &[u32]) -> Vec<i64> {
        let sort = &self.places[place].0;
        let count = sort.iter().map(|it| self.classes[*it] as usize).product();
        let mut tokens = vec![0; count];
        for (times, parts) in bag {
            self.colours(sort, parts, binding).into_iter().for_each(|it| tokens[it] += times);
        }
        tokens
    }

    /// Returns the bindings of a transition that satisfy its conditions.
    pub fn bindings(&self, transition: &Transition) -> Vec<Vec<u32>> {
        let parts = || {
            transition
                .arcs
                .iter()
                .filter(|it| it.0 != ArcKind::Reset)
                .flat_map(|it| &it.2)
                .flat_map(|it| &it.1)
        };
        // An unused variable has one value.
        let is_used = |variable: usize| {
            let in_arcs = parts()
                .any(|it| matches!(it, ColourPart::Variable(known, _) if *known == variable));
            in_arcs || transition.conditions.iter().any(|it| it.mentions(variable))
        };
        let extend = |all: Vec<Vec<u32>>, (variable, class): (usize, &usize)| -> Vec<Vec<u32>> {
            let values = 0..if is_used(variable) { self.classes[*class] } else { 1 };
            let extend =
                |it: Vec<u32>| values.clone().map(move |value| [&it[..], &[value]].concat());
            all.into_iter().flat_map(extend).collect()
        };
        let all = transition.variables.iter().enumerate().fold(vec![Vec::new()], extend);
        let satisfies_conditions = |it: &Vec<u32>| {
            transition
                .conditions
                .iter()
                .all(|condition| self.condition_holds(transition, condition, it))
        };
        all.into_iter().filter(satisfies_conditions).collect()
    }

    fn condition_holds(
        &self,
        transition: &Transition,
        condition: &VariableCondition,
        binding: &[u32],
    ) -> bool {
        let value = |&(variable, shift): &(usize, u32)| {
            (binding[variable] + shift) % self.classes[transition.variables[variable]]
        };
        let compare = |sign: &str, left: u32, right: u32| match sign {
            "equality" => left == right,
            "inequality" => left != right,
            "lessthan" | "ltp" => left < right,
            "lessthanorequal" => left <= right,
            "greaterthan" | "gtp" => left > right,
            "greaterthanorequal" => left >= right,
            other => panic!("{other}"),
        };
        match condition {
            VariableCondition::Comparison(sign, [left, right]) => {
                compare(sign, value(left), value(right))
            }
            VariableCondition::In(sign, side, element) => {
                let own = self.elements[transition.variables[side.0]][value(side) as usize];
                compare(sign, own, *element)
            }
            VariableCondition::Not(inner) => !self.condition_holds(transition, inner, binding),
            VariableCondition::All(all) => {
                all.iter().all(|it| self.condition_holds(transition, it, binding))
            }
            VariableCondition::Any(all) => {
                all.iter().any(|it| self.condition_holds(transition, it, binding))
            }
        }
    }

    /// Returns whether some arc has a negative number of tokens of a colour, for some binding.
    pub fn has_negative_tokens(&self) -> bool {
        self.transitions.iter().any(|it| {
            self.bindings(it).iter().any(|binding| {
                let arcs = it.arcs.iter().filter(|it| it.0 != ArcKind::Reset);
                let mut tokens = arcs.flat_map(|(_, place, bag)| self.tokens(*place, bag, binding));
                tokens.any(|it| it < 0)
            })
        })
    }

    fn fire(&self, marking: &Marking, transition: &Transition, binding: &[u32]) -> Option<Marking> {
        let lacks_tokens = |(kind, place, bag): &(ArcKind, usize, Vec<Addend>)| {
            let tokens = || self.tokens(*place, bag, binding);
            *kind == ArcKind::Consume
                && marking[*place].iter().zip(tokens()).any(|(available, it)| *available < it)
        };
        if transition.arcs.iter().any(lacks_tokens) {
            return None;
        }
        let mut after = marking.clone();
        let arcs = || {
            transition
                .arcs
                .iter()
                .map(|(kind, place, bag)| (*kind, *place, self.tokens(*place, bag, binding)))
        };
        // Several arcs from one place consume together.
        for (_, place, tokens) in arcs().filter(|it| it.0 == ArcKind::Consume) {
            after[place].iter_mut().zip(tokens).for_each(|(available, it)| *available -= it);
        }
        let is_open = after.iter().flatten().all(|it| *it >= 0)
            && arcs().all(|(kind, place, tokens)| {
                let mut pairs = marking[place].iter().zip(tokens);
                match kind {
                    ArcKind::Test => pairs.all(|(available, it)| *available >= it),
                    ArcKind::Inhibit => pairs.all(|(available, it)| it == 0 || *available < it),
                    ArcKind::Consume | ArcKind::Produce | ArcKind::Reset => true,
                }
            });
        for (_, place, _) in arcs().filter(|it| it.0 == ArcKind::Reset) {
            after[place].fill(0);
        }
        for (_, place, tokens) in arcs().filter(|it| it.0 == ArcKind::Produce) {
            after[place].iter_mut().zip(tokens).for_each(|(available, it)| *available += it);
        }
        is_open.then_some(after)
    }

    /// Explores all markings. Returns nothing if there are too many markings, or too many tokens of a colour.
    pub fn explore(&self, states_max: usize, tokens_max: i64) -> Option<Counts> {
        let first: Marking =
            (0..self.places.len()).map(|it| self.tokens(it, &self.places[it].1, &[])).collect();
        let bindings: Vec<Vec<Vec<u32>>> =
            self.transitions.iter().map(|it| self.bindings(it)).collect();
        let (mut visited, mut next) = (HashSet::from([first.clone()]), VecDeque::from([first]));
        let mut counts = Counts {
            states: 0,
            transitions: 0,
            deadlocks: 0,
            max_tokens: vec![0; self.places.len()],
        };
        while let Some(marking) = next.pop_front() {
            for (max_tokens, tokens) in counts.max_tokens.iter_mut().zip(&marking) {
                *max_tokens = (*max_tokens).max(tokens.iter().copied().max().unwrap_or(0));
            }
            let each = self.transitions.iter().zip(&bindings);
            let each = each.flat_map(|(it, all)| all.iter().map(move |binding| (it, binding)));
            let after: Vec<Marking> =
                each.filter_map(|(it, binding)| self.fire(&marking, it, binding)).collect();
            counts.transitions += after.len() as u64;
            counts.deadlocks += u64::from(after.is_empty());
            for it in after {
                if it.iter().flatten().any(|it| *it > tokens_max) {
                    return None;
                }
                if visited.insert(it.clone()) {
                    next.push_back(it);
                }
            }
            if visited.len() > states_max {
                return None;
            }
        }
        counts.states = visited.len() as u64;
        Some(counts)
    }
}

/// Returns the net as PNML.
pub fn pnml_text(net: &Net) -> String {
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
                    // Some products are declared before the classes.
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
        let conditions = transition.conditions.iter().map(|it| {
            format!("<subterm>{}</subterm>", condition_text(net, transition, number, it))
        });
        let conditions: String = conditions.collect();
        let condition = if conditions.is_empty() {
            conditions
        } else {
            structure("condition", &format!("<and>{conditions}</and>"))
        };
        out += &format!("<transition id=\"t{number}\">{condition}</transition>");
        for (arc_number, (kind, place, tokens)) in transition.arcs.iter().enumerate() {
            let (place_id, transition_id) = (format!("p{place}"), format!("t{number}"));
            let (source, target) = match kind {
                ArcKind::Produce => (transition_id, place_id),
                _ => (place_id, transition_id),
            };
            let kind_text = match kind {
                ArcKind::Consume | ArcKind::Produce => "",
                ArcKind::Test => "<type value=\"test\"/>",
                ArcKind::Inhibit => "<type value=\"inhibitor\"/>",
                ArcKind::Reset => "<type value=\"reset\"/>",
            };
            let sort = &net.places[*place].0;
            let inscription = match (is_coloured, kind) {
                (_, ArcKind::Reset) => String::new(),
                (false, _) => format!(
                    "<inscription><text>{}</text></inscription>",
                    tokens.iter().map(|it| it.0).sum::<i64>()
                ),
                (true, _) => structure("hlinscription", &bag(net, sort, tokens, number)),
            };
            out += &format!(
                "<arc id=\"a{number}.{arc_number}\" source=\"{source}\" target=\"{target}\">{kind_text}{inscription}</arc>"
            );
        }
    }
    out + "</page></net></pnml>"
}

/// Returns the declarations of classes, partitions, products and variables.
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

/// Returns a condition of a transition.
fn condition_text(
    net: &Net,
    transition: &Transition,
    number: usize,
    condition: &VariableCondition,
) -> String {
    let value = |&(variable, shift): &(usize, u32)| {
        shifted_variable(net.classes[transition.variables[variable]], (number, variable), shift)
    };
    let sub = |it: &VariableCondition| {
        format!("<subterm>{}</subterm>", condition_text(net, transition, number, it))
    };
    let all = |all: &[VariableCondition]| all.iter().map(sub).collect::<String>();
    match condition {
        VariableCondition::Comparison(sign, [left, right]) => format!(
            "<{sign}><subterm>{}</subterm><subterm>{}</subterm></{sign}>",
            value(left),
            value(right)
        ),
        VariableCondition::In(sign, side, element) => {
            let (class, value) = (transition.variables[side.0], value(side));
            // Equality of a value and an element means that the element contains the value.
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
        VariableCondition::Not(inner) => format!("<not>{}</not>", sub(inner)),
        VariableCondition::All(parts) => format!("<and>{}</and>", all(parts)),
        VariableCondition::Any(parts) => format!("<or>{}</or>", all(parts)),
    }
}

/// Returns a variable shifted by a number of positions in its class.
fn shifted_variable(size: u32, (transition, variable): (usize, usize), shift: u32) -> String {
    let name = format!("<variable refvariable=\"v{transition}.{variable}\"/>");
    // The same shift in the other direction.
    let (operator, times) = match shift > size / 2 {
        true => ("predecessor", size - shift),
        false => ("successor", shift),
    };
    (0..times).fold(name, |inner, _| format!("<{operator}><subterm>{inner}</subterm></{operator}>"))
}

fn structure(label: &str, term: &str) -> String {
    format!("<{label}><structure>{term}</structure></{label}>")
}

/// Returns the added tokens without the subtracted ones.
fn bag(net: &Net, sort: &[usize], tokens: &[Addend], transition: usize) -> String {
    let addend = |(times, parts): &Addend| {
        let part = |(part, class): (&ColourPart, &usize)| match *part {
            ColourPart::Constant(it) => format!("<useroperator declaration=\"c{class}.{it}\"/>"),
            ColourPart::All => format!("<all><usersort declaration=\"c{class}\"/></all>"),
            ColourPart::Variable(variable, shift) => {
                shifted_variable(net.classes[*class], (transition, variable), shift)
            }
            ColourPart::InElement(element) => {
                format!("<useroperator declaration=\"e{class}.{element}\"/>")
            }
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

fn arc_kind() -> impl Strategy<Value = ArcKind> {
    prop_oneof![
        6 => Just(ArcKind::Consume),
        6 => Just(ArcKind::Produce),
        1 => Just(ArcKind::Test),
        1 => Just(ArcKind::Inhibit),
        1 => Just(ArcKind::Reset),
    ]
}

/// Generates nets without colours.
pub fn plain_nets() -> impl Strategy<Value = Net> {
    let places = prop::collection::vec(0i64..4, 1..6);
    let arc = (arc_kind(), any::<prop::sample::Index>(), 1i64..4);
    let transitions = prop::collection::vec(prop::collection::vec(arc, 1..6), 1..6);
    (places, transitions).prop_map(|(tokens, transitions)| {
        let count = tokens.len();
        let transition = |arcs: Vec<(ArcKind, prop::sample::Index, i64)>| Transition {
            variables: Vec::new(),
            conditions: Vec::new(),
            arcs: arcs
                .into_iter()
                .map(|(kind, place, times)| (kind, place.index(count), vec![(times, Vec::new())]))
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

/// A list of numbers as a source of random choices. Each choice adds its position to its number.
struct ChoiceList<'d> {
    numbers: &'d [u32],
    at: usize,
}

impl ChoiceList<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        self.at += 1;
        self.numbers[(self.at - 1) % self.numbers.len()].wrapping_add(self.at as u32 * 7) % bound
    }

    /// Returns a colour of these classes, with these variables, if there are any.
    fn parts(&mut self, net: &Net, sort: &[usize], variables: &[usize]) -> Vec<ColourPart> {
        let mut part = |class: &usize| {
            let candidates: Vec<usize> =
                (0..variables.len()).filter(|it| variables[*it] == *class).collect();
            let choose_variable =
                |choices: &mut Self| candidates[choices.below(candidates.len() as u32) as usize];
            match self.below(9) {
                0 => ColourPart::All,
                1 => ColourPart::Constant(self.below(net.classes[*class])),
                2 => ColourPart::InElement(
                    net.elements[*class][self.below(net.classes[*class]) as usize],
                ),
                _ if candidates.is_empty() => ColourPart::Constant(self.below(net.classes[*class])),
                3 => ColourPart::Variable(choose_variable(self), self.below(net.classes[*class])),
                _ => ColourPart::Variable(choose_variable(self), 0),
            }
        };
        sort.iter().map(&mut part).collect()
    }

    fn bag(&mut self, net: &Net, sort: &[usize], variables: &[usize]) -> Vec<Addend> {
        if self.below(6) == 0 && !sort.is_empty() {
            let subtracted = (0..1 + self.below(2)).map(|_| (-1, self.parts(net, sort, variables)));
            let subtracted: Vec<Addend> = subtracted.collect();
            return [vec![(1, vec![ColourPart::All; sort.len()])], subtracted].concat();
        }
        let count = 1 + self.below(2);
        (0..count)
            .map(|_| (1 + i64::from(self.below(2)), self.parts(net, sort, variables)))
            .collect()
    }

    /// Returns a condition on variables of these classes.
    fn condition(&mut self, net: &Net, variables: &[usize], depth: u32) -> VariableCondition {
        let first = self.below(variables.len() as u32) as usize;
        let class = variables[first];
        let size = net.classes[class];
        let same: Vec<usize> = (0..variables.len()).filter(|it| variables[*it] == class).collect();
        let second = same[self.below(same.len() as u32) as usize];
        let shift =
            |choices: &mut Self| if choices.below(3) == 0 { choices.below(size) } else { 0 };
        let signs = [
            "inequality",
            "equality",
            "inequality",
            "lessthan",
            "lessthanorequal",
            "greaterthan",
            "greaterthanorequal",
        ];
        let two_conditions = |choices: &mut Self| {
            (0..2).map(|_| choices.condition(net, variables, depth + 1)).collect::<Vec<_>>()
        };
        match self.below(if depth < 2 { 8 } else { 5 }) {
            0 | 1 => {
                let element = net.elements[class][self.below(size) as usize];
                let sign = ["equality", "inequality", "ltp", "gtp"][self.below(4) as usize];
                VariableCondition::In(sign, (first, shift(self)), element)
            }
            2..=4 => {
                let sign = signs[self.below(7) as usize];
                VariableCondition::Comparison(sign, [(first, shift(self)), (second, shift(self))])
            }
            5 => VariableCondition::Not(Box::new(self.condition(net, variables, depth + 1))),
            6 => VariableCondition::All(two_conditions(self)),
            _ => VariableCondition::Any(two_conditions(self)),
        }
    }
}

/// Generates nets with colours.
pub fn coloured_nets() -> impl Strategy<Value = Net> {
    prop::collection::vec(any::<u32>(), 20..60).prop_map(|numbers| {
        let mut choices = ChoiceList { numbers: &numbers, at: 0 };
        let classes: Vec<u32> = (0..1 + choices.below(2)).map(|_| 2 + choices.below(4)).collect();
        let elements = classes.iter().map(|size| {
            // Each element contains a value.
            let count = 1 + choices.below(*size);
            (0..*size).map(|it| if it < count { it } else { choices.below(count) }).collect()
        });
        let elements: Vec<Vec<u32>> = elements.collect();
        let (places, transitions) = (Vec::new(), Vec::new());
        let mut net = Net { classes, elements, places, transitions };
        let count = net.classes.len() as u32;
        for _ in 0..1 + choices.below(3) {
            let sort: Vec<usize> =
                (0..choices.below(3)).map(|_| choices.below(count) as usize).collect();
            let tokens =
                if choices.below(3) > 0 { choices.bag(&net, &sort, &[]) } else { Vec::new() };
            net.places.push((sort, tokens));
        }
        for _ in 0..1 + choices.below(3) {
            let variables: Vec<usize> =
                (0..choices.below(5)).map(|_| choices.below(count) as usize).collect();
            let conditions = if variables.is_empty() { 0 } else { choices.below(3) };
            let conditions =
                (0..conditions).map(|_| choices.condition(&net, &variables, 0)).collect();
            let arcs = (0..1 + choices.below(5)).map(|_| {
                let place = choices.below(net.places.len() as u32) as usize;
                let kind = [
                    ArcKind::Consume,
                    ArcKind::Produce,
                    ArcKind::Consume,
                    ArcKind::Produce,
                    ArcKind::Test,
                    ArcKind::Inhibit,
                    ArcKind::Reset,
                ][choices.below(7) as usize];
                (kind, place, choices.bag(&net, &net.places[place].0, &variables))
            });
            let arcs: Vec<_> = arcs.collect();
            net.transitions.push(Transition { variables, conditions, arcs });
        }
        net
    })
}

/// Generates nets with few tokens of many colours, more than the bits of a machine word.
pub fn nets_of_many_colours() -> impl Strategy<Value = Net> {
    prop::collection::vec(any::<u32>(), 20..60).prop_map(|numbers| {
        let mut choices = ChoiceList { numbers: &numbers, at: 0 };
        let classes = vec![60 + choices.below(20), 2 + choices.below(3)];
        let elements = classes.iter().map(|size| vec![0; *size as usize]).collect();
        let sorts = [vec![0, 1], vec![1, 0], vec![0]];
        let mut places = Vec::new();
        for sort in &sorts {
            let mut token = || {
                let colour =
                    sort.iter().map(|it| ColourPart::Constant(choices.below(classes[*it])));
                let colour: Vec<ColourPart> = colour.collect();
                (1 + i64::from(choices.below(3)), colour)
            };
            let tokens = (0..2).map(|_| token()).collect();
            places.push((sort.clone(), tokens));
        }
        let mut transitions = Vec::new();
        for _ in 0..2 {
            let variables = vec![0, 1];
            let mut arcs = Vec::new();
            for kind in [ArcKind::Consume, ArcKind::Test, ArcKind::Produce] {
                let place = choices.below(3) as usize;
                let part = |choices: &mut ChoiceList, class: usize| match class {
                    1 => ColourPart::Variable(1, choices.below(2) * choices.below(classes[1])),
                    _ => ColourPart::Variable(0, choices.below(2) * choices.below(classes[0])),
                };
                let colour: Vec<ColourPart> =
                    sorts[place].iter().map(|it| part(&mut choices, *it)).collect();
                arcs.push((kind, place, vec![(1 + i64::from(choices.below(4) / 3), colour)]));
            }
            // As many tokens are produced as consumed, with other colours.
            let (_, place, consumed) = arcs[0].clone();
            let shifted = |part: &ColourPart| match *part {
                ColourPart::Variable(variable, _) => ColourPart::Variable(variable, 1),
                part => part,
            };
            let put = |(times, it): &Addend| (*times, it.iter().map(shifted).collect::<Vec<_>>());
            arcs[2] = (ArcKind::Produce, place, consumed.iter().map(put).collect());
            transitions.push(Transition { variables, conditions: Vec::new(), arcs });
        }
        Net { classes, elements, places, transitions }
    })
}
