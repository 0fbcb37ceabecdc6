//! The properties `always`, `sometimes` and `eventually` of a Rust type, compared with a plain search of random graphs.

use super::exclusive_search;
use crate::support::memory::memory_beside_tests;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict, probe};
use spillway::session::EventuallyVerdict;
use spillway::system::RestrictedSystem;
use spillway::{
    Check, CheckSelection, PackedSystem, Property, SearchControl, SearchVerdict, TransitionSystem,
    check_consistency,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A graph with marked nodes; node 0 is initial.
struct Web {
    next: Vec<Vec<u16>>,
    marked: Vec<bool>,
}

impl Web {
    fn random(seed: u64) -> Web {
        let mut seed_state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |bound: usize| {
            seed_state =
                seed_state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((seed_state >> 33) % bound as u64) as usize
        };
        let (nodes, back, often) = (1 + below(30), 2 + below(12), 2 + below(4));
        let mut edge = |from: usize| match below(back) {
            0 => below(nodes) as u16,
            _ => (from + 1 + below(4)).min(nodes - 1) as u16,
        };
        let to = |from: usize| 2 * usize::from(from + 1 < nodes) + from % 2;
        let next: Vec<Vec<u16>> =
            (0..nodes).map(|from| (0..to(from)).map(|_| edge(from)).collect()).collect();
        let marked = (0..nodes).map(|_| below(often) == 0).collect();
        Web { next, marked }
    }

    /// The nodes reachable from node 0 through nodes that satisfy `passes`.
    fn reached(&self, passes: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![0]);
        while let Some(at) = open.pop() {
            if passes(at) && seen.insert(at) {
                open.extend(self.next[at].iter().map(|&to| usize::from(to)));
            }
        }
        seen
    }

    /// Whether some run avoids all marked nodes. Removes nodes without a successor repeatedly, except final ones; some
    /// node is left.
    fn has_avoiding_run(&self) -> bool {
        let mut remaining = self.reached(|at| !self.marked[at]);
        loop {
            let can_continue = |&at: &usize| {
                let next = &self.next[at];
                next.is_empty() || next.iter().any(|&to| remaining.contains(&usize::from(to)))
            };
            let next: BTreeSet<usize> = remaining.iter().copied().filter(can_continue).collect();
            if next.len() == remaining.len() {
                return !remaining.is_empty();
            }
            remaining = next;
        }
    }
}

impl TransitionSystem for Web {
    type State = u16;
    type Action = u16;

    fn initial(&self) -> Vec<u16> {
        vec![0]
    }

    fn actions(&self, state: &u16, actions: &mut Vec<u16>) {
        actions.extend(&self.next[usize::from(*state)]);
    }

    fn next(&self, _: &u16, to: &u16) -> Option<u16> {
        Some(*to)
    }

    fn properties(&self) -> Vec<Property<'_, u16>> {
        let is_marked = |at: &u16| self.marked[usize::from(*at)];
        vec![
            Property::sometimes("a mark", is_marked),
            Property::eventually("a mark is come to", is_marked),
        ]
    }

    fn may_end(&self, _: &u16) -> bool {
        true
    }
}

#[test]
fn sometimes_and_eventually_agree_with_a_plain_search() {
    let _exclusive = exclusive_search();
    let [mut kept, mut broken, mut missing] = [0; 3];
    for seed in 0..2000 {
        let web = Web::random(seed);
        let has_one = web.reached(|_| true).iter().any(|&at| web.marked[at]);
        let is_broken = web.has_avoiding_run();
        let (_, avoiding) = RestrictedSystem::of_eventualities(&web, 2).pop().unwrap();
        let limits = ProbeLimits { states: 1000, bytes: 1 << 20 };
        let probed = probe(&avoiding, &|_| true, limits, &SearchControl::default()).unwrap();
        assert_eq!(matches!(probed.found, ProbeVerdict::Found(_)), is_broken, "{seed}");
        assert_eq!(check_consistency(&PackedSystem::new(&web), 50, seed), Ok(()));
        assert_eq!(check_consistency(&avoiding, 50, seed), Ok(()));
        if seed % 40 == 0 {
            compare_check(&web, (has_one, is_broken), seed);
        }
        match (has_one, is_broken) {
            (false, _) => missing += 1,
            (true, true) => broken += 1,
            (true, false) => kept += 1,
        }
    }
    assert!(kept > 200 && broken > 400 && missing > 200, "{kept} {broken} {missing}");
}

