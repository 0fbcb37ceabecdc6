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

/// A rule, with how many of its instances and of their cases can be undone.
type Found<'r> = (&'r str, usize, usize);

fn found(model: &Interp) -> Vec<Found<'_>> {
    match ReversibleRules::of(model, &[], &AnalysisBudget::largest()) {
        Ok(found) => found.rules(model.program()),
        Err(_) => Vec::new(),
    }
}

/// Two flags, a counter, and a bag.
const DECLARED: &str = "
    type P: scalarset(2); M: record kind: 0..1; who: P; end;
    var f: boolean; g: boolean; x: 0..3; at: array [P] of 0..2; bag: multiset [3] of M;
    ruleset v: 0..3 do
      startstate f := false; g := false; x := v; for p: P do at[p] := 0; end; end;
    end;";

fn rules(rules: &str) -> Interp {
    interp(&format!("{DECLARED} {rules}"))
}

#[test]
fn a_rule_is_reversible_by_what_it_does() {
    // Each with the rules that are found, with their instances and cases.
    let cases: &[(&str, &[Found])] = &[
        ("rule \"set\" !f ==> f := true; end;", &[("set", 1, 1)]),
        // What was there before is not looked at: only where it was as in the beginning.
        ("rule \"set\" true ==> f := true; end;", &[("set", 1, 1)]),
        ("rule \"count\" x < 3 ==> x := x + 1; end;", &[("count", 1, 3)]),
        // Two predecessors, which it looks at.
        ("rule \"reset\" x = 1 | x = 2 ==> x := 3; end;", &[]),
        ("rule \"reset\" x = 1 ==> x := 3; end;", &[("reset", 1, 1)]),
        // Nothing changes.
        ("rule \"same\" f ==> f := true; end;", &[]),
        // It fails where x is 3, and that is no case.
        ("rule \"fails\" !f ==> assert x < 3; f := true; end;", &[("fails", 1, 3)]),
        // The inverses do not commute: of the state with both only the second can be undone first.
        (
            "rule \"first\" !f ==> f := true; end; rule \"second\" f & !g ==> g := true; end;",
            &[("first", 1, 1)],
        ),
        // They do where one is undone only where the other is not.
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
        // Where both have gone and one was counted, only one can be undone.
        (
            "ruleset p: P do rule \"go\" at[p] = 0 & x < 2 ==> at[p] := 1; x := x + 1; end; end;",
            &[],
        ),
        // What was in the bag is gone, whatever it was.
        ("rule \"set\" !f ==> f := true; undefine bag; end;", &[]),
        ("rule \"set\" !f ==> f := true; clear bag; end;", &[]),
        // An element that says who sent it is one of its own.
        (
            "ruleset p: P do rule \"send\" at[p] = 0 & MultiSetCount(i: bag, true) < 2
               ==> var m: M; begin m.kind := 1; m.who := p; MultiSetAdd(m, bag); at[p] := 1; end; end;",
            &[("send", 2, 2)],
        ),
        // An element that says nothing can be taken back by one of them only.
        (
            "ruleset p: P do rule \"send\" at[p] = 0 & MultiSetCount(i: bag, true) < 2
               ==> var m: M; begin m.kind := 1; MultiSetAdd(m, bag); at[p] := 1; end; end;",
            &[],
        ),
        // That is no harm where both did the same.
        (
            "ruleset p: P do rule \"send\" MultiSetCount(i: bag, true) < 2
               ==> var m: M; begin m.kind := 1; undefine m.who; MultiSetAdd(m, bag); end; end;",
            &[("send", 2, 2)],
        ),
        // What an element is matters.
        (
            "choose i: bag do rule \"take\" bag[i].kind = 0 & x = 0 ==> x := 1; end; end;",
            &[],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(found(&rules(text)), *expected, "{text}");
    }
}

#[test]
fn rules_are_named_and_refused_by_name() {
    let model = rules("rule \"set\" !f ==> f := true; end; rule \"mark\" !g ==> g := true; end;");
    let told = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
        let stack = stack(&model, named_rules(&names), None);
        let refused = stack.refusals().first().map(|it| (it.name.clone(), it.reason.to_string()));
        (
            stack
                .summaries(&spillway::model::Counters::default())
                .into_iter()
                .find_map(|it| it.effect),
            refused,
        )
    };
    let (both, _) = told(&[]);
    assert!(both.unwrap().starts_with("reversible: `set`, `mark`;"));
    let (one, _) = told(&["mark"]);
    assert!(one.unwrap().starts_with("reversible: `mark`;"));
    let refused = Some((NAME.to_owned(), "there is no rule `other`".to_owned()));
    assert_eq!(told(&["mark", "other"]), (None, refused));
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
        &|| unreachable!("nobody chooses steps"),
        &AnalysisBudget::largest(),
    )
}

