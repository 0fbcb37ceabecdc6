//! Tests of the tables of `crates/spillway-analysis/src` by execution:
//!
//! - a variable outside the write set keeps its value;
//! - a variable outside the read set does not affect the result;
//! - a variable that is surely written is overwritten;
//! - independent transitions commute;
//! - no transition outside an enabling set enables the action;
//! - an invisible transition does not change the property.
//!
//! The programs are random programs, random models in every language, our models, and with `SPILLWAY_CORPUS` an
//! external corpus. `SPILLWAY_LARGE` runs more cases, which take minutes.

// Random programs and random models are made from numbers in the same way.

use crate::generated::{Generated, programs};
use crate::instances::{Came, Taker, judging, taken};
use crate::support::collection::{models_below, text_of};
use crate::support::{Random, is_large};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use spillway::analysis::access::{
    AccessTable, CellSet, ChannelPredicate, ConjunctCondition, GuardConjunct,
};
use spillway::analysis::bit_sets::members;
use spillway::analysis::dependence::DependenceRelation;
use spillway::analysis::instances::{ActionInstance, InstanceId};
use spillway::analysis::ranges::ranges;
use spillway::budget::AnalysisBudget;
use spillway::exec::Interp;
use spillway::front::{Language, Options, dve, murphi, promela};
use spillway::ir::layout::{CellId, GroupContent};
use spillway::ir::{Arena, PidRule, ProcessInstance, Program, PropertyId, PropertyKind};
use spillway::model::{FaultKind, StepOutcome, SystemDescription, Violation};
use spillway::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Instant;

/// The most action instances of a program that is looked at.
const INSTANCES_MAX: u32 = 300;
/// States of each that are looked at.
const STATES: usize = 60;

/// How often each thing was tried, so that a test of nothing is no test.
#[derive(Debug, Default)]
struct Tried {
    programs: usize,
    steps: usize,
    mixed: usize,
    overwritten: usize,
    pairs: usize,
    independent: usize,
    enabled: usize,
    by_known: usize,
    seen: usize,
    failed: usize,
    safe: usize,
    instances: usize,
    may_fail: usize,
    dependent: usize,
    interacting: usize,
    spared: usize,
}

/// A program, some of its reachable states, and what is said of it.
struct Trial<'a> {
    name: &'a str,
    model: &'a Interp,
    table: &'a AccessTable<'a>,
    dependence: &'a DependenceRelation<'a>,
    taker: Taker<'a>,
    states: Vec<Vec<u8>>,
}

/// Reachable states: the first ones, and those of walks.
fn reachable(model: &Interp, random: &mut Random) -> Vec<Vec<u8>> {
    let successors = |steps: Vec<spillway::model::StepDescription>| {
        let states = steps.into_iter().filter_map(|step| match step.outcome {
            StepOutcome::Successor(state) => Some(state),
            StepOutcome::Fault(_) => None,
        });
        states.take(200).collect::<Vec<_>>()
    };
    let mut found: BTreeSet<Vec<u8>> = BTreeSet::new();
    for _ in 0..6 {
        let mut options = successors(model.starts());
        for _ in 0..40 {
            if options.is_empty() {
                break;
            }
            let state = options.swap_remove(random.below(options.len()));
            options = successors(model.steps(&state));
            found.insert(state);
        }
    }
    let mut all: Vec<Vec<u8>> = found.into_iter().collect();
    while all.len() > STATES {
        all.swap_remove(random.below(all.len()));
    }
    all
}

/// Tries all that is said of a program.
fn try_program(name: &str, program: Program, random: &mut Random, tried: &mut Tried) {
    let Ok(model) = Interp::as_declared(program) else { return };
    // Priorities are a matter of all others.
    let priorities = model.program().actions.values().any(|it| it.priority != 0);
    if priorities {
        return;
    }
    let Ok(table) = AccessTable::new(model.program(), model.layout()) else { return };
    let Some(dependence) =
        DependenceRelation::new(&table, INSTANCES_MAX, &AnalysisBudget::largest()).unwrap()
    else {
        return;
    };
    let states = reachable(&model, random);
    if states.is_empty() {
        return;
    }
    let taker = Taker::new(&model, table.instances());
    let trial =
        Trial { name, model: &model, table: &table, dependence: &dependence, taker, states };
    tried.programs += 1;
    trial.all_pairs_at_once(tried);
    trial.writes_and_reads(random, tried);
    trial.pairs(random, tried);
    if trial.dependence.instances().count() <= 40 {
        trial.interactions(tried);
    }
}

/// Two states that are mixed, and what an instance does in the first.
#[derive(Clone, Copy)]
struct MixedStates<'s> {
    instance: InstanceId,
    state: &'s [u8],
    other: &'s [u8],
    reads: &'s CellSet,
    writes: &'s CellSet,
    came: &'s BTreeSet<Came>,
}

/// Two instances that are possible in one state.
#[derive(Clone, Copy)]
struct InstancePair {
    one: InstanceId,
    other: InstanceId,
}

