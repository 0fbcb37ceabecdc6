//! Reversible rules: which rules are detected, and that a search by progenitors finds the same as a search of all
//! states. Counterexamples are runs of the model as written.
//!
//! With `SPILLWAY_CORPUS`, the verdicts of external models and the counts of the paper.

use crate::runs::{assert_is_run, configurations, explore, load};
use crate::support::Random;
use crate::support::reductions::scalarsets;
use spillway::budget::AnalysisBudget;
use spillway::exec::Interp;
use spillway::front::{Options, murphi};
use spillway::model::{StateSpace, SuccessorSink, Violation, memory};
use spillway::reduce::ReductionStack;
use spillway::reduce::reversible::{NAME, ReversibleReduction, ReversibleRules};
use spillway::reduce::rewriting::ProgramForm;
use spillway::reduce::symmetry::SymmetryEffort;
use spillway::reduce::{ParameterValues, ReductionPlan};
use spillway::search::{CheckSelection, SearchLimits, SearchVerdict};
use spillway::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

fn interp(text: &str) -> Interp {
    let mut sources = SourceMap::default();
    sources.add("model.m", text);
    let loaded = murphi::LANGUAGE
        .load(&mut sources, &Options::default())
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors[0].render(&sources)));
    Interp::new(loaded.program).unwrap()
}

/// A rule, with the numbers of its reversible instances and cases.
type ReversibleCounts<'r> = (&'r str, usize, usize);

fn reversible_rules(model: &Interp) -> Vec<ReversibleCounts<'_>> {
    match ReversibleRules::of(model, &[], &AnalysisBudget::largest()) {
        Ok(found) => found.rules(model.program()),
        Err(_) => Vec::new(),
    }
}

/// Two flags, a counter, and a multiset.
const DECLARATIONS: &str = "
    type P: scalarset(2); M: record kind: 0..1; who: P; end;
    var f: boolean; g: boolean; x: 0..3; at: array [P] of 0..2; bag: multiset [3] of M;
    ruleset v: 0..3 do
      startstate f := false; g := false; x := v; for p: P do at[p] := 0; end; end;
    end;";

fn rules(rules: &str) -> Interp {
    interp(&format!("{DECLARATIONS} {rules}"))
}

