//! The choosers of all configurations. Each is created when the first state of its configuration is visited.

use super::choice::{ChooserBuffers, TransitionChoice, TransitionChooser};
use super::frozen_parameters::{FrozenConfiguration, FrozenParameters};
use super::relation::{MemberRelation, VerificationGoal, dependence};
use super::sleep_sets::SleepSets;
use super::static_proviso::StaticOrder;
use super::{CONFLUENCE, CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use crate::NotApplied;
use crate::claim::{NeverClaim, StutterDependence};
use crate::confluence::confluent;
use spillway_analysis::access::AccessTable;
use spillway_analysis::bit_sets::{self, BitMatrix};
use spillway_analysis::dependence::{DependenceRelation, ProgramDependence};
use spillway_analysis::ranges::ranges;
use spillway_base::budget::AnalysisSupervisor;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::EndRule;
use spillway_ir::layout::ValueRanges;
use spillway_model::{CheckSelection, StepDescent, stop_request};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The most choosers that are kept. Those of further configurations are created again when needed.
const KEPT_MAX: usize = 256;

/// The most bytes of the kept choosers. A larger chooser is kept alone.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// Chooses transitions of one program by one method.
pub(super) struct ProgramChooser<'m> {
    interp: &'m Interp,
    way: PartialOrderStrategy,
    aims: VerificationGoal,
    sleep_sets: Option<Arc<SleepSets>>,
    /// The order of states, if the cycle proviso uses it.
    ascent: Option<Arc<StaticOrder>>,
    /// Whether the proviso demands that chosen sets ascend in the order.
    is_ascent_demanded: bool,
    /// The ranges of the program's variables, which hold in all configurations.
    ranges: Option<ValueRanges>,
    /// Computes configurations, if there are several.
    fixed: Option<FrozenParameters>,
    /// The chooser for states without a configuration of their own.
    base: Arc<TransitionChooser>,
    made: Mutex<ChooserCache>,
    /// The number of members examined by choices.
    looked: AtomicU64,
}

#[derive(Default)]
struct ChooserCache {
    choosers: HashMap<FrozenConfiguration, Arc<TransitionChooser>>,
    /// The number of choosers created so far.
    count: u64,
    /// The approximate bytes of the kept choosers.
    bytes: usize,
}

/// Buffers for choices.
pub(super) struct ConfigurationBuffers {
    /// A state of the configuration that `chooser` belongs to.
    seen: Vec<u8>,
    chooser: Arc<TransitionChooser>,
    room: ChooserBuffers,
}

/// The properties that the reduction must preserve.
#[derive(Clone, Copy)]
pub(super) enum ChecksOrRuns<'c> {
    /// Violations in states and transitions.
    Checks(&'c CheckSelection),
    /// The infinite runs that the program's claim accepts.
    Runs,
}

fn nothing_confluent() -> NotApplied {
    NotApplied::NothingFound(CONFLUENCE.nothing_found.into())
}

/// Returns the proviso that a requested one means for a goal.
fn proviso_for(aims: &VerificationGoal, wanted: CycleProviso) -> CycleProviso {
    match wanted {
        // The rounds of the search on disk need the order.
        CycleProviso::Chains if aims.infinite_runs => CycleProviso::StaticChains,
        // A claim about finite runs must observe every state.
        CycleProviso::StaticChains if aims.claim.is_some() && !aims.infinite_runs => {
            CycleProviso::Static
        }
        proviso => proviso,
    }
}

/// Rejects chains together with simultaneous transitions.
fn refuse_chains_of_several(way: PartialOrderStrategy) -> Result<(), NotApplied> {
    let is_chained = matches!(way.proviso, CycleProviso::Chains | CycleProviso::StaticChains);
    match way.method.takes_several() && is_chained {
        false => Ok(()),
        true => Err(NotApplied::ChainsOfSeveral),
    }
}

