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

/// The input of a search for accepting cycles.
#[derive(Clone, Copy)]
pub struct CycleSearchInput<'a> {
    pub model: &'a dyn StateSpace,
    /// The component of each state, if it can have accepting cycles.
    pub component: &'a ComponentOf<'a>,
    pub accepts: &'a (dyn Fn(&[u8]) -> bool + Sync),
    pub is_weak: bool,
    /// Reports to which processes steps are fair; set if cycles must be fair.
    pub fair: Option<&'a dyn FairSteps>,
}

/// The threads, buffers and session lengths of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchSettings {
    pub threads: usize,
    /// States in a buffer.
    pub buffer: u64,
    pub shard_states: u64,
    /// States that a session explores.
    pub reached: u64,
    /// Sweeps in a session.
    pub session_sweeps: u32,
}

impl SearchSettings {
    /// Enough memory for everything, in one session.
    pub const UNLIMITED: SearchSettings = SearchSettings {
        threads: 1,
        buffer: 4000,
        shard_states: 1 << 20,
        reached: u64::MAX,
        session_sweeps: u32::MAX,
    };

    /// The memory plan, for states of this many bytes.
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

/// The stages of a search; it may stop after each.
pub const STAGES: [&str; 6] = [
    "reaching",
    "gathering",
    "trimming",
    "reaching from accepting states",
    "looking for a loop",
    "done",
];

impl CycleSearchInput<'_> {
    fn accepting(&self) -> ProductAcceptance<'_> {
        let CycleSearchInput { component, accepts, is_weak, .. } = *self;
        ProductAcceptance { component, accepts, is_weak }
    }

    /// Begins or resumes the search on a disk. Returns the verdict and the number of sweeps. Reports the stage of
    /// [`STAGES`] after each stage or session.
    pub fn search(
        &self,
        disk: &Arc<dyn Disk>,
        settings: SearchSettings,
        report_stage: &mut dyn FnMut(&'static str),
    ) -> Result<(ProbeVerdict, u32)> {
        if !SavedCycleSearch::is_in(&**disk)? {
            self.reach(disk, settings, report_stage)?;
        }
        loop {
            let (reached, saved) = (
                ReachedStates::of(&SavedSearch::load(&**disk)?)?,
                SavedCycleSearch::load(&**disk)?,
            );
            let (stop, stage) =
                (saved.sweeps.saturating_add(settings.session_sweeps), saved.stage_name());
            let (control, plan) = (settings.control(), settings.plan(self.model.width()));
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
            report_stage(stage);
            if found != ProbeVerdict::Open {
                return Ok((found, search.saved().sweeps));
            }
        }
    }

    /// Explores all states, and gathers the region.
    fn reach(
        &self,
        disk: &Arc<dyn Disk>,
        settings: SearchSettings,
        report_stage: &mut dyn FnMut(&'static str),
    ) -> Result<()> {
        let (model, plan, control) =
            (self.model, settings.plan(self.model.width()), settings.control());
        let limits = |max_states| SearchLimits {
            checks: CheckSelection::NONE,
            stop_on_violation: false,
            max_states,
            ..SearchLimits::default()
        };
        let mut most = Some(settings.reached).filter(|&it| it < u64::MAX);
        loop {
            let metered = Arc::new(MeteredDisk::new(disk.clone(), None)?);
            let has_manifest = disk.list()?.iter().any(|(name, _)| name == MANIFEST);
            let resources = SearchResources { disk: metered, plan, control: &control };
            let mut search = match has_manifest {
                false => ExternalSearch::begin(model, resources, limits(most))?,
                true => {
                    let saved = SavedSearch::load(&**disk)?;
                    ExternalSearch::resume(model, resources, limits(most), saved)?
                }
            };
            let verdict = search.run()?.verdict;
            report_stage("reaching");
            if verdict == SearchVerdict::Verified {
                let VisitedStore::Sorted(store) = search.store() else { unreachable!() };
                let shard_states = Some(settings.shard_states);
                let options = RegionOptions { shard_states, ..RegionOptions::ACCEPTANCE };
                let product = AcceptingProduct { model, acceptance: self.accepting() };
                let made = CycleSearch::gather(store, &product, &**disk, &control, options)?;
                assert!(made.is_some());
                report_stage("gathering");
                return Ok(());
            }
            most = most.map(|it| it + settings.reached);
        }
    }
}

/// Asserts, after a complete search on a disk, that its saved state names every file.
pub fn assert_no_orphan_files(disk: &dyn Disk, what: &str) {
    let (saved, reached) =
        (SavedCycleSearch::load(disk).unwrap(), SavedSearch::load(disk).unwrap());
    let named = saved.files().chain(reached.files()).map(|file| file.to_string());
    let mut named: Vec<String> = named.chain(["cycles".into(), MANIFEST.into()]).collect();
    named.sort();
    named.dedup();
    let there: Vec<String> = disk.list().unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(there, named, "{what}");
}

/// Asserts that a search has the expected result if the disk crashes, fails or is full at some operation and the search
/// is resumed. Every `step`th operation is tried in turn.
pub fn assert_resumes_after_faults<T: PartialEq + std::fmt::Debug>(
    expected: &T,
    step: usize,
    search: &dyn Fn(&Arc<dyn Disk>) -> Result<T>,
) {
    let undisturbed = Arc::new(FaultDisk::new());
    let shared: Arc<dyn Disk> = undisturbed.clone();
    assert_eq!(&search(&shared).unwrap(), expected);
    for at in (0..undisturbed.operations()).step_by(step) {
        let plan = FaultPlan::new().seed(at);
        let plan = match at % 3 {
            0 => plan.crash_at(at),
            1 => plan.io_error_at(at),
            _ => plan.full_from(at),
        };
        let failing = Arc::new(FaultDisk::with_faults(plan));
        let shared: Arc<dyn Disk> = failing.clone();
        // The failed operation may be a removal without effect on the search.
        let result = search(&shared);
        assert!(result.is_err() || result.unwrap() == *expected, "operation {at}");
        let disk: Arc<dyn Disk> = Arc::new(match at % 2 {
            0 => failing.restart(),
            _ => failing.reboot(at),
        });
        assert_eq!(&search(&disk).unwrap(), expected, "operation {at}");
    }
}
