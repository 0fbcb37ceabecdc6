//! Tests of hunts and of shortening over small systems of numbers.

use super::*;
use crate::SearchControl;
use crate::trace::Counterexample;
use spillway_base::source::Span;
use spillway_model::{
    Capabilities, CheckSelection, FaultKind, MeasuredDistance, ProgramDescription, PropertyInfo,
    RuntimeFault, StateSpace, StateValue, StepDescription, StepOutcome, SuccessorSink,
    SystemDescription, Violation, any_bits,
};
use std::ops::ControlFlow;

/// A system whose states are numbers.
struct NumberSystem {
    starts: Vec<u32>,
    /// The successors of a state.
    next: Box<dyn Fn(u32) -> Vec<u32> + Send + Sync>,
    /// Whether a state violates the invariant.
    is_bad: Box<dyn Fn(u32) -> bool + Send + Sync>,
    /// The state with a step that fails, if there is one.
    fails_in: Option<u32>,
}

fn number(state: &[u8]) -> u32 {
    u32::from_be_bytes(state.try_into().unwrap())
}

const FAULT: Violation = Violation::Fault(FaultKind::Error, 0);
const INVARIANT: Violation = Violation::Property(0);

impl StateSpace for NumberSystem {
    fn width(&self) -> usize {
        4
    }