/// A step after which another instance may be possible.
#[derive(Clone, Copy)]
struct EnablingStep<'s> {
    state: &'s [u8],
    next: &'s [u8],
    by: InstanceId,
    instance: InstanceId,
}

impl Trial<'_> {
    fn cells(&self) -> impl Iterator<Item = CellId> + use<> {
        (0..self.model.layout().state_cells).map(CellId)
    }

    fn shown(&self, instance: InstanceId) -> String {
        let program = self.model.program();
        let it = self.table.instances().get(instance).unwrap();
        let names: Vec<&str> =
            it.sides().map(|side| program.actions[side.action].name.as_str()).collect();
        format!(
            "{}: {it:?}, {names:?}\n{:#?}\n{}",
            self.name,
            self.dependence.access(instance),
            spillway::ir::text::print(program)
        )
    }

    /// The state with other values in some cells. What makes a channel stays together.
    fn with_cells_of(
        &self,
        state: &[u8],
        other: &[u8],
        wanted: impl Fn(CellId) -> bool,
    ) -> Vec<u8> {
        let layout = self.model.layout();
        let mut mixed = state.to_vec();
        for group in layout.groups.values() {
            let cells = (group.first.0..group.first.0 + group.cells).map(CellId);
            let together = matches!(group.part, GroupContent::Channel(_));
            let all = cells.clone().all(&wanted);
            for cell in cells.filter(|&cell| if together { all } else { wanted(cell) }) {
                layout.set_code(&mut mixed, cell, layout.code(other, cell));
            }
        }
        mixed
    }

    /// Whether the same instances live in both states, with the same pids.
    fn same_instances(&self, one: &[u8], other: &[u8]) -> bool {
        let (program, layout) = (self.model.program(), self.model.layout());
        program.instances().all(|ProcessInstance { process, slot }| {
            let about = &program.processes[process];
            let placement = layout.locations[process];
            let at = CellId(placement.first.0 + slot * placement.stride);
            let alive = |state| !about.has_slots() || layout.code(state, at) > 0;
            let pid = |state| match about.life.pid {
                PidRule::In(variable) => {
                    let placement = layout.variables[variable];
                    layout.code(state, CellId(placement.first.0 + slot * placement.stride))
                }
                PidRule::None | PidRule::From(_) => 0,
            };
            alive(one) == alive(other) && pid(one) == pid(other)
        })
    }

    fn changed(&self, one: &[u8], other: &[u8]) -> Vec<CellId> {
        let layout = self.model.layout();
        self.cells().filter(|&it| layout.code(one, it) != layout.code(other, it)).collect()
    }

    /// That what is said of all pairs at once is what is said of each.
    fn all_pairs_at_once(&self, tried: &mut Tried) {
        let (all, matrix) =
            (self.dependence, self.dependence.matrix(&AnalysisBudget::largest()).unwrap());
        for one in all.instances() {
            let guard = &all.access(one).guard;
            tried.instances += 1;
            tried.may_fail += usize::from(all.access(one).failures().any());
            assert_eq!(matrix.enabling_of[one].len(), guard.len());
            for (conjunct, &row) in matrix.enabling_of[one].iter().enumerate() {
                let found = members(matrix.sets.row(row)).map(|it| InstanceId(it as u32));
                let found: Vec<InstanceId> = found.collect();
                let shown = || format!("conjunct {conjunct} of {}", self.shown(one));
                assert_eq!(found, all.enabling(one, conjunct), "{}", shown());
            }
            for other in all.instances().filter(|it| *it != one) {
                let shown = || {
                    format!(
                        "{}
and {}",
                        self.shown(one),
                        self.shown(other)
                    )
                };
                let dependent = matrix.dependent.contains(one.0 as usize, other.0 as usize);
                tried.dependent += usize::from(dependent);
                assert_eq!(dependent, !all.are_independent(one, other), "{}", shown());
                let excluded = matrix.excluded.contains(one.0 as usize, other.0 as usize);
                assert_eq!(excluded, all.exclude(one, other), "{}", shown());
            }
        }
    }

    /// That a step changes nothing but what it may, and depends on nothing but what it reads.
    fn writes_and_reads(&self, random: &mut Random, tried: &mut Tried) {
        for instance in self.dependence.instances() {
            let access = self.dependence.access(instance);
            let (reads, writes) = (self.table.read_cells(access), self.table.written_cells(access));
            for state in &self.states {
                let came = self.taker.take(instance, state);
                self.fails(instance, state, &came, tried);
                for next in came.iter().flatten() {
                    tried.steps += 1;
                    for cell in self.changed(state, next) {
                        assert!(
                            writes.contains(cell),
                            "{cell:?} of {state:02x?} is written by {}",
                            self.shown(instance)
                        );
                    }
                }
                let other = &self.states[random.below(self.states.len())];
                if self.same_instances(state, other) {
                    let (reads, writes, came) = (&reads, &writes, &came);
                    let mixture = MixedStates { instance, state, other, reads, writes, came };
                    self.ignores(mixture, tried);
                    self.overwrites(mixture, tried);
                }
            }
        }
    }

    /// That what might interact with an instance is said to, in every run out of a few states: as long as
    /// nothing is taken that is said to, all that is taken commutes with it.
    fn interactions(&self, tried: &mut Tried) {
        let matrix = self.dependence.matrix(&AnalysisBudget::largest()).unwrap();
        let mut known: HashMap<(InstanceId, Vec<u8>), BTreeSet<Came>> = HashMap::new();
        for state in self.states.iter().take(12) {
            for one in self.dependence.instances() {
                if self.known(&mut known, one, state).is_empty() {
                    continue;
                }
                let value = |cell| self.model.layout().get(state, cell).unwrap_or_default();
                let mut others: Vec<InstanceId> = Vec::new();
                for other in self.dependence.instances().filter(|it| *it != one) {
                    let interacts = matrix.may_interact(one, other, value);
                    let dependent = matrix.dependent.contains(one.0 as usize, other.0 as usize);
                    assert!(dependent || !interacts, "more than all: {}", self.shown(one));
                    tried.interacting += usize::from(interacts);
                    tried.spared += usize::from(dependent && !interacts);
                    others.extend((!interacts).then_some(other));
                }
                self.all_commute(one, &others, state, &mut known);
            }
        }
    }

    /// That an instance commutes with others in all runs of these.
    fn all_commute(
        &self,
        one: InstanceId,
        others: &[InstanceId],
        from: &[u8],
        known: &mut HashMap<(InstanceId, Vec<u8>), BTreeSet<Came>>,
    ) {
        let mut seen = BTreeSet::from([from.to_vec()]);
        let mut open = vec![from.to_vec()];
        while let Some(state) = open.pop().filter(|_| seen.len() < 200) {
            for &other in others {
                let came = self.known(known, other, &state);
                if came.is_empty() {
                    continue;
                }
                let ones = self.known(known, one, &state);
                let shown = || {
                    let (one, other) = (self.shown(one), self.shown(other));
                    format!("in {state:02x?}, from {from:02x?}: {one}\nand {other}")
                };
                let mut then = |first: &BTreeSet<Came>, second: InstanceId, alone: usize| {
                    let mut ends = BTreeSet::new();
                    for next in first.iter().flatten() {
                        let after = self.known(known, second, next);
                        assert_eq!(after.len(), alone, "one disturbs the other {}", shown());
                        ends.extend(after.into_iter().flatten());
                    }
                    ends
                };
                let (left, right) = (then(&ones, other, came.len()), then(&came, one, ones.len()));
                let both = [&ones, &came].iter().all(|it| it.iter().any(Result::is_ok));
                assert!(!both || left == right, "the order matters {}", shown());
                for next in came.into_iter().flatten() {
                    open.extend(Some(next).filter(|next| seen.insert(next.clone())));
                }
            }
        }
    }

    fn known(
        &self,
        known: &mut HashMap<(InstanceId, Vec<u8>), BTreeSet<Came>>,
        instance: InstanceId,
        state: &[u8],
    ) -> BTreeSet<Came> {
        let take = || self.taker.take(instance, state);
        known.entry((instance, state.to_vec())).or_insert_with(take).clone()
    }

    /// That an instance that meets an error is one of those that may.
    fn fails(&self, instance: InstanceId, state: &[u8], came: &BTreeSet<Came>, tried: &mut Tried) {
        let may = self.dependence.access(instance).failures();
        tried.safe += usize::from(!came.is_empty() && !may.any());
        for kind in came.iter().filter_map(|it| it.as_ref().err()) {
            tried.failed += 1;
            let said = if kind.is_assertion() { may.assertion } else { may.other };
            assert!(said, "{kind:?} in {state:02x?} is an error of {}", self.shown(instance));
        }
    }

    /// That what is neither read nor written does not matter, and stays.
    fn ignores(&self, mixture: MixedStates<'_>, tried: &mut Tried) {
        let MixedStates { instance, state, other, reads, writes, came } = mixture;
        let mixed = self
            .with_cells_of(state, other, |cell| !reads.contains(cell) && !writes.contains(cell));
        if mixed == state {
            return;
        }
        tried.mixed += 1;
        let moved = came.iter().map(|came| {
            let next = came.as_ref().map_err(|kind| *kind)?;
            Ok(self.with_cells_of(&mixed, next, |cell| writes.contains(cell)))
        });
        let expected: BTreeSet<Came> = moved.collect();
        let found = self.taker.take(instance, &mixed);
        assert!(
            found == expected,
            "{found:02x?} and not {expected:02x?}: {mixed:02x?} for {state:02x?}, {}",
            self.shown(instance)
        );
    }

    /// That what is surely written does not matter, either, if it is not read.
    fn overwrites(&self, mixture: MixedStates<'_>, tried: &mut Tried) {
        let MixedStates { instance, state, other, reads, came, .. } = mixture;
        let surely = &self.dependence.access(instance).effect.definite_writes;
        let mixed =
            self.with_cells_of(state, other, |cell| surely.contains(cell) && !reads.contains(cell));
        if mixed == state || came.is_empty() {
            return;
        }
        tried.overwritten += 1;
        let found = self.taker.take(instance, &mixed);
        assert!(
            found == *came,
            "{found:02x?} and not {came:02x?}: {mixed:02x?} for {state:02x?}, {}",
            self.shown(instance)
        );
    }

    /// That what is said of two instances holds in every state.
    fn pairs(&self, random: &mut Random, tried: &mut Tried) {
        let all: Vec<InstanceId> = self.dependence.instances().collect();
        let mut judges = BTreeMap::new();
        for state in &self.states {
            let came: Arena<InstanceId, BTreeSet<Came>> =
                all.iter().map(|it| self.taker.take(*it, state)).collect();
            let is_possible = |it: &&InstanceId| !came[**it].is_empty();
            let possible: Vec<InstanceId> = all.iter().filter(is_possible).copied().collect();
            for &one in &possible {
                for &other in &possible {
                    self.commutes(state, InstancePair { one, other }, &came, tried);
                }
                for next in came[one].iter().flatten() {
                    self.is_seen(one, state, next, tried);
                    // There are many that are not possible.
                    for &other in all.iter().filter(|it| !is_possible(it)) {
                        if all.len() < 30 || random.below(all.len()) < 30 {
                            let enabling = EnablingStep { state, next, by: one, instance: other };
                            self.enables(enabling, &mut judges, tried);
                        }
                    }
                }
            }
        }
    }

    fn commutes(
        &self,
        state: &[u8],
        pair: InstancePair,
        came: &Arena<InstanceId, BTreeSet<Came>>,
        tried: &mut Tried,
    ) {
        let InstancePair { one, other } = pair;
        if one == other {
            return;
        }
        tried.pairs += 1;
        let shown = || format!("{}\nand {}", self.shown(one), self.shown(other));
        assert!(!self.dependence.exclude(one, other), "both are possible: {}", shown());
        if !self.dependence.are_independent(one, other) {
            return;
        }
        tried.independent += 1;
        let then = |first: InstanceId, second: InstanceId| -> BTreeSet<Vec<u8>> {
            let mut ends = BTreeSet::new();
            for next in came[first].iter().flatten() {
                let after = self.taker.take(second, next);
                let errors = |all: &BTreeSet<Came>| -> Vec<_> {
                    all.iter().filter_map(|it| it.clone().err()).collect()
                };
                let same =
                    after.len() == came[second].len() && errors(&after) == errors(&came[second]);
                assert!(same, "the second is another after the first in {state:02x?}: {}", shown());
                ends.extend(after.into_iter().flatten());
            }
            ends
        };
        let (left, right) = (then(one, other), then(other, one));
        // Where one is an error there is nothing to go on from.
        let both = |it: InstanceId| came[it].iter().any(Result::is_ok);
        if both(one) && both(other) {
            assert!(left == right, "the order matters in {state:02x?}: {}", shown());
        }
    }

    /// That what was not possible, and is after a step, has that step in its enabling sets.
    fn enables(
        &self,
        enabling: EnablingStep<'_>,
        judges: &mut BTreeMap<(InstanceId, usize), Interp>,
        tried: &mut Tried,
    ) {
        let EnablingStep { state, next, by, instance } = enabling;
        let all = self.dependence.access(instance).guard.len();
        let may = |conjunct| self.dependence.may_enable(by, instance, conjunct);
        // Most cannot be enabled, which is soon said; the rest has to be tried.
        if (0..all).all(may) || self.taker.take(instance, next).is_empty() {
            return;
        }
        tried.enabled += 1;
        let shown = |what: &str| {
            format!("{what} in {state:02x?}: {}\nby {}", self.shown(instance), self.shown(by))
        };
        let told = self.told(instance, state, judges);
        let first = told.iter().position(|it| *it != Some(true));
        match first.filter(|&it| told[it] == Some(false)) {
            Some(conjunct) => {
                tried.by_known += 1;
                assert!(may(conjunct), "{}", shown(&format!("enabled by conjunct {conjunct}")));
            }
            // One of those of which it is not told.
            None => {
                let any = (0..all).filter(|it| told[*it] != Some(true)).any(may);
                assert!(any, "{}", shown("enabled"));
            }
        }
    }

    /// Which conjuncts hold in a state, as far as that can be told.
    fn told(
        &self,
        instance: InstanceId,
        state: &[u8],
        judges: &mut BTreeMap<(InstanceId, usize), Interp>,
    ) -> Vec<Option<bool>> {
        let guard = self.dependence.access(instance).guard.iter().enumerate();
        let told = guard.map(|it| self.holds(instance, it, state, judges)).collect();
        self.without_messages(instance, told)
    }

    /// Whether the first message matches is asked of one that is there.
    fn without_messages(
        &self,
        instance: InstanceId,
        mut told: Vec<Option<bool>>,
    ) -> Vec<Option<bool>> {
        let guard = &self.dependence.access(instance).guard;
        for at in 1..guard.len() {
            let first_matches = matches!(
                guard[at].condition,
                ConjunctCondition::Asks(_, ChannelPredicate::FirstMatches)
            );
            if first_matches && guard[at - 1].may_fail() {
                told[at - 1] = None;
            }
        }
        told
    }

    fn holds(
        &self,
        instance: InstanceId,
        (at, conjunct): (usize, &GuardConjunct<'_>),
        state: &[u8],
        judges: &mut BTreeMap<(InstanceId, usize), Interp>,
    ) -> Option<bool> {
        let (program, layout) = (self.model.program(), self.model.layout());
        if let (ConjunctCondition::At(cell, location), None) = (&conjunct.condition, conjunct.expr)
        {
            // Of processes that come and go 0 is nowhere.
            let nowhere = i64::from(program.has_dynamic_processes());
            return Some(layout.get(state, *cell) == Some(i64::from(location.0) + nowhere));
        }
        if let Some(holds) = self.by_number(conjunct, state) {
            return Some(holds);
        }
        if program.has_dynamic_processes() {
            return None;
        }
        let Some(ActionInstance::Alone(side)) = self.table.instances().get(instance) else {
            return None;
        };
        let waits = matches!(conjunct.condition, ConjunctCondition::Asks(..));
        if conjunct.expr.is_none() && !waits {
            return None;
        }
        let judge = judges.entry((instance, at)).or_insert_with(|| {
            let message = match conjunct.expr {
                Some(_) => None,
                None => program.actions[side.action].communication.clone(),
            };
            let instances = self.table.instances();
            judging(program, instances, side, conjunct.expr.cloned(), message)
        });
        Some(!taken(judge, state).is_empty())
    }

    /// Whether a conjunct holds that is about one number: a cell, or how many messages there are.
    fn by_number(&self, conjunct: &GuardConjunct<'_>, state: &[u8]) -> Option<bool> {
        let (program, layout) = (self.model.program(), self.model.layout());
        match &conjunct.condition {
            _ if conjunct.may_fail() => None,
            ConjunctCondition::Compares(cell, ..) => {
                let value = layout.get(state, *cell)?;
                Some(conjunct.condition.holds_of(program.arithmetic, value))
            }
            ConjunctCondition::Asks(channels, question) => {
                let [channel] = channels.as_slice() else { return None };
                let waiting = layout.get(state, self.table.length_cell(*channel))?;
                let room = i64::from(program.channels[channel.id].capacity);
                match question {
                    ChannelPredicate::HasRoom => Some(waiting < room),
                    ChannelPredicate::IsFull => Some(waiting == room),
                    ChannelPredicate::HasMessage => Some(waiting > 0),
                    ChannelPredicate::IsEmpty => Some(waiting == 0),
                    ChannelPredicate::FirstMatches | ChannelPredicate::SomeMatches => None,
                }
            }
            ConjunctCondition::At(..) | ConjunctCondition::Holds => None,
        }
    }

    /// That a step which changes whether a property holds is visible to it.
    fn is_seen(&self, by: InstanceId, state: &[u8], next: &[u8], tried: &mut Tried) {
        let broken = |state: &[u8]| -> BTreeSet<Violation> {
            let found = self.model.violations(state).into_iter();
            found.filter(|it| matches!(it, Violation::Property(_))).collect()
        };
        for check in broken(state).symmetric_difference(&broken(next)) {
            let Violation::Property(number) = check else { continue };
            let property = PropertyId(*number);
            let kind = &self.model.program().properties[property].kind;
            // It is judged only in states without successors, which every choice of steps keeps. What is visible is
            // what the condition reads, not that a state has no successor.
            if matches!(kind, PropertyKind::AtEnd(_)) {
                continue;
            }
            tried.seen += 1;
            assert!(
                self.dependence.visible(property).contains(&by),
                "{kind:?} is changed by {}",
                self.shown(by)
            );
        }
    }
}

