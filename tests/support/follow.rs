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
pub fn only_where(text: &str, action: &str, holds: &str) -> Interp {
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

/// Returns the part of a step that does not depend on dead variables.
fn told(step: &StepDescription) -> (u32, Vec<u32>, Option<String>) {
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
fn told_of_equal(step: &StepDescription) -> (u32, Vec<u32>, Option<String>) {
    match &step.outcome {
        StepOutcome::Successor(_) => (0, Vec::new(), None),
        StepOutcome::Fault(_) => told(step),
    }
}

/// Orders our steps like their equivalents among `theirs`; steps without an equivalent come last.
fn matched(
    theirs: &[StepDescription],
    mut ours: Vec<StepDescription>,
    lift: &dyn Simulation,
) -> Vec<StepDescription> {
    let is_equal = |theirs: &StepDescription, ours: &StepDescription| match (
        successor(theirs),
        successor(ours),
    ) {
        (Some(theirs), Some(ours)) => lift.represents(&ours, &theirs),
        (None, None) => told(theirs) == told(ours),
        _ => false,
    };
    let mut found = Vec::new();
    for theirs in theirs {
        let at = ours.iter().position(|ours| is_equal(theirs, ours));
        found.extend(at.map(|at| ours.remove(at)));
    }
    found.append(&mut ours);
    found
}

/// Checks that the program as written and the rewritten one take the same steps in every pair of related states, with
/// the same violations. Returns the numbers of distinct states of each, if there were fewer than `pairs_max` pairs.
pub fn follow(
    written: &Interp,
    by: &ReductionPlan,
    pairs_max: usize,
) -> Result<Option<(usize, usize)>, TestCaseError> {
    let Some(rewritten) = RewrittenProgram::of(written, by) else { return Ok(None) };
    let problems = validate::validate(rewritten.interp().program()).err().unwrap_or_default();
    prop_assert!(problems.is_empty(), "{:?}", problems);
    let rewriting = rewritten.interp();
    let form = ProgramForm::rewritten(written, Some(&rewritten));
    let model = form.reductions(None).next().unwrap().wrap(Box::new(rewriting));
    let lift = model.capabilities().simulation.unwrap();
    let mut open = vec![(written.starts(), rewriting.starts())];
    let mut met = BTreeSet::new();
    while let Some((theirs, ours)) = open.pop() {
        let ours = if by.selection.has("states") { matched(&theirs, ours, lift) } else { ours };
        let told = if by.selection.has("states") { told_of_equal } else { told };
        let tell = |steps: &[StepDescription]| steps.iter().map(told).collect::<Vec<_>>();
        prop_assert_eq!(tell(&theirs), tell(&ours), "of {:?}", met.last());
        for (theirs, ours) in theirs.iter().zip(&ours) {
            let Some(pair) = successor(theirs).zip(successor(ours)) else { continue };
            prop_assert!(lift.represents(&pair.1, &pair.0), "{}: {:?}", theirs.name, pair);
            prop_assert_eq!(written.violations(&pair.0), rewriting.violations(&pair.1));
            if met.len() < pairs_max && met.insert(pair.clone()) {
                open.push((written.steps(&pair.0), rewriting.steps(&pair.1)));
            }
        }
    }
    if met.len() == pairs_max {
        return Ok(None);
    }
    let (theirs, ours): (BTreeSet<_>, BTreeSet<_>) = met.into_iter().unzip();
    Ok(Some((theirs.len(), ours.len())))
}

/// Returns the numbers of states of a model as written and as rewritten, after the lockstep comparison.
pub fn both(language: &str, text: &str, by: ReductionPlan) -> (usize, usize) {
    let model = load(language, text);
    follow(&model.interp, &by, usize::MAX).unwrap().expect("it is rewritten")
}

/// Checks that random models of DVE agree with their rewritten forms, by one rewriting alone and by all rewritings that
/// preserve as much. `rewrites` is whether the rewriting has an effect on a program.
pub fn random_models_follow(
    models: impl Iterator<Item = String>,
    by: ReductionPlan,
    rewrites: impl Fn(&RewrittenProgram) -> bool,
) {
    let (mut rewritten, mut fewer) = (0, 0);
    for text in models {
        let model = load("dve", &text);
        for by in [&by, &bisimilar()] {
            rewritten +=
                u32::from(RewrittenProgram::of(&model.interp, by).is_some_and(|it| rewrites(&it)));
            let found = follow(&model.interp, by, 400);
            if let Some((whole, left)) = found.unwrap_or_else(|error| panic!("{error}\n{text}")) {
                assert!(left <= whole, "{left} of {whole}\n{text}");
                fewer += u32::from(left < whole);
            }
            is_kept("dve", &text, by).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }
    println!("{rewritten} times something was rewritten, {fewer} times there are fewer states");
    assert!(rewritten > 50 && fewer > 10, "{rewritten} rewritten, {fewer} fewer");
}

/// Returns one of some texts.
pub fn one<'t>(random: &mut Random, of: &[&'t str]) -> &'t str {
    of[random.below(of.len())]
}

/// Checks that rewriting a model preserves the findings and their depths, and that its counterexamples can be replayed.
pub fn is_kept(language: &str, text: &str, by: &ReductionPlan) -> Result<(), TestCaseError> {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let language = Language::from_name(language).unwrap();
    let loaded = TextModel::load(language, sources, Options::default());
    let model = loaded.map_err(|error| TestCaseError::fail(error.to_string()))?.0;
    follow(&model.interp, by, 100_000)?;
    is_found_alike(model, by.clone())
}

/// Checks that reducing a model preserves the findings and their depths, and that its counterexamples can be replayed.
pub fn is_found_alike(mut model: TextModel, wished: ReductionPlan) -> Result<(), TestCaseError> {
    let whole = explored(model.searched().model());
    model.wished = wished;
    let searched = model.searched();
    let found = explored(searched.model());
    prop_assert_eq!(levels(&found), levels(&whole));
    prop_assert!(found.states() <= whole.states());
    if searched.model().capabilities().simulation.is_some() {
        super::stored::replayed(searched.model(), &found, &ALL);
    }
    Ok(())
}

/// Returns the outcome of a search of a model.
fn explored(model: &dyn StateSpace) -> SearchOutcome {
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
pub fn goes_on_as_it_began(
    model: &TextModel,
    reduce: ReductionConfig,
    others: ReductionConfig,
    fewer: u64,
) {
    let folder = tempfile::tempdir().unwrap();
    let check = |reduce| Check::of_text(model).reduce(reduce).memory(memory_beside_tests(512));
    let (whole, left) =
        (check(ReductionConfig::none()).run().unwrap(), check(reduce.clone()).run().unwrap());
    assert!(fewer * left.states() < whole.states());
    assert_eq!(
        (whole.verdict(), left.verdict()),
        (SearchVerdict::Violated, SearchVerdict::Violated)
    );
    let depth = |found: &CheckResult| found.counterexample().unwrap().unwrap().depth();
    assert_eq!(depth(&whole), depth(&left));
    let dir = folder.path().join("d");
    let stopped = check(reduce.clone()).dir(&dir).max_states(100).run().unwrap();
    assert_eq!(stopped.verdict(), SearchVerdict::Incomplete);
    drop(stopped);
    assert!(check(others).dir(&dir).run().is_err());
    assert_eq!(check(reduce).dir(&dir).run().unwrap().outcome(), left.outcome());
}
