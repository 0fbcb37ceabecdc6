//! Conversion of states to values for reports, by serde.

use super::StateValue;
use serde::ser::{self, Serialize};
use std::fmt::{Debug, Display};

/// Returns a state as variables: the fields of a struct, or else one variable for the whole state.
pub(super) fn variables<S: Serialize + Debug>(state: &S) -> Vec<(String, StateValue)> {
    match state.serialize(ValueSerializer) {
        Ok(StateValue::Record(fields)) => fields,
        Ok(value) => vec![("state".into(), value)],
        Err(UnsupportedValue) => vec![("state".into(), format!("{state:?}").into())],
    }
}

/// The error for types without a value.
#[derive(Debug)]
struct UnsupportedValue;

impl std::error::Error for UnsupportedValue {}

impl Display for UnsupportedValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("there is no word for it")
    }
}

impl ser::Error for UnsupportedValue {
    fn custom<T: Display>(_: T) -> Self {
        UnsupportedValue
    }
}

/// Converts serialized data to a value.
struct ValueSerializer;

/// Collects the elements of a sequence.
struct SequenceSerializer {
    all: Vec<StateValue>,
    /// Their variant, if they belong to one.
    variant: Option<&'static str>,
}

/// Collects named fields.
struct FieldSerializer {
    all: Vec<(String, StateValue)>,
    variant: Option<&'static str>,
}

impl SequenceSerializer {
    fn of(variant: Option<&'static str>) -> Result<SequenceSerializer, UnsupportedValue> {
        Ok(SequenceSerializer { all: Vec::new(), variant })
    }

    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnsupportedValue> {
        self.all.push(value.serialize(ValueSerializer)?);
        Ok(())
    }

    fn finish(self) -> Result<StateValue, UnsupportedValue> {
        Ok(match self.variant {
            None => StateValue::Array(0, self.all),
            Some(variant) => {
                let all: Vec<String> = self.all.iter().map(StateValue::to_string).collect();
                format!("{variant}({})", all.join(", ")).into()
            }
        })
    }
}

impl FieldSerializer {
    fn of(variant: Option<&'static str>) -> Result<FieldSerializer, UnsupportedValue> {
        Ok(FieldSerializer { all: Vec::new(), variant })
    }

    fn add<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<(), UnsupportedValue> {
        self.all.push((name.into(), value.serialize(ValueSerializer)?));
        Ok(())
    }

    fn finish(self) -> Result<StateValue, UnsupportedValue> {
        let record = StateValue::Record(self.all);
        Ok(match self.variant {
            None => record,
            Some(variant) => format!("{variant} {record}").into(),
        })
    }
}

/// Returns a number as such if it fits, or as text.
fn number<N: Copy + Display + TryInto<i64>>(number: N) -> Result<StateValue, UnsupportedValue> {
    Ok(number.try_into().map_or_else(|_| number.to_string().into(), StateValue::Number))
}

macro_rules! told_by {
    ($($method:ident($type:ty) $with:expr;)*) => {$(
        fn $method(self, value: $type) -> Result<StateValue, UnsupportedValue> {
            $with(value)
        }
    )*};
}

impl ser::Serializer for ValueSerializer {
    type Ok = StateValue;
    type Error = UnsupportedValue;
    type SerializeSeq = SequenceSerializer;
    type SerializeTuple = SequenceSerializer;
    type SerializeTupleStruct = SequenceSerializer;
    type SerializeTupleVariant = SequenceSerializer;
    type SerializeMap = FieldSerializer;
    type SerializeStruct = FieldSerializer;
    type SerializeStructVariant = FieldSerializer;

