//! Levels of expressions, and the rules of the language about them.
//!
//! The level of a call depends on the levels of its arguments, and the body limits the level of each argument: `p'` in
//! the body allows a state expression at most. So each parameter has a greatest level, and a mark whether the level of
//! its argument counts. Both are computed together with the levels of the definitions, as a least fixed point: levels
//! only rise, and limits only fall.

use super::expr::{Argument, BinaryOperator, Bound, Expr, ExprKind, OperatorValue, UnaryOperator};
use super::ids::{DefinitionId, ExprId, Slot};
use super::names::Symbol;
use super::operands::free_slots;
use super::resolver::{Resolver, SubstitutionLimit};
use super::tree::Definition;
use crate::level::Level;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// A set of parameters of a definition: those whose level counts. Parameters beyond the 64th are not in it.
type Parameters = u64;

/// The facts about an expression.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct ExpressionFacts {
    level: Level,
    parameters: Parameters,
}

impl ExpressionFacts {
    fn join(&mut self, other: ExpressionFacts) {
        self.level = self.level.max(other.level);
        self.parameters |= other.parameters;
    }
}

/// The facts about a definition.
#[derive(Clone, PartialEq, Eq)]
struct Signature {
    known: ExpressionFacts,
    /// The greatest level of each parameter.
    limits: Vec<Level>,
    /// The facts about the arguments to which each operator parameter is applied.
    applied: Vec<ExpressionFacts>,
}

/// A level that an operand exceeds.
pub(super) struct Excess {
    span: Span,
    message: String,
    help: &'static str,
}

impl Resolver<'_> {
    /// Reports all expressions whose level exceeds a limit.
    pub(super) fn check_levels(&mut self) {
        for Excess { span, message, help } in self.compute_levels() {
            self.report(Diagnostic::error(span, message).help(help));
        }
        self.check_substitutions();
    }

    /// Computes the levels of all expressions and definitions. Returns what exceeds its limit.
    pub(super) fn compute_levels(&mut self) -> Vec<Excess> {
        let count = self.definitions.len();
        let ranges = ranges(&self.definitions, self.arena.expressions.len());
        let mut pass = Pass {
            expressions: &self.arena.expressions,
            definitions: &self.definitions,
            signatures: self.definitions.iter().map(first_signature).collect(),
            known: vec![ExpressionFacts::default(); self.arena.expressions.len()],
            values: Vec::new(),
            excesses: None,
        };
        loop {
            let before = pass.signatures.clone();
            (0..count).for_each(|it| pass.definition(it, &ranges[it]));
            if pass.signatures == before {
                break;
            }
        }
        pass.excesses = Some(Vec::new());
        (0..count).for_each(|it| pass.definition(it, &ranges[it]));
        let Pass { signatures, known, excesses, .. } = pass;
        for (expr, known) in self.arena.expressions.iter_mut().zip(known) {
            expr.level = known.level;
        }
        for (definition, signature) in self.definitions.iter_mut().zip(signatures) {
            definition.level = signature.known.level;
            for (index, parameter) in definition.parameters.iter_mut().enumerate() {
                parameter.level_max = signature.limits[index];
                parameter.is_level_counted = signature.known.parameters & bit(index) != 0;
            }
        }
        excesses.unwrap_or_default()
    }

    /// Checks the levels of the substitutions of instances.
    fn check_substitutions(&mut self) {
        for limit in std::mem::take(&mut self.limits) {
            let level = match limit.symbol {
                Symbol::Variable(_) => Level::State,
                Symbol::Entry(entry) => match self.entry(entry).definition {
                    Some(definition) => self.definitions[definition.index()].level,
                    None => continue,
                },
                _ => continue,
            };
            self.check_leibniz(&limit);
            if level > limit.level {
                let message = format!(
                    "an expression of {level} level {}, which takes {} level at most",
                    limit.message, limit.level
                );
                let help = "substitute another expression";
                self.report(Diagnostic::error(limit.span, message).help(help));
            }
        }
    }
}

