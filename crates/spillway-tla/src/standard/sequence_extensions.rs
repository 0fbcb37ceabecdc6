//! The community module SequencesExt.

use super::elements::list;
use super::sequences::{self, out_of_range, slice};
use super::tlc::finite_set;
use super::{
    Operands, OperatorHost, Outcome, bags, boolean, folds, functions, integer, operand, sets,
};
use crate::library::StandardOperator;
use crate::value::{LazyValue, SharedValues, Value, shared};

/// Calls an operator of this module.
pub fn call(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    build(host, operator, operands)
        .or_else(|| change(host, operator, operands))
        .or_else(|| test(host, operator, operands))
        .or_else(|| parts(host, operator, operands))
}

type Sequence = SharedValues;

/// Operators that make sequences or sets of them from other values.
fn build(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let at = |position| operand(operands, position);
    Some(match operator {
        ToSet => super::function_sets::range(host, at(0)),
        ToBag => elements(host, "ToBag", at(0)).map(|it| {
            let mut copies = bags::Copies::new();
            it.slice.iter().for_each(|it| *copies.entry(it.clone()).or_default() += 1);
            bags::bag(copies)
        }),
        SetToSeq => finite_set(host, "SetToSeq", at(0)).map(Value::tuple),
        SetToSeqs => {
            finite_set(host, "SetToSeqs", at(0)).and_then(|it| Ok(Value::set(arrangements(&it))?))
        }
        SetToSortSeq => finite_set(host, "SetToSortSeq", at(0)).and_then(|it| sort(host, it)),
        SetToAllKPermutations => finite_set(host, "SetToAllKPermutations", at(0))
            .and_then(|it| Ok(Value::set(partial_arrangements(&it))?)),
        TupleOf => tuples(at(0), at(1)),
        SeqOf | BoundedSeq => bounded_sequences(host, at(0), at(1)),
        SeqMod => sequence_modulo(at(0), at(1)),
        FoldSeq => elements_of_function(host, at(2)).and_then(|it| folds::fold(host, 0, at(1), it)),
        FoldLeft => elements(host, "FoldLeft", at(2))
            .and_then(|it| fold_left(host, at(1), it.slice.to_vec())),
        FoldRight => elements(host, "FoldRight", at(1))
            .and_then(|it| folds::fold(host, 0, at(2), it.slice.iter().rev().cloned().collect())),
        FoldLeftDomain => elements(host, "FoldLeftDomain", at(2))
            .and_then(|it| fold_left(host, at(1), indices(&it))),
        FoldRightDomain => elements(host, "FoldRightDomain", at(1))
            .and_then(|it| folds::fold(host, 0, at(2), indices(&it).into_iter().rev().collect())),
        _ => return None,
    })
}

/// Operators that change sequences.
fn change(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let at = |position| operand(operands, position);
    Some(match operator {
        Reverse => elements(host, "Reverse", at(0))
            .map(|it| Value::tuple(it.slice.iter().rev().cloned().collect())),
        Remove => keep(host, "Remove", at(0), |it| it != at(1)),
        ReplaceAll => elements(host, "ReplaceAll", at(0)).map(|it| {
            let new = |it: &Value| if it == at(1) { at(2).clone() } else { it.clone() };
            Value::tuple(it.slice.iter().map(new).collect())
        }),
        InsertAt => splice(host, "InsertAt", [at(0), at(1)], 0, &[at(2)]),
        RemoveAt => splice(host, "RemoveAt", [at(0), at(1)], 1, &[]),
        ReplaceAt => elements(host, "ReplaceAt", at(0)).map(|it| {
            let sequence = Value::Tuple(it);
            match functions::index_of(&sequence, at(1)) {
                Some(index) => functions::replace(sequence, index, at(2).clone()),
                None => sequence,
            }
        }),
        RemoveFirst => remove_first(host, at(0), |_, it| Ok(it == at(1))),
        RemoveFirstMatch => remove_first(host, at(0), |host, it| is_match(host, 1, it)),
        Cons => elements(host, "Cons", at(1))
            .map(|it| Value::tuple(std::iter::once(at(0)).chain(&it.slice).cloned().collect())),
        Snoc => elements(host, "Snoc", at(0)).map(|it| {
            Value::tuple(it.slice.iter().chain(std::iter::once(at(1))).cloned().collect())
        }),
        Front => {
            elements(host, "Front", at(0)).map(|it| slice(&it, 0, it.slice.len().saturating_sub(1)))
        }
        Last => elements(host, "Last", at(0))
            .and_then(|it| it.slice.last().cloned().ok_or_else(|| out_of_range("Last", at(0)))),
        FlattenSeq => flatten(host, at(0)),
        Zip => zip(host, at(0), at(1)),
        Interleave => interleave(host, at(0), at(1)),
        _ => return None,
    })
}

