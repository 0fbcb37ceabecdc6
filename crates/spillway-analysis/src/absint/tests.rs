//! Comparison of the two domains on random expressions: a known value is in the range, and an expression without a
//! value may fail.

use super::{CheckedRange, Environment, KnownValue};
use spillway_base::random::SplitMix64;
use spillway_base::source::Span;
use spillway_ir::interval::Interval;
use spillway_ir::{
    Arithmetic, BinaryOp, ConversionPiece, Expr, ExprKind, LocalId, NumberConversion, Place,
    UnaryOp,
};

/// The number of locals in random expressions.
const LOCALS: usize = 3;

struct LocalRanges(Arithmetic, [Interval; LOCALS]);

struct LocalValues(Arithmetic, [i64; LOCALS]);

impl Environment for LocalRanges {
    type Value = CheckedRange;

    fn arithmetic(&self) -> Arithmetic {
        self.0
    }

    fn read(&mut self, _: &Place) -> CheckedRange {
        unreachable!("expressions have locals only")
    }

    fn local(&mut self, local: LocalId) -> CheckedRange {
        CheckedRange::exact(self.1[local.0 as usize])
    }

    fn query(&mut self, _: &Expr) -> CheckedRange {
        unreachable!("expressions ask nothing")
    }
}

impl Environment for LocalValues {
    type Value = KnownValue;

    fn arithmetic(&self) -> Arithmetic {
        self.0
    }

    fn read(&mut self, _: &Place) -> KnownValue {
        unreachable!("expressions have locals only")
    }

    fn local(&mut self, local: LocalId) -> KnownValue {
        KnownValue(Some(self.1[local.0 as usize]))
    }

    fn query(&mut self, _: &Expr) -> KnownValue {
        unreachable!("expressions ask nothing")
    }
}

fn pick<T: Copy>(random: &mut SplitMix64, of: &[T]) -> T {
    of[random.below(of.len())]
}

fn random_expr(random: &mut SplitMix64, depth: usize) -> Expr {
    let part = |random: &mut SplitMix64| Box::new(random_expr(random, depth - 1));
    let kind = match if depth == 0 { random.below(2) } else { random.below(8) } {
        0 => ExprKind::Local(LocalId(random.below(LOCALS) as u32)),
        1 => ExprKind::Constant(pick(random, &[-3, -1, 0, 1, 2, 5, 31, 40, 1 << 30])),
        2 => {
            let operator = pick(random, &[UnaryOp::Negate, UnaryOp::Not, UnaryOp::Complement]);
            ExprKind::Unary(operator, part(random))
        }
        3 => ExprKind::Conditional(part(random), part(random), part(random)),
        4 => {
            let pieces = vec![
                ConversionPiece { low: 4, high: 9, by: -4 },
                ConversionPiece { low: -2, high: 3, by: 10 },
            ];
            let operand = *part(random);
            ExprKind::Convert(Box::new(NumberConversion { operand, pieces }))
        }
        _ => ExprKind::Binary(pick(random, &BinaryOp::ALL), part(random), part(random)),
    };
    Expr::new(kind, Span::default())
}

#[test]
fn known_values_are_in_ranges_and_failures_are_predicted() {
    let mut random = SplitMix64::new(5);
    let ends = [i64::from(i32::MIN), -7, -1, 0, 1, 3, 8, 33, i64::from(i32::MAX)];
    let (mut narrow, mut infallible) = (0, 0);
    for _ in 0..20_000 {
        let arithmetic = pick(&mut random, &[Arithmetic::Wrapping32, Arithmetic::Checked64]);
        let expr = random_expr(&mut random, 3);
        let ranges: [Interval; LOCALS] = std::array::from_fn(|_| {
            let (one, other) = (pick(&mut random, &ends), pick(&mut random, &ends));
            (one.min(other), one.max(other))
        });
        let found = LocalRanges(arithmetic, ranges).value(&expr);
        let integers = arithmetic.integers();
        narrow += u32::from(found.range != integers);
        infallible += u32::from(!found.may_fail);
        for _ in 0..8 {
            let values = ranges.map(|(low, high)| {
                let near = [low, high, low.saturating_add(1).min(high)];
                pick(&mut random, &near)
            });
            match LocalValues(arithmetic, values).value(&expr) {
                KnownValue(Some(value)) => {
                    let is_in = found.range.0 <= value && value <= found.range.1;
                    assert!(is_in, "{value} of {expr:?} where {values:?} in {ranges:?}: {found:?}");
                }
                KnownValue(None) => {
                    assert!(found.may_fail, "{expr:?} fails for {values:?} in {ranges:?}");
                }
            }
        }
    }
    assert!(
        narrow > 5_000 && infallible > 5_000,
        "{narrow} are narrow, {infallible} are sure not to fail"
    );
}
