//! The structure of a program's states for permutations, computed once from the types.
//!
//! A *vertex* is an element of a scalarset, or a position of a multiset (whose order is irrelevant as well). A cell
//! refers to the vertices that lead to it, as indices of arrays or as positions, and possibly to one more, which its
//! value names. Cells that differ only in vertices have the same *slot*: a permutation maps one to the other.

use spillway_base::random::mix;
use spillway_ir::layout::CellId;
use spillway_ir::{Domain, Layout, Program, ScalarsetId, Type, TypeId};
use std::collections::HashMap;
use std::ops::Range;

/// The elements of one scalarset: consecutive vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct VertexSet {
    pub(super) first: u32,
    pub(super) size: u32,
}

/// The codes of a cell that name elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedVertices {
    /// The code of the first one.
    pub(super) code: u32,
    /// The number of codes.
    pub(super) size: u32,
    /// The vertex that the first code names.
    pub(super) vertex: u32,
}

/// One index of an array on the path to a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementIndex {
    /// The element.
    pub(super) vertex: u32,
    /// The distance to the same cell of the next element.
    pub(super) stride: u32,
}

/// A range of a shared list.
pub(super) type ListRange = Range<u32>;

/// Returns a range of a list.
#[inline]
pub(super) fn of<'l, T>(list: &'l [T], run: &ListRange) -> &'l [T] {
    &list[run.start as usize..run.end as usize]
}

/// A cell, as permutations see it. Cells are renumbered: only those of the plan count, in the order of the state. All
/// cells of an array that elements index are included, so that distances are those of the state.
#[derive(Clone, Debug)]
pub(super) struct IncidentCell {
    /// The cell of the state.
    pub(super) cell: CellId,
    /// A number for its slot, and for which vertices that lead to it are equal.
    pub(super) key: u64,
    /// The elements that index the arrays it is in, in [`IncidencePlan::indices`].
    pub(super) indices: ListRange,
    /// All vertices that lead to it, from the outside in, in [`IncidencePlan::roles`].
    pub(super) roles: ListRange,
    /// The cells that say whether it exists, in [`IncidencePlan::presence`].
    pub(super) presence: ListRange,
    /// The vertices that its codes name, in [`IncidencePlan::names`].
    pub(super) names: ListRange,
    /// Whether it refers to one vertex, whatever its value.
    pub(super) is_plain: bool,
}

/// The position of a cell in a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellReading {
    /// The byte in which it starts.
    byte: u32,
    /// Its bits, in the word that [`CellReading::shift`] gives.
    mask: u32,
    /// The shift of eight bytes from there that makes its bits the last.
    shift: u8,
    /// Whether code 0 names an element.
    pub(super) zero_names: bool,
}

impl CellReading {
    /// The code of the cell in a state that is followed by [`BEYOND`] bytes.
    #[inline]
    pub(super) fn code(self, state: &[u8]) -> u32 {
        let from = self.byte as usize;
        let bytes = state[from..from + BEYOND].first_chunk().copied().unwrap_or_default();
        (u64::from_be_bytes(bytes) >> self.shift) as u32 & self.mask
    }
}

/// A multiset: its first cell, the number of its positions, and the cells of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct MultisetSpan {
    pub(super) first: u32,
    pub(super) capacity: u32,
    pub(super) stride: u32,
}

/// The precomputed data for canonicalisation.
#[derive(Clone, Debug, Default)]
pub(super) struct IncidencePlan {
    /// The scalarsets with more than one element.
    pub(super) sets: Vec<VertexSet>,
    /// The number of elements of all of them; the vertices of positions follow.
    pub(super) elements: u32,
    /// The number of positions of all multisets.
    pub(super) positions: u32,
    /// The nesting depth of multisets.
    pub(super) depth: u32,
    /// The cells that some vertex leads to or that may name one.
    pub(super) cells: Vec<IncidentCell>,
    /// The position of each cell.
    pub(super) readings: Vec<CellReading>,
    pub(super) indices: Vec<ElementIndex>,
    pub(super) roles: Vec<u32>,
    pub(super) presence: Vec<u32>,
    pub(super) names: Vec<NamedVertices>,
    /// For each element, the cells in arrays that it indexes.
    pub(super) indexed: Vec<Vec<u32>>,
    /// For each set, the cells that may name an element.
    pub(super) naming: Vec<Vec<u32>>,
    /// The multisets, inner ones first.
    pub(super) multisets: Vec<MultisetSpan>,
    /// The bytes of a state.
    pub(super) width: usize,
}

