//! Accepting cycles in memory, where a depth-first search would follow a long path first.

use spillway::search::SearchControl;
use spillway::search::lasso::Lasso;
use spillway::search::liveness::in_memory::probe;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict};
use spillway::{PackedSystem, SystemDescription as _, TransitionSystem};

/// Counts by 1, 2 or 3 up to its end, and stays there. From 0 it may instead alternate between two states.
struct DeepCounter {
    end: u32,
}

/// The first of the two alternating states.
const ASIDE: u32 = 1 << 30;

impl TransitionSystem for DeepCounter {
    type State = u32;
    /// The increment; 0 for a step to or between the alternating states.
    type Action = u32;

    fn initial(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, _: &u32, actions: &mut Vec<u32>) {
        actions.extend([3, 2, 1, 0]);
    }

    fn next(&self, &at: &u32, &by: &u32) -> Option<u32> {
        match by {
            0 if at == 0 => Some(ASIDE),
            0 => (at >= ASIDE).then_some(at ^ 1),
            by => (at < ASIDE).then_some((at + by).min(self.end)),
        }
    }
}

fn probed(deep: &DeepCounter, accepts: impl Fn(u32) -> bool, limits: ProbeLimits) -> ProbeResult {
    let model = PackedSystem::new(deep);
    let number = |state: &[u8]| model.describe(state)[0].1.to_string().parse().unwrap();
    let accepts = |state: &[u8]| accepts(number(state));
    let result = probe(&model, &accepts, limits, &SearchControl::default()).unwrap();
    if let ProbeVerdict::Found(Lasso { states, back, .. }) = &result.found {
        let leads = |from: &[u8], to: &[u8]| {
            let (from, to) = (number(from), number(to));
            (0..=3).any(|by| deep.next(&from, &by) == Some(to))
        };
        assert!(states.windows(2).all(|it| leads(&it[0], &it[1])));
        assert!(leads(states.last().unwrap(), &states[*back]));
        assert!(states[*back..].iter().any(|it| accepts(it)) && number(&states[0]) == 0);
    }
    result
}

const LIMITS: ProbeLimits = ProbeLimits { states: 400_000, bytes: 1 << 30 };

#[test]
fn a_cycle_near_the_start_is_found_before_a_long_path_ends() {
    let result = probed(&DeepCounter { end: 10_000_000 }, |at| at >= ASIDE, LIMITS);
    let ProbeVerdict::Found(lasso) = result.found else { panic!("{:?}", result.found) };
    assert_eq!((lasso.states.len(), lasso.back), (3, 1));
    assert!(result.states <= LIMITS.states / 4 + 4, "{}", result.states);
}

#[test]
fn a_complete_probe_counts_each_state_once() {
    // More states than the first attempt visits, and fewer than the attempt near the start.
    for end in [60_000, 90_000] {
        let result = probed(&DeepCounter { end }, |_| false, LIMITS);
        // Three increments from each state, two steps between the alternating states, and one to them.
        let steps = 3 * (u64::from(end) + 1) + 2 + 1;
        assert_eq!(
            result,
            ProbeResult {
                found: ProbeVerdict::None,
                states: end as u64 + 3,
                transitions: steps,
                faults: 0,
                strategy: None,
            }
        );
    }
    // Fewer states than the first attempt visits; more than the attempt near the start.
    for end in [10, 150_000] {
        let result = probed(&DeepCounter { end }, |_| false, LIMITS);
        assert_eq!((result.found, result.states), (ProbeVerdict::None, u64::from(end) + 3));
        let result = probed(&DeepCounter { end }, |at| at == end, LIMITS);
        assert!(matches!(result.found, ProbeVerdict::Found(_)), "{end}");
    }
    let result = probed(&DeepCounter { end: 10_000_000 }, |_| false, LIMITS);
    assert_eq!(result.found, ProbeVerdict::Open);
}

#[test]
fn a_probe_stays_within_its_state_limit() {
    for states in [10, 1000, 49_999, 50_000, 50_001, 70_000] {
        let result =
            probed(&DeepCounter { end: 10_000_000 }, |_| false, ProbeLimits { states, ..LIMITS });
        assert_eq!(result.found, ProbeVerdict::Open, "{states}");
        assert!(result.states <= states + 4, "{states}: {}", result.states);
    }
}
