//! What expressions depend on, and what they come to.

use crate::analysis::uses::{Holder, Holders};
use crate::ir::{Expr, ExprKind, Place, Program, Selector};
use crate::source::Span;

/// What the value of an expression depends on in a state.
pub enum Depends<'e> {
    /// Nothing: it is a constant.
    Nothing,
    /// What is at one place, which is of this holder.
    On(&'e Place, Holder),
    /// More, or something else.
    OnMore,
}

/// A value, or nothing where that is undefined; or how judging it fails.
pub type Value = Result<Option<i64>, (Span, String)>;

/// What an expression depends on.
pub fn depends<'e>(program: &Program, holders: &Holders, expr: &'e Expr) -> Depends<'e> {
    let of = |it| depends(program, holders, it);
    match &expr.kind {
        ExprKind::Constant(_) => Depends::Nothing,
        ExprKind::Read(place) | ExprKind::IsUndefined(place) => {
            holders.at(program, place).map_or(Depends::OnMore, |it| Depends::On(place, it))
        }
        ExprKind::Unary(_, operand) => of(operand),
        ExprKind::Binary(_, left, right) => both(of(left), of(right)),
        ExprKind::Conditional(condition, then, otherwise) => {
            both(of(condition), both(of(then), of(otherwise)))
        }
        _ => Depends::OnMore,
    }
}

fn both<'e>(one: Depends<'e>, other: Depends<'e>) -> Depends<'e> {
    match (one, other) {
        (Depends::Nothing, it) | (it, Depends::Nothing) => it,
        (Depends::On(place, holder), Depends::On(other, _)) if is_same(place, other) => {
            Depends::On(place, holder)
        }
        _ => Depends::OnMore,
    }
}

/// Whether two places are written alike, and so the same in one state.
pub fn is_same(one: &Place, other: &Place) -> bool {
    let written = |it: &Place| {
        let mut place = it.clone();
        forget_spans(&mut place);
        place
    };
    one.root == other.root && written(one) == written(other)
}

/// Makes all spans of a place the same.
fn forget_spans(place: &mut Place) {
    place.span = Span::default();
    place.slot.iter_mut().for_each(|it| forget_in(it));
    for selector in &mut place.path {
        if let Selector::Index(index) = selector {
            forget_in(index);
        }
    }
}

/// The same in what a place is found by. What is not looked into is the same only if it stands at the same place.
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

/// What an expression that depends on nothing but one place comes to where that holds a value.
pub fn judge(program: &Program, expr: &Expr, held: Option<i64>) -> Value {
    let of = |it: &Expr| -> Result<i64, (Span, String)> {
        judge(program, it, held)?.ok_or((it.span, "undefined".into()))
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
            match operator.decided_by(left) {
                Some(decided) => decided,
                None => {
                    let right = of(right)?;
                    program.arithmetic.binary(*operator, left, right).map_err(failed)?
                }
            }
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            let chosen = if of(condition)? != 0 { then } else { otherwise };
            return judge(program, chosen, held);
        }
        _ => unreachable!("it depends on more"),
    }))
}
