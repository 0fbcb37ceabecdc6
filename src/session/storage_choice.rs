//! The storage of states of a new search, as configured.

use super::Error;
use super::config::{SearchConfig, StoreKind};
use super::frequency_table::read_table;
use crate::model::StateSpace;
use crate::search::control::SearchPhase;
use crate::search::storage::train_codec;
use crate::search::{SearchControl, StateStorage, model_failure};
use spill::{Codec, HuffmanTables};

impl SearchConfig {
    /// Returns the storage of the states of a model. Huffman codes without a table come from a sample of its states.
    ///
    /// # Errors
    ///
    /// If the model fails, the table cannot be used, or `control` stops the sampling.
    pub fn storage(
        &self,
        model: &dyn StateSpace,
        control: &SearchControl,
    ) -> Result<StateStorage, Error> {
        Ok(StateStorage::Sorted(match self.store {
            StoreKind::Comback => return Ok(StateStorage::Comback(self.comback())),
            StoreKind::Sorted => Codec::Gaps,
            StoreKind::Raw => Codec::Raw,
            StoreKind::Rle => Codec::Rle,
            StoreKind::Huffman => match &self.huffman_table {
                None => {
                    control.progress.enter(SearchPhase::Sampling);
                    let growing = model.capabilities().growing;
                    // The sample ends with the search that takes it, so its states get their bytes at once.
                    growing.into_iter().for_each(|it| it.grow_at_once());
                    let trained = train_codec(model, HuffmanTables::Columns, control);
                    let restored = growing.map_or(Ok(()), |it| it.restore(&[]));
                    restored.map_err(|it| Error::Sample(model_failure(it)))?;
                    if control.should_stop() {
                        return Err(Error::Stopped(control.progress.describe_phase()));
                    }
                    trained.map_err(Error::Sample)?
                }
                Some(path) => read_table(path, model.width())?,
            },
        }))
    }

    /// Returns the storage before samples are taken, for decisions that depend only on its kind.
    #[cfg(feature = "languages")]
    pub(super) fn untrained_storage(&self) -> StateStorage {
        match self.store {
            StoreKind::Comback => StateStorage::Comback(self.comback()),
            _ => StateStorage::default(),
        }
    }
}
