//! Never claims: each point of their meaning by a small model whose counts SPIN has confirmed.
//!
//! The counts are those of SPIN 6.5.2: `spin -o1 -o2 -o3 -a`, `cc -DSAFETY -DNOREDUCE`, `pan -c0`. They are the stored
//! states, the transitions and the errors. SPIN counts one more transition: the arrival at the initial state.

use spillway::exec::{Interp, Jit};
use spillway::front::{ClaimChoice, Options, promela};
use spillway::ir::validate::validate;
use spillway::model::{StateSpace, StepOutcome, SystemDescription, Violation, memory};
use spillway::reduce::claim::ClaimProduct;
use spillway::search::SearchLimits;
use spillway::search::trace::replay;
use spillway::source::SourceMap;

fn load(text: &str, claim: ClaimChoice) -> Interp {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    let options = Options { claim, ..Options::default() };
    let loaded = promela::LANGUAGE.load(&mut sources, &options).unwrap();
    validate(&loaded.program).unwrap();
    Interp::new(loaded.program).unwrap()
}

/// Returns states, transitions and errors of the product, as SPIN counts them.
fn counts(text: &str) -> (u64, u64, u64) {
    counts_with(text, ClaimChoice::First)
}

fn counts_with(text: &str, claim: ClaimChoice) -> (u64, u64, u64) {
    let interp = load(text, claim);
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let model = ClaimProduct::new(&interp, &interp).unwrap();
    let outcome = memory::search(&model, &limits).unwrap();
    let jit = Jit::new(&interp).unwrap();
    let compiled = ClaimProduct::new(&jit, &interp).unwrap();
    assert_eq!(memory::search(&compiled, &limits).unwrap(), outcome, "compiled and interpreted");
    assert_eq!(outcome.deadlocks(), 0, "under a claim there are none");
    for (check, finding) in outcome.findings.iter() {
        check_witness(&model, check, &finding.witness);
    }
    let errors = outcome.findings.iter().map(|(_, finding)| finding.count).sum();
    (outcome.states(), outcome.counters.transitions + 1, errors)
}

/// Checks that a witness has its violation.
fn check_witness(model: &ClaimProduct, check: Violation, witness: &[u8]) {
    match check {
        Violation::Property(_) => {
            assert!(model.violations(witness).contains(&check));
            assert!(model.last_moves(witness).is_some());
        }
        Violation::Fault(kind, action) => {
            let has_fault = |outcome: &StepOutcome| matches!(outcome, StepOutcome::Fault(it) if it.kind == kind);
            let mut steps = model.steps(witness).into_iter();
            assert!(steps.any(|step| step.action == action && has_fault(&step.outcome)));
            assert!(!model.action_name(action).is_empty());
        }
        Violation::Deadlock => unreachable!("there are none"),
    }
}

/// After a violation the search continues, and finds another one.
#[test]
fn a_claim_that_reaches_its_end_is_violated() {
    let model = "
        byte x;
        active proctype P() { x = 1; x = 2; x = 3 }
        never { do :: x == 2 -> break :: else od }
    ";
    assert_eq!(counts(model), (4, 4, 2));
}

#[test]
fn a_blocked_claim_has_no_successors() {
    let model = "
        byte x;
        active proctype P() { do :: x < 5 -> x++ :: x > 0 -> x-- od }
        never { do :: x < 3 od }
    ";
    assert_eq!(counts(model), (9, 11, 0));
}

/// Only the assertion in the state where the claim can move is executed.
#[test]
fn errors_after_a_blocked_claim_are_not_found() {
    let model = "
        byte x;
        active proctype P() { do :: x < 5 -> x++ :: x == 2 -> assert(false) :: x == 4 -> assert(x != 4) od }
        never { do :: x < 4 od }
    ";
    assert_eq!(counts(model), (10, 11, 1));
}

#[test]
fn accept_labels_have_no_effect_on_safety_checks() {
    let model = "
        byte x;
        active proctype P() { do :: x = 1 - x od }
        never { T0: do :: x == 1 -> goto accept_S :: true od; accept_S: do :: x == 1 od }
    ";
    assert_eq!(counts(model), (3, 4, 0));
}

