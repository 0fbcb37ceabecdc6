//! Spillway's answer for a model, and the check that every way to compute it gives the same answer.
//!
//! The plain answer is the result of the interpreter in the oracle's search, without reductions. It is compared with:
//!
//! - compiled code, step by step and as a whole,
//! - other key orders,
//! - symmetry reduction,
//! - every store with tiny buffers, threads and random stops,
//! - the replay of each counterexample.
//!
//! A difference panics, so that it is caught like any other panic.

use crate::support::agree::{assert_agree_in_any_order, random_states};
use crate::support::stored::{assert_same, assert_traces_replay, search, storages};
use crate::support::{Random, tiny_plan};
use spillway::analysis::static_key_order::static_order;
use spillway::exec::{ExecutionMode, Executor, Interp};
use spillway::front::{Language, Options, murphi, promela};
use spillway::ir::layout::GroupId;
use spillway::model::{
    FaultKind, Finding, StateSpace, SuccessorSink, SystemDescription, Violation, memory,
};
use spillway::reduce::claim::ClaimProduct;
use spillway::reduce::symmetry::{SymmetryEffort, SymmetryModel};
use spillway::search::{SearchLimits, SearchOutcome, SearchVerdict, StateStorage};
use spillway::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::error::Error;

/// Models with more states are abandoned.
pub const STATES_MAX: usize = 20_000;

/// The maximum number of transitions of a model. Models with more transitions are abandoned, too. A few models have far
/// more transitions than states.
const TRANSITIONS_MAX: u64 = 200_000;

/// The maximum number of steps for rebuilding states without a cache.
///
/// Rebuilding a state may take as many steps as there are levels, and each successor may need one. If this would take
/// more steps, no state is rebuilt.
const REBUILT_MAX: u64 = 1_000_000;

/// The number of slots for processes if the number that the analysis suggests is too small.
const SLOTS: u32 = 16;

/// The result for a model.
pub enum Answer {
    /// The text is rejected. Contains the reason.
    Refused(String),
    /// The model has too many states.
    Large,
    /// The model was explored.
    Explored(Box<Explored>),
}

/// A model with the result of its plain search.
pub struct Explored {
    language: &'static Language,
    text: String,
    slots: Option<u32>,
    /// The interpreter of the model.
    pub interp: Interp,
    /// The outcome of the search.
    pub outcome: SearchOutcome,
}

impl Explored {
    /// Returns the number of run-time errors of the wanted kinds.
    pub fn faults(&self, wanted: impl Fn(FaultKind) -> bool) -> u64 {
        let faults = self.outcome.findings.iter().filter(|(check, _)| match check {
            Violation::Fault(kind, _) => wanted(*kind),
            _ => false,
        });
        faults.map(|(_, finding)| finding.count).sum()
    }

    /// Returns the number of findings.
    pub fn findings(&self) -> u64 {
        self.outcome.findings.iter().map(|(_, finding)| finding.count).sum()
    }