#[test]
fn what_is_said_of_random_programs_is_true() {
    let mut runner = TestRunner::deterministic();
    let mut tried = Tried::default();
    let cases = if is_large() { 3000 } else { 150 };
    for seed in 0..cases {
        let Generated(program) = programs().new_tree(&mut runner).unwrap().current();
        try_program(&format!("seed {seed}"), program, &mut Random::new(seed), &mut tried);
    }
    println!("{tried:?}");
    assert!(tried.programs > 80 && tried.steps > 10_000 && tried.mixed > 10_000, "{tried:?}");
    assert!(tried.overwritten > 1000 && tried.independent > 1000, "{tried:?}");
    assert!(tried.enabled > 300 && tried.by_known > 100 && tried.seen > 100, "{tried:?}");
}

/// A program, if the text is a model of the language.
pub fn load(language: &Language, name: &str, text: String) -> Option<Program> {
    let mut sources = SourceMap::default();
    sources.add(name, text);
    Some(language.load(&mut sources, &Options::default()).ok()?.program)
}

#[test]
fn what_is_said_of_random_models_is_true() {
    for language in [&promela::LANGUAGE, &murphi::LANGUAGE, &dve::LANGUAGE] {
        let mut tried = Tried::default();
        let cases = if is_large() { 600 } else { 40 };
        for seed in 0..cases {
            let (text, _) = crate::models::make(language, &crate::models::numbers(seed));
            let Some(program) = load(language, "random", text.clone()) else { continue };
            let name = format!("{} {seed}:\n{text}", language.name);
            try_program(&name, program, &mut Random::new(seed), &mut tried);
        }
        println!("{}: {tried:?}", language.name);
        assert!(tried.programs > 10 && tried.steps > 1000 && tried.mixed > 1000, "{tried:?}");
        assert!(tried.independent > 100, "{tried:?}");
    }
}

