//! Random programs with random formulas and random Büchi automata, on disk, compared with the components of the whole
//! product in memory. All runs and the weakly fair runs are checked. The searches have buffers of a few states, are
//! stopped and resumed in each stage, and run on disks that fail in each stage.
//!
//! `SPILLWAY_LARGE` runs more cases, which take minutes.

use super::disk_search::{CycleSearchInput, STAGES, SearchSettings};
use super::formulas::{self, FormulaRng};
use crate::generated::state_conditions::condition;
use crate::generated::{Generated, programs, try_all};
use crate::support::Random;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spill::fault::FaultPlan;
use spill::{Disk, FaultDisk};
use spillway::components::components;
use spillway::exec::{ExecutionMode, Executor, FairExpander, Interp};
use spillway::front::{Proposition, TemporalProperty, TemporalSpec};
use spillway::ir::{Arena, Claim, Entity as _, Program};
use spillway::ltl::{Automaton, AutomatonEdge, AutomatonState, Cube, LtlFormula, translate};
use spillway::model::{FairSteps, ProcessSet, StateSpace, StepOutcome, SuccessorSink};
use spillway::reduce::claim::{ClaimProduct, FairProduct, FiniteRunPolicy, NeverClaim};
use spillway::search::checkpoint::SavedSearch;
use spillway::search::lasso::Lasso;
use spillway::search::liveness::nested_dfs::ProbeVerdict;
use spillway::search::liveness::owcty::SavedCycleSearch;
use spillway::session::{AcceptingComponents, Fairness, replay};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

type TestResult<T> = Result<T, TestCaseError>;

/// Products with more states are not searched.
const STATES_MAX: usize = 600;

/// An automaton of up to five states. Its edges have weak conditions, because strong ones would end most runs.
fn automaton(rng: &mut FormulaRng, propositions: usize) -> Automaton {
    let count = 1 + rng.below(5);
    // Edges lead forwards, so that there are several components of all classes.
    let is_ordered = rng.below(2) == 0;
    let states = (0..count).map(|at| {
        let edges = (0..1 + rng.below(3)).map(|_| {
            let to = match is_ordered && rng.below(4) > 0 {
                true => (at + rng.below(2)).min(count - 1),
                false => rng.below(count),
            };
            let cube = match rng.below(3) {
                0 => Cube::default(),
                _ => Cube::literal(rng.below(propositions), rng.below(2) == 0),
            };
            AutomatonEdge { cube, to }
        });
        let edges = edges.collect();
        AutomatonState { accepts: rng.below(5) < 2, edges }
    });
    Automaton { propositions: Vec::new(), states: states.collect() }
}

/// Adds a claim to a program: the automaton of the runs that violate a random formula, or a random automaton. `None` if
/// the automaton is empty.
fn watched(mut program: Program, seed: u64) -> Option<(Program, FiniteRunPolicy)> {
    let (mut random, mut rng) = (Random::new(seed), FormulaRng(seed));
    let count = 1 + rng.below(3);
    let proposition = |at: usize, random: &mut Random| Proposition {
        text: format!("p{at}"),
        condition: condition(&program, random),
    };
    let propositions: Vec<Proposition> =
        (0..count).map(|at| proposition(at, &mut random)).collect();
    let names = propositions.iter().map(|it| it.text.clone()).collect();
    let ended = match rng.below(3) {
        0 => FiniteRunPolicy::Ignored,
        _ => FiniteRunPolicy::Stutter,
    };
    let automaton = match rng.below(5) {
        0..3 => Automaton { propositions: names, ..automaton(&mut rng, count) },
        _ => {
            let operators = 1 + rng.below(6);
            let formula = formulas::random(&mut rng, operators, count);
            translate(&LtlFormula::Not(Box::new(formula)), names).ok()?
        }
    };
    if automaton.is_empty() {
        return None;
    }
    let demand = TemporalSpec::Propositions;
    TemporalProperty { name: None, spec: demand, propositions, breaks_symmetry: false }
        .add_as_claim(&mut program, "watched", &automaton);
    Some((program, ended))
}

/// The result of the plain search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExpectedResult {
    states: u64,
    transitions: u64,
    has_cycle: bool,
}

/// A product with all its states.
struct ExploredProduct {
    states: Vec<Vec<u8>>,
    transitions: u64,
    /// Source, target, and the processes the edge is fair to. The set is empty without fairness.
    edges: Vec<(usize, usize, ProcessSet)>,
}