    /// Returns a text of the findings with their numbers.
    pub fn findings_text(&self) -> String {
        let name = |(check, finding): (Violation, &Finding)| {
            let what = match check {
                Violation::Fault(kind, action) => {
                    format!("{} in {}", kind.name(), self.interp.action_name(action))
                }
                check => format!("{check:?}"),
            };
            format!("{what} {}", finding.count)
        };
        self.outcome.findings.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// Returns the counts of a search that, like Rumur's, does not visit states that violate an invariant.
    pub fn rumur_counts(&self) -> RumurCounts {
        let (model, width) = (&self.interp, self.interp.width());
        let (mut seen, mut todo, mut counts) = (HashSet::new(), Vec::new(), RumurCounts::default());
        let mut next = Vec::new();
        let mut add = |next: &[u8], counts: &mut RumurCounts, todo: &mut Vec<Vec<u8>>| {
            for state in next.chunks_exact(width) {
                let found = model.violations(state);
                if found.iter().any(|it| matches!(it, Violation::Property(_))) {
                    counts.broken += 1;
                } else if found.iter().any(|it| is_property_fault(model, it)) {
                    counts.faults += 1;
                } else if seen.insert(state.to_vec()) {
                    counts.states += 1;
                    todo.push(state.to_vec());
                }
            }
        };
        let begun = SuccessorSink::collect(width, &mut next, |out| model.initial(out));
        let started = begun.expect("no disk").findings;
        counts.faults += started.iter().map(|(_, finding)| finding.count).sum::<u64>();
        add(&next, &mut counts, &mut todo);
        while let Some(state) = todo.pop() {
            next.clear();
            let expand = |out: &mut SuccessorSink| model.expand(&state, out);
            let collected = SuccessorSink::collect(width, &mut next, expand).expect("no disk");
            counts.rules += collected.counters.transitions;
            let faults =
                collected.findings.iter().filter(|(it, _)| matches!(it, Violation::Fault(..)));
            counts.faults += faults.map(|(_, finding)| finding.count).sum::<u64>();
            let stays = next.chunks_exact(width).all(|it| it == state);
            counts.deadlocks += u64::from(stays && collected.counters.excluded == 0);
            add(&next, &mut counts, &mut todo);
        }
        counts
    }
}

/// Returns whether the violation is an error of a property, not of a step.
fn is_property_fault(model: &Interp, check: &Violation) -> bool {
    matches!(check, Violation::Fault(_, action) if *action as usize >= model.program().actions.len())
}

/// The counts of Rumur.
#[derive(Default)]
pub struct RumurCounts {
    /// States stored.
    pub states: u64,
    /// Rules fired.
    pub rules: u64,
    /// Errors of steps and in properties.
    pub faults: u64,
    /// Arrivals at states that violate an invariant.
    pub broken: u64,
    /// States without an enabled rule.
    pub deadlocks: u64,
}

fn read(language: &Language, text: &str, slots: Option<u32>) -> Result<Interp, Box<dyn Error>> {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let options = Options { slots, ..Options::default() };
    let loaded = language.load(&mut sources, &options).map_err(|diagnostics| {
        let all = diagnostics.iter().map(|it| it.render(&sources).to_string());
        all.collect::<Vec<_>>().join("\n")
    })?;
    Interp::new(loaded.program).map_err(|it| it.render(&sources).to_string().into())
}

/// Calls a function with the searched system: the product with the claim if there is one, the model otherwise.
fn with_claim_product<T>(
    model: &dyn StateSpace,
    interp: &Interp,
    visit: impl FnOnce(&dyn StateSpace) -> T,
) -> T {
    match ClaimProduct::new(model, interp) {
        Some(claimed) => visit(&claimed),
        None => visit(model),
    }
}

fn all_findings() -> SearchLimits {
    SearchLimits { stop_on_violation: false, ..SearchLimits::default() }
}

/// Searches with every state in memory.
fn oracle(model: &dyn StateSpace) -> SearchOutcome {
    memory::search(model, &all_findings()).expect("there is no disk that fails")
}

/// Computes the plain answer.
pub fn explore(language: &'static Language, text: &str) -> Answer {
    explore_more(language, text, 1)
}

/// Computes the plain answer for models that may be `times` times as large.
pub fn explore_more(language: &'static Language, text: &str, times: usize) -> Answer {
    let mut slots = None;
    loop {
        let interp = match read(language, text, slots) {
            Ok(read) => read,
            Err(error) => return Answer::Refused(error.to_string()),
        };
        let compiled = Executor::new(&interp, ExecutionMode::Jit);
        if !with_claim_product(compiled.model(), &interp, |model| is_small(model, times)) {
            return Answer::Large;
        }
        let outcome = with_claim_product(&interp, &interp, oracle);
        drop(compiled);
        let text = text.to_owned();
        let explored = Explored { language, text, slots, interp, outcome };
        let limits = explored.faults(|kind| kind == FaultKind::Limit);
        if *language == promela::LANGUAGE && limits > 0 && slots.is_none() {
            slots = Some(SLOTS);
            continue;
        }
        return Answer::Explored(Box::new(explored));
    }
}

/// Returns whether a model has few states and transitions. The search stops when there are too many.
fn is_small(model: &dyn StateSpace, times: usize) -> bool {
    let width = model.width();
    let (mut seen, mut todo, mut transitions) = (HashSet::new(), Vec::new(), 0);
    let mut next = Vec::new();
    let _ = SuccessorSink::collect(width, &mut next, |out| model.initial(out)).expect("no disk");
    loop {
        for state in next.chunks_exact(width) {
            if seen.insert(state.to_vec()) {
                todo.push(state.to_vec());
            }
        }
        next.clear();
        let Some(state) = todo.pop() else { return true };
        let collected = SuccessorSink::collect(width, &mut next, |out| model.expand(&state, out));
        transitions += collected.expect("no disk").counters.transitions;
        if seen.len() > times * STATES_MAX || transitions > times as u64 * TRANSITIONS_MAX {
            return false;
        }
    }
}

/// Panics unless every way to search gives the plain answer.
pub fn assert_all_agree(explored: &Explored, random: &mut Random) {
    let interp = &explored.interp;
    let executors =
        [ExecutionMode::Interp, ExecutionMode::Jit].map(|exec| Executor::new(interp, exec));
    if let Executor::Compiled(jit) = &executors[1] {
        let states = random_states(interp, 300, random.next() >> 20);
        assert_agree_in_any_order("compiled", interp, jit, &states);
    }
    let whole = |model: &dyn StateSpace| oracle(model);
    let compiled = with_claim_product(executors[1].model(), interp, whole);
    assert_eq!(compiled, explored.outcome, "compiled, as a whole");
    assert_stores_agree(explored, executors.each_ref().map(Executor::model), random);
    assert_orders_agree(explored, random);
    if *explored.language == murphi::LANGUAGE {
        assert_symmetries_agree(explored, executors.each_ref().map(Executor::model), random);
    }
}

/// Checks some of the stores, each with its own budgets, threads and stops.
fn assert_stores_agree(
    explored: &Explored,
    [plain, compiled]: [&dyn StateSpace; 2],
    random: &mut Random,
) {
    let interp = &explored.interp;
    with_claim_product(plain, interp, |plain| {
        with_claim_product(compiled, interp, |compiled| {
            assert_some_stores_agree([plain, compiled], &explored.outcome, random);
        });
    });
}

fn assert_some_stores_agree(
    models: [&dyn StateSpace; 2],
    expected: &SearchOutcome,
    random: &mut Random,
) {
    let mut storages = storages(models[0]);
    if expected.levels.len() as u64 * expected.counters.transitions > REBUILT_MAX {
        storages.retain(|it| matches!(it, StateStorage::Sorted(_)));
    }
    let count = if expected.states() < 2_000 { 4 } else { 2 };
    for _ in 0..count {
        let storage = storages.swap_remove(random.below(storages.len()));
        let models = if random.below(2) == 0 { models } else { [models[1], models[0]] };
        let plan = tiny_plan(
            1 + random.below(3),
            models[0].width(),
            4 + random.below(2_000) as u64,
            16 + random.below(10_000) as u64,
        );
        let pauses: Vec<u64> = (0..random.below(3))
            .map(|_| random.below(expected.states().max(1) as usize) as u64)
            .collect();
        let (outcome, disk) = search(&models, &storage, &[plan], &pauses, &all_findings());
        assert_same(&outcome, expected, &storage, "a store");
        // A start that fails has no counterexample by levels.
        if !expected.levels.is_empty() {
            assert_traces_replay(models[0], &*disk, &outcome);
        }
    }
}

/// The violations, their numbers, and their first depths.
type Found = Vec<(Violation, u64, u64)>;

/// Counts that do not depend on the key order.
fn counts(outcome: &SearchOutcome) -> (SearchVerdict, Vec<u64>, u64, Found) {
    let findings = outcome.findings.iter();
    let findings = findings.map(|(check, finding)| (check, finding.count, finding.level)).collect();
    (outcome.verdict, outcome.levels.clone(), outcome.counters.transitions, findings)
}

fn assert_orders_agree(explored: &Explored, random: &mut Random) {
    let interp = &explored.interp;
    let mut shuffled = interp.layout().order.clone();
    for at in (1..shuffled.len()).rev() {
        shuffled.swap(at, random.below(at + 1));
    }
    let orders: [Vec<GroupId>; 2] = [static_order(interp.program(), interp.layout()), shuffled];
    for order in orders {
        let reloaded = read(explored.language, &explored.text, explored.slots).expect("read once");
        let other = reloaded.with_order(&order).expect("an order of the same groups");
        let executor = Executor::new(&other, ExecutionMode::Jit);
        let found = with_claim_product(executor.model(), &other, oracle);
        assert_eq!(counts(&found), counts(&explored.outcome), "in the key order {order:?}");
    }
}

/// Returns the first violations with their depths, by their report texts.
fn violations(model: &dyn StateSpace, outcome: &SearchOutcome) -> BTreeMap<String, u64> {
    let description = model.description();
    let properties = description.properties();
    let mut all = BTreeMap::new();
    for (check, finding) in outcome.findings.iter() {
        let name = match check {
            Violation::Property(number) => properties[number as usize].name.clone(),
            Violation::Fault(kind, action) => {
                format!("{} in {}", kind.name(), description.action_name(action))
            }
            Violation::Deadlock => "deadlock".into(),
        };
        let level = all.entry(name).or_insert(finding.level);
        *level = finding.level.min(*level);
    }
    all
}

/// Checks that reduced searches find the same as the full one, at the same depths, with no more states.
fn assert_symmetries_agree(explored: &Explored, models: [&dyn StateSpace; 2], random: &mut Random) {
    let (interp, plain) = (&explored.interp, &explored.outcome);
    let mut states = plain.states();
    for effort in [SymmetryEffort::Fast, SymmetryEffort::Exact] {
        let reduced = models
            .map(|model| SymmetryModel::new(model, interp.program(), interp.layout(), effort));
        let [Some(reduced), Some(compiled)] = &reduced else { return };
        let outcome = oracle(reduced);
        let what = format!("symmetry {}", effort.name());
        assert_eq!(outcome.verdict, plain.verdict, "{what}");
        assert_eq!(outcome.levels.len(), plain.levels.len(), "{what}: levels");
        assert_eq!(violations(reduced, &outcome), violations(interp, plain), "{what}");
        assert!(outcome.states() <= states, "{what}: {} states of {states}", outcome.states());
        states = outcome.states();
        assert_eq!(oracle(compiled), outcome, "{what}, compiled");
        assert_some_stores_agree([reduced, compiled], &outcome, random);
    }
}

/// Returns the number of action names, and of those executed somewhere.
pub fn executed_actions(explored: &Explored) -> (usize, usize) {
    let interp = &explored.interp;
    let states = random_states(interp, 200, 1);
    let steps = states.chunks_exact(interp.width()).flat_map(|state| interp.steps(state));
    let taken: BTreeSet<u32> = steps.map(|step| step.action).collect();
    (taken.len(), interp.program().actions.len())
}
