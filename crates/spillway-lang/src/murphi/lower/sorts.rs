//! Sorts of scalar expressions, and conversions between them.
//!
//! The values of a union are those of its members, numbered consecutively. A value is converted when it passes between
//! a union and a member, or between two unions; other sorts are not compatible. Ranges are not part of sorts: numbers
//! are checked where they are stored.

use super::MurphiLowering;
use super::constant_folding::convert;
use spillway_base::source::Span;
use spillway_ir::{ConversionPiece, Domain, EnumId, Expr, ScalarType, ScalarsetId, Type, TypeId};

/// The sort of a scalar expression.
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
    /// A union of enumerations and scalarsets.
    Union(Vec<Domain>),
}

impl ScalarSort {
    /// Returns the sort of the values of a domain.
    pub(super) fn of(domain: &Domain) -> ScalarSort {
        match domain {
            Domain::Bool => ScalarSort::Bool,
            Domain::Enum(id) => ScalarSort::Enum(*id),
            Domain::Scalarset(id) => ScalarSort::Scalarset(*id),
            Domain::Union(parts) => ScalarSort::Union(parts.clone()),
            Domain::Range { .. } | Domain::Channel | Domain::Process => ScalarSort::Number,
        }
    }

    /// Returns whether an undefined value may be compared with others; it differs from all of them.
    pub(super) fn may_be_compared_undefined(&self) -> bool {
        matches!(self, ScalarSort::Scalarset(_) | ScalarSort::Union(_))
    }

    /// Returns the members: one unless it is a union, none for numbers and truth values.
    fn members(&self) -> Vec<Domain> {
        match self {
            ScalarSort::Number | ScalarSort::Bool => Vec::new(),
            ScalarSort::Enum(id) => vec![Domain::Enum(*id)],
            ScalarSort::Scalarset(id) => vec![Domain::Scalarset(*id)],
            ScalarSort::Union(parts) => parts.clone(),
        }
    }
}

/// The range of a member within a sort.
struct SortMember {
    domain: Domain,
    /// The number of its least value in the sort.
    low: i64,
    /// The number of its greatest value in the sort.
    high: i64,
}

impl MurphiLowering<'_, '_> {
    /// Returns the domain of a scalar type.
    pub(super) fn domain(&self, ty: TypeId) -> Option<&Domain> {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { domain, .. }) => Some(domain),
            _ => None,
        }
    }

    /// Returns the sort of the values of a scalar type.
    pub(super) fn sort_of(&self, ty: TypeId) -> Option<ScalarSort> {
        self.domain(ty).map(ScalarSort::of)
    }

    /// Returns the name of a sort in messages.
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

    /// Converts a value to another sort; reports an error if no value can be converted.
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

    /// Returns the ranges, in each of two sorts, of the members that they share.
    pub(super) fn pieces(&self, from: &ScalarSort, to: &ScalarSort) -> Vec<ConversionPiece> {
        let targets = self.sort_members(to);
        let shared =
            self.sort_members(from).into_iter().filter_map(|SortMember { domain, low, high }| {
                let target = targets.iter().find(|it| it.domain == domain)?;
                Some(ConversionPiece { low, high, by: target.low - low })
            });
        shared.collect()
    }

    /// Returns the members of a sort, in order.
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

    /// Returns a sort in which values of both sorts can be compared, if there is one.
    pub(super) fn common_sort(&self, one: &ScalarSort, other: &ScalarSort) -> Option<ScalarSort> {
        if one == other {
            return Some(one.clone());
        }
        let (mut all, others) = (one.members(), other.members());
        if !others.iter().any(|member| all.contains(member)) {
            return None;
        }
        all.extend(others.into_iter().filter(|member| !one.members().contains(member)));
        // A sort that contains the other keeps its numbering.
        match (one, other) {
            (ScalarSort::Union(parts), _) if parts.len() == all.len() => Some(one.clone()),
            (_, ScalarSort::Union(parts)) if parts.len() == all.len() => Some(other.clone()),
            _ => Some(ScalarSort::Union(all)),
        }
    }
}
