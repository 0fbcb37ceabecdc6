//! Representatives under permutations of processes.
//!
//! The least image of a state is the representative (Emerson and Sistla 1996 allow any; the least one is the same for
//! all states of an orbit). If processes may be in any order, sorting finds it ([`SortableBlocks`]). Otherwise the
//! group that the automorphisms generate is listed, up to a limit. The images of a state are compared cell by cell,
//! starting with the locations of processes. Images that are not the least so far are dropped, and mostly one is left
//! after a few cells.

use super::blocks::{self, SortableBlocks};
use super::order::{comparison_order, places};
use spillway_analysis::automorphisms::{Automorphism, CellImage, CodeMap};
use spillway_analysis::equivalence_classes::UnionFind;
use spillway_ir::Layout;
use spillway_ir::layout::CellId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The most automorphisms that are listed: all orders of seven processes.
const MOST: usize = 5040;

/// The most swaps that are tried in each state.
const SWAPS_MOST: usize = 32;

/// A group of automorphisms.
#[derive(Clone, Debug)]
pub(super) struct AutomorphismGroup {
    /// The cells that any automorphism moves or changes, in the order of comparison.
    cells: Vec<CellId>,
    /// For each cell, the source of its image's code, under each automorphism. Automorphisms are sorted so that those
    /// that agree in the first cells are neighbours.
    sources: Vec<Vec<CodeSource>>,
    /// For each cell and each automorphism, the first later automorphism that differs in one of the cells so far.
    ends: Vec<Vec<u32>>,
    /// For each cell of a message: the cell with the number of messages, and the index of the message.
    behind: Vec<Option<(CellId, u32)>>,
    /// The automorphisms that exchange two processes and are their own inverse.
    swaps: Vec<CellPermutation>,
    tables: RecodingTables,
    order: usize,
}

/// Groups of automorphisms on disjoint cells.
#[derive(Clone, Debug)]
pub(super) struct IndependentGroups(Vec<GroupPart>);

/// The group on some cells.
#[derive(Clone, Debug)]
enum GroupPart {
    AnyOrder(SortableBlocks),
    Listed(Box<AutomorphismGroup>),
}

/// Buffers for representatives.
#[derive(Default)]
pub(super) struct GroupBuffers {
    blocks: blocks::BlockBuffers,
    images: ImageBuffers,
}

impl IndependentGroups {
    /// Builds the groups of some automorphisms, if there are any.
    pub(super) fn of(found: Vec<Automorphism>, layout: &Layout) -> Option<IndependentGroups> {
        let mut cells = UnionFind::singletons(layout.state_cells as usize);
        let numbers = |it: &Automorphism| {
            let moved = comparison_order(std::slice::from_ref(it), layout);
            moved.into_iter().map(|it| it.0 as usize).collect::<Vec<_>>()
        };
        let moved: Vec<Vec<usize>> = found.iter().map(numbers).collect();
        for all in &moved {
            for two in all.windows(2) {
                cells.union(two[0], two[1]);
            }
        }
        let mut apart: BTreeMap<usize, Vec<Automorphism>> = BTreeMap::new();
        for (one, moved) in found.into_iter().zip(&moved) {
            if let Some(&cell) = moved.first() {
                apart.entry(cells.find(cell)).or_default().push(one);
            }
        }
        let part = |of: &Vec<Automorphism>| {
            let blocks = SortableBlocks::of(of, layout).map(GroupPart::AnyOrder);
            blocks.or_else(|| {
                AutomorphismGroup::of(of, layout).map(|it| GroupPart::Listed(Box::new(it)))
            })
        };
        let groups: Vec<GroupPart> = apart.values().filter_map(part).collect();
        (!groups.is_empty()).then_some(IndependentGroups(groups))
    }

    /// Returns the number of automorphisms, or `None` on overflow.
    pub(super) fn order(&self) -> Option<u64> {
        let mut orders = self.0.iter().map(|it| match it {
            GroupPart::AnyOrder(blocks) => blocks.order(),
            GroupPart::Listed(group) => Some(group.order as u64),
        });
        orders.try_fold(1u64, |all, it| all.checked_mul(it?))
    }

    /// Replaces a state by its least image.
    pub(super) fn represent(&self, layout: &Layout, room: &mut GroupBuffers, state: &mut [u8]) {
        self.0.iter().for_each(|it| match it {
            GroupPart::AnyOrder(blocks) => blocks.represent(layout, &mut room.blocks, state),
            GroupPart::Listed(group) => group.represent(layout, &mut room.images, state),
        });
    }
}

/// The source of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CodeSource {
    /// The cell, by its index in the group.
    cell: u32,
    table: RecodingId,
}

/// The image of each cell of a group, by index, with the change of its code.
type CellPermutation = Vec<(u32, RecodingId)>;

/// The index of a table of code changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct RecodingId(u32);

/// Codes do not change.
const SAME: RecodingId = RecodingId(0);

