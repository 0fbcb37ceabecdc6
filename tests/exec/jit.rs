//! Compiled code agrees with the interpreter: the same successors in the same order, by the same actions, and the same
//! errors at the same places. The states are random reachable states of our models, and with `SPILLWAY_CORPUS` of an
//! external corpus.

use crate::support::agree::{assert_agree, assert_agree_in_any_order, expanded, random_states};
use crate::support::collection::{find_models, text_of};
use spillway::exec::Interp;
use spillway::exec::Jit;
use spillway::exec::jit::CompileLimits;
use spillway::front::{Language, Options, promela};
use spillway::ir::{Communication, Expr, OverflowRule, Place, Program, Stmt, StmtKind, VarId};
use spillway::model::StateSpace;
use spillway::reduce::rewriting::RewrittenProgram;
use spillway::reduce::{ParameterValues, ReductionPlan};
use spillway::source::{SourceMap, Span};
use std::path::Path;
use std::time::Duration;

/// The folders of languages.
const LANGUAGES: [&str; 3] = ["dve", "murphi", "promela"];

/// The number of random states of each model.
const STATES: usize = 10_000;

/// Loads a model; returns nothing if the front end rejects it, which it may do for models of the corpus.
fn interpreter(file: &Path, overflow: OverflowRule) -> Option<Interp> {
    let mut sources = SourceMap::default();
    sources.add(file.display().to_string(), text_of(file));
    let language = Language::from_file_name(&file.to_string_lossy()).unwrap();
    // With a fixed number of slots, a process that lacks one is an error of the model. Otherwise the expansion fails.
    let slots = language.options.slots;
    let options = Options { overflow: Some(overflow), slots, ..Options::default() };
    let loaded = language.load(&mut sources, &options).ok()?;
    Interp::new(loaded.program).ok()
}

fn compare_all(folder: &Path) {
    let files = find_models(folder);
    assert!(!files.is_empty());
    for file in files {
        for overflow in [OverflowRule::Fails, OverflowRule::Wraps] {
            let name = format!("{} ({overflow:?})", file.display());
            let Some(interp) = interpreter(&file, overflow) else {
                assert!(!folder.starts_with(env!("CARGO_MANIFEST_DIR")), "{name} is refused");
                println!("{name}: refused");
                continue;
            };
            let states = random_states(&interp, STATES, 1);
            // There is no time limit, so that everything is compiled on a busy machine too.
            let limits = CompileLimits { time: Duration::MAX, ..CompileLimits::default() };
            match Jit::within(&interp, limits) {
                Ok(jit) => {
                    let compiled = jit.compiled().unwrap();
                    match Language::from_file_name(&file.to_string_lossy()) {
                        Some(language) if *language == promela::LANGUAGE => {
                            assert_agree_in_any_order(&name, &interp, &jit, &states);
                        }
                        _ => {
                            assert_eq!(compiled.interpreted, 0, "{name}: everything is compiled");
                            assert_agree(&name, &interp, &jit, &states);
                        }
                    }
                    println!("{name}: {compiled:?}, {} bits", StateSpace::bits(&interp));
                }
                Err(refused) => println!("{name}: interpreted, as {refused}"),
            }
        }
    }
}

#[test]
fn compiled_models_agree_with_the_interpreter() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    LANGUAGES.iter().for_each(|language| compare_all(&models.join(language)));
}

#[test]
fn compiled_models_of_the_corpus_agree_with_the_interpreter() {
    match std::env::var_os("SPILLWAY_CORPUS") {
        None => println!("skipped: SPILLWAY_CORPUS is not set"),
        Some(corpus) => {
            LANGUAGES.iter().for_each(|language| compare_all(&Path::new(&corpus).join(language)));
        }
    }
}

