//! Shapes from a sample of states.
//!
//! A sample cannot contain all values, so cells have room for more: integers for a wider range, dictionaries for more
//! values. Bits that never vary cost nothing in the store, which keeps projected keys. A value without room escapes.
//! If the cells of a layout exceed [`LAYOUT_BITS_MAX`], the inference runs again with less room.
//!
//! A place is where values occur: a variable, or the values of a component over all values of its place. `copies` is the
//! number of times that its cells occur in a key.

use super::dictionary::{DictionaryId, DictionarySpec};
use super::key_bits::bits_for;
use super::shape::{Domain, DomainId, FunctionEntries, Shape, ShapeKind};
use crate::value::Value;
use rustc_hash::FxHashSet;

/// The most bits of all cells of a layout that has full room.
const LAYOUT_BITS_MAX: u32 = 4096;

/// The most bits of all copies of one set, sequence or map.
const COLLECTION_BITS_MAX: u32 = 2048;

/// The most values of a place that are few.
const FEW_MAX: usize = 1024;

/// The most values of a place that are few even if the sample still finds new ones at its end.
const FEW_ALWAYS: usize = 8;

/// The most kinds of records of a place that get cells of their own.
const RECORD_KINDS_MAX: usize = 8;

/// The bits of a number in a dictionary of values that are not few.
pub(super) const MANY_BITS: u32 = 32;

/// The room beyond the sample.
#[derive(Clone, Copy)]
struct Room {
    /// More bits for an integer.
    integer_bits: u32,
    /// More bits for a number in a dictionary.
    number_bits: u32,
    /// The most elements of a set, as a multiple of those in the sample.
    elements: u32,
}

/// The rooms that the inference tries, in order.
const ROOMS: [Room; 3] = [
    Room { integer_bits: 6, number_bits: 4, elements: 4 },
    Room { integer_bits: 3, number_bits: 2, elements: 2 },
    Room { integer_bits: 2, number_bits: 1, elements: 1 },
];

/// The shapes of variables with their dictionaries and domains.
pub(super) struct InferredShapes {
    pub(super) shapes: Vec<Shape>,
    pub(super) dictionaries: Vec<DictionarySpec>,
    pub(super) domains: Vec<Domain>,
}

/// Infers the shapes of `variables` variables. The first dictionaries are those of the caller.
pub(super) fn infer<S: AsRef<[Value]>>(
    variables: usize,
    sample: &[S],
    first: &[DictionarySpec],
) -> InferredShapes {
    let mut inferred = None;
    for room in ROOMS {
        let mut inference = Inference { room, dictionaries: first.to_vec(), domains: Vec::new() };
        let variable = |it: usize| sample.iter().map(|state| &state.as_ref()[it]).collect();
        let shapes: Vec<_> = (0..variables)
            .map(|it| {
                inference.shape(ValuePlace { values: variable(it), copies: 1, is_repeated: false })
            })
            .collect();
        let bits = shapes.iter().fold(0_u32, |sum, it| sum.saturating_add(it.bits()));
        let Inference { dictionaries, domains, .. } = inference;
        inferred = Some(InferredShapes { shapes, dictionaries, domains });
        if bits <= LAYOUT_BITS_MAX {
            break;
        }
    }
    inferred.expect("at least one room")
}

/// Where values occur.
struct ValuePlace<'v> {
    /// The values in the order of the sample, with repetitions.
    values: Vec<&'v Value>,
    copies: u32,
    /// Whether the place is an element of a sequence or a value of a map, whose cells are often unused.
    is_repeated: bool,
}

/// The kinds of values that one shape has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ValueForm {
    Boolean,
    Integer,
    Name,
    Set,
    Function,
}

fn form(value: &Value) -> ValueForm {
    match value {
        Value::Bool(_) => ValueForm::Boolean,
        Value::Int(_) => ValueForm::Integer,
        Value::Str(_) | Value::Model(_) => ValueForm::Name,
        Value::Set(_) => ValueForm::Set,
        _ => ValueForm::Function,
    }
}

fn forms(values: &[&Value]) -> Vec<ValueForm> {
    let mut forms: Vec<_> = values.iter().map(|it| form(it)).collect();
    forms.sort_unstable();
    forms.dedup();
    forms
}

fn distinct(values: &[&Value]) -> usize {
    values.iter().collect::<FxHashSet<_>>().len()
}

/// Returns whether a place has few values, and the sample has found nearly all of them.
fn are_few(values: &[&Value]) -> bool {
    let all = distinct(values);
    let earlier = || distinct(&values[..values.len() / 2]);
    all <= FEW_ALWAYS || all <= FEW_MAX && earlier() * 4 >= all * 3
}

struct Inference {
    room: Room,
    dictionaries: Vec<DictionarySpec>,
    domains: Vec<Domain>,
}

impl Inference {
    fn dictionary(&mut self, capacity: u32, is_ordered: bool) -> DictionaryId {
        self.dictionaries.push(DictionarySpec { capacity, is_ordered });
        DictionaryId(self.dictionaries.len() as u32 - 1)
    }

