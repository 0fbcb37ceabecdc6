//! From a net to a program: a counter of tokens for each colour of a place, an action for each transition.
//!
//! An action exists once for each binding of its transition's variables, which are its parameters. Its guard asks that there
//! are enough tokens of each colour, its body takes and puts what differs, what is taken first.

use super::ask::{Query, QueryKind};
use super::bounds::bounds;
use super::colours::Partition;
use super::colours::{Addend, ClassId, Part, TOKENS_MAX, Values};
use super::condition::{Condition, ConditionKind};
use super::net::{Does, Flow, Net, Place, Transition};
use super::symmetry::interchangeable;
use super::xml::Read;
use crate::analysis::bindings::{BindingPlan, BindingStep, Scan, conjuncts};
use crate::diag::Diagnostic;
use crate::ir::validate::STATE_BITS_MAX;
use crate::ir::{
    self, Action, Arithmetic, Binary, Control, Convert, Domain, Enum, Expr, ExprKind, LocalId,
    Overflow, Parameter, Program, Quantifier, Renumbered, Scalar, Scalarset, Selector, Start, Stmt,
    StmtKind, Type, TypeId, Unary, VarId, Variable,
};
use crate::source::Span;
use crate::trees::{self, balanced};
use std::collections::HashMap;

/// As many tokens have room where nothing is known of how many there can be.
const UNBOUNDED: i64 = u16::MAX as i64;

/// A class as the program has it.
struct Class {
    ty: TypeId,
    domain: Domain,
    /// The number of its first value.
    low: i64,
    size: u32,
}

/// A place as the program has it.
struct Counters {
    variable: VarId,
    /// What becomes of more tokens than there is room for. There never are, where their number is known to be bounded.
    overflow: Overflow,
    /// Of all colours, at first.
    tokens: i64,
}

struct Lowering<'n> {
    net: &'n Net,
    program: Program,
    classes: Vec<Class>,
    counters: Vec<Counters>,
    types: HashMap<Type, TypeId>,
}

/// Refuses a net whose markings take more bits than states can have, before more is made of it.
fn refuse_too_wide(net: &Net, rooms: &[Room]) -> Read<()> {
    let mut bits = 0;
    for (place, room) in net.places.iter().zip(rooms) {
        bits += place.initial.len() as u64 * u64::from(i64::BITS - room.high.leading_zeros());
        if bits > STATE_BITS_MAX {
            let error = format!(
                "markings of the places up to here take {bits} bits, more than {} that a state has room for",
                STATE_BITS_MAX
            );
            return Err(Diagnostic::error(place.span, error));
        }
    }
    Ok(())
}

/// The room for tokens of a colour.
#[derive(Clone, Copy)]
struct Room {
    /// The most that there is room for.
    high: i64,
    /// What becomes of more.
    overflow: Overflow,
}

impl Room {
    /// That of a place with this bound, if it has one.
    fn of(net: &Net, place: &Place, bound: Option<i64>) -> Room {
        let most = place.initial.iter().copied().max().unwrap_or(0);
        let high = bound.filter(|it| *it <= TOKENS_MAX);
        let overflow = if high.is_some() { Overflow::Wraps } else { Overflow::Fails };
        // What is said is not believed: more than one token ends the search.
        let unknown = if net.says_safe { most } else { UNBOUNDED.max(2 * most) };
        Room { high: high.unwrap_or(unknown).max(1), overflow }
    }
}

/// The program of a net, and conditions on its states that say what is asked.
pub(super) fn lower(net: &Net, name: &str, asked: &[Query]) -> Read<(Program, Vec<Expr>)> {
    let rooms = net.places.iter().zip(bounds(net)).map(|(it, bound)| Room::of(net, it, bound));
    let rooms: Vec<Room> = rooms.collect();
    refuse_too_wide(net, &rooms)?;
    // Tokens of many colours may be more than 32 bits hold.
    let arithmetic = Arithmetic::Checked64;
    let program = Program { name: name.to_owned(), arithmetic, ..Program::default() };
    let mut lowering =
        Lowering { net, program, classes: Vec::new(), counters: Vec::new(), types: HashMap::new() };
    lowering.classes(asked);
    for (place, room) in net.places.iter().zip(rooms) {
        lowering.place(place, room);
    }
    lowering.program.starts.push(Start {
        name: "initial marking".to_owned(),
        parameters: Vec::new(),
        body: Vec::new(),
        span: Span::default(),
    });
    for transition in &net.transitions {
        let action = Binding::of(&lowering, transition, 0).action(transition);
        lowering.program.actions.push(action);
    }
    let conditions = asked.iter().map(|it| lowering.query(it, &mut 0)).collect();
    Ok((lowering.program, conditions))
}

