//! Shifts, a construct of Rumur only.
//!
//! A shift by a negative number shifts in the other direction; a shift by 64 or more yields 0. The program's own shifts
//! fault in these cases, so a shift by an unknown number becomes a call of a function.

use super::constant_folding::{binary, unary};
use super::sorts::ScalarSort;
use super::{MurphiLowering, ROUTINE_SPAN};
use spillway_base::source::Span;
use spillway_ir::{
    BinaryOp, CallArgument, Expr, ExprKind, Function, FunctionId, FunctionParameter, LocalId, Stmt,
    StmtKind, UnaryOp,
};

/// The number of bits of a number.
const WORD: i64 = 64;

impl MurphiLowering<'_, '_> {
    /// Lowers `left << right`, or `left >> right`.
    pub(super) fn shift(
        &mut self,
        operator: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Expr {
        match right.as_constant() {
            Some(by) if by <= -WORD || by >= WORD => {
                // The left operand is still evaluated: it may be undefined.
                binary(BinaryOp::Multiply, left, Expr::constant(0, span), span)
            }
            Some(by) if by < 0 => {
                binary(opposite(operator), left, Expr::constant(-by, right.span), span)
            }
            Some(_) => binary(operator, left, right, span),
            None => {
                let function = self.shift_function(operator);
                let arguments = vec![CallArgument::Value(left), CallArgument::Value(right)];
                Expr::new(ExprKind::Call(function, arguments), span)
            }
        }
    }

    /// Returns the function for this kind of shift.
    fn shift_function(&mut self, operator: BinaryOp) -> FunctionId {
        let right = operator == BinaryOp::ShiftRight;
        if let Some(known) = self.shifts[usize::from(right)] {
            return known;
        }
        let ty = self.widest_type(&ScalarSort::Number);
        let parameter = |number, name: &str| FunctionParameter {
            local: LocalId(number),
            name: name.to_owned(),
            ty,
            by_reference: false,
        };
        let span = ROUTINE_SPAN;
        let local = |number| Expr::new(ExprKind::Local(LocalId(number)), span);
        let (value, by) = (local(0), local(1));
        let known = |value| Expr::constant(value, span);
        let returned = |value| Stmt { kind: StmtKind::Return(Some(value)), span };
        let compared = |operator, bound| binary(operator, by.clone(), known(bound), span);
        let back = unary(UnaryOp::Negate, by.clone(), span);
        let branches = vec![
            (Some(compared(BinaryOp::LessEqual, -WORD)), vec![returned(known(0))]),
            (Some(compared(BinaryOp::GreaterEqual, WORD)), vec![returned(known(0))]),
            (
                Some(compared(BinaryOp::Less, 0)),
                vec![returned(binary(opposite(operator), value.clone(), back, span))],
            ),
            (None, vec![returned(binary(operator, value, by.clone(), span))]),
        ];
        let name = if right { "shift right" } else { "shift left" };
        let function = self.add_function(Function {
            name: name.to_owned(),
            parameters: vec![parameter(0, "value"), parameter(1, "by")],
            result: Some(ty),
            body: vec![Stmt { kind: StmtKind::If(branches), span }],
            whole: false,
            span,
        });
        self.shifts[usize::from(right)] = Some(function);
        function
    }
}

fn opposite(operator: BinaryOp) -> BinaryOp {
    match operator {
        BinaryOp::ShiftLeft => BinaryOp::ShiftRight,
        _ => BinaryOp::ShiftLeft,
    }
}
