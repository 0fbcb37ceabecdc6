//! Color refinement: distinguishes vertices by what a state says about them, regardless of their names.
//!
//! Each vertex has a *color*, initially the same for all of a set. The values of all plain cells that refer to the
//! vertex are added once. In each round, a vertex's new color is computed from its old one and from the other cells
//! that refer to it. Such a cell contributes its slot, its plain value and the colors of the other vertices that it
//! refers to (Weisfeiler and Leman, 1968). In a round the positions of multisets come first, so that their contents
//! reach the elements that they refer to.
//!
//! Colors do not depend on names, so permutations do not change the order that they give. They are hashes: if two
//! collide, vertices stay equal, which is safe.

use super::incidence::{IncidencePlan, IncidentCell, VertexSet, of};
use spillway_base::random::mix;

/// The codes of the plan's cells, and the cells that carry information. A cell with code 0 that names nothing does
/// not: permutations leave it unchanged, and in many states most cells are like that.
#[derive(Default)]
pub(super) struct StateCodes {
    pub(super) codes: Vec<u32>,
    /// The plain cells.
    pub(super) plain: Vec<u32>,
    /// The other cells.
    pub(super) related: Vec<u32>,
}

impl StateCodes {
    /// Reads a state that is followed by `BEYOND` bytes.
    pub(super) fn read(&mut self, plan: &IncidencePlan, state: &[u8]) {
        let StateCodes { codes, plain, related } = self;
        plain.clear();
        related.clear();
        codes.clear();
        codes.extend(plan.readings.iter().map(|reading| reading.code(state)));
        for (cell, (&code, reading)) in (0..).zip(codes.iter().zip(&plan.readings)) {
            if code != 0 || reading.zero_names {
                let kind =
                    if plan.cells[cell as usize].is_plain { &mut *plain } else { &mut *related };
                kind.push(cell);
            }
        }
    }
}

/// Sets the colors that plain cells give.
pub(super) fn first_colors(plan: &IncidencePlan, said: &StateCodes, colors: &mut [u64]) {
    colors.fill(u64::MAX);
    for (number, set) in plan.sets.iter().enumerate() {
        members(set, colors).fill(number as u64);
    }
    for &cell in &said.plain {
        let about = &plan.cells[cell as usize];
        let color = &mut colors[plan.roles[about.roles.start as usize] as usize];
        let code = u64::from(said.codes[cell as usize]);
        *color = color.wrapping_add(mix(about.key.wrapping_add(code)));
    }
    colors.iter_mut().for_each(|color| *color = mix(*color));
}

fn members<'c>(set: &VertexSet, colors: &'c mut [u64]) -> &'c mut [u64] {
    &mut colors[set.first as usize..(set.first + set.size) as usize]
}

/// Refines colors until no more elements are distinguished, and sorts the elements of each set by color.
pub(super) fn refine(
    plan: &IncidencePlan,
    state: &StateCodes,
    colors: &mut [u64],
    heard: &mut [u64],
    order: &mut [u32],
) {
    let elements = plan.elements as usize;
    let mut classes = sort(plan, colors, order);
    // Information in nested multisets takes as many rounds to reach the elements.
    let patience = plan.depth.max(1);
    let mut patient = patience;
    while classes < plan.elements && patient > 0 {
        if plan.positions > 0 {
            heard[elements..].fill(0);
            for &cell in &state.related {
                let about = &plan.cells[cell as usize];
                if about.presence.is_empty() {
                    continue;
                }
                let Some((said, _)) = say(plan, cell, &state.codes, colors) else { continue };
                for (place, &role) in of(&plan.roles, &about.roles).iter().enumerate() {
                    if role >= plan.elements {
                        hear(heard, role, said, place);
                    }
                }
            }
            recolor(&mut colors[elements..], &heard[elements..]);
        }
        heard[..elements].fill(0);
        for &cell in &state.related {
            let about = &plan.cells[cell as usize];
            let Some((said, named)) = say(plan, cell, &state.codes, colors) else { continue };
            for (place, &role) in of(&plan.roles, &about.roles).iter().enumerate() {
                if role < plan.elements {
                    hear(heard, role, said, place);
                }
            }
            if let Some(vertex) = named {
                heard[vertex as usize] = heard[vertex as usize].wrapping_add(said);
            }
        }
        recolor(&mut colors[..elements], &heard[..elements]);
        let now = sort(plan, colors, order);
        patient = if now == classes { patient - 1 } else { patience };
        classes = now;
    }
}

/// Returns what a cell contributes to the vertices that it refers to, and the vertex that it names. Returns `None` if
/// the cell does not exist.
#[inline]
fn say(
    plan: &IncidencePlan,
    number: u32,
    codes: &[u32],
    colors: &[u64],
) -> Option<(u64, Option<u32>)> {
    let cell: &IncidentCell = &plan.cells[number as usize];
    if of(&plan.presence, &cell.presence).iter().any(|&it| codes[it as usize] == 0) {
        return None;
    }
    let code = codes[number as usize];
    let named = plan.named(&cell.names, code);
    let mut said = cell.key;
    let mut add = |more: u64| said = (said.rotate_left(29) ^ more).wrapping_mul(ODD);
    for &role in of(&plan.roles, &cell.roles) {
        add(colors[role as usize]);
        if Some(role) == named {
            add(SAME);
        }
    }
    add(named.map_or(u64::from(code), |it| colors[it as usize]));
    Some((mix(said), named))
}

/// Adds a contribution to a vertex that leads to a cell at index `place`.
#[inline]
fn hear(heard: &mut [u64], role: u32, said: u64, place: usize) {
    let heard = &mut heard[role as usize];
    *heard = heard.wrapping_add(said.rotate_left(11 * (place as u32 + 1)));
}

fn recolor(colors: &mut [u64], heard: &[u64]) {
    for (color, heard) in colors.iter_mut().zip(heard) {
        *color = mix(color.rotate_left(32).wrapping_add(*heard));
    }
}

/// An odd number, for multiplication.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Marks a cell that names a vertex that leads to it.
const SAME: u64 = 0x5a5a_0000_0000_5a5a;

/// Sorts the elements of each set by color. Returns the number of distinguished elements.
fn sort(plan: &IncidencePlan, colors: &[u64], order: &mut [u32]) -> u32 {
    let mut classes = 0;
    let color = |element: u32| colors[element as usize];
    for set in &plan.sets {
        let members = &mut order[set.first as usize..(set.first + set.size) as usize];
        members.sort_unstable_by_key(|&element| (color(element), element));
        let differ = members.windows(2).filter(|pair| color(pair[0]) != color(pair[1]));
        classes += 1 + differ.count() as u32;
    }
    classes
}