#[test]
fn claims_may_have_assertions() {
    let model = "
        byte x;
        active proctype P() { x = 1; x = 2; x = 3 }
        never { do :: assert(x != 2) od }
    ";
    assert_eq!(counts(model), (5, 6, 1));
}

/// The never claim that SPIN generates from a formula.
#[test]
fn an_atomic_sequence_of_a_claim_is_one_move() {
    let model = "
        byte x;
        active proctype P() { do :: x < 4 -> x++ :: x > 1 -> x-- od }
        never { T0: do :: atomic { (x == 3) -> assert(!(x == 3)) } :: (1) -> goto T0 od; accept_all: skip }
    ";
    assert_eq!(counts(model), (12, 19, 3));
}

#[test]
fn deadlocks_are_not_reported_under_a_claim() {
    let model = "
        byte x, y;
        active proctype P() { x = 1; y == 1; x = 2 }
        active proctype Q() { x == 2; y = 1 }
        never { do :: x < 2 od }
    ";
    assert_eq!(counts(model), (2, 3, 0));
}

#[test]
fn a_claim_continues_when_the_system_is_stuck() {
    let model = "
        byte x;
        active proctype P() { x = 1; false }
        never { x == 0; A: x == 1; B: x == 1; C: x == 1; D: x == 1; E: x == 1; F: do :: x == 1 od }
    ";
    assert_eq!(counts(model), (6, 7, 0));
}

#[test]
fn a_claim_continues_from_every_location_reached() {
    let model = "
        byte x;
        active proctype P() { x = 1; x = 2 }
        active proctype Q() { x == 3 }
        never { T: do :: true :: x == 1 -> goto A :: x == 2 -> goto B od; A: x > 0; B: x > 0; C: x > 0; D: x > 0; E: do :: x > 0 od }
    ";
    assert_eq!(counts(model), (8, 12, 0));
}

#[test]
fn claims_refer_to_processes_by_pid() {
    let model = "
        byte n;
        active [2] proctype P() { byte mine; do :: n++; mine = n; cs: n-- od }
        never { do :: P[0]@cs && P[1]@cs -> break :: P[1]:mine == 2 -> break :: else od }
    ";
    assert_eq!(counts(model), (50, 85, 18));
}

#[test]
fn each_move_of_the_claim_combines_with_all_system_steps() {
    let model = "
        byte x;
        active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
        active proctype Q() { x = 0 }
        never { T0: if :: true -> goto T0 :: x == 1 -> goto S1 :: x == 2 -> goto S2 fi; S1: if :: x == 2 -> goto S2 :: x == 1 -> goto S1 fi; S2: if :: x == 3 -> goto fin :: else -> goto S2 fi; fin: skip }
    ";
    assert_eq!(counts(model), (62, 108, 11));
}

#[test]
fn else_of_a_claim_holds_if_no_earlier_option_does() {
    let model = "
        byte x;
        chan c = [1] of { byte };
        active proctype P() { do :: c!1 :: c?x od }
        never { do :: c?[1] && x == 1 -> break :: else od; do :: empty(c) -> break :: else od }
    ";
    assert_eq!(counts(model), (6, 6, 2));
}

#[test]
fn escapes_of_a_claim_have_precedence() {
    let model = "
        byte x;
        active proctype P() { do :: x < 4 -> x++ :: x > 1 -> x-- od }
        never { { do :: true od } unless { x == 3 -> x == 4 } }
    ";
    assert_eq!(counts(model), (10, 11, 0));
}

#[test]
fn claims_observe_only_the_ends_of_atomic_sequences() {
    let model = "
        byte x, y;
        active proctype A() { atomic { x = 1; if :: x = 2 :: x = 3 fi; y == 1; x = 4 } }
        active proctype B() { y = 1; x = 0 }
        never { do :: x != 3 :: x == 3 -> y == 0; break od }
    ";
    assert_eq!(counts(model), (17, 26, 0));
}

#[test]
fn timeout_in_a_claim_is_evaluated_after_its_moves() {
    let model = "
        byte x;
        active proctype A() { do :: timeout -> x = 1; break :: x == 2 -> x = 3 od }
        active proctype B() { x = 2; x == 3 }
        active proctype C() { false }
        never { do :: true :: timeout -> break od }
    ";
    assert_eq!(counts(model), (9, 10, 4));
}

