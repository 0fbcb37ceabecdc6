//! Partial order with a never claim: which claims count steps, and that with other claims a search finds the same as
//! without the reduction.
//!
//! The claims are condition claims, random claims for random programs of two kinds, and with `SPILLWAY_CORPUS` those of
//! an external corpus. A condition model loses a violation if one part is omitted. `SPILLWAY_LARGE` runs more random
//! programs, which take minutes.

use crate::generated::state_conditions::{condition, not};
use crate::generated::{Generated, programs, try_all};
use crate::support::Random;
use crate::support::collection::corpus_models;
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::partial_order_plan;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spillway::Check;
use spillway::budget::AnalysisBudget;
use spillway::exec::Interp;
use spillway::front::{Options, promela};
use spillway::ir::{
    Action, ActionControl, Arena, AssertionKind, Claim, ClaimMove, Entity, Expr, Location,
    LocationId, Program, ProgramProperty, PropertyKind, Stmt, StmtKind, Urgency,
};
use spillway::model::{
    FaultKind, StateSpace, StepOutcome, SuccessorSink, SystemDescription, Violation,
};
use spillway::reduce::NotApplied;
use spillway::reduce::Reduction;
use spillway::reduce::ReductionConfig;
use spillway::reduce::claim::{ClaimProduct, NeverClaim};
use spillway::reduce::partial_order::{PartialOrder, PartialOrderMethod};
use spillway::report::print_refusal;
use spillway::search::CheckSelection;
use spillway::session::TextModel;
use spillway::source::{SourceMap, Span};
use std::cell::Cell;
use std::collections::BTreeSet;

type TestResult<T> = Result<T, TestCaseError>;

const CLAIMS: CheckSelection = CheckSelection { claims: true, ..CheckSelection::NONE };
const ASSERTIONS: CheckSelection = CheckSelection { assertions: true, ..CheckSelection::NONE };
const EVERYTHING: CheckSelection = CheckSelection {
    deadlock: true,
    assertions: true,
    invariants: true,
    faults: true,
    claims: true,
};

/// The methods that reduce the number of states.
const REDUCING_METHODS: [PartialOrderMethod; 4] = [
    PartialOrderMethod::Local,
    PartialOrderMethod::Overman,
    PartialOrderMethod::Stubborn,
    PartialOrderMethod::Conditional,
];

fn text_model(text: &str) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    let loaded = TextModel::load(&promela::LANGUAGE, sources, Options::default());
    loaded.map(|(model, _)| model).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn interp(text: &str) -> Interp {
    text_model(text).interp
}

/// Returns the product of `model` and its claim, or the reason for a refusal. The reduction reads the program of
/// `analysed`.
fn reduced_product<'m>(
    analysed: &'m Interp,
    model: &'m Interp,
    method: PartialOrderMethod,
    checks: &CheckSelection,
) -> Result<ClaimProduct<'m>, NotApplied> {
    let selector = Box::new(model.selector()?);
    let reduction =
        PartialOrder::of(analysed, selector, method, checks, &AnalysisBudget::largest())?;
    Ok(NeverClaim::of(model).unwrap().with(reduction.wrap(Box::new(model))))
}

/// All reachable states of a model, and its violations.
#[derive(Default)]
struct StateGraph {
    states: BTreeSet<Vec<u8>>,
    found: BTreeSet<Violation>,
}

/// Explores a model. Returns nothing if more than `max_states` states are reachable.
fn explore(model: &dyn StateSpace, max_states: usize) -> Option<StateGraph> {
    let (mut space, mut open, mut transitions) = (StateGraph::default(), Vec::new(), 0);
    let mut expand = |space: &mut StateGraph, open: &mut Vec<Vec<u8>>, state: Option<&[u8]>| {
        let mut buffer = Vec::new();
        let run = |out: &mut SuccessorSink| match state {
            None => model.initial(out),
            Some(state) => model.expand(state, out),
        };
        let collected = SuccessorSink::collect(model.width(), &mut buffer, run).unwrap();
        space.found.extend(collected.findings.iter().map(|(check, _)| check));
        for state in buffer.chunks_exact(model.width()) {
            if space.states.insert(state.to_vec()) {
                open.push(state.to_vec());
            }
        }
        transitions += collected.counters.transitions;
        transitions <= 10 * max_states as u64 && space.states.len() <= max_states
    };
    let mut is_small = expand(&mut space, &mut open, None);
    while let Some(state) = open.pop().filter(|_| is_small) {
        is_small = expand(&mut space, &mut open, Some(&state));
    }
    is_small.then_some(space)
}