/// Tables of code changes, each stored once.
#[derive(Clone, Debug)]
struct RecodingTables {
    all: Vec<Arc<[u32]>>,
    known: HashMap<Arc<[u32]>, RecodingId>,
    both: HashMap<(RecodingId, RecodingId), RecodingId>,
}

impl RecodingTables {
    fn new() -> RecodingTables {
        RecodingTables { all: vec![Arc::from([])], known: HashMap::new(), both: HashMap::new() }
    }

    fn place(&mut self, codes: &CodeMap) -> RecodingId {
        let CodeMap::To(codes) = codes else { return SAME };
        *self.known.entry(codes.clone()).or_insert_with(|| {
            self.all.push(codes.clone());
            RecodingId(self.all.len() as u32 - 1)
        })
    }

    fn of(&self, table: RecodingId) -> &[u32] {
        &self.all[table.0 as usize]
    }

    /// Composes two code changes.
    fn composed(&mut self, one: RecodingId, other: RecodingId) -> RecodingId {
        match (one, other) {
            (SAME, it) | (it, SAME) => it,
            both => {
                if let Some(&it) = self.both.get(&both) {
                    return it;
                }
                let codes = self.of(one).iter().map(|&code| self.of(other)[code as usize]);
                let codes: Vec<u32> = codes.collect();
                let stay = codes.iter().copied().eq(0..codes.len() as u32);
                let codes = if stay { CodeMap::Same } else { CodeMap::To(codes.into()) };
                let table = self.place(&codes);
                self.both.insert(both, table);
                table
            }
        }
    }
}

/// Buffers for comparing images.
#[derive(Debug, Default)]
pub(super) struct ImageBuffers {
    codes: Vec<u32>,
    /// Whether the message of each cell exists.
    is_there: Vec<bool>,
    /// The swaps that leave the state unchanged.
    idle: Vec<u32>,
    /// The automorphisms that are left, as ranges of those that agree in the cells so far.
    left: Vec<Range<u32>>,
    next: Vec<Range<u32>>,
}

impl AutomorphismGroup {
    /// Builds the group that a prefix of these automorphisms generates: as many as the limit allows. Returns `None`
    /// if there are none.
    pub(super) fn of(found: &[Automorphism], layout: &Layout) -> Option<AutomorphismGroup> {
        let like = &found.first()?.cells;
        let cells = comparison_order(found, layout);
        let number: HashMap<CellId, u32> = cells.iter().copied().zip(0..).collect();
        let mut tables = RecodingTables::new();
        let mut permutation = |it: &Automorphism| -> CellPermutation {
            let goes = cells.iter().map(|cell| {
                let CellImage { to, codes, .. } = &it.cells[cell.0 as usize];
                (number[to], tables.place(codes))
            });
            goes.collect()
        };
        let given: Vec<CellPermutation> = found.iter().map(&mut permutation).collect();
        let mut all = vec![(0..cells.len() as u32).map(|cell| (cell, SAME)).collect()];
        let mut used = Vec::new();
        for one in &given {
            used.push(one);
            match closed(&used, cells.len(), &mut tables) {
                Some(larger) => all = larger,
                None => drop(used.pop()),
            }
        }
        let (sources, ends) = ordered(&all);
        let swaps = swaps(&all, &cells, layout);
        let behind = cells.iter().map(|it| like[it.0 as usize].behind).collect();
        (all.len() > 1).then_some(AutomorphismGroup {
            cells,
            sources,
            ends,
            behind,
            swaps,
            tables,
            order: all.len(),
        })
    }

    /// Replaces a state by its least image.
    pub(super) fn represent(&self, layout: &Layout, room: &mut ImageBuffers, state: &mut [u8]) {
        let ImageBuffers { codes, is_there, idle, left, next } = room;
        codes.clear();
        codes.extend(self.cells.iter().map(|&cell| layout.code(state, cell)));
        is_there.clear();
        is_there.extend(self.behind.iter().map(|it| match *it {
            Some((count, before)) => layout.code(state, count) > before,
            None => true,
        }));
        idle.clear();
        idle.extend(
            (0..).zip(&self.swaps).filter(|it| self.is_idle(it.1, codes, is_there)).map(|it| it.0),
        );
        left.clear();
        left.push(0..self.order as u32);
        for (column, (sources, ends)) in self.sources.iter().zip(&self.ends).enumerate() {
            let mut least = u32::MAX;
            next.clear();
            for stretch in left.iter() {
                let mut at = stretch.start;
                while at < stretch.end {
                    let code = self.code(sources[at as usize], codes, is_there);
                    let end = ends[at as usize];
                    if code <= least && self.is_seen(idle, column, at as usize) {
                        at = end;
                        continue;
                    }
                    if code < least {
                        least = code;
                        next.clear();
                    }
                    if code == least {
                        next.push(at..end);
                    }
                    at = end;
                }
            }
            std::mem::swap(left, next);
            if let [only] = &left[..]
                && only.len() == 1
            {
                break;
            }
        }
        // The automorphisms that are left have the same image.
        let Some(one) = left.first().map(|it| it.start as usize) else { return };
        for ((&cell, sources), &old) in self.cells.iter().zip(&self.sources).zip(codes.iter()) {
            let code = self.code(sources[one], codes, is_there);
            if code != old {
                layout.set_code(state, cell, code);
            }
        }
    }

