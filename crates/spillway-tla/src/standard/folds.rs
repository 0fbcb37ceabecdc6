//! The community modules Folds, FiniteSetsExt and BagsExt.
//!
//! Where the order of a fold can be seen, it is that of TLC's own implementation: from the least element, whose result is
//! innermost. `MapThenFoldSet` follows its definition instead, because TLC evaluates that.

use super::bags::{bag, copies, sum};
use super::elements::list;
use super::tlc::finite_set;
use super::{
    Failure, FailureReason, Operands, OperatorHost, Outcome, boolean, integer, numbers, operand,
    sets,
};
use crate::library::StandardOperator;
use crate::value::{Value, shared};

/// Calls an operator of these modules.
pub fn call(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let at = |position| operand(operands, position);
    Some(match operator {
        MapThenFoldSet => map_then_fold(host, at(1), at(4)),
        FoldSet => finite_set(host, "FoldSet", at(2)).and_then(|it| fold(host, 0, at(1), it)),
        ReduceSet => finite_set(host, "ReduceSet", at(1)).and_then(|it| fold(host, 0, at(2), it)),
        SumSet => finite_set(host, "SumSet", at(0)).and_then(|it| total(Add, 0, it)),
        ProductSet => finite_set(host, "ProductSet", at(0)).and_then(|it| total(Multiply, 1, it)),
        MapThenSumSet => finite_set(host, "MapThenSumSet", at(1))
            .and_then(|it| map(host, 0, &it))
            .and_then(|it| total(Add, 0, it)),
        FlattenSet => sets::big_union(host.closures(), at(0)),
        SymDiff => symmetric_difference(host, at(0), at(1)),
        Quantify => quantify(host, at(0)),
        KSubset => subsets_of_size(host, at(0), at(1)),
        Max => extremum(host, "Max", at(0), |one, two| one > two),
        Min => extremum(host, "Min", at(0), |one, two| one < two),
        Choices => choices(host, at(0)),
        ChooseUnique => choose_unique(host, at(0)),
        BagAdd => change_bag(host, "BagAdd", at(0), at(1), |it| it.checked_add(1)),
        BagRemove => change_bag(host, "BagRemove", at(0), at(1), |it| Some(0.max(it - 1))),
        BagRemoveAll => change_bag(host, "BagRemoveAll", at(0), at(1), |_| Some(0)),
        FoldBag => bag_elements(host, "FoldBag", at(2)).and_then(|it| fold(host, 0, at(1), it)),
        SumBag => bag_elements(host, "SumBag", at(0)).and_then(|it| total(Add, 0, it)),
        ProductBag => bag_elements(host, "ProductBag", at(0)).and_then(|it| total(Multiply, 1, it)),
        MapThenFoldBag => map_then_fold_bag(host, at(1), at(4)),
        _ => return None,
    })
}

/// Folds values from the first to the last: the result is the second argument of the operator at `position`.
///
/// # Errors
///
/// A call fails.
pub fn fold(
    host: &mut dyn OperatorHost,
    position: usize,
    start: &Value,
    values: Vec<Value>,
) -> Outcome<Value> {
    let mut result = start.clone();
    for value in values {
        result = host.call(position, &[value, result])?;
    }
    Ok(result)
}

/// Returns the values of the operator at `position`.
///
/// # Errors
///
/// A call fails.
pub fn map(host: &mut dyn OperatorHost, position: usize, values: &[Value]) -> Outcome<Vec<Value>> {
    values.iter().map(|it| host.call(position, std::slice::from_ref(it))).collect()
}

/// Returns the sum or the product of integers.
///
/// # Errors
///
/// A value is no integer, or the result leaves 32 bits.
pub fn total(operator: StandardOperator, start: i32, values: Vec<Value>) -> Outcome<Value> {
    let mut total = Value::Int(start);
    for value in values {
        total = numbers::binary(operator, &value, &total)?;
    }
    Ok(total)
}

/// Folds by the definition: `op(f(x), ...)` with `x` as the outermost element that `choose` takes.
fn map_then_fold(host: &mut dyn OperatorHost, start: &Value, set: &Value) -> Outcome<Value> {
    let mut open = finite_set(host, "MapThenFoldSet", set)?;
    let mut chosen = Vec::with_capacity(open.len());
    while !open.is_empty() {
        let element = host.call(3, &[Value::Set(shared(open.clone()))])?;
        let element = sets::component(host.closures(), element)?;
        let count = open.len();
        open.retain(|it| *it != element);
        if open.len() == count {
            return Err(Failure::new(FailureReason::NothingToChoose).with("element", &element));
        }
        chosen.push(element);
    }
    let mut result = start.clone();
    for element in chosen.into_iter().rev() {
        let mapped = host.call(2, &[element])?;
        result = host.call(0, &[mapped, result])?;
    }
    Ok(result)
}