impl<'m> ProgramChooser<'m> {
    /// Creates the choosers of a program, or returns the reason why there are none.
    pub fn new(
        interp: &'m Interp,
        way: PartialOrderStrategy,
        sought: ChecksOrRuns<'_>,
        budget: &AnalysisBudget,
    ) -> Result<ProgramChooser<'m>, NotApplied> {
        let (program, layout) = (interp.program(), interp.layout());
        let (ranges, none) = (ranges(program), FrozenConfiguration::default());
        let table = table(interp, ranges.clone(), none)?;
        let dependence = dependence(&table, budget)?;
        let aims = goal(interp, &dependence, way, sought)?;
        refuse_chains_of_several(way)?;
        let way = PartialOrderStrategy { proviso: proviso_for(&aims, way.proviso), ..way };
        let matrix = dependence.matrix(budget)?;
        let related = ProgramDependence { relation: &dependence, matrix: &matrix };
        let conditional = way.method.is_conditional();
        let relation = MemberRelation::new(interp, related, &aims, conditional, budget)?;
        if aims.claim == Some(StutterDependence::ByCount) && relation.has_several_monitors() {
            return Err(NotApplied::OtherChecks);
        }
        let confluent = match way.method.is_confluent() {
            true => confluent(interp, related, &relation.visible(), budget)?,
            false => Vec::new(),
        };
        let is_confluent = bit_sets::count(&confluent) > 0;
        let method = if is_confluent { Some(way.method) } else { way.method.without_confluence() };
        let way = PartialOrderStrategy { method: method.ok_or_else(nothing_confluent)?, ..way };
        let looks_for_more = relation.has_monitors();
        if way.method == PartialOrderMethod::LocalSleep && looks_for_more {
            return Err(NotApplied::OnlyDeadlocks);
        }
        let count = table.instances().count() as usize;
        let sleep_sets = way.method.sleeps().then(|| SleepSets::of(&matrix, count)).transpose()?;
        // All configurations share one order of states.
        let puts_off = is_confluent || looks_for_more && !way.method.sleeps();
        let ascent = (puts_off && way.proviso.orders_states())
            .then(|| Arc::new(StaticOrder::new(&dependence, &relation)));
        let climbing = ascent.as_ref().map(|it| it.ascending(true));
        let base = Arc::new(TransitionChooser::new(0, relation, way.method, climbing, confluent));
        Ok(ProgramChooser {
            interp,
            way,
            aims,
            sleep_sets: sleep_sets.map(Arc::new),
            ascent,
            is_ascent_demanded: true,
            ranges,
            fixed: FrozenParameters::new(program, layout, lists_live(way, &aims)),
            base,
            made: Mutex::default(),
            looked: AtomicU64::default(),
        })
    }

    /// Returns the same choosers with another proviso. One that orders states uses the order that the choosers have; if
    /// they have none, nothing is postponed.
    pub fn with_proviso(&self, proviso: CycleProviso) -> ProgramChooser<'m> {
        let ascent = self.ascent.clone().filter(|_| proviso.orders_states());
        let base = match ascent {
            None => Arc::new(self.base.without_order()),
            Some(_) => self.base.clone(),
        };
        let way = PartialOrderStrategy { proviso, ..self.way };
        ProgramChooser { way, ascent, base, ..self.copied() }
    }

    /// Returns the same choosers for a search that enforces the cycle proviso, whatever ascends.
    pub fn without_demand(&self) -> ProgramChooser<'m> {
        let base = Arc::new(self.base.without_demand());
        ProgramChooser { is_ascent_demanded: false, base, ..self.copied() }
    }

    /// Returns the same choosers, with no kept choosers and no counts.
    fn copied(&self) -> ProgramChooser<'m> {
        ProgramChooser {
            interp: self.interp,
            way: self.way,
            aims: self.aims,
            sleep_sets: self.sleep_sets.clone(),
            ascent: self.ascent.clone(),
            is_ascent_demanded: self.is_ascent_demanded,
            ranges: self.ranges.clone(),
            fixed: self.fixed.clone(),
            base: self.base.clone(),
            made: Mutex::default(),
            looked: AtomicU64::default(),
        }
    }

    /// Returns the bytes of a state of the program.
    pub fn width(&self) -> usize {
        self.interp.layout().bytes
    }

    /// Returns the method.
    pub fn method(&self) -> PartialOrderMethod {
        self.way.method
    }

    /// Returns the cycle proviso.
    pub fn proviso(&self) -> CycleProviso {
        self.way.proviso
    }

    /// Returns the encoding of sleep sets, if the method uses them.
    pub fn sleep_sets(&self) -> Option<&Arc<SleepSets>> {
        self.sleep_sets.as_ref()
    }

    /// Whether postponed transitions may be proviso obligations.
    pub fn has_proviso_obligations(&self) -> bool {
        !self.confluent().is_empty() || self.has_monitors() && self.sleep_sets.is_none()
    }

    /// Whether infinite runs must be preserved.
    pub fn is_for_infinite_runs(&self) -> bool {
        self.aims.infinite_runs
    }

    /// Whether the reduction preserves the claim.
    pub fn preserves_claim(&self) -> bool {
        self.aims.claim.is_some() && self.has_proviso_obligations() && !self.may_reexpand()
    }

    /// Whether states with postponed transitions may be re-expanded later.
    pub fn may_reexpand(&self) -> bool {
        self.has_proviso_obligations() && self.way.proviso == CycleProviso::Levels
    }

    /// Whether chains are used.
    pub fn runs_chains(&self) -> bool {
        match self.way.proviso {
            CycleProviso::Static | CycleProviso::Levels => false,
            CycleProviso::Chains => self.sleep_sets.is_none() && self.aims.claim.is_none(),
            CycleProviso::StaticChains => self.has_proviso_obligations(),
        }
    }

    /// Whether one transition may be several of the program, so that states between are not stored.
    pub fn may_take_several_steps(&self) -> bool {
        self.runs_chains() || self.method().takes_several()
    }

    /// Whether a transition ascends in the order of states.
    pub fn climbs(&self, from: &[u8], to: &[u8]) -> bool {
        self.ascent.as_ref().is_some_and(|it| it.climbs(from, to))
    }

    /// Returns what leads a transition down in the order of states, unless it ascends.
    pub fn descent(&self, from: &[u8], to: &[u8]) -> Option<StepDescent> {
        self.ascent.as_ref().map_or(Some(StepDescent::Equal), |it| it.descent(from, to))
    }

    /// Whether self-loops do not count as progress. Then a state with self-loops only is a deadlock, and transitions
    /// postponed after them alone would never be taken.
    pub fn ignores_self_loops(&self) -> bool {
        self.interp.program().end == EndRule::NeverStuttering
    }

    /// Returns the confluent instances, which are taken first.
    pub fn confluent(&self) -> &[u64] {
        self.base.confluent()
    }

    /// Whether anything but deadlocks is checked, so that the cycle proviso matters.
    pub fn has_monitors(&self) -> bool {
        self.base.has_monitors()
    }

    /// Returns the number of members examined by choices whose buffers have been passed to [`note`](Self::note).
    pub fn members_examined(&self) -> u64 {
        self.looked.load(Ordering::Relaxed)
    }

    /// Adds the examined members of some buffers.
    pub fn note(&self, rooms: &mut ConfigurationBuffers) {
        self.looked.fetch_add(rooms.room.take_examined(), Ordering::Relaxed);
    }

    pub fn rooms(&self) -> ConfigurationBuffers {
        ConfigurationBuffers {
            seen: Vec::new(),
            chooser: self.base.clone(),
            room: ChooserBuffers::default(),
        }
    }

    /// Chooses the transitions of a state with enabled instances.
    pub fn choose<'r>(
        &self,
        state: &[u8],
        enabled: &[u64],
        rooms: &'r mut ConfigurationBuffers,
    ) -> TransitionChoice<'r> {
        let (chooser, room) = self.of(state, rooms);
        chooser.choose(state, enabled, room)
    }

    /// Whether a single instance may be chosen. This test is cheaper than a choice.
    pub fn may_choose_one(
        &self,
        state: &[u8],
        enabled: &[u64],
        rooms: &mut ConfigurationBuffers,
    ) -> bool {
        let (chooser, _) = self.of(state, rooms);
        chooser.may_choose_one(enabled)
    }

    /// Whether some of these instances require full expansion, because infinite runs must be preserved: a claim may
    /// observe them, or they may end a run.
    pub fn requires_full_expansion(
        &self,
        state: &[u8],
        instances: &[u64],
        rooms: &mut ConfigurationBuffers,
    ) -> bool {
        self.is_for_infinite_runs() && self.of(state, rooms).0.requires_full_expansion(instances)
    }

    /// Returns the proviso transitions of a state: those to take in addition so that the closed set contains all
    /// monitors.
    pub fn proviso_transitions<'r>(
        &self,
        state: &[u8],
        enabled: &[u64],
        rooms: &'r mut ConfigurationBuffers,
    ) -> &'r [u64] {
        let (chooser, room) = self.of(state, rooms);
        chooser.proviso_transitions(state, enabled, room)
    }

    /// Returns the members dependent on each instance, in a state and in all states reachable from it.
    pub fn dependent<'r>(
        &'r self,
        state: &[u8],
        rooms: &'r mut ConfigurationBuffers,
    ) -> &'r BitMatrix {
        self.of(state, rooms).0.dependent()
    }

    /// Returns the chooser of a state, with its buffers.
    fn of<'r>(
        &self,
        state: &[u8],
        rooms: &'r mut ConfigurationBuffers,
    ) -> (&'r TransitionChooser, &'r mut ChooserBuffers) {
        if let Some(fixed) = &self.fixed
            && (rooms.seen.is_empty() || fixed.differ(state, &rooms.seen))
        {
            rooms.chooser = self.cached_chooser(fixed.of(state));
            rooms.seen.clear();
            rooms.seen.extend_from_slice(state);
        }
        (&rooms.chooser, &mut rooms.room)
    }

    fn cached_chooser(&self, configuration: FrozenConfiguration) -> Arc<TransitionChooser> {
        if configuration.is_empty() {
            return self.base.clone();
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chooser) = made.choosers.get(&configuration) {
            return chooser.clone();
        }
        if made.choosers.len() == KEPT_MAX || made.bytes > KEPT_BYTES_MAX {
            made.choosers.clear();
            made.bytes = 0;
        }
        made.count += 1;
        let made_now = self.chooser(made.count, self.ranges.clone(), configuration.clone());
        let chooser = match made_now {
            // The successors of this state are dropped.
            Err(NotApplied::Exceeded(BudgetExceeded::Stopped)) => return self.base.clone(),
            Err(_) => self.base.clone(),
            Ok(mut chooser) => {
                made.choosers.values().any(|other| chooser.join(other));
                made.bytes += chooser.bytes();
                Arc::new(chooser)
            }
        };
        made.choosers.insert(configuration, chooser.clone());
        chooser
    }

    /// Creates the chooser for the states of a configuration, or returns the reason why there is none.
    fn chooser(
        &self,
        number: u64,
        ranges: Option<ValueRanges>,
        fixed: FrozenConfiguration,
    ) -> Result<TransitionChooser, NotApplied> {
        // The analysis for all states was no smaller, and had a budget.
        let budget = AnalysisBudget::largest_watched(&StopSupervisor);
        let table = table(self.interp, ranges, fixed)?;
        let (method, dependence) = (self.way.method, dependence(&table, &budget)?);
        let matrix = dependence.matrix(&budget)?;
        let related = ProgramDependence { relation: &dependence, matrix: &matrix };
        let conditional = method.is_conditional();
        let mut relation =
            MemberRelation::new(self.interp, related, &self.aims, conditional, &budget)?;
        if table.live_processes().is_some() {
            relation.watch_like(self.base.relation());
        }
        let climbing = self.ascent.as_ref().map(|it| it.ascending(self.is_ascent_demanded));
        let confluent = match method.is_confluent() {
            true => confluent(self.interp, related, &relation.visible(), &budget)?,
            false => Vec::new(),
        };
        Ok(TransitionChooser::new(number, relation, method, climbing, confluent))
    }
}

