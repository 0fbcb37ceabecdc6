//! The cells of states, and dictionaries that grow.

use super::SpecificationSystem;
use crate::cells::{
    CellLayout, CellNumberingError, Dictionaries, EncodedState, InvalidKey, ValueReader,
    journal_bytes, read_journal, write_value,
};
use crate::eval::Evaluator;
use crate::value::Value;
use spillway_model::{GrowingStateSpace, ModelError, Result, UnencodedStates};
use std::borrow::Cow;
use std::sync::{PoisonError, RwLockReadGuard, RwLockWriteGuard};

/// What an encoding has gained.
pub(super) struct Encoding {
    dictionaries: Dictionaries,
    /// The bytes of the journal.
    journal: u64,
    /// Whether a state without bytes gets them at once.
    grows_at_once: bool,
}

impl Encoding {
    pub(super) fn new(layout: &CellLayout) -> Self {
        Self { dictionaries: layout.dictionaries(), journal: 0, grows_at_once: false }
    }

    pub(super) fn dictionaries(&self) -> &Dictionaries {
        &self.dictionaries
    }

    /// Returns whether a state without bytes gets them at once.
    pub(super) fn grows_at_once(&self) -> bool {
        self.grows_at_once
    }
}

/// The bytes of an unencoded state are not a state of the specification.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a state that was set aside is damaged")]
struct DamagedState;

impl From<CellNumberingError> for ModelError {
    fn from(error: CellNumberingError) -> ModelError {
        ModelError::failed(error)
    }
}

impl SpecificationSystem {
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Encoding> {
        self.encoding.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Encoding> {
        self.encoding.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the values of the variables in an encoded state.
    pub(super) fn decode(&self, key: &[u8]) -> std::result::Result<Vec<Value>, InvalidKey> {
        let mut values = self.layout.decode(key, &self.read().dictionaries)?;
        values.truncate(self.program.variable_count());
        Ok(values)
    }

    /// Returns the row of an encoded state. Values with the same cells in another state are shared with it.
    pub(super) fn decode_row(
        &self,
        key: &[u8],
        other: Option<EncodedState<'_>>,
    ) -> std::result::Result<Vec<Value>, InvalidKey> {
        match other {
            Some(other) => self.layout.decode_like(key, other, &self.read().dictionaries),
            None => self.layout.decode(key, &self.read().dictionaries),
        }
    }

    /// Returns the encoding of a state, if it has one.
    pub(super) fn key(&self, state: &[Value]) -> Option<Vec<u8>> {
        let mut key = vec![0; self.layout.width()];
        let mut viewer = self.view.as_ref().map(|_| Evaluator::new(&self.program));
        let row = match &mut viewer {
            None => Cow::Borrowed(state),
            Some(viewer) => self.stored_row(Some(viewer), state).ok()?,
        };
        self.write_key(&row, None, &mut key).then_some(key)
    }

    /// Writes the encoding of a row. Returns false if it has none.
    pub(super) fn write_key(
        &self,
        state: &[Value],
        before: Option<EncodedState<'_>>,
        key: &mut [u8],
    ) -> bool {
        let encoding = self.read();
        let encoded = match before {
            Some(before) => {
                self.layout.encode_successor(state, before, &encoding.dictionaries, key)
            }
            None => self.layout.encode(state, &encoding.dictionaries, key),
        };
        if encoded.is_ok() || !encoding.grows_at_once {
            return encoded.is_ok();
        }
        drop(encoding);
        let dictionaries = &mut self.write().dictionaries;
        let numbered = self.layout.number(&[state], &self.program.symbols, dictionaries);
        numbered.is_ok() && self.layout.encode(state, dictionaries, key).is_ok()
    }

    /// Returns the form of a row that is set aside: the canonical bytes of its values.
    pub(super) fn unencoded(&self, state: &[Value]) -> Vec<u8> {
        let mut bytes = Vec::new();
        state.iter().for_each(|it| write_value(it, &self.program.symbols, &mut bytes));
        bytes
    }

    fn values(&self, unencoded: &[u8]) -> Result<Vec<Value>> {
        let mut reader = ValueReader::new(unencoded, &self.program.symbols);
        let values = (0..self.row_values()).map(|_| reader.value());
        let values = values.collect::<std::result::Result<Vec<_>, _>>();
        match values {
            Ok(values) if reader.is_empty() => Ok(values),
            _ => Err(ModelError::failed(DamagedState)),
        }
    }
}

impl GrowingStateSpace for SpecificationSystem {
    fn restore(&self, journal: &[u8]) -> Result<()> {
        let read = read_journal(journal, &self.layout, &self.program.symbols);
        let dictionaries = read.map_err(ModelError::failed)?;
        let journal = journal.len() as u64;
        *self.write() = Encoding { dictionaries, journal, grows_at_once: false };
        self.records.idle.clear();
        Ok(())
    }

    fn grow_at_once(&self) {
        self.write().grows_at_once = true;
    }

    fn grow(&self, states: &dyn UnencodedStates) -> Result<Vec<u8>> {
        let mut encoding = self.write();
        let Encoding { dictionaries, journal, .. } = &mut *encoding;
        let visit = |each: &mut dyn FnMut(&[Value])| {
            states.visit(&mut |it| {
                each(&self.values(it)?);
                Ok(())
            })
        };
        let entries = self.layout.number_visited(visit, &self.program.symbols, dictionaries)?;
        let bytes = journal_bytes(*journal, &self.layout, &entries);
        *journal += bytes.len() as u64;
        Ok(bytes)
    }

    fn encode(&self, unencoded: &[u8], state: &mut [u8]) -> Result<()> {
        let values = self.values(unencoded)?;
        let encoded = self.layout.encode(&values, &self.read().dictionaries, state);
        encoded.map_err(ModelError::failed)
    }

    fn memory(&self) -> u64 {
        self.read().dictionaries.memory()
    }
}
