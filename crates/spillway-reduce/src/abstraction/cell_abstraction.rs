//! The kept cells of a state, and the number of their combined values.

use super::cell_values::{CellPredicate, CellUpdate, CellValue};
use spillway_ir::layout::{CellGroup, CellId, GroupContent};
use spillway_ir::{Layout, Program};
use std::ops::ControlFlow;

/// The kept cells of a state. The tuples of their possible values are the *combinations*, numbered from 0.
#[derive(Clone, Debug)]
pub struct CellAbstraction {
    cells: Vec<AbstractCell>,
    combinations: u32,
}

#[derive(Clone, Debug)]
struct AbstractCell {
    cell: CellId,
    /// The value of each code.
    held: Vec<CellValue>,
    stride: u32,
}

impl CellAbstraction {
    /// Keeps each of some cells, in order, unless there would be more than `most` combinations. Cells with a single
    /// value are left out.
    pub(super) fn first_of(
        cells: impl IntoIterator<Item = CellId>,
        layout: &Layout,
        most: u32,
    ) -> CellAbstraction {
        let mut kept = CellAbstraction { cells: Vec::new(), combinations: 1 };
        for cell in cells {
            let count = layout.cells[cell].count();
            let all = kept.combinations.checked_mul(count).filter(|&it| it <= most);
            let Some(all) = all.filter(|_| count > 1) else { continue };
            let held = (0..count).map(|code| layout.cells[cell].value(code)).collect();
            kept.cells.push(AbstractCell { cell, held, stride: kept.combinations });
            kept.combinations = all;
        }
        kept
    }

    /// Returns the kept cells.
    pub fn cells(&self) -> impl Iterator<Item = CellId> {
        self.cells.iter().map(|it| it.cell)
    }