/// What is known of a program, and what it costs to find out.
fn described(program: Program) -> String {
    let Ok(model) = Interp::as_declared(program) else { return "not executed".to_string() };
    let ranges = ranges(model.program());
    let began = Instant::now();
    let Ok(table) =
        AccessTable::with_fixed_cells(model.program(), model.layout(), ranges, BTreeMap::new())
    else {
        return "not numbered".to_string();
    };
    let Some(dependence) =
        DependenceRelation::new(&table, 1 << 13, &AnalysisBudget::largest()).unwrap()
    else {
        return "too many".to_string();
    };
    let described = began.elapsed();
    let matrix = dependence.matrix(&AnalysisBudget::largest()).unwrap();
    let related = began.elapsed() - described;
    let count =
        |is: &dyn Fn(InstanceId) -> bool| dependence.instances().filter(|&it| is(it)).count();
    let conjuncts = dependence.instances().flat_map(|it| &dependence.access(it).guard);
    let (mut all, mut open) = (0, [0; 5]);
    for conjunct in conjuncts {
        all += 1;
        if conjunct.condition == ConjunctCondition::Holds {
            let read = &conjunct.access;
            open[match (conjunct.expr, read.reads.iter().count()) {
                _ if read.reads_anything => 4,
                (None, _) => 3,
                (Some(_), 0..=1) => 0,
                (Some(_), 2) => 1,
                (Some(_), _) => 2,
            }] += 1;
        }
    }
    let pairs = |rows: &dyn Fn(usize) -> usize| {
        (0..table.instances().count() as usize).map(rows).sum::<usize>()
    };
    format!(
        "{} instances, {} may fail, {} may fail an assertion, {all} conjuncts, {open:?} of them not understood, \
         about a cell, two, more, the program, anything; \
         {} pairs dependent, {} always interact; {described:?} to describe, {related:?} to relate",
        table.instances().count(),
        count(&|it| dependence.access(it).failures().other),
        count(&|it| dependence.access(it).failures().assertion),
        pairs(&|it| members(matrix.dependent.row(it)).count()),
        pairs(&|it| members(matrix.interacting.row(it)).count()),
    )
}

