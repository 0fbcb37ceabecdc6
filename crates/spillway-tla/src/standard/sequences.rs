//! The module Sequences. `Len` and `\o` also take strings, as TLC's do.

use super::{
    Failure, FailureReason, Operands, OperatorHost, Outcome, boolean, integer, operand, sets,
};
use crate::library::StandardOperator;
use crate::value::{LazyValue, SharedValues, Value, shared};
use triomphe::ThinArc;

/// Calls an operator of this module.
pub fn call(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let first = || operand(operands, 0);
    let second = || operand(operands, 1);
    Some(match operator {
        Seq => seq(first()),
        Len => length(host, first()),
        Concat => concatenate(host, first(), second()),
        Append => append(host, first(), second()),
        Head => sequence(host, "Head", first()).and_then(|it| match it.slice.first() {
            Some(head) => Ok(head.clone()),
            None => Err(out_of_range("Head", first())),
        }),
        Tail => sequence(host, "Tail", first()).and_then(|it| match it.slice.len() {
            0 => Err(out_of_range("Tail", first())),
            length => Ok(slice(&it, 1, length)),
        }),
        SubSeq => subsequence(host, first(), second(), operand(operands, 2)),
        SelectSeq => select(host, first()),
        _ => return None,
    })
}

/// Returns the elements of a sequence.
///
/// # Errors
///
/// The value is no sequence.
pub fn sequence(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    value: &Value,
) -> Outcome<SharedValues> {
    if let Value::Tuple(it) = value {
        return Ok(it.clone());
    }
    match value {
        Value::Lazy(_) if !sets::is_set(value) => {
            let function = sets::normalise(host.closures(), value.clone())?;
            match function {
                Value::Tuple(it) => Ok(it),
                other => Err(Failure::wrong_kind(operator, "a sequence", &other)),
            }
        }
        other => Err(Failure::wrong_kind(operator, "a sequence", other)),
    }
}

/// Returns the failure of an operator that is not defined for a value.
pub fn out_of_range(operator: &'static str, value: &Value) -> Box<Failure> {
    Failure::new(FailureReason::OutOfRange { operator }).with("value", value)
}

/// Returns the elements from index `from` to before index `to`, both counted from 0.
pub fn slice(sequence: &SharedValues, from: usize, to: usize) -> Value {
    let values = sequence.slice[from..to].iter().cloned();
    Value::Tuple(ThinArc::from_header_and_iter((), values))
}

fn seq(base: &Value) -> Outcome<Value> {
    if !sets::is_set(base) {
        return Err(Failure::wrong_kind("Seq", "a set", base));
    }
    Ok(sets::lazy(LazyValue::Sequences(base.clone())))
}

fn length(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    let length = match value {
        Value::Str(it) => host.symbols().text(*it).encode_utf16().count(),
        other => sequence(host, "Len", other)?.slice.len(),
    };
    Ok(Value::Int(length as i32))
}

fn concatenate(host: &mut dyn OperatorHost, left: &Value, right: &Value) -> Outcome<Value> {
    if let (Value::Str(one), Value::Str(two)) = (left, right) {
        let symbols = host.symbols();
        let text = format!("{}{}", symbols.text(*one), symbols.text(*two));
        return Ok(Value::Str(symbols.computed(&text)));
    }
    let (one, two) = (sequence(host, "\\o", left)?, sequence(host, "\\o", right)?);
    match (one.slice.len(), two.slice.len()) {
        (_, 0) => Ok(Value::Tuple(one)),
        (0, _) => Ok(Value::Tuple(two)),
        _ => Ok(Value::Tuple(shared([&one.slice, &two.slice].concat()))),
    }
}

fn append(host: &mut dyn OperatorHost, left: &Value, right: &Value) -> Outcome<Value> {
    let sequence = sequence(host, "Append", left)?;
    let last = sets::component(host.closures(), right.clone())?;
    let length = sequence.slice.len();
    let mut last = Some(last);
    let values = (0..length + 1).map(|at| match sequence.slice.get(at) {
        Some(it) => it.clone(),
        None => last.take().expect("only the last index is beyond the sequence"),
    });
    Ok(Value::Tuple(ThinArc::from_header_and_iter((), values)))
}

fn subsequence(
    host: &mut dyn OperatorHost,
    value: &Value,
    from: &Value,
    to: &Value,
) -> Outcome<Value> {
    let sequence = sequence(host, "SubSeq", value)?;
    let (first, last) = (integer("SubSeq", from)?, integer("SubSeq", to)?);
    if first > last {
        return Ok(Value::tuple(Vec::new()));
    }
    if first < 1 || i64::from(last) > sequence.slice.len() as i64 {
        return Err(out_of_range("SubSeq", value).with("from", from).with("to", to));
    }
    Ok(slice(&sequence, first as usize - 1, last as usize))
}

fn select(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    let sequence = sequence(host, "SelectSeq", value)?;
    let mut kept = Vec::new();
    for element in &sequence.slice {
        if boolean("SelectSeq", &host.call(1, std::slice::from_ref(element))?)? {
            kept.push(element.clone());
        }
    }
    Ok(Value::tuple(kept))
}
