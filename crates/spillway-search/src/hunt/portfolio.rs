//! The portfolio: all strategies on all threads, in turns.
//!
//! Turn `n` of thread `t` belongs to strategy `(n + t) % strategies`. A strategy's weight multiplies the length of its
//! turns. After each strategy had a turn, the turns become twice as long. So a bug that any of the strategies finds soon
//! is found soon, and at most about half of a thread's time goes to turns that were too short.

use super::strategies::StrategyEntry;
use super::target::{HuntFinding, HuntTarget};
use super::worker::{
    HuntProgress, HuntShared, HuntStarts, HuntStrategy, HuntWorker, TurnEnd, TurnStats,
    WorkerLimits,
};
use crate::{SearchControl, model_failure};
use spill::Result;
use spillway_base::random::mix;
use spillway_model::{ActionCounts, ModelError, SuccessorSink, Violation};
use std::ops::ControlFlow;

/// The work of the first turns of a strategy of weight 1.
const TURN_FIRST: u64 = 2000;

/// The most doublings of a turn.
const DOUBLINGS_MAX: u64 = 12;

/// The bytes of initial states from which walks start, if there are more.
const STARTS_BYTES: usize = 4 << 20;

/// The options of a hunt.
#[derive(Clone)]
pub struct HuntOptions {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of threads, at least 1.
    pub threads: usize,
    /// The most walks of all threads together. `None`: no limit.
    pub walks: Option<u64>,
    /// About the most transitions of all threads together, with evaluated parts of distances. `None`: no limit.
    pub transitions: Option<u64>,
    /// The bytes of memory of all threads together.
    pub bytes: u64,
    /// The strategies, at least one that suits the target.
    pub strategies: Vec<&'static StrategyEntry>,
}

/// How a hunt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HuntEnd {
    /// With a finding.
    Found,
    /// All states were visited, as far as fingerprints show.
    Exhausted,
    /// The limit on walks was reached.
    Walks,
    /// The limit on transitions was reached.
    Transitions,
    /// The control stopped the hunt, for example at the deadline.
    Stopped,
    /// The encoding of states took all of its memory.
    Memory,
    /// At once: no strategy suits the target.
    Unsuited,
}

/// Who had the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundBy {
    /// The name of the strategy.
    pub strategy: &'static str,
    /// The number of the thread, from 0.
    pub thread: usize,
}

/// The figures of a strategy on all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrategyStats {
    /// The name.
    pub name: &'static str,
    /// The figures of all its turns. The depth is the greatest.
    pub turns: TurnStats,
}

/// The outcome of a hunt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HuntOutcome {
    /// How it ended.
    pub end: HuntEnd,
    /// The finding, if there is one.
    pub finding: Option<HuntFinding>,
    /// Who had it. `None` if a start fails.
    pub found_by: Option<FoundBy>,
    /// The figures of each strategy in use.
    pub strategies: Vec<StrategyStats>,
    /// The strategies that do not suit the target, each with the reason.
    pub unsuited: Vec<(&'static str, &'static str)>,
    /// The number of executions of each action, if the model counts them.
    pub action_counts: ActionCounts,
}

impl HuntOutcome {
    /// Returns the figures of all strategies together.
    pub fn totals(&self) -> TurnStats {
        let mut totals = TurnStats::default();
        self.strategies.iter().for_each(|it| totals += it.turns);
        totals
    }
}

/// What a thread brings back.
struct ThreadResult {
    stats: Vec<TurnStats>,
    /// The position of the turn that ended the hunt, the strategy, and the end of the turn.
    end: Option<(u64, FoundBy, TurnEnd)>,
    /// The limit that the thread has reached, if there is one.
    reached: Option<HuntEnd>,
}

/// Hunts until there is a finding or a limit is reached.
///
/// # Errors
///
/// If the model fails.
pub fn hunt(
    target: &HuntTarget<'_>,
    options: &HuntOptions,
    control: &SearchControl,
    progress: &HuntProgress,
) -> Result<HuntOutcome> {
    if let Some(growing) = target.model.capabilities().growing {
        growing.grow_at_once();
    }
    let unsuited = |it: &&'static StrategyEntry| Some((it.name, (it.unsuited)(target)?));
    let unsuited: Vec<_> = options.strategies.iter().filter_map(unsuited).collect();
    let mut strategies = options.strategies.clone();
    strategies.retain(|it| (it.unsuited)(target).is_none());
    let mut outcome = HuntOutcome {
        end: HuntEnd::Exhausted,
        finding: None,
        found_by: None,
        strategies: Vec::new(),
        unsuited,
        action_counts: ActionCounts::default(),
    };
    let (starts, failed) = starts(target, control)?;
    if let Some(check) = failed {
        let finding = HuntFinding::Violation { check, states: Vec::new() };
        return Ok(HuntOutcome { end: HuntEnd::Found, finding: Some(finding), ..outcome });
    }
    if strategies.is_empty() {
        return Ok(HuntOutcome { end: HuntEnd::Unsuited, ..outcome });
    }
    if starts.states.is_empty() {
        let end = if control.is_stopped() { HuntEnd::Stopped } else { outcome.end };
        return Ok(HuntOutcome { end, ..outcome });
    }
    let shared = HuntShared::new(target, starts, control, progress, options.bytes / 2);
    let threads = (0..options.threads.max(1)).collect();
    let results = spill::map_parallel(threads, |_, thread| {
        let result = run_thread(&shared, &strategies, options, thread);
        result.inspect_err(|_| shared.set_failed())
    })?;
    outcome.action_counts = shared.executed();
    outcome.strategies = sum(&strategies, &results);
    let all_reached = |end| results.iter().all(|it| it.reached == Some(end));
    let limit = [HuntEnd::Walks, HuntEnd::Transitions].into_iter().find(|&it| all_reached(it));
    let ends = results.into_iter().filter_map(|it| it.end);
    let first = ends.min_by_key(|it| it.0);
    (outcome.end, outcome.finding, outcome.found_by) = match first {
        Some((_, by, TurnEnd::Found(found))) => (HuntEnd::Found, Some(found), Some(by)),
        Some(_) => (HuntEnd::Exhausted, None, None),
        None if shared.is_out_of_memory() => (HuntEnd::Memory, None, None),
        None => (limit.unwrap_or(HuntEnd::Stopped), None, None),
    };
    Ok(outcome)
}