/// Rules of these names, or all that can be undone.
fn named_rules(names: &[String]) -> ParameterValues {
    ParameterValues::default().with("rules", names.to_vec())
}

fn all_rules() -> ParameterValues {
    ParameterValues::default()
}

fn checked() -> ParameterValues {
    ParameterValues::default().with("check", true)
}

/// All states of a model, if these are not too many.
fn states(model: &dyn StateSpace, most: usize) -> Option<BTreeSet<Vec<u8>>> {
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
        if seen.len() > most {
            return None;
        }
    }
    Some(seen)
}

/// All states that those stored stand for.
fn stood_for(
    model: &Interp,
    rules: &ParameterValues,
    stored: &BTreeSet<Vec<u8>>,
) -> BTreeSet<Vec<u8>> {
    let is_checked = rules.switch("check").unwrap_or_default();
    let undoing =
        ReversibleReduction::of_rules(model, is_checked, &AnalysisBudget::largest()).unwrap();
    let model = undoing.of_model(Box::new(model));
    stored.iter().flat_map(|state| model.states_from(state).unwrap()).collect()
}

/// The checks that fail.
fn broken(name: &str, model: &dyn StateSpace) -> (SearchVerdict, BTreeSet<Violation>, u64) {
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let outcome = memory::search(model, &limits).unwrap_or_else(|error| panic!("{name}: {error}"));
    let broken = outcome.findings.iter().map(|(check, _)| check).collect();
    (outcome.verdict, broken, outcome.states())
}

/// Whether a model is reduced; all that is said of what is left is so.
fn is_reduced_soundly(name: &str, model: &Interp) -> bool {
    let (verdict, all_broken, all) = broken(name, model);
    let mut is_reduced = false;
    for rules in [all_rules(), checked()] {
        let stack = stack(model, rules.clone(), None);
        if !stack.refusals().is_empty() {
            return false;
        }
        let reduced = stack.wrap(Box::new(model));
        let (found, broken, stored) = broken(name, &*reduced);
        assert_eq!((found, &broken), (verdict, &all_broken), "{name}");
        assert!(stored <= all, "{name}: {stored} of {all}");
        is_reduced |= stored < all;
        if all < 20_000 {
            let every = states(model, usize::MAX).unwrap();
            let stored = states(&*reduced, usize::MAX).unwrap();
            assert!(stored.is_subset(&every), "{name}: a state that is not reached is stored");
            assert!(
                stood_for(model, &rules, &stored) == every,
                "{name}: not all states are searched"
            );
        }
    }
    for effort in [SymmetryEffort::Exact, SymmetryEffort::Fast] {
        let stack = stack(model, all_rules(), Some(effort));
        let (found, broken, _) = broken(name, &*stack.wrap(Box::new(model)));
        assert_eq!((found, &broken), (verdict, &all_broken), "{name}, {}", effort.name());
    }
    is_reduced
}