/// An interpreted statement that blocks within an atomic sequence leaves an intermediate state, also if the buffer of
/// candidates is full at that moment.
#[test]
fn blocked_sequences_keep_their_states_at_any_buffer_size() {
    let text = "chan c = [1] of { byte }; byte x, y, z;
        active proctype A() { atomic { x = 1; c??5; x = 2 } }
        active proctype B() { do :: y < 3 -> y++ :: y > 0 -> z = y od }";
    let mut sources = SourceMap::default();
    sources.add("blocked.pml", text);
    let loaded = promela::LANGUAGE.load(&mut sources, &Options::default()).unwrap();
    let interp = Interp::new(loaded.program).unwrap();
    let jit = Jit::new(&interp).unwrap();
    assert!(jit.compiled().unwrap().interpreted > 0, "the random receive is interpreted");
    let states = random_states(&interp, 200, 1);
    for candidates in 1..20 {
        let limit = candidates * interp.width();
        let sorted = |model: &dyn StateSpace| {
            let (all, transitions, findings) = expanded(model, &states, limit);
            let mut all: Vec<Vec<u8>> = all.chunks_exact(interp.width()).map(Vec::from).collect();
            all.sort();
            (all, transitions, findings)
        };
        assert!(sorted(&jit) == sorted(&interp), "room for {candidates} candidates");
    }
}

fn program_of(text: &str) -> Program {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    promela::LANGUAGE.load(&mut sources, &Options::default()).unwrap().program
}

/// Compares the compiled program with the interpreter. Returns the number of interpreted actions.
fn compare_with_interpreter(interp: &Interp) -> usize {
    let jit = Jit::new(interp).unwrap();
    let states = random_states(interp, 1000, 1);
    assert_agree_in_any_order("rendezvous", interp, &jit, &states);
    jit.compiled().unwrap().interpreted
}

/// A reset in the sender does not prevent the compilation of a rendezvous.
#[test]
fn senders_with_resets_are_compiled() {
    let text = "chan c = [0] of { byte }; byte seen;
        active [2] proctype S() { byte v; byte t[3]; do :: v = 1; t[1] = v; c!t[1] :: v = 2; c!v od }
        active proctype R() { byte w; do :: c?w -> assert(w > 0) :: atomic { c?2 -> seen = 1 - seen } od }";
    let written = Interp::new(program_of(text)).unwrap();
    let joint = ParameterValues::default().with("joint", true);
    let dead = ReductionPlan::default().with("dead", joint);
    let rewritten = RewrittenProgram::of(&written, &dead).unwrap();
    let resets = |it: &&spillway::ir::Action| {
        matches!(it.communication, Some(Communication::Send { .. })) && !it.body.is_empty()
    };
    assert!(rewritten.interp().program().actions.values().filter(resets).count() > 0);
    assert_eq!(compare_with_interpreter(rewritten.interp()), 0);
}

/// Statements of the sender run before the receiver's guard is evaluated. If the guard could read their effect, or if
/// they may fail, the rendezvous is interpreted.
#[test]
fn senders_whose_effect_is_readable_are_interpreted() {
    let text = "chan c = [0] of { byte }; byte g, h;
        active proctype S() { byte v; do :: c!1 :: v = 1 - v od }
        active proctype R() { do :: c?eval(g) -> h = 1 :: g = 0 :: h = 0 od }";
    let with_assignment = |name: &str, value: i64| {
        let mut program = program_of(text);
        let is_named = |it: &VarId| program.variables[*it].name == name;
        let variable = program.variables.keys().find(is_named).unwrap();
        let sends = |it: &spillway::ir::Action| {
            matches!(it.communication, Some(Communication::Send { .. }))
        };
        let send = program.actions.iter().find(|(_, it)| sends(it)).unwrap().0;
        let target = Place::variable(variable, Span::default());
        let value = Expr::constant(value, Span::default());
        let kind = StmtKind::Assign { target, value, overflow: OverflowRule::Fails };
        program.actions[send].body.push(Stmt { kind, span: Span::default() });
        compare_with_interpreter(&Interp::new(program).unwrap())
    };
    assert_eq!(with_assignment("v", 1), 0, "a message of its own");
    assert_eq!(with_assignment("h", 1), 0, "a message that no receive matches");
    assert!(with_assignment("g", 1) > 0, "a message that the receive matches");
    assert!(with_assignment("v", 256) > 0, "a message that is out of range");
}
