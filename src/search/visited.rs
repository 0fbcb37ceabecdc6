//! The states found so far, however they are stored: what the level loop asks of them.

use super::checkpoint::{MANIFEST, Saved};
use super::comback::{Comback, Rebuilt, SavedFrontier};
use super::parts::{StorePart, StorePartKind};
use super::{MemoryPlan, Storage};
use crate::exec::Model;
use spill::{
    Candidates, Codec, Disk, Error, Frontier, Levels, Result, SavedStore, SavedValues, Settled,
    Store, Values,
};
use std::sync::Arc;

/// All states found so far.
pub enum Visited<'a> {
    /// In sorted runs.
    Sorted(Box<Store>),
    /// As hashes and back-edges.
    Comback(Box<Comback<'a>>),
}

impl<'a> Visited<'a> {
    pub(super) fn new(
        model: &'a dyn Model,
        disk: Arc<dyn Disk>,
        plan: &MemoryPlan,
        storage: &Storage,
        values: Option<Values>,
    ) -> Visited<'a> {
        match storage {
            Storage::Sorted(codec) => {
                let store = empty(model.width(), values, disk, codec.clone(), plan);
                Visited::Sorted(Box::new(dominated(store, model)))
            }
            Storage::Comback(settings) => {
                Visited::Comback(Box::new(Comback::new(model, disk, plan, *settings)))
            }
        }
    }

    pub(super) fn restore(
        model: &'a dyn Model,
        disk: Arc<dyn Disk>,
        plan: &MemoryPlan,
        (storage, values): (&Storage, Option<Values>),
        saved: &Saved,
    ) -> Result<Visited<'a>> {
        let (store, codec) = (saved.store.clone(), saved.codec()?);
        Ok(match storage {
            Storage::Sorted(_) => {
                let (width, shares) = (model.width(), plan.shares());
                let store = match (values, saved.values.clone()) {
                    (None, None) => {
                        let store =
                            Store::restore(disk, width, codec, shares, store, plan.threads)?;
                        dominated(store, model)
                    }
                    (Some(values), Some(saved)) => {
                        let empty = empty(width, Some(values), disk, codec, plan);
                        empty.restored_with_values((store, saved), plan.threads)?
                    }
                    _ => {
                        let what = "its states have values where they should not, or none";
                        return Err(Error::corrupt(MANIFEST, 0, what));
                    }
                };
                Visited::Sorted(Box::new(store))
            }
            Storage::Comback(settings) => {
                let saved = (store, saved.frontier.clone());
                let store = Comback::restore(model, disk, plan, *settings, codec, saved)?;
                Visited::Comback(Box::new(store))
            }
        })
    }

    /// The levels: the states of each, or their back-edges.
    pub fn levels(&self) -> &Levels {
        match self {
            Visited::Sorted(store) => store.levels(),
            Visited::Comback(store) => store.levels(),
        }
    }

    /// What candidates are written with, and levels and runs of states.
    pub fn codec(&self) -> &Codec {
        match self {
            Visited::Sorted(store) => store.codec(),
            Visited::Comback(store) => store.codec(),
        }
    }

    /// What the level to be expanded is written with.
    pub fn frontier_codec(&self) -> &Codec {
        match self {
            Visited::Sorted(store) => store.codec(),
            Visited::Comback(store) => store.frontier_codec(),
        }
    }

    /// Has another codec read and write from now on; see [`Store::change_codec`].
    pub(super) fn change_codec(&mut self, codec: &Codec, threads: usize) -> Result<()> {
        match self {
            Visited::Sorted(store) => store.change_codec(codec, threads)?,
            Visited::Comback(store) => store.change_codec(codec),
        }
        Ok(())
    }

    /// What a manifest must remember.
    pub fn saved(&self) -> (SavedStore, SavedFrontier) {
        match self {
            Visited::Sorted(store) => (store.saved(), SavedFrontier::default()),
            Visited::Comback(store) => store.saved(),
        }
    }

    /// What a manifest must remember of values.
    pub fn saved_values(&self) -> Option<SavedValues> {
        match self {
            Visited::Sorted(store) => store.saved_values(),
            Visited::Comback(_) => None,
        }
    }

    /// What each part takes now.
    pub fn parts(&self) -> Vec<StorePart> {
        match self {
            Visited::Sorted(store) => {
                let [young, filter, levels, merged] = store.bytes();
                vec![
                    StorePart { kind: StorePartKind::Levels, memory: 0, disk: levels },
                    StorePart { kind: StorePartKind::YoungRuns, memory: young, disk: 0 },
                    StorePart { kind: StorePartKind::MergedRuns, memory: 0, disk: merged },
                    StorePart { kind: StorePartKind::Filter, memory: filter, disk: 0 },
                ]
            }
            Visited::Comback(store) => store.parts(),
        }
    }

    /// What was done to rebuild states, if states are rebuilt.
    pub fn rebuilt(&self) -> Option<Rebuilt> {
        match self {
            Visited::Sorted(_) => None,
            Visited::Comback(store) => Some(store.rebuilt()),
        }
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        match self {
            Visited::Sorted(store) => store.sync(),
            Visited::Comback(store) => store.sync(),
        }
    }

    pub(super) fn sweep(&mut self) -> Result<()> {
        match self {
            Visited::Sorted(store) => store.sweep(),
            Visited::Comback(store) => store.sweep(),
        }
    }

    /// The last level, to be expanded. What of its memory the store does not need meanwhile is told
    /// to `lend`.
    pub(super) fn frontier(&mut self, lend: impl FnOnce(usize)) -> Result<Frontier> {
        match self {
            Visited::Sorted(store) => {
                store.choose_filter();
                lend(store.spare_bytes());
                store.make_filter()?;
                store.frontier()
            }
            Visited::Comback(store) => store.frontier(),
        }
    }

    pub(super) fn settle(
        &mut self,
        candidates: &Candidates,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Settled> {
        match self {
            Visited::Sorted(store) => store.settle(candidates, threads, stop),
            Visited::Comback(store) => store.settle(candidates, stop),
        }
    }
}

/// A store that takes no states of a model that others dominate. One that others share with their values takes all.
fn dominated(store: Store, model: &dyn Model) -> Store {
    match model.dominance().filter(|_| model.sleeps().is_none()) {
        Some(dominance) => store.dominated(dominance),
        None => store,
    }
}

/// A sorted store without levels, of states of so many bytes, with values behind them if there are some.
fn empty(
    width: usize,
    values: Option<Values>,
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
