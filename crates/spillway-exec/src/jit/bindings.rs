//! The bindings of an action's parameters that its plan lists.
//!
//! Elements that are not 0 are found a machine word at a time: the code reads the bits of as many elements as fit at
//! once. The first bit that is 1 gives the next such element.

use super::code_value::CodeValue;
use super::emitter::{Emitter, FaultHandling, WordFrame};
use super::expr::{COPIES_MAX, CountedLoop, LoopExit};
use super::names::NameBinding;
use super::words::{BitOffset, CHUNK_BITS, ScalarPlace, WORD_BITS};
use crate::interp::IndexScan;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use spillway_analysis::bindings::{BindingStep, IndexBinding, NonzeroScan, nonzero_place};
use spillway_base::source::Span;
use spillway_ir::layout::ScalarCell;
use spillway_ir::{Expr, NumberConversion, Parameter, Place};

/// An action with the context in which its bindings are listed.
pub(super) struct BindingEmission<'l> {
    pub parameters: &'l [Parameter],
    /// The conjuncts of its guard.
    pub conjuncts: &'l [&'l Expr],
    /// The size of the code emitted for each binding.
    pub size: u64,
}

/// The code emitted for a binding. It ends with a jump to the given block.
type BindingBody<'b, 'a, 'f> = dyn FnMut(&mut Emitter<'a, 'f>, Block) + 'b;

/// Elements of an array side by side: the first, their number, and the layout of one.
struct ArrayElements {
    at: BitOffset,
    count: u32,
    cell: ScalarCell,
}

impl ArrayElements {
    /// Returns the number of elements read at once.
    fn at_once(&self) -> u32 {
        (CHUNK_BITS / self.cell.bits).min(self.count)
    }
}

impl<'a, 'f> Emitter<'a, 'f> {
    /// Emits `body` for each way to do these steps, then jumps to `next`.
    pub fn follow(
        &mut self,
        listed: &BindingEmission<'_>,
        steps: &[BindingStep],
        next: Block,
        body: &mut BindingBody<'_, 'a, 'f>,
    ) {
        let Some((step, rest)) = steps.split_first() else { return body(self, next) };
        match step {
            BindingStep::Test(number) => {
                let holds = self.block();
                self.on_fault = FaultHandling::Ignore(next);
                let parent = self.parent();
                self.branch(listed.conjuncts[*number], &parent, holds, next);
                self.continue_at(holds);
                self.follow(listed, rest, next, body);
            }
            BindingStep::Each(parameter) => {
                let parameter = &listed.parameters[*parameter];
                let (bounds, local) = (self.scalar_bounds(parameter.over), parameter.local);
                let counted = CountedLoop { values: bounds, local, leave: LoopExit::ToEnd };
                self.count_up(counted, listed.size, &mut |this, _, next| {
                    this.follow(listed, rest, next, body);
                });
                self.jump(next);
            }
            BindingStep::Scan(NonzeroScan { conjunct, binds }) => {
                let place = nonzero_place(listed.conjuncts[*conjunct]).map(|it| it.0);
                let place = place.unwrap_or_else(|| unreachable!("a source reads a place"));
                self.on_fault = FaultHandling::Ignore(next);
                let mut follow = |this: &mut Self, next| this.follow(listed, rest, next, body);
                match self.elements(listed, place, binds) {
                    Some(elements) => self.scan(listed, &elements, binds, &mut follow),
                    None => {
                        let end = self.block();
                        self.each_index(listed, IndexScan { place, binds }, end, &mut follow);
                        self.continue_at(end);
                    }
                }
                self.jump(next);
            }
        }
    }