/// Returns the initial states, as far as their bytes have space, and the violation of a start.
fn starts(
    target: &HuntTarget<'_>,
    control: &SearchControl,
) -> Result<(HuntStarts, Option<Violation>)> {
    let _heeding = control.heed();
    let (model, mut starts) = (target.model, Vec::new());
    let (width, mut first) = (model.width(), Vec::new());
    let limit = STARTS_BYTES.max(width);
    let on_full = |buffer: &mut Vec<u8>| {
        first.append(buffer);
        ControlFlow::Break(())
    };
    let run = |out: &mut SuccessorSink| model.initial(out);
    let collected = SuccessorSink::collect_in_batches(width, &mut starts, limit, on_full, run);
    if control.is_stopped() {
        return Ok((HuntStarts::default(), None));
    }
    match collected {
        Ok(collected) => {
            let mut findings = collected.findings.iter().map(|it| it.0);
            let failed = findings.find(|&it| target.checks.selects(model, it));
            Ok((HuntStarts { states: starts, are_all: true }, failed))
        }
        Err(ModelError::BrokenOff) => Ok((HuntStarts { states: first, are_all: false }, None)),
        Err(error) => Err(model_failure(error)),
    }
}

/// Returns a thread's part of a limit.
fn share_of(thread: usize, limit: Option<u64>, options: &HuntOptions) -> u64 {
    let threads = options.threads.max(1) as u64;
    let share = |all: u64| all / threads + u64::from((thread as u64) < all % threads);
    limit.map_or(u64::MAX, share)
}

/// Takes turns until the hunt ends.
fn run_thread(
    shared: &HuntShared<'_>,
    strategies: &[&'static StrategyEntry],
    options: &HuntOptions,
    thread: usize,
) -> Result<ThreadResult> {
    let _heeding = shared.control.heed();
    let limits = WorkerLimits {
        thread,
        seed: mix(options.seed) ^ mix(mix(thread as u64)),
        walks: share_of(thread, options.walks, options),
        bytes: options.bytes / options.threads.max(1) as u64,
    };
    let mut worker = HuntWorker::new(shared, limits);
    let mut own: Vec<Option<Box<dyn HuntStrategy>>> = strategies.iter().map(|_| None).collect();
    let mut stats = vec![TurnStats::default(); strategies.len()];
    let (all, mut turn) = (strategies.len() as u64, 0);
    let mut left = share_of(thread, options.transitions, options);
    while left > 0 {
        let number = ((turn + thread as u64) % all) as usize;
        let entry = strategies[number];
        let work = entry.weight * (TURN_FIRST << (turn / all).min(DOUBLINGS_MAX));
        if !worker.begin_turn(turn, left.min(work)) {
            break;
        }
        let taking = own[number].get_or_insert_with(|| (entry.create)(&worker));
        let ended = taking.take_turn(&mut worker)?;
        stats[number] += worker.end_turn();
        left = left.saturating_sub(worker.work().max(1));
        if ended != TurnEnd::Nothing {
            shared.end_at(worker.position());
            let by = FoundBy { strategy: entry.name, thread };
            let end = Some((worker.position(), by, ended));
            return Ok(ThreadResult { stats, end, reached: None });
        }
        turn += 1;
    }
    let used: u64 = stats.iter().map(|it| it.walks).sum();
    let reached = match left {
        0 => Some(HuntEnd::Transitions),
        _ => (used >= limits.walks).then_some(HuntEnd::Walks),
    };
    Ok(ThreadResult { stats, end: None, reached })
}

/// Adds the figures of all threads.
fn sum(strategies: &[&'static StrategyEntry], results: &[ThreadResult]) -> Vec<StrategyStats> {
    let of = |(number, entry): (usize, &&'static StrategyEntry)| {
        let mut turns = TurnStats::default();
        results.iter().for_each(|it| turns += it.stats[number]);
        StrategyStats { name: entry.name, turns }
    };
    strategies.iter().enumerate().map(of).collect()
}
