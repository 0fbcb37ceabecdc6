//! Total expressions, which have a value in every state. Their evaluation cannot fail, so they may be evaluated at
//! any time.

use spillway_ir::{
    Arithmetic, BinaryOp, Expr, ExprKind, LocalId, NumberConversion, Place, PlaceRoot,
    PlaceSelector, Program, ScalarType, Type, TypeId, UnaryOp,
};
use std::collections::HashMap;

/// The bounds of an expression, in a type wide enough for sums of 64-bit integers.
type WideInterval = (i128, i128);

/// The truth values.
const TRUTHS: WideInterval = (0, 1);

/// A check for total expressions.
pub struct TotalityChecker<'p> {
    program: &'p Program,
    locals: HashMap<LocalId, WideInterval>,
}

impl<'p> TotalityChecker<'p> {
    /// Creates a check of expressions of a program, without bound names.
    pub fn new(program: &'p Program) -> Self {
        TotalityChecker { program, locals: HashMap::new() }
    }

    /// Binds a name to the values of a type.
    pub fn bind(&mut self, local: LocalId, over: TypeId) {
        if let Type::Scalar(ScalarType { domain, .. }) = &self.program.types[over] {
            let (low, high) = self.program.bounds(domain);
            self.locals.insert(local, (low.into(), high.into()));
        }
    }

    /// Returns whether an expression has a value in every state.
    pub fn is_total(&mut self, expr: &Expr) -> bool {
        self.range(expr).is_some()
    }

    /// Returns the bounds of an expression, if it is total.
    fn range(&mut self, expr: &Expr) -> Option<WideInterval> {
        match &expr.kind {
            ExprKind::Constant(value) => Some((i128::from(*value), i128::from(*value))),
            ExprKind::Local(local) => self.locals.get(local).copied(),
            ExprKind::Read(place) => self.read(place),
            ExprKind::Unary(UnaryOp::Not, operand) => self.range(operand).map(|_| TRUTHS),
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.range(left)?, self.range(right)?);
                self.computed(*operator, left, right)
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.range(condition)?;
                let (then, otherwise) = (self.range(then)?, self.range(otherwise)?);
                Some((then.0.min(otherwise.0), then.1.max(otherwise.1)))
            }
            ExprKind::Quantified { local, over, body, .. } => {
                self.bind(*local, *over);
                self.range(body).map(|_| TRUTHS)
            }
            ExprKind::Convert(convert) => self.converted(convert),
            _ => None,
        }
    }

    fn computed(
        &self,
        operator: BinaryOp,
        left: WideInterval,
        right: WideInterval,
    ) -> Option<WideInterval> {
        let (low, high) = match operator {
            BinaryOp::Add => (left.0 + right.0, left.1 + right.1),
            BinaryOp::Subtract => (left.0 - right.1, left.1 - right.0),
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Implies => return Some(TRUTHS),
            _ => return None,
        };
        let fits = match self.program.arithmetic {
            Arithmetic::Checked64 => i64::try_from(low).is_ok() && i64::try_from(high).is_ok(),
            Arithmetic::Wrapping32 => i32::try_from(low).is_ok() && i32::try_from(high).is_ok(),
        };
        fits.then_some((low, high))
    }

    /// Returns the bounds of a conversion. Each value must be in a piece.
    fn converted(&mut self, convert: &NumberConversion) -> Option<WideInterval> {
        let (low, high) = self.range(&convert.operand)?;
        let mut pieces: Vec<WideInterval> =
            convert.pieces.iter().map(|it| (it.low.into(), it.high.into())).collect();
        pieces.sort_unstable();
        let reached = pieces.iter().fold(low, |next, piece| match piece.0 <= next {
            true => next.max(piece.1 + 1),
            false => next,
        });
        let moved = convert.pieces.iter().map(|it| {
            (i128::from(it.low) + i128::from(it.by), i128::from(it.high) + i128::from(it.by))
        });
        let hull = moved.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        hull.filter(|_| reached > high)
    }

    /// Returns the bounds of a place that always exists and has a value.
    fn read(&mut self, place: &Place) -> Option<WideInterval> {
        let PlaceRoot::Variable(id) = place.root else { return None };
        if place.slot.is_some() {
            return None;
        }
        let mut ty = self.program.variables[id].ty;
        for selector in &place.path {
            ty = match (&self.program.types[ty], selector) {
                (Type::Array { low, length, element, .. }, PlaceSelector::Index(index)) => {
                    let (least, most) = self.range(index)?;
                    let first = i128::from(*low);
                    let is_inside = first <= least && most < first + i128::from(*length);
                    is_inside.then_some(*element)?
                }
                (Type::Record { fields, .. }, PlaceSelector::Field(number)) => {
                    fields.get(*number as usize)?.1
                }
                _ => return None,
            };
        }
        match &self.program.types[ty] {
            Type::Scalar(scalar) if !scalar.undefined => {
                let (low, high) = self.program.bounds(&scalar.domain);
                Some((low.into(), high.into()))
            }
            _ => None,
        }
    }
}