impl Resolver<'_> {
    /// Reports an operator that is substituted and primes its argument: equal arguments need not give equal values.
    fn check_leibniz(&mut self, limit: &SubstitutionLimit) {
        let Symbol::Entry(entry) = limit.symbol else { return };
        let Some(definition) = self.entry(entry).definition else { return };
        let definition = &self.definitions[definition.index()];
        let parameters = definition.parameters.iter().skip(definition.captured);
        if parameters.clone().any(|it| it.level_max < Level::Action) {
            let message = format!("an operator that primes its argument {}", limit.message);
            let help =
                "substitute an operator whose value depends on the values of its arguments only";
            self.report(Diagnostic::error(limit.span, message).help(help));
        }
    }
}

/// The expressions of a definition: those from `start` up to its body.
pub(super) struct Range {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns the expressions of each definition. Bodies are built one after the other.
pub(super) fn ranges(definitions: &[Definition], count: usize) -> Vec<Range> {
    let mut order: Vec<usize> = (0..definitions.len()).collect();
    order.sort_by_key(|&it| definitions[it].body);
    let mut ranges: Vec<Range> = definitions.iter().map(|_| Range { start: 0, end: 0 }).collect();
    let mut start = 0;
    for it in order {
        let end = (definitions[it].body.index() + 1).min(count);
        ranges[it] = Range { start: start.min(end), end };
        start = end;
    }
    ranges
}

fn first_signature(definition: &Definition) -> Signature {
    let count = definition.parameters.len();
    let (limits, applied) = (vec![Level::Temporal; count], vec![ExpressionFacts::default(); count]);
    Signature { known: ExpressionFacts::default(), limits, applied }
}

fn bit(parameter: usize) -> Parameters {
    if parameter < 64 { 1 << parameter } else { 0 }
}

/// One pass over the definitions.
struct Pass<'s> {
    expressions: &'s [Expr],
    definitions: &'s [Definition],
    signatures: Vec<Signature>,
    known: Vec<ExpressionFacts>,
    /// The LET value of each slot of the present definition.
    values: Vec<Option<ExprId>>,
    /// What exceeds its limit, in the last pass.
    excesses: Option<Vec<Excess>>,
}