/// The number of bytes that are read from the first byte of a cell on.
pub(super) const BEYOND: usize = 8;

impl IncidencePlan {
    /// Builds the plan of a program, if it has scalarsets with more than one element.
    pub(super) fn new(program: &Program, layout: &Layout) -> Option<IncidencePlan> {
        let mut plan = IncidencePlan { width: layout.bytes, ..IncidencePlan::default() };
        let mut set_of = HashMap::new();
        for (id, set) in program.scalarsets.iter().filter(|(_, set)| set.size > 1) {
            set_of.insert(id, plan.sets.len());
            plan.sets.push(VertexSet { first: plan.elements, size: set.size });
            plan.elements += set.size;
        }
        if plan.sets.is_empty() {
            return None;
        }
        plan.indexed = vec![Vec::new(); plan.elements as usize];
        plan.naming = vec![Vec::new(); plan.sets.len()];
        let mut survey = TypeSurvey { program, layout, set_of, plan, way: VertexPath::default() };
        let mut slot = 0;
        for (id, variable) in program.variables.iter() {
            survey.visit(variable.ty, layout.variables[id].first.0, slot);
            slot += survey.slots(variable.ty);
        }
        Some(survey.plan)
    }

    /// Returns the number of vertices.
    pub(super) fn vertices(&self) -> usize {
        (self.elements + self.positions) as usize
    }

    /// Returns the vertex that a code of a cell names, if any.
    #[inline]
    pub(super) fn named(&self, names: &ListRange, code: u32) -> Option<u32> {
        let inside = of(&self.names, names).iter().find(|it| code.wrapping_sub(it.code) < it.size);
        inside.map(|it| it.vertex + (code - it.code))
    }
}

/// A visitor of the types of all variables.
struct TypeSurvey<'a> {
    program: &'a Program,
    layout: &'a Layout,
    set_of: HashMap<ScalarsetId, usize>,
    plan: IncidencePlan,
    way: VertexPath,
}

/// The vertices on the path to the current type.
#[derive(Default)]
struct VertexPath {
    indices: Vec<ElementIndex>,
    roles: Vec<u32>,
    presence: Vec<u32>,
}

/// Consecutive indices of an array.
struct IndexStretch {
    /// The number of indices.
    count: u32,
    /// The set of elements that they are, if they can be permuted.
    set: Option<VertexSet>,
}

