//! The dictionary values that values need.

use super::super::dictionary::DictionaryId;
use super::{FunctionEntries, Shape, ShapeContext, ShapeKind, choose, integer_cell};
use crate::value::Value;
use std::borrow::Cow;

/// Whether a value can get an encoding by a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cells) enum Fit {
    /// With new dictionary values.
    Possible,
    /// Not for all time.
    Never,
}

/// Dictionary values that a value needs and that have no number.
pub(in crate::cells) type WantedValues<'v> = Vec<WantedValue<'v>>;

/// A value without a number, and the dictionary that is to number it.
pub(in crate::cells) struct WantedValue<'v> {
    pub(in crate::cells) dictionary: DictionaryId,
    pub(in crate::cells) value: Cow<'v, Value>,
}

impl Shape {
    /// Adds the dictionary values that an encoding of `value` needs and that have no number yet.
    pub(in crate::cells) fn collect<'v>(
        &self,
        value: &'v Value,
        context: ShapeContext<'_>,
        wanted: &mut WantedValues<'v>,
    ) -> Fit {
        match (&self.kind, value) {
            (ShapeKind::Boolean, Value::Bool(_)) => Fit::Possible,
            (ShapeKind::Integer { low, bits }, Value::Int(it)) => {
                integer_cell(*low, *bits, *it).map_or(Fit::Never, |_| Fit::Possible)
            }
            (ShapeKind::Number { dictionary, .. }, value) => {
                want(*dictionary, Cow::Borrowed(value), context, wanted)
            }
            (ShapeKind::OpenSet { dictionary, .. }, Value::Set(it)) => {
                want_all(*dictionary, &it.slice, context, wanted)
            }
            (ShapeKind::SparseSet { dictionary, size_max, .. }, Value::Set(it))
                if it.slice.len() <= *size_max as usize =>
            {
                want_all(*dictionary, &it.slice, context, wanted)
            }
            (ShapeKind::OpenMap { arguments, value: shape, .. }, value) => {
                let Some(mut entries) = FunctionEntries::of(value) else { return Fit::Never };
                all_possible(entries.by_ref().map(|(argument, value)| {
                    want(*arguments, argument, context, wanted)
                        .and_then(|| shape.collect(value, context, wanted))
                }))
            }
            (ShapeKind::Sequence { length_max, element }, Value::Tuple(it))
                if it.slice.len() <= *length_max as usize =>
            {
                all_possible(it.slice.iter().map(|it| element.collect(it, context, wanted)))
            }
            (ShapeKind::Array { domain, element, .. }, value) => {
                let Some(it) = context.domain(*domain).values(value) else { return Fit::Never };
                all_possible(it.iter().map(|it| element.collect(it, context, wanted)))
            }
            (ShapeKind::Product { domain, components }, value) => {
                let Some(it) = context.domain(*domain).values(value) else { return Fit::Never };
                let pairs = it.iter().zip(components);
                all_possible(pairs.map(|(it, shape)| shape.collect(it, context, wanted)))
            }
            (ShapeKind::Choice { alternatives }, value) => {
                let chosen = choose(alternatives, value, context);
                let Some(chosen) = chosen else { return Fit::Never };
                alternatives[chosen].collect(value, context, wanted)
            }
            _ => Fit::Never,
        }
    }
}

impl Fit {
    /// Returns whether both are possible. The other one is not computed if this one is not.
    fn and_then(self, other: impl FnOnce() -> Fit) -> Fit {
        match self {
            Fit::Possible => other(),
            Fit::Never => Fit::Never,
        }
    }
}

fn all_possible(mut fits: impl Iterator<Item = Fit>) -> Fit {
    match fits.any(|it| it == Fit::Never) {
        true => Fit::Never,
        false => Fit::Possible,
    }
}

/// Adds a value if its dictionary has no number for it.
fn want<'v>(
    dictionary: DictionaryId,
    value: Cow<'v, Value>,
    context: ShapeContext<'_>,
    wanted: &mut WantedValues<'v>,
) -> Fit {
    let numbered = context.dictionaries.get(dictionary);
    if numbered.lookup(&value).is_some() {
        return Fit::Possible;
    }
    if numbered.is_full() {
        return Fit::Never;
    }
    wanted.push(WantedValue { dictionary, value });
    Fit::Possible
}

fn want_all<'v>(
    dictionary: DictionaryId,
    elements: &'v [Value],
    context: ShapeContext<'_>,
    wanted: &mut WantedValues<'v>,
) -> Fit {
    all_possible(elements.iter().map(|it| want(dictionary, Cow::Borrowed(it), context, wanted)))
}
