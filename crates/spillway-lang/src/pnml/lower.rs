//! Lowering of a net to a program: a counter for each colour of a place, an action for each transition.
//!
//! The variables of a transition are the parameters of its action, so there is one instance for each binding. The guard
//! requires enough tokens of each colour. The body adds the difference of output and input; it subtracts first.

use super::bounds::bounds;
use super::colour_guard::{ColourGuard, ColourGuardKind};
use super::colours::ClassPartition;
use super::colours::{BagAddend, ClassId, ClassValues, ColourComponent, TOKENS_MAX};
use super::marking_query::{MarkingQuery, MarkingQueryKind};
use super::net::{ArcEffect, PetriArc, PetriNet, PetriPlace, PetriTransition};
use super::symmetry::interchangeable;
use super::xml::PnmlResult;
use spillway_analysis::bindings::{BindingPlan, BindingStep, NonzeroScan, conjuncts};
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_base::trees::{self, balanced};
use spillway_ir::validate::STATE_BITS_MAX;
use spillway_ir::{
    self as ir, Action, ActionControl, Arithmetic, BinaryOp, ConversionPiece, Domain, EnumType,
    Expr, ExprKind, LocalId, NumberConversion, OverflowRule, Parameter, PlaceSelector, Program,
    Quantifier, ScalarType, Scalarset, StartRule, Stmt, StmtKind, Type, TypeId, UnaryOp, VarId,
    Variable,
};
use std::collections::HashMap;

/// The capacity in tokens of a place without a known bound.
const UNBOUNDED: i64 = u16::MAX as i64;

/// A class in the program.
struct LoweredClass {
    ty: TypeId,
    domain: Domain,
    /// The number of its first value.
    low: i64,
    size: u32,
}

/// A place in the program.
struct PlaceCounters {
    variable: VarId,
    /// The treatment of tokens beyond the capacity. It never applies if their number is known to be bounded.
    overflow: OverflowRule,
    /// The number of initial tokens, over all colours.
    tokens: i64,
}

struct NetLowering<'n> {
    net: &'n PetriNet,
    program: Program,
    classes: Vec<LoweredClass>,
    counters: Vec<PlaceCounters>,
    types: HashMap<Type, TypeId>,
}

