//! Cells to values.

use super::super::dictionary::{Dictionary, DictionaryId};
use super::super::key_bits::{bits_for, get};
use super::{DecodedValues, Shape, ShapeContext, ShapeKind, choice_bits};
use crate::value::{Value, shared, shared_from};
use smallvec::SmallVec;

/// The bits of a key are not those of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is not the encoding of a state")]
pub struct InvalidKey;

impl Shape {
    /// Reads a value from its cells from a bit on.
    pub(in crate::cells) fn decode(
        &self,
        key: &[u8],
        at: u32,
        context: ShapeContext<'_>,
    ) -> Result<Value, InvalidKey> {
        match &self.kind {
            ShapeKind::Boolean => Ok(Value::Bool(get(key, at, 1) == 1)),
            ShapeKind::Integer { low, bits } => {
                let integer = low + i64::from(get(key, at, *bits));
                i32::try_from(integer).map(Value::Int).map_err(|_| InvalidKey)
            }
            ShapeKind::Number { dictionary, bits } => {
                let dictionary = context.dictionaries.get(*dictionary);
                dictionary.value(get(key, at, *bits)).cloned().ok_or(InvalidKey)
            }
            ShapeKind::OpenSet { dictionary, capacity } => {
                let numbers = set_bits(key, at, *capacity);
                set_of(context.dictionaries.get(*dictionary), numbers)
            }
            ShapeKind::SparseSet { dictionary, number_bits, size_max } => {
                let size_bits = bits_for(*size_max);
                let size = get(key, at, size_bits);
                if size > *size_max {
                    return Err(InvalidKey);
                }
                let number = |index| get(key, at + size_bits + index * number_bits, *number_bits);
                set_of(context.dictionaries.get(*dictionary), (0..size).map(number))
            }
            ShapeKind::OpenMap { arguments, capacity, value } => {
                let cells = MapCells { arguments: *arguments, capacity: *capacity, value };
                decode_map(key, at, cells, context)
            }
            ShapeKind::Sequence { length_max, element } => {
                let length_bits = bits_for(*length_max);
                let length = get(key, at, length_bits);
                if length > *length_max {
                    return Err(InvalidKey);
                }
                let elements = element.decode_all(length, key, at + length_bits, context)?;
                Ok(Value::Tuple(shared_from(elements)))
            }
            ShapeKind::Array { domain, size, element } => {
                let values = element.decode_all(*size, key, at, context)?;
                Ok(context.domain(*domain).function(values))
            }
            ShapeKind::Product { domain, components } => {
                let mut at = at;
                let values = components.iter().map(|it| {
                    let value = it.decode(key, at, context);
                    at += it.bits;
                    value
                });
                Ok(context.domain(*domain).function(values.collect::<Result<_, _>>()?))
            }
            ShapeKind::Choice { alternatives } => {
                let choice_bits = choice_bits(alternatives);
                let chosen = get(key, at, choice_bits) as usize;
                let alternative = alternatives.get(chosen).ok_or(InvalidKey)?;
                alternative.decode(key, at + choice_bits, context)
            }
        }
    }

    /// Reads values from cells that follow one another, all of this shape.
    fn decode_all(
        &self,
        count: u32,
        key: &[u8],
        at: u32,
        context: ShapeContext<'_>,
    ) -> Result<DecodedValues, InvalidKey> {
        (0..count).map(|it| self.decode(key, at + it * self.bits, context)).collect()
    }
}

/// A decoded value with the key from which it was read.
#[derive(Clone, Copy)]
pub(in crate::cells) struct DecodedCells<'k> {
    pub key: &'k [u8],
    pub value: &'k Value,
}

impl Shape {
    /// As [`decode`](Self::decode), next to a value that was decoded from the same place of another key by this shape.
    /// The parts whose cells are equal are shared.
    pub(in crate::cells) fn decode_like(
        &self,
        key: &[u8],
        at: u32,
        like: DecodedCells<'_>,
        context: ShapeContext<'_>,
    ) -> Result<Value, InvalidKey> {
        if has_equal_bits(key, like.key, at, self.bits) {
            return Ok(like.value.clone());
        }
        let (domain, values) = match &self.kind {
            ShapeKind::Array { domain, .. } | ShapeKind::Product { domain, .. } => {
                let domain = context.domain(*domain);
                (domain, domain.values(like.value).ok_or(InvalidKey)?)
            }
            _ => return self.decode(key, at, context),
        };
        let mut at = at;
        let values = values.iter().enumerate().map(|(index, value)| {
            let part = match &self.kind {
                ShapeKind::Product { components, .. } => &components[index],
                ShapeKind::Array { element, .. } => element,
                _ => return Err(InvalidKey),
            };
            let first = at;
            at += part.bits;
            part.decode_like(key, first, DecodedCells { value, ..like }, context)
        });
        Ok(domain.function(values.collect::<Result<_, _>>()?))
    }
}

/// Returns whether two keys have the same bits in a range.
fn has_equal_bits(one: &[u8], two: &[u8], at: u32, bits: u32) -> bool {
    (0..bits).step_by(32).all(|start| {
        let count = (bits - start).min(32);
        get(one, at + start, count) == get(two, at + start, count)
    })
}

/// The cells of an open map.
struct MapCells<'s> {
    arguments: DictionaryId,
    capacity: u32,
    value: &'s Shape,
}

fn decode_map(
    key: &[u8],
    at: u32,
    cells: MapCells<'_>,
    context: ShapeContext<'_>,
) -> Result<Value, InvalidKey> {
    let dictionary = context.dictionaries.get(cells.arguments);
    let mut entries = Vec::new();
    for number in 0..cells.capacity {
        let at = at + number * (cells.value.bits + 1);
        if get(key, at, 1) == 1 {
            let rank = dictionary.rank(number).ok_or(InvalidKey)?;
            entries.push((rank, cells.value.decode(key, at + 1, context)?));
        }
    }
    entries.sort_unstable_by_key(|it| it.0);
    let argument = |it: &(u32, Value)| dictionary.value_of_rank(it.0).clone();
    let domain = shared(entries.iter().map(argument).collect());
    Ok(Value::function(domain, entries.into_iter().map(|it| it.1).collect()))
}

/// Returns the set of the dictionary's values with these numbers.
fn set_of(
    dictionary: &Dictionary,
    numbers: impl Iterator<Item = u32>,
) -> Result<Value, InvalidKey> {
    let ranks = numbers.map(|it| dictionary.rank(it));
    let mut ranks = ranks.collect::<Option<SmallVec<[_; 16]>>>().ok_or(InvalidKey)?;
    ranks.sort_unstable();
    ranks.dedup();
    let elements = ranks.iter().map(|it| dictionary.value_of_rank(*it).clone());
    Ok(Value::Set(shared_from(elements)))
}

/// Returns the positions of the bits that are set among `count` bits.
fn set_bits(key: &[u8], at: u32, count: u32) -> impl Iterator<Item = u32> {
    let chunk = move |start: u32| {
        let bits = (count - start).min(32);
        let mut left = get(key, at + start, bits) << (32 - bits);
        std::iter::from_fn(move || {
            let position = left.leading_zeros();
            left &= !(1_u32 << 31).checked_shr(position)?;
            Some(start + position)
        })
    };
    (0..count).step_by(32).flat_map(chunk)
}
