//! The images of the cells of a state.

use super::correspondence::Correspondence;
use super::sorts::{LocationInProcess, ProgramSorts, TypeSorts};
use spillway_ir::layout::{CellId, Layout, ScalarCell};
use spillway_ir::{LocationId, Owner, ProcessInstance, Program};
use std::sync::Arc;

/// The image of each cell of the state.
pub type CellMap = Vec<CellImage>;

/// The image of a cell and the mapping of its codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellImage {
    /// The cell to which the contents move.
    pub to: CellId,
    /// The mapping of the codes.
    pub codes: CodeMap,
    /// For a cell of a message: the cell with the number of messages, and the number of messages before it. The code
    /// stays if the message does not exist.
    pub behind: Option<(CellId, u32)>,
}

/// A mapping of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeMap {
    /// The identity.
    Same,
    /// The image of each code.
    To(Arc<[u32]>),
}

/// The maximal number of codes of a cell that is mapped by a table. Larger cells are moved only if their values stay.
const CODES_MAX: i64 = 1 << 12;

/// Returns the images of all cells, or `None` if some value does not fit into the image of its cell.
pub(super) fn map(
    program: &Program,
    layout: &Layout,
    sorts: &ProgramSorts,
    told: &Correspondence,
) -> Option<CellMap> {
    let moved = (0..layout.state_cells)
        .map(|it| CellImage { to: CellId(it), codes: CodeMap::Same, behind: None })
        .collect();
    let mut mapping = CellMapBuilder { program, layout, sorts, told, moved };
    for instance in program.instances() {
        mapping.location(instance)?;
    }
    for (id, variable) in program.variables.iter() {
        let there = told.variables.image(id);
        for (slot, other) in mapping.slots(variable.owner, program.variables[there].owner)? {
            let from = layout.variables[id].in_slot(slot);
            let cells = CellPair { from, to: layout.variables[there].in_slot(other) };
            mapping.values(&sorts.variables[id], cells, None)?;
        }
    }
    for (id, channel) in program.channels.iter().filter(|(_, it)| it.capacity > 0) {
        let there = told.channels.image(id);
        for (slot, other) in mapping.slots(channel.owner, program.channels[there].owner)? {
            let from = layout.channels[id].in_slot(slot);
            let cells = CellPair { from, to: layout.channels[there].in_slot(other) };
            mapping.messages(&sorts.channels[id], channel.capacity, cells)?;
        }
    }
    let mut taken = vec![false; mapping.moved.len()];
    for it in &mapping.moved {
        if std::mem::replace(&mut taken[it.to.0 as usize], true) {
            return None;
        }
    }
    Some(mapping.moved)
}

/// A cell and its image.
#[derive(Clone, Copy)]
struct CellPair {
    from: CellId,
    to: CellId,
}

impl CellPair {
    /// Returns the pair of cells at these offsets.
    fn behind(self, from: u32, to: u32) -> CellPair {
        CellPair { from: CellId(self.from.0 + from), to: CellId(self.to.0 + to) }
    }
}

struct CellMapBuilder<'a> {
    program: &'a Program,
    layout: &'a Layout,
    sorts: &'a ProgramSorts,
    told: &'a Correspondence<'a>,
    moved: CellMap,
}

