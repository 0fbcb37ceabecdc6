//! Queries of analyses that follow values: single cells, their values, and the bindings of names.

use super::cell_set::CellSet;
use super::collector::{
    AbstractBinding, AccessCollector, CollectorScope, FRAME_FIRST, ResolvedPlace,
};
use crate::absint::{CheckedRange, Environment, KnownValue, query_range};
use spillway_ir::interval::{self, Interval, hull};
use spillway_ir::layout::CellId;
use spillway_ir::{
    Arithmetic, ChannelId, ChannelRef, Expr, ExprKind, Function, LocalId, Owner, Place, PlaceRoot,
    PlaceSelector, ScalarType, Stmt, Type, TypeId,
};

/// The ranges of expressions at the position of a collector.
pub(super) struct RangesHere<'c, 'p>(pub &'c AccessCollector<'p>);

impl Environment for RangesHere<'_, '_> {
    type Value = CheckedRange;

    fn arithmetic(&self) -> Arithmetic {
        self.0.known.program.arithmetic
    }

    fn read(&mut self, place: &Place) -> CheckedRange {
        CheckedRange::exact(self.0.values_at(place))
    }

    fn local(&mut self, local: LocalId) -> CheckedRange {
        CheckedRange::exact(self.0.local_values(local))
    }

    fn query(&mut self, expr: &Expr) -> CheckedRange {
        CheckedRange::exact(self.0.query_values(&expr.kind))
    }

    /// Both branches count.
    fn condition(&mut self, _: &Expr) -> CheckedRange {
        CheckedRange::exact((0, 1))
    }
}

/// The values of expressions that do not depend on the state, or only on facts that a collector has.
pub(super) struct ValuesHere<'c, 'p>(pub &'c AccessCollector<'p>);

impl Environment for ValuesHere<'_, '_> {
    type Value = KnownValue;

    fn arithmetic(&self) -> Arithmetic {
        self.0.known.program.arithmetic
    }

    fn read(&mut self, place: &Place) -> KnownValue {
        KnownValue(self.0.known_value_at(place))
    }

    fn local(&mut self, local: LocalId) -> KnownValue {
        KnownValue(match self.0.bound(local) {
            AbstractBinding::Values((low, high)) if low == high => Some(*low),
            _ => None,
        })
    }

    fn query(&mut self, _: &Expr) -> KnownValue {
        KnownValue(None)
    }
}

