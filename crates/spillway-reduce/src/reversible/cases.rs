//! The effects of an action instance, case by case.
//!
//! A *case* gives the values of some cells before and after the transition, and for some multisets the number of
//! elements and the added element. In a state that satisfies the conditions of the case, the instance changes these
//! cells and multisets as given, and nothing else. So a case is a rule with one predecessor for each state: it can be
//! undone given the state alone.

use spillway_analysis::instances::InstanceId;
use spillway_exec::interp::MultisetCells;
use spillway_ir::layout::CellId;
use spillway_ir::{ActionId, Layout};

/// A cell that a case reads or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseCell {
    /// The cell.
    pub cell: CellId,
    /// Its code before the step.
    pub before: u32,
    /// Its code after the step.
    pub after: u32,
}

impl CaseCell {
    /// Whether the transition changes the cell.
    pub fn changes(self) -> bool {
        self.before != self.after
    }
}

/// A multiset that a case counts or adds to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseMultiset {
    /// The index of the multiset in the program.
    pub bag: usize,
    /// A bit for each possible number of elements before the transition.
    pub sizes: u128,
    /// The codes of the added element, if one is added.
    pub added: Option<Vec<u32>>,
}

impl CaseMultiset {
    /// Returns a bit for each possible number of elements after the transition.
    pub fn sizes_after(&self) -> u128 {
        self.sizes << u32::from(self.added.is_some())
    }
}

/// The effect of an action instance in the states that satisfy some conditions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReversibleCase {
    /// The instance.
    pub instance: InstanceId,
    /// The action of the instance.
    pub action: ActionId,
    /// The cells that it reads or changes, ascending.
    pub held: Vec<CaseCell>,
    /// The multisets that it counts or adds to, ascending.
    pub counted: Vec<CaseMultiset>,
}

impl ReversibleCase {
    /// Returns the approximate size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let added =
            |it: &CaseMultiset| it.added.as_ref().map_or(0, |it| size_of_val(it.as_slice()));
        let counted = self.counted.iter().map(|it| size_of_val(it) + added(it));
        size_of_val(self) + size_of_val(self.held.as_slice()) + counted.sum::<usize>()
    }

    /// Returns the entry of a cell.
    pub fn of(&self, cell: CellId) -> Option<CaseCell> {
        self.held.binary_search_by_key(&cell, |it| it.cell).ok().map(|at| self.held[at])
    }

    /// Returns the entry of a multiset.
    pub fn of_bag(&self, bag: usize) -> Option<&CaseMultiset> {
        self.counted.iter().find(|it| it.bag == bag)
    }

    /// Whether the case adds an element to a multiset.
    pub fn adds(&self) -> bool {
        self.counted.iter().any(|it| it.added.is_some())
    }
}

/// The fewest bytes of states that can be matched.
pub(super) const MATCHED_BYTES: usize = 8;

/// Eight bytes of a state that a case reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CaseWord {
    at: usize,
    mask: u64,
    before: u64,
    after: u64,
}

impl CaseWord {
    /// Whether the bytes match the state before the case.
    pub(super) fn is_before(&self, state: &[u8]) -> bool {
        word(state, self.at) & self.mask == self.before
    }

    /// Whether the bytes match the state after the case.
    pub(super) fn is_after(&self, state: &[u8]) -> bool {
        word(state, self.at) & self.mask == self.after
    }
}

/// A multiset in a state.
#[derive(Clone, Copy, Debug)]
struct MatchedMultiset {
    cells: MultisetCells,
    at: usize,
}

/// A case prepared to be applied and undone in states of at least [`MATCHED_BYTES`] bytes.
#[derive(Clone, Debug)]
pub(super) struct CaseMatcher {
    words: Vec<CaseWord>,
    counted: Vec<(MatchedMultiset, CaseMultiset)>,
}