#[test]
fn effects_determine_which_rules_are_reversible() {
    // Each text with the detected rules, their instances and their cases.
    let cases: &[(&str, &[ReversibleCounts])] = &[
        ("rule \"set\" !f ==> f := true; end;", &[("set", 1, 1)]),
        // The previous value is not read. The rule is reversible where it was the initial value.
        ("rule \"set\" true ==> f := true; end;", &[("set", 1, 1)]),
        ("rule \"count\" x < 3 ==> x := x + 1; end;", &[("count", 1, 3)]),
        // Two predecessors, which the guard distinguishes.
        ("rule \"reset\" x = 1 | x = 2 ==> x := 3; end;", &[]),
        ("rule \"reset\" x = 1 ==> x := 3; end;", &[("reset", 1, 1)]),
        // Nothing changes.
        ("rule \"same\" f ==> f := true; end;", &[]),
        // The rule fails where `x` is 3, which is no case.
        ("rule \"fails\" !f ==> assert x < 3; f := true; end;", &[("fails", 1, 3)]),
        // The inverses do not commute: in the state with both effects, only the second one can be undone first.
        (
            "rule \"first\" !f ==> f := true; end; rule \"second\" f & !g ==> g := true; end;",
            &[("first", 1, 1)],
        ),
        // They commute if each guard excludes the other effect.
        (
            "rule \"one\" !f & !g ==> f := true; end; rule \"other\" !f & !g ==> g := true; end;",
            &[("one", 1, 1), ("other", 1, 1)],
        ),
        // Undoing both in turn would never end.
        (
            "rule \"set\" !f ==> f := true; end; rule \"clear\" f ==> f := false; end;",
            &[("set", 1, 1)],
        ),
        (
            "ruleset p: P do rule \"go\" at[p] = 0 ==> at[p] := 1; end; end;",
            &[("go", 2, 2)],
        ),
        // With both moved and one counted, only one can be undone.
        (
            "ruleset p: P do rule \"go\" at[p] = 0 & x < 2 ==> at[p] := 1; x := x + 1; end; end;",
            &[],
        ),
        // The previous contents of the multiset are lost.
        ("rule \"set\" !f ==> f := true; undefine bag; end;", &[]),
        ("rule \"set\" !f ==> f := true; clear bag; end;", &[]),
        // An element with its sender belongs to one instance.
        (
            "ruleset p: P do rule \"send\" at[p] = 0 & MultiSetCount(i: bag, true) < 2
               ==> var m: M; begin m.kind := 1; m.who := p; MultiSetAdd(m, bag); at[p] := 1; end; end;",
            &[("send", 2, 2)],
        ),
        // An element without a sender can be undone by one instance only.
        (
            "ruleset p: P do rule \"send\" at[p] = 0 & MultiSetCount(i: bag, true) < 2
               ==> var m: M; begin m.kind := 1; MultiSetAdd(m, bag); at[p] := 1; end; end;",
            &[],
        ),
        // That is harmless if both instances have the same effect.
        (
            "ruleset p: P do rule \"send\" MultiSetCount(i: bag, true) < 2
               ==> var m: M; begin m.kind := 1; undefine m.who; MultiSetAdd(m, bag); end; end;",
            &[("send", 2, 2)],
        ),
        // The guard reads the removed element.
        (
            "choose i: bag do rule \"take\" bag[i].kind = 0 & x = 0 ==> x := 1; end; end;",
            &[],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(reversible_rules(&rules(text)), *expected, "{text}");
    }
}

#[test]
fn named_rules_are_selected_and_unknown_names_refused() {
    let model = rules("rule \"set\" !f ==> f := true; end; rule \"mark\" !g ==> g := true; end;");
    let result_for = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
        let stack = stack(&model, named_rules(&names), None);
        let refusal = stack.refusals().first().map(|it| (it.name.clone(), it.reason.to_string()));
        (
            stack
                .summaries(&spillway::model::Counters::default())
                .into_iter()
                .find_map(|it| it.effect),
            refusal,
        )
    };
    let (all_rules_effect, _) = result_for(&[]);
    assert!(all_rules_effect.unwrap().starts_with("reversible: `set`, `mark`;"));
    let (one_rule_effect, _) = result_for(&["mark"]);
    assert!(one_rule_effect.unwrap().starts_with("reversible: `mark`;"));
    let refusal = Some((NAME.to_owned(), "there is no rule `other`".to_owned()));
    assert_eq!(result_for(&["mark", "other"]), (None, refusal));
}

fn stack(
    model: &Interp,
    rules: ParameterValues,
    symmetry: Option<SymmetryEffort>,
) -> ReductionStack<'_> {
    let plan = symmetry.map_or_else(ReductionPlan::default, |it| scalarsets(it.name()));
    ReductionStack::of(
        ProgramForm::written(model),
        &plan.with("reversible", rules),
        &|| unreachable!("no reduction chooses transitions"),
        &AnalysisBudget::largest(),
    )
}

/// Returns the rules with these names, or all reversible rules if there are no names.
fn named_rules(names: &[String]) -> ParameterValues {
    ParameterValues::default().with("rules", names.to_vec())
}

fn all_rules() -> ParameterValues {
    ParameterValues::default()
}

fn checked_rules() -> ParameterValues {
    ParameterValues::default().with("check", true)
}

/// Returns all reachable states of a model, unless there are more than `max_states`.
fn states(model: &dyn StateSpace, max_states: usize) -> Option<BTreeSet<Vec<u8>>> {
    let width = model.width();
    let mut buffer = Vec::new();
    let _ = SuccessorSink::collect(width, &mut buffer, |out| model.initial(out)).unwrap();
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut open: Vec<Vec<u8>> = buffer.chunks_exact(width).map(<[u8]>::to_vec).collect();
    while let Some(state) = open.pop() {
        if seen.contains(&state) {
            continue;
        }
        buffer.clear();
        let _ =
            SuccessorSink::collect(width, &mut buffer, |out| model.expand(&state, out)).unwrap();
        open.extend(buffer.chunks_exact(width).map(<[u8]>::to_vec));
        seen.insert(state);
        if seen.len() > max_states {
            return None;
        }
    }
    Some(seen)
}

