//! Expressions: values, and conditions that code branches on.
//!
//! Everything is computed in 64 bits, so the program's 32-bit operations never overflow. A result is brought back into
//! 32 bits unless the ranges of the operands rule out that this is needed. Evaluation order and faults are the
//! interpreter's.

use super::code_value::CodeValue;
use super::emitter::{Emitter, ROUNDS_PER_STOP_CHECK, WordFrame};
use super::names::NameBinding;
use super::shape::location_cell;
use super::words::BitOffset;
use crate::interp::{ChannelInstance, ChannelReceive};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use spillway_base::source::Span;
use spillway_ir::interval::{self, Interval, ResultRange, is_none};
use spillway_ir::{
    Arithmetic, BinaryOp, ChannelRef, Expr, ExprKind, LocalId, Quantifier, ReceivePattern,
    ScalarType, Type, TypeId, UnaryOp, message_arity,
};
use spillway_model::FaultKind;

/// The maximum number of copies of the code with unrolled loops over values of names. Unrolling makes values and
/// positions known.
pub(super) const COPIES_MAX: u64 = 32;

/// The exit of a loop on a stop request.
#[derive(Clone, Copy)]
pub(super) enum LoopExit {
    /// To the end of the loop.
    ToEnd,
    /// By a fault of the step.
    ByFault(Span),
}

/// A loop over the values of a local.
#[derive(Clone, Copy)]
pub(super) struct CountedLoop {
    /// The least and the greatest value.
    pub values: Interval,
    /// The local that holds the value.
    pub local: LocalId,
    /// The exit on a stop request.
    pub leave: LoopExit,
}

/// A binary operation on integers.
#[derive(Clone, Copy)]
struct ArithmeticOperation {
    operator: BinaryOp,
    /// The possible results.
    results: ResultRange,
    span: Span,
}

