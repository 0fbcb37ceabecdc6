//! Every reduction alone, each pair, and all together. They find the same violations in random models, and the result
//! is reported in steps of the model as written.
//!
//! `SPILLWAY_LARGE` tries ten thousand models.

use super::sleep::own_models;
use crate::support::lockstep::{choose, load};
use crate::support::memory::memory_beside_tests;
use crate::support::stored::replay_in_stores;
use crate::support::{Random, is_large};
use spillway::Check;
use spillway::model::{CheckSelection, Violation, memory};
use spillway::reduce::{
    PropertyClass, REDUCTIONS, ReductionEntry, ReductionPlan, ReductionSelection,
};
use spillway::search::{SearchLimits, SearchOutcome, SearchVerdict, StateStorage};
use spillway::session::{CheckResult, TextModel};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns a plan of reductions with default parameters, or nothing if they contradict each other.
fn plan_of(names: &[&str], checks: CheckSelection) -> Option<ReductionPlan> {
    let selection = ReductionSelection::of(names.iter().copied());
    selection.validate().ok().map(|()| ReductionPlan::new(selection, checks))
}

/// Returns the selected violations, named individually or by kind, with their depths if `depth` holds.
fn violations_of(
    model: &TextModel,
    outcome: &SearchOutcome,
    checks: &CheckSelection,
    by_kind: bool,
    depth: bool,
) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (check, finding) in outcome.findings.iter() {
        if !checks.selects(&model.interp, check) {
            continue;
        }
        let name = match check {
            Violation::Property(_) if by_kind => "property".to_owned(),
            Violation::Fault(kind, _) if by_kind => format!("{kind:?}"),
            _ => format!("{check:?}"),
        };
        let level = all.entry(name).or_insert(u64::MAX);
        *level = finding.level.min(*level).min(if depth { u64::MAX } else { 0 });
    }
    all
}

/// Counts of the searches.
#[derive(Debug, Default)]
struct Census {
    searches: u64,
    fewer: u64,
    violated: u64,
    /// The number of uses of each reduction.
    used: BTreeMap<&'static str, u64>,
}

/// Checks that a search with reductions has the violations of the full search. Returns whether a reduction has an
/// effect.
fn check_reduction(
    model: &mut TextModel,
    full: &SearchOutcome,
    plan: ReductionPlan,
    census: &mut Census,
) -> bool {
    let checks = plan.checks;
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    model.wished = plan;
    let (model, searched) = (&*model, model.searched());
    let stack = searched.stack();
    if stack.summaries(&Default::default()).is_empty() {
        return false;
    }
    for (entry, _) in model.wished.selection.iter() {
        if let Some(member) = stack.member(entry.name) {
            let preserved = member.traits().preserves;
            // Properties that are not checked may be lost.
            if checks == CheckSelection::ALL {
                assert_eq!(
                    preserved.and(entry.preserves),
                    entry.preserves,
                    "{} preserves less",
                    entry.name
                );
            }
            *census.used.entry(entry.name).or_default() += 1;
        }
    }
    let depth = stack.preserves().has(PropertyClass::Depth);
    let by_kind = model.wished.selection.has("symmetry");
    let reduced = memory::search(searched.model(), &limits).unwrap();
    let [expected, found] =
        [full, &reduced].map(|it| violations_of(model, it, &checks, by_kind, depth));
    assert_eq!(found, expected, "{:?}", model.wished);
    census.searches += 1;
    census.fewer += u64::from(reduced.states() < full.states());
    census.violated += u64::from(!found.is_empty());
    // With re-expansion, the trace depends on the level at which it happens.
    if !found.is_empty() && searched.model().capabilities().postponing.is_none() {
        println!("{:?} is reported", model.wished.selection);
        let storage = [StateStorage::default()];
        replay_in_stores(&storage, searched.model(), &reduced, &limits);
    }
    true
}

