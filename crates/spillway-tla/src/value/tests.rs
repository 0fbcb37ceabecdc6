use super::*;
use std::cmp::Ordering;

fn int(value: i32) -> Value {
    Value::Int(value)
}

fn set(elements: &[Value]) -> Value {
    Value::set(elements.to_vec()).unwrap()
}

fn function(pairs: &[(Value, Value)]) -> Value {
    let domain = shared(pairs.iter().map(|it| it.0.clone()).collect());
    Value::function(domain, pairs.iter().map(|it| it.1.clone()).collect())
}

#[test]
fn equal_values_have_equal_representations() {
    let mut symbols = SymbolTable::default();
    let (a, b) = (symbols.intern("a"), symbols.intern("b"));
    assert_eq!(set(&[int(2), int(1), int(2)]), set(&[int(1), int(2)]));
    assert_eq!(function(&[(int(1), int(5)), (int(2), int(6))]), Value::tuple(vec![int(5), int(6)]));
    assert_eq!(function(&[]), Value::tuple(Vec::new()));
    let record = Value::record(shared_names(vec![a, b]), vec![int(1), int(2)]);
    assert_eq!(function(&[(Value::Str(a), int(1)), (Value::Str(b), int(2))]), record);
    assert!(matches!(function(&[(int(0), int(5)), (int(1), int(6))]), Value::Function(_)));
}

#[test]
fn values_of_different_kinds_are_not_comparable() {
    let mut symbols = SymbolTable::default();
    let (text, model) = (symbols.intern("a"), symbols.intern("m"));
    let (text, model) = (Value::Str(text), Value::Model(ModelValue::new(model, "m")));
    assert!(equal(&int(1), &text).is_err());
    assert!(equal(&int(1), &Value::Bool(true)).is_err());
    assert!(equal(&Value::empty_set(), &int(1)).is_err());
    assert!(Value::set(vec![int(1), int(2), text.clone()]).is_err());
    assert_eq!(equal(&int(1), &model), Ok(false));
    assert_eq!(equal(&model, &text), Ok(false));
    assert_eq!(compare(&model, &int(-7)), Ok(Ordering::Less));
    assert_eq!(set(&[int(3), model.clone()]), Value::sorted_set(vec![model, int(3)]));
    // Sets of different sizes differ whatever their elements are.
    assert_eq!(
        equal(&set(&[int(1)]), &set(&[text.clone(), Value::Str(symbols.intern("b"))])),
        Ok(false)
    );
    assert!(equal(&set(&[int(1)]), &set(&[text])).is_err());
}

#[test]
fn typed_model_values_equal_only_their_type() {
    let mut symbols = SymbolTable::default();
    let mut model = |text: &str| Value::Model(ModelValue::new(symbols.intern(text), text));
    let (one, two, other, plain) = (model("T_1"), model("T_2"), model("U_1"), model("m"));
    assert_eq!(equal(&one, &two), Ok(false));
    assert_eq!(equal(&one, &plain), Ok(false));
    assert!(equal(&one, &other).is_err());
    assert!(equal(&one, &int(1)).is_err());
    assert!(compare(&one, &other).is_err());
    assert!(compare(&int(1), &one).is_err());
    assert_eq!(compare(&one, &plain), Ok(Ordering::Less));
    assert_eq!(compare(&plain, &one), Ok(Ordering::Greater));
}

#[test]
fn values_have_the_order_of_tlc() {
    let mut symbols = SymbolTable::default();
    let (late, early) = (symbols.intern("z"), symbols.intern("a"));
    assert_eq!(compare(&Value::Str(late), &Value::Str(early)), Ok(Ordering::Less));
    let sets = [set(&[]), set(&[int(9)]), set(&[int(1), int(2)]), set(&[int(1), int(3)])];
    assert!(sets.windows(2).all(|it| compare(&it[0], &it[1]) == Ok(Ordering::Less)));
    let shifted = function(&[(int(0), int(9)), (int(1), int(9))]);
    let tuple = Value::tuple(vec![int(0), int(0)]);
    assert_eq!(compare(&shifted, &tuple), Ok(Ordering::Less));
    assert_eq!(compare(&tuple, &shifted), Ok(Ordering::Greater));
    assert!(shifted < tuple);
}

/// Values of all kinds: model values with and without types whose names alternate, other scalars, and collections of
/// these.
fn values_of_all_kinds() -> Vec<Value> {
    let mut symbols = SymbolTable::default();
    let names = ["m", "U_1", "T_1", "n", "T_2", "U_2", "o"];
    let mut values = vec![Value::Bool(true), int(-1), int(1)];
    values.extend(names.map(|it| Value::Model(ModelValue::new(symbols.intern(it), it))));
    values.push(Value::Str(symbols.intern("s")));
    let (a, b) = (symbols.intern("a"), symbols.intern("b"));
    for it in values.clone() {
        values.push(set(std::slice::from_ref(&it)));
        values.push(Value::tuple(vec![it.clone()]));
        values.push(Value::record(shared_names(vec![a]), vec![it.clone()]));
        values.push(function(&[(it.clone(), int(1))]));
        values.push(Value::record(shared_names(vec![a, b]), vec![int(1), it]));
    }
    values.extend([Value::empty_set(), Value::tuple(Vec::new())]);
    values
}

#[test]
fn the_order_of_values_is_total_and_agrees_with_that_of_tlc() {
    let values = values_of_all_kinds();
    for (one, two) in values.iter().flat_map(|one| values.iter().map(move |two| (one, two))) {
        assert_eq!(one.cmp(two), two.cmp(one).reverse(), "{one:?} {two:?}");
        assert_eq!(one.cmp(two) == Ordering::Equal, one == two, "{one:?} {two:?}");
        if let Ok(order) = compare(one, two) {
            assert_eq!(one.cmp(two), order, "{one:?} {two:?}");
        }
    }
    let mut sorted: Vec<&Value> = values.iter().collect();
    sorted.sort();
    sorted.dedup();
    for (at, one) in sorted.iter().enumerate() {
        for two in &sorted[at + 1..] {
            assert!(one < two, "{one:?} {two:?}");
        }
    }
}

#[test]
fn computed_texts_come_last_and_are_ordered_by_text() {
    let mut symbols = SymbolTable::default();
    let known = symbols.intern("zz");
    let (two, one) = (symbols.computed("b-computed"), symbols.computed("a-computed"));
    assert_eq!(symbols.computed("zz"), known);
    assert!(known < one && one < two);
    assert_eq!(symbols.text(one), "a-computed");
    assert_eq!(symbols.computed("b-computed"), two);
}

#[test]
fn values_are_printed_in_the_syntax_of_tla() {
    let mut symbols = SymbolTable::default();
    let (a, m) = (symbols.intern("a"), symbols.intern("m"));
    let model = Value::Model(ModelValue::new(m, "m"));
    let record = Value::record(shared_names(vec![a]), vec![Value::tuple(vec![Value::Bool(true)])]);
    let shown = |it: &Value| it.text(&symbols).to_string();
    assert_eq!(shown(&record), "[a |-> <<TRUE>>]");
    assert_eq!(
        shown(&function(&[(model.clone(), int(-1)), (int(0), Value::Str(a))])),
        "(m :> -1 @@ 0 :> \"a\")"
    );
    assert_eq!(shown(&set(&[int(2), model])), "{m, 2}");
    assert_eq!(shown(&Value::tuple(Vec::new())), "<<>>");
    assert_eq!(quote("a\"\\\n"), r#""a\"\\\n""#);
}

#[test]
fn a_value_takes_sixteen_bytes() {
    assert_eq!(size_of::<Value>(), 16);
}