fn map_then_fold_bag(host: &mut dyn OperatorHost, start: &Value, value: &Value) -> Outcome<Value> {
    let elements = bag_elements(host, "MapThenFoldBag", value)?;
    let mut result = start.clone();
    for element in elements.into_iter().rev() {
        let mapped = host.call(2, &[element])?;
        result = host.call(0, &[mapped, result])?;
    }
    Ok(result)
}

/// Returns each element of a bag as often as it has copies.
fn bag_elements(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    value: &Value,
) -> Outcome<Vec<Value>> {
    let copies = copies(host, operator, value)?;
    let total = sum(operator, copies.values().copied())?;
    let mut elements = Vec::with_capacity(total as usize);
    for (element, count) in copies {
        elements.extend(std::iter::repeat_n(element, count as usize));
    }
    Ok(elements)
}

fn change_bag(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    value: &Value,
    element: &Value,
    change: fn(i32) -> Option<i32>,
) -> Outcome<Value> {
    let mut copies = copies(host, operator, value)?;
    let element = sets::component(host.closures(), element.clone())?;
    let count = copies.get(&element).copied().unwrap_or(0);
    let changed = change(count)
        .ok_or_else(|| Failure::new(FailureReason::Overflow { operator }).with("bag", value))?;
    copies.insert(element, changed);
    Ok(bag(copies))
}

fn symmetric_difference(
    host: &mut dyn OperatorHost,
    left: &Value,
    right: &Value,
) -> Outcome<Value> {
    let host = host.closures();
    let one = sets::difference(host, left.clone(), right.clone())?;
    let two = sets::difference(host, right.clone(), left.clone())?;
    sets::union(host, one, two)
}

fn quantify(host: &mut dyn OperatorHost, set: &Value) -> Outcome<Value> {
    let mut count = 0;
    for element in finite_set(host, "Quantify", set)? {
        count += i32::from(boolean("Quantify", &host.call(1, &[element])?)?);
    }
    Ok(Value::Int(count))
}

fn subsets_of_size(host: &mut dyn OperatorHost, size: &Value, set: &Value) -> Outcome<Value> {
    let elements = finite_set(host, "kSubset", set)?;
    let size = integer("kSubset", size)?;
    let Ok(size) = usize::try_from(size) else { return Ok(Value::empty_set()) };
    let mut subsets = vec![Vec::new()];
    for _ in 0..size {
        subsets = extend_subsets(&elements, &subsets);
    }
    let subsets = subsets.into_iter().map(|it| {
        Value::Set(shared(it.into_iter().map(|index: usize| elements[index].clone()).collect()))
    });
    Ok(Value::set(subsets.collect())?)
}

fn extend_subsets(elements: &[Value], subsets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut extended = Vec::new();
    for subset in subsets {
        let first = subset.last().map_or(0, |it| it + 1);
        for index in first..elements.len() {
            let mut subset = subset.clone();
            subset.push(index);
            extended.push(subset);
        }
    }
    extended
}

/// Returns the greatest or least element.
///
/// # Errors
///
/// The set is empty, or an element is no integer.
pub fn extremum(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    set: &Value,
    is_better: fn(i32, i32) -> bool,
) -> Outcome<Value> {
    let mut best = None;
    for element in finite_set(host, operator, set)? {
        let number = integer(operator, &element)?;
        if best.is_none_or(|it| is_better(number, it)) {
            best = Some(number);
        }
    }
    let failure = || Failure::new(FailureReason::OutOfRange { operator }).with("set", set);
    best.map(Value::Int).ok_or_else(failure)
}

/// Returns the ranges of all choice functions of a set of sets.
fn choices(host: &mut dyn OperatorHost, outer: &Value) -> Outcome<Value> {
    let mut ranges = vec![Vec::new()];
    for set in finite_set(host, "Choices", outer)? {
        let mut extended = Vec::new();
        for element in list(host.closures(), &set)? {
            extended.extend(ranges.iter().map(|range: &Vec<Value>| {
                let mut range = range.clone();
                range.push(element.clone());
                range
            }));
        }
        ranges = extended;
    }
    let ranges = ranges.into_iter().map(Value::set).collect::<Result<_, _>>()?;
    Ok(Value::set(ranges)?)
}

fn choose_unique(host: &mut dyn OperatorHost, set: &Value) -> Outcome<Value> {
    let mut unique = None;
    for element in finite_set(host, "ChooseUnique", set)? {
        if boolean("ChooseUnique", &host.call(1, std::slice::from_ref(&element))?)?
            && unique.replace(element).is_some()
        {
            return Err(Failure::new(FailureReason::NothingToChoose).with("set", set));
        }
    }
    unique.ok_or_else(|| Failure::new(FailureReason::NothingToChoose).with("set", set))
}