/// Returns the violations that the checks select.
fn violations_of(model: &dyn StateSpace, checks: &CheckSelection) -> BTreeSet<Violation> {
    selected(model, &explore(model, usize::MAX >> 8).unwrap(), checks)
}

fn selected(
    model: &dyn StateSpace,
    space: &StateGraph,
    checks: &CheckSelection,
) -> BTreeSet<Violation> {
    space.found.iter().copied().filter(|&it| checks.selects(model, it)).collect()
}

/// A process that is independent of the claims, and one that writes their variables.
const TWO_PROCESSES: &str = "
    byte x, y, other;
    active proctype Own() { do :: other = 1 - other od }
    active proctype P() { x = 1; x = 2; y = 1; x = 0 }
    active proctype T() { false; timeout }
";

fn refusal_for(claim: &str, checks: &CheckSelection) -> Option<String> {
    let model = interp(&format!("{TWO_PROCESSES}{claim}"));
    let reduced = reduced_product(&model, &model, PartialOrderMethod::Conditional, checks);
    reduced.err().map(|why| print_refusal(&why))
}

#[test]
fn claims_that_count_steps_are_refused() {
    for claim in [
        // The forms that `spin -f` gives `![]p`, `!(p U q)` for safety, `<>(p && <>q)`.
        "never { T0: do :: (! ((x<2))) -> goto all :: (1) -> goto T0 od; all: skip }",
        "never { T0: if :: atomic { ((x==2)) -> assert(!((x==2))) } :: (1) -> goto T0 fi; all: skip }",
        "never { T0: do :: !(y==1) && !(x==2) -> goto T0 :: !(y==1) && x==1 -> goto all od; all: skip }",
        "never { T0: do :: x==1 -> goto T1 :: x==1 && y==1 -> goto all :: (1) -> goto T0 od;
                 T1: do :: y==1 -> goto all :: (1) -> goto T1 od; all: skip }",
        "never { do :: x == 2 -> break :: else od }",
        "never { do :: y < 9 od }",
        "never { do :: true od }",
        "never { do :: x > 0 || x == 0 :: x < 0 -> break od }",
        "never { do :: assert(x != 2) od }",
        "never { T: do :: x < 1 :: x >= 1 -> goto S od; S: do :: x >= 1 :: !(x >= 1) -> break od }",
        "never { do :: P@start || x + 1 == 3 -> break :: else od; }",
        // Its conditions do not distinguish states, and it has no end.
        "never { true; true; do :: true od }",
    ] {
        let claim = claim.replace("P@start", "x == 7");
        assert_eq!(refusal_for(&claim, &CLAIMS), None, "{claim}");
    }
    for (claim, why) in [
        ("never { x == 0; x == 0; x == 1 }", "is not stutter-invariant"),
        ("never { true; x == 2 }", "is not stutter-invariant"),
        ("never { do :: x == 0 -> x == 0; break :: else od }", "is not stutter-invariant"),
        (
            "never { do :: x == 2 -> goto B :: else od; B: x == 2; x == 1 }",
            "is not stutter-invariant",
        ),
        (
            "never { T: if :: x < 2 -> goto S fi; S: if :: true -> goto T :: x == 1 -> goto all fi; all: skip }",
            "is not stutter-invariant",
        ),
        ("never { do :: true; assert(x != 2) od }", "is not stutter-invariant"),
        ("never { do :: timeout -> break :: else od }", "reads which processes are enabled"),
        ("never { do :: enabled(1) -> break :: else od }", "reads which processes are enabled"),
    ] {
        let found = refusal_for(claim, &EVERYTHING).unwrap_or_else(|| panic!("reduced: {claim}"));
        assert!(found.contains("never claim never_0") && found.contains(why), "{claim}: {found}");
    }
    let many: String = (1..13)
        .map(|at| format!(":: (x + {at}) % 3 == y && (y + {at}) % 5 > x -> skip "))
        .collect();
    let found = refusal_for(&format!("never {{ do {many} od }}"), &CLAIMS).unwrap();
    assert!(found.contains("is too large for the test of stutter invariance"), "{found}");
}