/// Operators that search sequences.
fn test(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let at = |position| operand(operands, position);
    Some(match operator {
        IsSorted => is_sorted(host, at(0)),
        Contains => {
            elements(host, "Contains", at(0)).map(|it| Value::Bool(it.slice.contains(at(1))))
        }
        SelectInSeq => {
            elements(host, "SelectInSeq", at(0)).and_then(|it| find(host, 1, &it.slice, false))
        }
        SelectLastInSeq => {
            elements(host, "SelectLastInSeq", at(0)).and_then(|it| find(host, 1, &it.slice, true))
        }
        SelectInSubSeq => {
            window(host, "SelectInSubSeq", operands).and_then(|it| find(host, 3, &it, false))
        }
        SelectLastInSubSeq => {
            window(host, "SelectLastInSubSeq", operands).and_then(|it| find(host, 3, &it, true))
        }
        IsPrefix => pair(host, at(0), at(1)).map(|(one, two)| Value::Bool(two.starts_with(&one))),
        IsStrictPrefix => pair(host, at(0), at(1))
            .map(|(one, two)| Value::Bool(two.starts_with(&one) && one != two)),
        IsSuffix => pair(host, at(0), at(1)).map(|(one, two)| Value::Bool(two.ends_with(&one))),
        IsStrictSuffix => pair(host, at(0), at(1))
            .map(|(one, two)| Value::Bool(two.ends_with(&one) && one != two)),
        _ => return None,
    })
}

/// Operators on parts of sequences.
fn parts(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let at = |position| operand(operands, position);
    Some(match operator {
        Prefixes => elements(host, "Prefixes", at(0)).and_then(|it| Ok(Value::set(prefixes(&it))?)),
        CommonPrefixes => common_prefix(host, at(0)).and_then(|it| match it {
            Some(longest) => Ok(Value::set(prefixes(&longest))?),
            None => Ok(Value::empty_set()),
        }),
        LongestCommonPrefix => common_prefix(host, at(0)).and_then(|it| match it {
            Some(longest) => Ok(Value::Tuple(longest)),
            None => Err(out_of_range("LongestCommonPrefix", at(0))),
        }),
        Suffixes => elements(host, "Suffixes", at(0)).and_then(|it| {
            let length = it.slice.len();
            Ok(Value::set((0..=length).map(|from| slice(&it, from, length)).collect())?)
        }),
        SubSeqs => elements(host, "SubSeqs", at(0)).and_then(|it| {
            let length = it.slice.len();
            let windows = (0..=length).flat_map(|from| (from..=length).map(move |to| (from, to)));
            Ok(Value::set(windows.map(|(from, to)| slice(&it, from, to)).collect())?)
        }),
        AllSubSeqs => all_subsequences(host, at(0)),
        IndexFirstSubSeq => pair(host, at(0), at(1)).and_then(|(part, whole)| {
            position(&part, &whole)
                .map(|it| Value::Int(it as i32 + 1))
                .ok_or_else(|| out_of_range("IndexFirstSubSeq", at(0)))
        }),
        ReplaceSubSeqAt => replace_at(host, operands),
        ReplaceFirstSubSeq => replace_parts(host, [at(0), at(1), at(2)], true),
        ReplaceAllSubSeqs => replace_parts(host, [at(0), at(1), at(2)], false),
        _ => return None,
    })
}

fn elements(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    value: &Value,
) -> Outcome<Sequence> {
    sequences::sequence(host, operator, value)
}

fn pair(
    host: &mut dyn OperatorHost,
    left: &Value,
    right: &Value,
) -> Outcome<(Vec<Value>, Vec<Value>)> {
    let one = elements(host, "a comparison of sequences", left)?;
    let two = elements(host, "a comparison of sequences", right)?;
    Ok((one.slice.to_vec(), two.slice.to_vec()))
}

fn elements_of_function(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Vec<Value>> {
    let table = functions::table(host.closures(), "FoldSeq", value)?;
    Ok(functions::values(&table).unwrap_or_default().to_vec())
}

fn indices(sequence: &Sequence) -> Vec<Value> {
    (1..=sequence.slice.len() as i32).map(Value::Int).collect()
}

/// Returns all orders of values.
fn arrangements(values: &[Value]) -> Vec<Value> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let mut all = Vec::new();
    loop {
        all.push(Value::tuple(order.iter().map(|it| values[*it].clone()).collect()));
        if !functions::advance(&mut order) {
            return all;
        }
    }
}

/// Returns all sequences of distinct values.
fn partial_arrangements(values: &[Value]) -> Vec<Value> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    while from < all.len() {
        let to = all.len();
        for at in from..to {
            for value in values {
                if !all[at].contains(value) {
                    let mut longer: Vec<Value> = all[at].clone();
                    longer.push(value.clone());
                    all.push(longer);
                }
            }
        }
        from = to;
    }
    all.into_iter().map(Value::tuple).collect()
}

