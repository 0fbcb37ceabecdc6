//! Whether a claim observes what permutations change.

use spillway_analysis::access::AccessTable;
use spillway_ir::{
    Action, BinaryOp, Domain, Expr, ExprKind, Layout, LocalId, Place, PlaceRoot, PlaceSelector,
    Program, PropertyKind, StmtKind, Type,
};
use std::slice;

/// Returns the reason why the claim of a program may distinguish a state from a permuted one, if there is one.
///
/// It does not if it follows the rules for invariants: elements come from variables and quantifiers, are compared
/// with each other, and index arrays of their type. Such expressions have the same value in a permuted state. But a
/// quantifier tests one element after the other until the result is known, so the evaluation may fail in one of the
/// two states only. So a claim with quantifiers must not fail.
pub(super) fn claim_asymmetry(program: &Program, layout: &Layout) -> Option<String> {
    let claims = program.properties.values().filter_map(|property| match &property.kind {
        PropertyKind::Claim(claim) => Some(claim),
        _ => None,
    });
    let actions: Vec<&Action> = claims.flat_map(|it| &it.moves).map(|it| &it.action).collect();
    let mut looks = ClaimSymmetryCheck { program, bound: Vec::new(), has_quantifiers: false };
    if actions.iter().any(|it| looks.action(it).is_none()) {
        return Some("may distinguish symmetric elements".into());
    }
    if !looks.has_quantifiers {
        return None;
    }
    match AccessTable::new(program, layout) {
        Ok(table) => actions
            .iter()
            .any(|it| table.failures_of(it).any())
            .then(|| "may end in an error when it is evaluated".into()),
        Err(unknown) => Some(format!("may distinguish symmetric elements: {}", unknown.reason)),
    }
}

/// The effect of permutations on a value.
#[derive(Clone, Copy, Debug)]
enum PermutedValue<'a> {
    /// None.
    Plain,
    /// None, and the value is known; `None` if it is undefined.
    Known(Option<i64>),
    /// The value is permuted, as one of these domains, which are numbered one after the other.
    Permuted(&'a [Domain]),
}

/// A visitor of claims. It returns `None` where something may depend on names.
struct ClaimSymmetryCheck<'a> {
    program: &'a Program,
    /// The variables bound by enclosing quantifiers.
    bound: Vec<(LocalId, PermutedValue<'a>)>,
    /// Whether any quantifier was over elements.
    has_quantifiers: bool,
}

impl<'a> ClaimSymmetryCheck<'a> {
    /// Checks that nothing in an action depends on names.
    fn action(&mut self, action: &'a Action) -> Option<()> {
        if action.communication.is_some() {
            return None;
        }
        action.guard.iter().try_for_each(|it| self.plain(it))?;
        action.body.iter().try_for_each(|it| match &it.kind {
            StmtKind::Assert { condition, .. } => self.plain(condition),
            _ => None,
        })
    }

    fn plain(&mut self, expr: &'a Expr) -> Option<()> {
        match self.value(expr)? {
            PermutedValue::Plain | PermutedValue::Known(Some(_)) => Some(()),
            PermutedValue::Known(None) | PermutedValue::Permuted(_) => None,
        }
    }

