//! The storage of states of a search.

use super::SearchControl;
use super::comback::{self, CombackSettings, TAG};
use super::key_order::sample::StateSample;
use super::sleep_store::SleepSetModel;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{
    ByteFrequencies, Codec, HuffmanCode, HuffmanTables, Result, SavedCodec, ValueSpec, WIDTH_MAX,
};
use spillway_model::{BACK_EDGE_BYTES, StateSpace};
use std::sync::Arc;

/// The representation of the states of a search.
#[derive(Clone)]
pub enum StateStorage {
    /// Sorted runs with this codec.
    Sorted(Codec),
    /// Hashes and back-edges.
    Comback(CombackSettings),
}

/// The storage of states cannot identify them by views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The kind of storage.
    #[error("VIEW identifies states by a value, which the store `{0}` does not support")]
    Storage(&'static str),
    /// States with their back-edges are too wide.
    #[error("states with their views have {found} bytes, but a search stores at most {WIDTH_MAX}")]
    Width {
        /// The bytes that are needed.
        found: usize,
    },
}

/// The storage as a job and a manifest encode it.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum SavedStorage {
    /// Sorted runs.
    Sorted(SavedCodec),
    /// Hashes and back-edges.
    Comback(CombackSettings),
}

impl Default for StateStorage {
    fn default() -> Self {
        StateStorage::Sorted(Codec::Gaps)
    }
}

impl StateStorage {
    /// Returns the encoded storage.
    pub fn saved(&self) -> SavedStorage {
        match self {
            StateStorage::Sorted(codec) => SavedStorage::Sorted(codec.saved()),
            StateStorage::Comback(settings) => SavedStorage::Comback(*settings),
        }
    }

    /// Returns the value that follows the state of a candidate.
    pub(super) fn values(&self) -> Option<ValueSpec> {
        match self {
            StateStorage::Sorted(_) => None,
            StateStorage::Comback(_) => Some(comback::tags()),
        }
    }

    /// Returns the bytes before the state of a model in the manifest.
    pub fn tag_bytes(&self, model: &dyn StateSpace) -> usize {
        match self {
            StateStorage::Sorted(_) if model.capabilities().views.is_some() => BACK_EDGE_BYTES,
            StateStorage::Sorted(_) => 0,
            StateStorage::Comback(_) => TAG,
        }
    }

    /// Returns the searched system, if the model has sleep sets and the storage allows them.
    pub(super) fn sleep_set_model<'m>(
        &self,
        model: &'m dyn StateSpace,
    ) -> Option<SleepSetModel<'m>> {
        match self {
            StateStorage::Sorted(codec) => SleepSetModel::of(model, codec),
            StateStorage::Comback(_) => None,
        }
    }

    /// Returns the bytes of a stored state of a model, with its tag or value.
    pub fn stored_width(&self, model: &dyn StateSpace) -> usize {
        let tagged = || model.width() + self.tag_bytes(model);
        self.sleep_set_model(model).map_or_else(tagged, |awake| awake.width())
    }

    /// Returns the name in flags and reports.
    pub fn name(&self) -> &'static str {
        match self {
            StateStorage::Sorted(codec) => codec.name(),
            StateStorage::Comback(_) => "comback",
        }
    }
}

impl SavedStorage {
    /// Decodes the storage for states of `width` bytes; `None` if it is invalid.
    pub fn restore(&self, width: usize) -> Option<StateStorage> {
        match self {
            SavedStorage::Sorted(codec) => Codec::restore(codec, width).map(StateStorage::Sorted),
            SavedStorage::Comback(settings) => {
                settings.are_possible().then_some(StateStorage::Comback(*settings))
            }
        }
    }

    /// Returns the bytes before a state in the manifest.
    pub fn tag_bytes(&self) -> usize {
        match self {
            SavedStorage::Sorted(_) => 0,
            SavedStorage::Comback(_) => TAG,
        }
    }

    /// Returns the name in flags and reports.
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

/// Rejects a storage that cannot identify the states of a model by views, if the model has views.
pub fn check_views(
    model: &dyn StateSpace,
    storage: &StateStorage,
) -> std::result::Result<(), ViewError> {
    if model.capabilities().views.is_none() {
        return Ok(());
    }
    let found = model.width() + BACK_EDGE_BYTES;
    match storage {
        StateStorage::Sorted(Codec::Huffman(_)) | StateStorage::Comback(_) => {
            Err(ViewError::Storage(storage.name()))
        }
        StateStorage::Sorted(_) if found > WIDTH_MAX => Err(ViewError::Width { found }),
        StateStorage::Sorted(_) => Ok(()),
    }
}

/// Trains a Huffman codec for the states of `model` on the first levels and some deeper states. The result does not
/// depend on time or chance: the same model gets the same codes. Returns an error if the model fails. The result is
/// meaningless after a stop.
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