impl Pass<'_> {
    fn definition(&mut self, index: usize, range: &Range) {
        let definition = &self.definitions[index];
        self.values = vec![None; definition.slots as usize];
        for expr in &self.expressions[range.start..range.end] {
            if let ExprKind::Let { bindings, .. } = &expr.kind {
                for binding in bindings {
                    self.values[binding.slot.index()] = Some(binding.value);
                }
            }
        }
        for at in range.start..range.end {
            self.known[at] = self.expression(index, &self.expressions[at].kind);
        }
        self.signatures[index].known.join(self.known[definition.body.index()]);
    }

    fn of(&self, expr: ExprId) -> ExpressionFacts {
        self.known[expr.index()]
    }

    /// Returns the facts about a slot's value.
    fn slot(&self, definition: usize, slot: Slot) -> ExpressionFacts {
        if slot.index() < self.definitions[definition].parameters.len() {
            return ExpressionFacts { level: Level::Constant, parameters: bit(slot.index()) };
        }
        match self.values.get(slot.index()) {
            Some(Some(value)) => self.of(*value),
            _ => ExpressionFacts::default(),
        }
    }

    /// Requires a level of an expression: of itself, and of the arguments of its parameters.
    fn limit(&mut self, definition: usize, expr: ExprId, level: Level, what: &str) {
        let known = self.of(expr);
        for (index, limit) in self.signatures[definition].limits.iter_mut().enumerate() {
            if known.parameters & bit(index) != 0 {
                *limit = (*limit).min(level);
            }
        }
        if known.level > level {
            let message =
                format!("{what} has {} level, and can have {level} level at most", known.level);
            self.exceed(expr, message, help_for(level));
        }
    }

    fn exceed(&mut self, expr: ExprId, message: String, help: &'static str) {
        let span = self.expressions[expr.index()].span;
        if let Some(excesses) = &mut self.excesses {
            excesses.push(Excess { span, message, help });
        }
    }

    fn expression(&mut self, definition: usize, kind: &ExprKind) -> ExpressionFacts {
        let mut known = ExpressionFacts::default();
        match kind {
            ExprKind::Variable(_) => known.level = Level::State,
            ExprKind::Local(slot) => known = self.slot(definition, *slot),
            ExprKind::Apply { definition: called, arguments } => {
                known = self.call(definition, *called, arguments);
            }
            ExprKind::ApplyLocal { operator, arguments } => {
                known = self.call_local(definition, *operator, arguments);
            }
            ExprKind::Standard { operator, arguments } => {
                known.level = operator.level();
                for argument in arguments {
                    if let Argument::Expression(expr) = argument {
                        self.limit(definition, *expr, Level::Action, "an argument");
                    }
                    known.join(self.argument(definition, argument));
                }
            }
            ExprKind::Unary { operator, operand } => {
                known = self.unary(definition, *operator, *operand);
            }
            ExprKind::Binary { operator, left, right } => {
                known = self.binary(definition, *operator, *left, *right);
            }
            ExprKind::BoxAction { action, subscript }
            | ExprKind::AngleAction { action, subscript } => {
                self.stuttering_step(definition, *action, *subscript);
                known.level = Level::Action;
            }
            ExprKind::WeakFairness { subscript, action }
            | ExprKind::StrongFairness { subscript, action } => {
                self.stuttering_step(definition, *action, *subscript);
                known.level = Level::Temporal;
            }
            ExprKind::TemporalQuantified { .. } => known.level = Level::Temporal,
            ExprKind::And(items) | ExprKind::Or(items) => known = self.junction(items),
            ExprKind::Quantified { bounds, body, .. } => {
                known = self.bounded(definition, bounds, *body);
                let action = bounds.iter().find(|it| self.of(it.set).level == Level::Action);
                if let (Level::Temporal, Some(bound)) = (known.level, action) {
                    let message = "the set for a temporal formula is an action".to_owned();
                    self.exceed(bound.set, message, "use no primed variables in the set");
                }
            }
            ExprKind::Let { body, .. } | ExprKind::Unbounded { body, .. } => known = self.of(*body),
            ExprKind::If { .. } | ExprKind::Case { .. } | ExprKind::Record(_) => {
                kind.for_each_operand(&mut |it| known.join(self.of(it)));
            }
            ExprKind::Function { bounds, body, .. } => {
                known = self.bounded(definition, bounds, *body);
            }
            ExprKind::Undefined { level, .. } => known.level = *level,
            _ => known = self.values(definition, kind),
        }
        known
    }

    /// Returns the facts about the call of a parameter.
    fn call_local(
        &mut self,
        definition: usize,
        operator: Slot,
        arguments: &[Argument],
    ) -> ExpressionFacts {
        let mut known = self.slot(definition, operator);
        for argument in arguments {
            let argument = self.argument(definition, argument);
            known.join(argument);
            if let Some(it) = self.signatures[definition].applied.get_mut(operator.index()) {
                it.join(argument);
            }
        }
        known
    }

    /// Checks an action with a subscript.
    fn stuttering_step(&mut self, definition: usize, action: ExprId, subscript: ExprId) {
        self.limit(definition, action, Level::Action, "the action");
        self.limit(definition, subscript, Level::State, "the subscript");
    }

    /// Returns the facts about an operator on values, whose operands are no temporal formulas.
    fn values(&mut self, definition: usize, kind: &ExprKind) -> ExpressionFacts {
        let (mut operands, mut known) = (Vec::new(), ExpressionFacts::default());
        kind.for_each_operand(&mut |it| operands.push(it));
        for operand in operands {
            self.limit(definition, operand, Level::Action, "the operand");
            known.join(self.of(operand));
        }
        known
    }

    /// Returns the facts about a body with bound variables.
    fn bounded(&mut self, definition: usize, bounds: &[Bound], body: ExprId) -> ExpressionFacts {
        let mut known = self.of(body);
        for bound in bounds {
            self.limit(definition, bound.set, Level::Action, "the set");
            known.join(self.of(bound.set));
        }
        known
    }

    fn junction(&mut self, items: &[ExprId]) -> ExpressionFacts {
        let mut known = ExpressionFacts::default();
        items.iter().for_each(|it| known.join(self.of(*it)));
        let action = items.iter().find(|it| self.of(**it).level == Level::Action);
        if let (Level::Temporal, Some(&action)) = (known.level, action) {
            let message = "an action is joined with a temporal formula".to_owned();
            self.exceed(action, message, "write `[][A]_v` or `<><<A>>_v`");
        }
        known
    }

    /// Returns the facts about an argument.
    fn argument(&mut self, definition: usize, argument: &Argument) -> ExpressionFacts {
        match argument {
            Argument::Expression(expr) => self.of(*expr),
            Argument::Operator(OperatorValue::Local(slot)) => self.slot(definition, *slot),
            Argument::Operator(OperatorValue::Definition { definition: called, captured }) => {
                self.call(definition, *called, captured)
            }
            Argument::Operator(OperatorValue::Unary(operator)) => {
                ExpressionFacts { level: unary_level(*operator), parameters: 0 }
            }
            Argument::Operator(OperatorValue::Binary(operator)) => {
                ExpressionFacts { level: binary_level(*operator), parameters: 0 }
            }
            Argument::Operator(_) => ExpressionFacts::default(),
        }
    }

    fn call(
        &mut self,
        definition: usize,
        called: DefinitionId,
        arguments: &[Argument],
    ) -> ExpressionFacts {
        let Signature { known: own, limits, applied } = self.signatures[called.index()].clone();
        let mut known = ExpressionFacts { level: own.level, parameters: 0 };
        for (index, argument) in arguments.iter().enumerate() {
            if let (Argument::Expression(expr), Some(&limit)) = (argument, limits.get(index)) {
                let name = &self.definitions[called.index()];
                let parameter = &name.parameters[index].name;
                let what = format!("the argument `{parameter}` of `{}`", name.name);
                self.limit(definition, *expr, limit, &what);
            }
            if let Argument::Operator(value) = argument {
                self.pass_operator(definition, value, applied[index], arguments);
            }
            let argument = self.argument(definition, argument);
            if own.parameters & bit(index) != 0 || index >= 64 {
                known.join(argument);
            }
        }
        known
    }

    /// Checks that an operator accepts the arguments to which a definition applies it.
    fn pass_operator(
        &mut self,
        definition: usize,
        value: &OperatorValue,
        applied: ExpressionFacts,
        arguments: &[Argument],
    ) {
        let mut known = ExpressionFacts { level: applied.level, parameters: 0 };
        let mut place = None;
        for (index, argument) in arguments.iter().enumerate() {
            if let Argument::Expression(expr) = argument {
                place = place.or(Some(*expr));
                if applied.parameters & bit(index) != 0 {
                    known.join(self.of(*expr));
                }
            }
        }
        if let OperatorValue::Local(slot) = value {
            if let Some(it) = self.signatures[definition].applied.get_mut(slot.index()) {
                it.join(known);
            }
            return;
        }
        let limit = self.operator_limit(value);
        if known.level > limit {
            let message = format!(
                "an operator that takes {limit} level at most is applied to an expression of {} level",
                known.level
            );
            let place = place.unwrap_or(self.definitions[definition].body);
            self.exceed(place, message, "pass another operator");
        }
    }

    /// Returns the greatest level that each parameter of an operator takes.
    fn operator_limit(&self, value: &OperatorValue) -> Level {
        match value {
            OperatorValue::Unary(operator) => unary_limit(*operator),
            OperatorValue::Definition { definition, captured } => {
                let limits = &self.signatures[definition.index()].limits;
                limits.iter().skip(captured.len()).copied().min().unwrap_or(Level::Temporal)
            }
            _ => Level::Temporal,
        }
    }

    fn unary(
        &mut self,
        definition: usize,
        operator: UnaryOperator,
        operand: ExprId,
    ) -> ExpressionFacts {
        let what = match operator {
            UnaryOperator::Prime => "the operand of `'`",
            UnaryOperator::Unchanged => "the operand of `UNCHANGED`",
            UnaryOperator::Enabled => "the operand of `ENABLED`",
            _ => "the operand",
        };
        self.limit(definition, operand, unary_limit(operator), what);
        self.check_stuttering(operator, operand);
        let known = self.of(operand);
        match unary_level(operator) {
            Level::Constant => known,
            // The limit on the operand makes this the level of the whole, whatever the arguments are.
            level => ExpressionFacts { level, parameters: 0 },
        }
    }

    /// Checks that an action below `[]` or `<>` is insensitive to stuttering.
    fn check_stuttering(&mut self, operator: UnaryOperator, operand: ExprId) {
        let kind = &self.expressions[operand.index()].kind;
        let is_action = self.of(operand).level == Level::Action;
        let is_call = matches!(kind, ExprKind::Apply { .. } | ExprKind::Local(_));
        match (operator, kind) {
            (UnaryOperator::Always, ExprKind::BoxAction { .. }) => {}
            (UnaryOperator::Eventually, ExprKind::AngleAction { .. }) => {}
            (UnaryOperator::Always, _) if is_action => {
                let message = match is_call {
                    true => "`[]` precedes the name of an action".to_owned(),
                    false => "`[]` precedes an action that is not `[A]_v`".to_owned(),
                };
                self.exceed(operand, message, "write `[][A]_v`");
            }
            (UnaryOperator::Eventually, _) if is_action => {
                let message = "`<>` precedes an action that is not `<<A>>_v`".to_owned();
                self.exceed(operand, message, "write `<><<A>>_v`");
            }
            _ => {}
        }
    }

    fn binary(
        &mut self,
        definition: usize,
        operator: BinaryOperator,
        left: ExprId,
        right: ExprId,
    ) -> ExpressionFacts {
        use BinaryOperator::{Compose, Equivalent, Guarantees, Implies, LeadsTo};
        let mut known = self.of(left);
        known.join(self.of(right));
        match operator {
            Implies | Equivalent => return self.junction(&[left, right]),
            LeadsTo | Guarantees => {
                for operand in [left, right] {
                    if self.of(operand).level == Level::Action {
                        let message = "an action is an operand of a temporal operator".to_owned();
                        self.exceed(
                            operand,
                            message,
                            "use a state predicate or a temporal formula",
                        );
                    }
                }
            }
            Compose => {}
            _ => {}
        }
        if !matches!(operator, LeadsTo | Guarantees) {
            for operand in [left, right] {
                self.limit(definition, operand, Level::Action, "the operand");
            }
        }
        known.level = known.level.max(binary_level(operator));
        known
    }
}