impl Lowering<'_> {
    fn classes(&mut self, asked: &[Query]) {
        let mut alike = interchangeable(self.net);
        let mut named = Vec::new();
        asked.iter().for_each(|it| it.named(self.net, &mut named));
        named.into_iter().for_each(|class| alike[class] = false);
        for (class, is_alike) in self.net.colours.classes.iter().zip(alike) {
            let (name, size) = (class.name.clone(), class.size());
            let (low, domain) = match &class.values {
                _ if is_alike && size > 1 => {
                    let id = self.program.scalarsets.push(Scalarset { name, size });
                    (0, Domain::Scalarset(id))
                }
                Values::Range(low, high) => (*low, Domain::Range { low: *low, high: *high }),
                Values::Names(values) => {
                    let id = self.program.enums.push(Enum { name, values: values.clone() });
                    (0, Domain::Enum(id))
                }
            };
            let ty = self.ty(Type::Scalar(Scalar::defined(domain.clone())));
            self.classes.push(Class { ty, domain, low, size });
        }
    }

    fn ty(&mut self, ty: Type) -> TypeId {
        let types = &mut self.program.types;
        *self.types.entry(ty).or_insert_with_key(|ty| types.push(ty.clone()))
    }

    fn place(&mut self, place: &Place, Room { high, overflow }: Room) {
        let mut ty = self.ty(Type::Scalar(Scalar::defined(Domain::Range { low: 0, high })));
        for class in place.sort.iter().rev() {
            let Class { domain, low, size, .. } = &self.classes[*class];
            let by = Some(domain.clone()).filter(|it| !matches!(it, Domain::Range { .. }));
            let array = Type::Array { low: *low, length: *size, by, element: ty };
            ty = self.ty(array);
        }
        let variable = self.program.variables.push(Variable {
            name: place.name.clone(),
            ty,
            owner: ir::Owner::Program,
            initial: place.initial.iter().map(|it| Some(*it)).collect(),
            span: place.span,
        });
        let tokens = place.initial.iter().sum();
        self.counters.push(Counters { variable, overflow, tokens });
    }
}

