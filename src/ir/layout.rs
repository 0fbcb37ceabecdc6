//! Where each variable lives in the packed state.
//!
//! A state is a string of bits, the most significant bit of its first byte first, so that comparing
//! states as byte strings compares them by their cells in *key order*. Every scalar of the program
//! is a *cell*: as many bits as its values need, holding the value's code (its distance from the
//! least value, one more if it may also be undefined, whose code is 0). Its values are those of its
//! domain, or fewer, where an analysis rules the others out ([`ValueRanges`]); of a scalarset's elements
//! they are all or none ([`Program::whole_scalarsets`]). Bits after the last cell are 0.
//!
//! Cells in declaration order: the program's variables and channels, then for each process (and
//! each of its slots) its location and its own variables and channels. A buffered channel is the
//! number of messages waiting, then its messages, oldest first. A multiset is for each position
//! whether there is an element, then the element.
//!
//! The cells of one variable, one channel or one location are a *group*. Key order is any
//! permutation of the groups, the declared one if nothing else is asked for; within a group it is
//! declaration order. So cells that follow one another in name need not lie side by side: only
//! [`ScalarCell::bit`] says where a cell is.
//!
//! What bodies remember while they run (local variables, and what functions are given by value) has
//! cells too, after all of the state's. Their bits begin behind the state's last byte, in a buffer
//! that is longer than a state ([`LocalFrames`]).

mod builder;
mod declaration_order;
mod frames;
mod state_validator;

pub use frames::{LocalFrame, LocalFrames};
pub use state_validator::StateValidator;

use super::interval::{self, Interval};
use super::{
    Arena, ChannelId, Domain, InstanceCount, LocationId, Owner, Process, ProcessId,
    ProcessInstance, Program, Type, TypeId, VarId, entity,
};
use std::fmt;
use std::ops::Range;

entity::entity! {
    /// Names a cell of the state.
    CellId,
    /// Names a [`CellGroup`], in declaration order.
    GroupId,
}

/// One scalar of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarCell {
    /// The first bit, counted from the most significant bit of the first byte.
    pub bit: u32,
    /// How many bits; at most [`MAX_CELL_BITS`], possibly 0 for a domain of one value.
    pub bits: u32,
    /// The least value that may be stored, as declared.
    pub low: i64,
    /// The greatest, as declared.
    pub high: i64,
    /// The least value that ever is stored: code 0, or 1 if code 0 means undefined.
    pub least: i64,
    /// The greatest value that ever is stored.
    pub most: i64,
    /// Whether code 0 means undefined and values start at code 1.
    pub undefined: bool,
}

/// The widest cell: room for every C `int` and for undefined, and then some. Bits at a place that only
/// the state decides are read and written at most 57 at once.
pub const MAX_CELL_BITS: u32 = 48;

impl ScalarCell {
    /// A cell from `bit` on for all values from `low` to `high`.
    pub fn new(bit: u32, low: i64, high: i64, undefined: bool) -> ScalarCell {
        let cell = ScalarCell { bit, bits: 0, low, high, least: low, most: high, undefined };
        cell.narrowed((low, high))
    }

    /// The same cell for values that all lie in an interval.
    pub fn narrowed(self, (least, most): Interval) -> ScalarCell {
        let (least, most) = (least.max(self.low), most.min(self.high));
        // Where nothing is ever stored there is one code all the same.
        let (least, most) = if least <= most { (least, most) } else { (self.low, self.low) };
        let codes = most - least + 1 + i64::from(self.undefined);
        let bits = 64 - (codes - 1).leading_zeros();
        ScalarCell { bits, least, most, ..self }
    }

    /// How far values are from their codes: code 0 would be this value, if it were one. How codes
    /// stand to values is said here and nowhere else.
    #[inline]
    pub fn base(&self) -> i64 {
        self.least.wrapping_sub(self.undefined.into())
    }

    /// The code of a value that is stored.
    #[inline]
    pub fn code(&self, value: i64) -> i64 {
        value.wrapping_sub(self.base())
    }

    /// The value of a code, or `None` if that means undefined.
    #[inline]
    pub fn value(&self, code: u32) -> Option<i64> {
        self.value_of(code.into())
    }

    /// The value of a code, however wide that is, or `None` if that means undefined.
    #[inline]
    fn value_of(&self, code: u64) -> Option<i64> {
        let is_value = code != 0 || !self.undefined;
        is_value.then(|| self.base().wrapping_add(code as i64))
    }