/// Returns each pair of reductions, and all together.
fn pairs_and_all(names: &[&'static str]) -> Vec<Vec<&'static str>> {
    let mut lists = Vec::new();
    for (number, first) in names.iter().enumerate() {
        lists.extend(names[number + 1..].iter().map(|second| vec![*first, *second]));
    }
    lists.extend((names.len() > 2).then(|| names.to_vec()));
    lists
}

/// Generates three processes with counters, flags, channels and invisible steps. Two of them are often equal.
fn random_model(random: &mut Random) -> String {
    let mut text =
        "byte t; byte g; byte h; byte a[2]; channel {byte} c[0]; channel {byte} b[1];\n".to_owned();
    let has_equal_processes = random.below(2) == 0;
    let process = body(random);
    for (number, name) in ["P", "Q", "R"].iter().enumerate() {
        let body = match number {
            1 if has_equal_processes => process.clone(),
            0 => process.clone(),
            2 if random.below(2) == 0 => break,
            _ => body(random),
        };
        let _ = writeln!(text, "process {name} {{ {body} }}");
    }
    text + "system async;\n"
}

fn body(random: &mut Random) -> String {
    let mut text = "byte k; byte j; state s0, s1, s2, s3; init s0;".to_owned();
    if random.below(3) == 0 {
        let _ = write!(text, " assert s{}: {};", random.below(4), random_condition(random));
    }
    text.push_str(" trans");
    let edges = 3 + random.below(4);
    for number in 0..edges {
        let from = number.min(random.below(4)).min(3);
        let to = if random.below(3) == 0 { random.below(4) } else { (from + 1) % 4 };
        let guard = match random.below(5) {
            0 | 1 => format!("guard {};", random_condition(random)),
            _ => String::new(),
        };
        let sync = match random.below(12) {
            0 => "sync c!{g};",
            1 => "sync c?{h};",
            2 => "sync b!{k};",
            3 => "sync b?{k};",
            _ => "",
        };
        let effect = choose(
            random,
            &[
                "",
                "",
                "effect t = t + (t < 3);",
                "effect g = 1 - g;",
                "effect h = g;",
                "effect k = 0;",
                "effect k = (k + 1) % 3;",
                "effect k = g, j = k;",
                "effect j = 1;",
                "effect a[g % 2] = k % 2;",
                "effect h = a[1], k = 2;",
                "effect j = j + (j < 2);",
            ],
        );
        let end = if number + 1 < edges { "," } else { ";" };
        let _ = write!(text, " s{from} -> s{to} {{ {guard} {sync} {effect} }}{end}");
    }
    text
}

fn random_condition(random: &mut Random) -> String {
    let bound = random.below(3);
    match random.below(6) {
        0 => format!("g == {}", bound % 2),
        1 => format!("h <= {}", bound % 2),
        2 => format!("k <= {bound}"),
        3 => format!("t < {}", bound + 1),
        4 => format!("a[{}] == {}", bound % 2, random.below(2)),
        _ => format!("j != {bound}"),
    }
}

#[test]
fn random_models_keep_their_verdicts_with_all_reductions() {
    let mut random = Random::new(97);
    let mut census = Census::default();
    for _ in 0..if is_large() { 10_000 } else { 30 } {
        let text = random_model(&mut random);
        let mut model = load("dve", &text);
        let selections =
            [CheckSelection::ALL, CheckSelection { deadlock: false, ..CheckSelection::ALL }];
        let checks = selections[random.below(2)];
        let limits = SearchLimits {
            checks,
            stop_on_violation: false,
            max_states: Some(1_000),
            ..SearchLimits::default()
        };
        let full = memory::search(model.searched().model(), &limits).unwrap();
        if full.states() >= 1_000 {
            continue;
        }
        println!("{text}");
        let used: Vec<&'static str> = REDUCTIONS
            .iter()
            .map(|it| it.name)
            .filter(|it| {
                let plan = plan_of(&[it], checks).expect("one does not contradict itself");
                check_reduction(&mut model, &full, plan, &mut census)
            })
            .collect();
        for names in pairs_and_all(&used) {
            if let Some(plan) = plan_of(&names, checks) {
                assert!(check_reduction(&mut model, &full, plan, &mut census));
            }
        }
        // All reductions that do not contradict each other.
        let without = used.iter().copied().filter(|it| *it != "simultaneous").collect::<Vec<_>>();
        if let Some(plan) = plan_of(&without, checks).filter(|_| without.len() > 2) {
            check_reduction(&mut model, &full, plan, &mut census);
        }
    }
    println!("{census:?}");
    assert!(census.fewer * 4 > census.searches && census.violated > 50, "{census:?}");
}

/// Two identical processes. Partial order reduction does not choose the same transitions in a state and in its
/// representative.
const ASYMMETRIC_CHOICES: &str = include_str!("models/alike_choices.dve");

/// A counterexample of representatives is replayed, although other transitions are chosen in the represented states.
#[test]
fn choices_may_distinguish_what_symmetry_identifies() {
    let mut model = load("dve", ASYMMETRIC_CHOICES);
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let unreduced = memory::search(model.searched().model(), &limits).unwrap();
    let mut census = Census::default();
    for names in [&["por", "symmetry"][..], &["por", "symmetry", "doomed"]] {
        let plan = plan_of(names, CheckSelection::ALL).unwrap();
        assert!(check_reduction(&mut model, &unreduced, plan, &mut census));
    }
    assert_eq!(census.used["symmetry"], 2);
    assert_eq!(census.used["doomed"], 1);
}

/// Our models with more states are skipped.
const MODEL_STATES_MAX: usize = 300;

/// The number of models on which each reduction is tried.
const MODELS_PER_REDUCTION: u64 = 6;

/// A process with two bisimilar locations.
const BISIMILAR_LOCATIONS: &str = "byte x; process P { state a, b, c; init a; trans a -> b { effect x = 1; }, a -> c { effect x = 1; },
    b -> a { effect x = 0; }, c -> a { effect x = 0; }; } system async;";

/// Each reduction alone keeps the verdict and the existence of a counterexample, and its depth if depths are preserved.
/// A stopped search resumes with the same reduction only.
#[test]
fn each_reduction_keeps_the_verdict_and_is_kept_on_resume() {
    let mut used: BTreeMap<&str, u64> = BTreeMap::new();
    let bisimilar = ("two bisimilar locations".to_owned(), load("dve", BISIMILAR_LOCATIONS));
    for (place, mut model) in std::iter::once(bisimilar).chain(own_models(MODEL_STATES_MAX)) {
        let mut full: Option<(SearchVerdict, Option<usize>)> = None;
        let is_open =
            |it: &&ReductionEntry| used.get(it.name).is_none_or(|&it| it < MODELS_PER_REDUCTION);
        let open: Vec<&ReductionEntry> = REDUCTIONS.into_iter().filter(is_open).collect();
        for entry in open {
            let selection = ReductionSelection::of([entry.name]);
            model.wished = ReductionPlan::new(selection.clone(), CheckSelection::ALL);
            let (is_used, keeps_depth) = {
                let searched = model.searched();
                let stack = searched.stack();
                (stack.member(entry.name).is_some(), stack.preserves().has(PropertyClass::Depth))
            };
            if !is_used {
                continue;
            }
            *used.entry(entry.name).or_default() += 1;
            let (verdict, depth) = *full.get_or_insert_with(|| {
                let found = check(&model, ReductionSelection::default()).run().unwrap();
                (found.verdict(), depth(&found))
            });
            check_verdict_and_resume(&model, &selection, verdict, depth.filter(|_| keeps_depth));
            println!("{place}: {}", entry.name);
        }
    }
    println!("{used:?}");
    for entry in REDUCTIONS {
        assert!(used.contains_key(entry.name), "{} is used by no model under models/", entry.name);
    }
}

fn check<'m>(model: &'m TextModel, selection: ReductionSelection) -> Check<'m> {
    Check::of_text(model).reduce(selection).memory(memory_beside_tests(512)).threads(1)
}

/// The depth of the counterexample, if there is one.
fn depth(found: &CheckResult) -> Option<usize> {
    found.counterexample().unwrap().map(|it| it.depth())
}

fn check_verdict_and_resume(
    model: &TextModel,
    selection: &ReductionSelection,
    verdict: SearchVerdict,
    expected_depth: Option<usize>,
) {
    let found = check(model, selection.clone()).run().unwrap();
    assert_eq!(found.verdict(), verdict, "{selection:?}");
    let found_depth = depth(&found);
    assert_eq!(found_depth.is_some(), verdict == SearchVerdict::Violated, "{selection:?}");
    if expected_depth.is_some() {
        assert_eq!(found_depth, expected_depth, "{selection:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("d");
    let stopped = check(model, selection.clone()).dir(&dir).max_states(3).run().unwrap();
    let is_stopped = stopped.verdict() == SearchVerdict::Incomplete;
    drop(stopped);
    if is_stopped {
        let other = check(model, ReductionSelection::default()).dir(&dir).run();
        assert!(other.is_err(), "{selection:?} is not kept");
        let resumed = check(model, selection.clone()).dir(&dir).run().unwrap();
        assert_eq!(resumed.outcome(), found.outcome(), "{selection:?}");
    }
}
