//! What a program's states look like to someone who permutes: found once, from the types.
//!
//! A *vertex* is an element of a scalarset, or a position of a multiset (whose order means nothing
//! either). A cell is about the vertices that lead to it, as indices of arrays or as positions, and
//! perhaps about one more, which its value names. Cells that differ only in vertices have the same
//! *slot*: a permutation takes one to the other.

use crate::exec::interp::{Slots, multisets};
use crate::ir::{Domain, Layout, Program, Scalar, ScalarsetId, Type, TypeId};
use std::collections::HashMap;

/// The elements of one scalarset: vertices one after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    pub(super) first: u32,
    pub(super) size: u32,
}

/// Codes of a cell that name elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    /// The code of the first of them.
    pub(super) code: u32,
    /// How many.
    pub(super) size: u32,
    /// The vertex that the first names.
    pub(super) vertex: u32,
}

/// One index of an array on the way to a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    /// The element.
    pub(super) vertex: u32,
    /// How many cells further the next element's are.
    pub(super) stride: u32,
}

/// A cell, as permutations see it.
#[derive(Clone, Debug)]
pub(super) struct CellPlan {
    /// The cell.
    pub(super) cell: u32,
    /// What it shares with those it can be moved to.
    pub(super) slot: u64,
    /// The elements that index the arrays it is in.
    pub(super) indices: Vec<Index>,
    /// All vertices that lead to it, from outside in.
    pub(super) roles: Vec<u32>,
    /// The positions among them, by number.
    pub(super) positions: Vec<u32>,
    /// What its codes name.
    pub(super) names: Vec<Named>,
}

/// All that canonicalising needs to know.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The scalarsets with more than one element.
    pub(super) sets: Vec<Set>,
    /// The elements of all of them; the vertices of positions come after.
    pub(super) elements: u32,
    /// The cell that says whether there is an element, for each position of a multiset.
    pub(super) presence: Vec<u32>,
    /// The cells that some vertex leads to or that may name one.
    pub(super) cells: Vec<CellPlan>,
    /// The multisets, those inside others before them.
    pub(super) multisets: Vec<Slots>,
    /// How many cells a state has.
    pub(super) state_cells: u32,
}

impl Plan {
    /// The plan for a program, unless it has nothing symmetric.
    pub(super) fn new(program: &Program, layout: &Layout) -> Option<Plan> {
        let mut sets = Vec::new();
        let mut elements = 0;
        let mut set_of = HashMap::new();
        for (id, set) in program.scalarsets.iter().filter(|(_, set)| set.size > 1) {
            set_of.insert(id, sets.len());
            sets.push(Set { first: elements, size: set.size });
            elements += set.size;
        }
        if sets.is_empty() {
            return None;
        }
        let plan = Plan {
            sets,
            elements,
            presence: Vec::new(),
            cells: Vec::new(),
            multisets: multisets(program, layout),
            state_cells: layout.state_cells,
        };
        let mut survey = Survey { program, layout, set_of, plan, way: Way::default() };
        let mut slot = 0;
        for (id, variable) in program.variables.iter() {
            survey.visit(variable.ty, layout.variables[id].first.0, slot);
            slot += survey.slots(variable.ty);
        }
        Some(survey.plan)
    }

    /// How many vertices there are.
    pub(super) fn vertices(&self) -> usize {
        self.elements as usize + self.presence.len()
    }
}

/// Walks through the types of all variables.
struct Survey<'a> {
    program: &'a Program,
    layout: &'a Layout,
    set_of: HashMap<ScalarsetId, usize>,
    plan: Plan,
    way: Way,
}

/// The vertices passed on the way to where the survey stands.
#[derive(Default)]
struct Way {
    indices: Vec<Index>,
    roles: Vec<u32>,
    positions: Vec<u32>,
}

/// A stretch of an array's indices.
struct Stretch {
    /// How many.
    count: u32,
    /// The set whose elements they are, if they can be permuted.
    set: Option<Set>,
}

