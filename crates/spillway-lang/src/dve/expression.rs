//! Lowering of expressions: resolves names, folds known values and balances chains.

use super::ARITHMETIC;
use super::ast::{DveChannelQuery, DveExpr, DveExprKind};
use super::check::ResolvedReference;
use super::scope::DveScope;
use crate::quote::quote;
use spillway_base::source::Span;
use spillway_base::trees::balanced;
use spillway_ir as ir;

impl<'a> DveScope<'_, 'a> {
    /// Returns the lowered expression, or a placeholder after an error.
    pub(super) fn lower(&self, expr: &DveExpr<'a>) -> ir::Expr {
        let span = expr.span;
        let kind = match &expr.kind {
            DveExprKind::Number(value) => Some(ir::ExprKind::Constant(*value)),
            DveExprKind::Value(reference) => read(self.reference(reference), span),
            DveExprKind::Foreign(process, reference) => self
                .process(process)
                .and_then(|member| read(self.resolve_foreign(member, reference), span)),
            DveExprKind::In(process, state) => self.process(process).and_then(|member| {
                let location = self.state(member, *state)?;
                Some(ir::ExprKind::At { process: member.id, slot: None, location })
            }),
            DveExprKind::Query(query, channel) => {
                self.channel(channel).and_then(|id| self.query(*query, id, channel.name.span))
            }
            DveExprKind::Unary(operator, operand) => {
                return unary(*operator, self.lower(operand), span);
            }
            DveExprKind::Binary(operator, sides) => {
                let (left, right) = (self.lower(&sides.0), self.lower(&sides.1));
                return binary(*operator, left, right, span);
            }
            DveExprKind::Chain(operator, operands, _) => {
                let operands = operands.iter().map(|operand| self.lower(operand)).collect();
                let join = |left: ir::Expr, right: ir::Expr| {
                    let span = left.span.to(right.span);
                    binary(*operator, left, right, span)
                };
                return balanced(operands, join)
                    .unwrap_or_else(|| unreachable!("a chain has operands"));
            }
        };
        ir::Expr::new(kind.unwrap_or(ir::ExprKind::Constant(0)), span)
    }

    fn query(&self, query: DveChannelQuery, id: ir::ChannelId, span: Span) -> Option<ir::ExprKind> {
        use ir::Entity;
        if self.world.channels[id.index()].capacity == 0 {
            let error = format!("{} has no buffer", quote(self.report.text(span)));
            self.report.error_with(span, error, "`full` and `empty` ask about buffered channels");
            return None;
        }
        let channel = ir::ChannelRef::Named(id);
        Some(match query {
            DveChannelQuery::Full => ir::ExprKind::IsFull(channel),
            DveChannelQuery::Empty => ir::ExprKind::IsEmpty(channel),
        })
    }
}

fn read(resolved: Option<ResolvedReference>, span: Span) -> Option<ir::ExprKind> {
    Some(match resolved? {
        ResolvedReference::Known(value) => ir::ExprKind::Constant(value),
        ResolvedReference::Place(place, _) => ir::ExprKind::Read(ir::Place { span, ..place }),
    })
}

fn unary(operator: ir::UnaryOp, operand: ir::Expr, span: Span) -> ir::Expr {
    let known = operand.as_constant().and_then(|known| ARITHMETIC.unary(operator, known).ok());
    let kind = match known {
        Some(known) => ir::ExprKind::Constant(known),
        None => ir::ExprKind::Unary(operator, Box::new(operand)),
    };
    ir::Expr::new(kind, span)
}

fn binary(operator: ir::BinaryOp, left: ir::Expr, right: ir::Expr, span: Span) -> ir::Expr {
    let known = left.as_constant().and_then(|known| {
        let both = || ARITHMETIC.binary(operator, known, right.as_constant()?).ok();
        operator.short_circuit_value(known).or_else(both)
    });
    let kind = match known {
        Some(known) => ir::ExprKind::Constant(known),
        None => ir::ExprKind::Binary(operator, Box::new(left), Box::new(right)),
    };
    ir::Expr::new(kind, span)
}
