//! Telling vertices apart by what a state says of them, whatever they are called.
//!
//! Each vertex has a *color*, at first the same for all of a set. In each round, a vertex's new
//! color is made from its old one and from all cells that are about it: from their slots, their
//! plain values and the colors of the other vertices they are about (Weisfeiler and Leman, 1968).
//! Colors do not depend on names, so they order vertices in a way that permuting does not change.
//! They are hashes: should two collide, vertices are only not told apart.

use super::plan::{CellPlan, Plan, Set};

/// Scrambles a number, bijectively (Steele, Lea and Flood, 2014).
#[inline]
pub(super) fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The vertex that a cell with this code names, if it names one.
#[inline]
pub(super) fn named(cell: &CellPlan, code: u32) -> Option<u32> {
    let inside = cell.names.iter().find(|it| code.wrapping_sub(it.code) < it.size);
    inside.map(|it| it.vertex + (code - it.code))
}

/// The color that the elements of a set and the positions of multisets begin with.
pub(super) fn first_colors(plan: &Plan, colors: &mut [u64]) {
    colors.fill(mix(u64::MAX));
    for (number, set) in plan.sets.iter().enumerate() {
        members(set, colors).fill(mix(number as u64));
    }
}

fn members<'c>(set: &Set, colors: &'c mut [u64]) -> &'c mut [u64] {
    &mut colors[set.first as usize..(set.first + set.size) as usize]
}

/// Refines colors until no more elements are told apart.
pub(super) fn refine(plan: &Plan, codes: &[u32], colors: &mut [u64], next: &mut [u64]) {
    // What a position holds reaches the elements it is about a round later.
    let mut rounds = if plan.presence.is_empty() { 0 } else { 2 };
    let mut classes = count(plan, colors, next);
    loop {
        round(plan, codes, colors, next);
        let now = count(plan, colors, next);
        if now == plan.elements || now == classes && rounds == 0 {
            return;
        }
        rounds = if now == classes { rounds - 1 } else { rounds.min(1) };
        classes = now;
    }
}

fn round(plan: &Plan, codes: &[u32], colors: &mut [u64], next: &mut [u64]) {
    next.fill(0);
    for cell in &plan.cells {
        if cell.positions.iter().any(|&at| codes[plan.presence[at as usize] as usize] == 0) {
            continue;
        }
        let code = codes[cell.cell as usize];
        let vertex = named(cell, code);
        let mut said = mix(cell.slot);
        for &role in &cell.roles {
            said = mix(said ^ colors[role as usize]);
            if Some(role) == vertex {
                said = mix(said ^ SAME);
            }
        }
        said = mix(said ^ vertex.map_or(u64::from(code), |it| colors[it as usize]));
        for (place, &role) in cell.roles.iter().enumerate() {
            let heard = &mut next[role as usize];
            *heard = heard.wrapping_add(mix(said ^ (place as u64 + 1)));
        }
        if let Some(vertex) = vertex {
            let heard = &mut next[vertex as usize];
            *heard = heard.wrapping_add(mix(said ^ NAMED));
        }
    }
    for (color, heard) in colors.iter_mut().zip(next) {
        *color = mix(*color ^ mix(*heard));
    }
}

/// Marks a cell that names a vertex that leads to it.
const SAME: u64 = 0x5a5a_0000_0000_5a5a;
/// Marks what a vertex hears of a cell that names it.
const NAMED: u64 = 0xa5a5_0000_0000_a5a5;

/// How many elements are told apart, using `work` for sorting.
fn count(plan: &Plan, colors: &[u64], work: &mut [u64]) -> u32 {
    let mut classes = 0;
    for set in &plan.sets {
        let range = set.first as usize..(set.first + set.size) as usize;
        let sorted = &mut work[range.clone()];
        sorted.copy_from_slice(&colors[range]);
        sorted.sort_unstable();
        classes += 1 + sorted.windows(2).filter(|pair| pair[0] != pair[1]).count() as u32;
    }
    classes
}