/// Rejects a net whose markings need more bits than a state can have, before lowering the rest.
fn refuse_too_wide(net: &PetriNet, rooms: &[TokenCapacity]) -> PnmlResult<()> {
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

/// The capacity for tokens of one colour.
#[derive(Clone, Copy)]
struct TokenCapacity {
    /// The maximum number of tokens.
    high: i64,
    /// The treatment of more tokens.
    overflow: OverflowRule,
}

impl TokenCapacity {
    /// Returns the capacity of a place, by its bound if it has one.
    fn of(net: &PetriNet, place: &PetriPlace, bound: Option<i64>) -> TokenCapacity {
        let most = place.initial.iter().copied().max().unwrap_or(0);
        let high = bound.filter(|it| *it <= TOKENS_MAX);
        let overflow = if high.is_some() { OverflowRule::Wraps } else { OverflowRule::Fails };
        // The declaration that the net is safe is not trusted: more than one token ends the search.
        let unknown = if net.declared_safe { most } else { UNBOUNDED.max(2 * most) };
        TokenCapacity { high: high.unwrap_or(unknown).max(1), overflow }
    }
}

/// Returns the program of a net, and its properties as conditions on states.
pub(super) fn lower(
    net: &PetriNet,
    name: &str,
    asked: &[MarkingQuery],
) -> PnmlResult<(Program, Vec<Expr>)> {
    let rooms =
        net.places.iter().zip(bounds(net)).map(|(it, bound)| TokenCapacity::of(net, it, bound));
    let rooms: Vec<TokenCapacity> = rooms.collect();
    refuse_too_wide(net, &rooms)?;
    // The number of tokens over many colours may exceed 32 bits.
    let arithmetic = Arithmetic::Checked64;
    let program = Program { name: name.to_owned(), arithmetic, ..Program::default() };
    let mut lowering = NetLowering {
        net,
        program,
        classes: Vec::new(),
        counters: Vec::new(),
        types: HashMap::new(),
    };
    lowering.classes(asked);
    for (place, room) in net.places.iter().zip(rooms) {
        lowering.place(place, room);
    }
    lowering.program.starts.push(StartRule {
        name: "initial marking".to_owned(),
        parameters: Vec::new(),
        body: Vec::new(),
        span: Span::default(),
    });
    for transition in &net.transitions {
        let action = TransitionBinding::of(&lowering, transition, 0).action(transition);
        lowering.program.actions.push(action);
    }
    let conditions = asked.iter().map(|it| lowering.query(it, &mut 0)).collect();
    Ok((lowering.program, conditions))
}

impl NetLowering<'_> {
    fn classes(&mut self, asked: &[MarkingQuery]) {
        let mut alike = interchangeable(self.net);
        let mut named = Vec::new();
        asked.iter().for_each(|it| it.collect_classes(self.net, &mut named));
        named.into_iter().for_each(|class| alike[class] = false);
        for (class, is_alike) in self.net.colours.classes.iter().zip(alike) {
            let (name, size) = (class.name.clone(), class.size());
            let (low, domain) = match &class.values {
                _ if is_alike && size > 1 => {
                    let id = self.program.scalarsets.push(Scalarset { name, size });
                    (0, Domain::Scalarset(id))
                }
                ClassValues::Range(low, high) => (*low, Domain::Range { low: *low, high: *high }),
                ClassValues::Names(values) => {
                    let id = self.program.enums.push(EnumType { name, values: values.clone() });
                    (0, Domain::Enum(id))
                }
            };
            let ty = self.ty(Type::Scalar(ScalarType::defined(domain.clone())));
            self.classes.push(LoweredClass { ty, domain, low, size });
        }
    }

    fn ty(&mut self, ty: Type) -> TypeId {
        let types = &mut self.program.types;
        *self.types.entry(ty).or_insert_with_key(|ty| types.push(ty.clone()))
    }

    fn place(&mut self, place: &PetriPlace, TokenCapacity { high, overflow }: TokenCapacity) {
        let mut ty = self.ty(Type::Scalar(ScalarType::defined(Domain::Range { low: 0, high })));
        for class in place.sort.iter().rev() {
            let LoweredClass { domain, low, size, .. } = &self.classes[*class];
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
        self.counters.push(PlaceCounters { variable, overflow, tokens });
    }
}

/// Properties as expressions.
impl NetLowering<'_> {
    fn query(&self, query: &MarkingQuery, locals: &mut u32) -> Expr {
        let span = query.span;
        match &query.kind {
            MarkingQueryKind::Number(number) => Expr::constant(*number, span),
            MarkingQueryKind::Not(inner) => {
                expr(ExprKind::Unary(UnaryOp::Not, Box::new(self.query(inner, locals))), span)
            }
            MarkingQueryKind::Joined(operator, left, right) => {
                binary(*operator, self.query(left, locals), self.query(right, locals), span)
            }
            MarkingQueryKind::Tokens(place, Some(colour)) => self.tokens_of(*place, colour, span),
            MarkingQueryKind::Tokens(place, None) => {
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
                join_terms(BinaryOp::Add, each.collect(), span)
            }
            MarkingQueryKind::Deadlock => {
                let all = 0..self.net.transitions.len();
                let each = all.map(|it| self.fireable(it, locals, span)).collect();
                let some = join_terms(BinaryOp::Or, each, span);
                expr(ExprKind::Unary(UnaryOp::Not, Box::new(some)), span)
            }
            MarkingQueryKind::Fireable(number) => self.fireable(*number, locals, span),
        }
    }

    /// Returns the condition that a transition is enabled for some binding.
    fn fireable(&self, number: usize, locals: &mut u32, span: Span) -> Expr {
        let transition = &self.net.transitions[number];
        let mut binding = TransitionBinding::of(self, transition, *locals);
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
        // Conditions that exclude many bindings are evaluated before further variables are bound.
        steps.iter().rev().fold(guard, |body, step| match step {
            BindingStep::Test(number) => and(conjuncts[*number].clone(), body),
            BindingStep::Each(parameter) => some(body, *parameter),
            BindingStep::Scan(NonzeroScan { conjunct, binds }) => {
                let body = and(conjuncts[*conjunct].clone(), body);
                binds.iter().rev().fold(body, |body, it| some(body, it.parameter))
            }
        })
    }

    /// Returns the tokens of one colour.
    fn tokens_of(&self, place: usize, colour: &[u32], span: Span) -> Expr {
        let values = colour.iter().zip(&self.net.places[place].sort).map(|(position, class)| {
            Expr::constant(self.classes[*class].low + i64::from(*position), span)
        });
        expr(ExprKind::Read(self.counter(place, values, span)), span)
    }

    /// Returns the counter of a colour with these values.
    fn counter(&self, place: usize, values: impl Iterator<Item = Expr>, span: Span) -> ir::Place {
        let path = values.map(PlaceSelector::Index).collect();
        ir::Place { path, ..ir::Place::variable(self.counters[place].variable, span) }
    }
}