/// Returns the states that the stored states represent.
fn represented_states(
    model: &Interp,
    rules: &ParameterValues,
    stored: &BTreeSet<Vec<u8>>,
) -> BTreeSet<Vec<u8>> {
    let is_checked = rules.switch("check").unwrap_or_default();
    let reduction =
        ReversibleReduction::of_rules(model, is_checked, &AnalysisBudget::largest()).unwrap();
    let model = reduction.of_model(Box::new(model));
    stored.iter().flat_map(|state| model.states_from(state).unwrap()).collect()
}

/// Returns the verdict, the violations and the number of states.
fn search_result(name: &str, model: &dyn StateSpace) -> (SearchVerdict, BTreeSet<Violation>, u64) {
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let outcome = memory::search(model, &limits).unwrap_or_else(|error| panic!("{name}: {error}"));
    let violations = outcome.findings.iter().map(|(check, _)| check).collect();
    (outcome.verdict, violations, outcome.states())
}

/// Checks that the reduction keeps verdict and violations, and that stored states represent exactly the reachable ones.
/// Returns whether there are fewer states.
fn check_soundness(name: &str, model: &Interp) -> bool {
    let (verdict, expected_violations, full_count) = search_result(name, model);
    let mut is_reduced = false;
    for rules in [all_rules(), checked_rules()] {
        let stack = stack(model, rules.clone(), None);
        if !stack.refusals().is_empty() {
            return false;
        }
        let reduced = stack.wrap(Box::new(model));
        let (found, violations, stored) = search_result(name, &*reduced);
        assert_eq!((found, &violations), (verdict, &expected_violations), "{name}");
        assert!(stored <= full_count, "{name}: {stored} of {full_count}");
        is_reduced |= stored < full_count;
        if full_count < 20_000 {
            let reachable = states(model, usize::MAX).unwrap();
            let stored = states(&*reduced, usize::MAX).unwrap();
            assert!(stored.is_subset(&reachable), "{name}: an unreachable state is stored");
            assert!(
                represented_states(model, &rules, &stored) == reachable,
                "{name}: not all states are visited"
            );
        }
    }
    for effort in [SymmetryEffort::Exact, SymmetryEffort::Fast] {
        let stack = stack(model, all_rules(), Some(effort));
        let (found, violations, _) = search_result(name, &*stack.wrap(Box::new(model)));
        assert_eq!(
            (found, &violations),
            (verdict, &expected_violations),
            "{name}, {}",
            effort.name()
        );
    }
    is_reduced
}

/// Checks that every counterexample, with and without symmetry, is a run of the model. Returns their number.
fn count_valid_counterexamples(name: &str, model: &Interp) -> usize {
    let (plain, _) = explore(model);
    let mut traces = 0;
    for symmetry in [None, Some(SymmetryEffort::Exact)] {
        let stack = stack(model, all_rules(), symmetry);
        let reduced = stack.wrap(Box::new(model));
        let (outcome, found) = explore(&*reduced);
        assert_eq!(outcome.verdict, plain.verdict, "{name}");
        found.iter().for_each(|trace| assert_is_run(name, model, trace));
        traces += found.len();
    }
    traces
}

#[test]
fn own_models_keep_their_verdicts() {
    let mut all = configurations();
    let max_states = if crate::support::is_large() { 200_000 } else { 3000 };
    all.retain(|(_, model)| states(model, max_states).is_some());
    let reduced = all.iter().filter(|(name, model)| check_soundness(name, model)).count();
    assert!(reduced >= 12, "{reduced} of {}", all.len());
    let traces: usize =
        all.iter().map(|(name, model)| count_valid_counterexamples(name, model)).sum();
    assert!(traces >= 16, "{traces} traces");
}

