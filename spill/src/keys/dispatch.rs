//! Dispatch from a width, known at run time, to the shape for which code is compiled.

/// Evaluates `$packed` with `$shape` bound to the integer shape of `$width` bytes, or, for wider keys, `$wide` with
/// `$shape` bound to `Wide`.
macro_rules! for_packed {
    ($width:expr, $shape:ident => $packed:expr, else $wide:expr) => {{
        use $crate::keys::{MediumShape, NarrowShape, WideShape};
        macro_rules! with {
            ($kind:expr) => {{
                let $shape = $kind;
                $packed
            }};
        }
        match $width {
            0 => panic!("a key has at least one byte"),
            1 => with!(NarrowShape::<1>),
            2 => with!(NarrowShape::<2>),
            3 => with!(NarrowShape::<3>),
            4 => with!(NarrowShape::<4>),
            5 => with!(NarrowShape::<5>),
            6 => with!(NarrowShape::<6>),
            7 => with!(NarrowShape::<7>),
            8 => with!(NarrowShape::<8>),
            9 => with!(MediumShape::<9>),
            10 => with!(MediumShape::<10>),
            11 => with!(MediumShape::<11>),
            12 => with!(MediumShape::<12>),
            13 => with!(MediumShape::<13>),
            14 => with!(MediumShape::<14>),
            15 => with!(MediumShape::<15>),
            16 => with!(MediumShape::<16>),
            width => {
                let $shape = WideShape(width);
                $wide
            }
        }
    }};
}

/// For keys that fit no integer, evaluates `$packed` with `$shape` bound to the shape of `$width` bytes as several
/// integers, or, for wider keys, `$wide`.
macro_rules! for_long {
    ($width:expr, $shape:ident => $packed:expr, else $wide:expr) => {{
        use $crate::keys::LongShape;
        match $width {
            width @ 17..=32 => {
                let $shape = LongShape::<2>(width);
                $packed
            }
            width @ 33..=64 => {
                let $shape = LongShape::<4>(width);
                $packed
            }
            _ => $wide,
        }
    }};
}

/// Evaluates `$body` with `$shape` bound to the `Shape` of `$width` bytes.
macro_rules! for_shape {
    ($width:expr, $shape:ident => $body:expr) => {
        $crate::keys::for_packed!($width, $shape => $body, else {
            $crate::keys::for_long!($width, $shape => $body, else $body)
        })
    };
}

pub(crate) use {for_long, for_packed, for_shape};
