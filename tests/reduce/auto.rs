//! The automatic choice of partial order: the decision after the first states, and that a search keeps the decision.

use crate::support::memory::memory_beside_tests;
use crate::support::reductions::by_way;
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

/// As far as steps are chosen: what is dead here is no matter.
fn auto_steps() -> ReductionConfig {
    let exclude = ["values", "states", "dead"].map(str::to_owned).to_vec();
    ReductionConfig { exclude, ..ReductionConfig::auto() }
}

/// Processes that count by themselves, and one that is watched.
fn loose() -> TextModel {
    counting("")
}

/// The same, with two transitions in most states, so that these are stored with chains, too.
fn forked() -> TextModel {
    counting("a -> a { guard x < 199; effect x = x + 2; },")
}

/// The processes, the first with further transitions.
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

/// Processes of which each step matters to all others.
fn tight() -> TextModel {
    model(
        "dve",
        "int x;
        process P { state a; init a; trans a -> a { effect x = (x + 1) % 30000; }; }
        process Q { state a; init a; trans a -> a { effect x = (x * 2) % 30000; }; }
        system async;",
    )
}

/// Processes that count by themselves, and a claim about them.
fn claimed(claim: &str) -> TextModel {
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

/// What auto comes to: the reduction that is on, or why it is not.
fn decided(
    model: &TextModel,
    exec: ExecutionMode,
    storage: &StateStorage,
) -> Result<String, NotApplied> {
    decided_within(model, exec, (&SearchLimits::default(), storage))
}

/// The same in a search within some limits.
fn decided_within(
    model: &TextModel,
    exec: ExecutionMode,
    search: (&SearchLimits, &StateStorage),
) -> Result<String, NotApplied> {
    let (request, (limits, storage)) = (auto_steps().resolve(false), search);
    let searched = reduced(model, request, exec, limits, storage);
    assert!(!searched.is_undecided());
    match searched.stack().unprofitable() {
        Some(left_off) => Err(left_off.reason.clone()),
        None => Ok(searched.stack().names(&[ReductionKind::Choice]).remove(0)),
    }
}

/// The model as it is searched where this is asked for.
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
fn it_is_on_where_the_first_states_show_that_it_saves_and_off_elsewhere() {
    let sorted = StateStorage::default();
    for model in [loose(), claimed("do :: z == 4 -> break :: else od")] {
        assert_eq!(
            decided(&model, ExecutionMode::Jit, &sorted),
            Ok("partial order conditional".into())
        );
    }
    let lines = "x := x; ".repeat(300);
    let long = format!(
        "var x: 0..29999; startstate x := 0; end;
        function f(): 0..1; begin {lines} return 1; end;
        rule x := (x + f()) % 30000; end;"
    );
    let many = "var x: 0..29999; startstate x := 0; end;
        ruleset i: 0..2499 do rule x % 2500 = i ==> x := (x + 1) % 30000; end; end;";
    let cases = [
        (model("murphi", &long), "the program is too large for a trial"),
        (model("murphi", many), "2500 action instances are too many for a trial"),
        (tight(), "almost no transition can be postponed"),
        (model("dve", "process P { state a; init a; trans a -> a { }; } system async;"), "there is only one state"),
        (model("dve", "byte x; process P { state a; init a; trans a -> a { effect x = x + 1; }; } system async;"), "there is a violation in the first levels"),
        (claimed("do :: true :: x == 200 -> x == 200; y == 200; break od"), "the never claim never_0 is not stutter-invariant"),
        (model("murphi", "var x: 0..49999; ruleset i: 0..49999 do startstate x := i; end; end; rule x := 49999 - x; end;"), "the first levels are too large for a trial"),
        (model("dve", "int x; int y; process P { state a; init a; trans a -> a { effect x = (x + 1) % 20000; }; }
            process Q { state a; init a; trans a -> a { effect y = (y + 1) % 20000; }; } system sync;"), "its processes move in lockstep"),
    ];
    for (model, why) in cases {
        let found = decided(&model, ExecutionMode::Jit, &sorted).unwrap_err().to_string();
        assert!(found.contains(why), "{why}: {found}");
    }
}

/// A process that counts alone.
fn narrow() -> TextModel {
    let text = "int x; process P { state a; init a; trans a -> a { effect x = (x + 1) % 30000; }; }
        system async;";
    model("dve", text)
}

#[test]
fn states_are_passed_through_where_that_pays() {
    for model in [narrow(), loose()] {
        let check = || Check::of_text(&model).memory(memory_beside_tests(512));
        let chained = check().reduce(auto_steps()).run().unwrap();
        let stored = check().reduce(by_way(PartialOrderMethod::DEFAULT)).run().unwrap();
        assert_eq!(chained.verdict(), stored.verdict());
        assert!(chained.states() * 10 < stored.states(), "{:#}", chained);
        assert!(format!("{chained:#}").contains("passed through without being stored"));
        // The levels of chains do not bound the length of a counterexample.
        let shortest = check().reduce(auto_steps()).shortest().run().unwrap();
        assert!(!format!("{shortest:#}").contains("passed through"), "{shortest:#}");
    }
    // Each state has two transitions, neither of which can be postponed.
    let tight = tight();
    let all =
        Check::of_text(&tight).memory(memory_beside_tests(512)).reduce(auto_steps()).run().unwrap();
    assert!(!format!("{all:#}").contains("passed through"), "{all:#}");
}

/// A search that ends at the first violation ends soon; one that goes on has all the space before it.
#[test]
fn what_is_violated_at_once_matters_only_where_the_search_ends_there() {
    let text = "int x; int y; int z;
        process P { state a; init a; trans a -> a { guard x < 200; effect x = x + 1; }; }
        process Q { state a; init a; trans a -> a { guard y < 200; effect y = y + 1; }; }
        process R { state a, b; init a; assert b: z > 1; trans a -> b { guard z == 0; effect z = 1; }; }
        system async;";
    let (model, sorted) = (model("dve", text), StateStorage::default());
    let why = decided(&model, ExecutionMode::Jit, &sorted).unwrap_err().to_string();
    assert!(why.contains("there is a violation in the first levels"), "{why}");
    let goes_on = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let found = decided_within(&model, ExecutionMode::Jit, (&goes_on, &sorted));
    assert_eq!(found, Ok("partial order conditional".into()));
}

#[test]
fn it_depends_neither_on_the_order_of_keys_nor_on_who_runs_the_model() {
    for make in [loose, tight] {
        let expected = decided(&make(), ExecutionMode::Jit, &StateStorage::default());
        assert_eq!(decided(&make(), ExecutionMode::Interp, &StateStorage::default()), expected);
        for order in [KeyOrder::Static, KeyOrder::Sampled] {
            let (model, _) = make().in_key_order(order, &SearchControl::default()).unwrap();
            assert_eq!(decided(&model, ExecutionMode::Jit, &StateStorage::default()), expected);
        }
    }
}

/// Beside symmetry steps would have to be taken up again.
#[test]
fn where_states_are_rebuilt_it_is_off_beside_symmetry() {
    let comback = StateStorage::Comback(Default::default());
    decided(&loose(), ExecutionMode::Jit, &comback).unwrap();
    let text = "type P: scalarset(4); var at: array [P] of 0..25;
        startstate for p: P do at[p] := 0; end; end;
        ruleset p: P do rule \"go\" at[p] < 25 ==> at[p] := at[p] + 1; end; end;
        invariant \"in\" forall p: P do at[p] <= 25 end;";
    let why =
        decided(&model("murphi", text), ExecutionMode::Jit, &comback).unwrap_err().to_string();
    assert!(why.contains("the store has no space for postponed transitions"), "{why}");
}

/// What is left of the later half of the first states is near to what is left of all.
#[test]
fn the_first_states_tell_what_is_saved() {
    let text = "byte a; byte b; byte c; chan q = [2] of { byte };
        active proctype S() { do :: q!1 :: a < 20 -> a++ :: a == 20 -> a = 0 od }
        active proctype T() { do :: q?_ :: b < 20 -> b++ :: b == 20 -> b = 0 od }
        active proctype U() { do :: c < 20 -> c = c + 1; assert(c + a < 99) :: c == 20 -> c = 0 od }";
    let model = model("promela", text);
    let whole = Executor::new(&model.interp, ExecutionMode::Jit).into_model();
    let (checks, control) = (CheckSelection::default(), SearchControl::default());
    let first = PilotLevels::of(&*whole, &checks, &control).unwrap();
    assert!(!first.is_all && !first.is_violated && first.states() >= 10_000);
    let states = |plan: ReductionPlan| {
        let check = Check::of_text(&model).reduce(plan).keep_going();
        check.memory(memory_beside_tests(512)).run().unwrap().states() as f64
    };
    let way = PartialOrderStrategy {
        method: PartialOrderMethod::Conditional,
        proviso: CycleProviso::Levels,
    };
    let request = ReductionConfig::from(by_way(way)).resolve(true);
    let (limits, storage) = (SearchLimits::default(), StateStorage::default());
    let reduced = reduced(&model, request, ExecutionMode::Jit, &limits, &storage);
    let foretold = first.remaining_in(reduced.model(), None, &control).unwrap().late;
    let came = states(by_way(way)) / states(ReductionPlan::default());
    assert!((foretold - came).abs() < 0.1, "{foretold} foretold, {came} came");
    // What choosing takes counts as well: here a million members for each level.
    let left = |of: u64| {
        let looks = Cell::new(0);
        let looked = || looks.replace(looks.get() + of);
        first.remaining_in(reduced.model(), Some(&looked), &control).unwrap()
    };
    let (free, dear) = (left(0), left(1 << 20));
    assert!(!free.is_slow() && dear.is_slow() && dear.is_expensive());
    assert!(free.work < 1.0 && dear.work > 10.0, "{free:?} {dear:?}");
}

/// What little is left of the first levels may be all of the later ones: then more of them tell.
#[test]
fn more_levels_are_asked_where_ever_more_is_left() {
    // Levels that grow threefold, up to 19,683 states; of the first ones one is left, and from there on they grow fivefold.
    let walks = |alone: u32, times: u32| {
        let step = |more: u32| {
            format!(
                "s -> s {{ guard d >= {alone} && d < 12; effect i = ({times} * i + {more}) % 19683, d = d + 1; }}"
            )
        };
        let steps = (0..times).map(step).collect::<Vec<_>>().join(", ");
        let text = format!(
            "int d; int i; process P {{ state s; init s; trans
                s -> s {{ guard d < {alone}; effect d = d + 1; }}, {steps}; }}
            system async;"
        );
        model("dve", &text)
    };
    let (whole, reduced) = (walks(0, 3), walks(4, 5));
    fn ready(model: &TextModel) -> Box<dyn StateSpace + '_> {
        Executor::new(&model.interp, ExecutionMode::Jit).into_model()
    }
    let (checks, control) = (CheckSelection::default(), SearchControl::default());
    let left =
        |levels: PilotLevels| levels.remaining_in(&*ready(&reduced), None, &control).unwrap();
    let levels = |size| {
        let whole = ready(&whole);
        PilotLevels::within(PilotStart::Initial, size, &*whole, &checks, &control).unwrap()
    };
    let few = left(levels(PilotSize::FIRST));
    assert!(few.late < 0.1 && few.rises, "{few:?}");
    let more = left(levels(PilotSize::LARGEST));
    assert!(more.late > 0.7, "{more:?}");
    // Where it is the same share from level to level there is no need to.
    let same = levels(PilotSize::FIRST);
    assert!(!same.remaining_in(&*ready(&whole), None, &control).unwrap().rises);
}

