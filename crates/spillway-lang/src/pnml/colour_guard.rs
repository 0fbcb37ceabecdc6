//! Conditions of transitions on colours.

use super::colours::{ClassId, ColourComponent, ColourDeclarations};
use super::parse::PnmlTerm;
use super::xml::PnmlResult;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::BinaryOp;
use std::ops::Range;

/// A condition.
pub(super) struct ColourGuard {
    pub(super) kind: ColourGuardKind,
    pub(super) span: Span,
}

/// The kinds of conditions.
pub(super) enum ColourGuardKind {
    /// A condition that always holds, or never.
    Known(bool),
    /// A negation.
    Not(Box<ColourGuard>),
    /// One or more conditions, joined by an operator.
    Joined(BinaryOp, Vec<ColourGuard>),
    /// A comparison of two values of a class.
    Compared(BinaryOp, ClassId, [ColourComponent; 2]),
}

impl ColourGuard {
    /// Returns the condition of a term.
    pub(super) fn from_term(
        colours: &ColourDeclarations,
        term: &PnmlTerm,
    ) -> PnmlResult<ColourGuard> {
        let span = term.span();
        let of = |it: &PnmlTerm| ColourGuard::from_term(colours, it);
        let joined = |operator, empty| {
            let each = term.terms.iter().map(of).collect::<PnmlResult<Vec<_>>>()?;
            Ok(match each.is_empty() {
                true => ColourGuardKind::Known(empty),
                false => ColourGuardKind::Joined(operator, each),
            })
        };
        let compared = |operator| compared(colours, term, operator);
        let kind = match term.name() {
            "and" => joined(BinaryOp::And, true)?,
            "or" => joined(BinaryOp::Or, false)?,
            "imply" => {
                let [left, right] = term.parts()?;
                ColourGuardKind::Joined(BinaryOp::Implies, vec![of(left)?, of(right)?])
            }
            "not" => {
                let [inner] = term.parts()?;
                ColourGuardKind::Not(Box::new(of(inner)?))
            }
            "booleanconstant" => ColourGuardKind::Known(term.element.need("value")? == "true"),
            "equality" => compared(BinaryOp::Equal)?,
            "inequality" => compared(BinaryOp::NotEqual)?,
            "lessthan" | "ltp" => compared(BinaryOp::Less)?,
            "lessthanorequal" => compared(BinaryOp::LessEqual)?,
            "greaterthan" | "gtp" => compared(BinaryOp::Greater)?,
            "greaterthanorequal" => compared(BinaryOp::GreaterEqual)?,
            other => {
                let error = format!("conditions by <{other}> are not read");
                return Err(Diagnostic::error(span, error));
            }
        };
        Ok(ColourGuard { kind, span })
    }

    /// Returns whether the condition holds for these values of variables; `None` if it depends on other variables.
    pub(super) fn holds(
        &self,
        colours: &ColourDeclarations,
        values: &[(usize, u32)],
    ) -> Option<bool> {
        match &self.kind {
            ColourGuardKind::Known(is_so) => Some(*is_so),
            ColourGuardKind::Not(inner) => inner.holds(colours, values).map(|it| !it),
            ColourGuardKind::Joined(operator, all) => {
                let mut each = all.iter().map(|it| it.holds(colours, values)).collect::<Vec<_>>();
                if *operator == BinaryOp::Implies {
                    each[0] = each[0].map(|it| !it);
                }
                // The operand that decides the result, and the result if no operand is undecided.
                let decides = *operator != BinaryOp::And;
                match each.contains(&Some(decides)) {
                    true => Some(decides),
                    false if each.contains(&None) => None,
                    false => Some(!decides),
                }
            }
            ColourGuardKind::Compared(operator, _, sides) => {
                let [left, right] = sides.map(|it| colours.value(it, values));
                let (left, right) = (left?, right?);
                Some(match operator {
                    BinaryOp::Equal => left == right,
                    BinaryOp::NotEqual => left != right,
                    BinaryOp::Less => left < right,
                    BinaryOp::LessEqual => left <= right,
                    BinaryOp::Greater => left > right,
                    _ => left >= right,
                })
            }
        }
    }

