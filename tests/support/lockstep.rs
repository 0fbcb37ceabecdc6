//! The lockstep comparison of rewritten programs with the programs as written.
#![allow(dead_code)]

use super::Random;
use super::memory::memory_beside_tests;
use super::reductions::bisimilar;
use proptest::prelude::*;
use spillway::Check;
use spillway::exec::Interp;
use spillway::front::{Language, Options};
use spillway::ir::{Program, Stmt, StmtKind, validate};
use spillway::model::{
    Simulation, StateSpace, StepDescription, StepOutcome, SystemDescription, memory,
};
use spillway::reduce::rewriting::{ProgramForm, RewrittenProgram};
use spillway::reduce::{ReductionConfig, ReductionPlan};
use spillway::search::{SearchLimits, SearchOutcome, SearchVerdict};
use spillway::session::{CheckResult, TextModel};
use spillway::source::SourceMap;
use std::collections::BTreeSet;

/// Loads a model in a language.
pub fn load(language: &str, text: &str) -> TextModel {
    load_with(language, text, Options::default())
}

/// Loads a model in a language, with options.
pub fn load_with(language: &str, text: &str, options: Options) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let loaded = TextModel::load(Language::from_name(language).unwrap(), sources, options);
    loaded.map(|(model, _)| model).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns a program in DVE in which the last effect of an action (`P.a -> b`) is conditional on the guard of another
/// action. No language can express that in actions of processes.
pub fn with_conditional_effect(text: &str, action: &str, holds: &str) -> Interp {
    let mut program = load("dve", text).interp.program().clone();
    let named = |program: &Program, name: &str| {
        let found = program.actions.keys().find(|it| program.actions[*it].name == name);
        found.unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    let condition = program.actions[named(&program, holds)].guard.clone();
    let id = named(&program, action);
    let body = &mut program.actions[id].body;
    let last = body.pop().unwrap();
    let span = last.span;
    body.push(Stmt { kind: StmtKind::If(vec![(condition, vec![last])]), span });
    Interp::new(program).unwrap()
}

/// Returns the identity of a step without the values of dead variables: its actions and its fault.
fn step_identity(step: &StepDescription) -> (u32, Vec<u32>, Option<String>) {
    let fault = match &step.outcome {
        StepOutcome::Successor(_) => None,
        StepOutcome::Fault(fault) => Some(format!("{:?}", fault.kind)),
    };
    (step.action, step.actions.iter().map(|it| it.action).collect(), fault)
}

fn successor(step: &StepDescription) -> Option<Vec<u8>> {
    match &step.outcome {
        StepOutcome::Successor(state) => Some(state.clone()),
        StepOutcome::Fault(_) => None,
    }
}

/// Returns the part of a step that is independent of the choice among equivalent actions: the fault.
fn fault_identity(step: &StepDescription) -> (u32, Vec<u32>, Option<String>) {
    match &step.outcome {
        StepOutcome::Successor(_) => (0, Vec::new(), None),
        StepOutcome::Fault(_) => step_identity(step),
    }
}

/// Orders the steps of the rewritten program like their equivalents in the program as written. Steps without an
/// equivalent come last.
fn match_order(
    written_steps: &[StepDescription],
    mut rewritten_steps: Vec<StepDescription>,
    simulation: &dyn Simulation,
) -> Vec<StepDescription> {
    let is_equal = |written: &StepDescription, rewritten: &StepDescription| match (
        successor(written),
        successor(rewritten),
    ) {
        (Some(written), Some(rewritten)) => simulation.represents(&rewritten, &written),
        (None, None) => step_identity(written) == step_identity(rewritten),
        _ => false,
    };
    let mut ordered = Vec::new();
    for written in written_steps {
        let at = rewritten_steps.iter().position(|rewritten| is_equal(written, rewritten));
        ordered.extend(at.map(|at| rewritten_steps.remove(at)));
    }
    ordered.append(&mut rewritten_steps);
    ordered
}

/// Checks that the program as written and the rewritten one take the same steps in every pair of related states, with
/// the same violations. Returns the numbers of distinct states of each, if there were fewer than `pairs_max` pairs.
pub fn compare_in_lockstep(
    written: &Interp,
    plan: &ReductionPlan,
    pairs_max: usize,
) -> Result<Option<(usize, usize)>, TestCaseError> {
    let Some(rewritten) = RewrittenProgram::of(written, plan) else { return Ok(None) };
    let problems = validate::validate(rewritten.interp().program()).err().unwrap_or_default();
    prop_assert!(problems.is_empty(), "{:?}", problems);
    let rewriting = rewritten.interp();
    let form = ProgramForm::rewritten(written, Some(&rewritten));
    let model = form.reductions(None).next().unwrap().wrap(Box::new(rewriting));
    let simulation = model.capabilities().simulation.unwrap();
    let mut open = vec![(written.starts(), rewriting.starts())];
    let mut visited = BTreeSet::new();
    while let Some((written_steps, rewritten_steps)) = open.pop() {
        let rewritten_steps = if plan.selection.has("states") {
            match_order(&written_steps, rewritten_steps, simulation)
        } else {
            rewritten_steps
        };
        let identity = if plan.selection.has("states") { fault_identity } else { step_identity };
        let identities = |steps: &[StepDescription]| steps.iter().map(identity).collect::<Vec<_>>();
        prop_assert_eq!(
            identities(&written_steps),
            identities(&rewritten_steps),
            "of {:?}",
            visited.last()
        );
        for (written_step, rewritten_step) in written_steps.iter().zip(&rewritten_steps) {
            let Some(pair) = successor(written_step).zip(successor(rewritten_step)) else {
                continue;
            };
            prop_assert!(
                simulation.represents(&pair.1, &pair.0),
                "{}: {:?}",
                written_step.name,
                pair
            );
            prop_assert_eq!(written.violations(&pair.0), rewriting.violations(&pair.1));
            if visited.len() < pairs_max && visited.insert(pair.clone()) {
                open.push((written.steps(&pair.0), rewriting.steps(&pair.1)));
            }
        }
    }
    if visited.len() == pairs_max {
        return Ok(None);
    }
    let (written_steps, rewritten_steps): (BTreeSet<_>, BTreeSet<_>) = visited.into_iter().unzip();
    Ok(Some((written_steps.len(), rewritten_steps.len())))
}

/// Returns the numbers of states of a model as written and as rewritten, after the lockstep comparison.
pub fn state_counts(language: &str, text: &str, plan: ReductionPlan) -> (usize, usize) {
    let model = load(language, text);
    compare_in_lockstep(&model.interp, &plan, usize::MAX).unwrap().expect("it is rewritten")
}

/// Checks that random models of DVE agree with their rewritten forms, by one rewriting alone and by all rewritings that
/// preserve as much. `rewrites` is whether the rewriting has an effect on a program.
pub fn check_random_models(
    models: impl Iterator<Item = String>,
    plan: ReductionPlan,
    rewrites: impl Fn(&RewrittenProgram) -> bool,
) {
    let (mut rewritten, mut fewer) = (0, 0);
    for text in models {
        let model = load("dve", &text);
        for plan in [&plan, &bisimilar()] {
            rewritten += u32::from(
                RewrittenProgram::of(&model.interp, plan).is_some_and(|it| rewrites(&it)),
            );
            let found = compare_in_lockstep(&model.interp, plan, 400);
            if let Some((full, reduced)) = found.unwrap_or_else(|error| panic!("{error}\n{text}")) {
                assert!(reduced <= full, "{reduced} of {full}\n{text}");
                fewer += u32::from(reduced < full);
            }
            check_rewriting("dve", &text, plan).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }
    println!("{rewritten} times something was rewritten, {fewer} times there are fewer states");
    assert!(rewritten > 50 && fewer > 10, "{rewritten} rewritten, {fewer} fewer");
}

/// Returns one of some texts.
pub fn choose<'t>(random: &mut Random, of: &[&'t str]) -> &'t str {
    of[random.below(of.len())]
}