/// Joins terms by an operator; no terms give 0.
fn join_terms(operator: BinaryOp, terms: Vec<Expr>, span: Span) -> Expr {
    let all = balanced(terms, |one, other| binary(operator, one, other, span));
    all.unwrap_or(Expr::constant(0, span))
}

/// A transition with locals for the values of its variables.
struct TransitionBinding<'l, 'n> {
    lowering: &'l NetLowering<'n>,
    /// The local of each variable of the net.
    locals: HashMap<usize, LocalId>,
    parameters: Vec<Parameter>,
    /// The number of the next local.
    next: u32,
}

/// A colour of a place, as expressions.
struct LocatedColour<'c> {
    place: usize,
    colour: &'c [ColourComponent],
    /// The value of each component.
    values: Vec<Expr>,
    span: Span,
}

/// Loops or quantifiers over classes.
type ClassLoops = Vec<(LocalId, TypeId)>;

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr::new(kind, span)
}

fn binary(operator: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    expr(ExprKind::Binary(operator, Box::new(left), Box::new(right)), span)
}

/// Returns the conjunction; the second operand is evaluated only if the first holds.
fn and(left: Expr, right: Expr) -> Expr {
    let span = left.span;
    binary(BinaryOp::And, left, right, span)
}

impl<'l, 'n> TransitionBinding<'l, 'n> {
    /// Assigns locals, from this number on, to the variables of a transition.
    fn of(lowering: &'l NetLowering<'n>, transition: &PetriTransition, next: u32) -> Self {
        let mut used = Vec::new();
        let mut note = |part: &ColourComponent| used.extend(part.variable());
        if let Some(condition) = &transition.condition {
            condition.visit_comparisons(&mut |_, _, sides| sides.iter().for_each(&mut note));
        }
        let parts = transition.arcs.iter().flat_map(|it| &it.bag).flat_map(|it| &it.colour);
        parts.for_each(note);
        used.sort_unstable();
        used.dedup();
        let mut binding =
            TransitionBinding { lowering, locals: HashMap::new(), parameters: Vec::new(), next };
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

    /// Returns the conditions of a transition as a list of guards.
    fn guards(&mut self, transition: &PetriTransition) -> Vec<Expr> {
        let condition = transition.condition.as_ref().map(|it| self.condition(it));
        let mut guards: Vec<Expr> = condition.into_iter().collect();
        for flow in self.by_tokens(transition) {
            guards.extend(self.arc_guards(flow));
        }
        guards
    }

    /// Returns the arcs of a transition, those of places with the fewest initial tokens first, because their guards fail
    /// most often. Inhibitor arcs come last.
    fn by_tokens<'t>(&self, transition: &'t PetriTransition) -> Vec<&'t PetriArc> {
        let mut flows: Vec<&PetriArc> = transition.arcs.iter().collect();
        let tokens = |it: &PetriArc| self.lowering.counters[it.place].tokens;
        flows.sort_by_key(|it| (it.effect == ArcEffect::Inhibit, tokens(it)));
        flows
    }

    fn action(mut self, transition: &PetriTransition) -> Action {
        let guard = self.guards(transition).into_iter().reduce(and);
        let mut body = Vec::new();
        let mut places: Vec<usize> = transition.arcs.iter().map(|it| it.place).collect();
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
            control: ActionControl::default(),
            span: transition.span,
        }
    }

    fn condition(&self, ColourGuard { kind, span }: &ColourGuard) -> Expr {
        match kind {
            ColourGuardKind::Known(is_so) => Expr::constant(i64::from(*is_so), *span),
            ColourGuardKind::Not(inner) => {
                expr(ExprKind::Unary(UnaryOp::Not, Box::new(self.condition(inner))), *span)
            }
            ColourGuardKind::Joined(operator, all) => {
                let each = all.iter().map(|it| self.condition(it)).collect();
                let all = trees::joined(each, |left, right| binary(*operator, left, right, *span));
                all.unwrap_or_else(|| unreachable!("at least one is joined"))
            }
            ColourGuardKind::Compared(operator, class, sides) => {
                let [left, right] = sides.map(|it| self.value(it, *class, None, *span));
                binary(*operator, left, right, *span)
            }
        }
    }

    /// Returns a value of a class; `each` is the local for a component that is all values.
    fn value(
        &self,
        part: ColourComponent,
        class: ClassId,
        each: Option<LocalId>,
        span: Span,
    ) -> Expr {
        let LoweredClass { low, size, .. } = self.lowering.classes[class];
        match part {
            ColourComponent::Constant(position) => Expr::constant(low + i64::from(position), span),
            ColourComponent::All => {
                expr(each.map_or(ExprKind::Constant(low), ExprKind::Local), span)
            }
            ColourComponent::Variable(variable, shift) => {
                let it = expr(ExprKind::Local(self.locals[&variable]), span);
                if shift == 0 {
                    return it;
                }
                let (shift, size) = (i64::from(shift), i64::from(size));
                // Values before the end are shifted; the last ones wrap around.
                let bend = low + size - shift;
                let piece = |low, high, by| ConversionPiece { low, high, by };
                let pieces =
                    vec![piece(low, bend - 1, shift), piece(bend, low + size - 1, shift - size)];
                expr(ExprKind::Convert(Box::new(NumberConversion { operand: it, pieces })), span)
            }
            ColourComponent::Element(variable, shift, partition) => {
                let ClassPartition { base, element_of, .. } =
                    &self.lowering.net.colours.partitions[partition];
                let value =
                    self.value(ColourComponent::Variable(variable, shift), *base, None, span);
                let from = self.lowering.classes[*base].low;
                let elements = element_of.iter().map(|it| low + i64::from(*it)).zip(from..);
                let mut runs: Vec<(i64, i64)> = Vec::new();
                for (element, last) in elements {
                    match runs.last_mut() {
                        Some(run) if run.0 == element => run.1 = last,
                        _ => runs.push((element, last)),
                    }
                }
                run_index(&value, &runs)
            }
        }
    }

    /// Returns a loop for each component of a colour that is all values.
    fn class_loops(&mut self, place: usize, colour: &[ColourComponent]) -> ClassLoops {
        let sort = &self.lowering.net.places[place].sort;
        let all = colour.iter().zip(sort).filter(|(part, _)| **part == ColourComponent::All);
        all.map(|(_, class)| self.fresh(*class)).collect()
    }

    /// Returns a colour of a place, where `over` has the locals for components that are all values.
    fn located_colour<'c>(
        &self,
        place: usize,
        colour: &'c [ColourComponent],
        over: &ClassLoops,
        span: Span,
    ) -> LocatedColour<'c> {
        let sort = &self.lowering.net.places[place].sort;
        let mut each = over.iter().map(|it| it.0);
        let values = colour.iter().zip(sort).map(|(part, class)| {
            let each = if *part == ColourComponent::All { each.next() } else { None };
            self.value(*part, *class, each, span)
        });
        LocatedColour { place, colour, values: values.collect(), span }
    }

    fn counter(&self, place: usize, values: &[Expr], span: Span) -> ir::Place {
        self.lowering.counter(place, values.iter().cloned(), span)
    }

    /// Returns the number of tokens of a bag that have a colour.
    fn tokens(&self, at: &LocatedColour<'_>, bag: &[BagAddend]) -> Expr {
        let &LocatedColour { place, colour, ref values, span } = at;
        let sort = &self.lowering.net.places[place].sort;
        let (mut known, mut terms) = (0, Vec::new());
        for it in bag {
            let mut same = Some(None);
            for (number, part) in it.colour.iter().enumerate() {
                let at = (*part, colour[number]);
                let asked = match at {
                    (ColourComponent::All, _) => continue,
                    (one, other) if one == other => continue,
                    (ColourComponent::Constant(_), ColourComponent::Constant(_)) => None,
                    (ColourComponent::Variable(one, _), ColourComponent::Variable(other, _))
                        if one == other =>
                    {
                        None
                    }
                    _ => {
                        let value = self.value(*part, sort[number], None, span);
                        Some(binary(BinaryOp::Equal, value, values[number].clone(), span))
                    }
                };
                same = same.zip(asked).map(|(before, asked): (Option<Expr>, Expr)| match before {
                    None => Some(asked),
                    Some(before) => Some(binary(BinaryOp::And, before, asked, span)),
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
        match trees::joined(terms, |sum, it| binary(BinaryOp::Add, sum, it, span)) {
            None => Expr::constant(known, span),
            Some(sum) if known == 0 => sum,
            Some(sum) => binary(BinaryOp::Add, sum, Expr::constant(known, span), span),
        }
    }

    /// Returns the guards of an arc.
    fn arc_guards(&mut self, flow: &PetriArc) -> Vec<Expr> {
        let (operator, bag) = match flow.effect {
            ArcEffect::Take | ArcEffect::Test => {
                (BinaryOp::GreaterEqual, combine_addends(flow.bag.clone()))
            }
            ArcEffect::Inhibit => (BinaryOp::Less, combine_addends(flow.bag.clone())),
            ArcEffect::Put | ArcEffect::Reset => return Vec::new(),
        };
        let asks = |it: &&BagAddend| it.times > 0;
        let colours: Vec<Vec<ColourComponent>> =
            bag.iter().filter(asks).map(|it| it.colour.clone()).collect();
        let each = colours.iter().map(|colour| {
            let over = self.class_loops(flow.place, colour);
            let at = self.located_colour(flow.place, colour, &over, flow.span);
            let wanted = self.tokens(&at, &bag);
            let place = self.counter(flow.place, &at.values, flow.span);
            let there = expr(ExprKind::Read(place), flow.span);
            let mut asked = binary(operator, there, wanted.clone(), flow.span);
            if operator == BinaryOp::Less && subtracts(&bag) {
                // Colours outside the bag are not restricted.
                let none =
                    binary(BinaryOp::LessEqual, wanted, Expr::constant(0, flow.span), flow.span);
                asked = binary(BinaryOp::Or, none, asked, flow.span);
            }
            over.into_iter().rev().fold(asked, |body, (local, over)| {
                let (quantifier, body) = (Quantifier::All, Box::new(body));
                expr(ExprKind::Quantified { quantifier, local, over, body }, flow.span)
            })
        });
        each.collect()
    }

    /// Returns the statements that change the tokens of a place.
    fn changes(&mut self, place: usize, transition: &PetriTransition) -> Vec<Stmt> {
        let flows = || transition.arcs.iter().filter(|it| it.place == place);
        let (mut change, mut body) = (Vec::new(), Vec::new());
        for flow in flows() {
            let sign = match flow.effect {
                ArcEffect::Take if flows().all(|it| it.effect != ArcEffect::Reset) => -1,
                ArcEffect::Put => 1,
                ArcEffect::Reset => {
                    let target = self.counter(place, &[], flow.span);
                    body.push(Stmt { kind: StmtKind::Clear(target), span: flow.span });
                    continue;
                }
                ArcEffect::Take | ArcEffect::Test | ArcEffect::Inhibit => continue,
            };
            change.extend(
                flow.bag.iter().map(|it| BagAddend { times: sign * it.times, ..it.clone() }),
            );
        }
        let change = combine_addends(change);
        if flows().any(|it| subtracts(&it.bag)) && !change.is_empty() {
            // The sum is added at once: single addends of a bag with subtraction may be negative, but the sum is not.
            let (colour, span) =
                (vec![ColourComponent::All; change[0].colour.len()], change[0].span);
            body.push(self.add(place, &colour, &change, span));
            return body;
        }
        let (less, more): (Vec<BagAddend>, Vec<BagAddend>) =
            change.into_iter().partition(|it| it.times < 0);
        for it in less.into_iter().chain(more) {
            body.push(self.add(place, &it.colour, std::slice::from_ref(&it), it.span));
        }
        body
    }

    /// Adds the tokens of a bag to the counters of a colour.
    fn add(
        &mut self,
        place: usize,
        colour: &[ColourComponent],
        change: &[BagAddend],
        span: Span,
    ) -> Stmt {
        let over = self.class_loops(place, colour);
        let at = self.located_colour(place, colour, &over, span);
        let by = self.tokens(&at, change);
        let target = self.counter(place, &at.values, span);
        let there = expr(ExprKind::Read(target.clone()), span);
        let value = match by.as_constant() {
            Some(by) if by < 0 => {
                binary(BinaryOp::Subtract, there, Expr::constant(-by, span), span)
            }
            _ => binary(BinaryOp::Add, there, by, span),
        };
        let overflow = self.lowering.counters[place].overflow;
        let assign = Stmt { kind: StmtKind::Assign { target, value, overflow }, span };
        over.into_iter().rev().fold(assign, |body, (local, over)| Stmt {
            kind: StmtKind::ForEach { local, over, body: vec![body] },
            span,
        })
    }
}

/// Returns the number of the run that contains a value. Each run of consecutive values has a number and a last value.
fn run_index(value: &Expr, runs: &[(i64, i64)]) -> Expr {
    let span = value.span;
    if let [(number, _)] = runs {
        return Expr::constant(*number, span);
    }
    // Bisection keeps the nesting low for any number of runs.
    let (first, second) = runs.split_at(runs.len() / 2);
    let last = Expr::constant(first.last().map_or(0, |it| it.1), span);
    let is_first = binary(BinaryOp::LessEqual, value.clone(), last, span);
    let [first, second] = [first, second].map(|it| Box::new(run_index(value, it)));
    expr(ExprKind::Conditional(Box::new(is_first), first, second), span)
}

/// Returns whether the bag subtracts tokens.
fn subtracts(bag: &[BagAddend]) -> bool {
    bag.iter().any(|it| it.times < 0)
}

/// Combines the addends of each colour.
fn combine_addends(bag: Vec<BagAddend>) -> Vec<BagAddend> {
    let mut all: Vec<BagAddend> = Vec::new();
    for it in bag {
        match all.iter_mut().find(|known| known.colour == it.colour) {
            Some(known) => known.times += it.times,
            None => all.push(it),
        }
    }
    all.retain(|it| it.times != 0);
    all
}