    /// Returns the elements that indices select, if reading several at once is worthwhile.
    fn elements(
        &mut self,
        listed: &BindingEmission<'_>,
        place: &Place,
        binds: &[IndexBinding],
    ) -> Option<ArrayElements> {
        let count = binds.iter().try_fold(1u32, |all, it| all.checked_mul(it.length))?;
        let copies = self.copies.saturating_mul(count.into());
        if copies <= COPIES_MAX && copies.saturating_mul(listed.size) <= self.unrolled_max {
            return None;
        }
        for bind in binds {
            let first = NameBinding::Value(CodeValue::constant(bind.value(bind.low)?));
            self.names.bind(listed.parameters[bind.parameter].local, first);
        }
        let parent = self.parent();
        let ScalarPlace { at, cell } = self.scalar_place(place, &parent);
        let is_plain = !cell.undefined && cell.base() == 0 && cell.bits > 0;
        let covers = |it: &&IndexBinding| {
            it.pieces.as_ref().is_none_or(|pieces| {
                let held: i64 = pieces.iter().map(|it| it.high - it.low + 1).sum();
                held == i64::from(it.length)
            })
        };
        let is_whole = binds.iter().filter(covers).count() == binds.len();
        (is_plain && is_whole).then_some(ArrayElements { at, count, cell })
    }

    /// Emits a loop over indices one by one, then jumps to a block.
    fn each_index(
        &mut self,
        listed: &BindingEmission<'_>,
        scanned: IndexScan<'_>,
        end: Block,
        body: &mut BindingBody<'_, 'a, 'f>,
    ) {
        let IndexScan { place, binds } = scanned;
        let Some((bind, rest)) = binds.split_first() else {
            let is_there = self.block();
            let parent = self.parent();
            let there = self.scalar_place(place, &parent);
            let found = self.read_cell(&parent, there, place.span);
            self.branch_on(found, is_there, end);
            self.continue_at(is_there);
            return body(self, end);
        };
        let last = bind.low + i64::from(bind.length) - 1;
        let local = listed.parameters[bind.parameter].local;
        let size = listed.size;
        let counted = CountedLoop { values: (bind.low, last), local, leave: LoopExit::ToEnd };
        self.count_up(counted, size, &mut |this, index, next| {
            let value = this.value_of_index(listed, bind, index, place.span);
            this.names.bind(local, NameBinding::Value(value));
            this.each_index(listed, IndexScan { place, binds: rest }, next, body);
        });
        self.jump(end);
    }

    /// Returns the value of the parameter that an index gives.
    fn value_of_index(
        &mut self,
        listed: &BindingEmission<'_>,
        bind: &IndexBinding,
        index: CodeValue,
        span: Span,
    ) -> CodeValue {
        if let Some(value) = index.as_constant().and_then(|it| bind.value(it)) {
            return CodeValue::constant(value);
        }
        let (low, high) = self.scalar_bounds(listed.parameters[bind.parameter].over);
        match &bind.pieces {
            None => index,
            Some(pieces) => {
                let operand = Expr::constant(0, span);
                let convert = NumberConversion { operand, pieces: pieces.clone() };
                let value = self.convert(&convert, index, None, span);
                let value = self.as_int(value);
                CodeValue::int(value, low, high)
            }
        }
    }