fn try_folder(folder: &Path) -> Tried {
    let mut tried = Tried::default();
    for file in models_below(folder) {
        let language = Language::from_file_name(&file.to_string_lossy()).unwrap();
        let name = file.display().to_string();
        let Some(program) = load(language, &name, text_of(&file)) else { continue };
        let before = tried.programs;
        println!("{name}: {}", described(program.clone()));
        try_program(&name, program, &mut Random::new(1), &mut tried);
        println!("{name}: {}", if tried.programs > before { "tried" } else { "not tried" });
    }
    println!("{tried:?}");
    tried
}

#[test]
fn what_is_said_of_our_models_is_true() {
    let tried = try_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"));
    assert!(tried.programs > 30 && tried.independent > 1000 && tried.enabled > 300, "{tried:?}");
}

#[test]
fn what_is_said_of_the_corpus_is_true() {
    let Some(corpus) = std::env::var_os("SPILLWAY_CORPUS") else {
        return println!("skipped: SPILLWAY_CORPUS is not set");
    };
    for language in ["dve", "murphi", "promela"] {
        try_folder(&Path::new(&corpus).join(language));
    }
}

/// What a process may do with a channel.
const OPERATIONS: [&str; 15] = [
    "c!0",
    "c!2",
    "c!!1",
    "c!!0",
    "c?x",
    "c?1",
    "c??1",
    "c??x",
    "c?<x>",
    "c?<1>",
    "c??<1>",
    "empty(c)",
    "nempty(c)",
    "full(c)",
    "nfull(c)",
];

