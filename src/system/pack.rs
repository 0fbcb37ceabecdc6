//! States as bytes of one length.

/// A value that is always as many bytes: those of equal values are equal, those of others are not.
pub trait Pack: Clone {
    /// How many bytes it takes.
    const BYTES: usize;

    /// Writes it to `bytes`, which are [`Pack::BYTES`].
    fn pack(&self, bytes: &mut [u8]);

    /// Reads it back from what [`Pack::pack`] wrote. Other bytes may give any value, but must not panic.
    fn unpack(bytes: &[u8]) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Pack for $integer {
            const BYTES: usize = size_of::<$integer>();

            fn pack(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_be_bytes());
            }

            fn unpack(bytes: &[u8]) -> Self {
                <$integer>::from_be_bytes(bytes.try_into().expect("a value has its length"))
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

impl Pack for bool {
    const BYTES: usize = 1;

    fn pack(&self, bytes: &mut [u8]) {
        bytes[0] = u8::from(*self);
    }

    fn unpack(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
}

impl<T: Pack> Pack for Option<T> {
    const BYTES: usize = 1 + T::BYTES;

    fn pack(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        if let Some(value) = self {
            bytes[0] = 1;
            value.pack(&mut bytes[1..]);
        }
    }

    fn unpack(bytes: &[u8]) -> Self {
        (bytes[0] != 0).then(|| T::unpack(&bytes[1..]))
    }
}

impl<T: Pack, const N: usize> Pack for [T; N] {
    const BYTES: usize = N * T::BYTES;

    fn pack(&self, bytes: &mut [u8]) {
        for (at, value) in self.iter().enumerate() {
            value.pack(&mut bytes[at * T::BYTES..][..T::BYTES]);
        }
    }

    fn unpack(bytes: &[u8]) -> Self {
        std::array::from_fn(|at| T::unpack(&bytes[at * T::BYTES..][..T::BYTES]))
    }
}

impl Pack for () {
    const BYTES: usize = 0;

    fn pack(&self, _: &mut [u8]) {}

    fn unpack(_: &[u8]) -> Self {}
}

macro_rules! tuples {
    ($(($($name:ident),*))*) => {$(
        impl<$($name: Pack),*> Pack for ($($name,)*) {
            const BYTES: usize = 0 $(+ $name::BYTES)*;

            #[allow(non_snake_case, unused_mut, unused_variables, unused_assignments)]
            fn pack(&self, mut bytes: &mut [u8]) {
                let ($($name,)*) = self;
                $(
                    let (own, rest) = bytes.split_at_mut($name::BYTES);
                    $name.pack(own);
                    bytes = rest;
                )*
            }

            #[allow(unused_mut, unused_variables, unused_assignments)]
            fn unpack(mut bytes: &[u8]) -> Self {
                ($({
                    let (own, rest) = bytes.split_at($name::BYTES);
                    bytes = rest;
                    $name::unpack(own)
                },)*)
            }
        }
    )*};
}

tuples! {
    (A)
    (A, B)
    (A, B, C)
    (A, B, C, D)
    (A, B, C, D, E)
    (A, B, C, D, E, F)
    (A, B, C, D, E, F, G)
    (A, B, C, D, E, F, G, H)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn comes_back<T: Pack + PartialEq + std::fmt::Debug>(value: &T) -> Result<(), TestCaseError> {
        let mut bytes = vec![0xa5; T::BYTES];
        value.pack(&mut bytes);
        prop_assert_eq!(&T::unpack(&bytes), value);
        Ok(())
    }

    proptest! {
        #[test]
        fn values_come_back(
            integers in any::<(u8, i16, u32, i64, u128)>(),
            others in any::<(bool, Option<u16>, [i8; 3], Option<[Option<bool>; 2]>)>(),
            rest in any::<(u16, i32, u64, i128)>(),
            unit in any::<()>(),
        ) {
            comes_back(&integers)?;
            comes_back(&others)?;
            comes_back(&(rest, unit, integers))?;
        }

        #[test]
        fn other_values_have_other_bytes(
            one in any::<(Option<u8>, [bool; 2], i16)>(),
            other in any::<(Option<u8>, [bool; 2], i16)>(),
        ) {
            let bytes = |value: &(Option<u8>, [bool; 2], i16)| {
                let mut bytes = vec![0xff; <(Option<u8>, [bool; 2], i16)>::BYTES];
                value.pack(&mut bytes);
                bytes
            };
            prop_assert_eq!(one == other, bytes(&one) == bytes(&other));
        }
    }
}
