//! The layout of variables in the packed state.
//!
//! A state is a sequence of bits, the most significant bit of its first byte first. So the comparison of states as
//! byte strings compares their cells in *key order*. Every scalar of the program is a *cell* with as many bits as its
//! values need. A cell holds the code of a value: its distance from the least value, plus one if the scalar may also
//! be undefined. The code of undefined is 0. The values are those of the domain, or fewer if an analysis rules out
//! the others ([`ValueRanges`]). A cell has values for all elements of a scalarset or for none
//! ([`Program::whole_scalarsets`]). The bits after the last cell are 0.
//!
//! Declaration order of cells: the program's variables and channels, then for each process (and each of its slots)
//! its location and its own variables and channels. A buffered channel has a cell for the number of messages, then
//! the messages, oldest first. A multiset has, for each position, a cell for whether there is an element, then the
//! element.
//!
//! The cells of one variable, one channel or one location are a *group*. The key order is any permutation of the
//! groups, by default the declaration order. Within a group it is the declaration order. So cells with consecutive
//! numbers need not be adjacent: only [`ScalarCell::bit`] gives the position of a cell.
//!
//! The local variables of bodies and the arguments of functions by value have cells, too, after all cells of the
//! state. Their bits begin after the state's last byte, in a buffer that is longer than a state ([`LocalFrames`]).

mod builder;
mod declaration_order;
mod frames;
mod state_validator;

pub use frames::{LocalFrame, LocalFrames};
pub use spillway_model::GroupId;
pub use state_validator::StateValidator;

use super::interval::{self, Interval};
use super::{
    Arena, ChannelId, Domain, InstanceCount, LocationId, Owner, Process, ProcessId,
    ProcessInstance, Program, Type, TypeId, VarId, entity,
};
use spillway_model::KeyGroups;
use std::fmt;
use std::ops::Range;

entity::entity! {
    /// The number of a cell.
    CellId,
}

/// One scalar of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarCell {
    /// The first bit, counted from the most significant bit of the first byte.
    pub bit: u32,
    /// The number of bits: at most [`MAX_CELL_BITS`], and possibly 0 for a domain of one value.
    pub bits: u32,
    /// The least value that may be stored, as declared.
    pub low: i64,
    /// The greatest value that may be stored, as declared.
    pub high: i64,
    /// The least value that is ever stored: code 0, or 1 if code 0 means undefined.
    pub least: i64,
    /// The greatest value that is ever stored.
    pub most: i64,
    /// Whether code 0 means undefined, so that values start at code 1.
    pub undefined: bool,
}

/// The maximal number of bits of a cell. It is sufficient for every C `int` and undefined. Accesses at positions that
/// depend on the state read or write at most 57 bits at once.
pub const MAX_CELL_BITS: u32 = 48;

impl ScalarCell {
    /// Creates a cell from `bit` on for all values from `low` to `high`.
    pub fn new(bit: u32, low: i64, high: i64, undefined: bool) -> ScalarCell {
        let cell = ScalarCell { bit, bits: 0, low, high, least: low, most: high, undefined };
        cell.narrowed((low, high))
    }

    /// Returns the cell with its values restricted to an interval.
    pub fn narrowed(self, (least, most): Interval) -> ScalarCell {
        let (least, most) = (least.max(self.low), most.min(self.high));
        // A cell without values has one code.
        let (least, most) = if least <= most { (least, most) } else { (self.low, self.low) };
        let codes = most - least + 1 + i64::from(self.undefined);
        let bits = 64 - (codes - 1).leading_zeros();
        ScalarCell { bits, least, most, ..self }
    }

    /// Returns the difference between values and their codes: the value of code 0, if it were a value. Only this
    /// function defines the relation between codes and values.
    #[inline]
    pub fn base(&self) -> i64 {
        self.least.wrapping_sub(self.undefined.into())
    }

    /// Returns the code of a stored value.
    #[inline]
    pub fn code(&self, value: i64) -> i64 {
        value.wrapping_sub(self.base())
    }

    /// Returns the value of a code, or `None` if it means undefined.
    #[inline]
    pub fn value(&self, code: u32) -> Option<i64> {
        self.value_of(code.into())
    }

    /// Returns the value of a code of any width, or `None` if it means undefined.
    #[inline]
    fn value_of(&self, code: u64) -> Option<i64> {
        let is_value = code != 0 || !self.undefined;
        is_value.then(|| self.base().wrapping_add(code as i64))
    }

    /// Returns the number of codes.
    pub fn count(&self) -> u32 {
        let codes = self.most.saturating_sub(self.least).saturating_add(1);
        u32::try_from(codes.saturating_add(self.undefined.into())).unwrap_or(u32::MAX)
    }

