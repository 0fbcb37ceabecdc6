//! The model that is searched, told in steps of the program as written.

use crate::analysis::live::{Dead, Matter};
use crate::exec::{Expansion, Explain, Interp, Lift, Model, Postpones, Sleeps, one_step};
use crate::ir::layout::{CellId, Codes};
use crate::ir::{Layout, LocationId, Owner, ProcessId, Program};
use spill::Result;

/// Tells states that are alike: they differ only in what is dead.
pub(super) struct Alike<'m> {
    layout: &'m Layout,
    /// Tells states from other bytes.
    codes: Codes,
    /// What is dead wherever anybody is: cells and their first values.
    always: Vec<First>,
    /// What else is dead for each instance, by the code of where it is.
    instances: Vec<(CellId, Vec<Vec<First>>)>,
}

/// A cell and the code of its first value.
type First = (CellId, u32);

impl<'m> Alike<'m> {
    pub fn new(written: &'m Interp, dead: &Dead) -> Alike<'m> {
        let (program, layout) = (written.program(), written.layout());
        let of = |process: ProcessId, slot: u32| {
            let cell = layout.locations[process].in_slot(slot);
            let locations = program.processes[process].locations.keys();
            let at = |location: Option<LocationId>| {
                firsts(program, layout, dead, (process, slot), location)
            };
            let gone = program.processes[process].has_slots().then(|| at(None));
            (cell, gone.into_iter().chain(locations.map(|it| at(Some(it)))).collect())
        };
        let mut instances: Vec<_> = program.instances().map(|it| of(it.process, it.slot)).collect();
        instances.retain(|(_, at): &(CellId, Vec<Vec<First>>)| at.iter().any(|it| !it.is_empty()));
        let of_all = |it: &usize| {
            let (variable, _) = dead.scalars().variable(*it);
            program.variables[variable].owner == Owner::Program
        };
        let always = dead.everywhere().filter(of_all);
        let always = always.map(|it| first(program, layout, dead, it, 0)).collect();
        Alike { layout, codes: layout.codes(), always, instances }
    }

    /// Sets what is dead to its first values, as far as it is known by where one process is.
    fn reset(&self, state: &mut [u8]) {
        let here = self.instances.iter();
        let here = here.flat_map(|(cell, at)| &at[self.layout.code(state, *cell) as usize]);
        let all: Vec<First> = self.always.iter().chain(here).copied().collect();
        all.into_iter().for_each(|(cell, code)| self.layout.set_code(state, cell, code));
    }

    /// Whether two states are alike, and what is behind them is the same.
    fn are(&self, one: &[u8], other: &[u8]) -> bool {
        let bytes = self.layout.bytes;
        let are_states =
            [one, other].into_iter().all(|it| it.len() >= bytes && self.codes.hold(&it[..bytes]));
        are_states && one[bytes..] == other[bytes..] && {
            let [mut one, mut other] = [one, other].map(|it| it[..bytes].to_vec());
            self.reset(&mut one);
            self.reset(&mut other);
            one == other
        }
    }
}

/// What is dead for an instance at a location, or while there is none: its own locals while it lives, and what of the
/// program's variables is its matter.
fn firsts(
    program: &Program,
    layout: &Layout,
    dead: &Dead,
    (process, slot): (ProcessId, u32),
    location: Option<LocationId>,
) -> Vec<First> {
    let is_own = |scalar: usize| {
        let (variable, _) = dead.scalars().variable(scalar);
        program.variables[variable].owner == Owner::Process(process)
    };
    let all: Vec<usize> = match location {
        Some(location) => {
            let always = dead.everywhere().filter(|&it| is_own(it));
            dead.at(process, location).chain(always).collect()
        }
        None => (0..dead.scalars().count())
            .filter(|&it| dead.matter(it) == Matter::Of(process) && !is_own(it))
            .collect(),
    };
    all.into_iter().map(|it| first(program, layout, dead, it, slot)).collect()
}

/// The cell of a scalar, in a slot where it is a process's, and the code of its first value.
fn first(program: &Program, layout: &Layout, dead: &Dead, scalar: usize, slot: u32) -> First {
    let (id, at) = dead.scalars().variable(scalar);
    let variable = &program.variables[id];
    let slot = if variable.owner == Owner::Program { 0 } else { slot };
    let cell = CellId(layout.variables[id].in_slot(slot).0 + at);
    let value = variable.initial[at as usize];
    (cell, value.map_or(0, |value| layout.cells[cell].code(value) as u32))
}

/// What runs a program that resets what is dead, told in steps of the program as written.
pub struct Followed<'m> {
    model: Box<dyn Model + 'm>,
    /// What explains itself: the program as written, with what else is searched with.
    below: Box<dyn Model + 'm>,
    alike: Alike<'m>,
}

impl<'m> Followed<'m> {
    pub(super) fn new(
        model: Box<dyn Model + 'm>,
        below: Box<dyn Model + 'm>,
        alike: Alike<'m>,
    ) -> Followed<'m> {
        Followed { model, below, alike }
    }
}

impl Model for Followed<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut Expansion) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        self.model.expand(states, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.below.digest()).update(&self.model.digest()).update(b"dead variables");
        *hasher.finalize().as_bytes()
    }

    fn explained(&self) -> &dyn Explain {
        self.below.explained()
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        Some(self)
    }

    fn postpones(&self) -> Option<&dyn Postpones> {
        self.model.postpones()
    }

    fn sleeps(&self) -> Option<&dyn Sleeps> {
        self.model.sleeps()
    }
}

impl Lift for Followed<'_> {
    fn below(&self) -> &dyn Model {
        &*self.below
    }

    fn stands_for(&self, own: &[u8], below: &[u8]) -> bool {
        self.alike.are(own, below)
    }

    fn way(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        one_step(self, from, to)
    }
}
