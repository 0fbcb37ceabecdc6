//! Processes in an arbitrary order that no value refers to: they are sorted.
//!
//! If the automorphisms exchange whole blocks of cells, one for each process, and each block can be exchanged with
//! the next, every order of the blocks is an automorphism. Then the least image of a state has its blocks in
//! ascending order, for any number of blocks (as scalarsets are sorted whose elements differ in what they index: Ip
//! and Dill 1996).

use super::order::comparison_order;
use super::times_orders;
use spillway_analysis::automorphisms::{Automorphism, CodeMap};
use spillway_ir::Layout;
use spillway_ir::layout::CellId;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks of cells that may be in any order.
#[derive(Clone, Debug)]
pub(super) struct SortableBlocks {
    /// The cells of all blocks, one block after another, in the order of comparison.
    cells: Vec<CellId>,
    /// The cells of one block.
    width: usize,
}

/// Buffers for sorting.
#[derive(Debug, Default)]
pub(super) struct BlockBuffers {
    codes: Vec<u32>,
    order: Vec<usize>,
}

impl SortableBlocks {
    /// Returns the blocks, if each automorphism exchanges a block with the next one and nothing else.
    pub(super) fn of(found: &[Automorphism], layout: &Layout) -> Option<SortableBlocks> {
        let all: Vec<BlockExchange> =
            found.iter().map(|it| exchange(it, layout)).collect::<Option<_>>()?;
        // If each process of one kind belongs to one of another, the same exchange is listed for both.
        let mut exchanges: Vec<&BlockExchange> = Vec::new();
        for one in &all {
            if !exchanges.contains(&one) {
                exchanges.push(one);
            }
        }
        let first = *exchanges.first()?;
        let is_of_first = |cell: &CellId| match exchanges.get(1) {
            Some(next) => !next.contains_key(cell),
            None => *cell < first[cell],
        };
        let mut block = comparison_order(found, layout);
        block.retain(|it| first.contains_key(it) && is_of_first(it));
        let (width, mut cells) = (block.len(), block.clone());
        for exchange in &exchanges {
            let next = block.iter().map(|it| exchange.get(it).copied()).collect::<Option<_>>()?;
            let here = std::mem::replace(&mut block, next);
            let both: BTreeSet<&CellId> = here.iter().chain(&block).collect();
            if both.len() != 2 * width || !both.into_iter().eq(exchange.keys()) {
                return None;
            }
            cells.extend(&block);
        }
        // No cell occurs twice.
        let distinct: BTreeSet<&CellId> = cells.iter().collect();
        (width > 0 && distinct.len() == cells.len()).then_some(SortableBlocks { cells, width })
    }

    /// Returns the number of orders, or `None` on overflow.
    pub(super) fn order(&self) -> Option<u64> {
        times_orders(1, (self.cells.len() / self.width) as u64)
    }

    /// Sorts the blocks of a state.
    pub(super) fn represent(&self, layout: &Layout, room: &mut BlockBuffers, state: &mut [u8]) {
        let BlockBuffers { codes, order } = room;
        codes.clear();
        codes.extend(self.cells.iter().map(|&cell| layout.code(state, cell)));
        if codes.chunks_exact(self.width).is_sorted() {
            return;
        }
        let block = |at: usize| &codes[at * self.width..][..self.width];
        order.clear();
        order.extend(0..codes.len() / self.width);
        order.sort_by_key(|&at| block(at));
        let sorted = order.iter().flat_map(|&at| block(at));
        for ((&cell, &old), &code) in self.cells.iter().zip(&*codes).zip(sorted) {
            if code != old {
                layout.set_code(state, cell, code);
            }
        }
    }
}

/// The target of each cell that moves. The exchange is its own inverse.
type BlockExchange = BTreeMap<CellId, CellId>;

/// Returns the exchange of an automorphism that changes no code.
fn exchange(by: &Automorphism, layout: &Layout) -> Option<BlockExchange> {
    let all = (0..layout.state_cells).map(|it| (CellId(it), by.cells[it as usize].to));
    let moved: BlockExchange = all.filter(|(from, to)| from != to).collect();
    let stays = by.cells.iter().all(|it| it.codes == CodeMap::Same);
    let returns = moved.iter().all(|(from, to)| moved.get(to) == Some(from));
    (stays && returns).then_some(moved)
}
