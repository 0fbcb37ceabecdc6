//! A chooser for each configuration, made when a state is first seen that has it.

use super::choice::{ChooserBuffers, TransitionChoice, TransitionChooser};
use super::frozen_parameters::{FrozenConfiguration, FrozenParameters};
use super::relation::{MemberRelation, VerificationGoal, dependence};
use super::sleep_sets::SleepSets;
use super::static_proviso::StaticOrder;
use super::{CONFLUENCE, CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use crate::analysis::access::AccessTable;
use crate::analysis::bit_sets::{self, BitMatrix};
use crate::analysis::dependence::{DependenceRelation, ProgramDependence};
use crate::analysis::ranges::ranges;
use crate::budget::AnalysisSupervisor;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::Interp;
use crate::ir::EndRule;
use crate::ir::layout::ValueRanges;
use crate::model::{CheckSelection, stop_request};
use crate::reduce::NotApplied;
use crate::reduce::claim::{NeverClaim, StutterDependence};
use crate::reduce::confluence::confluent;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Choosers that are kept; those of configurations seen beyond are made again.
const KEPT_MAX: usize = 256;

/// The bytes that these take; with one that takes more only that is kept.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// Chooses by one method for one program.
pub(super) struct ProgramChooser<'m> {
    interp: &'m Interp,
    way: PartialOrderStrategy,
    aims: VerificationGoal,
    sleep_sets: Option<Arc<SleepSets>>,
    /// The order that steps climb, if that is what keeps them from being put off for ever.
    ascent: Option<StaticOrder>,
    /// Of the program's variables, which no configuration changes.
    ranges: Option<ValueRanges>,
    /// Tells configurations, if there are several.
    fixed: Option<FrozenParameters>,
    /// Of states of which nothing more is known than of all.
    base: Arc<TransitionChooser>,
    made: Mutex<ChooserCache>,
    /// Members that were looked at to make choices.
    looked: AtomicU64,
}

#[derive(Default)]
struct ChooserCache {
    choosers: HashMap<FrozenConfiguration, Arc<TransitionChooser>>,
    /// How many there have ever been.
    count: u64,
    /// The bytes that those take that are kept, about.
    bytes: usize,
}

/// What choosing takes.
pub(super) struct ConfigurationBuffers {
    /// A state of the configuration that the chooser is for.
    seen: Vec<u8>,
    chooser: Arc<TransitionChooser>,
    room: ChooserBuffers,
}

/// What must not be lost by putting steps off.
#[derive(Clone, Copy)]
pub(super) enum ChecksOrRuns<'c> {
    /// What is violated in states and steps.
    Checks(&'c CheckSelection),
    /// What the program's claim accepts of whole runs.
    Runs,
}

fn nothing_confluent() -> NotApplied {
    NotApplied::NothingFound(CONFLUENCE.nothing_found.into())
}

/// Refuses to run through states where several steps are taken together.
fn refuse_chains_of_several(way: PartialOrderStrategy) -> Result<(), NotApplied> {
    let is_chained = matches!(way.proviso, CycleProviso::Chains | CycleProviso::StaticChains);
    match way.method.takes_several() && is_chained {
        false => Ok(()),
        true => Err(NotApplied::ChainsOfSeveral),
    }
}

