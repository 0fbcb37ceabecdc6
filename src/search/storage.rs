//! How the states of a search are stored.

use super::SearchControl;
use super::comback::{self, CombackSettings, TAG};
use super::key_order::sample::StateSample;
use super::sleep_store::SleepSetModel;
use crate::model::StateSpace;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{ByteFrequencies, Codec, HuffmanCode, HuffmanTables, Result, SavedCodec, ValueSpec};
use std::sync::Arc;

/// How the states of a search are stored.
#[derive(Clone)]
pub enum StateStorage {
    /// As sorted runs, which the codec writes.
    Sorted(Codec),
    /// As hashes and back-edges.
    Comback(CombackSettings),
}

/// What a job and a manifest remember of how states are stored.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum SavedStorage {
    /// As sorted runs.
    Sorted(SavedCodec),
    /// As hashes and back-edges.
    Comback(CombackSettings),
}

impl Default for StateStorage {
    fn default() -> Self {
        StateStorage::Sorted(Codec::Gaps)
    }
}

impl StateStorage {
    /// What is remembered.
    pub fn saved(&self) -> SavedStorage {
        match self {
            StateStorage::Sorted(codec) => SavedStorage::Sorted(codec.saved()),
            StateStorage::Comback(settings) => SavedStorage::Comback(*settings),
        }
    }

    /// What lies behind the state of a candidate.
    pub(super) fn values(&self) -> Option<ValueSpec> {
        match self {
            StateStorage::Sorted(_) => None,
            StateStorage::Comback(_) => Some(comback::tags()),
        }
    }

    /// Bytes before a state where a manifest speaks of one.
    pub fn tag_bytes(&self) -> usize {
        match self {
            StateStorage::Sorted(_) => 0,
            StateStorage::Comback(_) => TAG,
        }
    }

    /// A model as it is searched, if steps of it can be asleep and there is room to tell which.
    pub(super) fn sleep_set_model<'m>(
        &self,
        model: &'m dyn StateSpace,
    ) -> Option<SleepSetModel<'m>> {
        match self {
            StateStorage::Sorted(codec) => SleepSetModel::of(model, codec),
            StateStorage::Comback(_) => None,
        }
    }

    /// Bytes of a state of a model as it is stored, with what lies before or behind it.
    pub fn stored_width(&self, model: &dyn StateSpace) -> usize {
        self.sleep_set_model(model).map_or(model.width() + self.tag_bytes(), |awake| awake.width())
    }

    /// As flags and reports call it.
    pub fn name(&self) -> &'static str {
        match self {
            StateStorage::Sorted(codec) => codec.name(),
            StateStorage::Comback(_) => "comback",
        }
    }
}

impl SavedStorage {
    /// What was remembered, for states of `width` bytes; none if there is no such.
    pub fn restore(&self, width: usize) -> Option<StateStorage> {
        match self {
            SavedStorage::Sorted(codec) => Codec::restore(codec, width).map(StateStorage::Sorted),
            SavedStorage::Comback(settings) => {
                settings.are_possible().then_some(StateStorage::Comback(*settings))
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
pub fn train_codec(
    model: &dyn StateSpace,
    tables: HuffmanTables,
    control: &SearchControl,
) -> Result<Codec> {
    let (sample, _) = StateSample::take_or_all(model, control)?;
    let states = [sample.early, sample.deep].concat();
    let frequencies = ByteFrequencies::of_keys(model.width(), &states);
    Ok(Codec::Huffman(Arc::new(HuffmanCode::train(&frequencies, tables))))
}
