//! The states found so far, however they are stored: what the level loop asks of them.

use super::checkpoint::{MANIFEST, SavedSearch};
use super::comback::{CombackStore, RebuildStats, SavedFrontier};
use super::store_stats::{StorePart, StorePartKind};
use super::{MemoryPlan, StateStorage};
use crate::model::StateSpace;
use crate::search::store_dominance;
use spill::{
    Candidates, Codec, Disk, Error, Frontier, LevelLog, Result, SavedStore, SavedValues,
    SettleOutcome, Store, ValueSpec,
};
use std::sync::Arc;

/// All states found so far.
pub enum VisitedStore<'a> {
    /// In sorted runs.
    Sorted(Box<Store>),
    /// As hashes and back-edges.
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
                let store = empty_store(model.width(), values, disk, codec.clone(), plan);
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
                let empty = empty_store(model.width(), values, disk, codec, plan);
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

    /// The levels: the states of each, or their back-edges.
    pub fn levels(&self) -> &LevelLog {
        match self {
            VisitedStore::Sorted(store) => store.levels(),
            VisitedStore::Comback(store) => store.levels(),
        }
    }

    /// What candidates are written with, and levels and runs of states.
    pub fn codec(&self) -> &Codec {
        match self {
            VisitedStore::Sorted(store) => store.codec(),
            VisitedStore::Comback(store) => store.codec(),
        }
    }

    /// What the level to be expanded is written with.
    pub fn frontier_codec(&self) -> &Codec {
        match self {
            VisitedStore::Sorted(store) => store.codec(),
            VisitedStore::Comback(store) => store.frontier_codec(),
        }
    }

    /// Has another codec read and write from now on; see [`Store::change_codec`].
    pub(super) fn change_codec(&mut self, codec: &Codec, threads: usize) -> Result<()> {
        match self {
            VisitedStore::Sorted(store) => store.change_codec(codec, threads)?,
            VisitedStore::Comback(store) => store.change_codec(codec),
        }
        Ok(())
    }

    /// What a manifest must remember.
    pub fn saved(&self) -> (SavedStore, SavedFrontier) {
        match self {
            VisitedStore::Sorted(store) => (store.saved(), SavedFrontier::default()),
            VisitedStore::Comback(store) => store.saved(),
        }
    }

    /// What a manifest must remember of values.
    pub fn saved_values(&self) -> Option<SavedValues> {
        match self {
            VisitedStore::Sorted(store) => store.saved_values(),
            VisitedStore::Comback(_) => None,
        }
    }

    /// What each part takes now.
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

    /// What was done to rebuild states, if states are rebuilt.
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

    /// The last level, to be expanded. What of its memory the store does not need meanwhile is told
    /// to `lend`.
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

/// A store that takes no states of a model that others dominate. One that others share with their values takes all.
fn with_dominance(store: Store, model: &dyn StateSpace) -> Store {
    match model.capabilities().dominance.filter(|_| model.capabilities().sleep_sets.is_none()) {
        Some(dominance) => store.with_dominance(store_dominance(&dominance)),
        None => store,
    }
}

/// A sorted store without levels, of states of so many bytes, with values behind them if there are some.
fn empty_store(
    width: usize,
    values: Option<ValueSpec>,
    disk: Arc<dyn Disk>,
    codec: Codec,
    plan: &MemoryPlan,
) -> Store {
    match values {
        None => Store::new(disk, width, codec, plan.shares()),
        Some(values) => {
            let store = Store::new(disk, width + values.bytes(), codec, plan.shares());
            store.with_first_values(values)
        }
    }
}