/// Checks that rewriting a model preserves the findings and their depths, and that its counterexamples can be replayed.
pub fn check_rewriting(
    language: &str,
    text: &str,
    plan: &ReductionPlan,
) -> Result<(), TestCaseError> {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let language = Language::from_name(language).unwrap();
    let loaded = TextModel::load(language, sources, Options::default());
    let model = loaded.map_err(|error| TestCaseError::fail(error.to_string()))?.0;
    compare_in_lockstep(&model.interp, plan, 100_000)?;
    check_reduction(model, plan.clone())
}

/// Checks that reducing a model preserves the findings and their depths, and that its counterexamples can be replayed.
pub fn check_reduction(mut model: TextModel, plan: ReductionPlan) -> Result<(), TestCaseError> {
    let full = search_in_memory(model.searched().model());
    model.wished = plan;
    let searched = model.searched();
    let reduced = search_in_memory(searched.model());
    prop_assert_eq!(levels(&reduced), levels(&full));
    prop_assert!(reduced.states() <= full.states());
    if searched.model().capabilities().simulation.is_some() {
        super::stored::replay_in_all_stores(searched.model(), &reduced, &ALL);
    }
    Ok(())
}

/// Returns the outcome of a search of a model.
fn search_in_memory(model: &dyn StateSpace) -> SearchOutcome {
    memory::search(model, &ALL).unwrap()
}

/// Limits that check everything and never stop.
pub const ALL: SearchLimits = SearchLimits { stop_on_violation: false, ..SearchLimits::DEFAULT };

/// Returns the findings with their depths.
fn levels(outcome: &SearchOutcome) -> Vec<String> {
    outcome.findings.iter().map(|(check, it)| format!("{check:?} {}", it.level)).collect()
}

/// Checks a reduction against the search without it: the same findings at the same depths, and less than one `fewer`-th
/// of the states. Also checks that a stopped search resumes with the same reduction, and rejects others.
pub fn check_resumed_reduction(
    model: &TextModel,
    reduce: ReductionConfig,
    other: ReductionConfig,
    fewer: u64,
) {
    let folder = tempfile::tempdir().unwrap();
    let check = |reduce| Check::of_text(model).reduce(reduce).memory(memory_beside_tests(512));
    let (full, reduced) =
        (check(ReductionConfig::none()).run().unwrap(), check(reduce.clone()).run().unwrap());
    assert!(fewer * reduced.states() < full.states());
    assert_eq!(
        (full.verdict(), reduced.verdict()),
        (SearchVerdict::Violated, SearchVerdict::Violated)
    );
    let depth = |found: &CheckResult| found.counterexample().unwrap().unwrap().depth();
    assert_eq!(depth(&full), depth(&reduced));
    let dir = folder.path().join("d");
    let stopped = check(reduce.clone()).dir(&dir).max_states(100).run().unwrap();
    assert_eq!(stopped.verdict(), SearchVerdict::Incomplete);
    drop(stopped);
    assert!(check(other).dir(&dir).run().is_err());
    assert_eq!(check(reduce).dir(&dir).run().unwrap().outcome(), reduced.outcome());
}
