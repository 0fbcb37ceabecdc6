//! The modules FiniteSets, TLC and TLCExt.

use super::elements::list;
use super::{
    Failure, FailureReason, Operands, OperatorHost, Outcome, SearchStatistics, boolean, functions,
    operand, sequences, sets,
};
use crate::library::StandardOperator;
use crate::value::{SymbolTable, Value, shared};

/// Calls an operator of these modules.
pub fn call(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let first = || operand(operands, 0);
    let second = || operand(operands, 1);
    Some(match operator {
        IsFiniteSet => is_finite(first()),
        Cardinality => sets::cardinality(host.closures(), first()).map(Value::Int),
        Print => print(host, first()).map(|()| second().clone()),
        PrintT => print(host, first()).map(|()| Value::Bool(true)),
        Assert => assert(host, first(), second()),
        FunctionPair => pair(host, first(), second()),
        FunctionOverlay => functions::overlay(host.closures(), first().clone(), second().clone()),
        Permutations => functions::permutations(host.closures(), first()),
        SortSeq => sort(host, first()),
        ToString => {
            sets::component(host.closures(), first().clone()).map(|it| text(host.symbols(), &it))
        }
        TlcEval | TlcDefer | TlcNoOp => sets::component(host.closures(), first().clone()),
        TlcGet => get(host, first()),
        AssertEq => assert_equal(host, first(), second()),
        _ => return None,
    })
}

/// Returns the text of a value as a string value.
fn text(symbols: &SymbolTable, value: &Value) -> Value {
    Value::Str(symbols.computed(&value.text(symbols).to_string()))
}

fn is_finite(set: &Value) -> Outcome<Value> {
    if !sets::is_set(set) {
        return Err(Failure::wrong_kind("IsFiniteSet", "a set", set));
    }
    Ok(Value::Bool(!sets::is_infinite(set)))
}

/// Prints a value. A string is printed with its quotes, as TLC prints it.
fn print(host: &mut dyn OperatorHost, value: &Value) -> Outcome<()> {
    let line = value.text(host.symbols()).to_string();
    host.print(line);
    Ok(())
}

fn assert(host: &mut dyn OperatorHost, condition: &Value, message: &Value) -> Outcome<Value> {
    if boolean("Assert", condition)? {
        return Ok(Value::Bool(true));
    }
    let message = match message {
        Value::Str(it) => host.symbols().text(*it).to_owned(),
        other => other.text(host.symbols()).to_string(),
    };
    Err(Failure::new(FailureReason::Assertion { message }))
}

fn assert_equal(host: &mut dyn OperatorHost, left: &Value, right: &Value) -> Outcome<Value> {
    let is_equal = sets::equals(host.closures(), left, right)?;
    if !is_equal {
        let line =
            format!("{} is not equal to {}", left.text(host.symbols()), right.text(host.symbols()));
        host.print(line);
    }
    Ok(Value::Bool(is_equal))
}

fn pair(host: &mut dyn OperatorHost, argument: &Value, value: &Value) -> Outcome<Value> {
    let argument = sets::component(host.closures(), argument.clone())?;
    let value = sets::component(host.closures(), value.clone())?;
    Ok(functions::pair(argument, value))
}

/// Insertion sort by the operator, which returns whether its first argument precedes its second. If the operator is not
/// an order, the algorithm of TLC determines the result.
fn sort(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    let mut sorted = sequences::sequence(host, "SortSeq", value)?.slice.to_vec();
    for at in 1..sorted.len() {
        let mut to = at;
        while to > 0
            && boolean("SortSeq", &host.call(1, &[sorted[to].clone(), sorted[to - 1].clone()])?)?
        {
            sorted.swap(to, to - 1);
            to -= 1;
        }
    }
    Ok(Value::tuple(sorted))
}

/// The argument for which `TLCGet` returns the level of a state.
const LEVEL: &str = "level";

fn get(host: &mut dyn OperatorHost, key: &Value) -> Outcome<Value> {
    match key {
        Value::Str(it) if host.symbols().text(*it) == LEVEL => match host.level() {
            Some(level) => Ok(Value::Int(level as i32)),
            None => Err(Failure::unsupported("TLCGet(\"level\"), which states do not keep,")),
        },
        Value::Str(it) if let Some(statistics) = host.statistics() => {
            match statistic(statistics, host.symbols(), host.symbols().text(*it)) {
                Some(value) => value,
                None => Err(Failure::unsupported("TLCGet").with("argument", key)),
            }
        }
        _ => Err(Failure::unsupported("TLCGet, except TLCGet(\"level\"),").with("argument", key)),
    }
}

/// Returns a count of a search by its name, or the record of all. Nothing if there is none of this name.
fn statistic(
    statistics: SearchStatistics,
    symbols: &SymbolTable,
    name: &str,
) -> Option<Outcome<Value>> {
    let SearchStatistics { distinct, generated, initial, diameter } = statistics;
    let counts = [
        ("diameter", diameter),
        ("distinct", distinct),
        ("generated", generated),
        ("initial", initial),
        ("queue", 0),
    ];
    let count = |count: u64| match i32::try_from(count) {
        Ok(count) => Ok(Value::Int(count)),
        Err(_) => Err(Failure::new(FailureReason::Overflow { operator: "TLCGet" })),
    };
    if name == "stats" {
        let mut fields = counts.map(|(name, it)| (Value::Str(symbols.computed(name)), it));
        fields.sort_by(|one, two| one.0.cmp(&two.0));
        let values = fields.iter().map(|it| count(it.1)).collect::<Outcome<_>>();
        let names = fields.into_iter().map(|it| it.0).collect();
        return Some(values.map(|values| Value::function(shared(names), values)));
    }
    // TLC has it in the record only.
    let known = counts.iter().find(|it| it.0 == name && name != "initial");
    known.map(|(_, it)| count(*it))
}

/// Returns the elements of a finite set, which an operator needs.
///
/// # Errors
///
/// The value is no finite set.
pub fn finite_set(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    set: &Value,
) -> Outcome<Vec<Value>> {
    if !sets::is_set(set) {
        return Err(Failure::wrong_kind(operator, "a finite set", set));
    }
    list(host.closures(), set)
}