impl ExploredProduct {
    /// Explores all states of a product. `None` if there are too many.
    fn of(product: &ClaimProduct<'_>, fair: Option<&FairProduct<'_>>) -> Option<ExploredProduct> {
        let (mut numbers, mut states): (HashMap<Vec<u8>, usize>, Vec<Vec<u8>>) = Default::default();
        let mut number = |state: &[u8], states: &mut Vec<Vec<u8>>| {
            *numbers.entry(state.to_vec()).or_insert_with(|| {
                states.push(state.to_vec());
                states.len() - 1
            })
        };
        let (width, mut buffer) = (product.width(), Vec::new());
        let _ = SuccessorSink::collect(width, &mut buffer, |out| product.initial(out)).unwrap();
        buffer.chunks_exact(width).for_each(|it| {
            number(it, &mut states);
        });
        let (mut edges, mut transitions, mut next) = (Vec::new(), 0, 0);
        while next < states.len() {
            buffer.clear();
            let state = states[next].clone();
            let collected =
                SuccessorSink::collect(width, &mut buffer, |out| product.expand(&state, out));
            transitions += collected.unwrap().counters.transitions;
            let steps = fair.map_or(Vec::new(), |it| it.steps(&state));
            let fair_steps = steps.into_iter().map(|(step, set)| match step.outcome {
                StepOutcome::Successor(to) => (to, set),
                StepOutcome::Fault(_) => unreachable!("such steps lead to states"),
            });
            let all_steps = buffer.chunks_exact(width).map(|to| (to.to_vec(), ProcessSet::NONE));
            let all_steps = all_steps.filter(|_| fair.is_none());
            for (to, set) in all_steps.chain(fair_steps) {
                edges.push((next, number(&to, &mut states), set));
            }
            if states.len() > STATES_MAX || edges.len() > 20 * STATES_MAX {
                return None;
            }
            next += 1;
        }
        Some(ExploredProduct { states, transitions, edges })
    }

    /// Whether some component has a cycle, an accepting state and, for each process, a step that is fair to it.
    fn has_cycle(&self, accepts: &dyn Fn(&[u8]) -> bool, processes: usize) -> bool {
        let edges: Vec<(usize, usize)> =
            self.edges.iter().map(|&(from, to, _)| (from, to)).collect();
        let of = components(self.states.len(), &edges);
        // A component without a step has no entry.
        let mut left_out = vec![None; self.states.len()];
        for &(from, _, set) in self.edges.iter().filter(|&&(from, to, _)| of[from] == of[to]) {
            let remaining = left_out[of[from]].get_or_insert(ProcessSet::first(processes));
            *remaining = remaining.without(set);
        }
        let is_fair =
            |at: usize| left_out[of[at]].is_some_and(|remaining: ProcessSet| remaining.is_empty());
        (0..self.states.len()).any(|at| is_fair(at) && accepts(&self.states[at]))
    }
}

/// Whether each cycle of the components with accepting cycles has an accepting location.
fn is_weak(claim: &Claim) -> bool {
    let accepts: Vec<bool> = claim.locations.values().map(|it| it.accepting).collect();
    let edges = claim.moves.iter().map(|it| (it.from.index(), it.to.index()));
    let edges: Vec<(usize, usize)> = edges.collect();
    let turns = |edges: &[(usize, usize)]| {
        let of = components(accepts.len(), edges);
        let round = edges.iter().filter(|&&(from, to)| of[from] == of[to]);
        let round: BTreeSet<usize> = round.map(|&(at, _)| at).collect();
        (of, round)
    };
    let (of, round) = turns(&edges);
    let has_accepting = |part: usize| round.iter().any(|&at| of[at] == part && accepts[at]);
    let plain = |&&(from, to): &&(usize, usize)| {
        of[from] == of[to] && has_accepting(of[from]) && !accepts[from] && !accepts[to]
    };
    let plain: Vec<(usize, usize)> = edges.iter().filter(plain).copied().collect();
    turns(&plain).1.is_empty()
}

/// Counts of the cases tried.
#[derive(Default)]
struct Census(RefCell<BTreeMap<String, u64>>);

impl Census {
    fn add(&self, what: impl Into<String>, counts: bool) {
        *self.0.borrow_mut().entry(what.into()).or_default() += u64::from(counts);
    }

    fn of(&self, what: &str) -> u64 {
        self.0.borrow().get(what).copied().unwrap_or_default()
    }
}

/// A product, its acceptance, and the result of the plain search.
struct Trial<'a> {
    product: &'a ClaimProduct<'a>,
    /// Set if only fair runs are checked.
    fair: Option<&'a FairProduct<'a>>,
    subject: CycleSearchInput<'a>,
    answer: ExpectedResult,
    census: &'a Census,
}

