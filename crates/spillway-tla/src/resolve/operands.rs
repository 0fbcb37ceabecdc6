//! The operands of expressions.

use super::expr::{
    Argument, Bound, ExceptStep, ExceptUpdate, Expr, ExprKind, OperatorValue, Pattern,
};
use super::ids::{DefinitionId, ExprId, Slot};
use super::operators::StandardOperator;

impl Argument {
    /// Calls a function for each expression of the argument.
    pub fn for_each_operand(&self, call: &mut dyn FnMut(ExprId)) {
        match self {
            Argument::Expression(expr) => call(*expr),
            Argument::Operator(OperatorValue::Definition { captured, .. }) => {
                captured.iter().for_each(|it| it.for_each_operand(call));
            }
            Argument::Operator(_) => {}
        }
    }
}

impl Argument {
    /// Calls a function for each operator that is passed, also as an argument that another one captures.
    fn for_each_operator(&self, call: &mut dyn FnMut(&OperatorValue)) {
        if let Argument::Operator(operator) = self {
            call(operator);
            if let OperatorValue::Definition { captured, .. } = operator {
                captured.iter().for_each(|it| it.for_each_operator(call));
            }
        }
    }
}

impl ExprKind {
    /// Returns the arguments of a call; none for other expressions.
    fn arguments(&self) -> &[Argument] {
        match self {
            ExprKind::Apply { arguments, .. }
            | ExprKind::ApplyLocal { arguments, .. }
            | ExprKind::Standard { arguments, .. }
            | ExprKind::Undefined { arguments, .. } => arguments,
            _ => &[],
        }
    }

    /// Calls a function for each operator that the expression itself passes, without those of its operands.
    fn for_each_operator(&self, call: &mut dyn FnMut(&OperatorValue)) {
        self.arguments().iter().for_each(|it| it.for_each_operator(call));
    }

    /// Calls a function for each definition that the expression itself calls or passes, without those of its operands.
    pub fn for_each_definition(&self, call: &mut dyn FnMut(DefinitionId)) {
        if let ExprKind::Apply { definition, .. } = self {
            call(*definition);
        }
        self.for_each_operator(&mut |it| {
            if let OperatorValue::Definition { definition, .. } = it {
                call(*definition);
            }
        });
    }

    /// Calls a function for each standard operator that the expression itself calls or passes, without those of its
    /// operands.
    pub fn for_each_standard(&self, call: &mut dyn FnMut(StandardOperator)) {
        if let ExprKind::Standard { operator, .. } = self {
            call(*operator);
        }
        self.for_each_operator(&mut |it| {
            if let OperatorValue::Standard(operator) = it {
                call(*operator);
            }
        });
    }

    /// Calls a function for each slot that the expression itself uses, without those of its operands.
    fn for_each_slot(&self, call: &mut dyn FnMut(Slot)) {
        if let ExprKind::Local(slot) | ExprKind::ApplyLocal { operator: slot, .. } = self {
            call(*slot);
        }
        self.for_each_operator(&mut |it| {
            if let OperatorValue::Local(slot) = it {
                call(*slot);
            }
        });
    }

    /// Calls a function for each operand, in the order of the text.
    pub fn for_each_operand(&self, call: &mut dyn FnMut(ExprId)) {
        match self {
            ExprKind::Boolean(_)
            | ExprKind::Integer(_)
            | ExprKind::Decimal(_)
            | ExprKind::String(_)
            | ExprKind::BooleanSet
            | ExprKind::StringSet
            | ExprKind::ModelValue(_)
            | ExprKind::Variable(_)
            | ExprKind::Constant(_)
            | ExprKind::Local(_) => {}
            ExprKind::Apply { .. }
            | ExprKind::ApplyLocal { .. }
            | ExprKind::Standard { .. }
            | ExprKind::Undefined { .. } => {
                self.arguments().iter().for_each(|it| it.for_each_operand(call));
            }
            ExprKind::Unary { operand, .. } => call(*operand),
            ExprKind::Binary { left: first, right: second, .. }
            | ExprKind::FunctionSet { domain: first, range: second }
            | ExprKind::ApplyFunction { function: first, argument: second }
            | ExprKind::BoxAction { action: first, subscript: second }
            | ExprKind::AngleAction { action: first, subscript: second }
            | ExprKind::WeakFairness { subscript: first, action: second }
            | ExprKind::StrongFairness { subscript: first, action: second } => {
                call(*first);
                call(*second);
            }
            ExprKind::And(items)
            | ExprKind::Or(items)
            | ExprKind::SetLiteral(items)
            | ExprKind::Tuple(items)
            | ExprKind::Product(items) => items.iter().for_each(|it| call(*it)),
            ExprKind::If { condition, yes, no } => {
                [condition, yes, no].into_iter().for_each(|it| call(*it));
            }
            ExprKind::Case { arms, other } => {
                arms.iter().flat_map(|it| [it.guard, it.value]).chain(*other).for_each(call);
            }
            ExprKind::Quantified { .. }
            | ExprKind::SetMap { .. }
            | ExprKind::Function { .. }
            | ExprKind::Unbounded { .. }
            | ExprKind::TemporalQuantified { .. }
            | ExprKind::Choose { .. }
            | ExprKind::SetFilter { .. }
            | ExprKind::Let { .. } => self.for_each_in_binder(call),
            ExprKind::Field { record, .. } => call(*record),
            ExprKind::Record(fields) | ExprKind::RecordSet(fields) => {
                fields.iter().for_each(|it| call(it.value));
            }
            ExprKind::Except { function, updates } => {
                call(*function);
                updates.iter().for_each(|it| it.for_each_operand(call));
            }
        }
    }