/// Compares the verdicts of a check with the expected ones.
fn compare_check(web: &Web, (has_one, is_broken): (bool, bool), seed: u64) {
    let found = Check::new(web).memory(memory_beside_tests(512)).threads(1).run().unwrap();
    assert_eq!(found.states(), web.reached(|_| true).len() as u64, "{seed}");
    assert_eq!(found.example("a mark").unwrap().is_some(), has_one, "{seed}");
    // `sometimes` is violated once all states are visited, and then `eventually` is decided, too.
    match found.eventually("a mark is come to").unwrap() {
        EventuallyVerdict::Violated(run) => {
            assert!(is_broken, "{seed}");
            assert_avoiding_run(web, &run, seed);
        }
        EventuallyVerdict::Holds => assert!(!is_broken, "{seed}"),
        EventuallyVerdict::NotChecked => panic!("{seed}: all states were visited"),
    }
    assert_eq!(found.verdict() == SearchVerdict::Verified, has_one && !is_broken, "{seed}");
    let kinds: Vec<&str> = found.violations().iter().map(|it| it.kind).collect();
    let expected = [(!has_one, "sometimes"), (is_broken, "eventually")];
    let expected = expected.into_iter().filter(|it| it.0).map(|it| it.1);
    assert!(kinds.iter().copied().eq(expected), "{seed}: {kinds:?}");
    if !has_one {
        assert!(found.counterexample().unwrap().is_none());
    }
}

/// Asserts that a run starts in node 0, follows edges, avoids marked nodes, and repeats or stays at an end.
fn assert_avoiding_run(web: &Web, run: &spillway::report::ViolatingRun<'_>, seed: u64) {
    use spillway::model::StepOutcome::Successor;
    let node =
        |state: &[u8]| -> usize { run.model.describe(state)[0].1.to_string().parse().unwrap() };
    let states = run.steps.iter().map(|step| match &step.outcome {
        Successor(state) => node(state),
        fault => panic!("{seed}: {fault:?}"),
    });
    let states: Vec<usize> = states.collect();
    let back = run.loop_start().unwrap();
    assert_eq!((states[0], states.last()), (0, Some(&states[back])), "{seed}");
    assert!(back + 1 < states.len() && !states.iter().any(|&at| web.marked[at]), "{seed}");
    for pair in states.windows(2) {
        let ends = web.next[pair[0]].is_empty() && pair[0] == pair[1];
        assert!(ends || web.next[pair[0]].contains(&(pair[1] as u16)), "{seed}");
    }
}

/// A tree of numbers with two children each. The last one may lead back to an ancestor.
struct Tree {
    size: u32,
    returns: bool,
}

impl TransitionSystem for Tree {
    type State = u32;
    type Action = u32;

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, &at: &u32, actions: &mut Vec<u32>) {
        match (at + 1 == self.size, self.returns) {
            (true, true) => actions.push(2),
            _ => actions.extend([2 * at + 1, 2 * at + 2]),
        }
    }

    fn next(&self, _: &u32, &to: &u32) -> Option<u32> {
        (to < self.size).then_some(to)
    }

    fn properties(&self) -> Vec<Property<'_, u32>> {
        let is_end = |&at: &u32| 2 * at + 1 >= self.size && !(self.returns && at + 1 == self.size);
        vec![Property::eventually("an end", is_end)]
    }

    fn may_end(&self, _: &u32) -> bool {
        true
    }

    fn parameters(&self) -> String {
        format!("{} {}", self.size, self.returns)
    }
}

/// More states than the search in memory visits.
#[test]
fn eventually_is_checked_on_disk_and_resumed() {
    let _exclusive = exclusive_search();
    let folder = tempfile::tempdir().unwrap();
    for (returns, expected) in [(false, SearchVerdict::Verified), (true, SearchVerdict::Violated)] {
        let memory = memory_beside_tests(64);
        // The search in memory has a quarter of the budget, which grows with the memory of other tests.
        let levels = memory.ilog2() as usize - 5;
        let tree = Tree { size: (1 << levels) - 1, returns };
        let dir = folder.path().join(format!("{returns}"));
        let ask = || Check::new(&tree).memory(memory).dir(&dir);
        let stopped = ask().max_states(1000).run().unwrap();
        assert_eq!(stopped.verdict(), SearchVerdict::Incomplete);
        drop(stopped);
        let found = ask().run().unwrap();
        assert_eq!((found.verdict(), found.states()), (expected, (1 << levels) - 1));
        assert!(on_disk(&dir), "it was enough to look in memory");
        let run = match found.eventually("an end").unwrap() {
            EventuallyVerdict::Violated(run) => Some(run),
            EventuallyVerdict::Holds => None,
            EventuallyVerdict::NotChecked => panic!("all states were visited"),
        };
        if let Some(run) = &run {
            let shown = run.to_string();
            let (length, steps) = shown.split_once('\n').unwrap();
            assert_eq!(length, format!("run: {}", run.length()));
            assert!(steps.starts_with("    0  initial state\n"), "{shown}");
            assert!(steps.ends_with("back to the state after step 1\n"), "{shown}");
            assert!(found.to_string().contains(steps), "{shown}");
        }
        assert_eq!(
            run.map(|it| (it.loop_start(), it.steps.len())),
            returns.then_some((Some(1), levels + 1))
        );
        drop(found);
        assert_eq!(ask().run().unwrap().verdict(), expected);
    }
}

