//! The numbering of the scalars of a program's variables, and the scalars of places.

use crate::bit_sets;
use spillway_ir::{
    Owner, Place, PlaceRoot, PlaceSelector, ProcessId, Program, Type, TypeId, VarId, Variable,
};
use std::ops::Range;

/// The maximal number of scalars.
const SCALARS_MAX: u32 = 1 << 14;

/// The maximal number of scalars of a variable with separate liveness. The scalars of larger variables are live or
/// dead together.
const APART_MAX: usize = 16;

/// The numbers of the scalars of all variables. A local of a process has one number for all slots.
#[derive(Clone, Debug)]
pub struct ScalarNumbering {
    /// The first number of each variable, then the number of all scalars.
    firsts: Vec<u32>,
}

/// The scalars that a place may denote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceScalars {
    /// The numbers of the scalars.
    pub scalars: Range<usize>,
    /// Whether the place denotes exactly these scalars, of the mover if they belong to a process.
    pub is_exact: bool,
}

impl ScalarNumbering {
    /// Numbers the scalars of a program, unless there are too many.
    pub fn new(program: &Program) -> Option<ScalarNumbering> {
        let mut firsts = vec![0];
        for variable in program.variables.values() {
            let last = firsts.last().copied().unwrap_or_default();
            let next = u32::checked_add(last, program.scalars(variable.ty));
            firsts.push(next.filter(|&it| it <= SCALARS_MAX)?);
        }
        Some(ScalarNumbering { firsts })
    }

    /// Returns the number of scalars.
    pub fn count(&self) -> usize {
        self.firsts.last().copied().unwrap_or_default() as usize
    }

    /// Returns the scalars of a variable.
    pub fn of(&self, variable: VarId) -> Range<usize> {
        let at = variable.0 as usize;
        self.firsts[at] as usize..self.firsts[at + 1] as usize
    }

    /// Returns the scalars of all locals of a process.
    pub fn of_process(&self, program: &Program, process: ProcessId) -> impl Iterator<Item = usize> {
        let own = move |(_, it): &(VarId, &Variable)| it.owner == Owner::Process(process);
        program.variables.iter().filter(own).flat_map(|(id, _)| self.of(id))
    }

    /// Returns the variable of a scalar and the position of the scalar in it.
    pub fn variable(&self, scalar: usize) -> (VarId, u32) {
        let after = self.firsts.partition_point(|&first| first as usize <= scalar);
        let at = after - 1;
        (VarId(at as u32), scalar as u32 - self.firsts[at])
    }

    /// Completes a set by all scalars of each variable whose scalars are live or dead together.
    pub fn complete(&self, set: &mut [u64]) {
        for (first, end) in self.firsts.iter().zip(&self.firsts[1..]) {
            let (first, end) = (*first as usize, *end as usize);
            if end - first > APART_MAX && (first..end).any(|it| bit_sets::has(set, it)) {
                (first..end).for_each(|it| bit_sets::insert(set, it));
            }
        }
    }

    /// Returns the scalars of a place, or `None` if it begins at a name.
    pub fn of_place(&self, program: &Program, place: &Place) -> Option<PlaceScalars> {
        let PlaceRoot::Variable(variable) = place.root else { return None };
        let Range { start, end } = self.of(variable);
        let mut meant = PlaceScalars { scalars: start..end, is_exact: place.slot.is_none() };
        let mut ty = program.variables[variable].ty;
        for selector in &place.path {
            let Some((inner, first)) = step(program, ty, selector) else {
                return Some(PlaceScalars { is_exact: false, ..meant });
            };
            let first = meant.scalars.start + first as usize;
            meant.scalars = first..first + program.scalars(inner) as usize;
            ty = inner;
        }
        Some(meant)
    }
}

/// Returns the part of a type that a selector denotes, and the number of scalars before it, if they are known.
fn step(program: &Program, ty: TypeId, selector: &PlaceSelector) -> Option<(TypeId, u32)> {
    match (&program.types[ty], selector) {
        (Type::Array { low, length, element, .. }, PlaceSelector::Index(index)) => {
            let at = index.as_constant()?.checked_sub(*low)?;
            let at = u32::try_from(at).ok().filter(|at| at < length)?;
            Some((*element, at * program.scalars(*element)))
        }
        (Type::Record { fields, .. }, PlaceSelector::Field(field)) => {
            let before = fields[..*field as usize].iter().map(|(_, ty)| program.scalars(*ty));
            Some((fields[*field as usize].1, before.sum()))
        }
        _ => None,
    }
}