    /// How many codes there are.
    pub fn count(&self) -> u32 {
        let codes = self.most.saturating_sub(self.least).saturating_add(1);
        u32::try_from(codes.saturating_add(self.undefined.into())).unwrap_or(u32::MAX)
    }

    /// Whether its codes do not fit 32 bits. Reductions, which look at codes, leave such states alone.
    #[inline]
    pub fn is_wide(&self) -> bool {
        self.bits > u32::BITS
    }

    /// The codes of the values from `first` to `last`, if all of them have one.
    pub fn codes(&self, first: i64, last: i64) -> Option<Range<u32>> {
        let has_all = self.least <= first && first <= last && last <= self.most;
        has_all.then(|| self.code(first) as u32..self.code(last) as u32 + 1)
    }

    /// The greatest value whose code fits into the bits, whether it is ever stored or not.
    pub fn last(&self) -> i64 {
        let codes = ((1i64 << self.bits) - 1) - i64::from(self.undefined);
        self.least.saturating_add(codes)
    }

    /// Whether `value` can be stored.
    #[inline]
    pub fn holds(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The value modulo the size of the domain.
    #[inline]
    pub fn wrap(&self, value: i64) -> i64 {
        interval::wrap_into(value, (self.low, self.high))
    }
}

/// A variable's cells: `stride` of them for each slot of its owner, the first at `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellPlacement {
    /// The first cell, in slot 0.
    pub first: CellId,
    /// How many cells further the next slot's are.
    pub stride: u32,
}

impl CellPlacement {
    /// The first cell in a slot.
    #[inline]
    pub fn in_slot(self, slot: u32) -> CellId {
        CellId(self.first.0 + slot * self.stride)
    }
}

/// Cells that stay together in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellGroup {
    /// What they hold.
    pub part: GroupContent,
    /// In which slot of the owner.
    pub slot: u32,
    /// The first cell.
    pub first: CellId,
    /// How many cells.
    pub cells: u32,
}

/// What a [`CellGroup`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupContent {
    /// Where a process is.
    Location(ProcessId),
    /// A variable, with all its elements and fields.
    Variable(VarId),
    /// A buffered channel.
    Channel(ChannelId),
}

/// A list of groups that is no order of a program's: one is missing, repeated or unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKeyOrder {
    /// How many groups the list has.
    pub found: usize,
    /// How many groups the program has.
    pub groups: usize,
}

impl fmt::Display for InvalidKeyOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidKeyOrder { found, groups } = self;
        write!(f, "its {found} numbers are no order of the {groups} groups of cells")
    }
}

impl std::error::Error for InvalidKeyOrder {}

/// Which values variables and messages ever have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRanges {
    /// Of all scalars of a variable, where that is known.
    pub variables: Arena<VarId, Option<Interval>>,
    /// Of each field of a channel's messages.
    pub channels: Arena<ChannelId, Vec<Interval>>,
}

/// Where everything lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Every scalar of the state, then those of the frames.
    pub cells: Arena<CellId, ScalarCell>,
    /// How many of the cells are the state's.
    pub state_cells: u32,
    /// The cells of each variable.
    pub variables: Arena<VarId, CellPlacement>,
    /// The cells of each channel; a rendezvous has none.
    pub channels: Arena<ChannelId, CellPlacement>,
    /// The location cell of each process. With several slots, code 0 is a free slot and locations
    /// start at 1.
    pub locations: Arena<ProcessId, CellPlacement>,
    /// The cells that make up each type.
    pub sizes: Arena<TypeId, u32>,
    /// What stays together in the key.
    pub groups: Arena<GroupId, CellGroup>,
    /// The groups in key order.
    pub order: Vec<GroupId>,
    /// The bits that carry information.
    pub bits: u32,
    /// The bytes of a state.
    pub bytes: usize,
    /// Where bodies keep what they remember while they run.
    pub frames: LocalFrames,
}

impl Layout {
    /// Lays out a valid program in declaration order.
    pub fn new(program: &Program) -> Layout {
        declaration_order::declared(program, None)
    }

    /// Lays out a valid program whose values all lie in these ranges, or are permuted from such, in
    /// declaration order.
    pub fn with_ranges(program: &Program, ranges: &ValueRanges) -> Layout {
        declaration_order::declared(program, Some(ranges))
    }

