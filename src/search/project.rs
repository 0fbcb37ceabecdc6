//! When the keys of a search are projected, and on what.
//!
//! A search begins with the bits in which its initial states differ, and adds those of strangers at
//! the end of each level that has some. Strangers are common in the first levels, which are small,
//! and rare in the later ones: a model of two thousand bits has them in some fifty levels, and each
//! time only what is in memory is turned into the new form.

use super::Storage;
use spill::{Codec, Projection};
use std::sync::Arc;

/// Keys of up to so many bytes are a machine integer as they are.
const WHOLE_MAX: usize = 8;

/// Projected keys are to be at least so much shorter: at most these parts of so many.
const SHORTER: (usize, usize) = (3, 4);

/// The codec to begin with instead of the one asked for, if the initial states, of `whole` bytes each,
/// are `keys`.
pub(super) fn first(storage: &Storage, whole: usize, keys: &[u8]) -> Option<Codec> {
    match storage {
        Storage::Sorted(Codec::Gaps) if whole > WHOLE_MAX && !keys.is_empty() => {
            Some(worthwhile(Projection::of(whole, keys)))
        }
        _ => None,
    }
}

/// The codec that knows the strangers that `codec` does not, which differ in the bits `more`.
pub(super) fn wider(codec: &Codec, more: &[u8]) -> Codec {
    match codec.projection() {
        Some(projection) => worthwhile(projection.with(more)),
        None => codec.clone(),
    }
}

fn worthwhile(projection: Projection) -> Codec {
    let (parts, of) = SHORTER;
    if projection.width() * of <= projection.whole_width() * parts {
        Codec::Projected(Arc::new(projection))
    } else {
        Codec::Gaps
    }
}
