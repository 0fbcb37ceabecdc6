//! Lowering of expressions to values.

use super::super::ast::{
    MultisetFilter, MurphiExpr as Tree, MurphiExprKind as TreeKind, MurphiQuantifier,
    QuantifierDomain, SourceName, TypeExpr,
};
use super::constant_folding::{binary, conditional, same, unary};
use super::places::{MultisetPlace, PlaceOrValue};
use super::sorts::ScalarSort;
use super::types::VALUES_MAX;
use super::{HoistPolicy, LocalKind, MurphiLowering, MurphiMeaning, prepend_hoisted};
use spillway_base::source::Span;
use spillway_ir::{
    BinaryOp, Expr, ExprKind, LocalId, OverflowRule, Place, Quantifier as Which, Stmt, StmtKind,
    TypeId, UnaryOp,
};

/// A condition under quantifiers.
#[derive(Clone, Copy)]
pub(super) struct QuantifiedCondition<'t, 'a> {
    /// Whether it must hold for all values or for some.
    pub(super) which: Which,
    /// The quantifiers, the outermost first.
    pub(super) quantifiers: &'t [MurphiQuantifier<'a>],
    pub(super) body: &'t Tree<'a>,
    pub(super) span: Span,
}

impl QuantifiedCondition<'_, '_> {
    /// Returns the condition within the outermost quantifier.
    pub(super) fn inner(self) -> Self {
        QuantifiedCondition { quantifiers: &self.quantifiers[1..], ..self }
    }
}

/// The elements of a multiset that satisfy a condition.
pub(super) struct LoweredFilter {
    /// The multiset.
    pub(super) multiset: Place,
    /// The type of the positions of its elements.
    pub(super) over: TypeId,
    /// The local that holds the position of an element in the condition.
    pub(super) local: LocalId,
    pub(super) condition: Expr,
}

