//! The visited states in either storage, as the level loop uses them.

use super::checkpoint::{MANIFEST, SavedSearch};
use super::comback::{CombackStore, RebuildStats, SavedFrontier};
use super::store_stats::{StorePart, StorePartKind};
use super::{MemoryPlan, StateStorage};
use crate::store_dominance;
use spill::{
    Candidates, Codec, Disk, Error, Frontier, LevelLog, Result, SavedStore, SavedValues,
    SettleOutcome, Store, ValueSpec,
};
use spillway_model::StateSpace;
use std::sync::Arc;

/// All visited states.
pub enum VisitedStore<'a> {
    /// Sorted runs.
    Sorted(Box<Store>),
    /// Hashes and back-edges.
    Comback(Box<CombackStore<'a>>),
}

impl<'a> VisitedStore<'a> {
    pub(super) fn new(
        model: &'a dyn StateSpace,
        disk: Arc<dyn Disk>,
        plan: &MemoryPlan,
        storage: &StateStorage,
        values: Option<ValueSpec>,
    ) -> VisitedStore<'a> {
        match storage {
            StateStorage::Sorted(codec) => {
                let width = storage.stored_width(model);
                let store = empty_store(width, values, disk, codec.clone(), plan);
                VisitedStore::Sorted(Box::new(with_dominance(store, model)))
            }
            StateStorage::Comback(settings) => {
                VisitedStore::Comback(Box::new(CombackStore::new(model, disk, plan, *settings)))
            }
        }
    }

    pub(super) fn restore(
        model: &'a dyn StateSpace,
        disk: Arc<dyn Disk>,
        plan: &MemoryPlan,
        values: Option<ValueSpec>,
        saved: &SavedSearch,
    ) -> Result<VisitedStore<'a>> {
        let (store, codec) = (saved.store.clone(), saved.codec()?);
        Ok(match saved.storage()? {
            StateStorage::Sorted(_) => {
                let has_values = values.is_some();
                let empty = empty_store(saved.width as usize, values, disk, codec, plan);
                let store = match (has_values, saved.values.clone()) {
                    (false, None) => with_dominance(empty.restore(store, plan.threads)?, model),
                    (true, Some(values)) => {
                        empty.restore_with_values(store, values, plan.threads)?
                    }
                    _ => {
                        let what = "its states have values where they should not, or none";
                        return Err(Error::corrupt(MANIFEST, 0, what));
                    }
                };
                VisitedStore::Sorted(Box::new(store))
            }
            StateStorage::Comback(settings) => {
                let empty = CombackStore::new(model, disk, plan, settings);
                let store = empty.restore(codec, store, saved.frontier.clone())?;
                VisitedStore::Comback(Box::new(store))
            }
        })
    }

    /// Returns the levels: the states of each, or their back-edges.
    pub fn levels(&self) -> &LevelLog {
        match self {
            VisitedStore::Sorted(store) => store.levels(),
            VisitedStore::Comback(store) => store.levels(),
        }
    }

    /// Returns the codec of candidates, and of levels and runs of states.
    pub fn codec(&self) -> &Codec {
        match self {
            VisitedStore::Sorted(store) => store.codec(),
            VisitedStore::Comback(store) => store.codec(),
        }
    }

    /// Returns the codec of the level to be expanded.
    pub fn frontier_codec(&self) -> &Codec {
        match self {
            VisitedStore::Sorted(store) => store.codec(),
            VisitedStore::Comback(store) => store.frontier_codec(),
        }
    }

    /// Changes the codec; see [`Store::change_codec`].
    pub(super) fn change_codec(&mut self, codec: &Codec, threads: usize) -> Result<()> {
        match self {
            VisitedStore::Sorted(store) => store.change_codec(codec, threads)?,
            VisitedStore::Comback(store) => store.change_codec(codec),
        }
        Ok(())
    }

    /// Sorts the small levels into runs, so that the runs have all states; see [`Store::sort_small_levels`].
    pub(super) fn sort_small_levels(&mut self, threads: usize) -> Result<()> {
        match self {
            VisitedStore::Sorted(store) => store.sort_small_levels(threads),
            VisitedStore::Comback(_) => Ok(()),
        }
    }

    /// Returns the part of the manifest.
    pub fn saved(&self) -> (SavedStore, SavedFrontier) {
        match self {
            VisitedStore::Sorted(store) => (store.saved(), SavedFrontier::default()),
            VisitedStore::Comback(store) => store.saved(),
        }
    }

    /// Returns the part of the manifest for values.
    pub fn saved_values(&self) -> Option<SavedValues> {
        match self {
            VisitedStore::Sorted(store) => store.saved_values(),
            VisitedStore::Comback(_) => None,
        }
    }

    /// Returns the current sizes of the parts.
    pub fn parts(&self) -> Vec<StorePart> {
        match self {
            VisitedStore::Sorted(store) => {
                let [young, filter, levels, merged] = store.bytes();
                vec![
                    StorePart { kind: StorePartKind::Levels, memory: 0, disk: levels },
                    StorePart { kind: StorePartKind::YoungRuns, memory: young, disk: 0 },
                    StorePart { kind: StorePartKind::MergedRuns, memory: 0, disk: merged },
                    StorePart { kind: StorePartKind::Filter, memory: filter, disk: 0 },
                ]
            }
            VisitedStore::Comback(store) => store.parts(),
        }
    }

    /// Returns the work of rebuilding states, if states are rebuilt.
    pub fn rebuilt(&self) -> Option<RebuildStats> {
        match self {
            VisitedStore::Sorted(_) => None,
            VisitedStore::Comback(store) => Some(store.rebuild_stats()),
        }
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        match self {
            VisitedStore::Sorted(store) => store.sync(),
            VisitedStore::Comback(store) => store.sync(),
        }
    }

    pub(super) fn sweep(&mut self) -> Result<()> {
        match self {
            VisitedStore::Sorted(store) => store.remove_garbage(),
            VisitedStore::Comback(store) => store.sweep(),
        }
    }

    /// Returns the last level for expansion. Passes the number of bytes that the store does not need meanwhile to
    /// `lend`.
    pub(super) fn frontier(&mut self, lend: impl FnOnce(usize)) -> Result<Frontier> {
        match self {
            VisitedStore::Sorted(store) => {
                store.choose_filter();
                lend(store.spare_bytes());
                store.make_filter()?;
                store.frontier()
            }
            VisitedStore::Comback(store) => store.frontier(),
        }
    }

    pub(super) fn settle(
        &mut self,
        candidates: &Candidates,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<SettleOutcome> {
        match self {
            VisitedStore::Sorted(store) => store.settle(candidates, threads, stop),
            VisitedStore::Comback(store) => store.settle(candidates, stop),
        }
    }
}

/// Makes a store drop dominated states, if the model has dominance. A store with sleep sets keeps all states.
fn with_dominance(store: Store, model: &dyn StateSpace) -> Store {
    match model.capabilities().dominance.filter(|_| model.capabilities().sleep_sets.is_none()) {
        Some(dominance) => store.with_dominance(store_dominance(&dominance)),
        None => store,
    }
}

/// Creates a sorted store without levels, for keys of `width` bytes. They end with values if there are any.
fn empty_store(
    width: usize,
    values: Option<ValueSpec>,
    disk: Arc<dyn Disk>,
    codec: Codec,
    plan: &MemoryPlan,
) -> Store {
    match values {
        None => Store::new(disk, width, codec, plan.shares()),
        Some(values) => Store::new(disk, width, codec, plan.shares()).with_first_values(values),
    }
}
