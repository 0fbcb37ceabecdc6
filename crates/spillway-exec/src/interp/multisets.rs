//! Multisets.
//!
//! While a step runs, elements keep their positions: an added element takes the first free position, and a removed one
//! leaves its position free. At the end of the step, every multiset is brought into its canonical form (elements
//! first, sorted by their codes), so that equal multisets are equal bytes.

use super::failure::fault;
use super::frames::{ArgumentTarget, LocalEnv, LocalValue, TypedCells};
use super::{EvalFailure, Interp};
use spillway_base::source::Span;
use spillway_ir::layout::{CellId, Layout};
use spillway_ir::{CallArgument, Expr, LocalId, Place, Program, Type, TypeId};
use spillway_model::FaultKind;
use std::ops::Range;

/// The parameters of a multiset type.
#[derive(Clone, Copy, Debug)]
pub(super) struct MultisetShape {
    pub(super) capacity: u32,
    pub(super) element: TypeId,
    /// The number of cells of a position: the presence flag and the element.
    pub(super) stride: u32,
}

/// A multiset of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultisetCells {
    /// The first cell.
    pub first: CellId,
    /// The number of positions.
    pub capacity: u32,
    /// The number of cells of a position.
    pub stride: u32,
}

impl MultisetCells {
    /// Returns the numbers of all its cells.
    pub fn cells(&self) -> Range<u32> {
        self.first.0..self.first.0 + self.capacity * self.stride
    }
}

/// Returns every multiset of the state, inner ones before those that contain them.
pub fn multisets(program: &Program, layout: &Layout) -> Vec<MultisetCells> {
    let mut found = Vec::new();
    for (id, variable) in program.variables.iter() {
        collect(program, layout, layout.variables[id].first.0, variable.ty, &mut found);
    }
    found
}

fn collect(
    program: &Program,
    layout: &Layout,
    first: u32,
    ty: TypeId,
    found: &mut Vec<MultisetCells>,
) {
    match &program.types[ty] {
        Type::Scalar(_) => {}
        Type::Array { length, element, .. } => {
            let stride = layout.sizes[*element];
            for at in 0..*length {
                collect(program, layout, first + at * stride, *element, found);
            }
        }
        Type::Record { fields, .. } => {
            let mut next = first;
            for (_, field) in fields {
                collect(program, layout, next, *field, found);
                next += layout.sizes[*field];
            }
        }
        Type::Multiset { capacity, element } => {
            let stride = 1 + layout.sizes[*element];
            for at in 0..*capacity {
                collect(program, layout, first + at * stride + 1, *element, found);
            }
            found.push(MultisetCells { first: CellId(first), capacity: *capacity, stride });
        }
    }
}

/// A condition over the elements of a multiset.
#[derive(Clone, Copy)]
pub(super) struct ElementCondition<'c> {
    /// The local that holds the position of an element.
    pub local: LocalId,
    pub body: &'c Expr,
}

/// A statement that adds an element to a multiset.
#[derive(Clone, Copy)]
pub(super) struct MultisetAddition<'s> {
    pub multiset: &'s Place,
    pub element: &'s CallArgument,
    pub span: Span,
}

impl Interp {
    /// Returns the parameters of a multiset type.
    pub(super) fn bag(&self, ty: TypeId) -> MultisetShape {
        let Type::Multiset { capacity, element } = self.program.types[ty] else {
            unreachable!("the validator tells multisets from other types");
        };
        MultisetShape { capacity, element, stride: 1 + self.layout.sizes[element] }
    }

    /// Returns whether a multiset has an element at a position.
    pub(super) fn contains(&self, first: CellId, ty: TypeId, position: i64, state: &[u8]) -> bool {
        let bag = self.bag(ty);
        (0..i64::from(bag.capacity)).contains(&position) && {
            let cell = CellId(first.0 + position as u32 * bag.stride);
            self.value_in(state, cell) == Some(1)
        }
    }

    /// Returns the position that an index denotes. A position without an element is a fault.
    pub(super) fn position(
        &self,
        index: &Expr,
        multiset: TypedCells,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<u32, EvalFailure> {
        let value = self.eval(index, state, locals)?;
        match self.contains(multiset.first, multiset.ty, value, state) {
            true => Ok(value as u32),
            false => {
                let message = format!("the multiset has no element at position {value}");
                Err(fault(FaultKind::Index, index.span, message))
            }
        }
    }

    /// Returns the number of elements for which a condition holds.
    pub(super) fn count(
        &self,
        multiset: &Place,
        condition: ElementCondition<'_>,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<i64, EvalFailure> {
        let (first, ty) = self.cell(multiset, state, locals)?;
        let mut count = 0;
        for position in 0..i64::from(self.bag(ty).capacity) {
            if self.contains(first, ty, position, state) {
                locals.set(condition.local, LocalValue::Value(position));
                count += i64::from(self.eval(condition.body, state, locals)? != 0);
            }
        }
        Ok(count)
    }

    /// Adds an element at the first free position.
    pub(super) fn multiset_add(
        &self,
        added: MultisetAddition<'_>,
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<(), EvalFailure> {
        let MultisetAddition { multiset, element, span } = added;
        let (first, ty) = self.cell(multiset, state, locals)?;
        let bag = self.bag(ty);
        let free = (0..bag.capacity).find(|&at| !self.contains(first, ty, at.into(), state));
        let Some(position) = free else {
            let message = format!("the multiset already holds its {} elements", bag.capacity);
            return Err(fault(FaultKind::Limit, span, message));
        };
        let there = first.0 + position * bag.stride;
        let cells = TypedCells { first: CellId(there + 1), ty: bag.element };
        self.store_argument(element, ArgumentTarget { cells, span }, state, locals)?;
        self.layout.set(state, CellId(there), Some(1));
        Ok(())
    }

    /// Removes the element at a position, and leaves the position free.
    pub(super) fn multiset_remove(
        &self,
        multiset: &Place,
        position: &Expr,
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<(), EvalFailure> {
        let (first, ty) = self.cell(multiset, state, locals)?;
        let position = self.position(position, TypedCells { first, ty }, state, locals)?;
        let stride = self.bag(ty).stride;
        self.clear_cells(first.0 + position * stride, stride, state);
        Ok(())
    }
}