impl<'a> MurphiLowering<'a, '_> {
    /// Returns the value of an expression.
    pub(super) fn value(&mut self, tree: &Tree<'a>) -> Option<(Expr, ScalarSort)> {
        let lowered = self.lower_place_or_value(tree)?;
        self.value_of(lowered)
    }

    /// Returns the value read at a place, or the value itself.
    fn value_of(&self, lowered: PlaceOrValue) -> Option<(Expr, ScalarSort)> {
        match lowered {
            PlaceOrValue::TypedPlace(part) => self.read(part),
            PlaceOrValue::Value(value, sort) => Some((value, sort)),
        }
    }

    /// Lowers an expression that is stored, passed or returned as a value of this sort; it may be `undefined`.
    pub(super) fn stored_value_as(&mut self, tree: &Tree<'a>, sort: &ScalarSort) -> Option<Expr> {
        match tree.kind {
            TreeKind::Undefined => Some(Expr::new(ExprKind::Undefined, tree.span)),
            _ => self.value_as(tree, sort),
        }
    }

    /// Returns the value of an expression, converted to this sort.
    pub(super) fn value_as(&mut self, tree: &Tree<'a>, sort: &ScalarSort) -> Option<Expr> {
        let (value, from) = self.value(tree)?;
        self.convert_sort(value, &from, sort, tree.span)
    }

    /// Returns the value of a condition.
    pub(super) fn condition(&mut self, tree: &Tree<'a>) -> Option<Expr> {
        self.value_as(tree, &ScalarSort::Bool)
    }

    /// Lowers an expression without hoisting, because no statement can precede it.
    pub(super) fn without_hoisting<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let hoists = std::mem::replace(&mut self.body.hoists, HoistPolicy::Nothing);
        let result = inside(self);
        self.body.hoists = hoists;
        result
    }

    /// Lowers an expression other than a name, a part or a call.
    pub(super) fn operation(&mut self, tree: &Tree<'a>) -> Option<(Expr, ScalarSort)> {
        let span = tree.span;
        match &tree.kind {
            TreeKind::Number(value) => Some((Expr::constant(*value, span), ScalarSort::Number)),
            TreeKind::Undefined => {
                let help = "it can be stored and given; to ask for it, use `isundefined`";
                self.error_with(span, "the undefined value cannot be computed with", help);
                None
            }
            TreeKind::Unary(operator, operand) => {
                let sort =
                    if *operator == UnaryOp::Not { ScalarSort::Bool } else { ScalarSort::Number };
                let operand = self.value_as(operand, &sort)?;
                Some((unary(*operator, operand, span), sort))
            }
            TreeKind::Binary(operator, left, right) => self.binary(*operator, left, right, span),
            TreeKind::Conditional(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                self.choice(condition, then, otherwise, span)
            }
            TreeKind::Quantified(which, quantifiers, body) => {
                let value = self.lower_quantifier(QuantifiedCondition {
                    which: *which,
                    quantifiers,
                    body,
                    span,
                })?;
                Some((value, ScalarSort::Bool))
            }
            TreeKind::IsUndefined(of) => self.is_undefined(of, span),
            TreeKind::IsMember(of, ty) => self.is_member(of, ty, span),
            TreeKind::Count(filter) => {
                let LoweredFilter { multiset, local, condition, .. } = self.lower_filter(filter)?;
                let kind = ExprKind::Count { multiset, local, body: Box::new(condition) };
                Some((Expr::new(kind, span), ScalarSort::Number))
            }
            _ => unreachable!("names, parts and calls are lowered by the caller"),
        }
    }

    fn binary(
        &mut self,
        operator: BinaryOp,
        left: &Tree<'a>,
        right: &Tree<'a>,
        span: Span,
    ) -> Option<(Expr, ScalarSort)> {
        match operator {
            BinaryOp::Equal | BinaryOp::NotEqual => self.equal(operator, left, right, span),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => {
                let (one, from) = self.value(left)?;
                if from == ScalarSort::Number && operator != BinaryOp::Implies {
                    // `&` and `|` of numbers are bitwise, as in Rumur.
                    let bitwise =
                        if operator == BinaryOp::And { BinaryOp::BitAnd } else { BinaryOp::BitOr };
                    let other = self.value_as(right, &ScalarSort::Number)?;
                    return Some((binary(bitwise, one, other, span), ScalarSort::Number));
                }
                let one = self.convert_sort(one, &from, &ScalarSort::Bool, left.span)?;
                self.connected(operator, one, right, span)
            }
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                let one = self.value_as(left, &ScalarSort::Number)?;
                let other = self.value_as(right, &ScalarSort::Number)?;
                Some((binary(operator, one, other, span), ScalarSort::Bool))
            }
            _ => {
                let one = self.value_as(left, &ScalarSort::Number)?;
                let other = self.value_as(right, &ScalarSort::Number)?;
                let value = match operator {
                    BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                        self.shift(operator, one, other, span)
                    }
                    _ => binary(operator, one, other, span),
                };
                Some((value, ScalarSort::Number))
            }
        }
    }

    /// Lowers `left = right` or `left != right`.
    fn equal(
        &mut self,
        operator: BinaryOp,
        left: &Tree<'a>,
        right: &Tree<'a>,
        span: Span,
    ) -> Option<(Expr, ScalarSort)> {
        let (one, other) = (self.lower_place_or_value(left)?, self.lower_place_or_value(right)?);
        let (one, other) = match (one, other) {
            (PlaceOrValue::TypedPlace(one), PlaceOrValue::TypedPlace(other))
                if self.is_aggregate(one.ty) && self.is_aggregate(other.ty) =>
            {
                return self.aggregates_compared(operator, one, other, span);
            }
            scalars => scalars,
        };
        let (one, from) = self.value_of(one)?;
        let (other, to) = self.value_of(other)?;
        let Some(common) = self.common_sort(&from, &to) else {
            let (from, to) = (self.sort_name(&from), self.sort_name(&to));
            let help = "what is compared must be of one type";
            self.error_with(span, format!("{from} is compared with {to}"), help);
            return None;
        };
        let one = self.convert_sort(one, &from, &common, left.span)?;
        let other = self.convert_sort(other, &to, &common, right.span)?;
        if !common.may_be_compared_undefined() {
            return Some((binary(operator, one, other, span), ScalarSort::Bool));
        }
        let same = same(one, other, span);
        let differ = operator == BinaryOp::NotEqual;
        Some((if differ { unary(UnaryOp::Not, same, span) } else { same }, ScalarSort::Bool))
    }

    /// Lowers `&`, `|` or `->`. The right side and the items hoisted from it must run only if needed.
    fn connected(
        &mut self,
        operator: BinaryOp,
        left: Expr,
        right: &Tree<'a>,
        span: Span,
    ) -> Option<(Expr, ScalarSort)> {
        let before = std::mem::take(&mut self.body.hoisted);
        let right = self.condition(right);
        let hoisted = std::mem::replace(&mut self.body.hoisted, before);
        let right = right?;
        if hoisted.is_empty() {
            return Some((binary(operator, left, right, span), ScalarSort::Bool));
        }
        let result = match operator {
            BinaryOp::Implies => unary(UnaryOp::Not, left, span),
            _ => left,
        };
        // The left side is computed once, into the result; the right side runs only if it decides the result.
        let truth = self.scalar_type(spillway_ir::Domain::Bool);
        let local = self.hoist_local(truth, span);
        let place = Place::local(local, span);
        self.hoist(assign(place.clone(), result, span));
        let known = Expr::new(ExprKind::Read(place.clone()), span);
        let runs = match operator {
            BinaryOp::And => known.clone(),
            _ => unary(UnaryOp::Not, known.clone(), span),
        };
        let body = prepend_hoisted(hoisted, vec![assign(place, right, span)]);
        self.hoist(Stmt { kind: StmtKind::If(vec![(Some(runs), body)]), span });
        Some((known, ScalarSort::Bool))
    }

    fn choice(
        &mut self,
        condition: Expr,
        then: &Tree<'a>,
        otherwise: &Tree<'a>,
        span: Span,
    ) -> Option<(Expr, ScalarSort)> {
        let (one, from) = self.outline_expression(then.span, |it| it.value(then))?;
        let (other, to) = self.outline_expression(otherwise.span, |it| it.value(otherwise))?;
        let Some(common) = self.common_sort(&from, &to) else {
            let (from, to) = (self.sort_name(&from), self.sort_name(&to));
            self.error(span, format!("this is either {from} or {to}"));
            return None;
        };
        let one = self.convert_sort(one, &from, &common, then.span)?;
        let other = self.convert_sort(other, &to, &common, otherwise.span)?;
        Some((conditional(condition, one, other, span), common))
    }

    /// Lowers `forall` or `exists` over the values of these quantifiers.
    pub(super) fn lower_quantifier(
        &mut self,
        condition: QuantifiedCondition<'_, 'a>,
    ) -> Option<Expr> {
        let QuantifiedCondition { which, quantifiers, body, span } = condition;
        let Some(first) = quantifiers.first() else {
            return self.pure_condition(body);
        };
        let bounds = match &first.over {
            QuantifierDomain::Type(_) => None,
            QuantifierDomain::Values { first, last, step } => {
                Some(self.bounds(first, last, step.as_ref())?)
            }
        };
        self.scopes.push();
        let ranged = match &bounds {
            None => self.bind_quantifier(first).map(Some),
            Some(bounds) => Some(self.known_values(first.name, bounds)),
        };
        let result = ranged.and_then(|ranged| match (ranged, bounds) {
            (Some((local, over)), _) => {
                let body = Box::new(self.lower_quantifier(condition.inner())?);
                let kind = ExprKind::Quantified { quantifier: which, local, over, body };
                Some(Expr::new(kind, span))
            }
            (None, Some(bounds)) => self.quantifier_loop(condition, bounds),
            (None, None) => None,
        });
        self.scopes.pop();
        result
    }

    /// Binds the name of a quantifier to the values between these bounds, if those are known and there are any.
    fn known_values(
        &mut self,
        name: SourceName<'a>,
        bounds: &[Expr; 3],
    ) -> Option<(LocalId, TypeId)> {
        let [first, last, step] = bounds.each_ref().map(Expr::as_constant);
        let (first, step) = (first?, step?);
        let rounds = rounds_between(first, last?, step)?;
        Some(self.counted(name, first, step, rounds))
    }

    /// Binds the name of a quantifier to its values. Returns the local and the type of its values.
    pub(super) fn bind_quantifier(
        &mut self,
        quantifier: &MurphiQuantifier<'a>,
    ) -> Option<(LocalId, TypeId)> {
        let MurphiQuantifier { name, over } = quantifier;
        match over {
            QuantifierDomain::Type(ty) => {
                let over = self.simple_type(ty, "a name")?;
                let sort = self.sort_of(over)?;
                let local = self.fresh(LocalKind::Value(over));
                let value = Expr::new(ExprKind::Local(local), name.span);
                self.declare(*name, MurphiMeaning::Value(value, sort));
                Some((local, over))
            }
            QuantifierDomain::Values { first, last, step } => {
                let (first, _) = self.constant_value(first)?;
                let (last, _) = self.constant_value(last)?;
                let step = match step {
                    Some(step) => self.constant_value(step)?.0,
                    None => 1,
                };
                let Some(rounds) = rounds_between(first, last, step) else {
                    let is_upward = step > 0 && first <= last;
                    let is_downward = step < 0 && first >= last;
                    let message = match is_upward || is_downward {
                        true => "this ranges over more than 2^48 - 1 values",
                        false => "this ranges over no values",
                    };
                    self.error(name.span, message);
                    return None;
                };
                Some(self.counted(*name, first, step, rounds))
            }
        }
    }

    /// Binds a name to `first` and to the values reached by `rounds` further steps.
    fn counted(
        &mut self,
        name: SourceName<'a>,
        first: i64,
        step: i64,
        rounds: i64,
    ) -> (LocalId, TypeId) {
        // The local counts the steps, unless the step is 1.
        let low = if step == 1 { first } else { 0 };
        let over = self.range_type(low, low + rounds);
        let local = self.fresh(LocalKind::Value(over));
        let value = Expr::new(ExprKind::Local(local), name.span);
        let value = match step {
            1 => value,
            _ => {
                let by = Expr::constant(step, name.span);
                let gone = binary(BinaryOp::Multiply, value, by, name.span);
                let first = Expr::constant(first, name.span);
                binary(BinaryOp::Add, first, gone, name.span)
            }
        };
        self.declare(name, MurphiMeaning::Value(value, ScalarSort::Number));
        (local, over)
    }

    fn is_undefined(&mut self, of: &Tree<'a>, span: Span) -> Option<(Expr, ScalarSort)> {
        match self.lower_place_or_value(of)? {
            PlaceOrValue::TypedPlace(part) => {
                let place = match self.read(part)?.0.kind {
                    ExprKind::Read(place) => place,
                    _ => unreachable!("a part is read"),
                };
                Some((Expr::new(ExprKind::IsUndefined(place), span), ScalarSort::Bool))
            }
            // Constants and loop variables always have a value.
            PlaceOrValue::Value(..) => Some((Expr::constant(0, span), ScalarSort::Bool)),
        }
    }

    fn is_member(
        &mut self,
        of: &Tree<'a>,
        ty: &TypeExpr<'a>,
        span: Span,
    ) -> Option<(Expr, ScalarSort)> {
        let (value, from) = self.value(of)?;
        let ty = self.simple_type(ty, "membership")?;
        let to = self.sort_of(ty)?;
        let mut found = Expr::constant(i64::from(from == to), span);
        if from != to {
            for piece in self.pieces(&from, &to) {
                let within = |operator, bound| {
                    binary(operator, value.clone(), Expr::constant(bound, span), span)
                };
                let low = within(BinaryOp::GreaterEqual, piece.low);
                let high = within(BinaryOp::LessEqual, piece.high);
                let inside = binary(BinaryOp::And, low, high, span);
                found = binary(BinaryOp::Or, found, inside, span);
            }
        }
        // An undefined value is a member of no type.
        if let ExprKind::Read(place) = value.kind {
            let undefined = Expr::new(ExprKind::IsUndefined(place), span);
            found = binary(BinaryOp::And, unary(UnaryOp::Not, undefined, span), found, span);
        }
        Some((found, ScalarSort::Bool))
    }

    /// Lowers the condition of a filter; a local holds the position of an element.
    pub(super) fn lower_filter(&mut self, filter: &MultisetFilter<'a>) -> Option<LoweredFilter> {
        let MultisetPlace { place, capacity, .. } = self.multiset(&filter.multiset)?;
        let over = self.range_type(0, i64::from(capacity) - 1);
        let local = self.fresh(LocalKind::Value(over));
        self.scopes.push();
        let position = Expr::new(ExprKind::Local(local), filter.name.span);
        self.declare(filter.name, MurphiMeaning::Value(position, ScalarSort::Number));
        let condition = self.pure_condition(&filter.condition);
        self.scopes.pop();
        Some(LoweredFilter { multiset: place, over, local, condition: condition? })
    }
}

/// Returns the number of steps from one number to another without passing it, or `None` if there is no value or too
/// many for a type.
fn rounds_between(first: i64, last: i64, step: i64) -> Option<i64> {
    // The distance between two 64-bit integers may not fit 64 bits.
    let distance = i128::from(last) - i128::from(first);
    let is_there = step != 0 && (distance == 0 || (distance > 0) == (step > 0));
    let rounds = is_there.then(|| distance / i128::from(step))?;
    (rounds < VALUES_MAX).then_some(rounds as i64)
}

/// Builds `target := value`.
pub(super) fn assign(target: Place, value: Expr, span: Span) -> Stmt {
    Stmt { kind: StmtKind::Assign { target, value, overflow: OverflowRule::Fails }, span }
}
