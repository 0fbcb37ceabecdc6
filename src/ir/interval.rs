//! Which values an operator can give, from those its operands can have (interval arithmetic, Moore
//! 1966): what makes checks and wrapping needless, and states narrower than their declarations.

use super::{Arithmetic, Binary};

/// Least and greatest value; none if the least is greater.
pub type Interval = (i64, i64);

/// The integers of an arithmetic.
pub fn integers(arithmetic: Arithmetic) -> Interval {
    match arithmetic {
        Arithmetic::Wrapping32 => (i32::MIN.into(), i32::MAX.into()),
        Arithmetic::Checked64 => (i64::MIN, i64::MAX),
    }
}

/// Least and greatest value of an operator on two ranges, before the program's arithmetic brings
/// it into its integers. Comparisons and logical operators are not asked about.
pub fn of_binary(operator: Binary, left: Interval, right: Interval) -> (i128, i128) {
    let [a, b, c, d] = [left.0, left.1, right.0, right.1].map(i128::from);
    match operator {
        Binary::Add => (a + c, b + d),
        Binary::Subtract => (a - d, b - c),
        Binary::Multiply => extremes([a * c, a * d, b * c, b * d]),
        Binary::Divide => {
            let most = a.abs().max(b.abs());
            if a >= 0 && c >= 0 { (0, b) } else { (-most, most) }
        }
        Binary::Remainder => {
            // The sign of the dividend, and less than the divisor.
            let most = (c.abs().max(d.abs()) - 1).max(0).min(a.abs().max(b.abs()));
            (if a >= 0 { 0 } else { -most }, if b <= 0 { 0 } else { most })
        }
        Binary::ShiftLeft => {
            let (least, most) = (c.clamp(0, 63) as u32, d.clamp(0, 63) as u32);
            extremes([a << least, a << most, b << least, b << most])
        }
        Binary::ShiftRight => {
            let (least, most) = (c.clamp(0, 63) as u32, d.clamp(0, 63) as u32);
            extremes([a >> least, a >> most, b >> least, b >> most])
        }
        Binary::BitAnd if a >= 0 || c >= 0 => {
            // The sign bit of a non-negative operand is clear, and so are the bits above its own.
            let highest = [(a, b), (c, d)].into_iter().filter(|range| range.0 >= 0);
            (0, highest.map(|range| range.1).min().unwrap_or_default())
        }
        _ => {
            // All values that need no more bits than the operands.
            let bits = [a, b, c, d].into_iter().map(needed_bits).max().unwrap_or_default();
            let most = (1i128 << bits) - 1;
            (if a < 0 || c < 0 { -most - 1 } else { 0 }, most)
        }
    }
}

fn extremes(values: [i128; 4]) -> (i128, i128) {
    let least = values.into_iter().min().unwrap_or_default();
    (least, values.into_iter().max().unwrap_or_default())
}

/// The bits of a two's complement integer without its sign.
fn needed_bits(value: i128) -> u32 {
    let magnitude = if value < 0 { !value } else { value };
    128 - magnitude.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn operators() -> impl Strategy<Value = Binary> {
        prop::sample::select(vec![
            Binary::Add,
            Binary::Subtract,
            Binary::Multiply,
            Binary::Divide,
            Binary::Remainder,
            Binary::BitAnd,
            Binary::BitOr,
            Binary::BitXor,
            Binary::ShiftLeft,
            Binary::ShiftRight,
        ])
    }

    fn range() -> impl Strategy<Value = (i64, i64)> {
        let end = prop_oneof![-20i64..20, any::<i32>().prop_map(i64::from), any::<i64>()];
        (end, prop_oneof![0i64..9, any::<u32>().prop_map(i64::from)])
            .prop_map(|(low, length)| (low, low.saturating_add(length)))
    }

    proptest! {
        #[test]
        fn results_are_within_the_range(
            operator in operators(),
            left in range(),
            right in range(),
            at in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            let pick = |(low, high): (i64, i64), at: prop::sample::Index| {
                let length = (high as i128 - low as i128 + 1).min(1 << 40) as usize;
                (low as i128 + at.index(length) as i128, high)
            };
            let ((left_value, _), (right_value, _)) = (pick(left, at.0), pick(right, at.1));
            let result = match operator {
                Binary::Add => left_value + right_value,
                Binary::Subtract => left_value - right_value,
                Binary::Multiply => left_value * right_value,
                Binary::Divide | Binary::Remainder if right_value == 0 => return Ok(()),
                Binary::Divide => left_value / right_value,
                Binary::Remainder => left_value % right_value,
                Binary::BitAnd => left_value & right_value,
                Binary::BitOr => left_value | right_value,
                Binary::BitXor => left_value ^ right_value,
                _ if !(0..64).contains(&right_value) => return Ok(()),
                Binary::ShiftLeft => left_value << right_value,
                _ => left_value >> right_value,
            };
            let (low, high) = of_binary(operator, left, right);
            prop_assert!((low..=high).contains(&result), "{result} beyond {low}..={high}");
        }
    }
}
