//! Values to cells.

use super::super::dictionary::Dictionary;
use super::super::key_bits::{KeyWriter, bits_for};
use super::{FunctionEntries, Shape, ShapeContext, ShapeKind, choice_bits, choose, integer_cell};
use crate::value::Value;

/// A value has no encoding by a shape, now or for all time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cells) struct Misfit;

impl Shape {
    /// Writes the cells of a value from a bit on.
    pub(in crate::cells) fn encode(
        &self,
        value: &Value,
        at: u32,
        context: ShapeContext<'_>,
        key: &mut KeyWriter<'_>,
    ) -> Result<(), Misfit> {
        match (&self.kind, value) {
            (ShapeKind::Boolean, Value::Bool(it)) => key.put(at, 1, u32::from(*it)),
            (ShapeKind::Integer { low, bits }, Value::Int(it)) => {
                key.put(at, *bits, integer_cell(*low, *bits, *it).ok_or(Misfit)?);
            }
            (ShapeKind::Number { dictionary, bits }, value) => {
                let number = context.dictionaries.get(*dictionary).lookup(value).ok_or(Misfit)?;
                key.put(at, *bits, number);
            }
            (ShapeKind::OpenSet { dictionary, .. }, Value::Set(it)) => {
                let dictionary = context.dictionaries.get(*dictionary);
                for element in &it.slice {
                    key.put(at + dictionary.lookup(element).ok_or(Misfit)?, 1, 1);
                }
            }
            (ShapeKind::SparseSet { dictionary, number_bits, size_max }, Value::Set(it)) => {
                let dictionary = context.dictionaries.get(*dictionary);
                let cells =
                    SparseCells { dictionary, number_bits: *number_bits, size_max: *size_max };
                encode_sparse(&it.slice, cells, at, key)?;
            }
            (ShapeKind::OpenMap { arguments, value: shape, .. }, value) => {
                let arguments = context.dictionaries.get(*arguments);
                for (argument, value) in FunctionEntries::of(value).ok_or(Misfit)? {
                    let number = arguments.lookup(&argument).ok_or(Misfit)?;
                    let at = at + number * (shape.bits + 1);
                    key.put(at, 1, 1);
                    shape.encode(value, at + 1, context, key)?;
                }
            }
            (ShapeKind::Sequence { length_max, element }, Value::Tuple(it)) => {
                let length = u32::try_from(it.slice.len()).map_err(|_| Misfit)?;
                if length > *length_max {
                    return Err(Misfit);
                }
                let length_bits = bits_for(*length_max);
                key.put(at, length_bits, length);
                element.encode_all(&it.slice, at + length_bits, context, key)?;
            }
            (ShapeKind::Array { domain, element, .. }, value) => {
                let values = context.domain(*domain).values(value).ok_or(Misfit)?;
                element.encode_all(values, at, context, key)?;
            }
            (ShapeKind::Product { domain, components }, value) => {
                let values = context.domain(*domain).values(value).ok_or(Misfit)?;
                encode_components(components, values, at, context, key)?;
            }
            (ShapeKind::Choice { alternatives }, value) => {
                let chosen = choose(alternatives, value, context).ok_or(Misfit)?;
                let choice_bits = choice_bits(alternatives);
                key.put(at, choice_bits, chosen as u32);
                alternatives[chosen].encode(value, at + choice_bits, context, key)?;
            }
            _ => return Err(Misfit),
        }
        Ok(())
    }

    /// Writes the cells of values one after another, all of this shape.
    fn encode_all(
        &self,
        values: &[Value],
        at: u32,
        context: ShapeContext<'_>,
        key: &mut KeyWriter<'_>,
    ) -> Result<(), Misfit> {
        let places = (at..).step_by(self.bits.max(1) as usize);
        values.iter().zip(places).try_for_each(|(it, at)| self.encode(it, at, context, key))
    }
}

/// Writes the cells of values one after another, each of its shape.
fn encode_components(
    shapes: &[Shape],
    values: &[Value],
    mut at: u32,
    context: ShapeContext<'_>,
    key: &mut KeyWriter<'_>,
) -> Result<(), Misfit> {
    for (value, shape) in values.iter().zip(shapes) {
        shape.encode(value, at, context, key)?;
        at += shape.bits;
    }
    Ok(())
}

/// Encodes a set by the numbers of its elements.
fn encode_sparse(
    elements: &[Value],
    cells: SparseCells<'_>,
    at: u32,
    key: &mut KeyWriter<'_>,
) -> Result<(), Misfit> {
    if elements.len() > cells.size_max as usize {
        return Err(Misfit);
    }
    let number = |it| cells.dictionary.lookup(it).ok_or(Misfit);
    let mut numbers = elements.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    numbers.sort_unstable();
    let size_bits = bits_for(cells.size_max);
    key.put(at, size_bits, numbers.len() as u32);
    for (number, index) in numbers.into_iter().zip(0..) {
        key.put(at + size_bits + index * cells.number_bits, cells.number_bits, number);
    }
    Ok(())
}

/// The cells of a sparse set.
struct SparseCells<'d> {
    dictionary: &'d Dictionary,
    number_bits: u32,
    size_max: u32,
}