fn on_disk(dir: &Path) -> bool {
    dir.join("eventually-0").is_dir()
}

#[test]
fn a_stopped_check_leaves_eventually_open() {
    let _exclusive = exclusive_search();
    let tree = Tree { size: 500, returns: false };
    let folder = tempfile::tempdir().unwrap();
    let ask = || Check::new(&tree).memory(memory_beside_tests(512)).dir(folder.path());
    assert_eq!(ask().run().unwrap().verdict(), SearchVerdict::Verified);
    let control = Arc::new(SearchControl::default());
    control.stop();
    let found = ask().control(control).run().unwrap();
    assert_eq!(found.verdict(), SearchVerdict::Incomplete);
    assert!(found.to_string().contains("incomplete"), "{found}");
    let without = CheckSelection { invariants: false, ..CheckSelection::default() };
    let found = Check::new(&tree).memory(memory_beside_tests(512)).checks(without).run().unwrap();
    assert_eq!(found.verdict(), SearchVerdict::Verified);
    assert!(found.to_string().contains("not checked  eventually properties"), "{found}");
}

#[test]
fn violated_properties_are_printed() {
    let _exclusive = exclusive_search();
    let marked = vec![false, false, false, true];
    let web = Web { next: vec![vec![1], vec![2], vec![1], vec![]], marked };
    let shown = spillway::check(&web).unwrap().to_string();
    assert!(shown.contains("VIOLATED: sometimes: a mark, in no reachable state\n"), "{shown}");
    let marked = vec![false, false, false, true];
    let web = Web { next: vec![vec![1, 3], vec![2], vec![1], vec![]], marked };
    let found = Check::new(&web).memory(memory_beside_tests(512)).run().unwrap();
    let shown = found.to_string();
    let (verdict, _) = shown.split_once("  found ").unwrap();
    let expected = "\
counterexample: eventually: a mark is come to: 1 step, then a cycle of 2 steps;
           there may be a shorter one
    0  initial state
         state = 0
    1  1
         state: 0 -> 1
       <<<the loop starts here>>>
    2  2
         state: 1 -> 2
    3  1
         state: 2 -> 1
       back to the state after step 1

Web: VIOLATED: eventually: a mark is come to
  after    1 step, then a cycle of 2 steps
  sometimes  a mark: first after 1 step
";
    assert_eq!(verdict, expected);
}

/// Counts from 0 to `last`, and may stay for ever at any number but the forbidden one.
struct Counter {
    last: u32,
    forbidden: Option<u32>,
}

impl TransitionSystem for Counter {
    type State = u32;
    type Action = u32;

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, &at: &u32, actions: &mut Vec<u32>) {
        actions.extend([at, at + 1]);
    }

    fn next(&self, _: &u32, &to: &u32) -> Option<u32> {
        (to <= self.last).then_some(to)
    }

    fn properties(&self) -> Vec<Property<'_, u32>> {
        vec![
            Property::always("not the forbidden number", |at| Some(*at) != self.forbidden),
            Property::eventually("the last number", |&at| at == self.last),
        ]
    }
}

