//! Random values of random types, for the tests of encodings.

use crate::value::{ModelValue, SymbolTable, Value, shared, shared_names};
use proptest::prelude::*;
use spillway_base::random::SplitMix64;

/// A type of values.
#[derive(Clone, Debug)]
pub(crate) enum ValueType {
    Boolean,
    Integer {
        low: i32,
        high: i32,
    },
    Text,
    Model,
    /// A model value or an integer.
    Optional {
        high: i32,
    },
    Set(Box<ValueType>),
    Sequence(Box<ValueType>),
    Record(Vec<ValueType>),
    /// A function whose domain is all model values.
    Function(Box<ValueType>),
    /// A function whose domain is any set of model values.
    Partial(Box<ValueType>),
    /// A record of one of two kinds.
    Message(Box<ValueType>),
    /// Values of one of two types.
    Either(Box<ValueType>, Box<ValueType>),
}

/// Returns the table with the texts of all random values.
pub(crate) fn symbols() -> SymbolTable {
    let mut symbols = SymbolTable::default();
    for text in ["zeta", "alpha", "é", "", "m1", "m2", "m3", "T_b", "T_a"] {
        symbols.intern(text);
    }
    symbols
}

fn text(symbols: &SymbolTable, index: usize) -> Value {
    Value::Str(symbols.symbol(index as u32).unwrap())
}

fn model(symbols: &SymbolTable, index: usize) -> Value {
    let symbol = symbols.symbol(4 + index as u32).unwrap();
    Value::Model(ModelValue::new(symbol, symbols.text(symbol)))
}

pub(crate) fn value_type() -> impl Strategy<Value = ValueType> {
    let leaf = prop_oneof![
        Just(ValueType::Boolean),
        (-3i32..=0, 0i32..9).prop_map(|(low, high)| ValueType::Integer { low, high }),
        Just(ValueType::Integer { low: i32::MIN, high: i32::MAX }),
        Just(ValueType::Text),
        Just(ValueType::Model),
        (0i32..5).prop_map(|high| ValueType::Optional { high }),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed.clone().prop_map(ValueType::Set),
            boxed.clone().prop_map(ValueType::Sequence),
            proptest::collection::vec(inner, 1..4).prop_map(ValueType::Record),
            boxed.clone().prop_map(ValueType::Function),
            boxed.clone().prop_map(ValueType::Partial),
            boxed.clone().prop_map(ValueType::Message),
            (boxed.clone(), boxed).prop_map(|(one, two)| ValueType::Either(one, two)),
        ]
    })
}

impl ValueType {
    /// Returns a random value.
    pub(crate) fn value(&self, symbols: &SymbolTable, random: &mut SplitMix64) -> Value {
        match self {
            Self::Boolean => Value::Bool(random.below(2) == 1),
            Self::Integer { low, high } => {
                let span = i64::from(*high) - i64::from(*low) + 1;
                Value::Int((i64::from(*low) + random.below(span as usize) as i64) as i32)
            }
            Self::Text => text(symbols, random.below(4)),
            Self::Model => model(symbols, random.below(3)),
            Self::Optional { high } => match random.below(3) {
                0 => model(symbols, random.below(3)),
                _ => Value::Int(random.below(*high as usize + 1) as i32),
            },
            Self::Set(element) => {
                let elements = (0..random.below(5)).map(|_| element.value(symbols, random));
                // Sets of incomparable elements do not exist.
                Value::set(elements.collect()).unwrap_or_else(|_| Value::empty_set())
            }
            Self::Sequence(element) => {
                Value::tuple((0..random.below(5)).map(|_| element.value(symbols, random)).collect())
            }
            Self::Record(fields) => {
                let names = ["alpha", "m1", "zeta"].map(|it| symbols.find(it).unwrap());
                let mut names = names[..fields.len()].to_vec();
                names.sort();
                let values = fields.iter().map(|it| it.value(symbols, random)).collect();
                Value::record(shared_names(names), values)
            }
            Self::Function(value) => {
                let domain = (0..3).map(|it| model(symbols, it)).collect();
                let values = (0..3).map(|_| value.value(symbols, random)).collect();
                Value::function(shared(domain), values)
            }
            Self::Partial(value) => {
                let arguments = (0..3).filter(|_| random.below(2) == 1).collect::<Vec<_>>();
                let values = arguments.iter().map(|_| value.value(symbols, random)).collect();
                let domain = arguments.into_iter().map(|it| model(symbols, it)).collect();
                Value::function(shared(domain), values)
            }
            Self::Message(content) => {
                let names = [["zeta", "m2"], ["zeta", "alpha"]][random.below(2)];
                let mut names = names.map(|it| symbols.find(it).unwrap()).to_vec();
                names.sort();
                let values = vec![text(symbols, random.below(4)), content.value(symbols, random)];
                Value::record(shared_names(names), values)
            }
            Self::Either(one, two) => {
                let types = [one, two];
                types[random.below(2)].value(symbols, random)
            }
        }
    }
}

/// Random states: the types of the variables and the seed of their values.
#[derive(Clone, Debug)]
pub(crate) struct RandomStates {
    types: Vec<ValueType>,
    seed: u64,
}

pub(crate) fn random_states() -> impl Strategy<Value = RandomStates> {
    let types = proptest::collection::vec(value_type(), 1..4);
    (types, any::<u64>()).prop_map(|(types, seed)| RandomStates { types, seed })
}

impl RandomStates {
    pub(crate) fn variables(&self) -> usize {
        self.types.len()
    }

    /// Returns the states of a level.
    pub(crate) fn level(&self, level: u64, count: usize) -> Vec<Vec<Value>> {
        let symbols = symbols();
        let mut random = SplitMix64::new(self.seed ^ level.wrapping_mul(0x5851_f42d));
        let mut state = || self.types.iter().map(|it| it.value(&symbols, &mut random)).collect();
        (0..count).map(|_| state()).collect()
    }
}