    /// Returns whether the codes exceed 32 bits. Reductions that use codes are not applied to such states.
    #[inline]
    pub fn is_wide(&self) -> bool {
        self.bits > u32::BITS
    }

    /// Returns the codes of the values from `first` to `last`, if all of them have one.
    pub fn codes(&self, first: i64, last: i64) -> Option<Range<u32>> {
        let has_all = self.least <= first && first <= last && last <= self.most;
        has_all.then(|| self.code(first) as u32..self.code(last) as u32 + 1)
    }

    /// Returns the greatest value whose code fits into the bits, even if it is never stored.
    pub fn last(&self) -> i64 {
        let codes = ((1i64 << self.bits) - 1) - i64::from(self.undefined);
        self.least.saturating_add(codes)
    }

    /// Returns whether `value` can be stored.
    #[inline]
    pub fn holds(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns the value modulo the size of the domain.
    #[inline]
    pub fn wrap(&self, value: i64) -> i64 {
        interval::wrap_into(value, (self.low, self.high))
    }
}

/// The cells of a variable: `stride` of them for each slot of its owner, the first at `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellPlacement {
    /// The first cell in slot 0.
    pub first: CellId,
    /// The distance between the cells of consecutive slots.
    pub stride: u32,
}

impl CellPlacement {
    /// Returns the first cell in a slot.
    #[inline]
    pub fn in_slot(self, slot: u32) -> CellId {
        CellId(self.first.0 + slot * self.stride)
    }
}

/// Adjacent cells in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellGroup {
    /// The content of the cells.
    pub part: GroupContent,
    /// The slot of the owner.
    pub slot: u32,
    /// The first cell.
    pub first: CellId,
    /// The number of cells.
    pub cells: u32,
}

/// The content of a [`CellGroup`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupContent {
    /// The location of a process.
    Location(ProcessId),
    /// A variable, with all its elements and fields.
    Variable(VarId),
    /// A buffered channel.
    Channel(ChannelId),
}

/// The error of a list of groups that is no permutation of a program's: a group is missing, repeated or unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKeyOrder {
    /// The number of groups in the list.
    pub found: usize,
    /// The number of groups of the program.
    pub groups: usize,
}

impl fmt::Display for InvalidKeyOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidKeyOrder { found, groups } = self;
        write!(f, "its {found} numbers are no order of the {groups} groups of cells")
    }
}

impl std::error::Error for InvalidKeyOrder {}

/// The ranges of variables and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRanges {
    /// The range of all scalars of each variable, if it is known.
    pub variables: Arena<VarId, Option<Interval>>,
    /// The range of each field of each channel's messages.
    pub channels: Arena<ChannelId, Vec<Interval>>,
}

/// The positions of all parts of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Every scalar of the state, then those of the frames.
    pub cells: Arena<CellId, ScalarCell>,
    /// The number of cells of the state.
    pub state_cells: u32,
    /// The cells of each variable.
    pub variables: Arena<VarId, CellPlacement>,
    /// The cells of each channel; a rendezvous has none.
    pub channels: Arena<ChannelId, CellPlacement>,
    /// The location cell of each process. With several slots, code 0 is a free slot and locations start at 1.
    pub locations: Arena<ProcessId, CellPlacement>,
    /// The number of cells of each type.
    pub sizes: Arena<TypeId, u32>,
    /// The groups of adjacent cells in the key.
    pub groups: Arena<GroupId, CellGroup>,
    /// The groups in key order.
    pub order: Vec<GroupId>,
    /// The number of bits that carry information.
    pub bits: u32,
    /// The number of bytes of a state.
    pub bytes: usize,
    /// The cells of the locals of bodies.
    pub frames: LocalFrames,
}

impl Layout {
    /// Lays out a valid program in declaration order.
    pub fn new(program: &Program) -> Layout {
        declaration_order::declared(program, None)
    }

    /// Lays out a valid program in declaration order. All its values must be in these ranges, or be permuted from
    /// such values.
    pub fn with_ranges(program: &Program, ranges: &ValueRanges) -> Layout {
        declaration_order::declared(program, Some(ranges))
    }

    /// Lays out a valid program with its groups in the given order.
    pub fn with_order(program: &Program, order: &[GroupId]) -> Result<Layout, InvalidKeyOrder> {
        Layout::new(program).reordered(order)
    }