/// The steps of the claim matter only if other checks are enabled.
#[test]
fn further_checks_refuse_claims_that_follow_transitions() {
    let claim = "never { x == 0; do :: x == 0 -> false :: x > 0 od }
        active proctype F() { byte a; a = 1 / (1 - other) }";
    assert_eq!(refusal_for(claim, &CLAIMS), None);
    let found = refusal_for(claim, &EVERYTHING).unwrap();
    assert!(
        found.contains("on the transitions that the never claim counts: use `--only claim`"),
        "{found}"
    );
}

/// A run ends at an error. If errors are not checked, the claim may miss the states after it.
#[test]
fn unchecked_errors_refuse_claims_that_read_later_states() {
    let claim = "never { do :: x == 1 -> goto all :: true od; all: skip }";
    let fails = "active proctype F() { byte a; a = 1 / (1 - other) }";
    assert_eq!(refusal_for(claim, &CLAIMS), None);
    assert_eq!(refusal_for(&format!("{claim} {fails}"), &EVERYTHING), None);
    let found = refusal_for(&format!("{claim} {fails}"), &CLAIMS).unwrap();
    assert!(found.contains("is not stutter-invariant"), "{found}");
}

/// A claim and processes, beside a process that runs in a cycle.
fn beside_cycle(rest: &str) -> String {
    format!("byte x, y, z; active proctype Circle() {{ do :: z = 1 - z od }} {rest}")
}

/// The violation is found without reduction and with every method. If `word` is replaced in the program that the
/// reduction reads, at least one method loses the violation.
#[test]
fn transitions_visible_to_the_claim_are_not_postponed() {
    for (text, checks, word, replacement) in [
        // The second transition of a process violates the claim, independently of the other processes.
        (
            beside_cycle("active proctype P() { y = 1; x = 1 } never { do :: x == 1 -> break :: else od }"),
            CLAIMS,
            "do :: x == 1",
            "do :: z == 7",
        ),
        // Only one order of the transitions violates the claim.
        (
            "byte x, y, z;
             active proctype P() { x = 1; x = 2 }
             active proctype Q() { y = 1; y = 2 }
             never { do :: x == 0 && y == 2 -> goto S :: else od; S: do :: y == 2 && x == 2 -> break :: else od }"
                .to_string(),
            CLAIMS,
            "x == ",
            "z == ",
        ),
        // The claim reads a location.
        (
            beside_cycle(
                "active proctype P() { y = 1; here: x = 1 }
                 active proctype Q() { z == 9; here: x == 2 }
                 never { do :: P@here -> break :: else od }",
            ),
            CLAIMS,
            "P@here",
            "Q@here",
        ),
        // The failure is found only while the claim can move.
        (
            "byte x, y, z;
             active proctype P() { x = 1 }
             active proctype F() { y = 1; assert(z == 1) }
             never { do :: x == 0 od }"
                .to_string(),
            ASSERTIONS,
            "x == 0 od",
            "true od",
        ),
    ] {
        let seen = text.replace(word, replacement);
        let (model, seen) = (interp(&text), interp(&seen));
        let full = ClaimProduct::new(&model, &model).unwrap();
        assert_eq!(violations_of(&full, &checks).len(), 1, "{text}");
        for method in REDUCING_METHODS {
            let reduced = reduced_product(&model, &model, method, &checks).unwrap();
            assert_eq!(violations_of(&reduced, &checks).len(), 1, "{}: {text}", method.name());
        }
        let lost = REDUCING_METHODS.iter().filter(|&&method| {
            let misled = reduced_product(&seen, &model, method, &checks).unwrap();
            violations_of(&misled, &checks).is_empty()
        });
        assert!(lost.count() > 0, "{text}");
    }
}

/// The reduction reads a claim with the same conditions that is stutter-invariant. The claim that counts steps is then
/// no longer violated.
#[test]
fn reducing_a_claim_that_counts_steps_loses_its_violation() {
    let system = "
        byte x, y;
        active proctype P() { y = 1; y = 2 }
        active proctype Q() { x = 1; x = 2 }
    ";
    let counts = "never { x == 0; x == 1; x == 1; x == 1; x == 2 }";
    let invariant = "never { do :: x == 0 :: x == 1 :: x == 2 od }";
    let [model, seen] = [counts, invariant].map(|claim| interp(&format!("{system}{claim}")));
    let full = ClaimProduct::new(&model, &model).unwrap();
    assert_eq!(violations_of(&full, &CLAIMS).len(), 1);
    assert!(reduced_product(&model, &model, PartialOrderMethod::Conditional, &CLAIMS).is_err());
    let reduced = reduced_product(&seen, &model, PartialOrderMethod::Conditional, &CLAIMS).unwrap();
    assert!(violations_of(&reduced, &CLAIMS).is_empty());
}

