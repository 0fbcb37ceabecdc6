//! The community modules Json, CSV and IOUtils, as far as they read. Nothing is written.

use super::{
    Failure, FailureReason, Operands, OperatorHost, Outcome, functions, operand, sequences, sets,
};
use crate::library::StandardOperator;
use crate::value::{SymbolTable, Value, shared_names};
use serde_json::{Map, Value as Json};

/// Calls an operator of these modules.
pub fn call(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let at = |position| operand(operands, position);
    Some(match operator {
        IoEnv => environment(host),
        IoAtoi => number(host, at(0)),
        ToJson => write(host, at(0), json),
        ToJsonArray => write(host, at(0), json_array),
        ToJsonObject => write(host, at(0), json_object),
        JsonDeserialize => read(host, "JsonDeserialize", at(0))
            .and_then(|text| parse(host.symbols(), "JsonDeserialize", &text)),
        NdJsonDeserialize => read(host, "ndJsonDeserialize", at(0)).and_then(|text| {
            let lines = text.lines().filter(|it| !it.trim().is_empty());
            let values = lines.map(|it| parse(host.symbols(), "ndJsonDeserialize", it));
            Ok(Value::tuple(values.collect::<Outcome<_>>()?))
        }),
        CsvRead => read_records(host, at(0), at(1), at(2)),
        CsvRecords => read_if_exists(host, "CSVRecords", at(0))
            .map(|it| Value::Int(it.lines().count() as i32)),
        _ => return None,
    })
}

fn string<'h>(
    host: &'h dyn OperatorHost,
    operator: &'static str,
    value: &Value,
) -> Outcome<&'h str> {
    match value {
        Value::Str(it) => Ok(host.symbols().text(*it)),
        other => Err(Failure::wrong_kind(operator, "a string", other)),
    }
}

fn file_failure(operator: &'static str, message: impl ToString) -> Box<Failure> {
    Failure::new(FailureReason::File { operator, message: message.to_string() })
}

fn read(host: &mut dyn OperatorHost, operator: &'static str, path: &Value) -> Outcome<String> {
    let path = string(host, operator, path)?;
    std::fs::read_to_string(path).map_err(|it| file_failure(operator, format!("{path}: {it}")))
}

/// Reads a file. A file that does not exist is empty, as in TLC.
fn read_if_exists(
    host: &mut dyn OperatorHost,
    operator: &'static str,
    path: &Value,
) -> Outcome<String> {
    let name = string(host, operator, path)?;
    if std::path::Path::new(name).exists() { read(host, operator, path) } else { Ok(String::new()) }
}

/// Returns the environment variables as a record.
fn environment(host: &mut dyn OperatorHost) -> Outcome<Value> {
    let variables: Vec<_> =
        host.environment().iter().map(|it| (it.0.clone(), it.1.clone())).collect();
    let symbols = host.symbols();
    let fields = variables
        .iter()
        .map(|(name, value)| (symbols.computed(name), Value::Str(symbols.computed(value))));
    Ok(record(fields.collect()))
}

/// Returns a record of fields in any order, an empty function if there are none.
fn record(mut fields: Vec<(crate::value::Symbol, Value)>) -> Value {
    if fields.is_empty() {
        return Value::tuple(Vec::new());
    }
    fields.sort_by_key(|it| it.0);
    fields.dedup_by_key(|it| it.0);
    let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    Value::record(shared_names(names), values)
}

fn number(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Value> {
    match string(host, "atoi", value)?.parse() {
        Ok(number) => Ok(Value::Int(number)),
        Err(_) => Err(Failure::wrong_kind("atoi", "the digits of an integer", value)),
    }
}

fn parse(symbols: &SymbolTable, operator: &'static str, text: &str) -> Outcome<Value> {
    let json: Json = serde_json::from_str(text).map_err(|it| file_failure(operator, it))?;
    value(symbols, operator, &json)
}

fn value(symbols: &SymbolTable, operator: &'static str, json: &Json) -> Outcome<Value> {
    Ok(match json {
        Json::Bool(it) => Value::Bool(*it),
        Json::String(it) => Value::Str(symbols.computed(it)),
        Json::Number(it) => match it.as_i64().map(i32::try_from) {
            Some(Ok(it)) => Value::Int(it),
            _ => return Err(file_failure(operator, format!("{it} is no integer of 32 bits"))),
        },
        Json::Array(all) => {
            let all = all.iter().map(|it| value(symbols, operator, it));
            Value::tuple(all.collect::<Outcome<_>>()?)
        }
        Json::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| {
                Ok((symbols.computed(name), value(symbols, operator, field)?))
            });
            record(fields.collect::<Outcome<_>>()?)
        }
        Json::Null => return Err(file_failure(operator, "null is no value")),
    })
}

fn write(
    host: &mut dyn OperatorHost,
    value: &Value,
    json: fn(&SymbolTable, &Value) -> Outcome<Json>,
) -> Outcome<Value> {
    let value = sets::component(host.closures(), value.clone())?;
    let symbols = host.symbols();
    let text = json(symbols, &value)?.to_string();
    Ok(Value::Str(symbols.computed(&text)))
}

fn json(symbols: &SymbolTable, value: &Value) -> Outcome<Json> {
    Ok(match value {
        Value::Bool(it) => Json::Bool(*it),
        Value::Int(it) => Json::from(*it),
        Value::Str(it) => Json::from(symbols.text(*it)),
        Value::Model(it) => Json::from(symbols.text(it.name)),
        Value::Record(_) | Value::Function(_) => json_object(symbols, value)?,
        other => json_array(symbols, other)?,
    })
}

fn json_array(symbols: &SymbolTable, value: &Value) -> Outcome<Json> {
    let elements = match value {
        Value::Set(it) | Value::Tuple(it) => &it.slice,
        Value::Record(_) | Value::Function(_) => return json_object(symbols, value),
        other => return Err(Failure::wrong_kind("ToJsonArray", "a set or sequence", other)),
    };
    Ok(Json::Array(elements.iter().map(|it| json(symbols, it)).collect::<Outcome<_>>()?))
}

/// The keys of a sequence count from 0, as TLC's do.
fn json_object(symbols: &SymbolTable, value: &Value) -> Outcome<Json> {
    let Some(values) = functions::values(value) else {
        return Err(Failure::wrong_kind("ToJsonObject", "a function", value));
    };
    let mut object = Map::new();
    for (at, (argument, field)) in
        functions::domain_list(value).slice.iter().zip(values).enumerate()
    {
        let key = match argument {
            Value::Str(it) => symbols.text(*it).to_owned(),
            _ if matches!(value, Value::Tuple(_)) => at.to_string(),
            other => other.text(symbols).to_string(),
        };
        object.insert(key, json(symbols, field)?);
    }
    Ok(Json::Object(object))
}

fn read_records(
    host: &mut dyn OperatorHost,
    columns: &Value,
    delimiter: &Value,
    path: &Value,
) -> Outcome<Value> {
    let text = read_if_exists(host, "CSVRead", path)?;
    let columns = sequences::sequence(host, "CSVRead", columns)?;
    let delimiter = string(host, "CSVRead", delimiter)?;
    let mut records = Vec::new();
    for line in text.lines() {
        let mut fields = Vec::new();
        let mut values = line.split(delimiter);
        for column in &columns.slice {
            let (Value::Str(name), Some(value)) = (column, values.next()) else {
                return Err(file_failure("CSVRead", format!("`{line}` lacks a column")));
            };
            fields.push((*name, Value::Str(host.symbols().computed(value))));
        }
        records.push(record(fields));
    }
    Ok(Value::tuple(records))
}