#[test]
fn a_search_that_goes_on_keeps_what_was_decided() {
    let folder = tempfile::tempdir().unwrap();
    for (name, make, on) in [("forked", forked as fn() -> TextModel, true), ("tight", tight, false)]
    {
        let dir = folder.path().join(name);
        let model = make();
        let check = || Check::of_text(&model).reduce(auto_steps()).memory(memory_beside_tests(512));
        let expected = check().run().unwrap();
        let stopped = check().dir(&dir).max_states(50).run().unwrap();
        assert_eq!(stopped.verdict(), spillway::search::SearchVerdict::Incomplete, "{name}");
        drop(stopped);
        let found = check().dir(&dir).run().unwrap();
        assert_eq!(found.outcome(), expected.outcome(), "{name}");
        let told = format!("{found:#}");
        assert_eq!(told.contains("\n  reduced  by partial order conditional"), on, "{told}");
        assert_eq!(told.contains("\n  not reduced  by partial order conditional"), !on, "{told}");
        drop(found);
        // Asked for something else it is another search.
        let other = Check::of_text(&model)
            .reduce(ReductionConfig::none())
            .memory(memory_beside_tests(512))
            .dir(&dir);
        assert_eq!(other.run().is_err(), on, "{name}");
    }
}

/// Two processes that disturb each other up to a point, and then three that count by themselves.
fn late() -> TextModel {
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
fn deep_states_decide_where_the_first_levels_are_start_up() {
    let model = late();
    let chosen = decided(&model, ExecutionMode::Jit, &StateStorage::default());
    assert_eq!(chosen, Ok("partial order conditional".into()));
    let check = || Check::of_text(&model).memory(memory_beside_tests(512));
    let whole = check().reduce(ReductionConfig::none()).run().unwrap();
    let reduced = check().reduce(auto_steps()).run().unwrap();
    assert_eq!(whole.verdict(), reduced.verdict());
    assert!(2 * reduced.states() < whole.states(), "{reduced:#}");
}

/// The lines of a report about the combinations that were tried.
fn tried(result: &impl std::fmt::Display) -> Vec<String> {
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
    for (name, model) in [("forked", forked()), ("tight", tight()), ("late", late())] {
        let check = |threads| {
            let check = Check::of_text(&model).reduce(auto_steps()).threads(threads);
            check.memory(memory_beside_tests(512))
        };
        let [one, two] = [1, 2].map(|threads| check(threads).run().unwrap());
        let expected = tried(&one);
        assert!(expected.iter().any(|line| line.contains("chosen")), "{name}: {one:#}");
        assert_eq!(tried(&two), expected, "{name}");
        assert_eq!(one.outcome(), two.outcome(), "{name}");
        let dir = folder.path().join(name);
        let stopped = check(2).dir(&dir).max_states(50).run().unwrap();
        assert_eq!(tried(&stopped), expected, "{name}");
        drop(stopped);
        let resumed = check(1).dir(&dir).run().unwrap();
        assert_eq!(tried(&resumed), expected, "{name}");
        assert_eq!(resumed.outcome(), one.outcome(), "{name}");
    }
}

/// Processes that compute by themselves between two looks at what they share, and some that count by themselves.
fn computing(counts: &str) -> TextModel {
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

/// Where nobody can tell whether processes stop, they do not: by itself if that leaves half, and beside partial order. It is
/// kept, and decided later in the same way.
#[test]
fn processes_do_not_stop_where_that_pays() {
    let counting = "int y; int z;
        process R { state a; init a; trans a -> a { guard y < 6; effect y = y + 1; }; }
        process S { state a; init a; trans a -> a { guard z < 6; effect z = z + 1; }; }";
    let folder = tempfile::tempdir().unwrap();
    for (name, counts, with_order) in [("alone", "", false), ("both", counting, true)] {
        let model = computing(counts);
        let (limits, storage) = (SearchLimits::default(), StateStorage::default());
        let request = || ReductionConfig::auto().resolve(false);
        let searched = reduced(&model, request(), ExecutionMode::Jit, &limits, &storage);
        assert!(searched.wished().selection.has("merge"), "{name}");
        assert_eq!(searched.stack().unprofitable().is_none(), with_order, "{name}");
        let check = || Check::of_text(&model).memory(memory_beside_tests(512));
        let whole = check().reduce(ReductionConfig::none()).run().unwrap();
        let auto = || check().reduce(ReductionConfig::auto());
        let expected = auto().run().unwrap();
        assert!(4 * expected.states() < whole.states() + 4, "{name}");
        assert_eq!(expected.verdict(), whole.verdict(), "{name}");
        // Levels of longer steps are no bound for a shortest counterexample.
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

/// Told to stop before it was decided, a search decides when it goes on.
#[test]
fn what_was_not_decided_is_decided_later() {
    let folder = tempfile::tempdir().unwrap();
    for (name, make) in [("loose", loose as fn() -> TextModel), ("tight", tight)] {
        let dir = folder.path().join(name);
        let model = make();
        let check = || Check::of_text(&model).reduce(auto_steps()).memory(memory_beside_tests(512));
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

/// Where steps are put off a counterexample may be long; the least depth is found if it is asked for.
#[test]
fn a_shorter_counterexample_is_found_if_it_is_asked_for() {
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
    let way = PartialOrderStrategy {
        method: PartialOrderMethod::Conditional,
        proviso: CycleProviso::Levels,
    };
    let reduce = ReductionConfig::from(by_way(way));
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
    // It is gone on with when it was stopped, and what was found first stands.
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("d");
    let stopped = check().reduce(reduce.clone()).shortest().dir(&dir).max_states(1000);
    assert_eq!(length(stopped), (long, true));
    let found = check().reduce(reduce.clone()).shortest().dir(&dir).run().unwrap();
    let shortened = found.shortened().unwrap();
    assert_eq!((shortened.depth, shortened.is_done), (Some(221), true));
    drop(found);
    // So it is where it fails: the first search takes some 52 kB, the other 28 kB more.
    let full = check().reduce(reduce.clone()).shortest().disk_limit(65_000).run().unwrap();
    assert!(full.shortening_failed().is_some());
    assert_eq!(full.counterexample().unwrap().unwrap().depth(), long);
}
