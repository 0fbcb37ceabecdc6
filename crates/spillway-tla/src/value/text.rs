//! Values in TLA+ syntax, as TLC prints them.

use super::{InfiniteSet, LazyValue, SymbolTable, Value};
use std::fmt;

/// A value as TLA+ text: `{1, 2}`, `[a |-> 1]`, `<<>>`, `(x :> 1 @@ y :> 2)`.
#[derive(Clone, Copy)]
pub struct ValueText<'v> {
    value: &'v Value,
    symbols: &'v SymbolTable,
}

impl Value {
    /// Returns the value as TLA+ text.
    pub fn text<'v>(&'v self, symbols: &'v SymbolTable) -> ValueText<'v> {
        ValueText { value: self, symbols }
    }
}

/// Returns a string as a TLA+ string literal.
pub fn quote(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for it in text.chars() {
        match it {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\t' => literal.push_str("\\t"),
            '\n' => literal.push_str("\\n"),
            '\u{c}' => literal.push_str("\\f"),
            '\r' => literal.push_str("\\r"),
            it => literal.push(it),
        }
    }
    literal.push('"');
    literal
}

impl ValueText<'_> {
    fn of<'v>(&'v self, value: &'v Value) -> ValueText<'v> {
        ValueText { value, symbols: self.symbols }
    }

    fn write_list(&self, f: &mut fmt::Formatter<'_>, values: &[Value]) -> fmt::Result {
        for (at, value) in values.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{}", self.of(value))?;
        }
        Ok(())
    }

    fn write_function(
        &self,
        f: &mut fmt::Formatter<'_>,
        domain: &[Value],
        values: &[Value],
    ) -> fmt::Result {
        f.write_str("(")?;
        for (at, (argument, value)) in domain.iter().zip(values).enumerate() {
            let operator = if at == 0 { "" } else { " @@ " };
            write!(f, "{operator}{} :> {}", self.of(argument), self.of(value))?;
        }
        f.write_str(")")
    }

    fn write_lazy(&self, f: &mut fmt::Formatter<'_>, lazy: &LazyValue) -> fmt::Result {
        match lazy {
            LazyValue::Infinite(it) => f.write_str(match it {
                InfiniteSet::Nat => "Nat",
                InfiniteSet::Int => "Int",
                InfiniteSet::String => "STRING",
                InfiniteSet::Any => "ANY",
            }),
            LazyValue::Sequences(it) => write!(f, "Seq({})", self.of(it)),
            LazyValue::Subsets(it) => write!(f, "SUBSET {}", self.of(it)),
            LazyValue::Functions(domain, range) => {
                write!(f, "[{} -> {}]", self.of(domain), self.of(range))
            }
            LazyValue::Records(fields) => {
                f.write_str("[")?;
                for (at, (name, set)) in fields.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{}: {}", self.symbols.text(*name), self.of(set))?;
                }
                f.write_str("]")
            }
            LazyValue::Product(sets) => {
                for (at, set) in sets.iter().enumerate() {
                    let times = if at == 0 { "" } else { " \\X " };
                    write!(f, "{times}{}", self.of(set))?;
                }
                Ok(())
            }
            LazyValue::Cup(one, two) => write!(f, "({} \\cup {})", self.of(one), self.of(two)),
            LazyValue::Cap(one, two) => write!(f, "({} \\cap {})", self.of(one), self.of(two)),
            LazyValue::Difference(one, two) => {
                write!(f, "({} \\ {})", self.of(one), self.of(two))
            }
            LazyValue::Union(it) => write!(f, "UNION {}", self.of(it)),
            LazyValue::Filter(set, _) => write!(f, "{{x \\in {} : <expression>}}", self.of(set)),
            LazyValue::Function(domain, _) => {
                write!(f, "[x \\in {} |-> <expression>]", self.of(domain))
            }
        }
    }
}

impl fmt::Display for ValueText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Bool(true) => f.write_str("TRUE"),
            Value::Bool(false) => f.write_str("FALSE"),
            Value::Int(it) => write!(f, "{it}"),
            Value::Str(it) => f.write_str(&quote(self.symbols.text(*it))),
            Value::Model(it) => f.write_str(self.symbols.text(it.name)),
            Value::Set(it) => {
                f.write_str("{")?;
                self.write_list(f, &it.slice)?;
                f.write_str("}")
            }
            Value::Tuple(it) => {
                f.write_str("<<")?;
                self.write_list(f, &it.slice)?;
                f.write_str(">>")
            }
            Value::Record(it) => {
                f.write_str("[")?;
                for (at, (name, value)) in it.header.header.slice.iter().zip(&it.slice).enumerate()
                {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{} |-> {}", self.symbols.text(*name), self.of(value))?;
                }
                f.write_str("]")
            }
            Value::Function(it) => self.write_function(f, &it.header.header.slice, &it.slice),
            Value::Interval(low, high) => write!(f, "{low}..{high}"),
            Value::Lazy(it) => self.write_lazy(f, it),
        }
    }
}
