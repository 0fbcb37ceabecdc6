//! The automatic choice of partial order: the decision after the first states, and that a search keeps the decision.

use crate::support::memory::memory_beside_tests;
use crate::support::reductions::partial_order_plan;
use spillway::budget::AnalysisBudget;
use spillway::exec::{ExecutionMode, Executor};
use spillway::front::{Language, Options};
use spillway::model::StateSpace;
use spillway::reduce::partial_order::{CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use spillway::reduce::{NotApplied, ReductionRequest};
use spillway::reduce::{ReductionConfig, ReductionPlan};
use spillway::search::pilot::{PilotLevels, PilotSize, PilotStart};
use spillway::search::{CheckSelection, SearchControl, SearchLimits, StateStorage};
use spillway::session::{KeyOrder, TextModel};
use spillway::session::{ReductionSettings, SearchedModel};
use spillway::source::SourceMap;
use spillway::{Check, reduce::ReductionKind};
use std::cell::Cell;

fn model(language: &str, text: &str) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let language = Language::from_name(language).unwrap();
    TextModel::load(language, sources, Options::default()).unwrap().0
}

/// The automatic selection without the rewritings of data. Only the choice of transitions matters here.
fn auto_without_rewritings() -> ReductionConfig {
    let exclude = ["values", "states", "dead"].map(str::to_owned).to_vec();
    ReductionConfig { exclude, ..ReductionConfig::auto() }
}

/// Two independent counting processes, and one with an assertion.
fn independent_counters() -> TextModel {
    counting("")
}

/// The same with two transitions in most states, so that these are stored under chains.
fn branching_counters() -> TextModel {
    counting("a -> a { guard x < 199; effect x = x + 2; },")
}

/// The independent counters. The first one has `further` transitions.
fn counting(further: &str) -> TextModel {
    let text = format!(
        "int x; int y;
        process P {{ state a; init a; trans {further} a -> a {{ guard x < 200; effect x = x + 1; }}; }}
        process Q {{ state a; init a; trans a -> a {{ guard y < 200; effect y = y + 1; }}; }}
        process R {{ state a, b; init a; assert b: x == 200;
            trans a -> b {{ guard x == 200 and y == 200; }}, b -> a {{ effect x = 0, y = 0; }}; }}
        system async;"
    );
    model("dve", &text)
}

/// Two processes whose transitions are all dependent.
fn dependent_processes() -> TextModel {
    model(
        "dve",
        "int x;
        process P { state a; init a; trans a -> a { effect x = (x + 1) % 30000; }; }
        process Q { state a; init a; trans a -> a { effect x = (x * 2) % 30000; }; }
        system async;",
    )
}

/// Independent counters with a never claim.
fn counters_with_claim(claim: &str) -> TextModel {
    let count = |it| format!("do :: {it} < 200 -> {it} = {it} + 1 :: {it} == 200 -> {it} = 0 od");
    let [x, y] = ["x", "y"].map(count);
    model(
        "promela",
        &format!(
            "short x, y, z; active proctype P() {{ {x} }} active proctype Q() {{ {y} }}
            active proctype R() {{ z = 1; z = 2; z = 3 }} never {{ {claim} }}"
        ),
    )
}

/// Returns the name of the reduction that the automatic selection applies, or the reason that it applies none.
fn automatic_choice(
    model: &TextModel,
    exec: ExecutionMode,
    storage: &StateStorage,
) -> Result<String, NotApplied> {
    automatic_choice_within(model, exec, (&SearchLimits::default(), storage))
}

/// Returns the automatic choice of a search with these limits.
fn automatic_choice_within(
    model: &TextModel,
    exec: ExecutionMode,
    search: (&SearchLimits, &StateStorage),
) -> Result<String, NotApplied> {
    let (request, (limits, storage)) = (auto_without_rewritings().resolve(), search);
    let searched = reduced(model, request, exec, limits, storage);
    assert!(!searched.is_undecided());
    match searched.stack().unprofitable() {
        Some(left_off) => Err(left_off.reason.clone()),
        None => Ok(searched.stack().names(&[ReductionKind::Choice]).remove(0)),
    }
}