    fn shape(&mut self, place: ValuePlace<'_>) -> Shape {
        let forms = forms(&place.values);
        match forms.as_slice() {
            [] => self.number(&place.values),
            [ValueForm::Boolean] => Shape::new(ShapeKind::Boolean),
            [ValueForm::Integer] => self.integer(&place.values),
            [ValueForm::Name] => self.number(&place.values),
            [_] if place.is_repeated && are_few(&place.values) => self.number(&place.values),
            [ValueForm::Set] => self.set(place),
            [ValueForm::Function] => self.function(place),
            _ if are_few(&place.values) => self.number(&place.values),
            forms => self.choice(place, forms),
        }
    }

    fn integer(&self, values: &[&Value]) -> Shape {
        let integers = values.iter().filter_map(|it| match it {
            Value::Int(it) => Some(i64::from(*it)),
            _ => None,
        });
        let (min, max) =
            integers.fold((i64::MAX, i64::MIN), |(min, max), it| (min.min(it), max.max(it)));
        // The lowest integer is often 0 even if the sample starts higher.
        let min = if (0..=4 * (max - min + 1)).contains(&min) { 0 } else { min };
        let span = u32::try_from(max - min).expect("integers have 32 bits");
        let bits = (bits_for(span).max(1) + self.room.integer_bits).min(32);
        // A quarter of the range is below the sample. The integers of the sample share their upper bits.
        let low = if bits == 32 { i64::from(i32::MIN) } else { min - (1 << (bits - 2)) };
        Shape::new(ShapeKind::Integer { low, bits })
    }

    /// The number in a dictionary.
    fn number(&mut self, values: &[&Value]) -> Shape {
        let least = if values.is_empty() { 12 } else { 6 };
        let bits = (bits_for(distinct(values) as u32) + self.room.number_bits).max(least);
        self.number_of_bits(bits.min(MANY_BITS))
    }

    fn number_of_bits(&mut self, bits: u32) -> Shape {
        let capacity = u32::MAX >> (32 - bits);
        Shape::new(ShapeKind::Number { dictionary: self.dictionary(capacity, false), bits })
    }

    /// Returns how many of the elements that collections of the sample have get cells.
    fn capacity(&self, seen: u32, copies: u32) -> u32 {
        let least = seen + seen / 2 + 3;
        let most = seen.saturating_mul(self.room.elements).saturating_add(32);
        least.max(most.min(512 / copies.max(1))).next_multiple_of(8)
    }

    fn set(&mut self, place: ValuePlace<'_>) -> Shape {
        let sets = || {
            place.values.iter().filter_map(|it| match it {
                Value::Set(it) => Some(&it.slice),
                _ => None,
            })
        };
        let elements = sets().flatten().collect::<FxHashSet<_>>().len() as u32;
        let capacity = self.capacity(elements, place.copies);
        if capacity.saturating_mul(place.copies) <= COLLECTION_BITS_MAX {
            let dictionary = self.dictionary(capacity, true);
            return Shape::new(ShapeKind::OpenSet { dictionary, capacity });
        }
        let size = sets().map(<[Value]>::len).max().unwrap_or(0) as u32;
        let number_bits = (bits_for(elements) + self.room.number_bits).min(MANY_BITS);
        for size_max in [size.saturating_mul(2).max(size + 2), size + 1] {
            let cells = size_max.saturating_mul(number_bits).saturating_mul(place.copies);
            if cells <= COLLECTION_BITS_MAX {
                let dictionary = self.dictionary(u32::MAX >> (32 - number_bits), true);
                return Shape::new(ShapeKind::SparseSet { dictionary, number_bits, size_max });
            }
        }
        self.number_of_bits(MANY_BITS)
    }

    fn function(&mut self, place: ValuePlace<'_>) -> Shape {
        let are_tuples = place.values.iter().all(|it| matches!(it, Value::Tuple(_)));
        let domain = Domain::of(place.values[0]).expect("a function");
        let is_constant = place.values.iter().all(|it| domain.values(it).is_some());
        match () {
            () if is_constant && domain.size() > 0 => self.constant_domain(place, domain),
            () if are_tuples => self.sequence(place),
            () => self.variable_domain(place),
        }
    }

    fn constant_domain(&mut self, place: ValuePlace<'_>, domain: Domain) -> Shape {
        let size = domain.size() as u32;
        let component = |index: usize| -> Vec<&Value> {
            let values = place.values.iter().filter_map(|it| domain.values(it));
            values.map(|it| &it[index]).collect()
        };
        let components: Vec<_> = (0..domain.size()).map(component).collect();
        let all: Vec<&Value> = components.concat();
        let most_forms = components.iter().map(|it| forms(it).len()).max().unwrap_or(0);
        let is_array = !matches!(domain, Domain::Names(_)) && forms(&all).len() <= most_forms;
        let id = DomainId(self.domains.len() as u32);
        self.domains.push(domain);
        let ValuePlace { copies, is_repeated, .. } = place;
        if is_array {
            let place =
                ValuePlace { values: all, copies: copies.saturating_mul(size), is_repeated };
            let element = Box::new(self.shape(place));
            return Shape::new(ShapeKind::Array { domain: id, size, element });
        }
        let places =
            components.into_iter().map(|values| ValuePlace { values, copies, is_repeated });
        let components = places.map(|it| self.shape(it)).collect();
        Shape::new(ShapeKind::Product { domain: id, components })
    }

