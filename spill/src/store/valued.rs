//! What a store with values has besides keys: the values, and the log of what levels change of them.

use super::levels::{FileSegment, Levels, SavedLevels};
use super::names::FileName;
use super::{SavedStore, Shares, Store};
use crate::codec::Codec;
use crate::disk::{Disk, Error, Result};
use crate::segments::Segment;
use crate::values::Values;
use rkyv::{Archive, Deserialize, Serialize};
use std::sync::Arc;

/// What a store has beside its keys.
pub(super) struct Valued {
    pub(super) values: Values,
    /// For each level two: the pairs that it has changed, and what they were before.
    pub(super) changes: Levels,
}

/// What a manifest remembers of the values of a store.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedValues {
    /// Bytes of a value.
    pub bytes: u32,
    /// The name of the operator.
    pub operator: String,
    /// For each level two: the pairs that it has changed, and what they were before.
    pub changes: SavedLevels,
}

/// The pairs whose values the last level has changed, in segments: as they are now, and as they were. Both
/// have the same keys.
pub struct Changes {
    /// As they are now.
    pub now: Vec<Segment>,
    /// As they were before the level.
    pub before: Vec<Segment>,
}

impl Store {
    /// The store, which has no levels yet, of pairs that end with such `values`; the whole width is theirs.
    ///
    /// # Panics
    ///
    /// If the operator is not idempotent, or the codec has values projected.
    pub fn with_values(self, values: Values) -> Store {
        let name = values.operator().name();
        assert!(values.operator().is_idempotent(), "a store joins values again: not by \"{name}\"");
        assert!(self.levels.is_empty(), "a store has values from its first level on");
        assert!(self.whole > values.bytes(), "a pair has a key before its value");
        let Store { disk, whole, codec, .. } = &self;
        let changes = Levels::new(disk.clone(), *whole, codec.clone());
        let changes = changes.of_pairs(values.bytes());
        let changes = changes.in_files(|shard| FileName::Changes { shard });
        let levels = Levels::new(disk.clone(), *whole, codec.clone()).of_pairs(values.bytes());
        let store = Store { levels, valued: Some(Valued { values, changes }), ..self };
        store.check_codec(&store.codec);
        store
    }

    /// The store of pairs as it was saved, its runs in memory rebuilt within their share.
    pub fn restore_with_values(
        disk: Arc<dyn Disk>,
        whole: usize,
        codec: Codec,
        shares: Shares,
        values: Values,
        saved: (SavedStore, SavedValues),
        threads: usize,
    ) -> Result<Store> {
        let (SavedStore { levels, runs }, saved) = saved;
        saved.check(&values, levels.ends.len())?;
        let mut store = Store::new(disk, whole, codec, shares).with_values(values);
        let Some(Valued { values, changes }) = store.valued else { unreachable!("it was given") };
        store.levels = store.levels.with(levels)?;
        store.valued = Some(Valued { values, changes: changes.with(saved.changes)? });
        store.restore_runs(runs, threads)?;
        Ok(store)
    }

    /// What a manifest must remember of the values beside [`Store::saved`]; valid on disk after
    /// [`Store::sync`].
    pub fn saved_values(&self) -> Option<SavedValues> {
        let Valued { values, changes } = self.valued.as_ref()?;
        let (bytes, operator) = (values.bytes() as u32, values.operator().name());
        Some(SavedValues { bytes, operator, changes: changes.saved().clone() })
    }

    /// The pairs whose values the last level has changed, beside those of [`Store::frontier`], which are new.
    pub fn changes(&mut self) -> Result<Option<Changes>> {
        let Some(Valued { changes, .. }) = &mut self.valued else { return Ok(None) };
        let Some(last) = changes.len().checked_sub(2) else { return Ok(None) };
        Ok(Some(Changes { now: changes.open(last)?, before: changes.open(last + 1)? }))
    }

    /// How many keys the last level has changed the values of.
    pub(super) fn changed(&self) -> u64 {
        let changes = self.valued.as_ref().map(|valued| &valued.changes);
        let last = |changes: &Levels| changes.len().checked_sub(2).map(|last| changes.keys(last));
        changes.and_then(last).unwrap_or(0)
    }

    pub(super) fn values(&self) -> Option<&Values> {
        self.valued.as_ref().map(|valued| &valued.values)
    }

    /// Bytes of a value; 0 if there are none.
    pub(super) fn value_bytes(&self) -> usize {
        self.values().map_or(0, Values::bytes)
    }

    /// The keys of a level, those included whose values it has changed.
    pub(super) fn level_keys(&self, level: usize) -> u64 {
        let changed = self.valued.as_ref().map_or(0, |valued| valued.changes.keys(2 * level));
        self.levels.keys(level) + changed
    }

    /// The pieces of a level, those included of what it has changed.
    pub(super) fn level_pieces(&self, level: usize) -> Vec<FileSegment> {
        let mut pieces = self.levels.pieces(level).to_vec();
        if let Some(valued) = &self.valued {
            pieces.extend_from_slice(valued.changes.pieces(2 * level));
        }
        pieces
    }

    /// The same, open.
    pub(super) fn level_segments(&mut self, level: usize) -> Result<Vec<Segment>> {
        let mut segments = self.levels.open(level)?;
        if let Some(valued) = &mut self.valued {
            segments.append(&mut valued.changes.open(2 * level)?);
        }
        Ok(segments)
    }

    /// Makes sure that a codec keeps all bits of values.
    pub(super) fn check_codec(&self, codec: &Codec) {
        let keeps = codec.projection().is_none_or(|it| it.keeps_value(self.value_bytes()));
        assert!(self.valued.is_none() || keeps, "the codec has values projected");
    }
}

impl SavedValues {
    /// Refuses a store of other values, or one whose changes are not those of so many levels.
    fn check(&self, values: &Values, levels: usize) -> Result<()> {
        let (bytes, operator) = (values.bytes(), values.operator().name());
        let damaged = |what: String| Err(Error::corrupt("manifest", 0, what));
        if self.bytes as usize != bytes || self.operator != operator {
            return damaged(format!(
                "values of {bytes} bytes joined by \"{operator}\" are expected, of {} by \"{}\" are found",
                self.bytes, self.operator
            ));
        }
        match self.changes.ends.len() == 2 * levels {
            true => Ok(()),
            false => damaged("its levels and the changes of values do not agree".into()),
        }
    }
}