    told_by! {
        serialize_bool(bool) |it| Ok(StateValue::Truth(it));
        serialize_i8(i8) number;
        serialize_i16(i16) number;
        serialize_i32(i32) number;
        serialize_i64(i64) number;
        serialize_i128(i128) number;
        serialize_u8(u8) number;
        serialize_u16(u16) number;
        serialize_u32(u32) number;
        serialize_u64(u64) number;
        serialize_u128(u128) number;
        serialize_f32(f32) |it: f32| Ok(it.to_string().into());
        serialize_f64(f64) |it: f64| Ok(it.to_string().into());
        serialize_char(char) |it: char| Ok(it.to_string().into());
        serialize_str(&str) |it: &str| Ok(it.into());
        serialize_unit_struct(&'static str) |it: &str| Ok(it.into());
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<StateValue, UnsupportedValue> {
        Ok(StateValue::Array(0, bytes.iter().map(|it| StateValue::Number((*it).into())).collect()))
    }

    fn serialize_none(self) -> Result<StateValue, UnsupportedValue> {
        Ok("None".into())
    }

    fn serialize_some<T: Serialize + ?Sized>(
        self,
        value: &T,
    ) -> Result<StateValue, UnsupportedValue> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<StateValue, UnsupportedValue> {
        Ok("()".into())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<StateValue, UnsupportedValue> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<StateValue, UnsupportedValue> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<StateValue, UnsupportedValue> {
        let mut one = SequenceSerializer::of(Some(variant))?;
        one.add(value)?;
        one.finish()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<SequenceSerializer, UnsupportedValue> {
        SequenceSerializer::of(None)
    }

    fn serialize_tuple(self, _: usize) -> Result<SequenceSerializer, UnsupportedValue> {
        SequenceSerializer::of(None)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<SequenceSerializer, UnsupportedValue> {
        SequenceSerializer::of(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<SequenceSerializer, UnsupportedValue> {
        SequenceSerializer::of(Some(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<FieldSerializer, UnsupportedValue> {
        FieldSerializer::of(None)
    }

    fn serialize_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<FieldSerializer, UnsupportedValue> {
        FieldSerializer::of(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<FieldSerializer, UnsupportedValue> {
        FieldSerializer::of(Some(variant))
    }
}

macro_rules! gathers {
    ($($trait:ident $method:ident),*) => {$(
        impl ser::$trait for SequenceSerializer {
            type Ok = StateValue;
            type Error = UnsupportedValue;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnsupportedValue> {
                self.add(value)
            }

            fn end(self) -> Result<StateValue, UnsupportedValue> {
                self.finish()
            }
        }
    )*};
}

gathers! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

macro_rules! gathers_named {
    ($($trait:ident),*) => {$(
        impl ser::$trait for FieldSerializer {
            type Ok = StateValue;
            type Error = UnsupportedValue;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), UnsupportedValue> {
                self.add(name, value)
            }

            fn end(self) -> Result<StateValue, UnsupportedValue> {
                self.finish()
            }
        }
    )*};
}

gathers_named! { SerializeStruct, SerializeStructVariant }

impl ser::SerializeMap for FieldSerializer {
    type Ok = StateValue;
    type Error = UnsupportedValue;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), UnsupportedValue> {
        self.all.push((key.serialize(ValueSerializer)?.to_string(), StateValue::Undefined));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), UnsupportedValue> {
        let told = value.serialize(ValueSerializer)?;
        if let Some(last) = self.all.last_mut() {
            last.1 = told;
        }
        Ok(())
    }

    /// Returns the elements by key.
    fn end(self) -> Result<StateValue, UnsupportedValue> {
        Ok(StateValue::Table(self.all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[derive(Debug, serde::Serialize)]
    enum Message {
        Stop,
        Take(u8),
        Both(u8, i8),
        Ack { to: u8, done: bool },
    }

    #[derive(Debug, serde::Serialize)]
    struct State {
        at: u8,
        far: u128,
        net: BTreeSet<u8>,
        sent: Vec<Message>,
        held: BTreeMap<(u8, char), Option<&'static str>>,
    }

    #[test]
    fn structs_become_one_variable_per_field_and_other_values_one() {
        use Message::{Ack, Both, Stop, Take};
        let sent = vec![Stop, Take(4), Both(1, -1), Ack { to: 2, done: true }];
        let held = BTreeMap::from([((1, 'x'), None), ((2, 'y'), Some("lock"))]);
        let state = State { at: 3, far: u128::MAX, net: BTreeSet::from([5, 6]), sent, held };
        let variable_texts: Vec<String> = variables(&state)
            .into_iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let expected = [
            "at = 3",
            "far = 340282366920938463463374607431768211455",
            "net = [5, 6]",
            "sent = [Stop, Take(4), Both(1, -1), Ack {to: 2, done: true}]",
            "held = [[1, x]: None, [2, y]: lock]",
        ];
        assert_eq!(variable_texts, expected);
        assert_eq!(
            variables(&(1, false)),
            [("state".into(), StateValue::Array(0, vec![1.into(), false.into()]))]
        );
    }
}
