//! Quantities in the notation of users: durations, ages, rates, and shares.

use crate::search::memory_plan::ByteCount;
use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The size in bytes from which a budget is shown in GiB.
const GIB_FROM: u64 = 4 << 30;

/// Formats hours, minutes and seconds: `0:02:14`.
pub(super) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}:{:02}", seconds / HOUR, seconds % HOUR / MINUTE, seconds % MINUTE)
}

/// Formats an approximate duration in one unit: `12 s`, `14 min`, `5 h`, `3 days`.
pub(super) fn rough_duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..MINUTE => format!("{seconds} s"),
        seconds @ MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        seconds if seconds < 2 * DAY => format!("{} h", seconds / HOUR),
        seconds => format!("{} days", seconds / DAY),
    }
}

/// Formats an approximate duration, given in seconds.
pub(super) fn rough_seconds(seconds: f64) -> String {
    rough_duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Formats a number with two or three digits: `950`, `8.1 k`, `1.3 M`.
pub(super) fn short(number: f64) -> String {
    rate(number).trim_end_matches("/s").to_owned()
}

/// Formats a rate: `950/s`, `8.1 k/s`, `1.3 M/s`.
pub(super) fn rate(each_second: f64) -> String {
    let thousands = [("", 1.0), (" k", 1e3), (" M", 1e6), (" G", 1e9)];
    // A number that would be rounded to 1000 of a unit uses the next unit.
    let fits = |(_, size): &(&str, f64)| each_second >= 0.9995 * size;
    let (unit, size) = thousands.into_iter().rev().find(fits).unwrap_or(("", 1.0));
    let number = each_second / size;
    match unit {
        "" => format!("{number:.0}/s"),
        _ if number < 9.95 => format!("{number:.1}{unit}/s"),
        _ => format!("{number:.0}{unit}/s"),
    }
}

/// Formats bytes of a budget: `82/128 MiB`.
pub(super) fn share(bytes: u64, budget: u64) -> String {
    let mib = |bytes: u64| bytes as f64 / (1 << 20) as f64;
    match budget < GIB_FROM {
        true => format!("{:.0}/{:.0} MiB", mib(bytes), mib(budget)),
        false => format!("{:.1}/{:.1} GiB", mib(bytes) / 1024.0, mib(budget) / 1024.0),
    }
}

/// Returns a percentage, at most 100.
pub(super) fn percent(part: u64, whole: u64) -> u64 {
    (u128::from(part.min(whole)) * 100 / u128::from(whole.max(1))) as u64
}

/// Formats bytes: `1.2 GiB`.
pub(super) fn size(bytes: u64) -> String {
    let together = ByteCount(bytes).to_string();
    let digits = together.find(|it: char| it.is_ascii_alphabetic()).unwrap_or(together.len());
    let (number, unit) = together.split_at(digits);
    format!("{number} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_hours_minutes_and_seconds() {
        let told = |seconds| clock(Duration::from_secs(seconds));
        assert_eq!(told(0), "0:00:00");
        assert_eq!(told(134), "0:02:14");
        assert_eq!(told(100 * HOUR + 59 * MINUTE + 59), "100:59:59");
    }

    #[test]
    fn rough_durations_have_one_unit() {
        let told = |seconds| rough_duration(Duration::from_secs(seconds));
        for (seconds, words) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (HOUR - 1, "59 min"),
            (HOUR, "1 h"),
            (2 * DAY - 1, "47 h"),
            (2 * DAY, "2 days"),
            (400 * DAY, "400 days"),
        ] {
            assert_eq!(told(seconds), words);
        }
    }

    #[test]
    fn rates_have_two_or_three_digits() {
        for (number, words) in [
            (0.2, "0/s"),
            (950.0, "950/s"),
            (999.4, "999/s"),
            (999.6, "1.0 k/s"),
            (8_149.0, "8.1 k/s"),
            (9_960.0, "10 k/s"),
            (812_000.0, "812 k/s"),
            (999_700.0, "1.0 M/s"),
            (1_340_000.0, "1.3 M/s"),
            (27e6, "27 M/s"),
            (3e9, "3.0 G/s"),
        ] {
            assert_eq!(rate(number), words, "{number}");
        }
    }

    #[test]
    fn shares_are_in_percent() {
        let told = [(0, 0), (1, 3), (9, 3), (u64::MAX / 2, u64::MAX), (u64::MAX, u64::MAX)];
        assert_eq!(told.map(|(part, whole)| percent(part, whole)), [0, 33, 100, 49, 100]);
    }

    #[test]
    fn memory_is_shown_with_its_budget_and_disk_alone() {
        assert_eq!(share(82 << 20, 128 << 20), "82/128 MiB");
        assert_eq!(share(400 << 20, 1 << 30), "400/1024 MiB");
        assert_eq!(share(3 << 30, 12 << 30), "3.0/12.0 GiB");
        assert_eq!([0, 5 << 19, 1 << 30].map(size), ["0 B", "2.5 MiB", "1 GiB"]);
    }
}