#[test]
fn references_without_a_pid_refer_to_the_oldest_process() {
    let model = "
        byte x;
        active [2] proctype P() { byte k; x++; k = x; here: x = 0; false }
        never { do :: P@here && P:k == 2 -> break :: else od }
    ";
    assert_eq!(counts(model), (38, 46, 9));
}

#[test]
fn timeout_in_a_claim_never_holds_unless_a_process_uses_it() {
    let model = "
        byte x;
        active proctype P() { do :: x < 3 -> x++ :: x == 3 -> break od; x = 0; false }
        never { do :: true :: timeout od }
    ";
    assert_eq!(counts(model), (9, 10, 0));
}

#[test]
fn timeout_in_a_claim_holds_if_nothing_else_is_enabled() {
    let model = "
        byte x;
        active proctype P() { do :: x < 3 -> x++ :: x == 3 -> break od; x = 0; false }
        active proctype Q() { x == 7; timeout }
        never { do :: x < 2 :: x == 3 :: timeout od }
    ";
    assert_eq!(counts(model), (9, 13, 0));
}

#[test]
fn the_last_mover_is_never_the_claim() {
    let model = "
        byte x;
        active [2] proctype A() { do :: x < 3 -> x++ od }
        never { do :: _last == 0 :: _last == 1 -> x >= 2; break od }
    ";
    assert_eq!(counts(model), (35, 36, 17));
}

#[test]
fn claims_observe_dynamic_processes() {
    let model = "
        byte n;
        proctype P(byte k) { n = n + k }
        init { run P(1); run P(2); (n == 3); run P(3) }
        never { do :: n < 6 :: n > 2 -> break od }
    ";
    assert_eq!(counts(model), (43, 54, 34));
}

#[test]
fn claims_evaluate_enabled() {
    let model = "
        byte x;
        active proctype P() { x = 1; x == 2 -> x = 3 }
        active proctype Q() { x == 1; x = 2 }
        never { do :: !enabled(0) && x == 1 -> break :: else od }
    ";
    assert_eq!(counts(model), (3, 3, 2));
}

#[test]
fn end_labels_of_a_claim_mark_its_end() {
    let model = "
        byte x;
        active proctype P() { x = 1; x = 2; x = 3 }
        never { do :: x==2 -> goto endx :: else od; endx: x==3; skip; false }
    ";
    assert_eq!(counts(model), (5, 5, 2));
}

/// SPIN's state number for each control state, with the number of errors.
#[test]
fn pc_value_is_the_state_number_of_spin() {
    let model = "
        byte x; chan c = [1] of { byte };
        active proctype P() {
            byte k;
            x = 1;
            if :: x == 1 -> k = 2; k = 3 :: x == 5 -> skip :: else fi;
            do :: k > 0 -> k-- :: k == 0 -> break od;
            atomic { c!1; k = 1; k = 2 }
            d_step { k = 3; k = 4 };
            { do :: k < 6 -> k++ od } unless { k == 6 };
            lab: c?k;
            for (k : 1 .. 2) { x = k }
            goto lab2;
            skip;
            lab2: x = 9
        }
        never { do :: assert(pc_value(0) != NUMBER) od }
    ";
    let errors = [
        (0, 2),
        (1, 1),
        (3, 1),
        (4, 1),
        (8, 1),
        (11, 3),
        (14, 4),
        (20, 1),
        (23, 1),
        (25, 2),
        (26, 3),
        (32, 1),
        (33, 1),
        (35, 2),
        (36, 2),
        (39, 3),
        (44, 1),
        (45, 1),
    ];
    for number in 0..48 {
        let expected = errors
            .iter()
            .find(|(state_number, _)| *state_number == number)
            .map_or(0, |(_, errors)| *errors);
        let model = model.replace("NUMBER", &number.to_string());
        assert_eq!(counts(&model).2, expected, "{number}");
    }
}

/// SPIN evaluates `np_` only with `-a`. The count is that of stored states, compiled without `-DSAFETY`.
#[test]
fn np_holds_if_no_process_makes_progress() {
    let model = "
        byte x;
        active proctype P() { do :: x = 1; progress: x = 2; x = 0 od }
        never { do :: true :: np_ -> goto accept od; accept: do :: np_ od }
    ";
    assert_eq!(counts(model).0, 5);
}

