//! Checks of the tables of `crates/spillway-analysis/src` by execution:
//!
//! - a variable outside the write set keeps its value;
//! - a variable outside the read set does not affect the result;
//! - a variable that is definitely written is overwritten;
//! - independent transitions commute;
//! - no transition outside an enabling set enables the action;
//! - an invisible transition does not change the property.
//!
//! The programs are random programs, random models in every language, our models, and with `SPILLWAY_CORPUS` an
//! external corpus. `SPILLWAY_LARGE` runs more cases, which take minutes.

use crate::generated::{Generated, programs};
use crate::instances::{InstanceExecutor, StepResult, execute_all, guard_program};
use crate::support::collection::{find_models, text_of};
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
use spillway::model::{StepOutcome, SystemDescription, Violation};
use spillway::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Instant;

/// Programs with more action instances are skipped.
const INSTANCES_MAX: u32 = 300;
/// The maximum number of states of each program.
const STATES: usize = 60;

/// The number of times that each case occurred, so that no test is vacuous.
#[derive(Debug, Default)]
struct CaseCounts {
    programs: usize,
    steps: usize,
    mixtures: usize,
    overwritten: usize,
    pairs: usize,
    independent: usize,
    enabled: usize,
    by_known_conjunct: usize,
    visible: usize,
    failed: usize,
    cannot_fail: usize,
    instances: usize,
    may_fail: usize,
    dependent: usize,
    interacting: usize,
    non_interacting: usize,
}

/// A program, some of its reachable states, and its tables.
struct Trial<'a> {
    name: &'a str,
    model: &'a Interp,
    table: &'a AccessTable<'a>,
    dependence: &'a DependenceRelation<'a>,
    executor: InstanceExecutor<'a>,
    states: Vec<Vec<u8>>,
}

/// Returns random reachable states, found by walks.
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

/// Checks the tables of a program.
fn try_program(name: &str, program: Program, random: &mut Random, counts: &mut CaseCounts) {
    let Ok(model) = Interp::as_declared(program) else { return };
    // Priorities depend on all other processes.
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
    let executor = InstanceExecutor::new(&model, table.instances());
    let trial =
        Trial { name, model: &model, table: &table, dependence: &dependence, executor, states };
    counts.programs += 1;
    trial.matrix_agrees_with_pairs(counts);
    trial.check_writes_and_reads(random, counts);
    trial.check_pairs(random, counts);
    if trial.dependence.instances().count() <= 40 {
        trial.check_interactions(counts);
    }
}

/// Two mixed states, and the results of an instance in the first one.
#[derive(Clone, Copy)]
struct MixedStates<'s> {
    instance: InstanceId,
    state: &'s [u8],
    other: &'s [u8],
    reads: &'s CellSet,
    writes: &'s CellSet,
    results: &'s BTreeSet<StepResult>,
}

/// Two instances that are enabled in one state.
#[derive(Clone, Copy)]
struct InstancePair {
    one: InstanceId,
    other: InstanceId,
}

