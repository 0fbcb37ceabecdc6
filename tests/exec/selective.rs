//! Selective expansion: the enabled action instances, the transitions of each instance, and their agreement with the
//! full expansion.
//!
//! The states are random reachable states of our models, of random models, and with `SPILLWAY_CORPUS` of an external
//! corpus. Other tests cover what is specific to each language. `SPILLWAY_LARGE` tries a thousand random models of each
//! kind.

use crate::selective_expansion::check_selective_expansion;
use crate::support::agree::random_states;
use crate::support::collection::{find_models, text_of};
use crate::support::is_large;
use spillway::analysis::instances::{ActionInstance, InstanceId, InstanceSets};
use spillway::exec::{
    ExecutionMode, Executor, Interp, LabelledSink, SelectiveStateSpace, labelled,
};
use spillway::front::{Language, Options, dve, murphi, promela};
use spillway::model::{StateSpace, StepOutcome, SystemDescription};
use spillway::source::SourceMap;
use std::path::Path;

/// The number of random states of each model.
const STATES: usize = 300;

fn interpreter(name: &str, text: String) -> Option<Interp> {
    let mut sources = SourceMap::default();
    sources.add(name.to_owned(), text);
    let language = Language::from_file_name(name).unwrap();
    // With a fixed number of slots, a process that lacks one is an error of the model. Otherwise the expansion fails.
    let options = Options { slots: language.options.slots, ..Options::default() };
    let loaded = language.load(&mut sources, &options).ok()?;
    Interp::new(loaded.program).ok()
}

/// The reason of a refusal: instances of lockstep models have no numbers.
const LOCKSTEP: &str = "lockstep";

fn check_folder(folder: &Path, states: usize) {
    let files = find_models(folder);
    assert!(!files.is_empty());
    for file in files {
        let name = file.display().to_string();
        let Some(interp) = interpreter(&name, text_of(&file)) else {
            assert!(!folder.starts_with(env!("CARGO_MANIFEST_DIR")), "{name} is refused");
            println!("{name}: refused");
            continue;
        };
        let reached = random_states(&interp, 30 * states, 1);
        let sample: Vec<u8> =
            reached.chunks_exact(interp.width()).step_by(30).flatten().copied().collect();
        for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
            let executor = Executor::new(&interp, exec);
            let selective = match executor.selective() {
                Ok(selective) => selective,
                Err(refusal) => {
                    assert!(refusal.reason.contains(LOCKSTEP), "{name}: {refusal}");
                    println!("{name}: {refusal}");
                    continue;
                }
            };
            if let Err(error) = check_selective_expansion(&interp, &*selective, &sample, 1) {
                panic!("{name}, {exec:?}: {error}");
            }
            println!("{name}: {} instances, {exec:?}", selective.instances().count());
        }
    }
}

#[test]
fn selective_expansion_of_own_models_agrees_with_full_expansion() {
    check_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), STATES);
}

#[test]
fn selective_expansion_of_corpus_models_agrees_with_full_expansion() {
    match std::env::var_os("SPILLWAY_CORPUS") {
        None => println!("skipped: SPILLWAY_CORPUS is not set"),
        Some(corpus) => {
            for language in ["dve", "murphi", "promela"] {
                check_folder(&Path::new(&corpus).join(language), STATES / 3);
            }
        }
    }
}

/// Random models as text, in each language.
#[test]
fn selective_expansion_of_random_models_agrees_with_full_expansion() {
    let seeds = if is_large() { 1000 } else { 60 };
    for language in [&promela::LANGUAGE, &murphi::LANGUAGE, &dve::LANGUAGE] {
        let (mut tried, mut steps) = (0, 0);
        for seed in 1..=seeds {
            let (text, _) = crate::models::make(language, &crate::models::numbers(seed));
            let name = format!("random.{}", language.extensions[0]);
            let Some(interp) = interpreter(&name, text.clone()) else { continue };
            let states = random_states(&interp, 40, seed);
            for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
                let executor = Executor::new(&interp, exec);
                let Ok(selective) = executor.selective() else { continue };
                if let Err(error) = check_selective_expansion(&interp, &*selective, &states, seed) {
                    panic!("seed {seed}, {exec:?}: {error}\n{text}");
                }
                tried += 1;
                steps += states.len() / interp.width();
            }
        }
        println!("{}: {tried} times, {steps} states", language.name);
        assert!(tried > seeds && steps > 10 * seeds as usize, "{}", language.name);
    }
}

/// Returns the enabled instances of the only initial state, as the names and slots of their sides, with their
/// successors.
fn first_steps(
    interp: &Interp,
    selective: &dyn SelectiveStateSpace,
) -> Vec<(String, Vec<Vec<u8>>)> {
    let StepOutcome::Successor(state) = interp.starts().remove(0).outcome else {
        panic!("there is an initial state")
    };
    steps_of(interp, selective, &state)
}