impl Trial<'_> {
    /// Checks the verdict, the counterexample and the counts.
    fn check_result(&self, disk: &dyn Disk, found: &ProbeVerdict) -> TestResult<()> {
        let outcome = SavedSearch::load(disk).unwrap().outcome().unwrap();
        let answer = ExpectedResult {
            states: outcome.states(),
            transitions: outcome.counters.transitions,
            has_cycle: matches!(found, ProbeVerdict::Found(_)),
        };
        prop_assert!(*found != ProbeVerdict::Open);
        prop_assert_eq!(answer, self.answer);
        if let ProbeVerdict::Found(lasso) = found {
            prop_assert_eq!(replay(self.product, lasso).unwrap().len(), lasso.states.len() + 1);
            let mut round = lasso.states[lasso.back..].iter();
            prop_assert!(round.any(|it| self.product.is_accepting(it)));
            self.fair.map_or(Ok(()), |fair| is_fair(fair, lasso))?;
        }
        Ok(())
    }

    /// Checks that buffers, shards, threads and sessions do not change the result.
    fn check_sessions(&self, rng: &mut FormulaRng) -> TestResult<(ProbeVerdict, u32)> {
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let expected = self.subject.search(&disk, SearchSettings::UNLIMITED, &mut |_| {}).unwrap();
        self.check_result(&*disk, &expected.0)?;
        let saved = SavedCycleSearch::load(&*disk).unwrap();
        let region: u64 = saved.region.iter().map(|it| it.at.keys).sum();
        let sort = match (region, self.subject.is_weak) {
            (0, _) => "with nothing to sweep",
            (_, true) => "weak",
            (_, false) => "strong",
        };
        let of_fair = self.fair.map_or("", |_| "fair ");
        for (what, counts) in [("tried", true), (sort, true), ("violated", self.answer.has_cycle)] {
            self.census.add(format!("{of_fair}{what}"), counts);
        }
        self.census.add("swept often", expected.1 > 8);
        let settings = SearchSettings {
            threads: 1 + rng.below(2),
            buffer: 1 + rng.below(30) as u64,
            shard_states: 1 + rng.below(40) as u64,
            reached: 1 + rng.below(1 + self.answer.states as usize) as u64,
            session_sweeps: 1,
        };
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let mut grows = false;
        let mut tell = |stage| grows |= stage == "reaching from accepting states";
        let found = self.subject.search(&disk, settings, &mut tell).unwrap();
        self.check_result(&*disk, &found.0)?;
        prop_assert_eq!(&found, &expected);
        prop_assert!(!(grows && self.subject.is_weak && self.fair.is_none()), "to trim is enough");
        Ok(expected)
    }

    /// Checks that the search resumes from its last checkpoint after a disk fault in each stage.
    fn check_faults(&self, expected: &(ProbeVerdict, u32), rng: &mut FormulaRng) -> TestResult<()> {
        let settings = SearchSettings {
            threads: 1,
            buffer: 9,
            shard_states: 30,
            reached: 40,
            session_sweeps: 2,
        };
        let disk = Arc::new(FaultDisk::new());
        let shared: Arc<dyn Disk> = disk.clone();
        let (mut stages, mut before) = (Vec::new(), 0);
        self.subject
            .search(&shared, settings, &mut |stage| {
                let now = disk.operations();
                stages.push((stage, std::mem::replace(&mut before, now)..now));
            })
            .unwrap();
        for stage in STAGES {
            let sittings: Vec<_> = stages.iter().filter(|(it, _)| *it == stage).collect();
            let Some((_, range)) = sittings.get(rng.below(sittings.len().max(1))) else {
                continue;
            };
            let at = range.start + rng.below((range.end - range.start).max(1) as usize) as u64;
            let kind = rng.below(3);
            let plan = match (FaultPlan::new().seed(at), kind) {
                (plan, 0) => plan.crash_at(at),
                (plan, 1) => plan.io_error_at(at),
                (plan, _) => plan.full_from(at),
            };
            let failing = Arc::new(FaultDisk::with_faults(plan));
            let shared: Arc<dyn Disk> = failing.clone();
            let result = self.subject.search(&shared, settings, &mut |_| {});
            // The failed operation may be a removal without effect on the search.
            prop_assert!(result.is_err() || result.as_ref().unwrap() == expected);
            self.census.add(format!("failed while {stage}"), result.is_err());
            let disk: Arc<dyn Disk> = Arc::new(match rng.below(2) {
                0 => failing.restart(),
                _ => failing.reboot(at),
            });
            let found = self.subject.search(&disk, settings, &mut |_| {}).unwrap();
            prop_assert_eq!(&found, expected, "{}: operation {}", stage, at);
            self.check_result(&*disk, &found.0)?;
        }
        Ok(())
    }
}