impl Survey<'_> {
    /// Notes all cells of a value of type `ty` from cell `first` and slot `slot` on.
    fn visit(&mut self, ty: TypeId, first: u32, slot: u64) {
        match &self.program.types[ty] {
            Type::Scalar(scalar) => self.scalar(scalar, first, slot),
            Type::Record { fields, .. } => {
                let (mut cell, mut slot) = (first, slot);
                for (_, field) in fields {
                    self.visit(*field, cell, slot);
                    cell += self.layout.sizes[*field];
                    slot += self.slots(*field);
                }
            }
            Type::Array { length, symmetric, element, .. } => {
                self.array(*length, symmetric.as_ref(), *element, first, slot);
            }
            Type::Multiset { capacity, element } => {
                let stride = 1 + self.layout.sizes[*element];
                for at in 0..*capacity {
                    let there = first + at * stride;
                    let position = self.plan.presence.len() as u32;
                    self.plan.presence.push(there);
                    self.way.roles.push(self.plan.elements + position);
                    self.way.positions.push(position);
                    self.note(there, slot, Vec::new());
                    self.visit(*element, there + 1, slot + 1);
                    self.way.roles.pop();
                    self.way.positions.pop();
                }
                // Positions are numbered as they are met; vertices after all elements.
            }
        }
    }

    fn array(
        &mut self,
        length: u32,
        symmetric: Option<&Domain>,
        element: TypeId,
        first: u32,
        mut slot: u64,
    ) {
        let stride = self.layout.sizes[element];
        let mut cell = first;
        for Stretch { count, set } in self.stretches(length, symmetric) {
            for at in 0..count {
                if let Some(set) = set {
                    let vertex = set.first + at;
                    self.way.indices.push(Index { vertex, stride });
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

    fn scalar(&mut self, Scalar { domain, undefined }: &Scalar, cell: u32, slot: u64) {
        let (low, high) = self.program.bounds(domain);
        let length = (high - low + 1).min(i64::from(u32::MAX)) as u32;
        let mut code = u32::from(*undefined);
        let mut names = Vec::new();
        for Stretch { count, set } in self.stretches(length, Some(domain)) {
            if let Some(set) = set {
                names.push(Named { code, size: count, vertex: set.first });
            }
            code = code.saturating_add(count);
        }
        self.note(cell, slot, names);
    }

    fn note(&mut self, cell: u32, slot: u64, names: Vec<Named>) {
        let Way { indices, roles, positions } = &self.way;
        if !roles.is_empty() || !names.is_empty() {
            self.plan.cells.push(CellPlan {
                cell,
                slot,
                indices: indices.clone(),
                roles: roles.clone(),
                positions: positions.clone(),
                names,
            });
        }
    }

    /// The values of a domain, member after member.
    fn stretches(&self, length: u32, domain: Option<&Domain>) -> Vec<Stretch> {
        match domain {
            Some(Domain::Scalarset(id)) => {
                let set = self.set_of.get(id).map(|&at| self.plan.sets[at]);
                vec![Stretch { count: length, set }]
            }
            Some(Domain::Union(parts)) => {
                let stretches = parts.iter().flat_map(|part| {
                    let (low, high) = self.program.bounds(part);
                    self.stretches((high - low + 1) as u32, Some(part))
                });
                stretches.collect()
            }
            _ => vec![Stretch { count: length, set: None }],
        }
    }

    /// How many slots the cells of a type have.
    fn slots(&self, ty: TypeId) -> u64 {
        match &self.program.types[ty] {
            Type::Scalar(_) => 1,
            Type::Record { fields, .. } => fields.iter().map(|(_, ty)| self.slots(*ty)).sum(),
            Type::Multiset { element, .. } => 1 + self.slots(*element),
            Type::Array { length, symmetric, element, .. } => {
                let stretches = self.stretches(*length, symmetric.as_ref()).into_iter();
                let each = self.slots(*element);
                stretches
                    .map(|it| if it.set.is_some() { each } else { each * u64::from(it.count) })
                    .sum()
            }
        }
    }
}