/// Returns the model with the requested reductions applied.
fn reduced<'m>(
    model: &'m TextModel,
    request: ReductionRequest,
    exec: ExecutionMode,
    limits: &SearchLimits,
    storage: &StateStorage,
) -> SearchedModel<'m> {
    let (control, budget) = (&SearchControl::default(), &AnalysisBudget::largest());
    let plan = ReductionPlan::new(request.selection.clone(), limits.checks);
    let runs = model.runnable(&plan, budget, |it| Executor::new(it, exec));
    model.reduced(runs, request, ReductionSettings { limits, storage, control, budget })
}

#[test]
fn partial_order_is_applied_only_if_the_first_levels_show_a_saving() {
    let sorted = StateStorage::default();
    for model in [independent_counters(), counters_with_claim("do :: z == 4 -> break :: else od")] {
        assert_eq!(
            automatic_choice(&model, ExecutionMode::Jit, &sorted),
            Ok("partial order conditional".into())
        );
    }
    let statements = "x := x; ".repeat(300);
    let long = format!(
        "var x: 0..29999; startstate x := 0; end;
        function f(): 0..1; begin {statements} return 1; end;
        rule x := (x + f()) % 30000; end;"
    );
    let many = "var x: 0..29999; startstate x := 0; end;
        ruleset i: 0..2499 do rule x % 2500 = i ==> x := (x + 1) % 30000; end; end;";
    let cases = [
        (model("murphi", &long), "the program is too large for a trial"),
        (model("murphi", many), "2500 action instances are too many for a trial"),
        (dependent_processes(), "it saves only less than 1 % of the first states"),
        (model("dve", "process P { state a; init a; trans a -> a { }; } system async;"), "there is only one state"),
        (model("dve", "byte x; process P { state a; init a; trans a -> a { effect x = x + 1; }; } system async;"), "there is a violation in the first levels"),
        (counters_with_claim("do :: true :: x == 200 -> x == 200; y == 200; break od"), "the never claim never_0 is not stutter-invariant"),
        (model("murphi", "var x: 0..49999; ruleset i: 0..49999 do startstate x := i; end; end; rule x := 49999 - x; end;"), "the first levels are too large for a trial"),
        (model("dve", "int x; int y; process P { state a; init a; trans a -> a { effect x = (x + 1) % 20000; }; }
            process Q { state a; init a; trans a -> a { effect y = (y + 1) % 20000; }; } system sync;"), "its processes move in lockstep"),
    ];
    for (model, reason) in cases {
        let found = automatic_choice(&model, ExecutionMode::Jit, &sorted).unwrap_err().to_string();
        assert!(found.contains(reason), "{reason}: {found}");
    }
}

/// One counting process.
fn single_counter() -> TextModel {
    let text = "int x; process P { state a; init a; trans a -> a { effect x = (x + 1) % 30000; }; }
        system async;";
    model("dve", text)
}

#[test]
fn chains_are_traversed_if_that_saves_states() {
    for model in [single_counter(), independent_counters()] {
        let check = || Check::of_text(&model).memory(memory_beside_tests(512));
        let chained = check().reduce(auto_without_rewritings()).run().unwrap();
        let stored = check().reduce(partial_order_plan(PartialOrderMethod::DEFAULT)).run().unwrap();
        assert_eq!(chained.verdict(), stored.verdict());
        assert!(chained.states() * 10 < stored.states(), "{:#}", chained);
        assert!(format!("{chained:#}").contains("passed through without being stored"));
        // The levels of chains do not bound the length of a counterexample.
        let shortest = check().reduce(auto_without_rewritings()).shortest().run().unwrap();
        assert!(!format!("{shortest:#}").contains("passed through"), "{shortest:#}");
    }
    // Each state has two transitions that cannot be postponed.
    let tight = dependent_processes();
    let all = Check::of_text(&tight)
        .memory(memory_beside_tests(512))
        .reduce(auto_without_rewritings())
        .run()
        .unwrap();
    assert!(!format!("{all:#}").contains("passed through"), "{all:#}");
}

/// A search that stops at the first violation ends early. A search that keeps going explores the whole space.
#[test]
fn an_early_violation_prevents_reduction_only_if_the_search_stops_there() {
    let text = "int x; int y; int z;
        process P { state a; init a; trans a -> a { guard x < 200; effect x = x + 1; }; }
        process Q { state a; init a; trans a -> a { guard y < 200; effect y = y + 1; }; }
        process R { state a, b; init a; assert b: z > 1; trans a -> b { guard z == 0; effect z = 1; }; }
        system async;";
    let (model, sorted) = (model("dve", text), StateStorage::default());
    let reason = automatic_choice(&model, ExecutionMode::Jit, &sorted).unwrap_err().to_string();
    assert!(reason.contains("there is a violation in the first levels"), "{reason}");
    let keep_going = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let found = automatic_choice_within(&model, ExecutionMode::Jit, (&keep_going, &sorted));
    assert_eq!(found, Ok("partial order conditional".into()));
}

#[test]
fn the_choice_is_independent_of_key_order_and_executor() {
    for make in [independent_counters, dependent_processes] {
        let expected = automatic_choice(&make(), ExecutionMode::Jit, &StateStorage::default());
        assert_eq!(
            automatic_choice(&make(), ExecutionMode::Interp, &StateStorage::default()),
            expected
        );
        for order in [KeyOrder::Static, KeyOrder::Sampled] {
            let (model, _) = make().in_key_order(order, &SearchControl::default()).unwrap();
            assert_eq!(
                automatic_choice(&model, ExecutionMode::Jit, &StateStorage::default()),
                expected
            );
        }
    }
}

/// Symmetry needs re-expansion, which this store does not support together with partial order.
#[test]
fn comback_with_symmetry_excludes_partial_order() {
    let comback = StateStorage::Comback(Default::default());
    automatic_choice(&independent_counters(), ExecutionMode::Jit, &comback).unwrap();
    let text = "type P: scalarset(4); var at: array [P] of 0..25;
        startstate for p: P do at[p] := 0; end; end;
        ruleset p: P do rule \"go\" at[p] < 25 ==> at[p] := at[p] + 1; end; end;
        invariant \"in\" forall p: P do at[p] <= 25 end;";
    let reason = automatic_choice(&model("murphi", text), ExecutionMode::Jit, &comback)
        .unwrap_err()
        .to_string();
    assert!(reason.contains("the store has no space for postponed transitions"), "{reason}");
}

/// The share of states that remains in the later half of the first levels is close to the share of all states.
#[test]
fn the_first_levels_predict_the_saving() {
    let text = "byte a; byte b; byte c; chan q = [2] of { byte };
        active proctype S() { do :: q!1 :: a < 20 -> a++ :: a == 20 -> a = 0 od }
        active proctype T() { do :: q?_ :: b < 20 -> b++ :: b == 20 -> b = 0 od }
        active proctype U() { do :: c < 20 -> c = c + 1; assert(c + a < 99) :: c == 20 -> c = 0 od }";
    let model = model("promela", text);
    let full = Executor::new(&model.interp, ExecutionMode::Jit).into_model();
    let (checks, control) = (CheckSelection::default(), SearchControl::default());
    let first = PilotLevels::of(&*full, &checks, &control).unwrap();
    assert!(!first.is_all && !first.is_violated && first.states() >= 4_000);
    let states = |plan: ReductionPlan| {
        let check = Check::of_text(&model).reduce(plan).keep_going();
        check.memory(memory_beside_tests(512)).run().unwrap().states() as f64
    };
    let strategy = PartialOrderStrategy {
        method: PartialOrderMethod::Conditional,
        proviso: CycleProviso::Levels,
    };
    let request = ReductionConfig::from(partial_order_plan(strategy)).resolve();
    let (limits, storage) = (SearchLimits::default(), StateStorage::default());
    let reduced = reduced(&model, request, ExecutionMode::Jit, &limits, &storage);
    let predicted = first.remaining_in(reduced.model(), None, &control).unwrap().late;
    let measured = states(partial_order_plan(strategy)) / states(ReductionPlan::default());
    assert!((predicted - measured).abs() < 0.1, "{predicted} predicted, {measured} came");
    // The work of choosing counts too: here a million members for each level.
    let sample_with_work = |of: u64| {
        let work_done = Cell::new(0);
        let count_work = || work_done.replace(work_done.get() + of);
        first.remaining_in(reduced.model(), Some(&count_work), &control).unwrap()
    };
    let (cheap, expensive) = (sample_with_work(0), sample_with_work(1 << 20));
    assert!(!cheap.is_slow() && expensive.is_slow() && expensive.is_expensive());
    assert!(cheap.work < 1.0 && expensive.work > 10.0, "{cheap:?} {expensive:?}");
}

/// A small share in the first levels may rise in later ones. More levels are sampled then.
#[test]
fn a_rising_share_requires_more_levels() {
    // The full levels grow threefold, up to 19,683 states. The reduced levels have one state at first, and then grow
    // fivefold.
    let walks = |single: u32, times: u32| {
        let transition = |more: u32| {
            format!(
                "s -> s {{ guard d >= {single} && d < 12; effect i = ({times} * i + {more}) % 19683, d = d + 1; }}"
            )
        };
        let transitions = (0..times).map(transition).collect::<Vec<_>>().join(", ");
        let text = format!(
            "int d; int i; process P {{ state s; init s; trans
                s -> s {{ guard d < {single}; effect d = d + 1; }}, {transitions}; }}
            system async;"
        );
        model("dve", &text)
    };
    let (full, reduced) = (walks(0, 3), walks(4, 5));
    fn executor(model: &TextModel) -> Box<dyn StateSpace + '_> {
        Executor::new(&model.interp, ExecutionMode::Jit).into_model()
    }
    let (checks, control) = (CheckSelection::default(), SearchControl::default());
    let remaining =
        |levels: PilotLevels| levels.remaining_in(&*executor(&reduced), None, &control).unwrap();
    let levels = |size| {
        let full = executor(&full);
        PilotLevels::within(PilotStart::Initial, size, &*full, &checks, &control).unwrap()
    };
    let few = remaining(levels(PilotSize::FIRST));
    assert!(few.late < 0.1 && few.rises, "{few:?}");
    let more = remaining(levels(PilotSize::LARGEST));
    assert!(more.late > 0.7, "{more:?}");
    // A constant share from level to level requires no more levels.
    let same = levels(PilotSize::FIRST);
    assert!(!same.remaining_in(&*executor(&full), None, &control).unwrap().rises);
}