/// Counts of the searches.
#[derive(Default)]
struct Census {
    searched: Cell<u32>,
    fewer: Cell<u32>,
    violated: Cell<u32>,
    other_violations: Cell<u32>,
    hidden: Cell<u32>,
    refused: Cell<u32>,
}

fn count(cell: &Cell<u32>, counts: bool) {
    cell.set(cell.get() + u32::from(counts));
}

impl Census {
    fn show(&self) {
        let Census { searched, fewer, violated, other_violations, hidden, refused } = self;
        let [searched, fewer, violated, other_violations, hidden, refused] =
            [searched, fewer, violated, other_violations, hidden, refused].map(Cell::get);
        println!(
            "{searched} searches, {fewer} of fewer states, {violated} with the claim violated, {hidden} of these \
             behind an error, {other_violations} with something else; {refused} refused"
        );
    }
}

/// Checks that a model has the same violations with every method. On runs that violate the claim no other violation is
/// required. On runs that end in a detected error, the later violation of the claim is not required.
fn keeps_verdicts(interp: &Interp, max_states: usize, census: &Census) -> TestResult<()> {
    if interp.selector().is_err() {
        return Ok(());
    }
    let full = ClaimProduct::new(interp, interp).unwrap();
    let Some(full_graph) = explore(&full, max_states) else { return Ok(()) };
    for checks in [CLAIMS, ASSERTIONS, EVERYTHING] {
        let expected = selected(&full, &full_graph, &checks);
        for method in REDUCING_METHODS {
            let Ok(reduced) = reduced_product(interp, interp, method, &checks) else {
                count(&census.refused, true);
                continue;
            };
            let space = explore(&reduced, usize::MAX >> 8).unwrap();
            let found = selected(&reduced, &space, &checks);
            let is_claim = |it: &Violation| match it {
                Violation::Property(number) => {
                    reduced.properties()[*number as usize].kind == "claim"
                }
                _ => false,
            };
            let is_violated = expected.iter().any(is_claim);
            match is_violated {
                true => {
                    let ends = |it: &Violation| matches!(it, Violation::Fault(kind, _) if *kind != FaultKind::Assertion);
                    let is_reported = |it: &Violation| is_claim(it) || ends(it);
                    prop_assert!(found.iter().any(is_reported), "{} {checks:?}", method.name());
                    count(&census.hidden, !found.iter().any(is_claim));
                    prop_assert!(found.is_subset(&expected), "{}", method.name());
                }
                false => prop_assert_eq!(&found, &expected, "{} {:?}", method.name(), checks),
            }
            prop_assert!(space.states.is_subset(&full_graph.states));
            count(&census.searched, true);
            count(&census.fewer, space.states.len() < full_graph.states.len());
            count(&census.violated, is_violated);
            count(&census.other_violations, !is_violated && !expected.is_empty());
        }
    }
    Ok(())
}

/// Generates a claim of up to four locations, with conditions on a program.
fn claim_of(program: &Program, random: &mut Random) -> Claim {
    let location = |name: String, valid_end: bool| Location {
        name,
        urgency: Urgency::Free,
        valid_end,
        progress: false,
        accepting: false,
        span: Span::default(),
    };
    let mut locations: Arena<LocationId, Location> = Arena::new();
    let count = 2 + random.below(3);
    (0..count).for_each(|at| {
        locations.push(location(format!("l{at}"), at + 1 == count));
    });
    let conditions: Vec<Expr> =
        (0..1 + random.below(3)).map(|_| condition(program, random)).collect();
    let mut moves = Vec::new();
    for from in 0..count - 1 {
        for number in 0..1 + random.below(3) {
            // Most moves stay or lead to the next location, as in stutter-invariant claims.
            let to = match random.below(4) {
                0 => random.below(count),
                1 => from + 1,
                _ => from,
            };
            let mut guard = Some(conditions[random.below(conditions.len())].clone());
            if random.below(3) == 0 {
                guard = guard.map(not);
            }
            if random.below(4) == 0 {
                guard = None;
            }
            let otherwise = number > 0 && guard.is_none() && random.below(2) == 0;
            let condition = conditions[0].clone();
            let (message, asserted) = ("asserted".into(), AssertionKind::Condition);
            let assertion = StmtKind::Assert { condition, message, asserted };
            let body = match random.below(10) {
                0 => vec![Stmt { kind: assertion, span: Span::default() }],
                _ => Vec::new(),
            };
            moves.push(ClaimMove {
                from: LocationId::from_index(from),
                to: LocationId::from_index(to),
                action: Action {
                    name: format!("{from} to {to}"),
                    edge: None,
                    parameters: Vec::new(),
                    guard,
                    communication: None,
                    body,
                    priority: 0,
                    control: ActionControl { otherwise, ..ActionControl::default() },
                    span: Span::default(),
                },
            });
        }
    }
    Claim { locations, start: LocationId::from_index(0), moves }
}

