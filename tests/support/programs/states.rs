//! Random states: any value in any scalar, reachable or unreachable.

use crate::support::Random;
use spillway::exec::Interp;
use spillway::ir::layout::{CellId, ScalarCell};
use spillway::ir::{Type, TypeId};

/// Returns a valid state: unused cells of multisets and channels hold their fixed values.
pub fn random_state(model: &Interp, random: &mut Random) -> Vec<u8> {
    let (program, layout) = (model.program(), model.layout());
    let mut filler = Filler { model, random, state: vec![0; layout.bytes] };
    for (id, variable) in program.variables.iter() {
        filler.fill(variable.ty, &mut layout.variables[id].first.clone());
    }
    for (id, process) in program.processes.iter() {
        let location = filler.random.below(process.locations.len());
        layout.set(&mut filler.state, layout.locations[id].first, Some(location as i64));
    }
    for (id, channel) in program.channels.iter().filter(|(_, channel)| channel.capacity > 0) {
        let mut cell = layout.channels[id].first;
        let waiting = filler.count(&mut cell, channel.capacity);
        for _ in 0..waiting {
            for _ in &channel.fields {
                filler.scalar(&mut cell, true);
            }
        }
    }
    let mut state = filler.state;
    model.sort_multisets(&mut state);
    state
}

struct Filler<'a> {
    model: &'a Interp,
    random: &'a mut Random,
    state: Vec<u8>,
}

impl Filler<'_> {
    /// Fills the cells of a value from `cell` on, and advances `cell` past them.
    fn fill(&mut self, ty: TypeId, cell: &mut CellId) {
        match &self.model.program().types[ty] {
            Type::Scalar(_) => self.scalar(cell, false),
            Type::Array { length, element, .. } => {
                (0..*length).for_each(|_| self.fill(*element, cell));
            }
            Type::Record { fields, .. } => fields.iter().for_each(|(_, ty)| self.fill(*ty, cell)),
            Type::Multiset { capacity, element } => {
                let size = self.random.below(*capacity as usize + 1) as u32;
                for _ in 0..size {
                    self.model.layout().set(&mut self.state, *cell, Some(1));
                    cell.0 += 1;
                    self.fill(*element, cell);
                }
                // Unused cells hold all bits 0.
                cell.0 += (*capacity - size) * (1 + self.model.layout().sizes[*element]);
            }
        }
    }

    fn count(&mut self, cell: &mut CellId, capacity: u32) -> u32 {
        let count = self.random.below(capacity as usize + 1) as u32;
        self.model.layout().set(&mut self.state, *cell, Some(count.into()));
        cell.0 += 1;
        count
    }

    /// Fills a scalar with a value that is often a bound of its domain; it is defined if required.
    fn scalar(&mut self, cell: &mut CellId, defined: bool) {
        let ScalarCell { low, high, undefined, .. } = self.model.layout().cells[*cell];
        let near = |offset: usize| low.saturating_add(offset as i64).min(high);
        let value = match self.random.below(8) {
            0 if undefined && !defined => None,
            0 | 1 => Some(low),
            2 => Some(high),
            3 if low <= 0 && high >= 0 => Some(0),
            4 | 5 => Some(near(self.random.below(4))),
            _ => Some(low + (self.random.next() % (high - low + 1) as u64) as i64),
        };
        self.model.layout().set(&mut self.state, *cell, value);
        cell.0 += 1;
    }
}
