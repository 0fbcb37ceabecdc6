//! Comparisons of records and arrays.
//!
//! Two aggregates of one shape are equal if their scalars are equal, one by one. As in Rumur, which compares bits, two
//! undefined scalars are equal. An array becomes a quantifier over its indices.

use super::constant_folding::{binary, unary};
use super::places::TypedPlace;
use super::sorts::ScalarSort;
use super::{LocalKind, MurphiLowering};
use spillway_base::source::Span;
use spillway_ir::{
    BinaryOp, Domain, Expr, ExprKind, PlaceSelector, Quantifier, Type, TypeId, UnaryOp,
};

impl MurphiLowering<'_, '_> {
    /// Returns whether a type is an aggregate.
    pub(super) fn is_aggregate(&self, ty: TypeId) -> bool {
        self.domain(ty).is_none()
    }

    /// Lowers `left = right` or `left != right` for two aggregates.
    pub(super) fn aggregates_compared(
        &mut self,
        operator: BinaryOp,
        one: TypedPlace,
        other: TypedPlace,
        span: Span,
    ) -> Option<(Expr, ScalarSort)> {
        let equal = self.equal_parts(one, other, span)?;
        match operator {
            BinaryOp::NotEqual => Some((unary(UnaryOp::Not, equal, span), ScalarSort::Bool)),
            _ => Some((equal, ScalarSort::Bool)),
        }
    }

    /// Returns the condition that the values at two places are equal, part by part.
    fn equal_parts(&mut self, one: TypedPlace, other: TypedPlace, span: Span) -> Option<Expr> {
        match (self.program.types[one.ty].clone(), self.program.types[other.ty].clone()) {
            (Type::Scalar(left), Type::Scalar(right))
                if ScalarSort::of(&left.domain) == ScalarSort::of(&right.domain) =>
            {
                let read = |place| Box::new(Expr::new(ExprKind::Read(place), span));
                Some(Expr::new(ExprKind::Same(read(one.place), read(other.place)), span))
            }
            (Type::Record { fields, .. }, Type::Record { fields: others, .. })
                if fields.len() == others.len() =>
            {
                let mut all = Vec::new();
                for (at, (field, theirs)) in (0..).zip(fields.iter().zip(&others)) {
                    let one = one.part(PlaceSelector::Field(at), field.1);
                    let other = other.part(PlaceSelector::Field(at), theirs.1);
                    all.push(self.equal_parts(one, other, span)?);
                }
                let all = all.into_iter();
                let and = |left, right| binary(BinaryOp::And, left, right, span);
                Some(all.reduce(and).unwrap_or_else(|| Expr::constant(1, span)))
            }
            (
                Type::Array { low, length, element, .. },
                Type::Array { low: their_low, length: their_length, element: theirs, .. },
            ) if length == their_length && self.has_like_indices(one.ty, other.ty) => {
                let over = self.scalar_type(self.indices[&one.ty].clone());
                let local = self.fresh(LocalKind::Value(over));
                let index = Expr::new(ExprKind::Local(local), span);
                let offset = Expr::constant(their_low - low, span);
                let their_index = match their_low == low {
                    true => index.clone(),
                    false => binary(BinaryOp::Add, index.clone(), offset, span),
                };
                let one = one.part(PlaceSelector::Index(index), element);
                let other = other.part(PlaceSelector::Index(their_index), theirs);
                let body = Box::new(self.equal_parts(one, other, span)?);
                let quantifier = Quantifier::All;
                Some(Expr::new(ExprKind::Quantified { quantifier, local, over, body }, span))
            }
            (Type::Multiset { .. }, Type::Multiset { .. }) => {
                let help =
                    "compare the numbers of their elements: `multisetcount (i: m, condition)`";
                self.error_with(span, "multisets are not compared", help);
                None
            }
            _ => {
                let help = "records and arrays are compared with others of their own type";
                self.error_with(span, "the two sides are of different types", help);
                None
            }
        }
    }

    /// Returns whether two arrays have indices of one sort.
    fn has_like_indices(&self, one: TypeId, other: TypeId) -> bool {
        let sort = |ty: TypeId| self.indices.get(&ty).map(|it: &Domain| ScalarSort::of(it));
        sort(one) == sort(other)
    }
}