#[test]
fn random_programs_with_random_claims_keep_their_verdicts() {
    let census = Census::default();
    try_all(300, (programs(), any::<u32>()), |(Generated(mut program), seed)| {
        let claim = claim_of(&program, &mut Random::new(u64::from(seed)));
        let kind = PropertyKind::Claim(Box::new(claim));
        program.properties.push(ProgramProperty {
            name: "never".into(),
            kind,
            span: Span::default(),
        });
        let Ok(interp) = Interp::new(program) else { return Ok(()) };
        keeps_verdicts(&interp, 500, &census)
    });
    census.show();
    let Census { searched, fewer, violated, .. } = census;
    assert!(searched.get() > 300 && fewer.get() > 0 && violated.get() > 30);
}

/// Generates processes in Promela with a claim.
fn promela_text(random: &mut Random) -> String {
    let count = 2 + random.below(2);
    let is_started = random.below(3) == 0;
    let mut text = String::from("byte g0, g1, g2;\nchan q = [2] of { byte };\n");
    for process in 0..count {
        let kind = if is_started { "proctype" } else { "active proctype" };
        let statements: Vec<String> =
            (0..2 + random.below(4)).map(|at| statement(random, at)).collect();
        let body = match random.below(3) {
            0 => format!("do :: {} od", statements.join("; ")),
            1 => format!("{}; do :: l = 1 - l od", statements.join("; ")),
            _ => statements.join("; "),
        };
        text += &format!("{kind} P{process}() {{ byte l; {body} }}\n");
    }
    if is_started {
        let runs: Vec<String> = (0..count).map(|it| format!("run P{it}()")).collect();
        text += &format!("init {{ atomic {{ {} }} }}\n", runs.join("; "));
    }
    text + &claim_text(random)
}

fn statement(random: &mut Random, at: usize) -> String {
    let (variable, value) = (random.below(3), random.below(3));
    let label = if at == 1 { "here: " } else { "" };
    let statement = match random.below(13) {
        0 | 1 => format!("g{variable} = {value}"),
        2 => format!("atomic {{ g{variable} < 2 -> g{variable}++ }}"),
        3 => format!("g{variable} == {value}"),
        4 => format!("g{variable} = g{}", random.below(3)),
        5 => format!("q!{value}"),
        6 => "q?l".to_string(),
        7 => format!("assert(g{variable} != {value})"),
        8 => format!("if :: g{variable} = {value} :: l = 1 fi"),
        9 => format!("if :: q?{value} :: empty(q) -> l = 2 :: timeout fi"),
        10 => format!("atomic {{ l = {value}; g{variable} = l }}"),
        _ => "l = 1 - l".to_string(),
    };
    format!("{label}{statement}")
}

fn random_condition(random: &mut Random) -> String {
    let (variable, value) = (random.below(3), random.below(3));
    match random.below(10) {
        0..4 => format!("g{variable} == {value}"),
        4 => format!("g{variable} > {value}"),
        5 => format!("P{}@here", random.below(2)),
        6 => "len(q) == 0".to_string(),
        7 => format!("len(q) > {}", random.below(2)),
        _ => format!("q?[{value}]"),
    }
}

