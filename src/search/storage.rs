//! How the states of a search are stored.

use super::Control;
use super::awake::Awake;
use super::comback::{self, Settings, TAG};
use super::order::sample::Sample;
use crate::exec::Model;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Codec, Frequencies, Huffman, Result, SavedCodec, Tables, Values};
use std::sync::Arc;

/// How the states of a search are stored.
#[derive(Clone)]
pub enum Storage {
    /// As sorted runs, which the codec writes.
    Sorted(Codec),
    /// As hashes and back-edges.
    Comback(Settings),
}

/// What a job and a manifest remember of how states are stored.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum SavedStorage {
    /// As sorted runs.
    Sorted(SavedCodec),
    /// As hashes and back-edges.
    Comback(Settings),
}

impl Default for Storage {
    fn default() -> Self {
        Storage::Sorted(Codec::Gaps)
    }
}

impl Storage {
    /// What is remembered.
    pub fn saved(&self) -> SavedStorage {
        match self {
            Storage::Sorted(codec) => SavedStorage::Sorted(codec.saved()),
            Storage::Comback(settings) => SavedStorage::Comback(*settings),
        }
    }

    /// What lies behind the state of a candidate.
    pub(super) fn values(&self) -> Option<Values> {
        match self {
            Storage::Sorted(_) => None,
            Storage::Comback(_) => Some(comback::tags()),
        }
    }

    /// Bytes before a state where a manifest speaks of one.
    pub fn tag_bytes(&self) -> usize {
        match self {
            Storage::Sorted(_) => 0,
            Storage::Comback(_) => TAG,
        }
    }

    /// A model as it is searched, if steps of it can be asleep and there is room to tell which.
    pub(super) fn awake<'m>(&self, model: &'m dyn Model) -> Option<Awake<'m>> {
        match self {
            Storage::Sorted(codec) => Awake::of(model, codec),
            Storage::Comback(_) => None,
        }
    }

    /// Bytes of a state of a model as it is stored, with what lies before or behind it.
    pub fn stored_width(&self, model: &dyn Model) -> usize {
        self.awake(model).map_or(model.width() + self.tag_bytes(), |awake| awake.width())
    }

    /// As flags and reports call it.
    pub fn name(&self) -> &'static str {
        match self {
            Storage::Sorted(codec) => codec.name(),
            Storage::Comback(_) => "comback",
        }
    }
}

impl SavedStorage {
    /// What was remembered, for states of `width` bytes; none if there is no such.
    pub fn restore(&self, width: usize) -> Option<Storage> {
        match self {
            SavedStorage::Sorted(codec) => Codec::restore(codec, width).map(Storage::Sorted),
            SavedStorage::Comback(settings) => {
                settings.are_possible().then_some(Storage::Comback(*settings))
            }
        }
    }

    /// Bytes before a state where a manifest speaks of one.
    pub fn tag_bytes(&self) -> usize {
        match self {
            SavedStorage::Sorted(_) => 0,
            SavedStorage::Comback(_) => TAG,
        }
    }

    /// As flags and reports call it.
    pub fn name(&self) -> &'static str {
        match self {
            SavedStorage::Sorted(SavedCodec::Gaps) => "sorted",
            SavedStorage::Sorted(SavedCodec::Raw) => "raw",
            SavedStorage::Sorted(SavedCodec::Rle) => "rle",
            SavedStorage::Sorted(SavedCodec::Huffman { .. }) => "huffman",
            SavedStorage::Comback(_) => "comback",
        }
    }
}

/// A Huffman codec for the states of `model`, trained on the first levels and some deeper states.
/// Nothing here depends on time or chance: the same model gets the same codes.
/// It is an error if the model fails. Once told to stop it means nothing.
pub fn trained(model: &dyn Model, tables: Tables, control: &Control) -> Result<Codec> {
    let (sample, _) = Sample::take_or_all(model, control)?;
    let states = [sample.early, sample.deep].concat();
    let frequencies = Frequencies::of(model.width(), &states);
    Ok(Codec::Huffman(Arc::new(Huffman::train(&frequencies, tables))))
}