/// Returns the stutter dependence of the claim, `None` if there is no claim or nothing depends on it, or the reason
/// why the claim may observe the reduction.
fn claim(
    interp: &Interp,
    dependence: &DependenceRelation,
    checks: &CheckSelection,
) -> Result<Option<StutterDependence>, NotApplied> {
    let CheckSelection { assertions, invariants, faults, claims, .. } = *checks;
    let may_stop = |it| {
        let access = dependence.access(it);
        access.effect.may_drop || (!faults && access.failures().other)
    };
    match NeverClaim::of(interp) {
        Some(claim) if assertions || invariants || faults || claims => {
            let may_stop = dependence.instances().any(may_stop);
            claim.stutter_dependence(dependence.table(), checks, may_stop).map(Some)
        }
        _ => Ok(None),
    }
}

/// Returns the goal of the reduction, or the reason why it does not apply.
fn goal(
    interp: &Interp,
    dependence: &DependenceRelation,
    way: PartialOrderStrategy,
    sought: ChecksOrRuns<'_>,
) -> Result<VerificationGoal, NotApplied> {
    match sought {
        ChecksOrRuns::Checks(checks) => {
            let claim = claim(interp, dependence, checks)?;
            Ok(VerificationGoal { checks: *checks, claim, infinite_runs: false })
        }
        ChecksOrRuns::Runs => of_runs(interp, dependence.table(), way),
    }
}

