//! The places on which expressions depend, and the evaluation of expressions.

use crate::def_use::{HolderId, HolderNumbering};
use spillway_base::source::Span;
use spillway_ir::{Expr, ExprKind, Place, PlaceSelector, Program};

/// The part of the state on which an expression depends.
pub enum ExprDependence<'e> {
    /// None: it is a constant.
    Nothing,
    /// One place, which belongs to this holder.
    On(&'e Place, HolderId),
    /// More than one place, or something else.
    OnMore,
}

/// A value, `None` for an undefined value, or the failure of the evaluation.
pub type EvaluationResult = Result<Option<i64>, (Span, String)>;

/// Returns the part of the state on which an expression depends.
pub fn expr_dependence<'e>(
    program: &Program,
    holders: &HolderNumbering,
    expr: &'e Expr,
) -> ExprDependence<'e> {
    let of = |it| expr_dependence(program, holders, it);
    match &expr.kind {
        ExprKind::Constant(_) => ExprDependence::Nothing,
        ExprKind::Read(place) | ExprKind::IsUndefined(place) => holders
            .of_place(program, place)
            .map_or(ExprDependence::OnMore, |it| ExprDependence::On(place, it)),
        ExprKind::Unary(_, operand) => of(operand),
        ExprKind::Binary(_, left, right) => both(of(left), of(right)),
        ExprKind::Conditional(condition, then, otherwise) => {
            both(of(condition), both(of(then), of(otherwise)))
        }
        _ => ExprDependence::OnMore,
    }
}

fn both<'e>(one: ExprDependence<'e>, other: ExprDependence<'e>) -> ExprDependence<'e> {
    match (one, other) {
        (ExprDependence::Nothing, it) | (it, ExprDependence::Nothing) => it,
        (ExprDependence::On(place, holder), ExprDependence::On(other, _))
            if is_same(place, other) =>
        {
            ExprDependence::On(place, holder)
        }
        _ => ExprDependence::OnMore,
    }
}

/// Returns whether two places have the same text and so are the same in each state.
pub fn is_same(one: &Place, other: &Place) -> bool {
    let written = |it: &Place| {
        let mut place = it.clone();
        forget_spans(&mut place);
        place
    };
    one.root == other.root && written(one) == written(other)
}

/// Clears all spans of a place.
fn forget_spans(place: &mut Place) {
    place.span = Span::default();
    place.slot.iter_mut().for_each(|it| forget_in(it));
    for selector in &mut place.path {
        if let PlaceSelector::Index(index) = selector {
            forget_in(index);
        }
    }
}

/// Clears the spans of an index. Other kinds of expressions keep their spans, so they are equal only at one position
/// of the source.
fn forget_in(expr: &mut Expr) {
    expr.span = Span::default();
    match &mut expr.kind {
        ExprKind::Read(place) => forget_spans(place),
        ExprKind::Unary(_, operand) => forget_in(operand),
        ExprKind::Binary(_, left, right) => {
            forget_in(left);
            forget_in(right);
        }
        _ => {}
    }
}

/// Evaluates an expression that depends on at most one place, for a value of that place.
pub fn evaluate(program: &Program, expr: &Expr, held: Option<i64>) -> EvaluationResult {
    let of = |it: &Expr| -> Result<i64, (Span, String)> {
        evaluate(program, it, held)?.ok_or((it.span, "undefined".into()))
    };
    let failed = |error| (expr.span, format!("{error:?}"));
    Ok(Some(match &expr.kind {
        ExprKind::Constant(value) => *value,
        ExprKind::Read(_) => return Ok(held),
        ExprKind::IsUndefined(_) => held.is_none().into(),
        ExprKind::Unary(operator, operand) => {
            program.arithmetic.unary(*operator, of(operand)?).map_err(failed)?
        }
        ExprKind::Binary(operator, left, right) => {
            let left = of(left)?;
            match operator.short_circuit_value(left) {
                Some(decided) => decided,
                None => {
                    let right = of(right)?;
                    program.arithmetic.binary(*operator, left, right).map_err(failed)?
                }
            }
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            let chosen = if of(condition)? != 0 { then } else { otherwise };
            return evaluate(program, chosen, held);
        }
        _ => unreachable!("it depends on more"),
    }))
}