/// Returns a random variable.
fn element(random: &mut Random, p: &str) -> String {
    match random.below(5) {
        0 => "x".to_owned(),
        _ => format!("at[{p}]"),
    }
}

fn guard(random: &mut Random, p: &str) -> String {
    match random.below(8) {
        0 => "!f".into(),
        1 => "g".into(),
        2 => format!("MultiSetCount(i: bag, true) < {}", 1 + random.below(3)),
        3 => format!("x < {}", 1 + random.below(3)),
        4 => format!("!up[{p}]"),
        _ => format!("{} = {}", element(random, p), random.below(3)),
    }
}

fn effect(random: &mut Random, p: &str) -> String {
    match random.below(10) {
        0 => "f := true;".into(),
        1 => "g := !g;".into(),
        2 => "x := x + 1;".into(),
        3 => format!("up[{p}] := {};", ["true", "false"][random.below(2)]),
        4 | 5 => {
            let (kind, who) =
                (random.below(2), ["m.who := p;", "undefine m.who;"][random.below(2)]);
            let who = if p == "p" { who } else { "undefine m.who;" };
            format!("m.kind := {kind}; {who} MultiSetAdd(m, bag);")
        }
        6 => "if x = 1 then x := 0; else f := false; end;".into(),
        7 if random.below(3) == 0 => format!("assert at[{p}] < 2;"),
        _ => format!("{} := {};", element(random, p), random.below(3)),
    }
}

/// Returns a random program of rules.
fn program(seed: u64) -> String {
    let random = &mut Random::new(seed);
    let mut text = "
        type P: scalarset(2); M: record kind: 0..1; who: P; end;
        var f: boolean; g: boolean; x: 0..3; at: array [P] of 0..2; up: array [P] of boolean;
            bag: multiset [3] of M;
        startstate f := false; g := false; x := 0;
          for p: P do at[p] := 0; up[p] := false; end; end;"
        .to_owned();
    for number in 0..2 + random.below(4) {
        let has_ruleset_parameter = random.below(4) > 0;
        let p = if has_ruleset_parameter { "p" } else { "one" };
        let guards: Vec<_> = (0..1 + random.below(3)).map(|_| guard(random, p)).collect();
        let effects: Vec<_> = (0..1 + random.below(3)).map(|_| effect(random, p)).collect();
        let (guards, effects) = (guards.join(" & "), effects.join(" "));
        let rule = format!("rule \"{number}\" {guards} ==> var m: M; begin {effects} end;");
        let _ = match has_ruleset_parameter {
            true => writeln!(text, "ruleset p: P do {rule} end;"),
            false => writeln!(text, "ruleset one: P do {rule} end;"),
        };
    }
    if random.below(2) == 0 {
        let (kind, value) = (random.below(2), random.below(3));
        let _ = writeln!(
            text,
            "choose i: bag do rule \"take\" bag[i].kind = {kind} ==>
               if !isundefined(bag[i].who) then at[bag[i].who] := {value}; end;
               MultiSetRemove(i, bag); end; end;"
        );
    }
    let invariant = match random.below(4) {
        0 => "x < 3",
        1 => "forall p: P do at[p] != 2 | !up[p] end",
        2 => "!(f & g & x = 2)",
        _ => "true",
    };
    let _ = writeln!(text, "invariant \"it\" {invariant};");
    text
}

#[test]
fn random_rules_keep_their_verdicts() {
    let programs = if crate::support::is_large() { 10_000 } else { 300 };
    let (mut reduced, mut traces) = (0, 0);
    for seed in 0..programs {
        let text = program(seed);
        let model = interp(&text);
        if states(&model, 3000).is_none() {
            continue;
        }
        reduced += usize::from(check_soundness(&text, &model));
        traces += count_valid_counterexamples(&text, &model);
    }
    assert!(reduced * 4 > programs as usize, "{reduced} of {programs} are reduced");
    assert!(traces * 2 > programs as usize, "{traces} traces");
}