    /// Calls a function for each operand of an expression that binds names.
    fn for_each_in_binder(&self, call: &mut dyn FnMut(ExprId)) {
        match self {
            ExprKind::Quantified { bounds, body, .. }
            | ExprKind::SetMap { bounds, body }
            | ExprKind::Function { bounds, body, .. } => {
                bounds.iter().for_each(|it| call(it.set));
                call(*body);
            }
            ExprKind::Unbounded { body, .. } | ExprKind::TemporalQuantified { body, .. } => {
                call(*body);
            }
            ExprKind::Choose { set, body, .. } => {
                set.iter().for_each(|it| call(*it));
                call(*body);
            }
            ExprKind::SetFilter { bound, body } => {
                call(bound.set);
                call(*body);
            }
            ExprKind::Let { bindings, body } => {
                bindings.iter().for_each(|it| call(it.value));
                call(*body);
            }
            _ => {}
        }
    }
}

impl ExceptUpdate {
    /// Calls a function for each expression of the update.
    fn for_each_operand(&self, call: &mut dyn FnMut(ExprId)) {
        for step in &self.path {
            if let ExceptStep::Index(index) = step {
                call(*index);
            }
        }
        call(self.value);
    }
}

impl ExprKind {
    /// Returns the slots that the expression binds itself, without those of its operands.
    pub fn bound_slots(&self) -> Vec<Slot> {
        let of_pattern = |pattern: &Pattern| match pattern {
            Pattern::Single(slot) => vec![*slot],
            Pattern::Tuple(slots) => slots.clone(),
        };
        let of_bounds = |bounds: &[Bound]| -> Vec<Slot> {
            bounds.iter().flat_map(|it| of_pattern(&it.pattern)).collect()
        };
        match self {
            ExprKind::Quantified { bounds, .. } | ExprKind::SetMap { bounds, .. } => {
                of_bounds(bounds)
            }
            ExprKind::Function { bounds, itself, .. } => {
                let mut slots = of_bounds(bounds);
                slots.extend(itself);
                slots
            }
            ExprKind::SetFilter { bound, .. } => of_pattern(&bound.pattern),
            ExprKind::Choose { pattern, .. } => of_pattern(pattern),
            ExprKind::Unbounded { slots, .. } => slots.clone(),
            ExprKind::Let { bindings, .. } => bindings.iter().map(|it| it.slot).collect(),
            ExprKind::Except { updates, .. } => updates.iter().filter_map(|it| it.old).collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns for each expression the slots that it uses and does not bind, sorted. Operands precede the expressions that
/// use them. No slot has two binders, so the scope of a binder does not matter.
pub fn free_slots(expressions: &[Expr]) -> Vec<Vec<Slot>> {
    let mut free: Vec<Vec<Slot>> = Vec::with_capacity(expressions.len());
    for Expr { kind, .. } in expressions {
        let mut slots = Vec::new();
        kind.for_each_operand(&mut |it| slots.extend(&free[it.index()]));
        kind.for_each_slot(&mut |it| slots.push(it));
        let bound = kind.bound_slots();
        slots.retain(|it| !bound.contains(it));
        slots.sort_unstable();
        slots.dedup();
        free.push(slots);
    }
    free
}
