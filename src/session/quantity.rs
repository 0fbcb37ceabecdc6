//! Sizes and times in the notation of users: `64MiB`, `10min`.

use serde::{Deserialize, Deserializer, Serializer, de};
use std::time::Duration;
use thiserror::Error;

/// The reason why a text is no size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// The text is not a number and a unit.
    #[error("expected a size such as 64MiB or 4G")]
    Malformed,
    /// The size has no unit. A bare number is rejected, since a user who writes 64 means 64 MiB.
    #[error("a size has a unit: {0}MiB, {0}GiB, or {0}B for bytes")]
    WithoutUnit(String),
}

/// A malformed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a time such as 30s, 10min or 2h")]
pub struct DurationError;

/// The units of sizes in bytes.
const SIZE_UNITS: [(&str, f64); 13] = [
    ("B", 1.0),
    ("K", 1024.0),
    ("KiB", 1024.0),
    ("KB", 1e3),
    ("M", 1048576.0),
    ("MiB", 1048576.0),
    ("MB", 1e6),
    ("G", 1073741824.0),
    ("GiB", 1073741824.0),
    ("GB", 1e9),
    ("T", 1099511627776.0),
    ("TiB", 1099511627776.0),
    ("TB", 1e12),
];

/// The units of times in seconds. A number without a unit counts seconds.
const TIME_UNITS: [(&str, f64); 8] = [
    ("", 1.0),
    ("ms", 0.001),
    ("s", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("h", 3600.0),
    ("d", 86400.0),
    ("sec", 1.0),
];

/// Parses a size in bytes: `64MiB`, `64M`, `2GB`, `4096B`.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let (number, unit) = split_unit(text);
    let bytes: f64 = number.parse().map_err(|_| SizeError::Malformed)?;
    if unit.is_empty() {
        return Err(SizeError::WithoutUnit(text.trim().to_owned()));
    }
    let known = SIZE_UNITS.iter().find(|it| it.0.eq_ignore_ascii_case(unit));
    let (_, scale) = known.ok_or(SizeError::Malformed)?;
    Ok((bytes * scale) as u64)
}

/// Parses a time: `30s`, `10min`, `1.5h`, `2d`. Without a unit it is in seconds.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let (number, unit) = split_unit(text);
    let (_, scale) = TIME_UNITS.iter().find(|(name, _)| *name == unit).ok_or(DurationError)?;
    let number: f64 = number.parse().map_err(|_| DurationError)?;
    let time = Duration::try_from_secs_f64(number * scale).map_err(|_| DurationError)?;
    // The rounding error of the product is below a microsecond.
    let microseconds = Duration::from_nanos(u64::from(time.subsec_nanos()) + 500).as_micros();
    let whole = Duration::from_secs(time.as_secs());
    whole.checked_add(Duration::from_micros(microseconds as u64)).ok_or(DurationError)
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let is_digit = |it: char| it.is_ascii_digit() || it == '.' || it == '_';
    let end = text.find(|it| !is_digit(it)).unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

/// Formats a size in the largest binary unit that divides it: `64MiB`.
pub fn format_size(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];
    let divides = |shift: u32| bytes.is_multiple_of(1 << shift);
    let (unit, shift) = units.into_iter().find(|it| divides(it.1)).unwrap_or(("B", 0));
    match bytes {
        0 => "0B".into(),
        _ => format!("{}{unit}", bytes >> shift),
    }
}

/// Formats a time in the largest unit that divides it: `10min`, `1500ms`.
pub fn format_duration(time: Duration) -> String {
    let milliseconds = time.as_millis();
    let units = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)];
    let divides = |unit: &u128| milliseconds > 0 && milliseconds.is_multiple_of(*unit);
    let (unit, scale) = units.into_iter().find(|it| divides(&it.1)).unwrap_or(("ms", 1));
    format!("{}{unit}", milliseconds / scale)
}

/// Generates modules that read and write a value as text.
macro_rules! serde_as_text {
    ($($module:ident, $optional:ident, $value:ty, $parse:ident, $format:ident;)*) => {$(
        pub(super) mod $module {
            use super::*;

            pub(in crate::session) fn serialize<S: Serializer>(
                value: &$value,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&$format(*value))
            }

            pub(in crate::session) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$value, D::Error> {
                $parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }

        pub(super) mod $optional {
            use super::*;

            pub(in crate::session) fn serialize<S: Serializer>(
                value: &Option<$value>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                match value {
                    Some(value) => serializer.serialize_some(&$format(*value)),
                    None => serializer.serialize_none(),
                }
            }

            pub(in crate::session) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<$value>, D::Error> {
                let text = Option::<String>::deserialize(deserializer)?;
                text.map(|it| $parse(&it)).transpose().map_err(de::Error::custom)
            }
        }
    )*};
}

serde_as_text! {
    size, optional_size, u64, parse_size, format_size;
    time, optional_time, Duration, parse_duration, format_duration;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("4096B"), Ok(4096));
        assert_eq!(parse_size("64MiB"), Ok(64 << 20));
        assert_eq!((parse_size("64M"), parse_size("4G")), (Ok(64 << 20), Ok(4 << 30)));
        assert_eq!(parse_size("1.5 gib"), Ok(3 << 29));
        assert_eq!(parse_size("2GB"), Ok(2_000_000_000));
        assert!(["lots", "1Q", ""].iter().all(|it| parse_size(it) == Err(SizeError::Malformed)));
        let why = parse_size("64").unwrap_err().to_string();
        assert!(why.contains("64MiB") && why.contains("64B"), "{why}");
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("10min"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(parse_duration("soon").is_err() && parse_duration("-1s").is_err());
        assert_eq!(format_duration(Duration::from_secs(600)), "10min");
        assert_eq!(format_size(3 << 29), "1536MiB");
    }

    proptest! {
        #[test]
        fn formatted_quantities_are_parsed_back(bytes in 0..1_u64 << 50, milliseconds in 0..1_u64 << 40) {
            prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
            let time = Duration::from_millis(milliseconds);
            prop_assert_eq!(parse_duration(&format_duration(time)), Ok(time));
        }
    }
}
