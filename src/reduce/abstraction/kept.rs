//! What is kept of a state: some cells, and what these hold as one number.

use super::held::{Held, Next, When};
use crate::ir::layout::{CellId, Content, Group};
use crate::ir::{Layout, Program};
use std::ops::ControlFlow;

/// Some cells of a state. All that they can hold together are the *combinations*, numbered from 0.
#[derive(Clone, Debug)]
pub struct Kept {
    cells: Vec<KeptCell>,
    combinations: u32,
}

#[derive(Clone, Debug)]
struct KeptCell {
    cell: CellId,
    /// What codes mean.
    held: Vec<Held>,
    stride: u32,
}

impl Kept {
    /// Those of some cells that are few enough: as many as go before there would be more combinations than `most`, but none
    /// that holds only one value.
    pub(super) fn first_of(
        cells: impl IntoIterator<Item = CellId>,
        layout: &Layout,
        most: u32,
    ) -> Kept {
        let mut kept = Kept { cells: Vec::new(), combinations: 1 };
        for cell in cells {
            let count = layout.cells[cell].count();
            let all = kept.combinations.checked_mul(count).filter(|&it| it <= most);
            let Some(all) = all.filter(|_| count > 1) else { continue };
            let held = (0..count).map(|code| layout.cells[cell].value(code)).collect();
            kept.cells.push(KeptCell { cell, held, stride: kept.combinations });
            kept.combinations = all;
        }
        kept
    }

    /// The cells.
    pub fn cells(&self) -> impl Iterator<Item = CellId> {
        self.cells.iter().map(|it| it.cell)
    }

    /// What the variables, channels and processes are called whose cells they are.
    pub fn names(&self, program: &Program, layout: &Layout) -> Vec<String> {
        let is_of = |group: &&Group| {
            let cells = group.first.0..group.first.0 + group.cells;
            self.cells().any(|it| cells.contains(&it.0))
        };
        let mut names: Vec<String> = Vec::new();
        for group in layout.groups.values().filter(is_of) {
            let name = match group.part {
                Content::Location(id) => program.processes[id].name.clone(),
                Content::Variable(id) => {
                    let it = &program.variables[id];
                    program.owned_name(it.owner, &it.name)
                }
                Content::Channel(id) => {
                    let it = &program.channels[id];
                    program.owned_name(it.owner, &it.name)
                }
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// How many combinations there are.
    pub fn combinations(&self) -> usize {
        self.combinations as usize
    }

    /// The number of what the cells hold in a state; nothing if they hold what they never do.
    #[inline]
    pub fn of(&self, layout: &Layout, state: &[u8]) -> Option<usize> {
        let mut number = 0;
        for it in &self.cells {
            let code = layout.code(state, it.cell);
            if code as usize >= it.held.len() {
                return None;
            }
            number += (code * it.stride) as usize;
        }
        Some(number)
    }

    /// What the cell at a position among those kept holds in a combination.
    pub(super) fn held(&self, combination: u32, at: usize) -> Held {
        let it = &self.cells[at];
        it.held[self.code(combination, at)]
    }

    /// All that the cells hold in a combination, added up; what is undefined is 0.
    pub(super) fn sum(&self, combination: u32) -> i64 {
        (0..self.cells.len()).map(|at| self.held(combination, at).unwrap_or_default()).sum()
    }

    fn code(&self, combination: u32, at: usize) -> usize {
        let it = &self.cells[at];
        (combination / it.stride) as usize % it.held.len()
    }

    /// The position among those kept of a cell.
    pub(super) fn position(&self, cell: CellId) -> Option<usize> {
        self.cells.iter().position(|it| it.cell == cell)
    }

    /// For each cell that is kept the codes by which states may be of a kind.
    pub(super) fn codes(&self, when: &[(CellId, When)]) -> Vec<Vec<u32>> {
        let of = |it: &KeptCell| {
            let asked = |held: Held| {
                when.iter().filter(|(cell, _)| *cell == it.cell).all(|(_, when)| when.admits(held))
            };
            let codes = it.held.iter().zip(0..).filter(|(held, _)| asked(**held));
            codes.map(|(_, code)| code).collect()
        };
        self.cells.iter().map(of).collect()
    }

    /// The codes by which the cell at a position holds one of some values.
    pub(super) fn codes_of(&self, at: usize, wanted: impl Fn(Held) -> bool) -> Vec<u32> {
        let codes = self.cells[at].held.iter().zip(0..).filter(|(held, _)| wanted(**held));
        codes.map(|(_, code)| code).collect()
    }

    /// Tells all combinations of one of these codes for each cell.
    pub(super) fn each(&self, codes: &[Vec<u32>], visit: &mut impl FnMut(u32)) {
        self.each_from(codes, 0, 0, visit);
    }

    fn each_from(
        &self,
        codes: &[Vec<u32>],
        at: usize,
        combination: u32,
        visit: &mut impl FnMut(u32),
    ) {
        match self.cells.get(at) {
            None => visit(combination),
            Some(it) => codes[at].iter().for_each(|code| {
                self.each_from(codes, at + 1, combination + code * it.stride, visit);
            }),
        }
    }

    /// Whether any of what is written is kept.
    pub(super) fn is_written(&self, next: &[(CellId, Next)]) -> bool {
        next.iter().any(|it| self.position(it.0).is_some())
    }

    /// Tells of all combinations of one of these codes for each cell which may follow where that is written, until `visit` has
    /// seen enough: there may be as many as the square of the combinations.
    pub(super) fn each_step(
        &self,
        codes: &[Vec<u32>],
        next: &[(CellId, Next)],
        visit: &mut impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut ways: Vec<Vec<(u32, u32)>> = Vec::new();
        for (it, codes) in self.cells.iter().zip(codes) {
            let written = next.iter().find(|(cell, _)| *cell == it.cell).map(|it| &it.1);
            let mut pairs = Vec::new();
            for &code in codes {
                let of = |to: u32| (code * it.stride, to * it.stride);
                match written {
                    None => pairs.push(of(code)),
                    Some(next) => pairs.extend(it.next_codes(code, next).into_iter().map(of)),
                }
            }
            ways.push(pairs);
        }
        each_pair(&ways, (0, 0), visit)
    }
}

fn each_pair(
    ways: &[Vec<(u32, u32)>],
    (from, to): (u32, u32),
    visit: &mut impl FnMut(u32, u32) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match ways.split_first() {
        None => visit(from, to),
        Some((first, others)) => {
            first.iter().try_for_each(|it| each_pair(others, (from + it.0, to + it.1), visit))
        }
    }
}

impl KeptCell {
    /// The codes that may follow one.
    fn next_codes(&self, code: u32, next: &Next) -> Vec<u32> {
        let code_of =
            |wanted: Held| self.held.iter().position(|it| *it == wanted).map(|it| it as u32);
        let all = || (0..self.held.len() as u32).collect();
        if next.any {
            return all();
        }
        let mut codes: Vec<u32> = next.to.iter().filter_map(|it| code_of(*it)).collect();
        if next.same {
            codes.push(code);
        }
        let more = next.plus.and_then(|by| Some(self.held[code as usize]?.saturating_add(by)));
        let more = more.and_then(|it| code_of(Some(it)));
        codes.extend(more);
        codes.sort_unstable();
        codes.dedup();
        // What is never held was told of states that there are not, or is wrapped.
        match codes.is_empty() || next.plus.is_some() && more.is_none() {
            true => all(),
            false => codes,
        }
    }
}