/// Processes that do nothing but use one channel.
fn channel_users(random: &mut Random) -> String {
    let mut text = format!("chan c = [{}] of {{ byte }};\n", 1 + random.below(4));
    for process in 0..4 {
        let options = (0..1 + random.below(2)).map(|_| OPERATIONS[random.below(OPERATIONS.len())]);
        let options: Vec<String> = options.map(|it| format!(":: {it} ")).collect();
        text += &format!("active proctype P{process}() {{ byte x; do {}od }}\n", options.concat());
    }
    text
}

#[test]
fn what_is_said_of_channels_is_true() {
    let (mut tried, mut random) = (Tried::default(), Random::new(7));
    for _ in 0..if is_large() { 5000 } else { 400 } {
        let text = channel_users(&mut random);
        let program = load(&promela::LANGUAGE, "channel.pml", text.clone()).unwrap();
        try_program(&text, program, &mut random, &mut tried);
    }
    println!("{tried:?}");
    assert!(tried.independent > 5000 && tried.enabled > 1000, "{tried:?}");
    assert!(tried.spared > 100 && tried.interacting > 1000, "{tried:?}");
}

/// What a process may do with a counter.
const COUNTING: [&str; 9] = [
    "guard x > 0; effect x = x - 1;",
    "guard x < 4; effect x = x + 1;",
    "guard x < 3; effect x = x + 2;",
    "guard x == 0; effect x = 3;",
    "effect x = 1;",
    "guard x > 1;",
    "guard x == 0;",
    "guard x <= 2;",
    "guard x != 4;",
];