fn steps_of(
    interp: &Interp,
    selective: &dyn SelectiveStateSpace,
    state: &[u8],
) -> Vec<(String, Vec<Vec<u8>>)> {
    let mut sets = selective.instances().sets();
    selective.enabled(state, &mut sets).unwrap();
    let name = |instance: InstanceId| {
        let action_instance = selective.instances().get(instance).unwrap();
        let side = |it: spillway::analysis::instances::InstanceSide| {
            let name = interp.action_name(it.action.0);
            let values = selective.instances().values(it);
            if values.is_empty() {
                format!("{name}@{}", it.slot)
            } else {
                format!("{name}{values:?}")
            }
        };
        match action_instance {
            ActionInstance::MayMove { slot, .. } => format!("may {slot} move"),
            _ => action_instance.sides().map(side).collect::<Vec<_>>().join(" meets "),
        }
    };
    let successors = |instance: InstanceId| {
        let (mut single, mut buffer) = (selective.instances().sets(), Vec::new());
        single.clear(1);
        single.insert(0, instance);
        let run = |out: &mut LabelledSink| selective.expand_labelled(state, &single, out);
        let _ = LabelledSink::collect(interp.width(), &mut buffer, run).unwrap();
        labelled(&buffer, interp.width()).map(|(state, _)| state.to_vec()).collect()
    };
    sets.iter(0).map(|instance| (name(instance), successors(instance))).collect()
}

/// Checks the enabled instances of the initial state, and the values of a variable in their successors.
fn check_first_steps(name: &str, text: &str, variable: &str, expected: &[(&str, &[&str])]) {
    let interp = interpreter(name, text.to_owned()).unwrap();
    for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
        let executor = Executor::new(&interp, exec);
        let selective = executor.selective().unwrap();
        let value = |state: &Vec<u8>| {
            let shown = interp.describe(state);
            shown.into_iter().find(|(name, _)| name == variable).unwrap().1.to_string()
        };
        let found: Vec<(String, Vec<String>)> = first_steps(&interp, &*selective)
            .into_iter()
            .map(|(name, states)| (name, states.iter().map(value).collect()))
            .collect();
        let expected: Vec<(String, Vec<String>)> = expected
            .iter()
            .map(|(name, values)| {
                (name.to_string(), values.iter().map(|it| it.to_string()).collect())
            })
            .collect();
        assert_eq!(found, expected, "{exec:?}");
    }
}

#[test]
fn rules_are_instances_by_their_parameter_values() {
    let text = "type small: 0..2; odd: 3..4; var x: 0..99;
        ruleset i: small; j: odd do
          rule \"set\" i > 0 ==> x := 10 * i + j; end
        end;
        startstate x := 0; end";
    let steps: [(&str, &[&str]); 4] = [
        ("set[1, 3]", &["13"]),
        ("set[1, 4]", &["14"]),
        ("set[2, 3]", &["23"]),
        ("set[2, 4]", &["24"]),
    ];
    check_first_steps("rules.m", text, "x", &steps);
}

#[test]
fn a_rendezvous_is_a_pair_of_both_sides() {
    let text = "channel c; byte x = 0;
        process A { state a, b; init a; trans a -> b { sync c!1; }, a -> b { sync c!2; }; }
        process B { byte y = 0; state a, b; init a; trans a -> b { sync c?x; }; }
        process C { state a, b; init a; trans a -> b { sync c?x; effect x = x + 10; }; }
        system async;";
    let interp = interpreter("meet.dve", text.to_owned()).unwrap();
    let selective = interp.selector().unwrap();
    let found = first_steps(&interp, &selective);
    let pairs: Vec<_> =
        found.iter().map(|(name, successors)| (name.as_str(), successors.len())).collect();
    assert_eq!(pairs.len(), 4, "{pairs:?}");
    assert!(pairs.iter().all(|(name, steps)| name.contains(" meets ") && *steps == 1), "{pairs:?}");
}