/// A step that may enable another instance.
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

    fn describe_instance(&self, instance: InstanceId) -> String {
        let program = self.model.program();
        let action_instance = self.table.instances().get(instance).unwrap();
        let names: Vec<&str> = action_instance
            .sides()
            .map(|side| program.actions[side.action].name.as_str())
            .collect();
        format!(
            "{}: {action_instance:?}, {names:?}\n{:#?}\n{}",
            self.name,
            self.dependence.access(instance),
            spillway::ir::text::print(program)
        )
    }

    /// Returns a state with the values of another state in some cells. The cells of a channel are taken together.
    fn with_cells_of(
        &self,
        state: &[u8],
        other: &[u8],
        wanted: impl Fn(CellId) -> bool,
    ) -> Vec<u8> {
        let layout = self.model.layout();
        let mut mixtures = state.to_vec();
        for group in layout.groups.values() {
            let cells = (group.first.0..group.first.0 + group.cells).map(CellId);
            let is_channel = matches!(group.part, GroupContent::Channel(_));
            let all = cells.clone().all(&wanted);
            for cell in cells.filter(|&cell| if is_channel { all } else { wanted(cell) }) {
                layout.set_code(&mut mixtures, cell, layout.code(other, cell));
            }
        }
        mixtures
    }

    /// Returns whether both states have the same process instances with the same pids.
    fn same_instances(&self, one: &[u8], other: &[u8]) -> bool {
        let (program, layout) = (self.model.program(), self.model.layout());
        program.instances().all(|ProcessInstance { process, slot }| {
            let declaration = &program.processes[process];
            let placement = layout.locations[process];
            let at = CellId(placement.first.0 + slot * placement.stride);
            let alive = |state| !declaration.has_slots() || layout.code(state, at) > 0;
            let pid = |state| match declaration.life.pid {
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

    /// Checks that the matrix of all pairs agrees with the relations of single pairs.
    fn matrix_agrees_with_pairs(&self, counts: &mut CaseCounts) {
        let (relation, matrix) =
            (self.dependence, self.dependence.matrix(&AnalysisBudget::largest()).unwrap());
        for one in relation.instances() {
            let guard = &relation.access(one).guard;
            counts.instances += 1;
            counts.may_fail += usize::from(relation.access(one).failures().any());
            assert_eq!(matrix.enabling_of[one].len(), guard.len());
            for (conjunct, &row) in matrix.enabling_of[one].iter().enumerate() {
                let enabling = members(matrix.sets.row(row)).map(|it| InstanceId(it as u32));
                let enabling: Vec<InstanceId> = enabling.collect();
                let describe = || format!("conjunct {conjunct} of {}", self.describe_instance(one));
                assert_eq!(enabling, relation.enabling(one, conjunct), "{}", describe());
            }
            for other in relation.instances().filter(|it| *it != one) {
                let describe = || {
                    format!(
                        "{}
and {}",
                        self.describe_instance(one),
                        self.describe_instance(other)
                    )
                };
                let dependent = matrix.dependent.contains(one.0 as usize, other.0 as usize);
                counts.dependent += usize::from(dependent);
                assert_eq!(dependent, !relation.are_independent(one, other), "{}", describe());
                let excluded = matrix.excluded.contains(one.0 as usize, other.0 as usize);
                assert_eq!(excluded, relation.exclude(one, other), "{}", describe());
            }
        }
    }

    /// Checks that a step changes only its write set, and depends only on its read set.
    fn check_writes_and_reads(&self, random: &mut Random, counts: &mut CaseCounts) {
        for instance in self.dependence.instances() {
            let access = self.dependence.access(instance);
            let (reads, writes) = (self.table.read_cells(access), self.table.written_cells(access));
            for state in &self.states {
                let results = self.executor.execute(instance, state);
                self.check_faults(instance, state, &results, counts);
                for next in results.iter().flatten() {
                    counts.steps += 1;
                    for cell in self.changed(state, next) {
                        assert!(
                            writes.contains(cell),
                            "{cell:?} of {state:02x?} is written by {}",
                            self.describe_instance(instance)
                        );
                    }
                }
                let other = &self.states[random.below(self.states.len())];
                if self.same_instances(state, other) {
                    let (reads, writes, results) = (&reads, &writes, &results);
                    let mixture = MixedStates { instance, state, other, reads, writes, results };
                    self.check_ignored_cells(mixture, counts);
                    self.check_overwritten_cells(mixture, counts);
                }
            }
        }
    }

    /// Checks the interactions with an instance, in all runs from a few states. Instances that do not interact commute
    /// with it, as long as only such instances are executed.
    fn check_interactions(&self, counts: &mut CaseCounts) {
        let matrix = self.dependence.matrix(&AnalysisBudget::largest()).unwrap();
        let mut known: HashMap<(InstanceId, Vec<u8>), BTreeSet<StepResult>> = HashMap::new();
        for state in self.states.iter().take(12) {
            for one in self.dependence.instances() {
                if self.known_results(&mut known, one, state).is_empty() {
                    continue;
                }
                let value = |cell| self.model.layout().get(state, cell).unwrap_or_default();
                let mut others: Vec<InstanceId> = Vec::new();
                for other in self.dependence.instances().filter(|it| *it != one) {
                    let interacts = matrix.may_interact(one, other, value);
                    let dependent = matrix.dependent.contains(one.0 as usize, other.0 as usize);
                    assert!(
                        dependent || !interacts,
                        "more than all: {}",
                        self.describe_instance(one)
                    );
                    counts.interacting += usize::from(interacts);
                    counts.non_interacting += usize::from(dependent && !interacts);
                    others.extend((!interacts).then_some(other));
                }
                self.check_runs_commute(one, &others, state, &mut known);
            }
        }
    }

    /// Checks that an instance commutes with other instances on all runs of these.
    fn check_runs_commute(
        &self,
        one: InstanceId,
        others: &[InstanceId],
        from: &[u8],
        known: &mut HashMap<(InstanceId, Vec<u8>), BTreeSet<StepResult>>,
    ) {
        let mut visible = BTreeSet::from([from.to_vec()]);
        let mut open = vec![from.to_vec()];
        while let Some(state) = open.pop().filter(|_| visible.len() < 200) {
            for &other in others {
                let results = self.known_results(known, other, &state);
                if results.is_empty() {
                    continue;
                }
                let own_results = self.known_results(known, one, &state);
                let describe = || {
                    let (one, other) = (self.describe_instance(one), self.describe_instance(other));
                    format!("in {state:02x?}, from {from:02x?}: {one}\nand {other}")
                };
                let mut execute_after =
                    |first: &BTreeSet<StepResult>, second: InstanceId, expected_count: usize| {
                        let mut ends = BTreeSet::new();
                        for next in first.iter().flatten() {
                            let after = self.known_results(known, second, next);
                            assert_eq!(
                                after.len(),
                                expected_count,
                                "the transitions interfere {}",
                                describe()
                            );
                            ends.extend(after.into_iter().flatten());
                        }
                        ends
                    };
                let (left, right) = (
                    execute_after(&own_results, other, results.len()),
                    execute_after(&results, one, own_results.len()),
                );
                let have_successors =
                    [&own_results, &results].iter().all(|it| it.iter().any(Result::is_ok));
                assert!(!have_successors || left == right, "the order matters {}", describe());
                for next in results.into_iter().flatten() {
                    open.extend(Some(next).filter(|next| visible.insert(next.clone())));
                }
            }
        }
    }

    fn known_results(
        &self,
        known: &mut HashMap<(InstanceId, Vec<u8>), BTreeSet<StepResult>>,
        instance: InstanceId,
        state: &[u8],
    ) -> BTreeSet<StepResult> {
        let execute = || self.executor.execute(instance, state);
        known.entry((instance, state.to_vec())).or_insert_with(execute).clone()
    }

    /// Checks that the faults of an instance are among its possible faults.
    fn check_faults(
        &self,
        instance: InstanceId,
        state: &[u8],
        results: &BTreeSet<StepResult>,
        counts: &mut CaseCounts,
    ) {
        let possible = self.dependence.access(instance).failures();
        counts.cannot_fail += usize::from(!results.is_empty() && !possible.any());
        for kind in results.iter().filter_map(|it| it.as_ref().err()) {
            counts.failed += 1;
            let is_possible = if kind.is_assertion() { possible.assertion } else { possible.other };
            assert!(
                is_possible,
                "{kind:?} in {state:02x?} is an error of {}",
                self.describe_instance(instance)
            );
        }
    }

    /// Checks that cells outside the read and write sets have no effect and keep their values.
    fn check_ignored_cells(&self, mixture: MixedStates<'_>, counts: &mut CaseCounts) {
        let MixedStates { instance, state, other, reads, writes, results } = mixture;
        let mixtures = self
            .with_cells_of(state, other, |cell| !reads.contains(cell) && !writes.contains(cell));
        if mixtures == state {
            return;
        }
        counts.mixtures += 1;
        let results_in_mixture = results.iter().map(|results| {
            let next = results.as_ref().map_err(|kind| *kind)?;
            Ok(self.with_cells_of(&mixtures, next, |cell| writes.contains(cell)))
        });
        let expected: BTreeSet<StepResult> = results_in_mixture.collect();
        let found = self.executor.execute(instance, &mixtures);
        assert!(
            found == expected,
            "{found:02x?} and not {expected:02x?}: {mixtures:02x?} for {state:02x?}, {}",
            self.describe_instance(instance)
        );
    }

    /// Checks that cells that are definitely written and not read have no effect.
    fn check_overwritten_cells(&self, mixture: MixedStates<'_>, counts: &mut CaseCounts) {
        let MixedStates { instance, state, other, reads, results, .. } = mixture;
        let definite_writes = &self.dependence.access(instance).effect.definite_writes;
        let mixtures = self.with_cells_of(state, other, |cell| {
            definite_writes.contains(cell) && !reads.contains(cell)
        });
        if mixtures == state || results.is_empty() {
            return;
        }
        counts.overwritten += 1;
        let found = self.executor.execute(instance, &mixtures);
        assert!(
            found == *results,
            "{found:02x?} and not {results:02x?}: {mixtures:02x?} for {state:02x?}, {}",
            self.describe_instance(instance)
        );
    }

    /// Checks the relations of all pairs in every state.
    fn check_pairs(&self, random: &mut Random, counts: &mut CaseCounts) {
        let all: Vec<InstanceId> = self.dependence.instances().collect();
        let mut guard_programs = BTreeMap::new();
        for state in &self.states {
            let results: Arena<InstanceId, BTreeSet<StepResult>> =
                all.iter().map(|it| self.executor.execute(*it, state)).collect();
            let is_enabled = |it: &&InstanceId| !results[**it].is_empty();
            let enabled: Vec<InstanceId> = all.iter().filter(is_enabled).copied().collect();
            for &one in &enabled {
                for &other in &enabled {
                    self.check_commutation(state, InstancePair { one, other }, &results, counts);
                }
                for next in results[one].iter().flatten() {
                    self.check_visibility(one, state, next, counts);
                    // Many instances are disabled.
                    for &other in all.iter().filter(|it| !is_enabled(it)) {
                        if all.len() < 30 || random.below(all.len()) < 30 {
                            let enabling = EnablingStep { state, next, by: one, instance: other };
                            self.check_enabling_sets(enabling, &mut guard_programs, counts);
                        }
                    }
                }
            }
        }
    }

    fn check_commutation(
        &self,
        state: &[u8],
        pair: InstancePair,
        results: &Arena<InstanceId, BTreeSet<StepResult>>,
        counts: &mut CaseCounts,
    ) {
        let InstancePair { one, other } = pair;
        if one == other {
            return;
        }
        counts.pairs += 1;
        let describe =
            || format!("{}\nand {}", self.describe_instance(one), self.describe_instance(other));
        assert!(
            !self.dependence.exclude(one, other),
            "both transitions are enabled: {}",
            describe()
        );
        if !self.dependence.are_independent(one, other) {
            return;
        }
        counts.independent += 1;
        let execute_after = |first: InstanceId, second: InstanceId| -> BTreeSet<Vec<u8>> {
            let mut ends = BTreeSet::new();
            for next in results[first].iter().flatten() {
                let after = self.executor.execute(second, next);
                let errors = |all: &BTreeSet<StepResult>| -> Vec<_> {
                    all.iter().filter_map(|it| it.clone().err()).collect()
                };
                let is_same = after.len() == results[second].len()
                    && errors(&after) == errors(&results[second]);
                assert!(
                    is_same,
                    "the second transition depends on the first in {state:02x?}: {}",
                    describe()
                );
                ends.extend(after.into_iter().flatten());
            }
            ends
        };
        let (left, right) = (execute_after(one, other), execute_after(other, one));
        // After a fault no transition follows.
        let has_successor = |it: InstanceId| results[it].iter().any(Result::is_ok);
        if has_successor(one) && has_successor(other) {
            assert!(left == right, "the order matters in {state:02x?}: {}", describe());
        }
    }

    /// Checks that a step that enables an instance is in its enabling sets.
    fn check_enabling_sets(
        &self,
        enabling: EnablingStep<'_>,
        guard_programs: &mut BTreeMap<(InstanceId, usize), Interp>,
        counts: &mut CaseCounts,
    ) {
        let EnablingStep { state, next, by, instance } = enabling;
        let all = self.dependence.access(instance).guard.len();
        let may_enable = |conjunct| self.dependence.may_enable(by, instance, conjunct);
        // Most pairs are excluded by the tables at once. The others are executed.
        if (0..all).all(may_enable) || self.executor.execute(instance, next).is_empty() {
            return;
        }
        counts.enabled += 1;
        let describe = |what: &str| {
            format!(
                "{what} in {state:02x?}: {}\nby {}",
                self.describe_instance(instance),
                self.describe_instance(by)
            )
        };
        let values = self.conjunct_values(instance, state, guard_programs);
        let first = values.iter().position(|it| *it != Some(true));
        match first.filter(|&it| values[it] == Some(false)) {
            Some(conjunct) => {
                counts.by_known_conjunct += 1;
                assert!(
                    may_enable(conjunct),
                    "{}",
                    describe(&format!("enabled by conjunct {conjunct}"))
                );
            }
            // The enabling conjunct is one of those with unknown values.
            None => {
                let any = (0..all).filter(|it| values[*it] != Some(true)).any(may_enable);
                assert!(any, "{}", describe("enabled"));
            }
        }
    }

    /// Returns the values of the conjuncts of a guard, as far as they are known.
    fn conjunct_values(
        &self,
        instance: InstanceId,
        state: &[u8],
        guard_programs: &mut BTreeMap<(InstanceId, usize), Interp>,
    ) -> Vec<Option<bool>> {
        let guard = self.dependence.access(instance).guard.iter().enumerate();
        let values =
            guard.map(|it| self.conjunct_value(instance, it, state, guard_programs)).collect();
        self.without_missing_messages(instance, values)
    }

    /// Removes the values of conjuncts whose next conjunct evaluates a message that may be missing.
    fn without_missing_messages(
        &self,
        instance: InstanceId,
        mut values: Vec<Option<bool>>,
    ) -> Vec<Option<bool>> {
        let guard = &self.dependence.access(instance).guard;
        for position in 1..guard.len() {
            let first_matches = matches!(
                guard[position].condition,
                ConjunctCondition::Asks(_, ChannelPredicate::FirstMatches)
            );
            if first_matches && guard[position - 1].may_fail() {
                values[position - 1] = None;
            }
        }
        values
    }

    fn conjunct_value(
        &self,
        instance: InstanceId,
        (position, conjunct): (usize, &GuardConjunct<'_>),
        state: &[u8],
        guard_programs: &mut BTreeMap<(InstanceId, usize), Interp>,
    ) -> Option<bool> {
        let (program, layout) = (self.model.program(), self.model.layout());
        if let (ConjunctCondition::At(cell, location), None) = (&conjunct.condition, conjunct.expr)
        {
            // For dynamic processes, location 0 means that the process does not exist.
            let first_location = i64::from(program.has_dynamic_processes());
            return Some(layout.get(state, *cell) == Some(i64::from(location.0) + first_location));
        }
        if let Some(holds) = self.numeric_value(conjunct, state) {
            return Some(holds);
        }
        if program.has_dynamic_processes() {
            return None;
        }
        let Some(ActionInstance::Alone(side)) = self.table.instances().get(instance) else {
            return None;
        };
        let is_channel_predicate = matches!(conjunct.condition, ConjunctCondition::Asks(..));
        if conjunct.expr.is_none() && !is_channel_predicate {
            return None;
        }
        let executable = guard_programs.entry((instance, position)).or_insert_with(|| {
            let message = match conjunct.expr {
                Some(_) => None,
                None => program.actions[side.action].communication.clone(),
            };
            let instances = self.table.instances();
            guard_program(program, instances, side, conjunct.expr.cloned(), message)
        });
        Some(!execute_all(executable, state).is_empty())
    }

    /// Returns the value of a conjunct that compares one number: a cell, or the length of a channel.
    fn numeric_value(&self, conjunct: &GuardConjunct<'_>, state: &[u8]) -> Option<bool> {
        let (program, layout) = (self.model.program(), self.model.layout());
        match &conjunct.condition {
            _ if conjunct.may_fail() => None,
            ConjunctCondition::Compares(cell, ..) => {
                let value = layout.get(state, *cell)?;
                Some(conjunct.condition.holds_of(program.arithmetic, value))
            }
            ConjunctCondition::Asks(channels, predicate) => {
                let [channel] = channels.as_slice() else { return None };
                let messages = layout.get(state, self.table.length_cell(*channel))?;
                let capacity = i64::from(program.channels[channel.id].capacity);
                match predicate {
                    ChannelPredicate::HasRoom => Some(messages < capacity),
                    ChannelPredicate::IsFull => Some(messages == capacity),
                    ChannelPredicate::HasMessage => Some(messages > 0),
                    ChannelPredicate::IsEmpty => Some(messages == 0),
                    ChannelPredicate::FirstMatches | ChannelPredicate::SomeMatches => None,
                }
            }
            ConjunctCondition::At(..) | ConjunctCondition::Holds => None,
        }
    }

    /// Checks that a step that changes the value of a property is visible.
    fn check_visibility(&self, by: InstanceId, state: &[u8], next: &[u8], counts: &mut CaseCounts) {
        let violated = |state: &[u8]| -> BTreeSet<Violation> {
            let found = self.model.violations(state).into_iter();
            found.filter(|it| matches!(it, Violation::Property(_))).collect()
        };
        for check in violated(state).symmetric_difference(&violated(next)) {
            let Violation::Property(number) = check else { continue };
            let property = PropertyId(*number);
            let kind = &self.model.program().properties[property].kind;
            // Such a property is evaluated only in states without successors, which every reduction keeps. Visibility
            // concerns the condition, not the absence of successors.
            if matches!(kind, PropertyKind::AtEnd(_)) {
                continue;
            }
            counts.visible += 1;
            assert!(
                self.dependence.visible(property).contains(&by),
                "{kind:?} is changed by {}",
                self.describe_instance(by)
            );
        }
    }
}

#[test]
fn tables_of_random_programs_agree_with_execution() {
    let mut runner = TestRunner::deterministic();
    let mut counts = CaseCounts::default();
    let cases = if is_large() { 3000 } else { 150 };
    for seed in 0..cases {
        let Generated(program) = programs().new_tree(&mut runner).unwrap().current();
        try_program(&format!("seed {seed}"), program, &mut Random::new(seed), &mut counts);
    }
    println!("{counts:?}");
    assert!(
        counts.programs > 80 && counts.steps > 10_000 && counts.mixtures > 10_000,
        "{counts:?}"
    );
    assert!(counts.overwritten > 1000 && counts.independent > 1000, "{counts:?}");
    assert!(
        counts.enabled > 300 && counts.by_known_conjunct > 100 && counts.visible > 100,
        "{counts:?}"
    );
}

/// Loads a program; returns nothing if the text is not a model of the language.
pub fn load(language: &Language, name: &str, text: String) -> Option<Program> {
    let mut sources = SourceMap::default();
    sources.add(name, text);
    Some(language.load(&mut sources, &Options::default()).ok()?.program)
}

#[test]
fn tables_of_random_models_agree_with_execution() {
    for language in [&promela::LANGUAGE, &murphi::LANGUAGE, &dve::LANGUAGE] {
        let mut counts = CaseCounts::default();
        let cases = if is_large() { 600 } else { 40 };
        for seed in 0..cases {
            let (text, _) = crate::models::make(language, &crate::models::numbers(seed));
            let Some(program) = load(language, "random", text.clone()) else { continue };
            let name = format!("{} {seed}:\n{text}", language.name);
            try_program(&name, program, &mut Random::new(seed), &mut counts);
        }
        println!("{}: {counts:?}", language.name);
        assert!(
            counts.programs > 10 && counts.steps > 1000 && counts.mixtures > 1000,
            "{counts:?}"
        );
        assert!(counts.independent > 100, "{counts:?}");
    }
}

/// Returns a summary of a program's tables, with the time to compute them.
fn summary_of(program: Program) -> String {
    let Ok(model) = Interp::as_declared(program) else { return "not executed".to_string() };
    let ranges = ranges(model.program());
    let start = Instant::now();
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
    let table_time = start.elapsed();
    let matrix = dependence.matrix(&AnalysisBudget::largest()).unwrap();
    let relation_time = start.elapsed() - table_time;
    let count =
        |is: &dyn Fn(InstanceId) -> bool| dependence.instances().filter(|&it| is(it)).count();
    let conjuncts = dependence.instances().flat_map(|it| &dependence.access(it).guard);
    let (mut all, mut not_understood) = (0, [0; 5]);
    for conjunct in conjuncts {
        all += 1;
        if conjunct.condition == ConjunctCondition::Holds {
            let read = &conjunct.access;
            not_understood[match (conjunct.expr, read.reads.iter().count()) {
                _ if read.reads_anything => 4,
                (None, _) => 3,
                (Some(_), 0..=1) => 0,
                (Some(_), 2) => 1,
                (Some(_), _) => 2,
            }] += 1;
        }
    }
    let count_pairs = |rows: &dyn Fn(usize) -> usize| {
        (0..table.instances().count() as usize).map(rows).sum::<usize>()
    };
    format!(
        "{} instances, {} may fail, {} may fail an assertion, {all} conjuncts, {not_understood:?} of them not understood, \
         about a cell, two, more, the program, anything; \
         {} pairs dependent, {} always interact; {table_time:?} to describe, {relation_time:?} to relate",
        table.instances().count(),
        count(&|it| dependence.access(it).failures().other),
        count(&|it| dependence.access(it).failures().assertion),
        count_pairs(&|it| members(matrix.dependent.row(it)).count()),
        count_pairs(&|it| members(matrix.interacting.row(it)).count()),
    )
}

fn try_folder(folder: &Path) -> CaseCounts {
    let mut counts = CaseCounts::default();
    for file in find_models(folder) {
        let language = Language::from_file_name(&file.to_string_lossy()).unwrap();
        let name = file.display().to_string();
        let Some(program) = load(language, &name, text_of(&file)) else { continue };
        let before = counts.programs;
        println!("{name}: {}", summary_of(program.clone()));
        try_program(&name, program, &mut Random::new(1), &mut counts);
        println!("{name}: {}", if counts.programs > before { "tried" } else { "not tried" });
    }
    println!("{counts:?}");
    counts
}

#[test]
fn tables_of_own_models_agree_with_execution() {
    let counts = try_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"));
    assert!(
        counts.programs > 30 && counts.independent > 1000 && counts.enabled > 300,
        "{counts:?}"
    );
}

#[test]
fn tables_of_corpus_models_agree_with_execution() {
    let Some(corpus) = std::env::var_os("SPILLWAY_CORPUS") else {
        return println!("skipped: SPILLWAY_CORPUS is not set");
    };
    for language in ["dve", "murphi", "promela"] {
        try_folder(&Path::new(&corpus).join(language));
    }
}

/// Operations on a channel.
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

/// Generates processes that only use one channel.
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
fn tables_of_channel_operations_agree_with_execution() {
    let (mut counts, mut random) = (CaseCounts::default(), Random::new(7));
    for _ in 0..if is_large() { 5000 } else { 400 } {
        let text = channel_users(&mut random);
        let program = load(&promela::LANGUAGE, "channel.pml", text.clone()).unwrap();
        try_program(&text, program, &mut random, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.independent > 5000 && counts.enabled > 1000, "{counts:?}");
    assert!(counts.non_interacting > 100 && counts.interacting > 1000, "{counts:?}");
}

/// Operations on a counter.
const COUNTER_OPERATIONS: [&str; 9] = [
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

/// Generates processes that only use one counter.
fn counter_users(random: &mut Random) -> String {
    let mut text = "byte x;\n".to_string();
    for process in 0..4 {
        let options = (0..1 + random.below(2))
            .map(|_| COUNTER_OPERATIONS[random.below(COUNTER_OPERATIONS.len())]);
        let options: Vec<String> = options.map(|it| format!("a -> a {{ {it} }}")).collect();
        let options = options.join(", ");
        text += &format!("process P{process} {{ state a; init a; trans {options}; }}\n");
    }
    text + "system async;"
}

#[test]
fn tables_of_counter_operations_agree_with_execution() {
    let (mut counts, mut random) = (CaseCounts::default(), Random::new(11));
    for _ in 0..if is_large() { 5000 } else { 200 } {
        let text = counter_users(&mut random);
        let program = load(&dve::LANGUAGE, "counter.dve", text.clone()).unwrap();
        try_program(&text, program, &mut random, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.non_interacting > 100 && counts.interacting > 1000, "{counts:?}");
}

/// Small models, each with a construct that random models rarely have.
const RARE_CONSTRUCTS: [(&Language, &str); 13] = [
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
fn tables_of_rare_constructs_agree_with_execution() {
    for (language, text) in RARE_CONSTRUCTS {
        let mut counts = CaseCounts::default();
        let program = load(language, "rare", text.to_string());
        let program = program.unwrap_or_else(|| panic!("this is not a model: {text}"));
        (0..20).for_each(|seed| {
            try_program(text, program.clone(), &mut Random::new(seed), &mut counts);
        });
        println!("{counts:?}");
        assert!(counts.pairs > 100 && counts.steps > 100, "{counts:?} of {text}");
    }
}

/// Assertions of the model are distinguished from other code, and properties from each other.
#[test]
fn visibility_depends_on_the_property() {
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
    // The range of `x` shows that the other assertion cannot fail.
    assert_eq!(names(dependence.asserting_instances()), ["P: assert(x < 2)"]);
}