/// Processes that do nothing but count.
fn counter_users(random: &mut Random) -> String {
    let mut text = "byte x;\n".to_string();
    for process in 0..4 {
        let options = (0..1 + random.below(2)).map(|_| COUNTING[random.below(COUNTING.len())]);
        let options: Vec<String> = options.map(|it| format!("a -> a {{ {it} }}")).collect();
        let options = options.join(", ");
        text += &format!("process P{process} {{ state a; init a; trans {options}; }}\n");
    }
    text + "system async;"
}

#[test]
fn what_is_said_of_counters_is_true() {
    let (mut tried, mut random) = (Tried::default(), Random::new(11));
    for _ in 0..if is_large() { 5000 } else { 200 } {
        let text = counter_users(&mut random);
        let program = load(&dve::LANGUAGE, "counter.dve", text.clone()).unwrap();
        try_program(&text, program, &mut random, &mut tried);
    }
    println!("{tried:?}");
    assert!(tried.spared > 100 && tried.interacting > 1000, "{tried:?}");
}

/// Small models, each of something that random ones seldom have.
const RARE: [(&Language, &str); 13] = [
    (
        &murphi::LANGUAGE,
        "var x: 0..3; y: boolean;
         startstate begin x := 0; y := false; end;
         rule \"up\" begin while x < 3 do x := x + 1; end; end;
         rule \"low\" x <= 2 ==> begin y := !y; end;
         rule \"down\" x > 0 ==> begin x := x - 1; end;",
    ),
    (
        &promela::LANGUAGE,
        "chan c = [2] of { byte }; byte x, y;
         active proctype P() { do :: x < 2 -> x++ :: else -> y = 1 - y od }
         active proctype Q() { do :: y == 1 -> x = 0 :: nempty(c) -> c?y :: else -> c!1 od }
         active proctype R() { do :: c?x :: else -> y = 1 - y od }
         active proctype S() { do :: x == 1 && y == 1 -> x = 2 :: full(c) -> x = 0 :: else -> x = 1 od }",
    ),
    (
        &promela::LANGUAGE,
        "chan c = [1] of { byte }; chan d; byte x;
         active proctype P() { do :: d?x :: else -> x = 1 - x od }
         active proctype Q() { do :: d = c :: d = 0 :: c!1 :: c?x od }",
    ),
    (
        &promela::LANGUAGE,
        "byte x; active [3] proctype P() { do :: _last == 0 -> x = 1 :: x = 0 :: x == 1 -> x = 2 od }",
    ),
    (
        &promela::LANGUAGE,
        "byte x; active proctype P() provided (x < 2) { do :: x++ od }
         active proctype Q() { do :: x > 0 -> x-- :: x == 2 -> x = 0 od }",
    ),
    (
        &promela::LANGUAGE,
        "chan c = [0] of { byte }; byte x, y;
         active proctype P() { do :: c!x :: x = 1 - x od }
         active proctype Q() { do :: c?1 -> y = 0 :: c?eval(y) :: y = 1 - y od }
         active proctype R() { do :: x = 1 - x :: y = 1 - y od }",
    ),
    (
        &promela::LANGUAGE,
        "chan c = [3] of { byte, byte }; byte x, y;
         active proctype P() { do :: c!1,x :: c!!0,y :: x = 1 - x od }
         active proctype Q() { do :: c?1,eval(x) -> y = 1 :: c?0,y :: c??1,0 od }
         active proctype R() { do :: c?[0,1] -> x = 0 :: c??[1,1] -> c?1,y :: c?eval(y),_ od }",
    ),
    (
        &promela::LANGUAGE,
        "byte n, x; chan c = [1] of { byte };
         proctype Q(byte it) { byte y; c!it; half: atomic { y = x; x = 1 - y } }
         active proctype P() { do :: n < 6 -> atomic { run Q(n % 2); n++ } :: c?0 -> x = 0 :: c?1 od }
         active proctype R() { do :: Q[2]@half -> x = 1 :: x == 1 -> x = 0 :: Q[3]@half -> break od }",
    ),
    (
        &dve::LANGUAGE,
        "byte x = 254; byte y = 1;
         process A { state a; init a; trans a -> a { effect x = x + 1; }; }
         process B { state a; init a; trans a -> a { effect x = x + 1; }; }
         process C { state a; init a; trans a -> a { guard y == 1; effect y = 0; },
                                          a -> a { guard y == 0; effect y = 1, x = 254; }; }
         system async;",
    ),
    (
        &dve::LANGUAGE,
        "byte x[4]; byte j; byte k;
         process A { state a; init a; trans a -> a { guard j == 2 && x[(j + 1) % 4] == 0; effect x[j] = 1, k = j; },
                                          a -> a { guard j == 1 && x[j] == 0; effect j = 2, x[j] = 1; },
                                          a -> a { guard j == 3 && k == 2 && x[k] == 1; effect x[k - 1] = j; }; }
         process B { state a; init a; trans a -> a { guard x[2] == 1; effect x[2] = 0, j = 3; },
                                          a -> a { guard j < 3; effect j = j + 1; },
                                          a -> a { effect x[3] = 1 - x[3]; }, a -> a { effect j = 0, x[1] = 0; }; }
         system async;",
    ),
    (
        &dve::LANGUAGE,
        "byte x; byte y; channel c;
         process A { state a; init a; trans a -> a { sync c!x; }, a -> a { effect x = 1 - x; }; }
         process B { state a, b; init a; trans a -> b { guard y == 1; sync c?y; }, b -> a { sync c?y; }; }
         process C { state a; init a; trans a -> a { effect y = 1 - y; }, a -> a { effect x = 1 - x; }; }
         system async;",
    ),
    (
        &murphi::LANGUAGE,
        "var x: 0..3; y: 0..3;
         startstate begin x := 0; y := 0; end;
         rule \"x\" x < 3 ==> begin x := x + 1; end;
         rule \"y\" y < 3 ==> begin y := y + 1; end;
         rule \"back\" x > 0 ==> begin x := x - 1; end;
         rule \"down\" y > 0 ==> begin y := y - 1; end;
         assume \"few\" x + y < 4;",
    ),
    (
        &murphi::LANGUAGE,
        "type I: 0..2; var a: array [I] of 0..2; on: boolean; k: I;
         startstate begin for i: I do a[i] := 0; end; on := false; k := 0; end;
         ruleset i: I do
           rule \"one\" a[i] = 0 ==> begin a[i] := 1; end;
           rule \"two\" a[i] = 1 & on ==> begin a[i] := 2; assert \"three\" !(a[0] = 2 & a[1] = 2); end;
           rule \"k\" k != i ==> begin k := i; end;
         end;
         rule \"by k\" a[k] = 2 ==> begin a[k] := 0; end;
         rule \"on\" !on ==> begin on := true; end;
         rule \"off\" on ==> begin on := false; end;
         invariant \"some\" exists i: I do a[i] < 2 end;",
    ),
];

