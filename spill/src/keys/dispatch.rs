//! From a width, known when a program runs, to the shape, for which code is compiled.

/// Evaluates `$packed` with `$shape` bound to the integer shape of `$width` bytes, or, for wider
/// keys, `$wide` with `$shape` bound to `Wide`.
macro_rules! for_packed {
    ($width:expr, $shape:ident => $packed:expr, else $wide:expr) => {{
        use $crate::keys::{Medium, Narrow, Wide};
        macro_rules! with {
            ($kind:expr) => {{
                let $shape = $kind;
                $packed
            }};
        }
        match $width {
            0 => panic!("a key has at least one byte"),
            1 => with!(Narrow::<1>),
            2 => with!(Narrow::<2>),
            3 => with!(Narrow::<3>),
            4 => with!(Narrow::<4>),
            5 => with!(Narrow::<5>),
            6 => with!(Narrow::<6>),
            7 => with!(Narrow::<7>),
            8 => with!(Narrow::<8>),
            9 => with!(Medium::<9>),
            10 => with!(Medium::<10>),
            11 => with!(Medium::<11>),
            12 => with!(Medium::<12>),
            13 => with!(Medium::<13>),
            14 => with!(Medium::<14>),
            15 => with!(Medium::<15>),
            16 => with!(Medium::<16>),
            width => {
                let $shape = Wide(width);
                $wide
            }
        }
    }};
}

/// Of keys that fit no integer, evaluates `$packed` with `$shape` bound to the shape of `$width` bytes
/// with numbers of several, or, for wider keys, `$wide`.
macro_rules! for_long {
    ($width:expr, $shape:ident => $packed:expr, else $wide:expr) => {{
        use $crate::keys::Long;
        match $width {
            width @ 17..=32 => {
                let $shape = Long::<2>(width);
                $packed
            }
            width @ 33..=64 => {
                let $shape = Long::<4>(width);
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
