//! Accepting cycles in memory, where a depth-first search would follow a long path first.

use spillway::search::SearchControl;
use spillway::search::lasso::Lasso;
use spillway::search::liveness::in_memory::probe;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict};
use spillway::{PackedSystem, SystemDescription as _, TransitionSystem};

/// Counts by ones, twos or threes up to its end, where it stays; or, if it did not begin to count, goes to and fro.
struct Deep {
    end: u32,
}

/// Where it goes to and fro.
const ASIDE: u32 = 1 << 30;

impl TransitionSystem for Deep {
    type State = u32;
    /// How far it counts; 0 if it goes aside, or to and fro.
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

fn probed(deep: &Deep, accepts: impl Fn(u32) -> bool, limits: ProbeLimits) -> ProbeResult {
    let model = PackedSystem::new(deep);
    let number = |state: &[u8]| model.describe(state)[0].1.to_string().parse().unwrap();
    let accepts = |state: &[u8]| accepts(number(state));
    let told = probe(&model, &accepts, limits, &SearchControl::default()).unwrap();
    if let ProbeVerdict::Found(Lasso { states, back, .. }) = &told.found {
        let leads = |from: &[u8], to: &[u8]| {
            let (from, to) = (number(from), number(to));
            (0..=3).any(|by| deep.next(&from, &by) == Some(to))
        };
        assert!(states.windows(2).all(|it| leads(&it[0], &it[1])));
        assert!(leads(states.last().unwrap(), &states[*back]));
        assert!(states[*back..].iter().any(|it| accepts(it)) && number(&states[0]) == 0);
    }
    told
}

const LIMITS: ProbeLimits = ProbeLimits { states: 400_000, bytes: 1 << 30 };

#[test]
fn a_loop_beside_the_start_is_found_before_a_long_way_is_gone_to_its_end() {
    let told = probed(&Deep { end: 10_000_000 }, |at| at >= ASIDE, LIMITS);
    let ProbeVerdict::Found(lasso) = told.found else { panic!("{:?}", told.found) };
    assert_eq!((lasso.states.len(), lasso.back), (3, 1));
    assert!(told.states <= LIMITS.states / 4 + 4, "{}", told.states);
}

#[test]
fn where_few_states_are_all_they_are_counted_as_they_are() {
    // More than are looked at first, and fewer than are looked at near the start.
    for end in [60_000, 90_000] {
        let told = probed(&Deep { end }, |_| false, LIMITS);
        // Three ways to count on from each, and two steps aside, and one from the start.
        let steps = 3 * (u64::from(end) + 1) + 2 + 1;
        assert_eq!(
            told,
            ProbeResult {
                found: ProbeVerdict::None,
                states: end as u64 + 3,
                transitions: steps,
                faults: 0,
                strategy: None,
            }
        );
    }
    // Fewer than are looked at first; more than are looked at near the start.
    for end in [10, 150_000] {
        let told = probed(&Deep { end }, |_| false, LIMITS);
        assert_eq!((told.found, told.states), (ProbeVerdict::None, u64::from(end) + 3));
        let told = probed(&Deep { end }, |at| at == end, LIMITS);
        assert!(matches!(told.found, ProbeVerdict::Found(_)), "{end}");
    }
    let told = probed(&Deep { end: 10_000_000 }, |_| false, LIMITS);
    assert_eq!(told.found, ProbeVerdict::Open);
}

#[test]
fn no_more_states_are_kept_than_may_be() {
    for states in [10, 1000, 49_999, 50_000, 50_001, 70_000] {
        let told = probed(&Deep { end: 10_000_000 }, |_| false, ProbeLimits { states, ..LIMITS });
        assert_eq!(told.found, ProbeVerdict::Open, "{states}");
        assert!(told.states <= states + 4, "{states}: {}", told.states);
    }
}