/// Returns the level of an operator on constants.
fn unary_level(operator: UnaryOperator) -> Level {
    match operator {
        UnaryOperator::Prime | UnaryOperator::Unchanged => Level::Action,
        UnaryOperator::Enabled => Level::State,
        UnaryOperator::Always | UnaryOperator::Eventually => Level::Temporal,
        _ => Level::Constant,
    }
}

/// Returns the greatest level of an operand.
fn unary_limit(operator: UnaryOperator) -> Level {
    match operator {
        UnaryOperator::Prime | UnaryOperator::Unchanged => Level::State,
        UnaryOperator::Not | UnaryOperator::Always | UnaryOperator::Eventually => Level::Temporal,
        _ => Level::Action,
    }
}

/// Returns the level of an operator on constants.
fn binary_level(operator: BinaryOperator) -> Level {
    match operator {
        BinaryOperator::Compose => Level::Action,
        BinaryOperator::LeadsTo | BinaryOperator::Guarantees => Level::Temporal,
        _ => Level::Constant,
    }
}

fn help_for(level: Level) -> &'static str {
    match level {
        Level::Constant => "use no variables here",
        Level::State => "use no primed variables and no actions here",
        Level::Action => "use no temporal operators here",
        Level::Temporal => "",
    }
}

impl Resolver<'_> {
    /// Computes for each expression whether it uses slots that it does not bind.
    pub(super) fn compute_frame_use(&mut self) {
        let free = free_slots(&self.arena.expressions);
        for (expr, slots) in self.arena.expressions.iter_mut().zip(free) {
            expr.uses_frame = !slots.is_empty();
        }
    }
}