    fn value(&mut self, expr: &'a Expr) -> Option<PermutedValue<'a>> {
        match &expr.kind {
            ExprKind::Constant(value) => return Some(PermutedValue::Known(Some(*value))),
            ExprKind::Undefined => return Some(PermutedValue::Known(None)),
            ExprKind::Read(place) => return self.place(place),
            ExprKind::Local(local) => {
                let bound = self.bound.iter().rev().find(|(name, _)| name == local);
                return bound.map(|(_, value)| *value);
            }
            ExprKind::Convert(convert) => {
                return match self.value(&convert.operand)? {
                    // No element that it may be has a name.
                    PermutedValue::Permuted(_) => Some(PermutedValue::Permuted(&[])),
                    PermutedValue::Plain | PermutedValue::Known(_) => None,
                };
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.plain(condition)?;
                return match (self.value(then)?, self.value(otherwise)?) {
                    (PermutedValue::Permuted(_), PermutedValue::Permuted(_)) => {
                        Some(PermutedValue::Permuted(&[]))
                    }
                    (PermutedValue::Permuted(_), _) | (_, PermutedValue::Permuted(_)) => None,
                    _ => Some(PermutedValue::Plain),
                };
            }
            ExprKind::Unary(_, operand) => self.plain(operand)?,
            ExprKind::Binary(BinaryOp::Equal | BinaryOp::NotEqual, left, right)
            | ExprKind::Same(left, right) => self.compared(left, right)?,
            ExprKind::Binary(_, left, right) => {
                self.plain(left)?;
                self.plain(right)?;
            }
            ExprKind::IsUndefined(place) => {
                self.place(place)?;
            }
            ExprKind::Quantified { local, over, body, .. } => {
                let Type::Scalar(scalar) = &self.program.types[*over] else { return None };
                let value = of_domain(&scalar.domain);
                self.has_quantifiers |= matches!(value, PermutedValue::Permuted(_));
                self.bound.push((*local, value));
                let found = self.plain(body);
                self.bound.pop();
                found?;
            }
            _ => return None,
        }
        Some(PermutedValue::Plain)
    }

    fn compared(&mut self, left: &'a Expr, right: &'a Expr) -> Option<()> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        self.are_comparable(left, right).then_some(())
    }

    /// Whether a comparison has the same result if both values are permuted.
    fn are_comparable(&self, left: PermutedValue<'_>, right: PermutedValue<'_>) -> bool {
        match (left, right) {
            (PermutedValue::Permuted(by), PermutedValue::Known(value))
            | (PermutedValue::Known(value), PermutedValue::Permuted(by)) => {
                value.is_none_or(|it| self.has_name(by, it))
            }
            (PermutedValue::Permuted(_), PermutedValue::Permuted(_)) => true,
            (PermutedValue::Permuted(_), PermutedValue::Plain)
            | (PermutedValue::Plain, PermutedValue::Permuted(_)) => false,
            (
                PermutedValue::Plain | PermutedValue::Known(_),
                PermutedValue::Plain | PermutedValue::Known(_),
            ) => true,
        }
    }

    /// Whether no permutation changes a value.
    fn has_name(&self, of: &[Domain], value: i64) -> bool {
        let mut next = 0;
        for domain in of {
            let (low, high) = self.program.bounds(domain);
            next += high - low + 1;
            if value < next {
                return matches!(domain, Domain::Enum(_));
            }
        }
        false
    }

    fn place(&mut self, place: &'a Place) -> Option<PermutedValue<'a>> {
        let (PlaceRoot::Variable(variable), None) = (place.root, &place.slot) else { return None };
        let mut ty = self.program.variables[variable].ty;
        for selector in &place.path {
            ty = match (&self.program.types[ty], selector) {
                (Type::Array { by, element, .. }, PlaceSelector::Index(index)) => {
                    let by = by.as_ref().map_or(PermutedValue::Plain, of_domain);
                    let index = self.value(index)?;
                    if !self.are_comparable(by, index) {
                        return None;
                    }
                    *element
                }
                (Type::Record { fields, .. }, PlaceSelector::Field(at)) => fields[*at as usize].1,
                _ => return None,
            };
        }
        match &self.program.types[ty] {
            Type::Scalar(scalar) => Some(of_domain(&scalar.domain)),
            _ => None,
        }
    }
}

fn of_domain(domain: &Domain) -> PermutedValue<'_> {
    match domain {
        _ if !domain.is_permuted() => PermutedValue::Plain,
        Domain::Union(parts) => PermutedValue::Permuted(parts),
        _ => PermutedValue::Permuted(slice::from_ref(domain)),
    }
}