    /// Returns the same cells with their groups in the given order.
    pub fn reordered(mut self, order: &[GroupId]) -> Result<Layout, InvalidKeyOrder> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !self.groups.keys().eq(sorted) {
            return Err(InvalidKeyOrder { found: order.len(), groups: self.groups.len() });
        }
        self.order = order.to_vec();
        let mut bit = 0;
        for &CellGroup { first, cells, .. } in order.iter().map(|&id| &self.groups[id]) {
            for cell in (first.0..first.0 + cells).map(CellId) {
                self.cells[cell].bit = bit;
                bit += self.cells[cell].bits;
            }
        }
        debug_assert_eq!(bit, self.bits);
        Ok(self)
    }

    /// Returns the bits of a group.
    pub fn extent(&self, group: GroupId) -> Range<u32> {
        let CellGroup { first, cells, .. } = self.groups[group];
        let cells = (first.0..first.0 + cells).map(|cell| &self.cells[CellId(cell)]);
        let (bit, bits) = (self.cells[first].bit, cells.map(|cell| cell.bits).sum::<u32>());
        bit..bit + bits
    }

    /// Returns the groups as a search uses them.
    pub fn key_groups(&self) -> KeyGroups {
        let extents = self.groups.keys().map(|group| self.extent(group)).collect();
        KeyGroups { width: self.bytes, extents, order: self.order.clone() }
    }

    /// Returns the value of location 0 in a cell that holds a location. Lower values represent free slots.
    pub fn first_location(&self, program: &Program, cell: CellId) -> Option<i64> {
        let mut placements = self.locations.iter();
        let (process, _) = placements.find(|(process, placement)| {
            (0..program.slots(*process)).any(|slot| placement.in_slot(slot) == cell)
        })?;
        Some(program.processes[process].first_location().into())
    }

    /// Returns the value in a cell, or `None` if it is undefined.
    #[inline]
    pub fn get(&self, state: &[u8], cell: CellId) -> Option<i64> {
        let cell = &self.cells[cell];
        cell.value_of(read_bits(state, cell.bit, cell.bits))
    }

    /// Returns whether a state has a [wide](ScalarCell::is_wide) cell.
    pub fn has_wide_cells(&self) -> bool {
        self.cells.values().take(self.state_cells as usize).any(ScalarCell::is_wide)
    }

    /// Returns the code in a cell that is not [wide](ScalarCell::is_wide).
    #[inline]
    pub fn code(&self, state: &[u8], cell: CellId) -> u32 {
        debug_assert!(!self.cells[cell].is_wide(), "{cell:?} is wide");
        self.any_code(state, cell) as u32
    }

    /// Returns the code in a cell.
    #[inline]
    pub fn any_code(&self, state: &[u8], cell: CellId) -> u64 {
        let cell = &self.cells[cell];
        read_bits(state, cell.bit, cell.bits)
    }

    /// Returns the location of an instance in a state of this layout, or `None` if its slot is free.
    pub fn location(
        &self,
        program: &Program,
        at: ProcessInstance,
        state: &[u8],
    ) -> Option<LocationId> {
        let code = self.code(state, self.locations[at.process].in_slot(at.slot));
        code.checked_sub(program.processes[at.process].first_location()).map(LocationId)
    }

    /// Stores a code that the cell can hold.
    #[inline]
    pub fn set_code(&self, state: &mut [u8], cell: CellId, code: u32) {
        self.set_any_code(state, cell, code.into());
    }

    /// Stores a code of any width that the cell can hold.
    #[inline]
    pub fn set_any_code(&self, state: &mut [u8], cell: CellId, code: u64) {
        let cell = &self.cells[cell];
        write_bits(state, cell.bit, cell.bits, code);
    }

    /// Stores a value that the cell can hold.
    #[inline]
    pub fn set(&self, state: &mut [u8], cell: CellId, value: Option<i64>) {
        let cell = &self.cells[cell];
        let code = match value {
            Some(value) => {
                let fits = cell.least <= value && value <= cell.most;
                assert!(fits, "{value} is stored, which was ruled out: {cell:?}");
                cell.code(value)
            }
            None => {
                debug_assert!(cell.undefined, "{cell:?} cannot be undefined");
                0
            }
        };
        write_bits(state, cell.bit, cell.bits, code as u64);
    }
}

/// Returns the `bits` bits from bit `at` as an integer.
#[inline]
fn read_bits(state: &[u8], at: u32, bits: u32) -> u64 {
    let first = (at / 8) as usize;
    let offset = at % 8;
    let bytes = ((offset + bits).div_ceil(8)) as usize;
    let mut word = 0u64;
    for &byte in &state[first..first + bytes] {
        word = word << 8 | u64::from(byte);
    }
    let below = bytes as u32 * 8 - offset - bits;
    (word >> below) & ((1u64 << bits) - 1)
}

/// Replaces the `bits` bits from bit `at`.
#[inline]
fn write_bits(state: &mut [u8], at: u32, bits: u32, value: u64) {
    debug_assert!(value < 1u64 << bits);
    let first = (at / 8) as usize;
    let offset = at % 8;
    let bytes = ((offset + bits).div_ceil(8)) as usize;
    let below = bytes as u32 * 8 - offset - bits;
    let mut keep = !(((1u64 << bits) - 1) << below);
    let mut put = value << below;
    for byte in state[first..first + bytes].iter_mut().rev() {
        *byte = *byte & keep as u8 | put as u8;
        keep >>= 8;
        put >>= 8;
    }
}