    fn bits(&self) -> u32 {
        32
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.starts.iter().for_each(|it| out.candidate(&it.to_be_bytes()));
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(4) {
            let all = (self.next)(number(state));
            all.iter().for_each(|it| out.candidate(&it.to_be_bytes()));
            self.violations(state).into_iter().for_each(|it| out.record_finding(it, state));
            if self.fails_in == Some(number(state)) {
                out.record_finding(FAULT, state);
            }
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(4)
    }

    fn digest(&self) -> [u8; 32] {
        [0; 32]
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

fn step(outcome: StepOutcome) -> StepDescription {
    StepDescription::unplaced(0, "step".into(), outcome)
}

impl SystemDescription for NumberSystem {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let all = (self.next)(number(state)).into_iter();
        let all = all.map(|it| step(StepOutcome::Successor(it.to_be_bytes().to_vec())));
        let fault = RuntimeFault::new(FaultKind::Error, "failed", Span::default());
        let fault = (self.fails_in == Some(number(state))).then(|| step(StepOutcome::Fault(fault)));
        all.chain(fault).collect()
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        for it in &self.starts {
            if visit(step(StepOutcome::Successor(it.to_be_bytes().to_vec()))).is_break() {
                return;
            }
        }
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        vec![PropertyInfo { kind: "invariant", name: "good".into(), span: Span::default() }]
    }

    fn action_name(&self, _: u32) -> String {
        "step".into()
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        let is_stuck = (self.next)(number(state)).is_empty() && self.fails_in.is_none();
        let bad = (self.is_bad)(number(state)).then_some(INVARIANT);
        is_stuck.then_some(Violation::Deadlock).into_iter().chain(bad).collect()
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        vec![("number".into(), StateValue::Number(number(state).into()))]
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}

fn options(strategy_name: Option<&str>) -> HuntOptions {
    let wanted = |it: &&StrategyEntry| strategy_name.is_none_or(|name| name == it.name);
    HuntOptions {
        seed: 1,
        threads: 1,
        walks: Some(5000),
        transitions: None,
        bytes: 64 << 20,
        strategies: STRATEGIES.iter().filter(wanted).collect(),
    }
}

fn run_hunt(target: &HuntTarget<'_>, options: &HuntOptions) -> HuntOutcome {
    hunt(target, options, &SearchControl::default(), &HuntProgress::default()).unwrap()
}

fn target<'m>(model: &'m dyn StateSpace, checks: CheckSelection) -> HuntTarget<'m> {
    let distance =
        |state: &[u8]| MeasuredDistance { distance: u32::MAX - number(state), evaluated: 0 };
    let distances = vec![TargetDistance::Successors, TargetDistance::Function(Box::new(distance))];
    HuntTarget { model, checks, accepts: None, distances }
}

/// Returns a ladder with many ways down: each state has one step up and some down. The end is bad.
fn ladder(end: u32) -> NumberSystem {
    NumberSystem {
        starts: vec![0, 1],
        next: Box::new(move |it| match it {
            _ if it == end => vec![it],
            _ => vec![it / 2, it + 1, it / 3],
        }),
        is_bad: Box::new(move |it| it == end),
        fails_in: None,
    }
}

/// Asserts that a finding is a path to the violation.
fn assert_path(model: &dyn StateSpace, outcome: &HuntOutcome, expected: Violation) -> Vec<Vec<u8>> {
    let Some(HuntFinding::Violation { check, states }) = outcome.finding.clone() else {
        panic!("{outcome:?}")
    };
    assert_eq!((outcome.end, check), (HuntEnd::Found, expected));
    let path = Counterexample::along(model, check, states.clone(), &SearchControl::default());
    let depth = path.unwrap().unwrap().depth();
    assert_eq!(depth, states.len() - 1 + usize::from(expected == FAULT));
    states
}

#[test]
fn each_strategy_finds_a_violation_and_shortening_finds_the_shortest_path() {
    let model = ladder(40);
    for it in &STRATEGIES {
        let outcome = run_hunt(&target(&model, CheckSelection::ALL), &options(Some(it.name)));
        let states = assert_path(&model, &outcome, INVARIANT);
        let by = FoundBy { strategy: it.name, thread: 0 };
        assert_eq!(outcome.found_by, Some(by));
        assert!(outcome.totals().walks > 0 && outcome.totals().depth_max >= 39);
        let limits = ShortenLimits { transitions: 10_000, bytes: 1 << 20 };
        let control = SearchControl::default();
        let short = shorten_path(&model, INVARIANT, states, limits, &control).unwrap();
        assert!(short.is_shortest, "{}", it.name);
        assert_eq!(short.states.len(), 40);
        assert_eq!(number(&short.states[0]), 1);
    }
}

#[test]
fn only_selected_faults_and_deadlocks_are_found() {
    let model = NumberSystem { fails_in: Some(7), ..ladder(1000) };
    let outcome = run_hunt(&target(&model, CheckSelection::ALL), &options(None));
    assert_eq!(number(assert_path(&model, &outcome, FAULT).last().unwrap()), 7);
    let stuck = NumberSystem {
        starts: vec![0],
        next: Box::new(|it| if it % 100 == 99 { vec![] } else { vec![it + 1, it + 2] }),
        is_bad: Box::new(|_| false),
        fails_in: None,
    };
    let outcome = run_hunt(&target(&stuck, CheckSelection::ALL), &options(None));
    assert_path(&stuck, &outcome, Violation::Deadlock);
    let checks = CheckSelection { deadlock: false, ..CheckSelection::ALL };
    let walks = HuntOptions { walks: Some(50), ..options(None) };
    let outcome = run_hunt(&target(&stuck, checks), &walks);
    assert_eq!((outcome.finding, outcome.end), (None, HuntEnd::Walks));
}

#[test]
fn a_dive_exhausts_a_small_system() {
    let model = NumberSystem { is_bad: Box::new(|_| false), ..ladder(300) };
    let outcome = run_hunt(&target(&model, CheckSelection::ALL), &options(None));
    assert_eq!((outcome.end, outcome.finding), (HuntEnd::Exhausted, None));
    let outcome = run_hunt(&target(&model, CheckSelection::ALL), &options(Some("uniform")));
    assert_eq!((outcome.end, outcome.totals().walks), (HuntEnd::Walks, 5000));
}

/// One path leads to the end. No turn is long enough for it, and no short dive deep enough.
#[test]
fn a_long_dive_continues_from_turn_to_turn() {
    const END: u32 = 60_000;
    let model = NumberSystem {
        starts: vec![0],
        next: Box::new(|it| if it < END { vec![it + 1, it / 2] } else { vec![it] }),
        is_bad: Box::new(|it| it == END),
        fails_in: None,
    };
    let checks = CheckSelection { deadlock: false, ..CheckSelection::ALL };
    let outcome = run_hunt(&target(&model, checks), &options(Some("dive")));
    assert_eq!(assert_path(&model, &outcome, INVARIANT).len(), END as usize + 1);
    // Two thirds of the transitions are those of the path, whose states have two successors.
    let taken = outcome.totals().transitions;
    assert!((u64::from(END)..4 * u64::from(END)).contains(&taken), "{taken}");
}

#[test]
fn the_transition_limit_ends_a_hunt() {
    let model = NumberSystem { is_bad: Box::new(|_| false), ..ladder(3_000_000) };
    let target = target(&model, CheckSelection { deadlock: false, ..CheckSelection::ALL });
    for (threads, transitions) in [(1, 1), (1, 30_000), (2, 30_001)] {
        let limit = Some(transitions);
        let options = HuntOptions { threads, transitions: limit, walks: None, ..options(None) };
        let outcome = run_hunt(&target, &options);
        let taken = outcome.totals().transitions;
        assert_eq!((outcome.end, outcome.finding), (HuntEnd::Transitions, None));
        // A turn ends with the state that reaches its limit.
        assert!((transitions..transitions + 100).contains(&taken), "{transitions}: {taken}");
    }
}

#[test]
fn hunts_within_a_search_adapt_to_memory_and_state_size() {
    let bounds = HuntBounds { seed: 1, transitions: 1000, bytes: 1 << 30, width: 40 };
    let options = bounds.options().unwrap();
    assert_eq!((options.threads, options.transitions), (1, Some(1000)));
    assert_eq!((options.bytes, options.strategies.len()), (BOUNDED_BYTES_MAX, STRATEGIES.len()));
    let large = HuntBounds { width: 1280, ..bounds }.options().unwrap();
    assert_eq!(large.transitions, Some(100));
    for (bytes, names) in [(8 << 20, &["dive", "uniform"][..]), (5 << 20, &["uniform"])] {
        let small = HuntBounds { bytes, ..bounds }.options().unwrap();
        assert!(small.strategies.iter().map(|it| it.name).eq(names.iter().copied()));
    }
    assert!(HuntBounds { bytes: 1000, ..bounds }.options().is_none());
}

#[test]
fn walks_are_divided_among_threads_and_unsuited_strategies_are_reported() {
    let model = NumberSystem { is_bad: Box::new(|_| false), ..ladder(300) };
    let none = HuntTarget { distances: Vec::new(), ..target(&model, CheckSelection::ALL) };
    let names: Vec<_> = STRATEGIES.iter().filter(|it| it.name != "dive").collect();
    let options = HuntOptions { threads: 3, walks: Some(101), strategies: names, ..options(None) };
    let outcome = run_hunt(&none, &options);
    assert_eq!((outcome.end, outcome.totals().walks), (HuntEnd::Walks, 101));
    assert_eq!(outcome.unsuited.len(), 1);
    assert_eq!(outcome.unsuited[0].0, "best-first");
    assert_eq!(
        outcome.strategies.iter().map(|it| it.name).collect::<Vec<_>>(),
        ["uniform", "guided"]
    );
}

#[test]
fn a_hunt_is_reproducible_by_its_seed_on_any_number_of_threads() {
    // A maze in which each seed takes another path.
    let model = NumberSystem {
        starts: vec![1],
        next: Box::new(|it| {
            (1..4).map(|by| it.wrapping_mul(2_654_435_761).rotate_left(by) ^ by).collect()
        }),
        is_bad: Box::new(|it| it % 5003 == 17),
        fails_in: None,
    };
    let target = target(&model, CheckSelection::ALL);
    for threads in [1, 2, 3] {
        let options = HuntOptions { threads, walks: None, ..options(None) };
        let first = run_hunt(&target, &options);
        assert_path(&model, &first, INVARIANT);
        for _ in 0..5 {
            let again = run_hunt(&target, &options);
            assert_eq!((&again.finding, again.found_by), (&first.finding, first.found_by));
            if threads == 1 {
                assert_eq!(again, first);
            }
        }
    }
    let finding =
        |seed| run_hunt(&target, &HuntOptions { seed, ..options(Some("uniform")) }).finding;
    assert_eq!(finding(5), finding(5));
    assert!((2..9).any(|seed| finding(seed) != finding(5)));
}

#[test]
fn only_accepting_runs_are_found() {
    let model = NumberSystem {
        starts: vec![0],
        next: Box::new(|it| if it < 60 { vec![it + 1, it / 2] } else { vec![it, 61 + it % 5] }),
        is_bad: Box::new(|_| false),
        fails_in: None,
    };
    for name in ["dive", "uniform", "guided"] {
        for (accepting, is_found) in [(63, true), (60, true), (70, false)] {
            let accepts = move |state: &[u8]| number(state) == accepting;
            let target = HuntTarget {
                accepts: Some(&accepts),
                distances: Vec::new(),
                ..target(&model, CheckSelection::NONE)
            };
            let options = HuntOptions { walks: Some(3000), ..options(Some(name)) };
            let outcome = run_hunt(&target, &options);
            assert_eq!(outcome.finding.is_some(), is_found, "{name} {accepting}");
            let Some(HuntFinding::Run(run)) = outcome.finding else { continue };
            let all: Vec<u32> = run.states.iter().map(|it| number(it)).collect();
            let next = all[1..].iter().chain([&all[run.back]]);
            assert!(all.iter().zip(next).all(|(&from, to)| (model.next)(from).contains(to)));
            assert!(all[run.back..].contains(&accepting));
        }
    }
}

#[test]
fn detours_are_cut_if_the_state_space_is_too_large() {
    // A wide space: each state has a hundred successors that lead nowhere soon.
    let model = NumberSystem {
        starts: vec![0],
        next: Box::new(|it| {
            let away = (0..100).map(|by| 1_000_000 + (it.wrapping_mul(101) + by) % 3_000_000_000);
            let on = (it < 1000).then_some([it + 1, it + 2]).into_iter().flatten();
            away.chain(on).collect()
        }),
        is_bad: Box::new(|it| it == 1000),
        fails_in: None,
    };
    let path: Vec<Vec<u8>> = (0..=1000_u32).map(|it| it.to_be_bytes().to_vec()).collect();
    let limits = ShortenLimits { transitions: 2_000_000, bytes: 64 << 20 };
    let control = SearchControl::default();
    let short = shorten_path(&model, INVARIANT, path, limits, &control).unwrap();
    assert_eq!((short.states.len(), short.is_shortest), (501, false));
    let path = Counterexample::along(&model, INVARIANT, short.states, &control).unwrap();
    assert_eq!(path.unwrap().depth(), 500);
}

#[test]
fn repeated_states_are_cut_after_a_position() {
    let path = |all: &[u8]| all.iter().map(|&it| vec![it]).collect::<Vec<_>>();
    assert_eq!(without_repeats(path(&[1, 2, 1, 3, 4, 3]), 0), path(&[1, 3]));
    assert_eq!(without_repeats(path(&[1, 2, 1, 3, 4, 3]), 3), path(&[1, 2, 1, 3]));
    assert_eq!(without_repeats(path(&[]), 0), path(&[]));
}

#[test]
fn a_hunt_without_a_suitable_strategy_is_reported() {
    let model = ladder(3);
    let none = HuntTarget { distances: Vec::new(), ..target(&model, CheckSelection::ALL) };
    let outcome = run_hunt(&none, &options(Some("best-first")));
    assert_eq!((outcome.end, outcome.unsuited.len()), (HuntEnd::Unsuited, 1));
}

#[test]
fn a_stopped_hunt_ends_at_once() {
    let model = NumberSystem {
        next: Box::new(|it| vec![it.wrapping_add(1)]),
        is_bad: Box::new(|_| false),
        ..ladder(3)
    };
    let control = SearchControl::default();
    control.stop();
    let options = HuntOptions { walks: None, ..options(None) };
    let target = target(&model, CheckSelection::ALL);
    let outcome = hunt(&target, &options, &control, &HuntProgress::default()).unwrap();
    assert_eq!((outcome.end, outcome.finding), (HuntEnd::Stopped, None));
}