/// `else` and `timeout` depend on all instances, not only on the chosen ones.
#[test]
fn else_and_timeout_are_independent_of_the_choice() {
    let else_model = "byte x; active proctype A() { if :: x == 0 -> x = 1 :: else -> x = 2 fi }";
    let interp = interpreter("else.pml", else_model.to_owned()).unwrap();
    for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
        let executor = Executor::new(&interp, exec);
        let selective = executor.selective().unwrap();
        assert_eq!(first_steps(&interp, &*selective).len(), 1, "{exec:?}");
        let StepOutcome::Successor(state) = interp.starts().remove(0).outcome else {
            panic!("starts")
        };
        let count = selective.instances().count();
        for number in 0..count {
            let mut single = InstanceSets::new(count);
            single.clear(1);
            single.insert(0, InstanceId(number));
            let mut buffer = Vec::new();
            let run = |out: &mut LabelledSink| selective.expand_labelled(&state, &single, out);
            let collected = LabelledSink::collect(interp.width(), &mut buffer, run).unwrap();
            let mut sets = selective.instances().sets();
            selective.enabled(&state, &mut sets).unwrap();
            let expected = u64::from(sets.contains(0, InstanceId(number)));
            assert_eq!(collected.counters.transitions, expected, "{exec:?}, {number}");
        }
    }
    let timeout_model =
        "byte x; active proctype A() { timeout -> x = 1 } active proctype B() { x == 0 -> x = 3 }";
    let interp = interpreter("timeout.pml", timeout_model.to_owned()).unwrap();
    for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
        let executor = Executor::new(&interp, exec);
        let selective = executor.selective().unwrap();
        let StepOutcome::Successor(state) = interp.starts().remove(0).outcome else {
            panic!("starts")
        };
        let mut all = selective.instances().sets();
        selective.enabled(&state, &mut all).unwrap();
        let enabled_instances: Vec<InstanceId> = all.iter(0).collect();
        assert_eq!(enabled_instances.len(), 1, "{exec:?}: B can move, and so A cannot");
        all.fill(1);
        all.remove(0, enabled_instances[0]);
        let mut buffer = Vec::new();
        let run = |out: &mut LabelledSink| selective.expand_labelled(&state, &all, out);
        let collected = LabelledSink::collect(interp.width(), &mut buffer, run).unwrap();
        assert_eq!(collected.counters.transitions, 0, "{exec:?}: no timeout where B is not chosen");
    }
}

/// All paths of an atomic sequence belong to the instance of its first action.
#[test]
fn atomic_sequences_belong_to_their_first_instance() {
    let text = "byte x; active proctype A() {
        atomic { x = 1; if :: x = 2 :: x = 3 fi; x = x + 10 } }
        active proctype B() { d_step { x = 50; x = x + 1 } }";
    let interp = interpreter("chain.pml", text.to_owned()).unwrap();
    for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
        let executor = Executor::new(&interp, exec);
        let selective = executor.selective().unwrap();
        let found = first_steps(&interp, &*selective);
        let mut counts: Vec<usize> = found.iter().map(|(_, successors)| successors.len()).collect();
        counts.sort();
        assert_eq!(counts, [1, 2], "{exec:?}: {found:?}");
    }
}

/// A fault belongs to the chosen instance, even if it occurs in the evaluation of `else`, of a channel, of a message,
/// or of `provided`.
#[test]
fn faults_belong_to_the_chosen_instance() {
    let models = [
        "byte a[2]; byte x = 5;
        active proctype A() { do :: a[x] == 0 -> x = 7 :: else -> x = 8 od }
        active proctype B() { do :: x = 1 :: x = 6 od }",
        "chan c = [0] of { byte }; byte a[2]; byte x = 5;
        active proctype A() { do :: c!a[x] :: timeout -> x = 3 od }
        active proctype B() { byte y; do :: c?y :: x = 0 :: x = 9 od }
        active proctype C() { byte z; do :: c?eval(a[x]) :: c?z od }",
        "byte a[2]; byte x = 1;
        active proctype A() provided (a[x] == 0) { do :: x = 4 :: x = 0 od }
        active proctype B() { do :: timeout -> x = 2 :: x > 1 -> x-- od }",
    ];
    for text in models {
        let interp = interpreter("errors.pml", text.to_owned()).unwrap();
        let states = random_states(&interp, 200, 1);
        let fails = states.chunks_exact(interp.width()).any(|state| {
            interp.steps(state).iter().any(|step| matches!(step.outcome, StepOutcome::Fault(_)))
        });
        assert!(fails, "{text}");
        for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
            let executor = Executor::new(&interp, exec);
            let selective = executor.selective().unwrap();
            if let Err(error) = check_selective_expansion(&interp, &*selective, &states, 1) {
                panic!("{text}, {exec:?}: {error}");
            }
        }
    }
}

/// Bytes that are no state are rejected by every query.
#[test]
fn invalid_states_are_refused() {
    let text = "byte x; active proctype A() { do :: x < 5 -> x++ :: x == 5 -> x = 0 od }";
    let interp = interpreter("loop.pml", text.to_owned()).unwrap();
    let invalid = vec![0xff; interp.width()];
    assert!(interp.steps(&invalid).is_empty());
    for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
        let executor = Executor::new(&interp, exec);
        let selective = executor.selective().unwrap();
        let mut sets = selective.instances().sets();
        assert!(selective.enabled(&invalid, &mut sets).is_err());
        sets.fill(1);
        let run = |out: &mut LabelledSink| selective.expand_labelled(&invalid, &sets, out);
        assert!(LabelledSink::collect(interp.width(), &mut Vec::new(), run).is_err());
    }
}