    /// Whether a swap leaves a state unchanged.
    fn is_idle(&self, swap: &CellPermutation, codes: &[u32], is_there: &[bool]) -> bool {
        swap.iter().zip(0..).all(|(&(to, table), cell)| {
            self.code(CodeSource { cell, table }, codes, is_there) == codes[to as usize]
        })
    }

    /// Whether automorphisms that agree up to a column have the images of earlier ones: composed with a swap that
    /// leaves the state unchanged, they agree with these in all columns so far.
    fn is_seen(&self, idle: &[u32], column: usize, at: usize) -> bool {
        let here = self.sources[column][at].cell;
        idle.iter().any(|&swap| {
            let swap = &self.swaps[swap as usize];
            let (to, table) = swap[here as usize];
            let stays = |before: &Vec<CodeSource>| {
                let cell = before[at].cell;
                swap[cell as usize] == (cell, SAME)
            };
            to < here && table == SAME && self.sources[..column].iter().all(stays)
        })
    }

    #[inline]
    fn code(&self, from: CodeSource, codes: &[u32], is_there: &[bool]) -> u32 {
        let code = codes[from.cell as usize];
        match from.table {
            SAME => code,
            _ if !is_there[from.cell as usize] => code,
            table => self.tables.of(table)[code as usize],
        }
    }
}

/// Returns the permutations that exchange two location cells and are their own inverse.
fn swaps(all: &[CellPermutation], cells: &[CellId], layout: &Layout) -> Vec<CellPermutation> {
    let places = places(layout);
    let count = cells.iter().take_while(|it| places.contains(it)).count();
    let moved =
        |one: &[(u32, RecodingId)]| one.iter().zip(0..).filter(|((to, _), at)| to != at).count();
    let is_swap = |one: &&CellPermutation| {
        let returns = |(&(to, table), cell): (&(u32, RecodingId), u32)| {
            let (back, other) = one[to as usize];
            back == cell && (table == SAME) == (other == SAME)
        };
        moved(&one[..count]) > 0 && one.iter().zip(0..).all(returns)
    };
    let mut found: Vec<_> = all.iter().filter(is_swap).cloned().collect();
    let fewest = found.iter().map(|it| moved(it)).min();
    found.retain(|it| Some(moved(it)) == fewest);
    found.truncate(SWAPS_MOST);
    found
}

/// Sorts permutations by the sources of each cell's image. Returns these, and the ends of the ranges that agree so
/// far.
fn ordered(all: &[CellPermutation]) -> (Vec<Vec<CodeSource>>, Vec<Vec<u32>>) {
    let cells = all.first().map_or(0, Vec::len);
    let by_image = |one: &CellPermutation| {
        let mut sources = vec![CodeSource { cell: 0, table: SAME }; one.len()];
        for (&(to, table), cell) in one.iter().zip(0..) {
            sources[to as usize] = CodeSource { cell, table };
        }
        sources
    };
    let mut rows: Vec<Vec<CodeSource>> = all.iter().map(by_image).collect();
    rows.sort_unstable();
    let mut ends: Vec<Vec<u32>> = vec![vec![0; rows.len()]; cells];
    for at in (0..rows.len()).rev() {
        let agree = match rows.get(at + 1) {
            Some(next) => rows[at].iter().zip(next).take_while(|(one, other)| one == other).count(),
            None => 0,
        };
        for (cell, ends) in ends.iter_mut().enumerate() {
            ends[at] = if cell < agree { ends[at + 1] } else { at as u32 + 1 };
        }
    }
    let column = |cell: usize| rows.iter().map(|row| row[cell]).collect();
    ((0..cells).map(column).collect(), ends)
}

/// Returns the group that some permutations generate, the identity first; `None` if it is too large.
fn closed(
    given: &[&CellPermutation],
    cells: usize,
    tables: &mut RecodingTables,
) -> Option<Vec<CellPermutation>> {
    let nothing: CellPermutation = (0..cells as u32).map(|cell| (cell, SAME)).collect();
    let mut known = HashSet::from([nothing.clone()]);
    let mut all = vec![nothing];
    let mut at = 0;
    while at < all.len() {
        for one in given {
            let then = |&(to, table): &(u32, RecodingId)| {
                let (to, other) = one[to as usize];
                (to, tables.composed(table, other))
            };
            let both: CellPermutation = all[at].iter().map(then).collect();
            if known.insert(both.clone()) {
                all.push(both);
            }
        }
        if all.len() > MOST {
            return None;
        }
        at += 1;
    }
    Some(all)
}