impl CellMapBuilder<'_> {
    /// Returns the slots of an owner with their images.
    fn slots(&self, owner: Owner, there: Owner) -> Option<Vec<(u32, u32)>> {
        match (owner, there) {
            (Owner::Program, Owner::Program) => Some(vec![(0, 0)]),
            (Owner::Process(process), Owner::Process(other))
                if self.told.processes.image(process) == other =>
            {
                let slots = 0..self.program.slots(process);
                let image = |slot: u32| {
                    let image = self.told.value(self.sorts.slots[process], slot.into());
                    Some((slot, u32::try_from(image).ok()?))
                };
                slots.map(image).collect()
            }
            _ => None,
        }
    }

    fn location(&mut self, one: ProcessInstance) -> Option<()> {
        let process = self.told.processes.image(one.process);
        let slot = self.told.value(self.sorts.slots[one.process], one.slot.into());
        let from = self.layout.locations[one.process].in_slot(one.slot);
        let to = self.layout.locations[process].in_slot(u32::try_from(slot).ok()?);
        // The code of a free slot stays.
        let free = i64::from(self.program.processes[one.process].first_location());
        let image = |code: i64| match code - free {
            location if location < 0 => code,
            location => {
                let location = LocationId(location as u32);
                let at = LocationInProcess { process: one.process, location };
                free + i64::from(self.told.locations.image(at).location.0)
            }
        };
        self.put(CellPair { from, to }, false, image, None)
    }

    /// Maps the cells of a value.
    fn values(
        &mut self,
        shape: &TypeSorts,
        pair: CellPair,
        behind: Option<(CellId, u32)>,
    ) -> Option<()> {
        match shape {
            TypeSorts::Scalar { sort, .. } => {
                let stays = self.told.values_stay(*sort);
                self.put(pair, stays, |value| self.told.value(*sort, value), behind)
            }
            TypeSorts::Array { index, low, length, element } => {
                let stride = cells(element);
                for at in 0..*length {
                    let image = self.told.value(*index, low + i64::from(at)) - low;
                    let image = u32::try_from(image).ok().filter(|it| it < length)?;
                    self.values(element, pair.behind(at * stride, image * stride), behind)?;
                }
                Some(())
            }
            TypeSorts::Record(fields) => {
                let mut passed = 0;
                for field in fields {
                    self.values(field, pair.behind(passed, passed), behind)?;
                    passed += cells(field);
                }
                Some(())
            }
        }
    }

    /// Maps the cells of a buffer: the number of messages, then the fields of each message.
    fn messages(&mut self, fields: &[TypeSorts], capacity: u32, pair: CellPair) -> Option<()> {
        self.put(pair, true, |count| count, None)?;
        let mut passed = 1;
        for before in 0..capacity {
            for field in fields {
                self.values(field, pair.behind(passed, passed), Some((pair.from, before)))?;
                passed += cells(field);
            }
        }
        Some(())
    }

    /// Maps a cell, if each of its values fits into the image.
    fn put(
        &mut self,
        pair: CellPair,
        stays: bool,
        image: impl Fn(i64) -> i64,
        behind: Option<(CellId, u32)>,
    ) -> Option<()> {
        let (here, there) = (&self.layout.cells[pair.from], &self.layout.cells[pair.to]);
        let codes = match stays {
            true => (same_codes(here, there)).then_some(CodeMap::Same)?,
            false => recoding(here, there, image)?,
        };
        self.moved[pair.from.0 as usize] = CellImage { to: pair.to, codes, behind };
        Some(())
    }
}

/// Returns whether two cells have the same codes for the same values.
fn same_codes(here: &ScalarCell, there: &ScalarCell) -> bool {
    (here.undefined, here.least, here.most) == (there.undefined, there.least, there.most)
}

fn recoding(here: &ScalarCell, there: &ScalarCell, image: impl Fn(i64) -> i64) -> Option<CodeMap> {
    let span = |cell: &ScalarCell| cell.most - cell.least;
    if here.undefined != there.undefined || span(here) != span(there) || span(here) >= CODES_MAX {
        return None;
    }
    let mut codes: Vec<u32> = if here.undefined { vec![0] } else { Vec::new() };
    for value in here.least..=here.most {
        let value = image(value);
        let fits = there.least <= value && value <= there.most;
        fits.then_some(())?;
        codes.push(there.code(value) as u32);
    }
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..codes.len() as u32) {
        return None;
    }
    let is_same = codes.iter().copied().eq(0..codes.len() as u32);
    Some(if is_same { CodeMap::Same } else { CodeMap::To(codes.into()) })
}

/// Returns the number of cells of a value.
fn cells(shape: &TypeSorts) -> u32 {
    match shape {
        TypeSorts::Scalar { .. } => 1,
        TypeSorts::Array { length, element, .. } => length * cells(element),
        TypeSorts::Record(fields) => fields.iter().map(cells).sum(),
    }
}