fn claim_text(random: &mut Random) -> String {
    let [p, r, o] = [0; 3].map(|_| random_condition(random));
    match random.below(8) {
        0 => format!("never {{ do :: {p} -> break :: else od }}"),
        1 => format!(
            "never {{ T: do :: {p} -> goto S :: true od; S: do :: {r} -> break :: true od }}"
        ),
        2 => format!("never {{ T: do :: !({p}) :: ({p}) && {r} -> goto all od; all: skip }}"),
        3 => format!("never {{ do :: {p} || {r} od }}"),
        4 => format!(
            "never {{ T: do :: !({p}) && !({r}) :: {r} -> goto S od; S: do :: !({p}) :: {p} -> break od }}"
        ),
        5 => format!("never {{ do :: assert(!({p}) || {r}) od }}"),
        6 => format!(
            "never {{ T: do :: {p} :: {p} && !({r}) -> goto S od;
             S: do :: !({r}) :: {r} && {o} -> goto all od; all: skip }}"
        ),
        _ => format!(
            "never {{ T: if :: {p} -> goto T :: {r} -> goto S fi; S: if :: {o} -> goto T :: {p} -> skip fi }}"
        ),
    }
}

#[test]
fn random_processes_with_random_claims_keep_their_verdicts() {
    let census = Census::default();
    try_all(400, any::<u32>(), |seed| {
        let text = promela_text(&mut Random::new(u64::from(seed)));
        let model = interp(&text);
        keeps_verdicts(&model, 2000, &census).map_err(|error| match error {
            TestCaseError::Fail(why) => TestCaseError::fail(format!("{why}: {text}")),
            other => other,
        })
    });
    census.show();
    let Census { searched, fewer, violated, other_violations, .. } = census;
    assert!(searched.get() > 500 && fewer.get() > 100);
    assert!(violated.get() > 100 && other_violations.get() > 20);
}

/// Independent counters, and a claim that is violated when one has finished.
const COUNTING: &str = "
    short x, y, z;
    active proctype P() { do :: x < 200 -> x++ :: x == 200 -> break od; z = 1; false }
    active proctype Q() { do :: y < 200 -> y++ :: y == 200 -> y = 0 od }
    never { do :: z == 1 -> break :: else od }
";

/// The counterexample is a run of the product without reduction. With `shortest` it has the least length.
#[test]
fn counterexamples_are_runs_of_the_full_product() {
    let model = text_model(COUNTING);
    let full = ClaimProduct::new(&model.interp, &model.interp).unwrap();
    let reduce = || partial_order_plan(PartialOrderMethod::Conditional);
    let configure = || Check::of_text(&model).memory(memory_beside_tests(512));
    let shortest = configure().reduce(ReductionConfig::none()).run().unwrap();
    let least = shortest.counterexample().unwrap().unwrap().trace().depth();
    for (check, is_shortest) in [
        (configure().reduce(reduce()), false),
        (configure().reduce(reduce()).shortest(), true),
        (configure().reduce(ReductionConfig::auto()), false),
    ] {
        let found = check.run().unwrap();
        assert!(
            found.outcome().counters.partially_expanded > 0
                && found.states() < shortest.states() / 2
        );
        let trace = found.counterexample().unwrap().unwrap().trace();
        let mut options = full.starts();
        for step in &trace.steps {
            assert!(options.contains(step), "{}", step.name);
            let StepOutcome::Successor(state) = &step.outcome else { panic!("nothing fails") };
            options = full.steps(state);
        }
        assert!(full.violations(trace.states.last().unwrap()).contains(&trace.check));
        assert!(trace.depth() >= least && (trace.depth() == least || !is_shortest));
    }
}

/// A search that is stopped and resumed gives the same result.
#[test]
fn a_resumed_search_keeps_its_reduction() {
    let text = COUNTING.replace("z == 1 -> break", "z == 2 -> break");
    let model = text_model(&text);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("search");
    let configure =
        || Check::of_text(&model).memory(memory_beside_tests(512)).reduce(ReductionConfig::auto());
    let full = configure().run().unwrap();
    let stopped = configure().dir(&dir).max_states(40).run().unwrap();
    assert!(stopped.states() < full.states());
    drop(stopped);
    let found = configure().dir(&dir).run().unwrap();
    assert_eq!(found.states(), full.states());
    assert_eq!(found.outcome().levels, full.outcome().levels);
    assert!(found.outcome().counters.partially_expanded > 0);
}

#[test]
fn models_of_the_corpus_keep_their_verdicts() {
    let census = Census::default();
    for (name, model) in corpus_models(&["promela"], Options::default()) {
        if model.claim().is_some() {
            let result = keeps_verdicts(&model.interp, 50_000, &census);
            result.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
    census.show();
}