impl CaseMatcher {
    /// Prepares a case for a layout.
    pub(super) fn new(
        case: &ReversibleCase,
        layout: &Layout,
        multisets: &[MultisetCells],
    ) -> CaseMatcher {
        let width = layout.bytes.max(MATCHED_BYTES);
        let mut bytes = [vec![0; width], vec![0; width], vec![0; width]];
        for held in &case.held {
            let ones = ((1u64 << layout.cells[held.cell].bits) - 1) as u32;
            let codes = [ones, held.before, held.after];
            for (bytes, code) in bytes.iter_mut().zip(codes) {
                layout.set_code(bytes, held.cell, code);
            }
        }
        let mut words = Vec::new();
        for start in (0..width).step_by(MATCHED_BYTES) {
            let at = start.min(width - MATCHED_BYTES);
            // Earlier bytes belong to the previous word.
            let new = u64::MAX >> ((start - at) * 8);
            let [mask, before, after] = [0, 1, 2].map(|it| word(&bytes[it], at) & new);
            if mask != 0 {
                words.push(CaseWord { at, mask, before, after });
            }
        }
        let bag = |it: &CaseMultiset| {
            (MatchedMultiset { cells: multisets[it.bag], at: it.bag }, it.clone())
        };
        CaseMatcher { words, counted: case.counted.iter().map(bag).collect() }
    }

    /// Returns the first eight bytes that the case reads, which exclude most states.
    pub(super) fn head(&self) -> CaseWord {
        self.words.first().copied().unwrap_or_default()
    }

    /// Changes `state` to the state after the transition, if the case applies; `sort` restores the order of a
    /// multiset.
    pub(super) fn take(
        &self,
        state: &mut [u8],
        layout: &Layout,
        sort: &dyn Fn(usize, &mut [u8]),
    ) -> bool {
        let holds = self.words.iter().all(|it| it.is_before(state))
            && self.counted.iter().all(|(bag, it)| it.sizes >> bag.size(state, layout) & 1 == 1);
        if holds {
            self.words.iter().for_each(|it| put(state, it.at, it.mask, it.after));
            for (bag, it) in &self.counted {
                let Some(added) = &it.added else { continue };
                bag.insert(bag.size(state, layout), added, state, layout);
                sort(bag.at, state);
            }
        }
        holds
    }

    /// Changes `state` to the state before the transition, if the case may have led to it.
    pub(super) fn undo(
        &self,
        state: &mut [u8],
        layout: &Layout,
        sort: &dyn Fn(usize, &mut [u8]),
    ) -> bool {
        let may_be = |(bag, it): &(MatchedMultiset, CaseMultiset)| {
            it.sizes_after() >> bag.size(state, layout) & 1 == 1
                && it.added.as_ref().is_none_or(|it| bag.find(it, state, layout).is_some())
        };
        let holds =
            self.words.iter().all(|it| it.is_after(state)) && self.counted.iter().all(may_be);
        if holds {
            self.words.iter().for_each(|it| put(state, it.at, it.mask, it.before));
            for (bag, it) in &self.counted {
                let Some(added) = &it.added else { continue };
                if let Some(position) = bag.find(added, state, layout) {
                    bag.remove(position, added.len(), state, layout);
                    sort(bag.at, state);
                }
            }
        }
        holds
    }
}

impl MatchedMultiset {
    fn first(&self, position: u32) -> u32 {
        self.cells.first.0 + position * self.cells.stride
    }

    /// Returns the number of elements, which come first.
    fn size(&self, state: &[u8], layout: &Layout) -> u32 {
        let is_there = |&at: &u32| layout.code(state, CellId(self.first(at))) == 1;
        (0..self.cells.capacity).take_while(is_there).count() as u32
    }

    /// Returns the position of an element.
    fn find(&self, element: &[u32], state: &[u8], layout: &Layout) -> Option<u32> {
        let is_it = |&at: &u32| {
            let cells = (self.first(at) + 1..).map(CellId);
            element.iter().zip(cells).all(|(&code, cell)| layout.code(state, cell) == code)
        };
        (0..self.size(state, layout)).find(is_it)
    }

    /// Writes an element, by the codes of its cells, at a position.
    fn insert(&self, position: u32, element: &[u32], state: &mut [u8], layout: &Layout) {
        layout.set_code(state, CellId(self.first(position)), 1);
        let cells = (self.first(position) + 1..).map(CellId);
        element.iter().zip(cells).for_each(|(&code, cell)| layout.set_code(state, cell, code));
    }

    /// Removes the element at a position; it has `cells` cells.
    fn remove(&self, position: u32, cells: usize, state: &mut [u8], layout: &Layout) {
        let all = (self.first(position)..).map(CellId).take(1 + cells);
        all.for_each(|cell| layout.set_code(state, cell, 0));
    }
}

fn word(state: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(state[at..].first_chunk().copied().unwrap_or_default())
}

fn put(state: &mut [u8], at: usize, mask: u64, bits: u64) {
    let bytes = (word(state, at) & !mask | bits).to_be_bytes();
    state[at..at + MATCHED_BYTES].copy_from_slice(&bytes);
}