#[test]
fn a_resumed_search_keeps_the_choice() {
    let folder = tempfile::tempdir().unwrap();
    for (name, make, is_applied) in [
        ("forked", branching_counters as fn() -> TextModel, true),
        ("tight", dependent_processes, false),
    ] {
        let dir = folder.path().join(name);
        let model = make();
        let check = || {
            Check::of_text(&model)
                .reduce(auto_without_rewritings())
                .memory(memory_beside_tests(512))
        };
        let expected = check().run().unwrap();
        let stopped = check().dir(&dir).max_states(50).run().unwrap();
        assert_eq!(stopped.verdict(), spillway::search::SearchVerdict::Incomplete, "{name}");
        drop(stopped);
        let found = check().dir(&dir).run().unwrap();
        assert_eq!(found.outcome(), expected.outcome(), "{name}");
        let report = format!("{found:#}");
        assert_eq!(
            report.contains("\n  reduced  by partial order conditional"),
            is_applied,
            "{report}"
        );
        assert_eq!(
            report.contains("\n  not reduced  by partial order conditional"),
            !is_applied,
            "{report}"
        );
        drop(found);
        // A request for another reduction is another search.
        let other = Check::of_text(&model)
            .reduce(ReductionConfig::none())
            .memory(memory_beside_tests(512))
            .dir(&dir);
        assert_eq!(other.run().is_err(), is_applied, "{name}");
    }
}