fn sort(host: &mut dyn OperatorHost, mut values: Vec<Value>) -> Outcome<Value> {
    for at in 1..values.len() {
        let mut to = at;
        while to > 0
            && boolean(
                "SetToSortSeq",
                &host.call(1, &[values[to].clone(), values[to - 1].clone()])?,
            )?
        {
            values.swap(to, to - 1);
            to -= 1;
        }
    }
    Ok(Value::tuple(values))
}

fn tuples(set: &Value, length: &Value) -> Outcome<Value> {
    let length = integer("TupleOf", length)?;
    Ok(sets::lazy(LazyValue::Functions(Value::Interval(1, length), set.clone())))
}

fn bounded_sequences(host: &mut dyn OperatorHost, set: &Value, length: &Value) -> Outcome<Value> {
    let length = integer("SeqOf", length)?;
    let mut all = Vec::new();
    for length in 0..=length {
        let tuples = tuples(set, &Value::Int(length))?;
        all.extend(list(host.closures(), &tuples)?);
    }
    Ok(Value::set(all)?)
}

fn sequence_modulo(left: &Value, right: &Value) -> Outcome<Value> {
    let rest = super::numbers::binary(StandardOperator::Modulo, left, right)?;
    Ok(if rest == Value::Int(0) { right.clone() } else { rest })
}

fn fold_left(host: &mut dyn OperatorHost, start: &Value, values: Vec<Value>) -> Outcome<Value> {
    let mut result = start.clone();
    for value in values {
        result = host.call(0, &[result, value])?;
    }
    Ok(result)
}

fn keep(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    value: &Value,
    keeps: impl Fn(&Value) -> bool,
) -> Outcome<Value> {
    let sequence = elements(host, operator, value)?;
    Ok(Value::tuple(sequence.slice.iter().filter(|it| keeps(it)).cloned().collect()))
}

/// Replaces `removed` elements at a position by others. The position may follow the last element only if nothing is
/// removed.
fn splice(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    operands: [&Value; 2],
    removed: usize,
    inserted: &[&Value],
) -> Outcome<Value> {
    let [value, position] = operands;
    let sequence = elements(host, operator, value)?;
    let index = i64::from(integer(operator, position)?) - 1;
    let limit = sequence.slice.len() as i64 - removed as i64;
    if index < 0 || index > limit {
        return Err(out_of_range(operator, value).with("position", position));
    }
    let (before, after) = sequence.slice.split_at(index as usize);
    let values = before.iter().chain(inserted.iter().copied()).chain(&after[removed..]);
    Ok(Value::tuple(values.cloned().collect()))
}

fn is_match(host: &mut dyn OperatorHost, position: usize, value: &Value) -> Outcome<bool> {
    boolean("a test of elements", &host.call(position, std::slice::from_ref(value))?)
}

fn remove_first(
    host: &mut dyn OperatorHost,
    value: &Value,
    matches: impl Fn(&mut dyn OperatorHost, &Value) -> Outcome<bool>,
) -> Outcome<Value> {
    let sequence = elements(host, "RemoveFirst", value)?;
    for (at, element) in sequence.slice.iter().enumerate() {
        if matches(host, element)? {
            let (before, after) = sequence.slice.split_at(at);
            return Ok(Value::tuple([before, &after[1..]].concat()));
        }
    }
    Ok(Value::Tuple(sequence))
}

/// Returns the index of the first or last element that the operator at `position` accepts, or 0.
fn find(
    host: &mut dyn OperatorHost,
    position: usize,
    values: &[Value],
    is_last: bool,
) -> Outcome<Value> {
    let mut found = 0;
    for (value, index) in values.iter().zip(1..) {
        if is_match(host, position, value)? {
            found = index;
            if !is_last {
                break;
            }
        }
    }
    Ok(Value::Int(found))
}

/// Returns the elements between two positions.
fn window(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    operands: &Operands,
) -> Outcome<Vec<Value>> {
    let value = operand(operands, 0);
    let sequence = elements(host, operator, value)?;
    let (from, to) = (operand(operands, 1), operand(operands, 2));
    let (first, last) = (integer(operator, from)?, integer(operator, to)?);
    if first > last {
        return Ok(Vec::new());
    }
    if first < 1 || i64::from(last) > sequence.slice.len() as i64 {
        return Err(out_of_range(operator, value).with("from", from).with("to", to));
    }
    Ok(sequence.slice[first as usize - 1..last as usize].to_vec())
}

