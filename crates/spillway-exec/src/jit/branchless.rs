//! Conditions without branches.
//!
//! Most guards are conjunctions of comparisons that cannot fail. A branch on each comparison would often be
//! mispredicted; computed together they need one branch. Tests of cells for known values are fused into one comparison
//! of masked bytes of the state in memory order.

use super::code_value::CodeValue;
use super::emitter::{Emitter, WordFrame, WordStorage};
use super::names::NameBinding;
use super::shape::location_cell;
use super::words::{WORD_BITS, in_words};
use cranelift_codegen::ir::{InstBuilder, Value};
use spillway_ir::layout::ScalarCell;
use spillway_ir::{BinaryOp, ChannelRef, Expr, ExprKind, UnaryOp};
use std::collections::BTreeMap;

/// The maximum number of parts of an expression that is computed without need.
const PARTS_MAX: u32 = 24;

/// A test that a cell of the state has a certain code: masked bits of a word equal expected bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellTest {
    pub word: usize,
    pub mask: u64,
    pub expected: u64,
}

impl Emitter<'_, '_> {
    /// Returns whether an expression cannot fail and is cheap enough to be computed unconditionally.
    pub fn is_simple(&self, expr: &Expr) -> bool {
        let mut parts = PARTS_MAX;
        self.simple(expr, &mut parts)
    }

    fn simple(&self, expr: &Expr, parts: &mut u32) -> bool {
        let Some(left) = parts.checked_sub(1) else { return false };
        *parts = left;
        match &expr.kind {
            ExprKind::Constant(_) | ExprKind::At { slot: None, .. } => true,
            ExprKind::Local(local) => matches!(self.names.get(*local), NameBinding::Value(_)),
            ExprKind::Length(channel) | ExprKind::IsEmpty(channel) | ExprKind::IsFull(channel) => {
                matches!(channel, ChannelRef::Named(_))
            }
            ExprKind::Read(place) => {
                let (program, layout) = (self.interp.program(), self.interp.layout());
                let route = self.shapes.route(program, layout, &self.names, place);
                route.indices.is_empty() && !self.shapes.cell(route.shape).undefined
            }
            ExprKind::Unary(operator, operand) => {
                self.arithmetic().always_succeeds_on_one(*operator) && self.simple(operand, parts)
            }
            ExprKind::Binary(operator, left, right) => {
                self.arithmetic().always_succeeds(*operator)
                    && self.simple(left, parts)
                    && self.simple(right, parts)
            }
            _ => false,
        }
    }

    /// Returns the value of a simple conjunction with at least one test of a cell of the parent.
    pub fn fused(&mut self, expr: &Expr, frame: &WordFrame) -> Option<CodeValue> {
        let mut conjuncts = Vec::new();
        flatten(expr, &mut conjuncts);
        let mut tests: BTreeMap<usize, Option<(u64, u64)>> = BTreeMap::new();
        let mut others = Vec::new();
        for conjunct in conjuncts {
            match self.as_test(conjunct) {
                Some(test) if matches!(frame.words[test.word], WordStorage::Parent) => {
                    let both = tests.entry(test.word).or_insert(Some((0, 0)));
                    *both = both.and_then(|(mask, expected)| {
                        let agree = (expected ^ test.expected) & mask & test.mask == 0;
                        agree.then_some((mask | test.mask, expected | test.expected))
                    });
                }
                _ => others.push(conjunct),
            }
        }
        if tests.is_empty() {
            return None;
        }
        if tests.values().any(Option::is_none) {
            return Some(CodeValue::constant(0));
        }
        let mut all: Option<Value> = None;
        for (word, test) in tests {
            let (mask, expected) = test.unwrap_or_default();
            let truth = self.parent_matches(word, mask, expected);
            all = Some(self.and(all, truth));
        }
        for other in others {
            let value = self.value(other, frame);
            let truth = self.as_truth(value);
            all = Some(self.and(all, truth));
        }
        all.map(CodeValue::truth)
    }

    fn and(&mut self, before: Option<Value>, truth: Value) -> Value {
        match before {
            None => truth,
            Some(before) => self.b.ins().band(before, truth),
        }
    }

    /// Returns the cell that is read, if it is known and always has a value.
    fn known_cell(&self, expr: &Expr) -> Option<ScalarCell> {
        let ExprKind::Read(place) = &expr.kind else { return None };
        let (program, layout) = (self.interp.program(), self.interp.layout());
        let route = self.shapes.route(program, layout, &self.names, place);
        let cell = self.shapes.cell(route.shape);
        let is_known = route.slack == 0 && route.indices.is_empty() && !cell.undefined;
        is_known.then_some(ScalarCell { bit: route.start.bit, ..cell })
    }

    /// Bits of a word, if there are such: the condition holds only if at least one of them is 1.
    pub fn as_required_bits(&self, expr: &Expr) -> Option<(usize, u64)> {
        if let Some(CellTest { word, expected, .. }) = self.as_test(expr) {
            return (expected != 0).then_some((word, expected));
        }
        match &expr.kind {
            // Code 0 is too small.
            ExprKind::Binary(BinaryOp::GreaterEqual, left, right) => {
                let cell = self.known_cell(left)?;
                let least = self.names.constant_value(right).filter(|it| *it > cell.base())?;
                let CellTest { word, mask, .. } = test(cell, least)?;
                Some((word, mask))
            }
            _ => None,
        }
    }

    /// Returns the condition as a test of one cell, if it is one.
    pub fn as_test(&self, expr: &Expr) -> Option<CellTest> {
        let layout = self.interp.layout();
        let read = |expr: &Expr| self.known_cell(expr);
        match &expr.kind {
            ExprKind::At { process, location, slot: None } => {
                test(location_cell(layout, *process), i64::from(location.0))
            }
            ExprKind::Binary(BinaryOp::Equal, left, right) => {
                match (self.names.constant_value(left), self.names.constant_value(right)) {
                    (_, Some(value)) => test(read(left)?, value),
                    (Some(value), _) => test(read(right)?, value),
                    _ => None,
                }
            }
            ExprKind::Binary(BinaryOp::GreaterEqual, left, right) => {
                // Only the greatest value satisfies a comparison with it.
                let cell = read(left)?;
                let value = self.names.constant_value(right).filter(|it| *it == cell.most)?;
                test(cell, value)
            }
            ExprKind::Read(_) => read(expr).filter(is_bit).and_then(|cell| test(cell, 1)),
            ExprKind::Unary(UnaryOp::Not, operand) => {
                read(operand).filter(is_bit).and_then(|cell| test(cell, 0))
            }
            _ => None,
        }
    }
}

/// Returns whether a cell holds 0 or 1.
fn is_bit(cell: &ScalarCell) -> bool {
    (cell.low, cell.high) == (0, 1)
}

/// Returns the test that a cell within one word holds a value it can hold.
fn test(cell: ScalarCell, value: i64) -> Option<CellTest> {
    let words = in_words(&(cell.bit..cell.bit + cell.bits));
    if cell.bits == 0 || words.len() > 1 || !(cell.least..=cell.most).contains(&value) {
        return None;
    }
    let below = WORD_BITS * (words.start as u32 + 1) - cell.bit - cell.bits;
    let mask = (u64::MAX >> (64 - cell.bits)) << below;
    let expected = (cell.code(value) as u64) << below;
    Some(CellTest { word: words.start, mask, expected })
}

/// Adds the operands of a conjunction to `conjuncts`, in order.
fn flatten<'e>(expr: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            flatten(left, conjuncts);
            flatten(right, conjuncts);
        }
        _ => conjuncts.push(expr),
    }
}