/// Every counterexample of a search by progenitors, alone and with symmetry, is a run of the model.
fn counterexamples_are_runs(name: &str, model: &Interp) -> usize {
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
fn our_models_are_searched_as_wholly() {
    let mut all = configurations();
    let most = if crate::support::is_large() { 200_000 } else { 3000 };
    all.retain(|(_, model)| states(model, most).is_some());
    let reduced = all.iter().filter(|(name, model)| is_reduced_soundly(name, model)).count();
    assert!(reduced >= 12, "{reduced} of {}", all.len());
    let traces: usize = all.iter().map(|(name, model)| counterexamples_are_runs(name, model)).sum();
    assert!(traces >= 16, "{traces} traces");
}

/// Somewhere in a random rule.
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

/// A random program of rules.
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
        let of_each = random.below(4) > 0;
        let p = if of_each { "p" } else { "one" };
        let guards: Vec<_> = (0..1 + random.below(3)).map(|_| guard(random, p)).collect();
        let effects: Vec<_> = (0..1 + random.below(3)).map(|_| effect(random, p)).collect();
        let (guards, effects) = (guards.join(" & "), effects.join(" "));
        let rule = format!("rule \"{number}\" {guards} ==> var m: M; begin {effects} end;");
        let _ = match of_each {
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
fn random_rules_are_searched_as_wholly() {
    let programs = if crate::support::is_large() { 10_000 } else { 300 };
    let (mut reduced, mut traces) = (0, 0);
    for seed in 0..programs {
        let text = program(seed);
        let model = interp(&text);
        if states(&model, 3000).is_none() {
            continue;
        }
        reduced += usize::from(is_reduced_soundly(&text, &model));
        traces += counterexamples_are_runs(&text, &model);
    }
    assert!(reduced * 4 > programs as usize, "{reduced} of {programs} are reduced");
    assert!(traces * 2 > programs as usize, "{traces} traces");
}

/// The counts of the paper's Table 2, or fewer where more rules are found; with these names those that the
/// authors took.
#[test]
fn the_papers_models_have_its_counts() {
    let Some(folder) = std::env::var_os("SPILLWAY_CORPUS") else { return };
    let folder = Path::new(&folder).join("murphi/cmurphi");
    let two = ["Remote Memory Read Request", "Remote Memory Read Exclusive Request"];
    let remote = |more: &[(&str, i64)]| {
        let all = [("RemoteCount", 3)].iter().chain(more);
        all.map(|(name, value)| ((*name).to_owned(), *value)).collect::<Vec<_>>()
    };
    let all: [(&str, Vec<_>, &[&str], [u64; 2]); 4] = [
        ("ms_newlist6.m", Vec::new(), &[], [112_784, 4_926]),
        ("eadash.m", remote(&[("ValueCount", 1)]), &two, [15_751, 2_672]),
        ("eadash.m", remote(&[("ValueCount", 1)]), &[], [15_703, 2_663]),
        ("ldash.m", remote(&[]), &[], [35_660, 6_003]),
    ];
    for (file, defines, named, expected) in all {
        let model = load(&folder.join(file), &defines);
        let named: Vec<String> = named.iter().map(|it| (*it).to_owned()).collect();
        let states = [None, Some(SymmetryEffort::Exact)].map(|symmetry| {
            let stack = stack(&model, named_rules(&named), symmetry);
            memory::search(&*stack.wrap(Box::new(&model)), &SearchLimits::default())
                .unwrap()
                .states()
        });
        assert_eq!(states, expected, "{file} {named:?}");
    }
}

/// Of the two rules, the second forgets what the first has sent.
#[test]
fn what_a_rule_forgets_is_not_taken_to_be_there() {
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

/// The verdicts of models by others with up to so many states.
const STATES_MAX: u64 = 100_000;

#[test]
fn models_of_others_have_the_same_verdict() {
    let Some(folder) = std::env::var_os("SPILLWAY_CORPUS") else { return };
    let mut told: BTreeMap<bool, usize> = BTreeMap::new();
    for file in crate::support::collection::models_below(&Path::new(&folder).join("murphi")) {
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
            *told.entry(is_used).or_default() += 1;
            let found = memory::search(&*stack.wrap(Box::new(&model)), &SearchLimits::default());
            assert_eq!(found.unwrap().verdict, verdict, "{}", file.display());
        }
    }
    println!("with rules that are undone, and without: {told:?}");
}
