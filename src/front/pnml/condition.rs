//! What transitions ask of colours.

use super::colours::{ClassId, Colours, Part};
use super::parse::Term;
use super::xml::Read;
use crate::diag::Diagnostic;
use crate::ir::Binary;
use crate::source::Span;

/// What is asked.
pub(super) struct Condition {
    pub(super) kind: ConditionKind,
    pub(super) span: Span,
}

/// What that is.
pub(super) enum ConditionKind {
    /// It always is so, or never.
    Known(bool),
    /// It is not so.
    Not(Box<Condition>),
    /// At least one, joined by an operator.
    Joined(Binary, Vec<Condition>),
    /// Two values of a class compared.
    Compared(Binary, ClassId, [Part; 2]),
}

impl Condition {
    /// What a term asks.
    pub(super) fn of(colours: &Colours, term: &Term) -> Read<Condition> {
        let span = term.span();
        let of = |it: &Term| Condition::of(colours, it);
        let joined = |operator, empty| {
            let each = term.terms.iter().map(of).collect::<Read<Vec<_>>>()?;
            Ok(match each.is_empty() {
                true => ConditionKind::Known(empty),
                false => ConditionKind::Joined(operator, each),
            })
        };
        let compared = |operator| {
            let sides: &[Term; 2] = term.parts()?;
            // A number may be of several classes: the other side says of which.
            let class = sides.iter().find_map(|it| colours.class_of(it));
            let class = class.or_else(|| sides.iter().find_map(|it| colours.class_of_number(it)));
            let unclear = "it is not clear of which class these values are";
            let class = class.ok_or_else(|| Diagnostic::error(span, unclear))?;
            let [left, right] = sides.each_ref().map(|it| one(colours.part(it, class)?, it.span()));
            Ok(ConditionKind::Compared(operator, class, [left?, right?]))
        };
        let kind = match term.name() {
            "and" => joined(Binary::And, true)?,
            "or" => joined(Binary::Or, false)?,
            "imply" => {
                let [left, right] = term.parts()?;
                ConditionKind::Joined(Binary::Implies, vec![of(left)?, of(right)?])
            }
            "not" => {
                let [inner] = term.parts()?;
                ConditionKind::Not(Box::new(of(inner)?))
            }
            "booleanconstant" => ConditionKind::Known(term.element.need("value")? == "true"),
            "equality" => compared(Binary::Equal)?,
            "inequality" => compared(Binary::NotEqual)?,
            "lessthan" => compared(Binary::Less)?,
            "lessthanorequal" => compared(Binary::LessEqual)?,
            "greaterthan" => compared(Binary::Greater)?,
            "greaterthanorequal" => compared(Binary::GreaterEqual)?,
            other => {
                let error = format!("conditions by <{other}> are not read");
                return Err(Diagnostic::error(span, error));
            }
        };
        Ok(Condition { kind, span })
    }

    /// Shows each comparison: its operator, the class, and what is compared.
    pub(super) fn each_compared(&self, visit: &mut dyn FnMut(Binary, ClassId, &[Part; 2])) {
        match &self.kind {
            ConditionKind::Known(_) => {}
            ConditionKind::Not(inner) => inner.each_compared(visit),
            ConditionKind::Joined(_, all) => all.iter().for_each(|it| it.each_compared(visit)),
            ConditionKind::Compared(operator, class, sides) => visit(*operator, *class, sides),
        }
    }
}

/// The same, if it is one value.
fn one(part: Part, span: Span) -> Read<Part> {
    match part {
        Part::All => Err(Diagnostic::error(span, "a condition is about one value, not about all")),
        it => Ok(it),
    }
}