#[test]
fn what_is_said_of_rare_things_is_true() {
    for (language, text) in RARE {
        let mut tried = Tried::default();
        let program = load(language, "rare", text.to_string());
        let program = program.unwrap_or_else(|| panic!("this is not a model: {text}"));
        (0..20).for_each(|seed| {
            try_program(text, program.clone(), &mut Random::new(seed), &mut tried);
        });
        println!("{tried:?}");
        assert!(tried.pairs > 100 && tried.steps > 100, "{tried:?} of {text}");
    }
}

/// Assertions of the model's are told from other code, and properties from each other.
#[test]
fn observers_are_told_apart() {
    let text = "byte x, y;
        active proctype P() { do :: x < 2 -> x++ :: y = 1 - y :: assert(x < 2) :: assert(x < 300) od }
        never { do :: y == 1 od }";
    let program = load(&promela::LANGUAGE, "observed.pml", text.to_string()).unwrap();
    let model = Interp::new(program).unwrap();
    let table = AccessTable::new(model.program(), model.layout()).unwrap();
    let dependence =
        DependenceRelation::new(&table, 100, &AnalysisBudget::largest()).unwrap().unwrap();
    let claim =
        model.program().properties.iter().find_map(|(id, property)| {
            matches!(property.kind, PropertyKind::Claim(_)).then_some(id)
        });
    let names = |all: Vec<InstanceId>| -> Vec<&str> {
        let sides = all.iter().flat_map(|it| table.instances().get(*it).unwrap().sides());
        sides.map(|side| model.program().actions[side.action].name.as_str()).collect()
    };
    assert_eq!(names(dependence.visible(claim.unwrap())), ["P: y = 1 - y"]);
    // That the other cannot fail is known from what `x` ever holds.
    assert_eq!(names(dependence.asserting_instances()), ["P: assert(x < 2)"]);
}
