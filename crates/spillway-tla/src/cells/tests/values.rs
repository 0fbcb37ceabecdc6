//! Values in their canonical bytes.

use super::random_values::{symbols, value_type};
use crate::cells::{ValueBytesError, ValueReader, value_bytes};
use crate::value::Value;
use proptest::prelude::*;
use spillway_base::random::SplitMix64;

proptest! {
    #[test]
    fn values_are_read_back(kind in value_type(), seed in any::<u64>()) {
        let (symbols, mut random) = (symbols(), SplitMix64::new(seed));
        let values: Vec<_> = (0..10).map(|_| kind.value(&symbols, &mut random)).collect();
        let mut bytes = Vec::new();
        values.iter().for_each(|it| crate::cells::write_value(it, &symbols, &mut bytes));
        let mut reader = ValueReader::new(&bytes, &symbols);
        for value in &values {
            let read = reader.value();
            prop_assert_eq!(read.as_ref(), Ok(value));
        }
        prop_assert!(reader.is_empty());
        for (one, two) in values.iter().zip(&values[1..]) {
            prop_assert_eq!(one == two, value_bytes(one, &symbols) == value_bytes(two, &symbols));
        }
    }

    #[test]
    fn damaged_values_are_refused_or_canonical(kind in value_type(), seed in any::<u64>(), at in any::<usize>(), byte in any::<u8>()) {
        let symbols = symbols();
        let mut bytes = value_bytes(&kind.value(&symbols, &mut SplitMix64::new(seed)), &symbols);
        let at = at % bytes.len();
        bytes[at] = byte;
        let mut reader = ValueReader::new(&bytes, &symbols);
        if let Ok(value) = reader.value() {
            // A number may have been written with more bytes than it needs.
            let again = value_bytes(&value, &symbols);
            prop_assert_eq!(ValueReader::new(&again, &symbols).value(), Ok(value));
        }
        let end = bytes.len() - 1;
        let _ = ValueReader::new(&bytes[..end], &symbols).value();
    }
}

#[test]
fn values_that_are_not_canonical_are_refused() {
    let symbols = symbols();
    let read = |bytes: &[u8]| ValueReader::new(bytes, &symbols).value();
    let one = value_bytes(&Value::Int(1), &symbols);
    let two = value_bytes(&Value::Int(2), &symbols);
    let encoding =
        |tag: u8, size: u8, parts: &[&[u8]]| [&[tag, size], parts.concat().as_slice()].concat();
    assert!(read(&encoding(5, 2, &[&one, &two])).is_ok());
    assert_eq!(read(&encoding(5, 2, &[&two, &one])), Err(ValueBytesError::NotCanonical));
    assert_eq!(read(&encoding(5, 2, &[&one, &one])), Err(ValueBytesError::NotCanonical));
    // The function with domain 1..1 is a tuple.
    assert_eq!(read(&encoding(8, 1, &[&one, &two])), Err(ValueBytesError::NotCanonical));
    assert!(read(&encoding(8, 1, &[&two, &two])).is_ok());
    assert_eq!(read(&encoding(7, 0, &[])), Err(ValueBytesError::NotCanonical));
    assert_eq!(read(&[9]), Err(ValueBytesError::UnknownTag(9)));
    assert_eq!(read(&[3, 1, 0xff]), Err(ValueBytesError::NotText));
    assert_eq!(read(&[4, 1, b'q']), Err(ValueBytesError::UnknownModelValue));
    assert_eq!(read(&[5, 0xff, 0xff, 0xff, 0x7f]), Err(ValueBytesError::TooShort));
    assert_eq!(
        read(&[5, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]),
        Err(ValueBytesError::NumberTooLong)
    );
}
