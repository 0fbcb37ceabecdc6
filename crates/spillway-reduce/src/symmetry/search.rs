//! The search for a representative, given colors.
//!
//! If refinement distinguishes all elements, the representative has them in the order of their colors. Otherwise some
//! are equal. If exchanging any two equal elements leaves the state unchanged, any order will do. If not, the search
//! takes the first class of equal elements whose order matters, marks one of them, and refines further. Each element
//! of the class is marked in turn. The least of the final states is the representative. The choice of the class and
//! the compared states do not depend on names. So the representative is the same for all states of an orbit.

use super::SymmetryEffort;
use super::incidence::{BEYOND, IncidencePlan, of};
use super::refine::{StateCodes, first_colors, refine};
use spillway_base::random::mix;
use spillway_ir::Layout;
use spillway_model::stop_request;
use std::ops::Range;

/// Buffers for one state after another.
pub(super) struct ElementBuffers {
    /// The state, followed by some bytes.
    bytes: Vec<u8>,
    /// The codes of the state.
    said: StateCodes,
    /// The codes of the plan's cells under a permutation.
    moved: Vec<u32>,
    /// The least codes so far.
    best: Vec<u32>,
    /// Whether `best` is set.
    arrived: bool,
    /// The image of each element.
    to: Vec<u32>,
    /// The elements of each set, sorted by color.
    order: Vec<u32>,
    /// The contributions of one round of refinement.
    heard: Vec<u64>,
    /// The current colors, after those before each mark.
    colors: Vec<Vec<u64>>,
    /// The elements to mark at each depth.
    alike: Vec<Vec<u32>>,
}

impl ElementBuffers {
    pub(super) fn new(plan: &IncidencePlan) -> Self {
        let (cells, elements) = (plan.cells.len(), plan.elements as usize);
        Self {
            bytes: vec![0; plan.width + BEYOND],
            said: StateCodes::default(),
            moved: vec![0; cells],
            best: vec![0; cells],
            arrived: false,
            to: vec![0; elements],
            order: (0..plan.elements).collect(),
            heard: vec![0; plan.vertices()],
            colors: vec![vec![0; plan.vertices()]],
            alike: vec![Vec::new()],
        }
    }

    /// Replaces a state by its representative.
    pub(super) fn represent(
        &mut self,
        plan: &IncidencePlan,
        layout: &Layout,
        effort: SymmetryEffort,
        state: &mut [u8],
    ) {
        self.read(plan, state);
        self.arrived = false;
        first_colors(plan, &self.said, &mut self.colors[0]);
        self.descend(plan, effort, 0);
        if stop_request::is_requested() {
            // There may be none yet; the caller drops the state.
            return;
        }
        write(plan, layout, &self.said.codes, &self.best, state);
    }

    fn read(&mut self, plan: &IncidencePlan, state: &[u8]) {
        self.bytes[..plan.width].copy_from_slice(state);
        self.said.read(plan, &self.bytes);
    }

    /// Returns a state with elements moved according to `to`.
    #[cfg(test)]
    pub(super) fn permuted(
        &mut self,
        plan: &IncidencePlan,
        layout: &Layout,
        state: &[u8],
        to: &[u32],
    ) -> Vec<u8> {
        self.read(plan, state);
        self.to.copy_from_slice(to);
        self.permute(plan);
        let mut permuted = state.to_vec();
        write(plan, layout, &self.said.codes, &self.moved, &mut permuted);
        permuted
    }

    /// Explores all branches from the colors at this depth.
    fn descend(&mut self, plan: &IncidencePlan, effort: SymmetryEffort, depth: usize) {
        while !stop_request::is_requested() {
            let colors = &mut self.colors[depth];
            refine(plan, &self.said, colors, &mut self.heard, &mut self.order);
            let Some(alike) = self.undecided(plan, depth) else {
                return self.arrive(plan);
            };
            match effort {
                SymmetryEffort::Fast => self.mark(depth, self.order[alike.start]),
                SymmetryEffort::Exact => return self.branch(plan, depth, alike),
            }
        }
    }

    /// Marks each of some elements in turn.
    fn branch(&mut self, plan: &IncidencePlan, depth: usize, members: Range<usize>) {
        if self.colors.len() == depth + 1 {
            self.colors.push(self.colors[depth].clone());
            self.alike.push(Vec::new());
        }
        let mut alike = std::mem::take(&mut self.alike[depth]);
        alike.clear();
        alike.extend_from_slice(&self.order[members]);
        for &member in &alike {
            let (above, below) = self.colors.split_at_mut(depth + 1);
            below[0].copy_from_slice(&above[depth]);
            self.mark(depth + 1, member);
            self.descend(plan, SymmetryEffort::Exact, depth + 1);
        }
        self.alike[depth] = alike;
    }

    /// Distinguishes an element from all equal ones.
    fn mark(&mut self, depth: usize, element: u32) {
        let color = &mut self.colors[depth][element as usize];
        *color = mix(*color ^ 0x6d61_726b);
    }