    /// Lays out a valid program with its groups in the order given.
    pub fn with_order(program: &Program, order: &[GroupId]) -> Result<Layout, InvalidKeyOrder> {
        Layout::new(program).reordered(order)
    }

    /// The same cells, their groups in the order given.
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

    /// The bits of a group.
    pub fn extent(&self, group: GroupId) -> Range<u32> {
        let CellGroup { first, cells, .. } = self.groups[group];
        let cells = (first.0..first.0 + cells).map(|cell| &self.cells[CellId(cell)]);
        let (bit, bits) = (self.cells[first].bit, cells.map(|cell| cell.bits).sum::<u32>());
        bit..bit + bits
    }

    /// What location 0 is in a cell that tells where a process is: values below stand for free slots.
    pub fn first_location(&self, program: &Program, cell: CellId) -> Option<i64> {
        let mut placements = self.locations.iter();
        let (process, _) = placements.find(|(process, placement)| {
            (0..program.slots(*process)).any(|slot| placement.in_slot(slot) == cell)
        })?;
        Some(program.processes[process].first_location().into())
    }

    /// The value in a cell, or `None` if it is undefined.
    #[inline]
    pub fn get(&self, state: &[u8], cell: CellId) -> Option<i64> {
        let cell = &self.cells[cell];
        cell.value_of(read_bits(state, cell.bit, cell.bits))
    }

    /// Whether a state has a cell that is [wide](ScalarCell::is_wide).
    pub fn has_wide_cells(&self) -> bool {
        self.cells.values().take(self.state_cells as usize).any(ScalarCell::is_wide)
    }

    /// The code in a cell that is not [wide](ScalarCell::is_wide).
    #[inline]
    pub fn code(&self, state: &[u8], cell: CellId) -> u32 {
        debug_assert!(!self.cells[cell].is_wide(), "{cell:?} is wide");
        self.any_code(state, cell) as u32
    }

    /// The code in a cell.
    #[inline]
    pub fn any_code(&self, state: &[u8], cell: CellId) -> u64 {
        let cell = &self.cells[cell];
        read_bits(state, cell.bit, cell.bits)
    }

    /// Where an instance is, in a state of the program that is laid out so; nowhere, if its slot is free.
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

    /// Stores a code that the cell can hold, however wide that is.
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

/// The `bits` bits from bit `at`, as an integer.
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
    /// The least and the greatest value of a domain.
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
            // Variables of channels may hold any byte, as SPIN has it: which are numbers of channels
            // is asked where one is used.
            Domain::Channel => (0, 255),
            Domain::Process => {
                let slots = self.processes.keys().map(|process| i64::from(self.slots(process)));
                (0, slots.sum::<i64>() - 1)
            }
        }
    }

    /// The least range around one of a domain's values that has all elements of each scalarset it
    /// has any of.
    ///
    /// A cell that holds one element must have codes for the others too: permuting a state, which
    /// symmetry reduction does, puts any element where another was, though no step ever stores it
    /// there. Other values are not permuted, so a range of them may end anywhere. If no element is
    /// in the range, none comes there by permuting: an element is put only where one was.
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

    /// Whether any process comes and goes.
    pub fn has_dynamic_processes(&self) -> bool {
        self.processes.values().any(Process::has_slots)
    }

    /// Every instance that there may be.
    pub fn instances(&self) -> impl Iterator<Item = ProcessInstance> {
        let slots =
            |process| (0..self.slots(process)).map(move |slot| ProcessInstance { process, slot });
        self.processes.keys().flat_map(slots)
    }

    /// The channels that belong to an owner, in order.
    pub fn channels_of(&self, owner: Owner) -> impl Iterator<Item = ChannelId> {
        let own = self.channels.iter().filter(move |(_, channel)| channel.owner == owner);
        own.map(|(id, _)| id)
    }

    /// Whose the cells of a group are.
    pub fn owner(&self, part: GroupContent) -> Owner {
        match part {
            GroupContent::Location(process) => Owner::Process(process),
            GroupContent::Variable(id) => self.variables[id].owner,
            GroupContent::Channel(id) => self.channels[id].owner,
        }
    }

    /// The most instances of a process.
    pub fn slots(&self, process: ProcessId) -> u32 {
        match self.processes[process].instances {
            InstanceCount::One => 1,
            InstanceCount::Slots { capacity, .. } => capacity,
        }
    }

    /// The number of scalars in a value of this type.
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
        fn bits_are_read_back_and_leave_their_neighbours(
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
