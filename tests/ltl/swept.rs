//! Accepting cycles of a model on disk, searched in several sessions and in little memory.

use spill::fault::FaultPlan;
use spill::{Disk, FaultDisk, MeteredDisk, Result};
use spillway::model::{FairSteps, StateSpace};
use spillway::search::checkpoint::{MANIFEST, SavedSearch};
use spillway::search::liveness::nested_dfs::ProbeVerdict;
use spillway::search::liveness::owcty::{
    AcceptingProduct, ComponentOf, CycleCheckpoint, CycleSearch, ProductAcceptance, ReachedStates,
    RegionOptions, SavedCycleSearch,
};
use spillway::search::visited::VisitedStore;
use spillway::search::{
    CheckSelection, ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchResources,
    SearchVerdict,
};
use std::sync::Arc;
use std::time::Duration;

/// What is searched.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub model: &'a dyn StateSpace,
    /// The component of each state, if there can be accepting cycles in it.
    pub component: &'a ComponentOf<'a>,
    pub accepts: &'a (dyn Fn(&[u8]) -> bool + Sync),
    pub is_weak: bool,
    /// Tells to which processes steps are fair, where cycles are to be.
    pub fair: Option<&'a dyn FairSteps>,
}

/// What a search takes.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    pub threads: usize,
    /// States in a buffer.
    pub buffer: u64,
    pub shard_states: u64,
    /// States that are reached in a sitting.
    pub reached: u64,
    /// Sweeps in a sitting.
    pub sitting: u32,
}

impl Means {
    /// Room for everything, and one sitting.
    pub const WHOLE: Means = Means {
        threads: 1,
        buffer: 4000,
        shard_states: 1 << 20,
        reached: u64::MAX,
        sitting: u32::MAX,
    };

    /// The memory of these, for states of so many bytes.
    pub fn plan(self, width: usize) -> MemoryPlan {
        let bytes = self.buffer * width as u64;
        MemoryPlan {
            budget: 0,
            base: 0,
            reserve: 0,
            threads: self.threads,
            buffer: bytes,
            young: 4 * bytes,
            filter: bytes,
            obligations: 0,
            encoding: 0,
            unencoded: 0,
        }
    }

    fn control(self) -> SearchControl {
        match self.reached {
            u64::MAX => SearchControl::default(),
            // Checkpoints inside levels, too.
            _ => SearchControl::new(Duration::ZERO, None),
        }
    }
}

/// What a search does until a place to stop at.
pub const STAGES: [&str; 6] = [
    "reaching",
    "gathering",
    "trimming",
    "reaching from accepting states",
    "looking for a loop",
    "done",
];