impl Program {
    /// Returns the least and the greatest value of a domain.
    pub fn bounds(&self, domain: &Domain) -> Interval {
        match domain {
            Domain::Bool => (0, 1),
            Domain::Range { low, high } => (*low, *high),
            Domain::Enum(id) => (0, self.enums[*id].values.len() as i64 - 1),
            Domain::Scalarset(id) => (0, i64::from(self.scalarsets[*id].size) - 1),
            Domain::Union(parts) => {
                let sizes = parts.iter().map(|part| {
                    let (low, high) = self.bounds(part);
                    high - low + 1
                });
                (0, sizes.sum::<i64>() - 1)
            }
            // A channel variable may hold any byte, as in SPIN. A use checks whether it is the number of a channel.
            Domain::Channel => (0, 255),
            Domain::Process => {
                let slots = self.processes.keys().map(|process| i64::from(self.slots(process)));
                (0, slots.sum::<i64>() - 1)
            }
        }
    }

    /// Returns the least range that contains a range of a domain's values and all elements of each scalarset with an
    /// element in the range.
    ///
    /// A cell that holds one element must have codes for the others, too. Symmetry reduction permutes states, so any
    /// element may replace another, even if no step stores it there. Other values are not permuted, so their ranges
    /// may end anywhere. If the range contains no element, permutations add none: they replace only elements by
    /// elements.
    pub fn whole_scalarsets(&self, domain: &Domain, range: Interval) -> Interval {
        match domain {
            _ if range.0 > range.1 => range,
            Domain::Scalarset(_) => {
                let (low, high) = self.bounds(domain);
                (range.0.min(low), range.1.max(high))
            }
            Domain::Union(parts) => {
                let (mut whole, mut next) = (range, 0);
                for part in parts {
                    let (low, high) = self.bounds(part);
                    let (by, last) = (next - low, next + (high - low));
                    let inside = (range.0.max(next) - by, range.1.min(last) - by);
                    if inside.0 <= inside.1 {
                        let inside = self.whole_scalarsets(part, inside);
                        whole = (whole.0.min(inside.0 + by), whole.1.max(inside.1 + by));
                    }
                    next = last + 1;
                }
                whole
            }
            _ => range,
        }
    }

    /// Returns whether any process starts and ends.
    pub fn has_dynamic_processes(&self) -> bool {
        self.processes.values().any(Process::has_slots)
    }

    /// Returns every possible instance.
    pub fn instances(&self) -> impl Iterator<Item = ProcessInstance> {
        let slots =
            |process| (0..self.slots(process)).map(move |slot| ProcessInstance { process, slot });
        self.processes.keys().flat_map(slots)
    }

    /// Returns the channels of an owner, in order.
    pub fn channels_of(&self, owner: Owner) -> impl Iterator<Item = ChannelId> {
        let own = self.channels.iter().filter(move |(_, channel)| channel.owner == owner);
        own.map(|(id, _)| id)
    }

    /// Returns the owner of the cells of a group.
    pub fn owner(&self, part: GroupContent) -> Owner {
        match part {
            GroupContent::Location(process) => Owner::Process(process),
            GroupContent::Variable(id) => self.variables[id].owner,
            GroupContent::Channel(id) => self.channels[id].owner,
        }
    }

    /// Returns the maximal number of instances of a process.
    pub fn slots(&self, process: ProcessId) -> u32 {
        match self.processes[process].instances {
            InstanceCount::One => 1,
            InstanceCount::Slots { capacity, .. } => capacity,
        }
    }

    /// Returns the number of scalars in a value of this type.
    pub fn scalars(&self, ty: TypeId) -> u32 {
        match &self.types[ty] {
            Type::Scalar(_) => 1,
            Type::Array { length, element, .. } => length * self.scalars(*element),
            Type::Record { fields, .. } => fields.iter().map(|(_, ty)| self.scalars(*ty)).sum(),
            Type::Multiset { capacity, element } => capacity * (1 + self.scalars(*element)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_bits_are_read_back_and_neighbours_are_unchanged(
            before in prop::collection::vec(any::<u8>(), 12),
            at in 0u32..60,
            bits in 0u32..=33,
            value in any::<u64>(),
        ) {
            let value = value & ((1u64 << bits) - 1);
            let mut state = before.clone();
            write_bits(&mut state, at, bits, value);
            prop_assert_eq!(read_bits(&state, at, bits), value);
            for bit in (0..96).filter(|bit| !(at..at + bits).contains(bit)) {
                prop_assert_eq!(read_bits(&state, bit, 1), read_bits(&before, bit, 1));
            }
        }
    }
}