    /// Returns the names of the variables, channels and processes that the cells belong to.
    pub fn names(&self, program: &Program, layout: &Layout) -> Vec<String> {
        let is_of = |group: &&CellGroup| {
            let cells = group.first.0..group.first.0 + group.cells;
            self.cells().any(|it| cells.contains(&it.0))
        };
        let mut names: Vec<String> = Vec::new();
        for group in layout.groups.values().filter(is_of) {
            let name = match group.part {
                GroupContent::Location(id) => program.processes[id].name.clone(),
                GroupContent::Variable(id) => {
                    let it = &program.variables[id];
                    program.owned_name(it.owner, &it.name)
                }
                GroupContent::Channel(id) => {
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

    /// Returns the number of combinations.
    pub fn combinations(&self) -> usize {
        self.combinations as usize
    }

    /// Returns the combination of a state; `None` if a cell holds a value outside its range.
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

    /// Returns the value in a combination of the kept cell at a position.
    pub(super) fn held(&self, combination: u32, at: usize) -> CellValue {
        let it = &self.cells[at];
        it.held[self.code(combination, at)]
    }

    /// Returns the sum of the values in a combination; undefined values count as 0.
    pub(super) fn sum(&self, combination: u32) -> i64 {
        (0..self.cells.len()).map(|at| self.held(combination, at).unwrap_or_default()).sum()
    }

    fn code(&self, combination: u32, at: usize) -> usize {
        let it = &self.cells[at];
        (combination / it.stride) as usize % it.held.len()
    }

    /// Returns the position of a kept cell.
    pub(super) fn position(&self, cell: CellId) -> Option<usize> {
        self.cells.iter().position(|it| it.cell == cell)
    }

    /// Returns, for each kept cell, the codes that satisfy the conditions.
    pub(super) fn codes(&self, when: &[(CellId, CellPredicate)]) -> Vec<Vec<u32>> {
        let of = |it: &AbstractCell| {
            let asked = |held: CellValue| {
                when.iter().filter(|(cell, _)| *cell == it.cell).all(|(_, when)| when.admits(held))
            };
            let codes = it.held.iter().zip(0..).filter(|(held, _)| asked(**held));
            codes.map(|(_, code)| code).collect()
        };
        self.cells.iter().map(of).collect()
    }

    /// Returns the codes of the cell at a position whose values satisfy `wanted`.
    pub(super) fn codes_of(&self, at: usize, wanted: impl Fn(CellValue) -> bool) -> Vec<u32> {
        let codes = self.cells[at].held.iter().zip(0..).filter(|(held, _)| wanted(**held));
        codes.map(|(_, code)| code).collect()
    }

    /// Visits all combinations with one of the given codes for each cell.
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

    /// Whether any updated cell is kept.
    pub(super) fn is_written(&self, next: &[(CellId, CellUpdate)]) -> bool {
        next.iter().any(|it| self.position(it.0).is_some())
    }

    /// Visits all pairs of a combination with one of the given codes for each cell and a possible successor, until
    /// `visit` stops. The pairs may be as many as the square of the combinations.
    pub(super) fn each_step(
        &self,
        codes: &[Vec<u32>],
        next: &[(CellId, CellUpdate)],
        visit: &mut impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let ways: Vec<CellTransition<'_>> = (self.cells.iter().zip(codes))
            .map(|(cell, codes)| {
                let written = next.iter().find(|(id, _)| *id == cell.cell).map(|it| &it.1);
                CellTransition { cell, codes, next: cell.following(written) }
            })
            .collect();
        each_pair(&ways, 0, 0, visit)
    }
}

/// The codes of a cell before and after a transition.
struct CellTransition<'w> {
    cell: &'w AbstractCell,
    codes: &'w [u32],
    next: SuccessorCodes,
}

/// The codes that may follow those of a cell. A list for each code would take space quadratic in the codes.
enum SuccessorCodes {
    /// Each code stays.
    Same,
    /// Any code may follow each.
    Any,
    /// One of `codes`, which are ascending, the code itself, or the code of the value plus a constant may follow.
    These { codes: Vec<u32>, same: bool, plus: Option<i64> },
}

impl CellTransition<'_> {
    /// Visits the codes that may follow one, each once.
    fn each_next(
        &self,
        code: u32,
        visit: &mut impl FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut any = 0..self.cell.held.len() as u32;
        let (these, same, plus) = match &self.next {
            SuccessorCodes::Same => return visit(code),
            SuccessorCodes::Any => return any.try_for_each(visit),
            SuccessorCodes::These { codes, same, plus } => (codes, *same, *plus),
        };
        let more = plus.and_then(|by| Some(self.cell.held[code as usize]?.saturating_add(by)));
        let more = more.and_then(|it| self.cell.code_of(Some(it)));
        // A value outside the range comes from an unreachable state, or it wraps around. Then any code may follow.
        if plus.is_some() && more.is_none() || these.is_empty() && !same && more.is_none() {
            return any.try_for_each(visit);
        }
        let is_new = |it: &u32| these.binary_search(it).is_err();
        let itself = same.then_some(code).filter(is_new);
        let more = more.filter(|it| is_new(it) && itself != Some(*it));
        these.iter().copied().chain(itself).chain(more).try_for_each(visit)
    }
}

fn each_pair(
    ways: &[CellTransition<'_>],
    from: u32,
    to: u32,
    visit: &mut impl FnMut(u32, u32) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some((first, others)) = ways.split_first() else { return visit(from, to) };
    let stride = first.cell.stride;
    first.codes.iter().try_for_each(|&code| {
        first.each_next(code, &mut |next| {
            each_pair(others, from + code * stride, to + next * stride, &mut *visit)
        })
    })
}

impl AbstractCell {
    /// Returns the code of a value. Consecutive values have consecutive codes.
    fn code_of(&self, wanted: CellValue) -> Option<u32> {
        let first = usize::from(self.held.first() == Some(&None));
        let at = match (wanted, self.held.get(first)) {
            (None, _) => 0,
            (Some(wanted), Some(&Some(least))) => {
                first.checked_add(usize::try_from(wanted.checked_sub(least)?).ok()?)?
            }
            (Some(_), _) => return None,
        };
        (self.held.get(at) == Some(&wanted)).then_some(at as u32)
    }

    /// Returns the codes that may follow under an update.
    fn following(&self, written: Option<&CellUpdate>) -> SuccessorCodes {
        let Some(next) = written else { return SuccessorCodes::Same };
        if next.any {
            return SuccessorCodes::Any;
        }
        let mut codes: Vec<u32> = next.to.iter().filter_map(|it| self.code_of(*it)).collect();
        codes.sort_unstable();
        codes.dedup();
        SuccessorCodes::These { codes, same: next.same, plus: next.plus }
    }
}
