//! Symmetry: the group of permutations of model values, and the representative of a state.

use super::evaluator::Evaluator;
use crate::standard::{ClosureHost, Failure, Outcome, elements, functions};
use crate::value::{FieldNames, SharedValues, Value, shared, sort_set};
use std::collections::BTreeMap;
use triomphe::ThinArc;

/// A permutation of model values. Those that it does not change are absent.
type Permutation = BTreeMap<Value, Value>;

/// The group that the permutations of a configuration generate, without the identity.
#[derive(Debug)]
pub struct SymmetryGroup {
    permutations: Vec<Permutation>,
}

impl SymmetryGroup {
    /// Evaluates the permutations of the configuration. Returns nothing if it has none.
    ///
    /// # Errors
    ///
    /// The evaluation fails, or a value is no set of permutations.
    pub fn of(evaluator: &mut Evaluator<'_>) -> Outcome<Option<Self>> {
        let mut generators = Vec::new();
        for definition in &evaluator.program().specification.checks.symmetries {
            let set = evaluator.evaluate(*definition)?;
            for function in elements::list(evaluator, &set)? {
                generators.push(permutation(evaluator, &function)?);
            }
        }
        generators.retain(|it| !it.is_empty());
        if generators.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { permutations: closure(generators) }))
    }

    /// Returns the number of permutations, with the identity.
    pub fn order(&self) -> usize {
        self.permutations.len() + 1
    }

    /// Returns the least state of the orbit of a state.
    ///
    /// # Errors
    ///
    /// Values of a permuted set are not comparable.
    pub fn representative(&self, state: &[Value]) -> Outcome<Vec<Value>> {
        let mut least = state.to_vec();
        for permutation in &self.permutations {
            let image: Vec<Value> =
                state.iter().map(|it| permute(permutation, it)).collect::<Outcome<_>>()?;
            if image < least {
                least = image;
            }
        }
        Ok(least)
    }
}

fn permutation(host: &mut dyn ClosureHost, function: &Value) -> Outcome<Permutation> {
    let table = functions::table(host, "SYMMETRY", function)?;
    let values = functions::values(&table).unwrap_or_default();
    let mut permutation = Permutation::new();
    for (argument, value) in functions::domain_list(&table).slice.iter().zip(values) {
        if !matches!((argument, value), (Value::Model(_), Value::Model(_))) {
            return Err(Failure::wrong_kind("SYMMETRY", "permutations of model values", function));
        }
        if argument != value {
            permutation.insert(argument.clone(), value.clone());
        }
    }
    Ok(permutation)
}

/// Returns every product of the generators but the identity.
fn closure(generators: Vec<Permutation>) -> Vec<Permutation> {
    let mut group: std::collections::BTreeSet<Permutation> = generators.iter().cloned().collect();
    let mut open = generators.clone();
    while let Some(one) = open.pop() {
        for two in &generators {
            let product = compose(&one, two);
            if !product.is_empty() && group.insert(product.clone()) {
                open.push(product);
            }
        }
    }
    group.into_iter().collect()
}

/// Returns the permutation that applies `one` and then `two`.
fn compose(one: &Permutation, two: &Permutation) -> Permutation {
    let image = |it: &Value| {
        let first = one.get(it).unwrap_or(it);
        two.get(first).unwrap_or(first).clone()
    };
    let arguments = one.keys().chain(two.keys());
    let pairs = arguments.map(|it| (it.clone(), image(it)));
    pairs.filter(|it| it.0 != it.1).collect()
}

/// Applies a permutation to every model value within a canonical value.
fn permute(permutation: &Permutation, value: &Value) -> Outcome<Value> {
    let all = |values: &[Value]| -> Outcome<Vec<Value>> {
        values.iter().map(|it| permute(permutation, it)).collect()
    };
    Ok(match value {
        Value::Model(_) => permutation.get(value).unwrap_or(value).clone(),
        Value::Set(elements) => {
            let mut elements = all(&elements.slice)?;
            sort_set(&mut elements)?;
            Value::Set(shared(elements))
        }
        Value::Tuple(values) => Value::Tuple(shared(all(&values.slice)?)),
        Value::Record(record) => {
            let names: FieldNames = record.header.header.clone();
            Value::Record(ThinArc::from_header_and_iter(names, all(&record.slice)?.into_iter()))
        }
        Value::Function(function) => {
            permute_function(&function.header.header, all(&function.slice)?, permutation)?
        }
        other => other.clone(),
    })
}

fn permute_function(
    domain: &SharedValues,
    values: Vec<Value>,
    permutation: &Permutation,
) -> Outcome<Value> {
    let mut pairs = BTreeMap::new();
    for (argument, value) in domain.slice.iter().zip(values) {
        pairs.insert(permute(permutation, argument)?, value);
    }
    let (domain, values): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    Ok(Value::function(shared(domain), values))
}