    /// Returns the first class of equal elements whose order matters, as a range of the order, if there is one.
    fn undecided(&mut self, plan: &IncidencePlan, depth: usize) -> Option<Range<usize>> {
        for (number, set) in plan.sets.iter().enumerate() {
            let (mut at, end) = (set.first as usize, (set.first + set.size) as usize);
            while at < end {
                let colors = &self.colors[depth];
                let color = |element: u32| colors[element as usize];
                let like = color(self.order[at]);
                let run = self.order[at..end].iter();
                let count = run.take_while(|&&element| color(element) == like).count();
                let pairs = at + 1..at + count;
                let differ = |it| {
                    stop_request::is_requested() || !self.are_interchangeable(plan, number, it)
                };
                if pairs.into_iter().any(differ) {
                    return Some(at..at + count);
                }
                at += count;
            }
        }
        None
    }

    /// Whether exchanging an element of a set with the one before it in the order leaves the state unchanged.
    fn are_interchangeable(&mut self, plan: &IncidencePlan, set: usize, at: usize) -> bool {
        let (one, other) = (self.order[at - 1], self.order[at]);
        self.to.iter_mut().zip(0..).for_each(|(to, element)| *to = element);
        self.to[one as usize] = other;
        self.to[other as usize] = one;
        match self.moves(plan, set, one, other) {
            None => true,
            Some(cell) => !plan.cells[cell as usize].presence.is_empty() && self.stays_whole(plan),
        }
    }

    /// Returns a cell that changes if elements of a set are exchanged and positions of multisets stay.
    fn moves(&self, plan: &IncidencePlan, set: usize, one: u32, other: u32) -> Option<u32> {
        let moves = |cell: u32| {
            let (target, code) = self.destination(plan, cell);
            self.said.codes[target as usize] != code
        };
        // Where one is an index, the destination has the other.
        let indexed = plan.indexed[one as usize].iter().copied().find(|&cell| moves(cell));
        let names_either = |cell: u32| {
            let names = &plan.cells[cell as usize].names;
            let named = plan.named(names, self.said.codes[cell as usize]);
            named.is_some_and(|it| it == one || it == other)
        };
        let mut naming = plan.naming[set].iter().copied();
        indexed.or_else(|| naming.find(|&cell| names_either(cell) && moves(cell)))
    }

    /// Whether the state is unchanged, after sorting multisets.
    fn stays_whole(&mut self, plan: &IncidencePlan) -> bool {
        self.permute(plan);
        self.moved == self.said.codes
    }

    /// Handles a complete order: keeps the state with elements in this order, if it is the least.
    fn arrive(&mut self, plan: &IncidencePlan) {
        for set in &plan.sets {
            let members = &self.order[set.first as usize..(set.first + set.size) as usize];
            for (&element, rank) in members.iter().zip(set.first..) {
                self.to[element as usize] = rank;
            }
        }
        self.permute(plan);
        if !self.arrived || self.moved < self.best {
            std::mem::swap(&mut self.moved, &mut self.best);
            self.arrived = true;
        }
    }

    /// Returns the target of a cell's value, and its new code.
    #[inline]
    fn destination(&self, plan: &IncidencePlan, cell: u32) -> (u32, u32) {
        let about = &plan.cells[cell as usize];
        let code = self.said.codes[cell as usize];
        let code = match plan.named(&about.names, code) {
            Some(vertex) => code.wrapping_add(self.to[vertex as usize]).wrapping_sub(vertex),
            None => code,
        };
        let indices = of(&plan.indices, &about.indices).iter();
        let target = indices.fold(cell, |target, index| {
            let ahead = self.to[index.vertex as usize].wrapping_sub(index.vertex);
            target.wrapping_add(ahead.wrapping_mul(index.stride))
        });
        (target, code)
    }

    /// Computes the state with each element moved to its image.
    fn permute(&mut self, plan: &IncidencePlan) {
        self.moved.fill(0);
        for &cell in self.said.plain.iter().chain(&self.said.related) {
            let (target, code) = self.destination(plan, cell);
            self.moved[target as usize] = code;
        }
        sort_multisets(plan, &mut self.moved);
    }
}

/// Writes the codes that changed.
fn write(plan: &IncidencePlan, layout: &Layout, old: &[u32], new: &[u32], state: &mut [u8]) {
    for ((cell, old), &new) in plan.cells.iter().zip(old).zip(new) {
        if new != *old {
            layout.set_code(state, cell.cell, new);
        }
    }
}

/// Sorts the positions of every multiset: elements first, the least first.
fn sort_multisets(plan: &IncidencePlan, codes: &mut [u32]) {
    for bag in &plan.multisets {
        let (first, stride) = (bag.first as usize, bag.stride as usize);
        let positions = &mut codes[first..first + stride * bag.capacity as usize];
        // Insertion sort: most are in order already.
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