/// Checks by the reference semantics that the cycle of a lasso is fair to all processes.
fn is_fair(fair: &FairProduct<'_>, lasso: &Lasso) -> TestResult<()> {
    let mut left_out = ProcessSet::first(fair.processes());
    let round = lasso.states[lasso.back..].iter().chain([&lasso.states[lasso.back]]);
    let round: Vec<&Vec<u8>> = round.collect();
    prop_assert_eq!(round.len(), lasso.fair_to.len() + 1);
    for (pair, &processes) in round.windows(2).zip(&lasso.fair_to) {
        let to = StepOutcome::Successor(pair[1].clone());
        prop_assert!(
            fair.steps(pair[0]).iter().any(|(step, set)| step.outcome == to && *set == processes)
        );
        left_out = left_out.without(processes);
    }
    prop_assert!(left_out.is_empty());
    Ok(())
}

fn check_program(program: Program, seed: u64, census: &Census) -> TestResult<()> {
    let process_actions = Program { actions: Arena::new(), ..program.clone() };
    let actions = program.actions.values().filter(|it| it.edge.is_some());
    let process_actions = actions.fold(process_actions, |mut program, action| {
        program.actions.push(action.clone());
        program
    });
    check_runs(program, Fairness::None, seed, census)?;
    check_runs(process_actions, Fairness::Weak, seed, census)
}

/// Checks all runs of a program, or its fair runs. Synchronous programs and programs without processes have no fair
/// runs.
fn check_runs(program: Program, fairness: Fairness, seed: u64, census: &Census) -> TestResult<()> {
    let Some((program, ended)) = watched(program, seed) else { return Ok(()) };
    let Ok(interp) = Interp::new(program) else { return Ok(()) };
    let product = &NeverClaim::of(&interp).unwrap().over_infinite_runs(ended).with(&interp);
    let executor = Executor::new(&interp, ExecutionMode::Interp);
    let fair = match fairness {
        Fairness::None => None,
        Fairness::Weak => match FairExpander::new(&interp, &executor) {
            Ok(movers) => Some(FairProduct::new(product, movers)),
            Err(_) => return Ok(()),
        },
    };
    let fair = fair.as_ref();
    let processes = fair.map_or(0, |it| it.processes());
    if fair.is_some() && processes == 0 {
        return Ok(());
    }
    let Some(explored) = ExploredProduct::of(product, fair) else { return Ok(()) };
    let parts = AcceptingComponents::of(product.claim());
    prop_assert_eq!(parts.are_weak(), is_weak(product.claim()));
    let component = |state: &[u8]| parts.component(product.location(state));
    let accepts = |state: &[u8]| product.is_accepting(state);
    let answer = ExpectedResult {
        states: explored.states.len() as u64,
        transitions: explored.transitions,
        has_cycle: explored.has_cycle(&accepts, processes),
    };
    let is_unfair = !answer.has_cycle && explored.has_cycle(&accepts, 0);
    census.add("violated, but not by fair runs", is_unfair);
    let subject = CycleSearchInput {
        model: product,
        component: &component,
        accepts: &accepts,
        is_weak: parts.are_weak(),
        fair: fair.map(|it| it as &dyn FairSteps),
    };
    let trial = Trial { product, fair, subject, answer, census };
    let mut rng = FormulaRng(seed ^ 1 << 40);
    let expected = trial.check_sessions(&mut rng)?;
    // Most searches take few sweeps; those with more have more stages.
    match expected.1 > 4 || rng.below(8) == 0 {
        true => trial.check_faults(&expected, &mut rng),
        false => Ok(()),
    }
}

#[test]
fn verdicts_on_random_programs_on_disk_equal_those_in_memory() {
    let census = Census::default();
    try_all(600, (programs(), any::<u32>()), |(Generated(program), seed)| {
        check_program(program, seed.into(), &census)
    });
    println!("{:?}", census.0.borrow());
    for (what, least) in [
        ("tried", 150),
        ("violated", 30),
        ("weak", 15),
        ("strong", 6),
        ("swept often", 3),
        ("fair tried", 100),
        ("fair violated", 20),
        ("violated, but not by fair runs", 2),
    ] {
        assert!(census.of(what) >= least, "{what}: {}", census.of(what));
    }
    let stages = STAGES.iter().take(5);
    stages.for_each(|it| assert!(census.of(&format!("failed while {it}")) > 0, "{it}"));
}