/// The counts of the paper's Table 2, or fewer if more rules are detected. With these names, the rules are those of the
/// authors.
#[test]
fn models_of_the_paper_have_its_counts() {
    let Some(folder) = std::env::var_os("SPILLWAY_CORPUS") else { return };
    let folder = Path::new(&folder).join("murphi/cmurphi");
    let paper_rules = ["Remote Memory Read Request", "Remote Memory Read Exclusive Request"];
    let remote_defines = |more: &[(&str, i64)]| {
        let all = [("RemoteCount", 3)].iter().chain(more);
        all.map(|(name, value)| ((*name).to_owned(), *value)).collect::<Vec<_>>()
    };
    let all: [(&str, Vec<_>, &[&str], [u64; 2]); 4] = [
        ("ms_newlist6.m", Vec::new(), &[], [112_784, 4_926]),
        ("eadash.m", remote_defines(&[("ValueCount", 1)]), &paper_rules, [15_751, 2_672]),
        ("eadash.m", remote_defines(&[("ValueCount", 1)]), &[], [15_703, 2_663]),
        ("ldash.m", remote_defines(&[]), &[], [35_660, 6_003]),
    ];
    for (file, defines, rule_names, expected) in all {
        let model = load(&folder.join(file), &defines);
        let rule_names: Vec<String> = rule_names.iter().map(|it| (*it).to_owned()).collect();
        let states = [None, Some(SymmetryEffort::Exact)].map(|symmetry| {
            let stack = stack(&model, named_rules(&rule_names), symmetry);
            memory::search(&*stack.wrap(Box::new(&model)), &SearchLimits::default())
                .unwrap()
                .states()
        });
        assert_eq!(states, expected, "{file} {rule_names:?}");
    }
}

/// The second rule removes what the first one sent.
#[test]
fn rules_that_discard_values_are_not_reversible() {
    let model = rules(
        "rule \"send\" !f & MultiSetCount(i: bag, true) < 2
           ==> var m: M; begin m.kind := 0; undefine m.who; MultiSetAdd(m, bag); end;
         rule \"forget\" !f ==> f := true; undefine bag; end;
         invariant \"forgotten\" f -> MultiSetCount(i: bag, true) = 0;",
    );
    let checks = CheckSelection { deadlock: false, ..CheckSelection::default() };
    let limits = SearchLimits { checks, ..SearchLimits::default() };
    assert_eq!(memory::search(&model, &limits).unwrap().verdict, SearchVerdict::Verified);
    let stack = stack(&model, all_rules(), None);
    let reduced = stack.wrap(Box::new(&model));
    assert_eq!(memory::search(&*reduced, &limits).unwrap().verdict, SearchVerdict::Verified);
}

/// Models of the corpus with more states are skipped.
const STATES_MAX: u64 = 100_000;

#[test]
fn models_of_the_corpus_keep_their_verdicts() {
    let Some(folder) = std::env::var_os("SPILLWAY_CORPUS") else { return };
    let mut counts: BTreeMap<bool, usize> = BTreeMap::new();
    for file in crate::support::collection::find_models(&Path::new(&folder).join("murphi")) {
        let text = crate::support::collection::text_of(&file);
        let mut sources = SourceMap::default();
        sources.add("model.m", &text);
        let Ok(loaded) = murphi::LANGUAGE.load(&mut sources, &Options::default()) else { continue };
        let Ok(model) = Interp::new(loaded.program) else { continue };
        let limits = SearchLimits { max_states: Some(STATES_MAX), ..SearchLimits::default() };
        let verdict = memory::search(&model, &limits).unwrap().verdict;
        if !matches!(verdict, SearchVerdict::Verified | SearchVerdict::Violated) {
            continue;
        }
        for symmetry in [None, Some(SymmetryEffort::Exact)] {
            let stack = stack(&model, all_rules(), symmetry);
            let is_used = !stack.refusals().iter().any(|it| it.name == NAME);
            *counts.entry(is_used).or_default() += 1;
            let found = memory::search(&*stack.wrap(Box::new(&model)), &SearchLimits::default());
            assert_eq!(found.unwrap().verdict, verdict, "{}", file.display());
        }
    }
    println!("with rules that are undone, and without: {counts:?}");
}