fn spillway(args: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_spillway"));
    let output = command.args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands report the same verdict as the program that searched.
#[test]
fn commands_report_eventually_from_the_directory() {
    let _exclusive = exclusive_search();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("search");
    let shown = dir.to_str().unwrap();
    let counter = Counter { last: 400, forbidden: None };
    let ask = || Check::new(&counter).memory(memory_beside_tests(512)).dir(&dir);
    drop(ask().max_states(3).run().unwrap());
    let json = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let before = json(spillway(&["status", shown, "--json"]));
    assert_eq!(
        (&before["verdict"], &before["eventually"][0]["verdict"]),
        (&"incomplete".into(), &"incomplete".into())
    );
    assert_eq!(ask().run().unwrap().verdict(), SearchVerdict::Violated);

    let status = json(spillway(&["status", shown, "--json"]));
    assert_eq!(status["verdict"], "violated", "{status}");
    let one = serde_json::json!({
        "name": "the last number", "verdict": "violated", "stem": 0, "cycle": 1
    });
    assert_eq!(status["eventually"], serde_json::json!([one]));
    let text = spillway(&["status", shown]);
    assert!(text.contains("VIOLATED: eventually: the last number"), "{text}");
    assert!(text.contains("the last number: violated, after"), "{text}");
    assert!(spillway(&["watch", shown]).contains("VIOLATED"), "{}", spillway(&["watch", shown]));
    let page = folder.path().join("page.html");
    spillway(&["report", shown, "--out", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("VIOLATED: eventually: the last number"));
    assert!(page.contains("class=\"bad\"") && !page.contains("class=\"good\""));
}

/// A check that was killed between visiting all states and checking runs leaves the verdict open.
#[test]
fn a_directory_without_an_eventually_verdict_is_incomplete() {
    let _exclusive = exclusive_search();
    let folder = tempfile::tempdir().unwrap();
    let counter = Counter { last: 400, forbidden: None };
    let model = PackedSystem::with_width(&counter, 2);
    drop(Check::new(&counter).memory(memory_beside_tests(512)).dir(folder.path()).run().unwrap());
    let verdicts = folder.path().join("eventually");
    let judged = std::fs::read(&verdicts).unwrap();
    std::fs::remove_file(&verdicts).unwrap();
    drop(model);
    // A stopped search has the same file as a check before it checks runs.
    let other = tempfile::tempdir().unwrap();
    drop(
        Check::new(&counter)
            .memory(memory_beside_tests(512))
            .dir(other.path())
            .max_states(3)
            .run()
            .unwrap(),
    );
    let open = std::fs::read(other.path().join("eventually")).unwrap();
    assert_ne!(open, judged);
    std::fs::write(&verdicts, open).unwrap();
    let shown = folder.path().to_str().unwrap();
    let text = spillway(&["status", shown]);
    let sentence = "incomplete: every reachable state was visited; the rest is decided by the program that created this directory";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(sentence), "{text}");
    assert!(text.contains("decided by the program that created this directory"), "{text}");
    assert!(!spillway(&["watch", shown]).contains("verified"));
}

#[test]
fn eventually_is_checked_once_all_states_are_visited() {
    let _exclusive = exclusive_search();
    let counter = Counter { last: 400, forbidden: Some(7) };
    let ask = || Check::new(&counter).memory(memory_beside_tests(512));
    let name = "the last number";
    let stopped = ask().run().unwrap();
    assert_eq!(stopped.verdict(), SearchVerdict::Violated);
    assert!(matches!(stopped.eventually(name), Ok(EventuallyVerdict::NotChecked)));
    assert!(matches!(stopped.eventually("another"), Ok(EventuallyVerdict::NotChecked)));
    let full_search = ask().keep_going().run().unwrap();
    assert!(matches!(full_search.eventually(name), Ok(EventuallyVerdict::Violated(_))));
    let kinds: Vec<&str> = full_search.violations().iter().map(|it| it.kind).collect();
    assert_eq!(kinds, ["invariant", "eventually"]);
    let cut = ask().keep_going().max_states(50).run().unwrap();
    assert_eq!((cut.verdict(), cut.violations().len()), (SearchVerdict::Violated, 1));
    let before = ask().keep_going().max_states(3).run().unwrap();
    assert_eq!((before.verdict(), before.violations().len()), (SearchVerdict::Incomplete, 0));
}

/// Two values of a type without `parameters`.
#[test]
fn another_value_of_the_same_type_is_rejected() {
    let _exclusive = exclusive_search();
    let folder = tempfile::tempdir().unwrap();
    let search = |last: u32, forbidden: Option<u32>| {
        let counter = Counter { last, forbidden };
        let check =
            Check::new(&counter).memory(memory_beside_tests(512)).state_bytes(2).dir(folder.path());
        check.max_states(50).run().map(|it| it.states()).map_err(|error| error.to_string())
    };
    let states = search(200, None).unwrap();
    assert!(states >= 50);
    for (last, forbidden) in [(199, None), (200, Some(150)), (100, None)] {
        let refused = search(last, forbidden).unwrap_err();
        assert!(refused.contains("another model"), "{refused}");
    }
    assert!(search(200, None).is_ok());
}
