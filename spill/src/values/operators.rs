//! Operators on values that are a big-endian number or a set of bits.

use super::ValueOperator;

/// The least value.
#[derive(Clone, Copy, Debug)]
pub struct MinOperator;

/// The greatest value.
#[derive(Clone, Copy, Debug)]
pub struct MaxOperator;

/// The bits that all values have.
#[derive(Clone, Copy, Debug)]
pub struct AndOperator;

/// The bits that some value has.
#[derive(Clone, Copy, Debug)]
pub struct OrOperator;

/// The sum of all values, or the greatest possible number if the sum is greater. Saturation is associative, a sum that
/// fails is not. The operator is not idempotent: equal pairs all count.
#[derive(Clone, Copy, Debug)]
pub struct SumOperator;

impl ValueOperator for MinOperator {
    fn name(&self) -> String {
        "least".into()
    }

    #[inline]
    fn join(&self, kept: &mut [u8], other: &[u8]) {
        if *other < *kept {
            kept.copy_from_slice(other);
        }
    }

    fn is_idempotent(&self) -> bool {
        true
    }
}

impl ValueOperator for MaxOperator {
    fn name(&self) -> String {
        "greatest".into()
    }

    fn join(&self, kept: &mut [u8], other: &[u8]) {
        if *other > *kept {
            kept.copy_from_slice(other);
        }
    }

    fn is_idempotent(&self) -> bool {
        true
    }
}

impl ValueOperator for AndOperator {
    fn name(&self) -> String {
        "and".into()
    }

    fn join(&self, kept: &mut [u8], other: &[u8]) {
        kept.iter_mut().zip(other).for_each(|(kept, other)| *kept &= other);
    }

    fn is_idempotent(&self) -> bool {
        true
    }
}

impl ValueOperator for OrOperator {
    fn name(&self) -> String {
        "or".into()
    }

    fn join(&self, kept: &mut [u8], other: &[u8]) {
        kept.iter_mut().zip(other).for_each(|(kept, other)| *kept |= other);
    }

    fn is_idempotent(&self) -> bool {
        true
    }
}

impl ValueOperator for SumOperator {
    fn name(&self) -> String {
        "sum".into()
    }

    fn join(&self, kept: &mut [u8], other: &[u8]) {
        let mut carry = 0;
        for (kept, other) in kept.iter_mut().zip(other).rev() {
            let sum = u16::from(*kept) + u16::from(*other) + carry;
            (*kept, carry) = (sum as u8, sum >> 8);
        }
        if carry > 0 {
            kept.fill(0xff);
        }
    }

    fn is_idempotent(&self) -> bool {
        false
    }
}
