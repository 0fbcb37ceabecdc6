//! What an action instance does, case by case.
//!
//! A *case* says of some cells what they hold before and after the step, and of some multisets how many
//! elements they have and what is added. Where all that it says of a state holds, the instance leads to the
//! state with the cells as they are afterwards; nothing else matters and nothing else changes. So a case is a
//! rule with one predecessor for each state: it can be undone by looking at the state alone.

use crate::analysis::instances::InstanceId;
use crate::exec::interp::MultisetCells;
use crate::ir::layout::CellId;
use crate::ir::{ActionId, Layout};

/// A cell that a case looks at or changes.
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
    /// Whether the step changes it.
    pub fn changes(self) -> bool {
        self.before != self.after
    }
}

/// A multiset that a case counts or adds to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseMultiset {
    /// Which of the program's.
    pub bag: usize,
    /// A bit for each number of elements that there may be before the step.
    pub sizes: u128,
    /// The codes of the element that is added, if one is.
    pub added: Option<Vec<u32>>,
}

impl CaseMultiset {
    /// A bit for each number of elements that there may be after the step.
    pub fn sizes_after(&self) -> u128 {
        self.sizes << u32::from(self.added.is_some())
    }
}

/// What an action instance does where all of this holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReversibleCase {
    /// Whose case it is.
    pub instance: InstanceId,
    /// Its action.
    pub action: ActionId,
    /// The cells it is about, ascending.
    pub held: Vec<CaseCell>,
    /// The multisets it is about, ascending.
    pub counted: Vec<CaseMultiset>,
}

impl ReversibleCase {
    /// The bytes that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        let added =
            |it: &CaseMultiset| it.added.as_ref().map_or(0, |it| size_of_val(it.as_slice()));
        let counted = self.counted.iter().map(|it| size_of_val(it) + added(it));
        size_of_val(self) + size_of_val(self.held.as_slice()) + counted.sum::<usize>()
    }

    /// What it says of a cell.
    pub fn of(&self, cell: CellId) -> Option<CaseCell> {
        self.held.binary_search_by_key(&cell, |it| it.cell).ok().map(|at| self.held[at])
    }

    /// What it says of a multiset.
    pub fn of_bag(&self, bag: usize) -> Option<&CaseMultiset> {
        self.counted.iter().find(|it| it.bag == bag)
    }

    /// Whether it adds an element to a multiset.
    pub fn adds(&self) -> bool {
        self.counted.iter().any(|it| it.added.is_some())
    }
}

/// The fewest bytes that states are matched in.
pub(super) const MATCHED_BYTES: usize = 8;

/// Eight bytes of a state that a case is about.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CaseWord {
    at: usize,
    mask: u64,
    before: u64,
    after: u64,
}

impl CaseWord {
    /// Whether they are as before the case.
    pub(super) fn is_before(&self, state: &[u8]) -> bool {
        word(state, self.at) & self.mask == self.before
    }

    /// Whether they are as after it.
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

/// A case, ready to be taken and undone in states, which have at least [`MATCHED_BYTES`] bytes.
#[derive(Clone, Debug)]
pub(super) struct CaseMatcher {
    words: Vec<CaseWord>,
    counted: Vec<(MatchedMultiset, CaseMultiset)>,
}

impl CaseMatcher {
    /// A case in states that are laid out so.
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
            // Bytes before the start belong to the word before.
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

    /// What tells of most states that the case does not hold: the first eight bytes that it is about.
    pub(super) fn head(&self) -> CaseWord {
        self.words.first().copied().unwrap_or_default()
    }

    /// Makes `state` the one after the step, if the case holds; `sort` brings a multiset into its form.
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

    /// Makes `state` the one before the step, if it may have come of the case.
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

    /// How many elements there are; they come first.
    fn size(&self, state: &[u8], layout: &Layout) -> u32 {
        let is_there = |&at: &u32| layout.code(state, CellId(self.first(at))) == 1;
        (0..self.cells.capacity).take_while(is_there).count() as u32
    }

    /// Where an element is.
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

    /// Removes the element of so many cells at a position.
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