const TWO_CLAIMS: &str = "
    byte x;
    active proctype P() { x = 1; x = 2; x = 3; false }
    never { do :: x == 2 -> break :: else od }
    never two { do :: x == 3 -> break :: else od }
";

#[test]
fn one_of_several_claims_is_selected() {
    assert_eq!(counts(TWO_CLAIMS), (4, 4, 2));
    let counts_by_name = |name: &str| counts_with(TWO_CLAIMS, ClaimChoice::Named(name.into()));
    assert_eq!(counts_by_name("never_0"), (4, 4, 2));
    assert_eq!(counts_by_name("two"), (4, 4, 1));
    let without = load(TWO_CLAIMS, ClaimChoice::Omit);
    assert!(ClaimProduct::new(&without, &without).is_none());
    assert_eq!(memory::search(&without, &SearchLimits::default()).unwrap().states(), 4);
}

#[test]
fn products_differ_by_claim_and_describe_its_location() {
    let digest = |choice| {
        let interp = load(TWO_CLAIMS, choice);
        ClaimProduct::new(&interp, &interp).map_or(interp.digest(), |model| model.digest())
    };
    let digests = [ClaimChoice::First, ClaimChoice::Named("two".into()), ClaimChoice::Omit];
    let [first, second, none] = digests.map(digest);
    assert!(first != second && second != none && first != none);
    let interp = load(TWO_CLAIMS, ClaimChoice::First);
    let model = ClaimProduct::new(&interp, &interp).unwrap();
    let StepOutcome::Successor(state) = &model.starts()[0].outcome else { panic!("it starts") };
    assert_eq!(model.describe(state)[0], ("claim never_0".into(), "line 4:13".into()));
    let trace = replay(&model, Violation::Deadlock, vec![state.clone()]);
    assert!(trace.is_none(), "the initial state is no deadlock");
}

/// In every state of random walks, the expansion gives the successors of the steps, and a step changes only bits of one
/// mask.
#[test]
fn expansion_and_steps_agree_and_stay_within_the_masks() {
    for text in [TWO_CLAIMS, MIXED] {
        let interp = load(text, ClaimChoice::First);
        let jit = Jit::new(&interp).unwrap();
        let models =
            [&interp as &dyn StateSpace, &jit].map(|it| ClaimProduct::new(it, &interp).unwrap());
        let (mut open, mut seen) = (successors(models[0].starts()), Vec::new());
        while let Some(state) = open.pop() {
            if seen.contains(&state) || seen.len() > 500 {
                continue;
            }
            let mut expected = successors(models[0].steps(&state));
            for next in &expected {
                let within = |mask: &Vec<u8>| {
                    (0..mask.len()).all(|at| (next[at] ^ state[at]) & !mask[at] == 0)
                };
                assert!(models[0].write_masks().iter().any(within));
            }
            open.extend(expected.clone());
            expected.sort();
            for model in &models {
                let (all, transitions, _) = crate::support::agree::expanded(model, &state, 1 << 20);
                let mut found: Vec<Vec<u8>> =
                    all.chunks_exact(model.width()).map(Vec::from).collect();
                found.sort();
                assert_eq!((found.len() as u64, &found), (transitions, &expected));
            }
            seen.push(state);
        }
        assert!(seen.len() > 3);
    }
}

fn successors(steps: Vec<spillway::model::StepDescription>) -> Vec<Vec<u8>> {
    let state = |step: spillway::model::StepDescription| match step.outcome {
        StepOutcome::Successor(state) => Some(state),
        StepOutcome::Fault(_) => None,
    };
    steps.into_iter().filter_map(state).collect()
}

const MIXED: &str = "
    chan c = [2] of { byte };
    byte x;
    active proctype P() { do :: c!x :: x < 4 -> x++ od }
    active proctype Q() { byte y; do :: atomic { c?y; y > 1 -> x = 0 } :: c?[3] -> assert(x < 4) od }
    never {
        T: do :: true :: c?[1] -> goto S :: x == 4 -> assert(x != 4) od;
        S: do :: atomic { len(c) == 2 -> x > 0 } :: else -> goto T :: Q[1]:y == 3 -> break od
    }
";