/// Two processes that depend on each other up to a point, and then three that count independently.
fn later_independent_processes() -> TextModel {
    // No two processes are identical.
    let begin = |name: &str, of: &str, most: u32| {
        format!(
            "process {name} {{ state a; init a; trans
            a -> a {{ guard {of} < 120; effect {of} = {of} + 1, last = (x + y) % {most}; }}; }}"
        )
    };
    let count = |name: &str, most: u32| {
        format!(
            "process {name} {{ byte n; state a; init a; trans
            a -> a {{ guard x == 120 and y == 120; effect n = (n + 1) % {most}; }}; }}"
        )
    };
    let all =
        [begin("P", "x", 7), begin("Q", "y", 5), count("R", 39), count("S", 40), count("T", 41)];
    model("dve", &format!("byte x; byte y; byte last; {} system async;", all.concat()))
}

#[test]
fn deep_states_decide_if_the_first_levels_are_start_up() {
    let model = later_independent_processes();
    let chosen = automatic_choice(&model, ExecutionMode::Jit, &StateStorage::default());
    assert_eq!(chosen, Ok("partial order conditional".into()));
    let check = || Check::of_text(&model).memory(memory_beside_tests(512));
    let full = check().reduce(ReductionConfig::none()).run().unwrap();
    let reduced = check().reduce(auto_without_rewritings()).run().unwrap();
    assert_eq!(full.verdict(), reduced.verdict());
    assert!(2 * reduced.states() < full.states(), "{reduced:#}");
}