impl Subject<'_> {
    fn accepting(&self) -> ProductAcceptance<'_> {
        let Subject { component, accepts, is_weak, .. } = *self;
        ProductAcceptance { component, accepts, is_weak }
    }

    /// Searches on a disk, or goes on there; what was found, and how many sweeps it took. After each stage, or sitting of
    /// one, it tells which of [`STAGES`] that was.
    pub fn search(
        &self,
        disk: &Arc<dyn Disk>,
        means: Means,
        tell: &mut dyn FnMut(&'static str),
    ) -> Result<(ProbeVerdict, u32)> {
        if !SavedCycleSearch::is_in(&**disk)? {
            self.reach(disk, means, tell)?;
        }
        loop {
            let (reached, saved) = (
                ReachedStates::of(&SavedSearch::load(&**disk)?)?,
                SavedCycleSearch::load(&**disk)?,
            );
            let (stop, stage) = (saved.sweeps.saturating_add(means.sitting), saved.stage_name());
            let (control, plan) = (means.control(), means.plan(self.model.width()));
            let checkpoint = CycleCheckpoint { reached, saved };
            let product = AcceptingProduct { model: self.model, acceptance: self.accepting() };
            let search = CycleSearch::resume(product, disk.clone(), checkpoint, plan, &control)?;
            let search = match self.fair {
                None => search,
                Some(fair) => search.with_fairness(fair),
            };
            let mut search = search.with_max_sweeps(stop);
            let found = search.run()?;
            assert!(search.saved().sweeps <= stop);
            tell(stage);
            if found != ProbeVerdict::Open {
                return Ok((found, search.saved().sweeps));
            }
        }
    }

    /// Reaches all states, and gathers the region.
    fn reach(
        &self,
        disk: &Arc<dyn Disk>,
        means: Means,
        tell: &mut dyn FnMut(&'static str),
    ) -> Result<()> {
        let (model, plan, control) = (self.model, means.plan(self.model.width()), means.control());
        let limits = |max_states| SearchLimits {
            checks: CheckSelection::NONE,
            stop_on_violation: false,
            max_states,
            ..SearchLimits::default()
        };
        let mut most = Some(means.reached).filter(|&it| it < u64::MAX);
        loop {
            let metered = Arc::new(MeteredDisk::new(disk.clone(), None)?);
            let begun = disk.list()?.iter().any(|(name, _)| name == MANIFEST);
            let resources = SearchResources { disk: metered, plan, control: &control };
            let mut search = match begun {
                false => ExternalSearch::begin(model, resources, limits(most))?,
                true => {
                    let saved = SavedSearch::load(&**disk)?;
                    ExternalSearch::resume(model, resources, limits(most), saved)?
                }
            };
            let verdict = search.run()?.verdict;
            tell("reaching");
            if verdict == SearchVerdict::Verified {
                let VisitedStore::Sorted(store) = search.store() else { unreachable!() };
                let shard_states = Some(means.shard_states);
                let options = RegionOptions { shard_states, ..RegionOptions::ACCEPTANCE };
                let product = AcceptingProduct { model, acceptance: self.accepting() };
                let made = CycleSearch::gather(store, &product, &**disk, &control, options)?;
                assert!(made.is_some());
                tell("gathering");
                return Ok(());
            }
            most = most.map(|it| it + means.reached);
        }
    }
}

/// Of a search that has come to its end on a disk, that every file there is named by what it has saved.
pub fn nothing_lies_about(disk: &dyn Disk, what: &str) {
    let (saved, reached) =
        (SavedCycleSearch::load(disk).unwrap(), SavedSearch::load(disk).unwrap());
    let named = saved.files().chain(reached.files()).map(|file| file.to_string());
    let mut named: Vec<String> = named.chain(["cycles".into(), MANIFEST.into()]).collect();
    named.sort();
    named.dedup();
    let there: Vec<String> = disk.list().unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(there, named, "{what}");
}

/// A search that comes to what is expected does so, too, where the disk crashes, fails or is full at some operation, every
/// `step`th in turn, and it is gone on with.
pub fn goes_on_after_faults<T: PartialEq + std::fmt::Debug>(
    expected: &T,
    step: usize,
    search: &dyn Fn(&Arc<dyn Disk>) -> Result<T>,
) {
    let whole = Arc::new(FaultDisk::new());
    let shared: Arc<dyn Disk> = whole.clone();
    assert_eq!(&search(&shared).unwrap(), expected);
    for at in (0..whole.operations()).step_by(step) {
        let plan = FaultPlan::new().seed(at);
        let plan = match at % 3 {
            0 => plan.crash_at(at),
            1 => plan.io_error_at(at),
            _ => plan.full_from(at),
        };
        let failing = Arc::new(FaultDisk::with_faults(plan));
        let shared: Arc<dyn Disk> = failing.clone();
        // What fails may be a removal that nothing depends on.
        let told = search(&shared);
        assert!(told.is_err() || told.unwrap() == *expected, "operation {at}");
        let disk: Arc<dyn Disk> = Arc::new(match at % 2 {
            0 => failing.restart(),
            _ => failing.reboot(at),
        });
        assert_eq!(&search(&disk).unwrap(), expected, "operation {at}");
    }
}
