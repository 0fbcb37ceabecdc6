//! What transitions ask of colours.

use super::colours::{ClassId, Colours, Part};
use super::parse::Term;
use super::xml::Read;
use crate::diag::Diagnostic;
use crate::ir::{Binary, Expr, ExprKind, Unary};
use crate::source::Span;

/// What stands for a value of a class.
type Value<'v> = dyn Fn(Part, ClassId, Span) -> Expr + 'v;

/// A condition as an expression.
pub(super) fn lower(colours: &Colours, term: &Term, value: &Value<'_>) -> Read<Expr> {
    let span = term.span();
    let all = |operator, empty| {
        let each = term.terms.iter().map(|it| lower(colours, it, value));
        let each = each.collect::<Read<Vec<_>>>()?.into_iter();
        let joined = each.reduce(|left, right| binary(operator, left, right, span));
        Ok(joined.unwrap_or(Expr::constant(empty, span)))
    };
    let compared = |operator| {
        let [left, right]: &[Term; 2] = term.parts()?;
        let of = |it: &Term| colours.class_of(it).filter(|_| it.name() != "finiteintrangeconstant");
        let class = of(left).or(of(right)).or_else(|| colours.class_of(left));
        let unclear = || Diagnostic::error(span, "it is not clear of which class these values are");
        let class = class.ok_or_else(unclear)?;
        let side =
            |it: &Term| Ok(value(one(colours.part(it, class)?, it.span())?, class, it.span()));
        Ok(binary(operator, side(left)?, side(right)?, span))
    };
    match term.name() {
        "and" => all(Binary::And, 1),
        "or" => all(Binary::Or, 0),
        "imply" => {
            let [left, right]: &[Term; 2] = term.parts()?;
            let (left, right) = (lower(colours, left, value)?, lower(colours, right, value)?);
            Ok(binary(Binary::Implies, left, right, span))
        }
        "not" => {
            let [inner] = term.parts()?;
            let kind = ExprKind::Unary(Unary::Not, Box::new(lower(colours, inner, value)?));
            Ok(Expr { kind, span })
        }
        "booleanconstant" => {
            Ok(Expr::constant(i64::from(term.element.need("value")? == "true"), span))
        }
        "equality" => compared(Binary::Equal),
        "inequality" => compared(Binary::NotEqual),
        "lessthan" => compared(Binary::Less),
        "lessthanorequal" => compared(Binary::LessEqual),
        "greaterthan" => compared(Binary::Greater),
        "greaterthanorequal" => compared(Binary::GreaterEqual),
        other => Err(Diagnostic::error(span, format!("conditions by <{other}> are not read"))),
    }
}

/// The same, if it is one value.
fn one(part: Part, span: Span) -> Read<Part> {
    match part {
        Part::All => Err(Diagnostic::error(span, "a condition is about one value, not about all")),
        it => Ok(it),
    }
}

/// Two expressions joined.
pub(super) fn binary(operator: Binary, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span }
}