impl<'m> ProgramChooser<'m> {
    /// Those for a program, or why there are none.
    pub fn new(
        interp: &'m Interp,
        way: PartialOrderStrategy,
        sought: ChecksOrRuns<'_>,
        budget: &AnalysisBudget,
    ) -> Result<ProgramChooser<'m>, NotApplied> {
        let (program, layout) = (interp.program(), interp.layout());
        let (ranges, none) = (ranges(program), FrozenConfiguration::new());
        let table = table(interp, ranges.clone(), none)?;
        let dependence = dependence(&table, budget)?;
        let aims = goal(interp, &dependence, way, sought)?;
        refuse_chains_of_several(way)?;
        // A claim has to see every state.
        let proviso = match way.proviso {
            CycleProviso::StaticChains if aims.claim.is_some() => CycleProviso::Static,
            proviso => proviso,
        };
        let way = PartialOrderStrategy { proviso, ..way };
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
        // One order for the states of all configurations.
        let puts_off = is_confluent || looks_for_more && !way.method.sleeps();
        let ascent = (puts_off && way.proviso.orders_states())
            .then(|| StaticOrder::new(&dependence, &relation));
        let climbing = ascent.as_ref().map(|it| it.climbing.clone());
        let base = Arc::new(TransitionChooser::new(0, relation, way.method, climbing, confluent));
        let (fixed, made) = (FrozenParameters::new(program, layout), Mutex::default());
        let sleep_sets = sleep_sets.map(Arc::new);
        let looked = AtomicU64::default();
        Ok(ProgramChooser {
            interp,
            way,
            aims,
            sleep_sets,
            ascent,
            ranges,
            fixed,
            base,
            made,
            looked,
        })
    }

    /// The same with [`CycleProviso::Levels`], not an order of the states.
    pub fn with_level_proviso(&self) -> ProgramChooser<'m> {
        ProgramChooser {
            interp: self.interp,
            way: PartialOrderStrategy { proviso: CycleProviso::Levels, ..self.way },
            aims: self.aims,
            sleep_sets: self.sleep_sets.clone(),
            ascent: None,
            ranges: self.ranges.clone(),
            fixed: FrozenParameters::new(self.interp.program(), self.interp.layout()),
            base: Arc::new(self.base.without_order()),
            made: Mutex::default(),
            looked: AtomicU64::default(),
        }
    }

    /// How steps are chosen.
    pub fn method(&self) -> PartialOrderMethod {
        self.way.method
    }

    /// What keeps steps from being put off for ever, where that matters.
    pub fn proviso(&self) -> CycleProviso {
        self.way.proviso
    }

    /// What can be asleep, if steps are.
    pub fn sleep_sets(&self) -> Option<&Arc<SleepSets>> {
        self.sleep_sets.as_ref()
    }

    /// Whether steps are put off that have to be taken up, at once or later.
    pub fn has_proviso_obligations(&self) -> bool {
        !self.confluent().is_empty() || self.has_monitors() && self.sleep_sets.is_none()
    }

    /// Whether whole runs are looked at.
    pub fn is_for_infinite_runs(&self) -> bool {
        self.aims.infinite_runs
    }

    /// Whether a claim comes to the same whether steps are put off or not.
    pub fn preserves_claim(&self) -> bool {
        self.aims.claim.is_some() && self.has_proviso_obligations() && !self.may_reexpand()
    }

    /// Whether states that put steps off may have to be taken up again.
    pub fn may_reexpand(&self) -> bool {
        self.has_proviso_obligations() && self.way.proviso == CycleProviso::Levels
    }

    /// Whether states are run through.
    pub fn runs_chains(&self) -> bool {
        match self.way.proviso {
            CycleProviso::Static | CycleProviso::Levels => false,
            CycleProviso::Chains => self.sleep_sets.is_none() && self.aims.claim.is_none(),
            CycleProviso::StaticChains => self.has_proviso_obligations(),
        }
    }

    /// Whether a step may be several, so that states between are come through and not stored.
    pub fn may_take_several_steps(&self) -> bool {
        self.runs_chains() || self.method().takes_several()
    }

    /// Whether a step climbs.
    pub fn climbs(&self, from: &[u8], to: &[u8]) -> bool {
        self.ascent.as_ref().is_some_and(|it| it.climbs(from, to))
    }

    /// Whether a step back to where it began leads nowhere: then a state is stuck that has only such steps,
    /// and what is put off behind them alone would never be taken.
    pub fn ignores_self_loops(&self) -> bool {
        self.interp.program().end == EndRule::NeverStuttering
    }

    /// The instances that are taken at once where they are possible, if any are.
    pub fn confluent(&self) -> &[u64] {
        self.base.confluent()
    }

    /// Whether anything is looked for but deadlocks, so that what is put off matters.
    pub fn has_monitors(&self) -> bool {
        self.base.has_monitors()
    }

    /// How many members were looked at to make choices, by whoever has given back what choosing takes.
    pub fn members_examined(&self) -> u64 {
        self.looked.load(Ordering::Relaxed)
    }

    /// Notes what was looked at in some rooms.
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

    /// What is taken of a state in which something is enabled.
    pub fn choose<'r>(
        &self,
        state: &[u8],
        enabled: &[u64],
        rooms: &'r mut ConfigurationBuffers,
    ) -> TransitionChoice<'r> {
        let (chooser, room) = self.of(state, rooms);
        chooser.choose(state, enabled, room)
    }

    /// Whether a single instance may be taken of a state: if not, that is told sooner than what is.
    pub fn may_choose_one(
        &self,
        state: &[u8],
        enabled: &[u64],
        rooms: &mut ConfigurationBuffers,
    ) -> bool {
        let (chooser, _) = self.of(state, rooms);
        chooser.may_choose_one(enabled)
    }

    /// What has to be taken of a state besides, so that everything that is looked for is chosen or
    /// waited for.
    pub fn proviso_transitions<'r>(
        &self,
        state: &[u8],
        enabled: &[u64],
        rooms: &'r mut ConfigurationBuffers,
    ) -> &'r [u64] {
        let (chooser, room) = self.of(state, rooms);
        chooser.proviso_transitions(state, enabled, room)
    }

    /// Of each instance those that do not go with it, in a state and in all that follow it.
    pub fn dependent<'r>(
        &'r self,
        state: &[u8],
        rooms: &'r mut ConfigurationBuffers,
    ) -> &'r BitMatrix {
        self.of(state, rooms).0.dependent()
    }

    /// The chooser for a state, and room for it.
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
            // What comes of this state is dropped.
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

    /// The chooser for states from which on what is fixed never changes, or why there is none.
    fn chooser(
        &self,
        number: u64,
        ranges: Option<ValueRanges>,
        fixed: FrozenConfiguration,
    ) -> Result<TransitionChooser, NotApplied> {
        // That of all states was no smaller, and had a budget.
        let budget = AnalysisBudget::largest_watched(&StopSupervisor);
        let table = table(self.interp, ranges, fixed)?;
        let (method, dependence) = (self.way.method, dependence(&table, &budget)?);
        let matrix = dependence.matrix(&budget)?;
        let related = ProgramDependence { relation: &dependence, matrix: &matrix };
        let conditional = method.is_conditional();
        let relation = MemberRelation::new(self.interp, related, &self.aims, conditional, &budget)?;
        let climbing = self.ascent.as_ref().map(|it| it.climbing.clone());
        let confluent = match method.is_confluent() {
            true => confluent(self.interp, related, &relation.visible(), &budget)?,
            false => Vec::new(),
        };
        Ok(TransitionChooser::new(number, relation, method, climbing, confluent))
    }
}

