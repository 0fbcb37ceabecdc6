//! What transitions ask of colours.

use super::colours::{ClassId, Colours, Part};
use super::parse::Term;
use super::xml::Read;
use crate::diag::Diagnostic;
use crate::ir::Binary;
use crate::source::Span;
use std::ops::Range;

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
        let compared = |operator| compared(colours, term, operator);
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
            "lessthan" | "ltp" => compared(Binary::Less)?,
            "lessthanorequal" => compared(Binary::LessEqual)?,
            "greaterthan" | "gtp" => compared(Binary::Greater)?,
            "greaterthanorequal" => compared(Binary::GreaterEqual)?,
            other => {
                let error = format!("conditions by <{other}> are not read");
                return Err(Diagnostic::error(span, error));
            }
        };
        Ok(Condition { kind, span })
    }

    /// Whether it holds where variables have these values; nothing where that depends on others.
    pub(super) fn holds(&self, colours: &Colours, values: &[(usize, u32)]) -> Option<bool> {
        match &self.kind {
            ConditionKind::Known(is_so) => Some(*is_so),
            ConditionKind::Not(inner) => inner.holds(colours, values).map(|it| !it),
            ConditionKind::Joined(operator, all) => {
                let mut each = all.iter().map(|it| it.holds(colours, values)).collect::<Vec<_>>();
                if *operator == Binary::Implies {
                    each[0] = each[0].map(|it| !it);
                }
                // The value that decides, and what it is where none is missing.
                let decides = *operator != Binary::And;
                match each.contains(&Some(decides)) {
                    true => Some(decides),
                    false if each.contains(&None) => None,
                    false => Some(!decides),
                }
            }
            ConditionKind::Compared(operator, _, sides) => {
                let [left, right] = sides.map(|it| colours.value(it, values));
                let (left, right) = (left?, right?);
                Some(match operator {
                    Binary::Equal => left == right,
                    Binary::NotEqual => left != right,
                    Binary::Less => left < right,
                    Binary::LessEqual => left <= right,
                    Binary::Greater => left > right,
                    _ => left >= right,
                })
            }
        }
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

/// Two values compared, or two colours of several parts.
fn compared(colours: &Colours, term: &Term, operator: Binary) -> Read<ConditionKind> {
    let sides: &[Term; 2] = term.parts()?;
    let [left, right] = sides.each_ref().map(|it| colours.variables_in(it));
    if let (Some(left), Some(right)) = (left, right)
        && (left.len(), right.len()) != (1, 1)
    {
        return colours_compared(colours, (left, right), operator, term.span());
    }
    let [left, right] = sides.each_ref().map(|it| colours.class_of(it));
    // That a value is an element of a partition means that it is in it.
    if let (Some(left), Some(right)) = (left, right)
        && left != right
        && matches!(operator, Binary::Equal | Binary::NotEqual)
    {
        for (value, base, class) in [(0, left, right), (1, right, left)] {
            if let Some(partition) = colours.partition(base, class) {
                let other = colours.part(&sides[1 - value], class)?;
                let held = colours.part(&sides[value], base)?;
                let held = one(colours.in_partition(held, partition), sides[value].span())?;
                return Ok(ConditionKind::Compared(operator, class, [held, other]));
            }
        }
    }
    // A number may be of several classes: the other side says of which.
    let class = left.or(right);
    let class = class.or_else(|| sides.iter().find_map(|it| colours.class_of_number(it)));
    let unclear = "it is not clear of which class these values are";
    let class = class.ok_or_else(|| Diagnostic::error(term.span(), unclear))?;
    let [left, right] = sides.each_ref().map(|it| one(colours.part(it, class)?, it.span()));
    Ok(ConditionKind::Compared(operator, class, [left?, right?]))
}

/// The values of variables of products compared, class by class.
fn colours_compared(
    colours: &Colours,
    (left, right): (Range<usize>, Range<usize>),
    operator: Binary,
    span: Span,
) -> Read<ConditionKind> {
    let classes = |of: &Range<usize>| {
        colours.variables[of.clone()].iter().map(|it| it.class).collect::<Vec<_>>()
    };
    if classes(&left) != classes(&right) {
        return Err(Diagnostic::error(span, "these are colours of different sorts"));
    }
    if !matches!(operator, Binary::Equal | Binary::NotEqual) {
        return Err(Diagnostic::error(span, "colours of several parts have no order"));
    }
    let same = classes(&left).into_iter().zip(left.zip(right)).map(|(class, (left, right))| {
        let sides = [left, right].map(|it| Part::Variable(it, 0));
        Condition { kind: ConditionKind::Compared(Binary::Equal, class, sides), span }
    });
    let same: Vec<Condition> = same.collect();
    let kind = match same.is_empty() {
        true => ConditionKind::Known(true),
        false => ConditionKind::Joined(Binary::And, same),
    };
    Ok(match operator {
        Binary::Equal => kind,
        _ => ConditionKind::Not(Box::new(Condition { kind, span })),
    })
}

/// The same, if it is one value.
fn one(part: Part, span: Span) -> Read<Part> {
    match part {
        Part::All => Err(Diagnostic::error(span, "a condition is about one value, not about all")),
        it => Ok(it),
    }
}
