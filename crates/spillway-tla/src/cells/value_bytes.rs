//! Canonical values as bytes.
//!
//! The bytes name strings and model values by their text, so they do not depend on the numbers of symbols. Equal values
//! of one specification have equal bytes, and different values have different bytes. New values of a dictionary are
//! numbered in the order of their bytes.
//!
//! | tag | value | what follows |
//! | --- | --- | --- |
//! | 0, 1 | `FALSE`, `TRUE` | nothing |
//! | 2 | integer | 4 bytes, big-endian, with the sign bit inverted |
//! | 3 | string | length, UTF-8 |
//! | 4 | model value | length, UTF-8 of the name |
//! | 5 | set | size, elements in order |
//! | 6 | tuple | size, values |
//! | 7 | record | size, names as length and UTF-8, values |
//! | 8 | other function | size, arguments, values |
//!
//! Lengths and sizes are LEB128 numbers.

use crate::value::{ModelValue, Symbol, SymbolTable, Value, shared, shared_names};

/// The bytes of a value are not those of a canonical value of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueBytesError {
    /// The bytes end within the value.
    #[error("the bytes end within a value")]
    TooShort,
    /// No kind of value has this tag.
    #[error("no kind of value has the tag {0}")]
    UnknownTag(u8),
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    NotText,
    /// A number has too many bytes.
    #[error("a number has too many bytes")]
    NumberTooLong,
    /// The specification has no model value of this name.
    #[error("a model value does not occur in the specification")]
    UnknownModelValue,
    /// The value has another canonical form.
    #[error("a value is not in its canonical form")]
    NotCanonical,
}

/// Appends a LEB128 number.
pub(super) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the bytes of a canonical value.
///
/// # Panics
///
/// If the value is not canonical.
pub fn write_value(value: &Value, symbols: &SymbolTable, out: &mut Vec<u8>) {
    let write_text = |symbol: Symbol, out: &mut Vec<u8>| {
        let text = symbols.text(symbol);
        write_number(text.len() as u64, out);
        out.extend_from_slice(text.as_bytes());
    };
    let write_all = |values: &[Value], out: &mut Vec<u8>| {
        values.iter().for_each(|it| write_value(it, symbols, out));
    };
    let start = |tag: u8, size: usize, out: &mut Vec<u8>| {
        out.push(tag);
        write_number(size as u64, out);
    };
    match value {
        Value::Bool(it) => out.push(u8::from(*it)),
        Value::Int(it) => {
            out.push(2);
            out.extend_from_slice(&(*it as u32 ^ 1 << 31).to_be_bytes());
        }
        Value::Str(it) => {
            out.push(3);
            write_text(*it, out);
        }
        Value::Model(it) => {
            out.push(4);
            write_text(it.name, out);
        }
        Value::Set(it) => {
            start(5, it.slice.len(), out);
            write_all(&it.slice, out);
        }
        Value::Tuple(it) => {
            start(6, it.slice.len(), out);
            write_all(&it.slice, out);
        }
        Value::Record(it) => {
            start(7, it.slice.len(), out);
            it.header.header.slice.iter().for_each(|it| write_text(*it, out));
            write_all(&it.slice, out);
        }
        Value::Function(it) => {
            start(8, it.slice.len(), out);
            write_all(&it.header.header.slice, out);
            write_all(&it.slice, out);
        }
        Value::Interval(..) | Value::Lazy(_) => panic!("a state holds canonical values only"),
    }
}

/// Returns the bytes of a canonical value.
pub fn value_bytes(value: &Value, symbols: &SymbolTable) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_value(value, symbols, &mut bytes);
    bytes
}

/// Reads values from bytes.
pub struct ValueReader<'b> {
    bytes: &'b [u8],
    symbols: &'b SymbolTable,
}

impl<'b> ValueReader<'b> {
    /// Reads from the first byte. The symbol table is that of the specification, and complete.
    pub fn new(bytes: &'b [u8], symbols: &'b SymbolTable) -> Self {
        Self { bytes, symbols }
    }

    /// Returns whether all bytes have been read.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes that have not been read.
    pub fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Reads the next value.
    ///
    /// # Errors
    ///
    /// The bytes are not those of a canonical value of the specification.
    pub fn value(&mut self) -> Result<Value, ValueBytesError> {
        let tag = self.take(1)?[0];
        match tag {
            0 | 1 => Ok(Value::Bool(tag == 1)),
            2 => {
                let bytes = self.take(4)?.try_into().expect("four bytes");
                Ok(Value::Int((u32::from_be_bytes(bytes) ^ 1 << 31) as i32))
            }
            3 => Ok(Value::Str(self.symbol()?)),
            4 => {
                let text = self.text()?;
                let name = self.symbols.find(text).ok_or(ValueBytesError::UnknownModelValue)?;
                Ok(Value::Model(ModelValue::new(name, text)))
            }
            5 => {
                let elements = self.values()?;
                ascending(&elements).map(|()| Value::sorted_set(elements))
            }
            6 => Ok(Value::tuple(self.values()?)),
            7 => self.record(),
            8 => self.function(),
            tag => Err(ValueBytesError::UnknownTag(tag)),
        }
    }

    /// Reads a LEB128 number.
    ///
    /// # Errors
    ///
    /// The bytes end within it, or it is longer than 63 bits.
    pub fn number(&mut self) -> Result<u64, ValueBytesError> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(ValueBytesError::NumberTooLong)
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], ValueBytesError> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(ValueBytesError::TooShort)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn text(&mut self) -> Result<&'b str, ValueBytesError> {
        let length = self.size()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| ValueBytesError::NotText)
    }

    fn symbol(&mut self) -> Result<Symbol, ValueBytesError> {
        let text = self.text()?;
        Ok(self.symbols.computed(text))
    }

    /// Reads a number of items, each of which has at least one byte.
    fn size(&mut self) -> Result<usize, ValueBytesError> {
        let size = self.number()?;
        if size > self.bytes.len() as u64 {
            return Err(ValueBytesError::TooShort);
        }
        Ok(size as usize)
    }

    fn values(&mut self) -> Result<Vec<Value>, ValueBytesError> {
        let size = self.size()?;
        self.exactly(size)
    }

    fn exactly(&mut self, size: usize) -> Result<Vec<Value>, ValueBytesError> {
        (0..size).map(|_| self.value()).collect()
    }

    fn record(&mut self) -> Result<Value, ValueBytesError> {
        let size = self.size()?;
        let names = (0..size).map(|_| self.symbol()).collect::<Result<Vec<_>, _>>()?;
        let values = self.exactly(size)?;
        ascending(&names)?;
        match size {
            0 => Err(ValueBytesError::NotCanonical),
            _ => Ok(Value::record(shared_names(names), values)),
        }
    }

    fn function(&mut self) -> Result<Value, ValueBytesError> {
        let size = self.size()?;
        let arguments = self.exactly(size)?;
        let values = self.exactly(size)?;
        ascending(&arguments)?;
        match Value::function(shared(arguments), values) {
            it @ Value::Function(_) => Ok(it),
            _ => Err(ValueBytesError::NotCanonical),
        }
    }
}

fn ascending<T: Ord>(items: &[T]) -> Result<(), ValueBytesError> {
    let is_ascending = items.windows(2).all(|it| it[0] < it[1]);
    is_ascending.then_some(()).ok_or(ValueBytesError::NotCanonical)
}