/// Returns the goal of preserving infinite runs, or the reason why the reduction does not apply.
fn of_runs(
    interp: &Interp,
    table: &AccessTable,
    way: PartialOrderStrategy,
) -> Result<VerificationGoal, NotApplied> {
    let goes_by_steps =
        way.method.sleeps() || way.method.is_confluent() || way.method.takes_several();
    if goes_by_steps || way.proviso == CycleProviso::Levels {
        return Err(NotApplied::RunsNeedStatic);
    }
    if let Some(claim) = NeverClaim::of(interp) {
        claim.judges_states(table)?;
    }
    Ok(VerificationGoal {
        checks: CheckSelection::NONE,
        claim: Some(StutterDependence::Always),
        infinite_runs: true,
    })
}

/// Whether configurations may list the live processes: whether relations are used only for closed sets in the states
/// of their configuration, and no claim observes the states.
fn lists_live(way: PartialOrderStrategy, aims: &VerificationGoal) -> bool {
    let is_closed =
        matches!(way.method, PartialOrderMethod::Stubborn | PartialOrderMethod::Conditional);
    is_closed && aims.claim.is_none() && !aims.infinite_runs
}

/// Builds the access table for the states of a configuration.
fn table(
    interp: &Interp,
    ranges: Option<ValueRanges>,
    fixed: FrozenConfiguration,
) -> Result<AccessTable<'_>, NotApplied> {
    let (program, layout) = (interp.program(), interp.layout());
    let FrozenConfiguration { cells, live } = fixed;
    let table = AccessTable::with_fixed_cells(program, layout, ranges, cells)?;
    Ok(match live {
        Some(live) => table.with_live_processes(live),
        None => table,
    })
}

/// Stops an analysis during expansion once the stop request of the thread is set.
struct StopSupervisor;

impl AnalysisSupervisor for StopSupervisor {
    fn should_stop(&self) -> bool {
        stop_request::is_requested()
    }
}