    /// Visits each comparison: its operator, its class and its operands.
    pub(super) fn visit_comparisons(
        &self,
        visit: &mut dyn FnMut(BinaryOp, ClassId, &[ColourComponent; 2]),
    ) {
        match &self.kind {
            ColourGuardKind::Known(_) => {}
            ColourGuardKind::Not(inner) => inner.visit_comparisons(visit),
            ColourGuardKind::Joined(_, all) => {
                all.iter().for_each(|it| it.visit_comparisons(visit))
            }
            ColourGuardKind::Compared(operator, class, sides) => visit(*operator, *class, sides),
        }
    }
}

/// Compares two values, or two colours with several components.
fn compared(
    colours: &ColourDeclarations,
    term: &PnmlTerm,
    operator: BinaryOp,
) -> PnmlResult<ColourGuardKind> {
    let sides: &[PnmlTerm; 2] = term.parts()?;
    let [left, right] = sides.each_ref().map(|it| colours.variables_in(it));
    if let (Some(left), Some(right)) = (left, right)
        && (left.len(), right.len()) != (1, 1)
    {
        return compare_products(colours, left, right, operator, term.span());
    }
    let [left, right] = sides.each_ref().map(|it| colours.class_of(it));
    // A value equals an element of a partition if the element contains it.
    if let (Some(left), Some(right)) = (left, right)
        && left != right
        && matches!(operator, BinaryOp::Equal | BinaryOp::NotEqual)
    {
        for (value, base, class) in [(0, left, right), (1, right, left)] {
            if let Some(partition) = colours.partition(base, class) {
                let other = colours.part(&sides[1 - value], class)?;
                let held = colours.part(&sides[value], base)?;
                let held = require_one(colours.in_partition(held, partition), sides[value].span())?;
                return Ok(ColourGuardKind::Compared(operator, class, [held, other]));
            }
        }
    }
    // A number may belong to several classes; the other operand determines the class.
    let class = left.or(right);
    let class = class.or_else(|| sides.iter().find_map(|it| colours.class_of_number(it)));
    let unclear = "it is not clear of which class these values are";
    let class = class.ok_or_else(|| Diagnostic::error(term.span(), unclear))?;
    let [left, right] = sides.each_ref().map(|it| require_one(colours.part(it, class)?, it.span()));
    Ok(ColourGuardKind::Compared(operator, class, [left?, right?]))
}

/// Compares values of variables of product sorts, class by class.
fn compare_products(
    colours: &ColourDeclarations,
    left: Range<usize>,
    right: Range<usize>,
    operator: BinaryOp,
    span: Span,
) -> PnmlResult<ColourGuardKind> {
    let classes = |of: &Range<usize>| {
        colours.variables[of.clone()].iter().map(|it| it.class).collect::<Vec<_>>()
    };
    if classes(&left) != classes(&right) {
        return Err(Diagnostic::error(span, "these are colours of different sorts"));
    }
    if !matches!(operator, BinaryOp::Equal | BinaryOp::NotEqual) {
        return Err(Diagnostic::error(span, "colours of several parts have no order"));
    }
    let same = classes(&left).into_iter().zip(left.zip(right)).map(|(class, (left, right))| {
        let sides = [left, right].map(|it| ColourComponent::Variable(it, 0));
        ColourGuard { kind: ColourGuardKind::Compared(BinaryOp::Equal, class, sides), span }
    });
    let same: Vec<ColourGuard> = same.collect();
    let kind = match same.is_empty() {
        true => ColourGuardKind::Known(true),
        false => ColourGuardKind::Joined(BinaryOp::And, same),
    };
    Ok(match operator {
        BinaryOp::Equal => kind,
        _ => ColourGuardKind::Not(Box::new(ColourGuard { kind, span })),
    })
}

/// Returns the component, which must be a single value.
fn require_one(part: ColourComponent, span: Span) -> PnmlResult<ColourComponent> {
    match part {
        ColourComponent::All => {
            Err(Diagnostic::error(span, "a condition is about one value, not about all"))
        }
        it => Ok(it),
    }
}
