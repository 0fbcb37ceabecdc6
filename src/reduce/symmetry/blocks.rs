//! Processes of which any order is as good as any other, where no value names them: they are sorted.
//!
//! Where what is exchanged is whole blocks of cells, each the same for its process, and each block can be exchanged with the
//! next, every order of the blocks is an automorphism. The least image of a state is then the one whose blocks are in order, however
//! many there are of them (as scalarsets are sorted whose elements are told apart by what they index: Ip and Dill 1996).

use super::order::comparison_order;
use super::times_orders;
use crate::analysis::automorphisms::{Automorphism, CodeMap};
use crate::ir::Layout;
use crate::ir::layout::CellId;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks of cells that can be put into any order.
#[derive(Clone, Debug)]
pub(super) struct SortableBlocks {
    /// The cells of one block behind those of another, of each in the order in which they are compared.
    cells: Vec<CellId>,
    /// How many of them are of one.
    width: usize,
}

/// Room to sort in.
#[derive(Debug, Default)]
pub(super) struct BlockBuffers {
    codes: Vec<u32>,
    order: Vec<usize>,
}

impl SortableBlocks {
    /// Those that some automorphisms exchange, each a block with the next and nothing else; nothing if they do something else.
    pub(super) fn of(found: &[Automorphism], layout: &Layout) -> Option<SortableBlocks> {
        let all: Vec<BlockExchange> =
            found.iter().map(|it| exchange(it, layout)).collect::<Option<_>>()?;
        // Where each of one kind of processes has one of another, both are told to change places.
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
        // Nobody comes a second time.
        let distinct: BTreeSet<&CellId> = cells.iter().collect();
        (width > 0 && distinct.len() == cells.len()).then_some(SortableBlocks { cells, width })
    }

    /// In how many orders they can be, if that can be said.
    pub(super) fn order(&self) -> Option<u64> {
        times_orders(1, (self.cells.len() / self.width) as u64)
    }

    /// Sorts those of a state.
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

/// Where cells go that do not stay, and come back from.
type BlockExchange = BTreeMap<CellId, CellId>;

/// What an automorphism exchanges, if it changes no code.
fn exchange(by: &Automorphism, layout: &Layout) -> Option<BlockExchange> {
    let all = (0..layout.state_cells).map(|it| (CellId(it), by.cells[it as usize].to));
    let moved: BlockExchange = all.filter(|(from, to)| from != to).collect();
    let stays = by.cells.iter().all(|it| it.codes == CodeMap::Same);
    let returns = moved.iter().all(|(from, to)| moved.get(to) == Some(from));
    (stays && returns).then_some(moved)
}
