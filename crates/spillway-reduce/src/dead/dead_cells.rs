//! States that are equivalent: they differ only in dead cells.

use spillway_analysis::live_variables::{DeadScalars, LivenessScope};
use spillway_ir::layout::CellId;
use spillway_ir::{Layout, LocationId, Owner, ProcessInstance, Program};

/// The dead cells, by the locations of processes.
#[derive(Debug)]
pub(super) struct DeadCells {
    /// The cells that are always dead, with their first values.
    always: Vec<CellReset>,
    /// For each process instance, the further dead cells by the code of its location.
    instances: Vec<(CellId, Vec<Vec<CellReset>>)>,
    /// The cells that are dead if each of several processes is at certain locations.
    several: Vec<(CellReset, Vec<ReaderLiveness>)>,
}

/// The location cell of a reader, and whether the cell is live by the code of the location.
type ReaderLiveness = (CellId, Vec<bool>);

/// A cell, and the code of its first value.
type CellReset = (CellId, u32);

impl DeadCells {
    /// Computes the dead cells of a program.
    pub fn new(program: &Program, layout: &Layout, dead: &DeadScalars) -> DeadCells {
        let of = |instance: ProcessInstance| {
            let ProcessInstance { process, slot } = instance;
            let cell = layout.locations[process].in_slot(slot);
            let locations = program.processes[process].locations.keys();
            let at =
                |location: Option<LocationId>| firsts(program, layout, dead, instance, location);
            let gone = program.processes[process].has_slots().then(|| at(None));
            (cell, gone.into_iter().chain(locations.map(|it| at(Some(it)))).collect())
        };
        let mut instances: Vec<_> = program.instances().map(of).collect();
        instances
            .retain(|(_, at): &(CellId, Vec<Vec<CellReset>>)| at.iter().any(|it| !it.is_empty()));
        let of_all = |it: &usize| {
            let (variable, _) = dead.scalars().variable(*it);
            program.variables[variable].owner == Owner::Program
        };
        let always = dead.always_dead().filter(of_all);
        let always = always.map(|it| first(program, layout, dead, it, 0)).collect();
        let several = dead.joint_scalars();
        let several = several.map(|it| {
            let live = dead.readers(program, it).map(|(id, live)| {
                let process = &program.processes[id];
                let at = process.locations.keys().map(|it| live.contains(&it));
                let gone = process.has_slots().then_some(false);
                (layout.locations[id].in_slot(0), gone.into_iter().chain(at).collect())
            });
            (first(program, layout, dead, it, 0), live.collect())
        });
        let several = several.collect();
        DeadCells { always, instances, several }
    }

    /// Sets the dead cells to their first values.
    pub fn reset(&self, layout: &Layout, state: &mut [u8]) {
        let here = self.instances.iter();
        let here = here.flat_map(|(cell, at)| &at[layout.code(state, *cell) as usize]);
        let is_live = |(cell, live): &ReaderLiveness| live[layout.code(state, *cell) as usize];
        let several = self.several.iter().filter(|(_, readers)| !readers.iter().any(is_live));
        let several = several.map(|(first, _)| first);
        let all: Vec<CellReset> = self.always.iter().chain(here).chain(several).copied().collect();
        all.into_iter().for_each(|(cell, code)| layout.set_code(state, cell, code));
    }
}

/// Returns the cells that are dead for an instance at a location, or while it does not exist: its local variables
/// while it exists, and the variables of the program that it alone reads.
fn firsts(
    program: &Program,
    layout: &Layout,
    dead: &DeadScalars,
    instance: ProcessInstance,
    location: Option<LocationId>,
) -> Vec<CellReset> {
    let ProcessInstance { process, slot } = instance;
    let is_own = |scalar: usize| {
        let (variable, _) = dead.scalars().variable(scalar);
        program.variables[variable].owner == Owner::Process(process)
    };
    let all: Vec<usize> = match location {
        Some(location) => {
            let always = dead.always_dead().filter(|&it| is_own(it));
            dead.dead_at(process, location).chain(always).collect()
        }
        None => (0..dead.scalars().count())
            .filter(|&it| dead.scope(it) == LivenessScope::OneProcess(process) && !is_own(it))
            .collect(),
    };
    all.into_iter().map(|it| first(program, layout, dead, it, slot)).collect()
}

/// Returns the cell of a scalar, in a slot if it is a process's, and the code of its first value.
fn first(
    program: &Program,
    layout: &Layout,
    dead: &DeadScalars,
    scalar: usize,
    slot: u32,
) -> CellReset {
    let (id, at) = dead.scalars().variable(scalar);
    let variable = &program.variables[id];
    let slot = if variable.owner == Owner::Program { 0 } else { slot };
    let cell = CellId(layout.variables[id].in_slot(slot).0 + at);
    let value = variable.initial[at as usize];
    (cell, value.map_or(0, |value| layout.cells[cell].code(value) as u32))
}