    /// Emits `body` for each element that is not 0.
    fn scan(
        &mut self,
        listed: &BindingEmission<'_>,
        elements: &ArrayElements,
        binds: &[IndexBinding],
        body: &mut BindingBody<'_, 'a, 'f>,
    ) {
        let (head, inside, end) = (self.block(), self.block(), self.block());
        let base = self.b.declare_var(types::I64);
        let zero = self.iconst(0);
        self.b.def_var(base, zero);
        self.jump(head);
        self.continue_at(head);
        let first = self.b.use_var(base);
        let count = i64::from(elements.count);
        let more = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, first, count);
        self.b.ins().brif(more, inside, &[], end, &[]);
        self.continue_at(inside);
        let parent = self.parent();
        let bits = self.bits_of(elements, first, &parent);
        let before = self.loops;
        self.each_bit(elements, first, bits, &mut |this, index, next| {
            this.bind_all(listed, binds, index);
            body(this, next);
        });
        let has_loop_inside = self.loops > before + 1;
        self.loops += 1;
        let first = self.b.use_var(base);
        self.emit_stop_check(first, has_loop_inside, |this| this.jump(end));
        let further = self.b.ins().iadd_imm_s(first, i64::from(elements.at_once()));
        self.b.def_var(base, further);
        self.jump(head);
        self.continue_at(end);
        for bind in binds {
            self.names.unbind(listed.parameters[bind.parameter].local);
        }
    }

    /// Returns the bits of the elements from one on that are read at once, the first ones most significant.
    fn bits_of(&mut self, elements: &ArrayElements, first: Value, parent: &WordFrame) -> Value {
        let (width, at_once) = (elements.cell.bits, elements.at_once());
        let BitOffset { bit, slack, dynamic } = elements.at;
        let (read, last) = (at_once * width, (elements.count - 1) / at_once * at_once);
        let at = match last {
            0 => elements.at,
            _ => {
                let offset = self.b.ins().imul_imm_s(first, i64::from(width));
                let dynamic = match dynamic {
                    None => offset,
                    Some(before) => self.b.ins().iadd(before, offset),
                };
                BitOffset { bit, slack: slack + last * width, dynamic: Some(dynamic) }
            }
        };
        let bits = self.read(parent, at, read);
        let bits = self.b.ins().ishl_imm_s(bits, i64::from(WORD_BITS - read));
        let left = elements.count - last;
        if left == at_once {
            return bits;
        }
        // Other cells follow the last elements.
        let own = self.iconst(first_bits(left * width));
        let theirs = self.b.ins().band(bits, own);
        let is_last = self.b.ins().icmp_imm_s(IntCC::Equal, first, i64::from(last));
        self.b.ins().select(is_last, theirs, bits)
    }

    /// Emits `body` for the index of each element with a bit that is 1.
    fn each_bit(
        &mut self,
        elements: &ArrayElements,
        first: Value,
        bits: Value,
        body: &mut dyn FnMut(&mut Self, CodeValue, Block),
    ) {
        let (head, found, next, end) = (self.block(), self.block(), self.block(), self.block());
        let left = self.b.declare_var(types::I64);
        self.b.def_var(left, bits);
        self.jump(head);
        self.continue_at(head);
        let bits = self.b.use_var(left);
        self.b.ins().brif(bits, found, &[], end, &[]);
        self.continue_at(found);
        let width = elements.cell.bits;
        let bit = self.b.ins().clz(bits);
        let (element, shift) = match width {
            1 => (bit, bit),
            _ => {
                // For the bits of a word this product gives the quotient.
                let product = self.b.ins().imul_imm_s(bit, i64::from((1 << 16) / width + 1));
                let element = self.b.ins().ushr_imm_s(product, 16);
                (element, self.b.ins().imul_imm_s(element, i64::from(width)))
            }
        };
        let own = self.iconst(first_bits(width));
        let own = self.b.ins().ushr(own, shift);
        let rest = self.b.ins().band_not(bits, own);
        self.b.def_var(left, rest);
        let index = self.b.ins().iadd(first, element);
        let before = self.loops;
        body(self, CodeValue::int(index, 0, i64::from(elements.count) - 1), next);
        self.continue_at(next);
        if self.loops > before {
            self.emit_stop_check(first, true, |this| this.jump(end));
        }
        self.loops += 1;
        self.jump(head);
        self.continue_at(end);
    }

    /// Binds the parameters from the position of an element, counted from the first.
    fn bind_all(&mut self, listed: &BindingEmission<'_>, binds: &[IndexBinding], index: CodeValue) {
        let mut rest = self.as_int(index);
        for (at, bind) in binds.iter().enumerate().rev() {
            let length = self.iconst(i64::from(bind.length));
            let own = match at {
                0 => rest,
                _ => self.b.ins().urem(rest, length),
            };
            if at > 0 {
                rest = self.b.ins().udiv(rest, length);
            }
            let own = match bind.low {
                0 => own,
                low => self.b.ins().iadd_imm_s(own, low),
            };
            let own = CodeValue::int(own, bind.low, bind.low + i64::from(bind.length) - 1);
            let value = self.value_of_index(listed, bind, own, Span::default());
            let local = listed.parameters[bind.parameter].local;
            self.names.bind(local, NameBinding::Value(value));
        }
    }
}

/// Returns a word whose first `count` bits are 1.
fn first_bits(count: u32) -> i64 {
    match count {
        0 => 0,
        _ => (u64::MAX << (WORD_BITS - count)) as i64,
    }
}
