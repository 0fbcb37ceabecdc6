//! The values of a store, and the log of their changes by level.

use super::file_name::FileName;
use super::levels::{FileSegment, LevelLog, SavedLevels};
use super::{SavedStore, Store};
use crate::codec::Codec;
use crate::disk::{Error, Result};
use crate::segments::Segment;
use crate::values::{Dominance, ValueSpec};
use rkyv::{Archive, Deserialize, Serialize};

/// The values of a store.
pub(super) struct StoreValues {
    pub(super) values: ValueSpec,
    /// Two levels for each level: the pairs that it has changed, and their previous values. `None` if each key keeps
    /// its first value.
    pub(super) changes: Option<LevelLog>,
}

/// The saved form of a store's values, for manifests.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedValues {
    /// The size of a value in bytes.
    pub bytes: u32,
    /// The name of the operator.
    pub operator: String,
    /// Two levels for each level: the pairs that it has changed, and their previous values. `None` if each key keeps
    /// its first value.
    pub changes: Option<SavedLevels>,
}

/// The pairs whose values the last level has changed, in segments, before and after. Both have the same keys.
pub struct ValueChanges {
    /// The pairs with their current values.
    pub current: Vec<Segment>,
    /// The pairs with their values before the level.
    pub previous: Vec<Segment>,
}

impl Store {
    /// Sets `values` that pairs end with, as part of the whole width. The store has no levels yet.
    ///
    /// # Panics
    ///
    /// If the operator is not idempotent, or the codec projects values.
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

    /// Does the same, but a key keeps the joined value of its first level: later candidates do not change it. Any
    /// operator is allowed.
    ///
    /// # Panics
    ///
    /// If the codec projects values.
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

    /// Restores a saved store with values, and rebuilds the runs in memory within their share. The store has no levels
    /// yet.
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

    /// Returns the saved form of the values for a manifest, in addition to [`Store::saved`]; valid on disk after
    /// [`Store::sync`].
    pub fn saved_values(&self) -> Option<SavedValues> {
        let StoreValues { values, changes } = self.valued.as_ref()?;
        let (bytes, operator) = (values.bytes() as u32, values.operator().name());
        let changes = changes.as_ref().map(|changes| changes.saved().clone());
        Some(SavedValues { bytes, operator, changes })
    }

    /// Returns the pairs whose values the last level has changed. The pairs of [`Store::frontier`] are new and not
    /// among them.
    pub fn changes(&mut self) -> Result<Option<ValueChanges>> {
        let Some(changes) = self.changes_mut() else { return Ok(None) };
        let Some(last) = changes.len().checked_sub(2) else { return Ok(None) };
        Ok(Some(ValueChanges { current: changes.open(last)?, previous: changes.open(last + 1)? }))
    }

    /// Returns the number of keys whose values the last level has changed.
    pub(super) fn changed_keys(&self) -> u64 {
        let last = |changes: &LevelLog| changes.len().checked_sub(2).map(|last| changes.keys(last));
        self.changes_log().and_then(last).unwrap_or(0)
    }

    /// Returns the log of changes, if there is one.
    pub(super) fn changes_log(&self) -> Option<&LevelLog> {
        self.valued.as_ref()?.changes.as_ref()
    }

    /// Returns the log of changes, mutable.
    pub(super) fn changes_mut(&mut self) -> Option<&mut LevelLog> {
        self.valued.as_mut()?.changes.as_mut()
    }

    pub(super) fn values(&self) -> Option<&ValueSpec> {
        self.valued.as_ref().map(|valued| &valued.values)
    }

    /// Returns the size of a value in bytes; 0 if there are none.
    pub(super) fn value_bytes(&self) -> usize {
        self.values().map_or(0, ValueSpec::bytes)
    }

    /// Returns the number of keys of a level, those with changed values included.
    pub(super) fn level_keys(&self, level: usize) -> u64 {
        let changed = self.changes_log().map_or(0, |changes| changes.keys(2 * level));
        self.levels.keys(level) + changed
    }

    /// Returns the pieces of a level, those with changed values included.
    pub(super) fn level_pieces(&self, level: usize) -> Vec<FileSegment> {
        let mut pieces = self.levels.pieces(level);
        if let Some(changes) = self.changes_log() {
            pieces.extend(changes.pieces(2 * level));
        }
        pieces
    }

    /// Opens these pieces.
    pub(super) fn level_segments(&mut self, level: usize) -> Result<Vec<Segment>> {
        let mut segments = self.levels.open(level)?;
        if let Some(changes) = self.changes_mut() {
            segments.append(&mut changes.open(2 * level)?);
        }
        Ok(segments)
    }

    /// Checks that a codec keeps all bits of values.
    pub(super) fn check_codec(&self, codec: &Codec) {
        let behind = self.dominance.as_ref().map_or(self.value_bytes(), Dominance::bytes);
        let keeps = codec.projection().is_none_or(|it| it.keeps_value(behind));
        assert!(behind == 0 || keeps, "the codec has values projected");
    }
}

impl SavedValues {
    /// Rejects a store of other values, or one whose log of changes does not match the number of levels.
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