    fn sequence(&mut self, place: ValuePlace<'_>) -> Shape {
        let entries = place.values.iter().filter_map(|it| FunctionEntries::of(it));
        let elements = entries.flatten().map(|it| it.1).collect();
        let elements = ValuePlace { values: elements, copies: place.copies, is_repeated: true };
        let lengths = place.values.iter().filter_map(|it| Domain::of(it));
        let length = lengths.map(|it| it.size()).max().unwrap_or(0) as u32;
        let lengths = [length.saturating_mul(2).max(length + 3), length + 1];
        let sequence = |length_max| {
            self.collection(&elements, length_max, |_, element| ShapeKind::Sequence {
                length_max,
                element,
            })
        };
        lengths.into_iter().find_map(sequence).unwrap_or_else(|| self.number_of_bits(MANY_BITS))
    }

    /// Functions whose domains differ: records with different fields, functions that grow.
    fn variable_domain(&mut self, place: ValuePlace<'_>) -> Shape {
        if place.values.iter().all(|it| matches!(it, Value::Record(_))) {
            if are_few(&place.values) {
                return self.number(&place.values);
            }
            if let Some(shape) = self.records(&place) {
                return shape;
            }
        }
        let entries = || place.values.iter().filter_map(|it| FunctionEntries::of(it)).flatten();
        let arguments = entries().map(|it| it.0).collect::<FxHashSet<_>>().len() as u32;
        let values = entries().map(|it| it.1).collect();
        let values = ValuePlace { values, copies: place.copies, is_repeated: true };
        let map = |capacity| {
            self.collection(&values, capacity, |inference, value| {
                let arguments = inference.dictionary(capacity, true);
                ShapeKind::OpenMap { arguments, capacity, value }
            })
        };
        let capacities = [arguments.saturating_mul(2).saturating_add(4), arguments + 1];
        capacities.into_iter().find_map(map).unwrap_or_else(|| self.number_of_bits(MANY_BITS))
    }

    /// Returns a choice among records of the same fields, or nothing if there are too many alternatives.
    fn records(&mut self, place: &ValuePlace<'_>) -> Option<Shape> {
        let mut groups: Vec<(Domain, Vec<&Value>)> = Vec::new();
        for value in &place.values {
            match groups.iter().position(|it| it.0.values(value).is_some()) {
                Some(group) => groups[group].1.push(value),
                None if groups.len() == RECORD_KINDS_MAX => return None,
                None => groups.push((Domain::of(value)?, vec![value])),
            }
        }
        let ValuePlace { copies, is_repeated, .. } = *place;
        let mut alternatives: Vec<_> = groups
            .into_iter()
            .map(|(domain, values)| {
                self.constant_domain(ValuePlace { values, copies, is_repeated }, domain)
            })
            .collect();
        alternatives.push(self.number(&[]));
        Some(Shape::new(ShapeKind::Choice { alternatives }))
    }

    /// Returns the shape of a collection of at most `count` items, or nothing if it has too many bits.
    fn collection(
        &mut self,
        items: &ValuePlace<'_>,
        count: u32,
        kind: impl FnOnce(&mut Self, Box<Shape>) -> ShapeKind,
    ) -> Option<Shape> {
        let (dictionaries, domains) = (self.dictionaries.len(), self.domains.len());
        let copies = items.copies.saturating_mul(count);
        let item =
            self.shape(ValuePlace { values: items.values.clone(), copies, is_repeated: true });
        let kind = kind(self, Box::new(item));
        let shape = Shape::new(kind);
        if shape.bits().saturating_mul(items.copies) <= COLLECTION_BITS_MAX {
            return Some(shape);
        }
        self.dictionaries.truncate(dictionaries);
        self.domains.truncate(domains);
        None
    }

    fn choice(&mut self, place: ValuePlace<'_>, forms: &[ValueForm]) -> Shape {
        let mut alternatives = Vec::new();
        for wanted in forms.iter().filter(|it| **it != ValueForm::Name) {
            let values = place.values.iter().copied().filter(|it| form(it) == *wanted).collect();
            let copies = place.copies;
            alternatives.push(self.shape(ValuePlace {
                values,
                copies,
                is_repeated: place.is_repeated,
            }));
        }
        // Accepts every value of no other alternative.
        let names: Vec<_> =
            place.values.iter().copied().filter(|it| form(it) == ValueForm::Name).collect();
        alternatives.push(self.number(&names));
        Shape::new(ShapeKind::Choice { alternatives })
    }
}
