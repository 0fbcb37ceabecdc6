//! Formatting of numbers.

/// Formats a number with separated thousands: `26,997,501`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count with its noun: `1 step`, `2 steps`.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(number)) }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_separated() {
        let numbers = [0, 7, 999, 1000, 26_997_501, u64::MAX].map(grouped);
        let expected = ["0", "7", "999", "1,000", "26,997,501", "18,446,744,073,709,551,615"];
        assert_eq!(numbers, expected);
    }
}