/// What runs the claim that a program is searched with follows, if it has one and anything depends on it; or why
/// it may see which steps are put off.
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

/// What to aim at; or why steps cannot be chosen so.
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

/// What to aim at where the claim of a program is looked at for whole runs; or why steps cannot be chosen so.
fn of_runs(
    interp: &Interp,
    table: &AccessTable,
    way: PartialOrderStrategy,
) -> Result<VerificationGoal, NotApplied> {
    let goes_by_steps =
        way.method.sleeps() || way.method.is_confluent() || way.method.takes_several();
    if goes_by_steps || way.proviso != CycleProviso::Static {
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

/// What is known of the steps from states on in which what is fixed never changes.
fn table(
    interp: &Interp,
    ranges: Option<ValueRanges>,
    fixed: FrozenConfiguration,
) -> Result<AccessTable<'_>, NotApplied> {
    let (program, layout) = (interp.program(), interp.layout());
    AccessTable::with_fixed_cells(program, layout, ranges, fixed).map_err(NotApplied::from)
}

/// Stops an analysis that is made while states are expanded, once the request to stop that the thread heeds has been made.
struct StopSupervisor;

impl AnalysisSupervisor for StopSupervisor {
    fn should_stop(&self) -> bool {
        stop_request::is_requested()
    }
}