/// The lines of a report about the combinations that were tried.
fn tried_lines(result: &impl std::fmt::Display) -> Vec<String> {
    let text = format!("{result:#}");
    let lines = text.lines().skip_while(|line| !line.starts_with("  tried"));
    lines
        .take_while(|line| line.starts_with("  tried") || line.starts_with("      "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_choice_depends_neither_on_threads_nor_on_an_interruption() {
    let folder = tempfile::tempdir().unwrap();
    for (name, model) in [
        ("forked", branching_counters()),
        ("tight", dependent_processes()),
        ("late", later_independent_processes()),
    ] {
        let check = |threads| {
            let check = Check::of_text(&model).reduce(auto_without_rewritings()).threads(threads);
            check.memory(memory_beside_tests(512))
        };
        let [one, two] = [1, 2].map(|threads| check(threads).run().unwrap());
        let expected = tried_lines(&one);
        assert!(expected.iter().any(|line| line.contains("chosen")), "{name}: {one:#}");
        assert_eq!(tried_lines(&two), expected, "{name}");
        assert_eq!(one.outcome(), two.outcome(), "{name}");
        let dir = folder.path().join(name);
        let stopped = check(2).dir(&dir).max_states(50).run().unwrap();
        assert_eq!(tried_lines(&stopped), expected, "{name}");
        drop(stopped);
        let resumed = check(1).dir(&dir).run().unwrap();
        assert_eq!(tried_lines(&resumed), expected, "{name}");
        assert_eq!(resumed.outcome(), one.outcome(), "{name}");
    }
}

/// Two processes that count in cycles. The samples promise a saving that the search does not confirm.
fn cyclic_counters() -> TextModel {
    let count = |it: &str| format!("do :: {it} = ({it} + 1) % 350 od");
    let [x, y] = ["x", "y"].map(count);
    let watch = "active proctype Watch() { assert(x + y < 800) }";
    let text =
        format!("short x, y; {watch} active proctype P() {{ {x} }} active proctype Q() {{ {y} }}");
    model("promela", &text)
}

#[test]
fn a_search_is_restarted_if_choosing_transitions_does_not_pay() {
    let model = cyclic_counters();
    let chosen = automatic_choice(&model, ExecutionMode::Jit, &StateStorage::default());
    assert_eq!(chosen, Ok("partial order conditional".into()));
    let check = |threads| {
        let check = Check::of_text(&model).threads(threads).memory(memory_beside_tests(512));
        check.reduce(auto_without_rewritings())
    };
    let full = check(1).reduce(ReductionConfig::none()).run().unwrap();
    let is_restarted =
        |report: &str| report.contains("\n  restarted  after 100,000 states, since choosing");
    let folder = tempfile::tempdir().unwrap();
    for threads in [1, 2] {
        let whole = check(threads).run().unwrap();
        assert_eq!(whole.outcome(), full.outcome(), "{whole:#}");
        assert!(is_restarted(&format!("{whole:#}")), "{whole:#}");
        // Before the restart, and after it.
        for states in [50_000, 150_000] {
            let dir = folder.path().join(format!("{threads}-{states}"));
            let stopped = check(threads).dir(&dir).max_states(states).run().unwrap();
            assert_eq!(is_restarted(&format!("{stopped:#}")), states > 100_000, "{stopped:#}");
            drop(stopped);
            let resumed = check(3 - threads).dir(&dir).run().unwrap();
            assert_eq!(resumed.outcome(), full.outcome(), "{resumed:#}");
            assert!(is_restarted(&format!("{resumed:#}")), "{resumed:#}");
        }
    }
}

/// Processes with local computations between accesses to a shared variable, and the processes `counts`.
fn computing_processes(counts: &str) -> TextModel {
    let process = |name: &str| {
        format!(
            "process {name} {{ int j; state a, b, c, d; init a; trans
            a -> b {{ effect j = x % 7; }}, b -> c {{ effect j = (j * 3) % 7; }}, c -> d {{ effect j = (j + 1) % 7; }},
            d -> a {{ effect x = (x + j + 1) % 200; }}; }}"
        )
    };
    let [p, q] = ["P", "Q"].map(process);
    let watched = "process W { state a; init a; assert a: x < 200; }";
    model("dve", &format!("int x; {p} {q} {watched} {counts} system async;"))
}

/// Merging is selected if it halves the states, alone or together with partial order. The choice is kept, and an
/// interrupted choice is made later with the same result.
#[test]
fn merging_is_applied_if_it_saves_states() {
    let counting = "int y; int z;
        process R { state a; init a; trans a -> a { guard y < 6; effect y = y + 1; }; }
        process S { state a; init a; trans a -> a { guard z < 6; effect z = z + 1; }; }";
    let folder = tempfile::tempdir().unwrap();
    for (name, counts, with_order) in [("alone", "", false), ("both", counting, true)] {
        let model = computing_processes(counts);
        let (limits, storage) = (SearchLimits::default(), StateStorage::default());
        let request = || ReductionConfig::auto().resolve();
        let searched = reduced(&model, request(), ExecutionMode::Jit, &limits, &storage);
        assert!(searched.wished().selection.has("merge"), "{name}");
        assert_eq!(searched.stack().unprofitable().is_none(), with_order, "{name}");
        let check = || Check::of_text(&model).memory(memory_beside_tests(512));
        let full = check().reduce(ReductionConfig::none()).run().unwrap();
        let auto = || check().reduce(ReductionConfig::auto());
        let expected = auto().run().unwrap();
        assert!(4 * expected.states() < full.states() + 4, "{name}");
        assert_eq!(expected.verdict(), full.verdict(), "{name}");
        // The levels of merged transitions give no bound for a shortest counterexample.
        let shortest = SearchLimits { shortest: true, ..SearchLimits::default() };
        let searched = reduced(&model, request(), ExecutionMode::Jit, &shortest, &storage);
        assert!(!searched.wished().selection.has("merge"), "{name}");
        let none = std::time::Duration::ZERO;
        for (at, stop) in [(0, None), (50, Some(50))] {
            let dir = folder.path().join(format!("{name}-{at}"));
            let stopped = match stop {
                None => auto().dir(&dir).max_time(none).run().unwrap(),
                Some(states) => auto().dir(&dir).max_states(states).run().unwrap(),
            };
            assert_eq!(stopped.verdict(), spillway::search::SearchVerdict::Incomplete, "{name}");
            drop(stopped);
            let found = auto().dir(&dir).run().unwrap();
            assert_eq!(found.outcome(), expected.outcome(), "{name}, stopped at {at}");
        }
    }
}

/// A search that is stopped before the choice makes it when it is resumed.
#[test]
fn an_interrupted_choice_is_made_after_resume() {
    let folder = tempfile::tempdir().unwrap();
    for (name, make) in
        [("loose", independent_counters as fn() -> TextModel), ("tight", dependent_processes)]
    {
        let dir = folder.path().join(name);
        let model = make();
        let check = || {
            Check::of_text(&model)
                .reduce(auto_without_rewritings())
                .memory(memory_beside_tests(512))
        };
        let expected = check().run().unwrap();
        let none = std::time::Duration::ZERO;
        let stopped = check().dir(&dir).max_time(none).run().unwrap();
        assert_eq!((stopped.states(), stopped.verdict()), (0, Default::default()), "{name}");
        drop(stopped);
        let stopped = check().dir(&dir).max_time(none).run().unwrap();
        assert_eq!(stopped.states(), 0, "{name}");
        drop(stopped);
        let found = check().dir(&dir).run().unwrap();
        assert_eq!(found.outcome(), expected.outcome(), "{name}");
    }
}

/// Partial order may lengthen a counterexample. `shortest` finds the least depth.
#[test]
fn shortest_finds_the_least_depth_under_partial_order() {
    let model = model(
        "dve",
        "int x; int y; byte z;
        process P { state a; init a; trans a -> a { guard x < 300; effect x = x + 1; }; }
        process Q { state a; init a; trans a -> a { guard y < 300; effect y = y + 1; }; }
        process R { state a, b; init a; assert b: z < 5;
            trans a -> b { guard z == 0 and y == 220; effect z = 7; },
            a -> b { guard x == 300 and y > 3; effect z = 9; }, b -> b { }; }
        system async;",
    );
    let strategy = PartialOrderStrategy {
        method: PartialOrderMethod::Conditional,
        proviso: CycleProviso::Levels,
    };
    let reduce = ReductionConfig::from(partial_order_plan(strategy));
    let check = || Check::of_text(&model).memory(memory_beside_tests(512));
    let length = |check: Check| {
        let found = check.run().unwrap();
        let shortest = found.to_string().contains("may be a shorter");
        (found.counterexample().unwrap().unwrap().depth(), shortest)
    };
    let (long, may_be_shorter) = length(check().reduce(reduce.clone()));
    assert!(long > 221 && may_be_shorter, "{long}");
    assert_eq!(length(check().reduce(ReductionConfig::none())), (221, false));
    assert_eq!(length(check().reduce(reduce.clone()).shortest()), (221, false));
    // A stopped search for a shortest counterexample is resumed, and keeps the first verdict.
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("d");
    let stopped = check().reduce(reduce.clone()).shortest().dir(&dir).max_states(1000);
    assert_eq!(length(stopped), (long, true));
    let found = check().reduce(reduce.clone()).shortest().dir(&dir).run().unwrap();
    let shortened = found.shortened().unwrap();
    assert_eq!((shortened.depth, shortened.is_done), (Some(221), true));
    drop(found);
    // The verdict also remains if shortening fails: the first search takes about 52 kB, the other one 28 kB more.
    let full = check().reduce(reduce.clone()).shortest().disk_limit(65_000).run().unwrap();
    assert!(full.shortening_failed().is_some());
    assert_eq!(full.counterexample().unwrap().unwrap().depth(), long);
}