/// What is asked, as expressions.
impl Lowering<'_> {
    fn query(&self, query: &Query, locals: &mut u32) -> Expr {
        let span = query.span;
        match &query.kind {
            QueryKind::Number(number) => Expr::constant(*number, span),
            QueryKind::Not(inner) => {
                expr(ExprKind::Unary(Unary::Not, Box::new(self.query(inner, locals))), span)
            }
            QueryKind::Joined(operator, left, right) => {
                binary(*operator, self.query(left, locals), self.query(right, locals), span)
            }
            QueryKind::Tokens(place, Some(colour)) => self.tokens_of(*place, colour, span),
            QueryKind::Tokens(place, None) => {
                let sort = &self.net.places[*place].sort;
                let mut colours = vec![Vec::new()];
                for class in sort {
                    let longer = |it: Vec<u32>| {
                        let values = 0..self.classes[*class].size;
                        values.map(move |value| [&it[..], &[value]].concat())
                    };
                    colours = colours.into_iter().flat_map(longer).collect();
                }
                let each = colours.iter().map(|it| self.tokens_of(*place, it, span));
                together(Binary::Add, each.collect(), span)
            }
            QueryKind::Deadlock => {
                let all = 0..self.net.transitions.len();
                let each = all.map(|it| self.fireable(it, locals, span)).collect();
                let some = together(Binary::Or, each, span);
                expr(ExprKind::Unary(Unary::Not, Box::new(some)), span)
            }
            QueryKind::Fireable(number) => self.fireable(*number, locals, span),
        }
    }

    /// Whether a transition can be taken by some binding.
    fn fireable(&self, number: usize, locals: &mut u32, span: Span) -> Expr {
        let transition = &self.net.transitions[number];
        let mut binding = Binding::of(self, transition, *locals);
        let guards = binding.guards(transition);
        *locals = binding.next;
        let conjuncts: Vec<&Expr> = guards.iter().flat_map(conjuncts).collect();
        let plan = BindingPlan::of_conjuncts(&self.program, &binding.parameters, &conjuncts);
        let (steps, rest) = match plan {
            Some(BindingPlan { steps, rest }) => (steps, rest),
            None => {
                let steps = (0..binding.parameters.len()).map(BindingStep::Each);
                (steps.collect(), (0..conjuncts.len()).collect())
            }
        };
        let rest = rest.into_iter().map(|it| conjuncts[it].clone()).reduce(and);
        let guard = rest.unwrap_or(Expr::constant(1, span));
        let some = |body: Expr, parameter: usize| {
            let Parameter { local, over, .. } = binding.parameters[parameter];
            let (quantifier, body) = (Quantifier::Some, Box::new(body));
            expr(ExprKind::Quantified { quantifier, local, over, body }, span)
        };
        // What rules many bindings out is asked before more is bound.
        steps.iter().rev().fold(guard, |body, step| match step {
            BindingStep::Test(number) => and(conjuncts[*number].clone(), body),
            BindingStep::Each(parameter) => some(body, *parameter),
            BindingStep::Scan(Scan { conjunct, binds }) => {
                let body = and(conjuncts[*conjunct].clone(), body);
                binds.iter().rev().fold(body, |body, it| some(body, it.parameter))
            }
        })
    }

    /// The tokens of one colour.
    fn tokens_of(&self, place: usize, colour: &[u32], span: Span) -> Expr {
        let values = colour.iter().zip(&self.net.places[place].sort).map(|(position, class)| {
            Expr::constant(self.classes[*class].low + i64::from(*position), span)
        });
        expr(ExprKind::Read(self.counter(place, values, span)), span)
    }

    /// The counter of a colour with these values.
    fn counter(&self, place: usize, values: impl Iterator<Item = Expr>, span: Span) -> ir::Place {
        let path = values.map(Selector::Index).collect();
        ir::Place { path, ..ir::Place::variable(self.counters[place].variable, span) }
    }
}

/// Terms joined by an operator, which is 0 for none.
fn together(operator: Binary, terms: Vec<Expr>, span: Span) -> Expr {
    let all = balanced(terms, |one, other| binary(operator, one, other, span));
    all.unwrap_or(Expr::constant(0, span))
}

/// A transition with names for the values of its variables.
struct Binding<'l, 'n> {
    lowering: &'l Lowering<'n>,
    /// By variable of the net, what stands for it.
    locals: HashMap<usize, LocalId>,
    parameters: Vec<Parameter>,
    /// What comes next.
    next: u32,
}

/// Loops or quantifiers over classes.
type Over = Vec<(LocalId, TypeId)>;

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

fn binary(operator: Binary, left: Expr, right: Expr, span: Span) -> Expr {
    expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)), span)
}

/// Both hold; the second is asked where the first does.
fn and(left: Expr, right: Expr) -> Expr {
    let span = left.span;
    binary(Binary::And, left, right, span)
}

impl<'l, 'n> Binding<'l, 'n> {
    /// Names for what a transition has to do with, from this number on.
    fn of(lowering: &'l Lowering<'n>, transition: &Transition, next: u32) -> Self {
        let mut used = Vec::new();
        let mut note = |part: &Part| used.extend(part.variable());
        if let Some(condition) = &transition.condition {
            condition.each_compared(&mut |_, _, sides| sides.iter().for_each(&mut note));
        }
        let parts = transition.flows.iter().flat_map(|it| &it.bag).flat_map(|it| &it.colour);
        parts.for_each(note);
        used.sort_unstable();
        used.dedup();
        let mut binding =
            Binding { lowering, locals: HashMap::new(), parameters: Vec::new(), next };
        for number in used {
            let variable = &lowering.net.colours.variables[number];
            let (local, over) = binding.fresh(variable.class);
            binding.locals.insert(number, local);
            binding.parameters.push(Parameter { local, name: variable.name.clone(), over });
        }
        binding
    }

