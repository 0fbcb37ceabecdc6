//! The first values of irrelevant items.

use super::cone::ConeOfInfluence;
use super::relevance::has_multiset;
use spillway_analysis::bit_sets;
use spillway_ir::layout::CellId;
use spillway_ir::{Layout, Owner, Program, Variable};

/// A cell, and the code of its first value.
type InitialCode = (CellId, u32);

/// The values of the irrelevant cells of a state.
#[derive(Debug)]
pub(super) struct FirstValues {
    /// The cells that always exist.
    always: Vec<InitialCode>,
    /// For each process instance, its location cell, and the cells that exist while the instance does.
    instances: Vec<(CellId, Vec<InitialCode>)>,
}

impl FirstValues {
    /// Computes the values for the irrelevant cells of a program.
    pub fn new(program: &Program, layout: &Layout, cone: &ConeOfInfluence) -> FirstValues {
        let of = |owner: Owner, slot: u32| -> Vec<InitialCode> {
            let own = program.variables.iter().filter(move |(_, it)| it.owner == owner);
            let plain = own.filter(|(_, it)| !has_multiset(program, it.ty));
            let cells = plain.flat_map(|(id, variable)| {
                let first = layout.variables[id].in_slot(slot);
                let scalars = cone.items.scalars.of(id).enumerate();
                let gone = scalars.filter(|(_, it)| !bit_sets::has(&cone.relevant, *it));
                gone.map(move |(at, _)| value(layout, variable, first, at))
            });
            cells.collect()
        };
        let mut found = FirstValues { always: of(Owner::Program, 0), instances: Vec::new() };
        for (id, process) in program.processes.iter() {
            for slot in 0..program.slots(id) {
                let values = of(Owner::Process(id), slot);
                match process.has_slots() {
                    true => found.instances.push((layout.locations[id].in_slot(slot), values)),
                    false => found.always.extend(values),
                }
            }
        }
        found.instances.retain(|(_, values)| !values.is_empty());
        found
    }

    /// Sets the irrelevant cells to their first values.
    pub fn reset(&self, layout: &Layout, state: &mut [u8]) {
        self.always.iter().for_each(|&(cell, code)| layout.set_code(state, cell, code));
        for (place, values) in &self.instances {
            // Code 0 means that there is no instance.
            if layout.code(state, *place) != 0 {
                values.iter().for_each(|&(cell, code)| layout.set_code(state, cell, code));
            }
        }
    }
}

/// Returns the cell of a scalar of a variable, and the code of its first value.
fn value(layout: &Layout, variable: &Variable, first: CellId, at: usize) -> InitialCode {
    let cell = CellId(first.0 + at as u32);
    (cell, variable.initial[at].map_or(0, |it| layout.cells[cell].code(it) as u32))
}
