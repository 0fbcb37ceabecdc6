//! The shapes of cells for samples of states.

use super::super::shape::{Shape, ShapeKind};
use crate::cells::CellLayout;
use crate::value::{ModelValue, SymbolTable, Value, shared, shared_names};

/// Values of a small specification.
struct Samples {
    symbols: SymbolTable,
}

impl Samples {
    fn new() -> Self {
        Self { symbols: SymbolTable::default() }
    }

    fn text(&mut self, text: &str) -> Value {
        Value::Str(self.symbols.intern(text))
    }

    fn model(&mut self, text: &str) -> Value {
        Value::Model(ModelValue::new(self.symbols.intern(text), text))
    }

    fn record(&mut self, fields: &[(&str, Value)]) -> Value {
        let mut fields: Vec<_> =
            fields.iter().map(|it| (self.symbols.intern(it.0), it.1.clone())).collect();
        fields.sort_by_key(|it| it.0);
        let names = shared_names(fields.iter().map(|it| it.0).collect());
        Value::record(names, fields.into_iter().map(|it| it.1).collect())
    }
}

fn shape(values: Vec<Value>) -> Shape {
    let states: Vec<_> = values.into_iter().map(|it| vec![it]).collect();
    let layout = CellLayout::from_sample(1, &states);
    layout.variables[0].shape.clone().unwrap()
}

#[test]
fn integers_get_a_range_around_the_sample() {
    let shape = shape(vec![Value::Int(2), Value::Int(5)]);
    let ShapeKind::Integer { low, bits } = *shape.kind() else { panic!("{shape:?}") };
    assert!(low < 0 && low + (1 << bits) > 50 && bits <= 12);
    // The integers of the sample share the upper bits of their cells.
    assert_eq!((2 - low) >> 3, (5 - low) >> 3);
    let wide = self::shape(vec![Value::Int(i32::MIN), Value::Int(i32::MAX)]);
    assert_eq!(wide.kind(), &ShapeKind::Integer { low: i64::from(i32::MIN), bits: 32 });
}

#[test]
fn a_function_of_a_constant_domain_is_an_array() {
    let mut samples = Samples::new();
    let domain = shared(["r1", "r2", "r3"].map(|it| samples.model(it)).to_vec());
    let [working, prepared] = ["working", "prepared"].map(|it| samples.text(it));
    let functions = (0..3).map(|at| {
        let mut values = vec![working.clone(); 3];
        values[at] = prepared.clone();
        Value::function(domain.clone(), values)
    });
    let shape = shape(functions.collect());
    let ShapeKind::Array { size: 3, element, .. } = shape.kind() else { panic!("{shape:?}") };
    assert!(matches!(element.kind(), ShapeKind::Number { bits: 6, .. }));
}

#[test]
fn a_set_of_messages_is_an_open_set() {
    let mut samples = Samples::new();
    let messages: Vec<_> = (0..10)
        .map(|it| {
            let kind = samples.text(["1a", "1b"][it % 2]);
            samples.record(&[("type", kind), ("bal", Value::Int(it as i32))])
        })
        .collect();
    let sets = (0..10).map(|it| Value::set(messages[..it].to_vec()).unwrap()).collect();
    let shape = shape(sets);
    let ShapeKind::OpenSet { capacity, .. } = *shape.kind() else { panic!("{shape:?}") };
    assert_eq!(capacity, 72);
}

#[test]
fn sequences_and_functions_that_grow_have_room() {
    let mut samples = Samples::new();
    let text = samples.text("x");
    let sequences = (0..4).map(|it| Value::tuple(vec![text.clone(); it])).collect();
    assert!(matches!(shape(sequences).kind(), ShapeKind::Sequence { length_max: 6, .. }));
    let functions = (0..4).map(|it| {
        let domain: Vec<_> = (0..it).map(|it| samples.model(&format!("m{it}"))).collect();
        Value::function(shared(domain), vec![Value::Int(1); it])
    });
    assert!(matches!(shape(functions.collect()).kind(), ShapeKind::OpenMap { capacity: 10, .. }));
}

#[test]
fn many_large_sets_are_sparse_and_huge_ones_are_numbers() {
    let set = |first: i32, size: i32| Value::set((first..first + size).map(Value::Int).collect());
    let sparse = (0..1000).map(|it| set(it * 7, 3).unwrap()).collect();
    assert!(matches!(shape(sparse).kind(), ShapeKind::SparseSet { size_max: 6, .. }));
    let huge = (0..300).map(|it| set(it * 100, 400).unwrap()).collect();
    assert!(matches!(shape(huge).kind(), ShapeKind::Number { bits: 32, .. }));
}

#[test]
fn values_of_several_kinds_are_numbers_while_they_are_few() {
    let mut samples = Samples::new();
    let none = samples.model("none");
    let few = vec![none.clone(), Value::Int(1), Value::Int(2)];
    assert!(matches!(shape(few).kind(), ShapeKind::Number { .. }));
    let many = [none].into_iter().chain((0..3000).map(Value::Int)).collect();
    let shape = shape(many);
    let ShapeKind::Choice { alternatives } = shape.kind() else { panic!("{shape:?}") };
    assert!(matches!(alternatives[0].kind(), ShapeKind::Integer { .. }));
    assert!(matches!(alternatives[1].kind(), ShapeKind::Number { .. }));
}

#[test]
fn records_of_several_kinds_are_alternatives() {
    let mut samples = Samples::new();
    let records = (0..3000).map(|it| match it % 2 {
        0 => samples.record(&[("a", Value::Int(it))]),
        _ => samples.record(&[("b", Value::Int(it)), ("c", Value::Bool(true))]),
    });
    let shape = shape(records.collect());
    let ShapeKind::Choice { alternatives } = shape.kind() else { panic!("{shape:?}") };
    assert_eq!(alternatives.len(), 3);
}

#[test]
fn a_layout_with_too_many_cells_has_less_room() {
    let sequences = |variables: usize| -> Vec<Vec<Value>> {
        let state = |it: i32| {
            let elements = (0..20 - it % 4).map(|at| Value::Int(at * 1000 + it)).collect();
            vec![Value::tuple(elements); variables]
        };
        (0..40).map(state).collect()
    };
    let one: u32 = CellLayout::from_sample(1, &sequences(1)).cell_bits().sum();
    let ten: u32 = CellLayout::from_sample(10, &sequences(10)).cell_bits().sum();
    assert!(ten < 10 * one, "{ten} {one}");
}
