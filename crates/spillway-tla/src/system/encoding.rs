//! The cells of states, and dictionaries that grow.

use super::SpecificationSystem;
use crate::cells::{
    CellLayout, Dictionaries, DictionaryEntries, EncodedState, InvalidKey, NewValues, ValueReader,
    journal_bytes, read_journal, write_value,
};
use crate::value::Value;
use spillway_model::{GrowingStateSpace, ModelError, Result, SuccessorSink, UnencodedStates};
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
}

/// The bytes of an unencoded state are not a state of the specification.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a state that was set aside is damaged")]
struct DamagedState;

impl SpecificationSystem {
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Encoding> {
        self.encoding.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Encoding> {
        self.encoding.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the values of an encoded state.
    pub(super) fn decode(&self, key: &[u8]) -> std::result::Result<Vec<Value>, InvalidKey> {
        self.layout.decode(key, &self.read().dictionaries)
    }

    /// Adds a state as a candidate. `before` is a state that shares most values with it, and its encoding.
    pub(super) fn pass_on(
        &self,
        state: &[Value],
        before: Option<(&[Value], &[u8])>,
        out: &mut SuccessorSink,
    ) {
        match self.key(state, before) {
            Some(key) => out.candidate(&key),
            None => out.set_aside(&self.unencoded(state)),
        }
    }

    /// Returns the encoding of a state, if it has one.
    fn key(&self, state: &[Value], before: Option<(&[Value], &[u8])>) -> Option<Vec<u8>> {
        let mut key = vec![0; self.layout.width()];
        let encoding = self.read();
        let encoded = match before {
            Some((values, before)) => {
                let before = EncodedState { values, key: before };
                self.layout.encode_successor(state, before, &encoding.dictionaries, &mut key)
            }
            None => self.layout.encode(state, &encoding.dictionaries, &mut key),
        };
        match (encoded, encoding.grows_at_once) {
            (Ok(()), _) => Some(key),
            (Err(_), false) => None,
            (Err(_), true) => {
                drop(encoding);
                let mut encoding = self.write();
                let states = [state];
                self.layout
                    .number(&states, &self.program.symbols, &mut encoding.dictionaries)
                    .ok()?;
                key.fill(0);
                self.layout.encode(state, &encoding.dictionaries, &mut key).ok()?;
                Some(key)
            }
        }
    }

    /// Returns the encoding of a state that a search visits, or of one that it cannot: for reports.
    pub(super) fn key_for_report(&self, state: &[Value]) -> Option<Vec<u8>> {
        self.key(state, None)
    }

    /// Returns the form of a state that is set aside: the canonical bytes of its values.
    fn unencoded(&self, state: &[Value]) -> Vec<u8> {
        let mut bytes = Vec::new();
        state.iter().for_each(|it| write_value(it, &self.program.symbols, &mut bytes));
        bytes
    }

    fn values(&self, unencoded: &[u8]) -> Result<Vec<Value>> {
        let mut reader = ValueReader::new(unencoded, &self.program.symbols);
        let values = (0..self.program.variable_count()).map(|_| reader.value());
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
        Ok(())
    }

    fn grow_at_once(&self) {
        self.write().grows_at_once = true;
    }

    fn grow(&self, states: &dyn UnencodedStates) -> Result<Vec<u8>> {
        let mut encoding = self.write();
        let Encoding { dictionaries, journal, .. } = &mut *encoding;
        let (mut new, mut entries) = (NewValues::new(&self.layout), DictionaryEntries::default());
        let symbols = &self.program.symbols;
        states.visit(&mut |it| {
            new.collect_cells(&self.values(it)?, dictionaries);
            Ok(())
        })?;
        new.number(symbols, dictionaries, &mut entries);
        states.visit(&mut |it| {
            new.collect_escapes(&self.values(it)?, dictionaries);
            Ok(())
        })?;
        new.number(symbols, dictionaries, &mut entries);
        self.layout.check_escapes(dictionaries).map_err(ModelError::failed)?;
        let bytes = journal_bytes(*journal, &self.layout, &entries);
        *journal += bytes.len() as u64;
        Ok(bytes)
    }

    fn encode(&self, unencoded: &[u8], state: &mut [u8]) -> Result<()> {
        let values = self.values(unencoded)?;
        state.fill(0);
        let encoded = self.layout.encode(&values, &self.read().dictionaries, state);
        encoded.map_err(ModelError::failed)
    }

    fn memory(&self) -> u64 {
        self.read().dictionaries.memory()
    }
}
