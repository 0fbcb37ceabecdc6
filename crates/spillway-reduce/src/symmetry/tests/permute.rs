//! The permutation of a state by the meaning of its values, without codes or plans.

use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{Arena, Domain, Program, ScalarsetId, Type, TypeId};
use spillway_model::StateSpace;

/// The image of each element of each scalarset.
pub(super) type Permutation = Arena<ScalarsetId, Vec<i64>>;

/// Returns all permutations of all scalarsets.
pub(super) fn permutations(program: &Program) -> Vec<Permutation> {
    let mut all = vec![Permutation::new()];
    for set in program.scalarsets.values() {
        let mut of_set = vec![Vec::new()];
        for element in 0..i64::from(set.size) {
            of_set = (of_set.iter())
                .flat_map(|order: &Vec<i64>| (0..=order.len()).map(move |at| (order, at)))
                .map(|(order, at)| {
                    let mut longer = order.clone();
                    longer.insert(at, element);
                    longer
                })
                .collect();
        }
        all = (all.iter())
            .flat_map(|before| of_set.iter().map(move |order| (before, order)))
            .map(|(before, order)| {
                let mut more = before.clone();
                more.push(order.clone());
                more
            })
            .collect();
    }
    all
}

/// Returns the state with every element replaced, as a value and as an index.
pub(super) fn permuted(model: &Interp, to: &Permutation, state: &[u8]) -> Vec<u8> {
    let mut result = vec![0; model.width()];
    let mut permuter = Permuter { model, to, state, result: &mut result };
    for (id, variable) in model.program().variables.iter() {
        let first = model.layout().variables[id].first.0;
        permuter.copy(variable.ty, first, first);
    }
    model.sort_multisets(&mut result);
    result
}

struct Permuter<'a> {
    model: &'a Interp,
    to: &'a Permutation,
    state: &'a [u8],
    result: &'a mut Vec<u8>,
}

impl Permuter<'_> {
    /// Copies the value in the cells from `from` to the cells from `into`.
    fn copy(&mut self, ty: TypeId, from: u32, into: u32) {
        let (program, layout) = (self.model.program(), self.model.layout());
        match &program.types[ty] {
            Type::Scalar(scalar) => {
                let value = layout.get(self.state, CellId(from));
                let value = value.map(|value| image(program, self.to, &scalar.domain, value));
                layout.set(self.result, CellId(into), value);
            }
            Type::Array { low, length, by, element } => {
                let stride = layout.sizes[*element];
                for at in 0..*length {
                    let there = match by {
                        None => at,
                        Some(by) => {
                            let index = low + i64::from(at);
                            (image(program, self.to, by, index) - low) as u32
                        }
                    };
                    self.copy(*element, from + at * stride, into + there * stride);
                }
            }
            Type::Record { fields, .. } => {
                let mut offset = 0;
                for (_, field) in fields {
                    self.copy(*field, from + offset, into + offset);
                    offset += layout.sizes[*field];
                }
            }
            Type::Multiset { capacity, element } => {
                let stride = 1 + layout.sizes[*element];
                for position in (0..*capacity).map(|at| at * stride) {
                    // Positions without an element have only zeros.
                    if layout.get(self.state, CellId(from + position)) == Some(1) {
                        layout.set(self.result, CellId(into + position), Some(1));
                        self.copy(*element, from + position + 1, into + position + 1);
                    }
                }
            }
        }
    }
}

/// Returns the image of a value of a domain.
fn image(program: &Program, to: &Permutation, domain: &Domain, value: i64) -> i64 {
    match domain {
        Domain::Scalarset(id) => to[*id][value as usize],
        Domain::Union(parts) => {
            let mut first = 0;
            for part in parts {
                let (low, high) = program.bounds(part);
                if value - first <= high - low {
                    return first + image(program, to, part, value - first);
                }
                first += high - low + 1;
            }
            unreachable!("a union's values are its members'")
        }
        _ => value,
    }
}