    fn fresh(&mut self, class: ClassId) -> (LocalId, TypeId) {
        self.next += 1;
        (LocalId(self.next - 1), self.lowering.classes[class].ty)
    }

    /// What a transition waits for, part by part.
    fn guards(&mut self, transition: &Transition) -> Vec<Expr> {
        let condition = transition.condition.as_ref().map(|it| self.condition(it));
        let mut guards: Vec<Expr> = condition.into_iter().collect();
        for flow in self.by_tokens(transition) {
            guards.extend(self.waits_for(flow));
        }
        guards
    }

    /// What a transition has to do with places, those first that have the fewest tokens at first: most often it fails there.
    fn by_tokens<'t>(&self, transition: &'t Transition) -> Vec<&'t Flow> {
        let mut flows: Vec<&Flow> = transition.flows.iter().collect();
        let tokens = |it: &Flow| self.lowering.counters[it.place].tokens;
        flows.sort_by_key(|it| (it.does == Does::Inhibit, tokens(it)));
        flows
    }

    fn action(mut self, transition: &Transition) -> Action {
        let guard = self.guards(transition).into_iter().reduce(and);
        let mut body = Vec::new();
        let mut places: Vec<usize> = transition.flows.iter().map(|it| it.place).collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            body.extend(self.changes(place, transition));
        }
        Action {
            name: transition.name.clone(),
            edge: None,
            parameters: self.parameters,
            guard,
            communication: None,
            body,
            priority: 0,
            control: Control::default(),
            span: transition.span,
        }
    }

    fn condition(&self, Condition { kind, span }: &Condition) -> Expr {
        match kind {
            ConditionKind::Known(is_so) => Expr::constant(i64::from(*is_so), *span),
            ConditionKind::Not(inner) => {
                expr(ExprKind::Unary(Unary::Not, Box::new(self.condition(inner))), *span)
            }
            ConditionKind::Joined(operator, all) => {
                let each = all.iter().map(|it| self.condition(it)).collect();
                let all = trees::joined(each, |left, right| binary(*operator, left, right, *span));
                all.unwrap_or_else(|| unreachable!("at least one is joined"))
            }
            ConditionKind::Compared(operator, class, sides) => {
                let [left, right] = sides.map(|it| self.value(it, *class, None, *span));
                binary(*operator, left, right, *span)
            }
        }
    }

    /// A value of a class; for each of them, what stands for one.
    fn value(&self, part: Part, class: ClassId, each: Option<LocalId>, span: Span) -> Expr {
        let Class { low, size, .. } = self.lowering.classes[class];
        match part {
            Part::Constant(position) => Expr::constant(low + i64::from(position), span),
            Part::All => expr(each.map_or(ExprKind::Constant(low), ExprKind::Local), span),
            Part::Variable(variable, shift) => {
                let it = expr(ExprKind::Local(self.locals[&variable]), span);
                if shift == 0 {
                    return it;
                }
                let (shift, size) = (i64::from(shift), i64::from(size));
                // Those before the end go on, the last ones begin anew.
                let bend = low + size - shift;
                let piece = |low, high, by| Renumbered { low, high, by };
                let pieces =
                    vec![piece(low, bend - 1, shift), piece(bend, low + size - 1, shift - size)];
                expr(ExprKind::Convert(Box::new(Convert { operand: it, pieces })), span)
            }
            Part::Element(variable, shift, partition) => {
                let Partition { base, element_of, .. } =
                    &self.lowering.net.colours.partitions[partition];
                let value = self.value(Part::Variable(variable, shift), *base, None, span);
                let from = self.lowering.classes[*base].low;
                let elements = element_of.iter().map(|it| low + i64::from(*it)).zip(from..);
                let mut runs: Vec<(i64, i64)> = Vec::new();
                for (element, last) in elements {
                    match runs.last_mut() {
                        Some(run) if run.0 == element => run.1 = last,
                        _ => runs.push((element, last)),
                    }
                }
                of_run(&value, &runs)
            }
        }
    }

    /// Names for each value that a colour goes through.
    fn over(&mut self, place: usize, colour: &[Part]) -> Over {
        let sort = &self.lowering.net.places[place].sort;
        let all = colour.iter().zip(sort).filter(|(part, _)| **part == Part::All);
        all.map(|(_, class)| self.fresh(*class)).collect()
    }

    /// The values of a colour.
    fn values(&self, place: usize, (colour, over): (&[Part], &Over), span: Span) -> Vec<Expr> {
        let sort = &self.lowering.net.places[place].sort;
        let mut each = over.iter().map(|it| it.0);
        let parts = colour.iter().zip(sort);
        parts
            .map(|(part, class)| {
                let each = if *part == Part::All { each.next() } else { None };
                self.value(*part, *class, each, span)
            })
            .collect()
    }

    fn counter(&self, place: usize, values: &[Expr], span: Span) -> ir::Place {
        self.lowering.counter(place, values.iter().cloned(), span)
    }

    /// The tokens among these that are of a colour with these parts and values.
    fn tokens(
        &self,
        flow: (usize, &[Addend]),
        (colour, values): (&[Part], &[Expr]),
        span: Span,
    ) -> Expr {
        let (place, bag) = flow;
        let sort = &self.lowering.net.places[place].sort;
        let (mut known, mut terms) = (0, Vec::new());
        for it in bag {
            let mut same = Some(None);
            for (number, part) in it.colour.iter().enumerate() {
                let at = (*part, colour[number]);
                let asked = match at {
                    (Part::All, _) => continue,
                    (one, other) if one == other => continue,
                    (Part::Constant(_), Part::Constant(_)) => None,
                    (Part::Variable(one, _), Part::Variable(other, _)) if one == other => None,
                    _ => {
                        let value = self.value(*part, sort[number], None, span);
                        Some(binary(Binary::Equal, value, values[number].clone(), span))
                    }
                };
                same = same.zip(asked).map(|(before, asked): (Option<Expr>, Expr)| match before {
                    None => Some(asked),
                    Some(before) => Some(binary(Binary::And, before, asked, span)),
                });
            }
            match same {
                None => {}
                Some(None) => known += it.times,
                Some(Some(same)) => {
                    let [times, none] = [it.times, 0].map(|it| Box::new(Expr::constant(it, span)));
                    let these = expr(ExprKind::Conditional(Box::new(same), times, none), span);
                    terms.push(these);
                }
            }
        }
        match trees::joined(terms, |sum, it| binary(Binary::Add, sum, it, span)) {
            None => Expr::constant(known, span),
            Some(sum) if known == 0 => sum,
            Some(sum) => binary(Binary::Add, sum, Expr::constant(known, span), span),
        }
    }

    /// What a transition waits for in a place.
    fn waits_for(&mut self, flow: &Flow) -> Vec<Expr> {
        let (operator, bag) = match flow.does {
            Does::Take | Does::Test => (Binary::GreaterEqual, joined(flow.bag.clone())),
            Does::Inhibit => (Binary::Less, joined(flow.bag.clone())),
            Does::Put | Does::Reset => return Vec::new(),
        };
        let asks = |it: &&Addend| it.times > 0;
        let colours: Vec<Vec<Part>> = bag.iter().filter(asks).map(|it| it.colour.clone()).collect();
        let each = colours.iter().map(|colour| {
            let over = self.over(flow.place, colour);
            let values = self.values(flow.place, (colour, &over), flow.span);
            let wanted = self.tokens((flow.place, &bag), (colour, &values), flow.span);
            let place = self.counter(flow.place, &values, flow.span);
            let there = expr(ExprKind::Read(place), flow.span);
            let mut asked = binary(operator, there, wanted.clone(), flow.span);
            if operator == Binary::Less && subtracts(&bag) {
                // Of what is not among these there may be any number.
                let none =
                    binary(Binary::LessEqual, wanted, Expr::constant(0, flow.span), flow.span);
                asked = binary(Binary::Or, none, asked, flow.span);
            }
            over.into_iter().rev().fold(asked, |body, (local, over)| {
                let (quantifier, body) = (Quantifier::All, Box::new(body));
                expr(ExprKind::Quantified { quantifier, local, over, body }, flow.span)
            })
        });
        each.collect()
    }

    /// What a transition changes in a place.
    fn changes(&mut self, place: usize, transition: &Transition) -> Vec<Stmt> {
        let flows = || transition.flows.iter().filter(|it| it.place == place);
        let (mut change, mut body) = (Vec::new(), Vec::new());
        for flow in flows() {
            let sign = match flow.does {
                Does::Take if flows().all(|it| it.does != Does::Reset) => -1,
                Does::Put => 1,
                Does::Reset => {
                    let target = self.counter(place, &[], flow.span);
                    body.push(Stmt { kind: StmtKind::Clear(target), span: flow.span });
                    continue;
                }
                Does::Take | Does::Test | Does::Inhibit => continue,
            };
            change
                .extend(flow.bag.iter().map(|it| Addend { times: sign * it.times, ..it.clone() }));
        }
        let change = joined(change);
        if flows().any(|it| subtracts(&it.bag)) && !change.is_empty() {
            // All at once, as what is added to what is taken away is no more than that.
            let (colour, span) = (vec![Part::All; change[0].colour.len()], change[0].span);
            body.push(self.add(place, &colour, &change, span));
            return body;
        }
        let (less, more): (Vec<Addend>, Vec<Addend>) =
            change.into_iter().partition(|it| it.times < 0);
        for it in less.into_iter().chain(more) {
            body.push(self.add(place, &it.colour, std::slice::from_ref(&it), it.span));
        }
        body
    }

    /// Adds to each counter that a colour names what these are of it.
    fn add(&mut self, place: usize, colour: &[Part], change: &[Addend], span: Span) -> Stmt {
        let over = self.over(place, colour);
        let values = self.values(place, (colour, &over), span);
        let by = self.tokens((place, change), (colour, &values), span);
        let target = self.counter(place, &values, span);
        let there = expr(ExprKind::Read(target.clone()), span);
        let value = match by.as_constant() {
            Some(by) if by < 0 => binary(Binary::Subtract, there, Expr::constant(-by, span), span),
            _ => binary(Binary::Add, there, by, span),
        };
        let overflow = self.lowering.counters[place].overflow;
        let assign = Stmt { kind: StmtKind::Assign { target, value, overflow }, span };
        over.into_iter().rev().fold(assign, |body, (local, over)| Stmt {
            kind: StmtKind::ForEach { local, over, body: vec![body] },
            span,
        })
    }
}

/// The number of the run that a value is in: each has a number and a last value.
fn of_run(value: &Expr, runs: &[(i64, i64)]) -> Expr {
    let span = value.span;
    if let [(number, _)] = runs {
        return Expr::constant(*number, span);
    }
    // No branch is deep, as many runs there may be.
    let (first, second) = runs.split_at(runs.len() / 2);
    let last = Expr::constant(first.last().map_or(0, |it| it.1), span);
    let is_first = binary(Binary::LessEqual, value.clone(), last, span);
    let [first, second] = [first, second].map(|it| Box::new(of_run(value, it)));
    expr(ExprKind::Conditional(Box::new(is_first), first, second), span)
}

/// Whether some tokens are taken away from others.
fn subtracts(bag: &[Addend]) -> bool {
    bag.iter().any(|it| it.times < 0)
}

/// The same tokens, those of one colour together.
fn joined(bag: Vec<Addend>) -> Vec<Addend> {
    let mut all: Vec<Addend> = Vec::new();
    for it in bag {
        match all.iter_mut().find(|known| known.colour == it.colour) {
            Some(known) => known.times += it.times,
            None => all.push(it),
        }
    }
    all.retain(|it| it.times != 0);
    all
}
