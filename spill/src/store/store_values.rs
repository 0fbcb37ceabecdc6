//! What a store with values has besides keys: the values, and the log of what levels change of them.

use super::file_name::FileName;
use super::levels::{FileSegment, LevelLog, SavedLevels};
use super::{SavedStore, Store};
use crate::codec::Codec;
use crate::disk::{Error, Result};
use crate::segments::Segment;
use crate::values::{Dominance, ValueSpec};
use rkyv::{Archive, Deserialize, Serialize};

/// What a store has beside its keys.
pub(super) struct StoreValues {
    pub(super) values: ValueSpec,
    /// For each level two: the pairs that it has changed, and what they were before. Nothing where values stay
    /// what they were at first.
    pub(super) changes: Option<LevelLog>,
}

/// What a manifest remembers of the values of a store.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedValues {
    /// Bytes of a value.
    pub bytes: u32,
    /// The name of the operator.
    pub operator: String,
    /// For each level two: the pairs that it has changed, and what they were before. Nothing where values stay
    /// what they were at first.
    pub changes: Option<SavedLevels>,
}

/// The pairs whose values the last level has changed, in segments: as they are now, and as they were. Both
/// have the same keys.
pub struct ValueChanges {
    /// As they are now.
    pub current: Vec<Segment>,
    /// As they were before the level.
    pub previous: Vec<Segment>,
}

impl Store {
    /// The store, which has no levels yet, of pairs that end with such `values`; the whole width is theirs.
    ///
    /// # Panics
    ///
    /// If the operator is not idempotent, or the codec has values projected.
    pub fn with_values(self, values: ValueSpec) -> Store {
        let name = values.operator().name();
        assert!(values.operator().is_idempotent(), "a store joins values again: not by \"{name}\"");
        let changes = LevelLog::new(self.disk.clone(), self.whole, self.codec.clone());
        let changes = changes.with_value_bytes(values.bytes());
        let changes = changes.with_file_names(|shard| FileName::Changes { shard });
        let store = self.with_first_values(values);
        let valued = store.valued.map(|valued| StoreValues { changes: Some(changes), ..valued });
        Store { valued, ..store }
    }

    /// The same, but a key keeps the value that the candidates of its level came to: what comes later says nothing
    /// of it. Any operator will do.
    ///
    /// # Panics
    ///
    /// If the codec has values projected.
    pub fn with_first_values(self, values: ValueSpec) -> Store {
        assert!(self.levels.is_empty(), "a store has values from its first level on");
        assert!(self.whole > values.bytes(), "a pair has a key before its value");
        let Store { disk, whole, codec, .. } = &self;
        let changes = None;
        let levels =
            LevelLog::new(disk.clone(), *whole, codec.clone()).with_value_bytes(values.bytes());
        let store = Store { levels, valued: Some(StoreValues { values, changes }), ..self };
        store.check_codec(&store.codec);
        store
    }

    /// The store, without levels and with values, as it was saved, its runs in memory rebuilt within their share.
    ///
    /// # Panics
    ///
    /// If the store has no values.
    pub fn restore_with_values(
        mut self,
        store: SavedStore,
        values: SavedValues,
        threads: usize,
    ) -> Result<Store> {
        let SavedStore { levels, runs } = store;
        let StoreValues { values: own, changes: log } =
            self.valued.take().expect("the store has values");
        values.check(&own, log.is_some(), levels.len())?;
        let changes =
            log.zip(values.changes).map(|(log, saved)| log.with_saved(saved)).transpose()?;
        self.valued = Some(StoreValues { values: own, changes });
        self.levels = self.levels.with_saved(levels)?;
        self.restore_runs(runs, threads)?;
        Ok(self)
    }

    /// What a manifest must remember of the values beside [`Store::saved`]; valid on disk after
    /// [`Store::sync`].
    pub fn saved_values(&self) -> Option<SavedValues> {
        let StoreValues { values, changes } = self.valued.as_ref()?;
        let (bytes, operator) = (values.bytes() as u32, values.operator().name());
        let changes = changes.as_ref().map(|changes| changes.saved().clone());
        Some(SavedValues { bytes, operator, changes })
    }

    /// The pairs whose values the last level has changed, beside those of [`Store::frontier`], which are new.
    pub fn changes(&mut self) -> Result<Option<ValueChanges>> {
        let Some(changes) = self.changes_mut() else { return Ok(None) };
        let Some(last) = changes.len().checked_sub(2) else { return Ok(None) };
        Ok(Some(ValueChanges { current: changes.open(last)?, previous: changes.open(last + 1)? }))
    }

    /// How many keys the last level has changed the values of.
    pub(super) fn changed_keys(&self) -> u64 {
        let last = |changes: &LevelLog| changes.len().checked_sub(2).map(|last| changes.keys(last));
        self.changes_log().and_then(last).unwrap_or(0)
    }

    /// The log of changes, if there is one.
    pub(super) fn changes_log(&self) -> Option<&LevelLog> {
        self.valued.as_ref()?.changes.as_ref()
    }

    /// The same, to be changed.
    pub(super) fn changes_mut(&mut self) -> Option<&mut LevelLog> {
        self.valued.as_mut()?.changes.as_mut()
    }

    pub(super) fn values(&self) -> Option<&ValueSpec> {
        self.valued.as_ref().map(|valued| &valued.values)
    }

    /// Bytes of a value; 0 if there are none.
    pub(super) fn value_bytes(&self) -> usize {
        self.values().map_or(0, ValueSpec::bytes)
    }

    /// The keys of a level, those included whose values it has changed.
    pub(super) fn level_keys(&self, level: usize) -> u64 {
        let changed = self.changes_log().map_or(0, |changes| changes.keys(2 * level));
        self.levels.keys(level) + changed
    }

    /// The pieces of a level, those included of what it has changed.
    pub(super) fn level_pieces(&self, level: usize) -> Vec<FileSegment> {
        let mut pieces = self.levels.pieces(level);
        if let Some(changes) = self.changes_log() {
            pieces.extend(changes.pieces(2 * level));
        }
        pieces
    }

    /// The same, open.
    pub(super) fn level_segments(&mut self, level: usize) -> Result<Vec<Segment>> {
        let mut segments = self.levels.open(level)?;
        if let Some(changes) = self.changes_mut() {
            segments.append(&mut changes.open(2 * level)?);
        }
        Ok(segments)
    }

    /// Makes sure that a codec keeps all bits of values.
    pub(super) fn check_codec(&self, codec: &Codec) {
        let behind = self.dominance.as_ref().map_or(self.value_bytes(), Dominance::bytes);
        let keeps = codec.projection().is_none_or(|it| it.keeps_value(behind));
        assert!(behind == 0 || keeps, "the codec has values projected");
    }
}

impl SavedValues {
    /// Refuses a store of other values, or one whose changes, if values change, are not those of so many levels.
    fn check(&self, values: &ValueSpec, change: bool, levels: usize) -> Result<()> {
        let (bytes, operator) = (values.bytes(), values.operator().name());
        let damaged = |what: String| Err(Error::corrupt("manifest", 0, what));
        if self.bytes as usize != bytes || self.operator != operator {
            return damaged(format!(
                "values of {bytes} bytes joined by \"{operator}\" are expected, of {} by \"{}\" are found",
                self.bytes, self.operator
            ));
        }
        let expected = change.then_some(2 * levels);
        match self.changes.as_ref().map(|changes| changes.len()) == expected {
            true => Ok(()),
            false => damaged("its levels and the changes of values do not agree".into()),
        }
    }
}