impl Emitter<'_, '_> {
    /// Returns the value of an expression in the state of a frame.
    pub fn value(&mut self, expr: &Expr, frame: &WordFrame) -> CodeValue {
        match &expr.kind {
            ExprKind::Constant(value) => CodeValue::constant(*value),
            ExprKind::Read(place) => {
                let from = self.scalar_place(place, frame);
                self.read_cell(frame, from, place.span)
            }
            ExprKind::Local(local) => self.local(*local, frame, expr.span),
            ExprKind::Unary(operator, operand) => {
                let operand = self.value(operand, frame);
                self.unary(*operator, operand, expr.span)
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, left, right) => {
                match self.is_simple(right) {
                    true => self.eager(expr, left, right, frame),
                    false => self.condition_as_value(expr, frame),
                }
            }
            ExprKind::Binary(operator, left, right) => {
                let left = self.value(left, frame);
                let right = self.value(right, frame);
                self.binary(*operator, left, right, expr.span)
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise, frame)
            }
            ExprKind::At { process, location, .. } => {
                let cell = location_cell(self.interp.layout(), *process);
                let code = self.read(frame, BitOffset::fixed(cell.bit), cell.bits);
                let there = self.b.ins().icmp_imm_s(IntCC::Equal, code, i64::from(location.0));
                CodeValue::truth(there)
            }
            ExprKind::Length(channel) => {
                self.on_channel(channel, frame, &mut |this, at| this.length(at, frame))
            }
            ExprKind::IsEmpty(channel) => self.on_channel(channel, frame, &mut |this, at| {
                let length = this.length(at, frame);
                this.compare(BinaryOp::Equal, length, CodeValue::constant(0))
            }),
            ExprKind::IsFull(channel) => self.on_channel(channel, frame, &mut |this, at| {
                let capacity = this.interp.program().channels[at.id].capacity;
                let length = this.length(at, frame);
                this.compare(BinaryOp::Equal, length, CodeValue::constant(i64::from(capacity)))
            }),
            ExprKind::CanReceive(..) | ExprKind::Quantified { .. } => {
                self.condition_as_value(expr, frame)
            }
            ExprKind::IsUndefined(place) => {
                let (at, shape) = self.place_offset(place, frame);
                let cell = self.shapes.cell(shape);
                match cell.undefined {
                    false => CodeValue::constant(0),
                    true => {
                        let code = self.read(frame, at, cell.bits);
                        CodeValue::truth(self.b.ins().icmp_imm_s(IntCC::Equal, code, 0))
                    }
                }
            }
            ExprKind::Count { multiset, local, body } => self.count(multiset, *local, body, frame),
            ExprKind::Same(left, right) => self.same(left, right, frame),
            ExprKind::Contains(contains) => self.contains(contains, frame),
            ExprKind::Convert(convert) => {
                let value = self.value(&convert.operand, frame);
                self.convert(convert, value, None, expr.span)
            }
            ExprKind::Undefined | ExprKind::Call(..) => {
                let value = self.possibly_undefined(expr, frame);
                self.defined(value, expr.span)
            }
            ExprKind::ChannelNumber(channel) => {
                let ChannelRef::Named(id) = channel else {
                    unreachable!("left to the interpreter")
                };
                let at = self.names.named(self.interp.program(), *id);
                CodeValue::constant(
                    self.channel_number(at).unwrap_or_else(|| unreachable!("as above")),
                )
            }
            ExprKind::Self_ => self.pid(frame),
            ExprKind::Processes => self.count_processes(frame),
            ExprKind::Timeout => CodeValue::constant(self.names.timeout.into()),
            ExprKind::SlotOf(..) | ExprKind::Enabled(_) | ExprKind::PriorityOf(_) => {
                unreachable!("left to the interpreter")
            }
        }
    }

    /// Branches to `then` if a condition holds in the state of a frame, else to `otherwise`.
    pub fn branch(&mut self, expr: &Expr, frame: &WordFrame, then: Block, otherwise: Block) {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => self.branch(operand, frame, otherwise, then),
            ExprKind::Binary(
                operator @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies),
                left,
                right,
            ) => {
                if self.is_simple(right) && self.is_simple(left) {
                    let value = self.eager(expr, left, right, frame);
                    return self.branch_on(value, then, otherwise);
                }
                let second = self.block();
                match operator {
                    BinaryOp::And => self.branch(left, frame, second, otherwise),
                    BinaryOp::Or => self.branch(left, frame, then, second),
                    _ => self.branch(left, frame, second, then),
                }
                self.continue_at(second);
                self.branch(right, frame, then, otherwise);
            }
            ExprKind::CanReceive(channel, patterns, _) => {
                self.each_channel(channel, frame, &mut |this, at| {
                    let receive = ChannelReceive { channel: at, patterns, span: expr.span };
                    this.can_receive(receive, frame, then, otherwise);
                });
            }
            ExprKind::Quantified { quantifier, local, over, body } => {
                let stops_at = *quantifier == Quantifier::Some;
                let (stopped, exhausted) =
                    if stops_at { (then, otherwise) } else { (otherwise, then) };
                let bounds = self.scalar_bounds(*over);
                let size = self.sizes.expr(self.interp.program(), body);
                let leave = LoopExit::ByFault(body.span);
                let counted = CountedLoop { values: bounds, local: *local, leave };
                self.count_up(counted, size, &mut |this, _, next| match stops_at {
                    true => this.branch(body, frame, stopped, next),
                    false => this.branch(body, frame, next, stopped),
                });
                self.jump(exhausted);
            }
            _ => {
                let value = self.value(expr, frame);
                self.branch_on(value, then, otherwise);
            }
        }
    }

    /// Returns a logical operation whose right side can be computed unconditionally.
    fn eager(&mut self, expr: &Expr, left: &Expr, right: &Expr, frame: &WordFrame) -> CodeValue {
        // Fusing continues into the left side, which is then computed unconditionally.
        if self.is_simple(left)
            && let Some(value) = self.fused(expr, frame)
        {
            return value;
        }
        let ExprKind::Binary(operator, ..) = expr.kind else { unreachable!("a logical operator") };
        let left = self.value(left, frame);
        let left = self.as_truth(left);
        let right = self.value(right, frame);
        let right = self.as_truth(right);
        CodeValue::truth(match operator {
            BinaryOp::And => self.b.ins().band(left, right),
            BinaryOp::Or => self.b.ins().bor(left, right),
            _ => {
                let not = self.b.ins().bxor_imm_s(left, 1);
                self.b.ins().bor(not, right)
            }
        })
    }

    /// Returns a condition that needs branches, as 0 or 1.
    fn condition_as_value(&mut self, expr: &Expr, frame: &WordFrame) -> CodeValue {
        let (yes, no, end) = (self.block(), self.block(), self.block());
        let result = self.b.append_block_param(end, types::I8);
        self.branch(expr, frame, yes, no);
        for (block, value) in [(yes, 1), (no, 0)] {
            self.continue_at(block);
            let value = self.b.ins().iconst(types::I8, value);
            self.b.ins().jump(end, &[BlockArg::from(value)]);
        }
        self.continue_at(end);
        CodeValue::truth(result)
    }

    fn conditional(
        &mut self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
        frame: &WordFrame,
    ) -> CodeValue {
        let (yes, no, end) = (self.block(), self.block(), self.block());
        let result = self.b.append_block_param(end, types::I64);
        self.branch(condition, frame, yes, no);
        let [one, other] = [(yes, then), (no, otherwise)].map(|(block, expr)| {
            self.continue_at(block);
            let value = self.value(expr, frame);
            let int = self.as_int(value);
            self.b.ins().jump(end, &[BlockArg::from(int)]);
            value
        });
        self.continue_at(end);
        CodeValue::int(result, one.low.min(other.low), one.high.max(other.high))
    }

    fn unary(&mut self, operator: UnaryOp, operand: CodeValue, span: Span) -> CodeValue {
        match operator {
            UnaryOp::Negate => {
                self.binary(BinaryOp::Subtract, CodeValue::constant(0), operand, span)
            }
            UnaryOp::Not => self.compare(BinaryOp::Equal, operand, CodeValue::constant(0)),
            UnaryOp::Complement => {
                let value = self.as_int(operand);
                let (low, high) = interval::unary(self.arithmetic(), operator, operand.range());
                CodeValue::int(self.b.ins().bnot(value), low, high)
            }
        }
    }

    fn binary(
        &mut self,
        operator: BinaryOp,
        left: CodeValue,
        right: CodeValue,
        span: Span,
    ) -> CodeValue {
        let arithmetic = self.arithmetic();
        if let (Some(one), Some(other)) = (left.as_constant(), right.as_constant())
            && let Ok(known) = arithmetic.binary(operator, one, other)
        {
            return CodeValue::constant(known);
        }
        let results = interval::binary(arithmetic, operator, left.range(), right.range());
        let operation = ArithmeticOperation { operator, results, span };
        let value = match operator {
            BinaryOp::Divide | BinaryOp::Remainder => self.divide(operator, left, right, span),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => self.shift(operation, left, right),
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply => {
                self.add_or_multiply(operation, left, right)
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                self.bits(operator, left, right)
            }
            _ => return self.compare(operator, left, right),
        };
        self.program_integer(value, results)
    }

    /// Returns a result, converted to the program's integers.
    fn program_integer(&mut self, value: Value, results: ResultRange) -> CodeValue {
        let (low, high) = results.range;
        match self.arithmetic() {
            // A fault has been emitted, so this point is unreachable.
            _ if is_none(results.range) => CodeValue::constant(0),
            Arithmetic::Wrapping32 if results.may_overflow => {
                let lower = self.b.ins().ireduce(types::I32, value);
                CodeValue::int(self.b.ins().sextend(types::I64, lower), low, high)
            }
            _ => CodeValue::int(value, low, high),
        }
    }

    /// Emits sums, differences and products.
    fn add_or_multiply(
        &mut self,
        operation: ArithmeticOperation,
        left: CodeValue,
        right: CodeValue,
    ) -> Value {
        let ArithmeticOperation { operator, results, span } = operation;
        let (one, other) = (self.as_int(left), self.as_int(right));
        if self.arithmetic() == Arithmetic::Checked64 && results.may_overflow {
            let (value, overflow) = match operator {
                BinaryOp::Add => self.b.ins().sadd_overflow(one, other),
                BinaryOp::Subtract => self.b.ins().ssub_overflow(one, other),
                _ => self.b.ins().smul_overflow(one, other),
            };
            self.fail_if(overflow, FaultKind::Range, span);
            return value;
        }
        match operator {
            BinaryOp::Add => self.b.ins().iadd(one, other),
            BinaryOp::Subtract => self.b.ins().isub(one, other),
            _ => self.b.ins().imul(one, other),
        }
    }

    fn bits(&mut self, operator: BinaryOp, left: CodeValue, right: CodeValue) -> Value {
        let (one, other) = (self.as_int(left), self.as_int(right));
        match operator {
            BinaryOp::BitAnd => self.b.ins().band(one, other),
            BinaryOp::BitOr => self.b.ins().bor(one, other),
            _ => self.b.ins().bxor(one, other),
        }
    }

    /// Returns the result of a comparison.
    pub fn compare(&mut self, operator: BinaryOp, left: CodeValue, right: CodeValue) -> CodeValue {
        let results = interval::binary(self.arithmetic(), operator, left.range(), right.range());
        match results.range {
            (0, 1) => {
                let (left, right) = (self.as_int(left), self.as_int(right));
                CodeValue::truth(self.b.ins().icmp(condition(operator), left, right))
            }
            // Without a possible value this point is unreachable.
            range if is_none(range) => CodeValue::constant(0),
            (known, _) => CodeValue::constant(known),
        }
    }

    fn divide(
        &mut self,
        operator: BinaryOp,
        left: CodeValue,
        right: CodeValue,
        span: Span,
    ) -> Value {
        let mut divisor = self.as_int(right);
        if right.may_be(0) {
            let zero = self.b.ins().icmp_imm_s(IntCC::Equal, divisor, 0);
            self.fail_if(zero, FaultKind::Division, span);
        }
        let dividend = self.as_int(left);
        if operator == BinaryOp::Divide && left.may_be(i64::MIN) && right.may_be(-1) {
            let least = self.b.ins().icmp_imm_s(IntCC::Equal, dividend, i64::MIN);
            let minus = self.b.ins().icmp_imm_s(IntCC::Equal, divisor, -1);
            let overflow = self.b.ins().band(least, minus);
            match self.arithmetic() {
                Arithmetic::Checked64 => self.fail_if(overflow, FaultKind::Range, span),
                Arithmetic::Wrapping32 => {
                    // Dividing by 1 gives the same low bits, and the processor supports it.
                    let one = self.iconst(1);
                    divisor = self.b.ins().select(overflow, one, divisor);
                }
            }
        }
        let limit = i64::from(u32::MAX);
        if left.is_within(0, limit) && right.is_within(0, limit) {
            let dividend = self.b.ins().ireduce(types::I32, dividend);
            let divisor = self.b.ins().ireduce(types::I32, divisor);
            let value = match operator {
                BinaryOp::Divide => self.b.ins().udiv(dividend, divisor),
                _ => self.b.ins().urem(dividend, divisor),
            };
            return self.b.ins().uextend(types::I64, value);
        }
        match operator {
            BinaryOp::Divide => self.b.ins().sdiv(dividend, divisor),
            _ => self.b.ins().srem(dividend, divisor),
        }
    }

    fn shift(&mut self, operation: ArithmeticOperation, left: CodeValue, by: CodeValue) -> Value {
        let ArithmeticOperation { operator, results, span } = operation;
        let word = self.arithmetic().word();
        let count = self.as_int(by);
        if !by.is_within(0, word - 1) {
            let beyond = self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThanOrEqual, count, word);
            self.fail_if(beyond, FaultKind::Shift, span);
        }
        let value = self.as_int(left);
        if operator == BinaryOp::ShiftRight {
            return self.b.ins().sshr(value, count);
        }
        let shifted = self.b.ins().ishl(value, count);
        if self.arithmetic() == Arithmetic::Checked64 && results.may_overflow {
            let back = self.b.ins().sshr(shifted, count);
            let lost = self.b.ins().icmp(IntCC::NotEqual, back, value);
            self.fail_if(lost, FaultKind::Range, span);
        }
        shifted
    }

    /// Emits `body`, of the given size, for each value of a loop: in a run-time loop or unrolled. The body ends with a
    /// jump to the given block.
    pub fn count_up(
        &mut self,
        counted: CountedLoop,
        size: u64,
        body: &mut dyn FnMut(&mut Self, CodeValue, Block),
    ) {
        let CountedLoop { values: (low, high), local, .. } = counted;
        let values = (i128::from(high) - i128::from(low) + 1).clamp(0, u64::MAX.into()) as u64;
        let copies = values.saturating_mul(self.copies);
        let is_unrolled =
            values == 1 || copies <= COPIES_MAX && copies.saturating_mul(size) <= self.unrolled_max;
        match is_unrolled {
            true => {
                let outer = std::mem::replace(&mut self.copies, copies);
                for value in low..=high {
                    let next = self.block();
                    self.names.bind(local, NameBinding::Value(CodeValue::constant(value)));
                    body(self, CodeValue::constant(value), next);
                    self.continue_at(next);
                }
                self.copies = outer;
            }
            false => self.loop_up(counted, body),
        }
        self.names.unbind(local);
    }

    fn loop_up(&mut self, counted: CountedLoop, body: &mut dyn FnMut(&mut Self, CodeValue, Block)) {
        let CountedLoop { values: (low, high), local, leave } = counted;
        let (head, inside, next, end) = (self.block(), self.block(), self.block(), self.block());
        let variable = self.b.declare_var(types::I64);
        let start = self.iconst(low);
        self.b.def_var(variable, start);
        self.jump(head);
        self.continue_at(head);
        let value = self.b.use_var(variable);
        let more = self.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, value, high);
        self.b.ins().brif(more, inside, &[], end, &[]);
        self.continue_at(inside);
        let current = CodeValue::int(value, low, high.max(low));
        self.names.bind(local, NameBinding::Value(current));
        let before = self.loops;
        body(self, current, next);
        self.continue_at(next);
        let value = self.b.use_var(variable);
        let has_loop_inside = self.loops > before;
        self.loops += 1;
        if has_loop_inside || high.saturating_sub(low) >= ROUNDS_PER_STOP_CHECK {
            self.emit_stop_check(value, has_loop_inside, |this| match leave {
                LoopExit::ToEnd => this.jump(end),
                LoopExit::ByFault(span) => this.end_with_fault(FaultKind::Limit, span),
            });
        }
        if high == i64::MAX {
            // Incrementing the last value would overflow, so the loop compares before.
            let go_on = self.block();
            let done = self.b.ins().icmp_imm_s(IntCC::Equal, value, high);
            self.b.ins().brif(done, end, &[], go_on, &[]);
            self.continue_at(go_on);
        }
        let value = self.b.ins().iadd_imm_s(value, 1);
        self.b.def_var(variable, value);
        self.jump(head);
        self.continue_at(end);
    }

    /// Returns the least and greatest value of a scalar type.
    pub fn scalar_bounds(&self, ty: TypeId) -> Interval {
        match &self.interp.program().types[ty] {
            Type::Scalar(ScalarType { domain, .. }) => self.interp.program().bounds(domain),
            _ => unreachable!("the validator lets only scalar types be ranged over"),
        }
    }

    /// Returns the number of buffered messages.
    pub fn length(&mut self, channel: ChannelInstance, frame: &WordFrame) -> CodeValue {
        let program = self.interp.program();
        if program.channels[channel.id].capacity == 0 {
            return CodeValue::constant(0);
        }
        let buffer = self.shapes.buffer(program, self.interp.layout(), channel);
        let code = self.read(frame, BitOffset::fixed(buffer.length.bit), buffer.length.bits);
        CodeValue::int(code, 0, buffer.length.high)
    }

    /// Branches to `then` if the channel has a first message and it matches.
    pub fn can_receive(
        &mut self,
        ChannelReceive { channel, patterns, span }: ChannelReceive,
        frame: &WordFrame,
        then: Block,
        otherwise: Block,
    ) {
        let program = self.interp.program();
        if program.channels[channel.id].capacity == 0 {
            return self.jump(otherwise);
        }
        let buffer = self.shapes.buffer(program, self.interp.layout(), channel);
        let length = self.length(channel, frame);
        let waiting = self.block();
        self.branch_on(length, waiting, otherwise);
        self.continue_at(waiting);
        for (pattern, field) in patterns.iter().zip(&buffer.fields) {
            if let ReceivePattern::Match(expected) = pattern {
                let value = self.read_field(frame, buffer.first_message(*field));
                self.continue_if_equal(expected, value, frame, otherwise);
            }
        }
        let fields = buffer.fields.len();
        self.continue_if_equal_past_end(patterns, fields, frame, otherwise);
        match message_arity::fails_past_end(patterns, fields) {
            true => self.end_with_fault(FaultKind::TooManyReceived, span),
            false => self.jump(then),
        }
    }

    /// Continues if the values read for missing fields of a message are the expected ones, else jumps to `otherwise`.
    pub fn continue_if_equal_past_end(
        &mut self,
        patterns: &[ReceivePattern],
        fields: usize,
        frame: &WordFrame,
        otherwise: Block,
    ) {
        for pattern in patterns.iter().skip(fields) {
            if let ReceivePattern::Match(expected) = pattern
                && message_arity::reads_zero_past_end(fields)
            {
                self.continue_if_equal(expected, CodeValue::constant(0), frame, otherwise);
            }
        }
    }

    /// Continues if a value equals the expected one, else jumps to `otherwise`.
    pub fn continue_if_equal(
        &mut self,
        expected: &Expr,
        value: CodeValue,
        frame: &WordFrame,
        otherwise: Block,
    ) {
        let expected = self.value(expected, frame);
        let equal = self.compare(BinaryOp::Equal, expected, value);
        let go_on = self.block();
        self.branch_on(equal, go_on, otherwise);
        self.continue_at(go_on);
    }
}

/// Returns the processor's condition code for a comparison.
fn condition(operator: BinaryOp) -> IntCC {
    match operator {
        BinaryOp::Equal => IntCC::Equal,
        BinaryOp::NotEqual => IntCC::NotEqual,
        BinaryOp::Less => IntCC::SignedLessThan,
        BinaryOp::LessEqual => IntCC::SignedLessThanOrEqual,
        BinaryOp::Greater => IntCC::SignedGreaterThan,
        BinaryOp::GreaterEqual => IntCC::SignedGreaterThanOrEqual,
        _ => unreachable!("a comparison"),
    }
}
