//! What expressions are values of, and how one sort passes for another.
//!
//! A union's values are those of its members, numbered one member after the other. A value that
//! passes between a union and a member, or between unions, is converted; all other sorts keep to
//! themselves. Ranges do not matter: numbers are checked where they are stored.

use super::Lowerer;
use super::fold::convert;
use crate::ir::{Domain, EnumId, Expr, Renumbered, Scalar, ScalarsetId, Type, TypeId};
use crate::source::Span;

/// What a scalar expression is a value of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Numbers, and positions in a multiset.
    Number,
    /// Truth values.
    Bool,
    /// An enumeration.
    Enum(EnumId),
    /// A scalarset.
    Scalarset(ScalarsetId),
    /// One of several of the last two.
    Union(Vec<Domain>),
}

impl Sort {
    /// Of the values of a domain.
    pub(super) fn of(domain: &Domain) -> Sort {
        match domain {
            Domain::Bool => Sort::Bool,
            Domain::Enum(id) => Sort::Enum(*id),
            Domain::Scalarset(id) => Sort::Scalarset(*id),
            Domain::Union(parts) => Sort::Union(parts.clone()),
            Domain::Range { .. } | Domain::Channel | Domain::Process => Sort::Number,
        }
    }

    /// Whether an undefined value may be compared with others: it is none of them.
    pub(super) fn may_be_compared_undefined(&self) -> bool {
        matches!(self, Sort::Scalarset(_) | Sort::Union(_))
    }

    /// The members, of which there is one unless it is a union; none for numbers and truth values.
    fn members(&self) -> Vec<Domain> {
        match self {
            Sort::Number | Sort::Bool => Vec::new(),
            Sort::Enum(id) => vec![Domain::Enum(*id)],
            Sort::Scalarset(id) => vec![Domain::Scalarset(*id)],
            Sort::Union(parts) => parts.clone(),
        }
    }
}

impl Lowerer<'_, '_> {
    /// The domain of a scalar type.
    pub(super) fn domain(&self, ty: TypeId) -> Option<&Domain> {
        match &self.program.types[ty] {
            Type::Scalar(Scalar { domain, .. }) => Some(domain),
            _ => None,
        }
    }

    /// The sort of a scalar type's values.
    pub(super) fn sort_of(&self, ty: TypeId) -> Option<Sort> {
        self.domain(ty).map(Sort::of)
    }

    /// How messages call a sort.
    pub(super) fn sort_name(&self, sort: &Sort) -> String {
        match sort {
            Sort::Number => "a number".into(),
            Sort::Bool => "a truth value".into(),
            Sort::Enum(id) => match self.program.enums[*id].name.as_str() {
                "" => "a value of an enumeration without name".into(),
                name => format!("one of `{name}`"),
            },
            Sort::Scalarset(id) => format!("one of `{}`", self.program.scalarsets[*id].name),
            Sort::Union(_) => "one of a union".into(),
        }
    }

    /// The value as one of another sort; an error if no value can be.
    pub(super) fn converted(
        &self,
        value: Expr,
        from: &Sort,
        to: &Sort,
        span: Span,
    ) -> Option<Expr> {
        if from == to {
            return Some(value);
        }
        let pieces = self.pieces(from, to);
        if pieces.is_empty() {
            let message =
                format!("this is {}, but {} is needed", self.sort_name(from), self.sort_name(to));
            let help = match (from, to) {
                (_, Sort::Bool) => "a condition compares, as in `x = 1`",
                (Sort::Bool, Sort::Number) => "`condition ? 1 : 0` makes a number of it",
                (_, Sort::Number) => {
                    "such values have no order and no arithmetic, only `=` and `!=`"
                }
                (_, Sort::Enum(_)) => "write one of the values that the enumeration lists",
                (_, Sort::Scalarset(_)) => {
                    "elements of a scalarset have no names: take one from a parameter, a `for` or \
                     a variable"
                }
                (_, Sort::Union(_)) => "only values of its members are values of a union",
            };
            self.error_with(span, message, help);
            return None;
        }
        Some(convert(value, pieces))
    }

    /// Where the members that two sorts share lie in each.
    pub(super) fn pieces(&self, from: &Sort, to: &Sort) -> Vec<Renumbered> {
        let targets = self.placed(to);
        let shared = self.placed(from).into_iter().filter_map(|(member, low, high)| {
            let (_, first, _) = targets.iter().find(|(other, ..)| *other == member)?;
            Some(Renumbered { low, high, by: first - low })
        });
        shared.collect()
    }

    /// The members of a sort with their least and greatest number in it.
    fn placed(&self, sort: &Sort) -> Vec<(Domain, i64, i64)> {
        let mut next = 0;
        let placed = sort.members().into_iter().map(|member| {
            let (low, high) = self.program.bounds(&member);
            let first = next;
            next += high - low + 1;
            (member, first, next - 1)
        });
        placed.collect()
    }

    /// A sort that values of both can be compared in, if they can be.
    pub(super) fn common(&self, one: &Sort, other: &Sort) -> Option<Sort> {
        if one == other {
            return Some(one.clone());
        }
        let (mut all, others) = (one.members(), other.members());
        if !others.iter().any(|member| all.contains(member)) {
            return None;
        }
        all.extend(others.into_iter().filter(|member| !one.members().contains(member)));
        // A sort that holds the other keeps its numbers.
        match (one, other) {
            (Sort::Union(parts), _) if parts.len() == all.len() => Some(one.clone()),
            (_, Sort::Union(parts)) if parts.len() == all.len() => Some(other.clone()),
            _ => Some(Sort::Union(all)),
        }
    }
}
