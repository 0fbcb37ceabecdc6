//! What expressions are values of, and how one sort passes for another.
//!
//! A union's values are those of its members, numbered one member after the other. A value that
//! passes between a union and a member, or between unions, is converted; all other sorts keep to
//! themselves. Ranges do not matter: numbers are checked where they are stored.

use super::MurphiLowering;
use super::constant_folding::convert;
use crate::ir::{ConversionPiece, Domain, EnumId, Expr, ScalarType, ScalarsetId, Type, TypeId};
use crate::source::Span;

/// What a scalar expression is a value of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScalarSort {
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

impl ScalarSort {
    /// Of the values of a domain.
    pub(super) fn of(domain: &Domain) -> ScalarSort {
        match domain {
            Domain::Bool => ScalarSort::Bool,
            Domain::Enum(id) => ScalarSort::Enum(*id),
            Domain::Scalarset(id) => ScalarSort::Scalarset(*id),
            Domain::Union(parts) => ScalarSort::Union(parts.clone()),
            Domain::Range { .. } | Domain::Channel | Domain::Process => ScalarSort::Number,
        }
    }

    /// Whether an undefined value may be compared with others: it is none of them.
    pub(super) fn may_be_compared_undefined(&self) -> bool {
        matches!(self, ScalarSort::Scalarset(_) | ScalarSort::Union(_))
    }

    /// The members, of which there is one unless it is a union; none for numbers and truth values.
    fn members(&self) -> Vec<Domain> {
        match self {
            ScalarSort::Number | ScalarSort::Bool => Vec::new(),
            ScalarSort::Enum(id) => vec![Domain::Enum(*id)],
            ScalarSort::Scalarset(id) => vec![Domain::Scalarset(*id)],
            ScalarSort::Union(parts) => parts.clone(),
        }
    }
}

/// Where a member lies in a sort.
struct SortMember {
    domain: Domain,
    /// The number in the sort of its least value.
    low: i64,
    /// That of its greatest.
    high: i64,
}

impl MurphiLowering<'_, '_> {
    /// The domain of a scalar type.
    pub(super) fn domain(&self, ty: TypeId) -> Option<&Domain> {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { domain, .. }) => Some(domain),
            _ => None,
        }
    }

    /// The sort of a scalar type's values.
    pub(super) fn sort_of(&self, ty: TypeId) -> Option<ScalarSort> {
        self.domain(ty).map(ScalarSort::of)
    }

    /// How messages call a sort.
    pub(super) fn sort_name(&self, sort: &ScalarSort) -> String {
        match sort {
            ScalarSort::Number => "a number".into(),
            ScalarSort::Bool => "a truth value".into(),
            ScalarSort::Enum(id) => match self.program.enums[*id].name.as_str() {
                "" => "a value of an enumeration without name".into(),
                name => format!("one of `{name}`"),
            },
            ScalarSort::Scalarset(id) => format!("one of `{}`", self.program.scalarsets[*id].name),
            ScalarSort::Union(_) => "one of a union".into(),
        }
    }

    /// The value as one of another sort; an error if no value can be.
    pub(super) fn convert_sort(
        &self,
        value: Expr,
        from: &ScalarSort,
        to: &ScalarSort,
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
                (_, ScalarSort::Bool) => "a condition compares, as in `x = 1`",
                (ScalarSort::Bool, ScalarSort::Number) => {
                    "`condition ? 1 : 0` makes a number of it"
                }
                (_, ScalarSort::Number) => {
                    "such values have no order and no arithmetic, only `=` and `!=`"
                }
                (_, ScalarSort::Enum(_)) => "write one of the values that the enumeration lists",
                (_, ScalarSort::Scalarset(_)) => {
                    "elements of a scalarset have no names: take one from a parameter, a `for` or \
                     a variable"
                }
                (_, ScalarSort::Union(_)) => "only values of its members are values of a union",
            };
            self.error_with(span, message, help);
            return None;
        }
        Some(convert(value, pieces))
    }

    /// Where the members that two sorts share lie in each.
    pub(super) fn pieces(&self, from: &ScalarSort, to: &ScalarSort) -> Vec<ConversionPiece> {
        let targets = self.sort_members(to);
        let shared =
            self.sort_members(from).into_iter().filter_map(|SortMember { domain, low, high }| {
                let target = targets.iter().find(|it| it.domain == domain)?;
                Some(ConversionPiece { low, high, by: target.low - low })
            });
        shared.collect()
    }

    /// The members of a sort, in order.
    fn sort_members(&self, sort: &ScalarSort) -> Vec<SortMember> {
        let mut next = 0;
        let placed = sort.members().into_iter().map(|member| {
            let (low, high) = self.program.bounds(&member);
            let first = next;
            next += high - low + 1;
            SortMember { domain: member, low: first, high: next - 1 }
        });
        placed.collect()
    }

    /// A sort that values of both can be compared in, if they can be.
    pub(super) fn common_sort(&self, one: &ScalarSort, other: &ScalarSort) -> Option<ScalarSort> {
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
            (ScalarSort::Union(parts), _) if parts.len() == all.len() => Some(one.clone()),
            (_, ScalarSort::Union(parts)) if parts.len() == all.len() => Some(other.clone()),
            _ => Some(ScalarSort::Union(all)),
        }
    }
}