impl TypeSurvey<'_> {
    /// Adds all cells of a value of type `ty` from cell `first` and slot `slot` on.
    fn visit(&mut self, ty: TypeId, first: u32, slot: u64) {
        match &self.program.types[ty] {
            Type::Scalar(scalar) => self.scalar(&scalar.domain, first, slot),
            Type::Record { fields, .. } => {
                let (mut cell, mut slot) = (first, slot);
                for (_, field) in fields {
                    self.visit(*field, cell, slot);
                    cell += self.layout.sizes[*field];
                    slot += self.slots(*field);
                }
            }
            Type::Array { length, by, element, .. } => {
                let stretches = self.stretches(*length, by.as_ref());
                self.array(stretches, *element, first, slot);
            }
            Type::Multiset { capacity, element } => {
                self.multiset(*capacity, *element, first, slot);
            }
        }
    }

    fn multiset(&mut self, capacity: u32, element: TypeId, first: u32, slot: u64) {
        let stride = 1 + self.layout.sizes[element];
        let bag = MultisetSpan { first: self.plan.cells.len() as u32, capacity, stride };
        for at in 0..capacity {
            let there = first + at * stride;
            self.way.roles.push(self.plan.elements + self.plan.positions);
            self.plan.positions += 1;
            self.way.presence.push(self.plan.cells.len() as u32);
            self.plan.depth = self.plan.depth.max(self.way.presence.len() as u32);
            self.note(there, slot, &[]);
            self.visit(element, there + 1, slot + 1);
            self.way.roles.pop();
            self.way.presence.pop();
        }
        self.plan.multisets.push(bag);
    }

    fn array(&mut self, stretches: Vec<IndexStretch>, element: TypeId, first: u32, mut slot: u64) {
        let stride = self.layout.sizes[element];
        let mut cell = first;
        for IndexStretch { count, set } in stretches {
            for at in 0..count {
                if let Some(set) = set {
                    let vertex = set.first + at;
                    self.way.indices.push(ElementIndex { vertex, stride });
                    self.way.roles.push(vertex);
                    self.visit(element, cell, slot);
                    self.way.indices.pop();
                    self.way.roles.pop();
                } else {
                    self.visit(element, cell, slot);
                    slot += self.slots(element);
                }
                cell += stride;
            }
            if set.is_some() {
                slot += self.slots(element);
            }
        }
    }

    fn scalar(&mut self, domain: &Domain, cell: u32, slot: u64) {
        let (low, high) = self.program.bounds(domain);
        let length = (high - low + 1).min(i64::from(u32::MAX)) as u32;
        let (mut first, mut names) = (low, Vec::new());
        for IndexStretch { count, set } in self.stretches(length, Some(domain)) {
            let next = first + i64::from(count);
            // A cell has codes for all elements, or for none if it never holds one.
            let codes = self.layout.cells[CellId(cell)].codes(first, next - 1);
            if let (Some(set), Some(codes)) = (set, codes) {
                names.push(NamedVertices { code: codes.start, size: count, vertex: set.first });
            }
            first = next;
        }
        self.note(cell, slot, &names);
    }

    fn note(&mut self, cell: u32, slot: u64, named: &[NamedVertices]) {
        let VertexPath { indices, roles, presence } = &self.way;
        if roles.is_empty() && named.is_empty() {
            return;
        }
        let plan = &mut self.plan;
        let number = plan.cells.len() as u32;
        for index in indices {
            // Two indices may be the same element.
            let indexed = &mut plan.indexed[index.vertex as usize];
            if indexed.last() != Some(&number) {
                indexed.push(number);
            }
        }
        for name in named {
            let set = plan.sets.iter().position(|set| set.first == name.vertex);
            set.into_iter().for_each(|set| plan.naming[set].push(number));
        }
        // The roles that are the same vertex as an earlier one.
        let again = roles
            .iter()
            .enumerate()
            .map(|(at, role)| roles.iter().position(|it| it == role).filter(|&first| first < at));
        let key = again
            .fold(mix(slot), |key, first| first.map_or(key, |first| mix(key ^ (1 + first as u64))));
        plan.cells.push(IncidentCell {
            cell: CellId(cell),
            key,
            indices: append(&mut plan.indices, indices),
            roles: append(&mut plan.roles, roles),
            presence: append(&mut plan.presence, presence),
            names: append(&mut plan.names, named),
            is_plain: roles.len() == 1 && named.is_empty(),
        });
        let place = &self.layout.cells[CellId(cell)];
        plan.readings.push(CellReading {
            byte: place.bit / 8,
            mask: ((1u64 << place.bits) - 1) as u32,
            // At most 63: a cell of no bits is read as 0 whatever the shift.
            shift: (64 - place.bit % 8 - place.bits).min(63) as u8,
            zero_names: named.iter().any(|it| it.code == 0),
        });
    }

    /// Returns the values of a domain, one member after the other.
    fn stretches(&self, length: u32, domain: Option<&Domain>) -> Vec<IndexStretch> {
        match domain {
            Some(Domain::Scalarset(id)) => {
                let set = self.set_of.get(id).map(|&at| self.plan.sets[at]);
                vec![IndexStretch { count: length, set }]
            }
            Some(Domain::Union(parts)) => {
                let stretches = parts.iter().flat_map(|part| {
                    let (low, high) = self.program.bounds(part);
                    self.stretches((high - low + 1) as u32, Some(part))
                });
                stretches.collect()
            }
            _ => vec![IndexStretch { count: length, set: None }],
        }
    }

    /// Returns the number of slots of a type's cells.
    fn slots(&self, ty: TypeId) -> u64 {
        match &self.program.types[ty] {
            Type::Scalar(_) => 1,
            Type::Record { fields, .. } => fields.iter().map(|(_, ty)| self.slots(*ty)).sum(),
            Type::Multiset { element, .. } => 1 + self.slots(*element),
            Type::Array { length, by, element, .. } => {
                let stretches = self.stretches(*length, by.as_ref()).into_iter();
                let each = self.slots(*element);
                stretches
                    .map(|it| if it.set.is_some() { each } else { each * u64::from(it.count) })
                    .sum()
            }
        }
    }
}

/// Appends to a list, and returns the range.
fn append<T: Clone>(list: &mut Vec<T>, more: &[T]) -> ListRange {
    let start = list.len() as u32;
    list.extend_from_slice(more);
    start..list.len() as u32
}