impl AccessCollector<'_> {
    /// Returns the possible values of an expression.
    pub fn values(&self, expr: &Expr) -> Interval {
        RangesHere(self).value(expr).range
    }

    /// Returns the value of an expression that does not depend on the state, or only on known facts.
    pub fn known_value(&self, expr: &Expr) -> Option<i64> {
        ValuesHere(self).value(expr).0
    }

    /// Returns the range of an expression that is not computed from other values.
    pub(super) fn query_values(&self, kind: &ExprKind) -> Interval {
        let program = self.known.program;
        match kind {
            // The analysis does not follow which instance has which pid, so pids have no bounds here.
            ExprKind::Self_ | ExprKind::Processes => program.arithmetic.integers(),
            ExprKind::ChannelNumber(ChannelRef::Named(id))
                if program.channels[*id].owner == Owner::Program =>
            {
                let number = program.channels_of(Owner::Program).take_while(|it| it != id).count();
                (number as i64 + 1, number as i64 + 1)
            }
            ExprKind::Count { multiset, .. } => match program.types[self.place_type(multiset)] {
                Type::Multiset { capacity, .. } => (0, capacity.into()),
                _ => program.arithmetic.integers(),
            },
            _ => query_range(program, kind),
        }
    }

    /// Returns the value of an expression that has only one possible value.
    pub fn single(&self, expr: &Expr) -> Option<i64> {
        let (low, high) = self.values(expr);
        (low == high).then_some(low)
    }

    /// Returns the only possible first cell of a place, in analyses that follow facts about the state.
    pub fn certain_cell(&self, place: &Place) -> Option<u32> {
        self.next_frame?;
        self.place_cell(place)
    }

    /// Returns the only possible first cell of a place.
    pub fn place_cell(&self, place: &Place) -> Option<u32> {
        let program = self.known.program;
        let (mut cell, mut ty) = match place.root {
            PlaceRoot::Variable(variable) => {
                let about = &program.variables[variable];
                let slots = self.slots(about.owner, place.slot.as_deref());
                let slot = Some(slots.start).filter(|_| slots.len() == 1)?;
                (self.variable_cell(variable, slot).0, about.ty)
            }
            PlaceRoot::Local(local) => {
                let AbstractBinding::Place(spot) = self.bound(local) else { return None };
                (spot.only_start()?, spot.ty)
            }
        };
        for selector in &place.path {
            let (offset, part) = match (selector, &program.types[ty]) {
                (PlaceSelector::Field(number), Type::Record { fields, .. }) => {
                    (self.field_offset(fields, *number), fields[*number as usize].1)
                }
                (PlaceSelector::Index(index), Type::Array { low, length, element, .. }) => {
                    let at = self.single(index)?.checked_sub(*low)?;
                    let at = u32::try_from(at).ok().filter(|at| at < length)?;
                    (at * self.known.layout.sizes[*element], *element)
                }
                _ => return None,
            };
            cell += offset;
            ty = part;
        }
        Some(cell)
    }

    pub(super) fn field_offset(&self, fields: &[(String, TypeId)], number: u32) -> u32 {
        let before = &fields[..number as usize];
        before.iter().map(|(_, ty)| self.known.layout.sizes[*ty]).sum()
    }

    /// Returns the possible values of a cell that is surely defined.
    pub fn defined_values(&self, cell: u32) -> Option<Interval> {
        if let Some(known) = self.state.get(cell) {
            return Some(known);
        }
        let about = self.known.layout.cells.get(CellId(cell)).filter(|_| cell < FRAME_FIRST)?;
        let undefined = |all: &CellSet| all.contains(CellId(cell));
        let may_be = about.undefined && self.known.undefined.is_none_or(undefined);
        (!may_be).then_some((about.low, about.high))
    }

    /// Returns whether the scalar at a place is surely defined.
    pub fn is_surely_defined(&mut self, place: &Place) -> bool {
        let cells = self.cells_of(place);
        cells.iter().all(|CellId(it)| self.defined_values(it).is_some())
    }

    /// Returns whether a scalar of this type may be undefined.
    pub fn may_be_undefined(&self, ty: TypeId) -> bool {
        matches!(self.known.program.types[ty], Type::Scalar(ScalarType { undefined: true, .. }))
    }

    /// Returns all cells that may belong to a place.
    pub fn cells_of(&mut self, place: &Place) -> CellSet {
        let spot = self.resolve_place(place);
        self.cells(&spot)
    }

    /// Returns the number of cells of a place.
    pub fn size(&self, spot: &ResolvedPlace) -> u32 {
        self.known.layout.sizes[spot.ty]
    }

    /// Returns the place of a new local variable. It has cells if local variables have cells.
    pub fn fresh(&mut self, ty: TypeId) -> ResolvedPlace {
        let first = self.next_frame;
        if let Some(next) = &mut self.next_frame {
            *next = next.saturating_add(self.known.layout.sizes[ty]);
        }
        ResolvedPlace { starts: first.into_iter().collect(), ty, inside: None }
    }

    /// Returns a place without cells.
    pub fn empty_place(&self, ty: TypeId) -> ResolvedPlace {
        ResolvedPlace { starts: Vec::new(), ty, inside: None }
    }

    /// Visits each scalar of a value with a known first cell, with its least value. Skips the elements of multisets.
    pub fn each_scalar(&self, ty: TypeId, first: u32, tell: &mut dyn FnMut(u32, i64)) {
        let sizes = &self.known.layout.sizes;
        match &self.known.program.types[ty] {
            Type::Scalar(_) => tell(first, self.bounds(ty).0),
            Type::Array { length, element, .. } => {
                let stride = sizes[*element];
                (0..*length).for_each(|at| self.each_scalar(*element, first + at * stride, tell));
            }
            Type::Record { fields, .. } => {
                let mut next = first;
                for (_, field) in fields {
                    self.each_scalar(*field, next, tell);
                    next += sizes[*field];
                }
            }
            Type::Multiset { .. } => {}
        }
    }

    /// Returns the cells that statements may write.
    pub fn written_by(&mut self, body: &[Stmt]) -> CellSet {
        let before = self.take();
        self.walk().body(self, body);
        let touched = std::mem::replace(&mut self.access, before);
        let mut cells = touched.written();
        for (channel, _) in touched.channels.iter().filter(|(_, it)| it.changes()) {
            cells.insert(self.known.channel_cells(*channel));
        }
        cells
    }

    /// Returns the possible values of a field of a channel's messages.
    pub fn field(&self, channel: ChannelId, at: usize) -> Interval {
        let about = &self.known.program.channels[channel];
        let Some(ty) = about.fields.get(at) else { return interval::NONE };
        let declared = self.bounds(*ty);
        let sent = self.known.ranges.and_then(|it| it.channels[channel].get(at).copied());
        let values =
            sent.map_or(declared, |(low, high)| (low.max(declared.0), high.min(declared.1)));
        // An undefined field is received as 0.
        if self.may_be_undefined(*ty) { hull(values, (0, 0)) } else { values }
    }

    /// Enters the body of a function whose parameters are bound to these places.
    pub fn enter_with(&mut self, function: &Function, spots: Vec<ResolvedPlace>) {
        let mover = self.scope.mover.clone();
        let own = CollectorScope::new(mover);
        self.callers.push(std::mem::replace(&mut self.scope, own));
        for (parameter, spot) in function.parameters.iter().zip(spots) {
            self.bind(parameter.local, AbstractBinding::Place(spot));
        }
    }

    /// Leaves the body of a function.
    pub fn leave_function(&mut self) {
        let caller = self.callers.pop();
        self.scope = caller.unwrap_or_else(|| unreachable!("what is entered is left"));
    }
}
