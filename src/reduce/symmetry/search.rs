//! From colors to a representative.
//!
//! If refining tells all elements apart, the representative has them in the order of their colors.
//! If not, take the first elements that look alike. Where exchanging any two of them leaves the
//! state as it is, any order will do. Otherwise one of them is marked, which refining goes on from;
//! each is marked in turn, and of the states at the ends the least is the representative. Which
//! elements come first, and which states are compared, does not depend on names; so the
//! representative is the same for all states of an orbit.

use super::Effort;
use super::plan::Plan;
use super::refine::{first_colors, mix, named, refine};
use crate::ir::Layout;
use crate::ir::layout::CellId;

/// Room to work in, used for one state after another.
pub(super) struct Scratch {
    /// The codes of the state's cells.
    codes: Vec<u32>,
    /// The same under a permutation.
    moved: Vec<u32>,
    /// The least so far.
    best: Vec<u32>,
    /// Where each element goes.
    to: Vec<u32>,
    /// Colors before each mark, and the present ones last.
    colors: Vec<Vec<u64>>,
    /// For one round of refining.
    next: Vec<u64>,
    /// Elements in order.
    order: Vec<u32>,
}

impl Scratch {
    pub(super) fn new(plan: &Plan) -> Self {
        let (cells, vertices) = (plan.state_cells as usize, plan.vertices());
        Self {
            codes: vec![0; cells],
            moved: vec![0; cells],
            best: Vec::with_capacity(cells),
            to: vec![0; plan.elements as usize],
            colors: vec![vec![0; vertices]],
            next: vec![0; vertices],
            order: Vec::with_capacity(plan.elements as usize),
        }
    }

    /// Replaces a state by its representative.
    pub(super) fn represent(
        &mut self,
        plan: &Plan,
        layout: &Layout,
        effort: Effort,
        state: &mut [u8],
    ) {
        for (cell, code) in self.codes.iter_mut().enumerate() {
            *code = layout.code(state, CellId(cell as u32));
        }
        self.best.clear();
        first_colors(plan, &mut self.colors[0]);
        self.descend(plan, effort, 0);
        for (cell, (&code, &before)) in self.best.iter().zip(&self.codes).enumerate() {
            if code != before {
                layout.set_code(state, CellId(cell as u32), code);
            }
        }
    }

    /// The codes of a state with each element moved to where `to` says.
    #[cfg(test)]
    pub(super) fn permuted(&mut self, plan: &Plan, codes: &[u32], to: &[u32]) -> Vec<u32> {
        self.codes.copy_from_slice(codes);
        self.to.copy_from_slice(to);
        self.permute(plan);
        self.moved.clone()
    }

    /// Tries all ways on from the colors at this depth.
    fn descend(&mut self, plan: &Plan, effort: Effort, depth: usize) {
        loop {
            refine(plan, &self.codes, &mut self.colors[depth], &mut self.next);
            let Some(alike) = self.alike(plan, depth) else {
                return self.arrive(plan, depth);
            };
            let (first, count) = alike;
            if effort == Effort::Fast {
                self.mark(depth, self.order[first]);
            } else if self.are_interchangeable(plan, first, count) {
                for at in first..first + count {
                    let times = at - first;
                    (0..times).for_each(|_| self.mark(depth, self.order[at]));
                }
            } else {
                let members: Vec<u32> = self.order[first..first + count].to_vec();
                return self.branch(plan, effort, depth, &members);
            }
        }
    }

    fn branch(&mut self, plan: &Plan, effort: Effort, depth: usize, members: &[u32]) {
        if self.colors.len() == depth + 1 {
            self.colors.push(self.colors[depth].clone());
        }
        for &member in members {
            let (above, below) = self.colors.split_at_mut(depth + 1);
            below[0].copy_from_slice(&above[depth]);
            self.mark(depth + 1, member);
            self.descend(plan, effort, depth + 1);
        }
    }

    /// Makes an element different from all that look like it.
    fn mark(&mut self, depth: usize, element: u32) {
        let color = &mut self.colors[depth][element as usize];
        *color = mix(*color ^ 0x6d61_726b);
    }

    /// Puts the elements in the order of their colors; the first run of equal ones, if there is
    /// one: where it begins and how long it is.
    fn alike(&mut self, plan: &Plan, depth: usize) -> Option<(usize, usize)> {
        let colors = &self.colors[depth];
        let color = |element: u32| colors[element as usize];
        self.order.clear();
        self.order.extend(0..plan.elements);
        for set in &plan.sets {
            let members = &mut self.order[set.first as usize..(set.first + set.size) as usize];
            members.sort_unstable_by_key(|&element| (color(element), element));
            let equal = |pair: &[u32]| color(pair[0]) == color(pair[1]);
            if let Some(first) = members.windows(2).position(equal) {
                let like = color(members[first]);
                let count = members[first..].iter().take_while(|&&it| color(it) == like).count();
                return Some((set.first as usize + first, count));
            }
        }
        None
    }

    /// Whether exchanging any two of some elements leaves the state as it is.
    fn are_interchangeable(&mut self, plan: &Plan, first: usize, count: usize) -> bool {
        for at in first + 1..first + count {
            let (one, other) = (self.order[at - 1], self.order[at]);
            self.to.iter_mut().zip(0..).for_each(|(to, element)| *to = element);
            self.to[one as usize] = other;
            self.to[other as usize] = one;
            self.permute(plan);
            if self.moved != self.codes {
                return false;
            }
        }
        true
    }

    /// The elements are in order: keeps the state with them in that order, if it is the least.
    fn arrive(&mut self, plan: &Plan, depth: usize) {
        debug_assert!(self.colors.len() > depth);
        for set in &plan.sets {
            let members = &self.order[set.first as usize..(set.first + set.size) as usize];
            for (&element, rank) in members.iter().zip(set.first..) {
                self.to[element as usize] = rank;
            }
        }
        self.permute(plan);
        if self.best.is_empty() || self.moved < self.best {
            self.best.clear();
            self.best.extend_from_slice(&self.moved);
        }
    }

    /// The state with each element moved where it goes.
    fn permute(&mut self, plan: &Plan) {
        let Scratch { codes, moved, to, .. } = self;
        moved.copy_from_slice(codes);
        for cell in &plan.cells {
            let code = codes[cell.cell as usize];
            let new = match named(cell, code) {
                Some(vertex) => code.wrapping_add(to[vertex as usize]).wrapping_sub(vertex),
                None => code,
            };
            let target = cell.indices.iter().fold(cell.cell, |target, index| {
                let ahead = to[index.vertex as usize].wrapping_sub(index.vertex);
                target.wrapping_add(ahead.wrapping_mul(index.stride))
            });
            moved[target as usize] = new;
        }
        sort_multisets(plan, moved);
    }
}

/// Sorts the positions of every multiset: elements first, the least first.
fn sort_multisets(plan: &Plan, codes: &mut [u32]) {
    for bag in &plan.multisets {
        let (first, stride) = (bag.first.0 as usize, bag.stride as usize);
        let positions = &mut codes[first..first + stride * bag.capacity as usize];
        // Insertion: most are in order already.
        for next in 1..bag.capacity as usize {
            for later in (1..=next).rev() {
                let (before, after) = positions.split_at_mut(later * stride);
                let (one, other) = (&mut before[(later - 1) * stride..], &mut after[..stride]);
                if (one[0], &other[1..]) >= (other[0], &one[1..]) {
                    break;
                }
                one.swap_with_slice(other);
            }
        }
    }
}