fn is_sorted(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    let sequence = elements(host, "IsSorted", value)?;
    for (at, one) in sequence.slice.iter().enumerate() {
        for two in &sequence.slice[at + 1..] {
            if !boolean("IsSorted", &host.call(1, &[one.clone(), two.clone()])?)? {
                return Ok(Value::Bool(false));
            }
        }
    }
    Ok(Value::Bool(true))
}

fn flatten(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    let mut flat = Vec::new();
    for part in &elements(host, "FlattenSeq", value)?.slice {
        flat.extend(elements(host, "FlattenSeq", part)?.slice.iter().cloned());
    }
    Ok(Value::tuple(flat))
}

fn zip(host: &mut dyn OperatorHost, left: &Value, right: &Value) -> Outcome<Value> {
    let (one, two) = pair(host, left, right)?;
    let pairs = one.into_iter().zip(two).map(|(one, two)| Value::tuple(vec![one, two]));
    Ok(Value::tuple(pairs.collect()))
}

/// Interleaves two sequences of one length, each element as a sequence of its own.
fn interleave(host: &mut dyn OperatorHost, left: &Value, right: &Value) -> Outcome<Value> {
    let (one, two) = pair(host, left, right)?;
    if one.len() != two.len() {
        return Err(out_of_range("Interleave", left).with("value", right));
    }
    if one.is_empty() {
        return Ok(Value::tuple(vec![Value::tuple(one), Value::tuple(two)]));
    }
    let parts = one.into_iter().zip(two).flat_map(|(one, two)| [one, two]);
    Ok(Value::tuple(parts.map(|it| Value::tuple(vec![it])).collect()))
}

fn prefixes(sequence: &Sequence) -> Vec<Value> {
    (0..=sequence.slice.len()).map(|to| slice(sequence, 0, to)).collect()
}

/// Returns the longest common prefix of a set of sequences, or nothing if the set is empty.
fn common_prefix(host: &mut dyn OperatorHost, set: &Value) -> Outcome<Option<Sequence>> {
    let mut longest: Option<Vec<Value>> = None;
    for it in finite_set(host, "LongestCommonPrefix", set)? {
        let sequence = elements(host, "LongestCommonPrefix", &it)?;
        let prefix = longest.get_or_insert_with(|| sequence.slice.to_vec());
        let common = prefix.iter().zip(&sequence.slice).take_while(|it| it.0 == it.1).count();
        prefix.truncate(common);
    }
    Ok(longest.map(shared))
}

fn all_subsequences(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    let sequence = elements(host, "AllSubSeqs", value)?;
    let mut all = vec![Vec::new()];
    for element in &sequence.slice {
        let longer: Vec<Vec<Value>> = all
            .iter()
            .map(|it: &Vec<Value>| it.iter().chain(std::iter::once(element)).cloned().collect())
            .collect();
        all.extend(longer);
        all.sort_unstable();
        all.dedup();
    }
    Ok(Value::set(all.into_iter().map(Value::tuple).collect())?)
}

/// Returns the index of the first occurrence of a part, from 0.
fn position(part: &[Value], whole: &[Value]) -> Option<usize> {
    (0..=whole.len().checked_sub(part.len())?).find(|at| whole[*at..].starts_with(part))
}

fn replace_at(host: &mut dyn OperatorHost, operands: &Operands) -> Outcome<Value> {
    let at = |position| operand(operands, position);
    let (new, old) = pair(host, at(1), at(2))?;
    let whole = elements(host, "ReplaceSubSeqAt", at(3))?;
    let index = i64::from(integer("ReplaceSubSeqAt", at(0))?) - 1;
    if index < 0 || index + old.len() as i64 > whole.slice.len() as i64 {
        return Err(out_of_range("ReplaceSubSeqAt", at(3)).with("position", at(0)));
    }
    let (before, after) = whole.slice.split_at(index as usize);
    Ok(Value::tuple([before, &new, &after[old.len()..]].concat()))
}

/// Replaces the first or each occurrence of a part, from the left.
fn replace_parts(
    host: &mut dyn OperatorHost,
    operands: [&Value; 3],
    only_first: bool,
) -> Outcome<Value> {
    let [new, old, whole] = operands;
    let (new, old) = pair(host, new, old)?;
    let whole = elements(host, "a replacement", whole)?;
    let mut open = &whole.slice[..];
    let mut result = Vec::new();
    if old.is_empty() {
        if only_first {
            return Ok(Value::tuple([&new, open].concat()));
        }
        for it in open {
            result.extend(new.iter().chain(std::iter::once(it)).cloned());
        }
        return Ok(if open.is_empty() { Value::tuple(new) } else { Value::tuple(result) });
    }
    while let Some(at) = position(&old, open) {
        result.extend(open[..at].iter().chain(&new).cloned());
        open = &open[at + old.len()..];
        if only_first {
            break;
        }
    }
    result.extend(open.iter().cloned());
    Ok(Value::tuple(result))
}
