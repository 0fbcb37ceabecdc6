//! The table of strategies. Help, documents and reports follow from it.

use super::best_first::BestFirst;
use super::dive::DepthFirstDives;
use super::random_walk::RandomWalks;
use super::target::HuntTarget;
use super::worker::{HuntStrategy, HuntWorker};

/// A parameter of a strategy, with its fixed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrategyParameter {
    /// The name.
    pub name: &'static str,
    /// The value, or how it develops.
    pub value: &'static str,
}

/// A strategy.
pub struct StrategyEntry {
    /// The name.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [StrategyParameter],
    /// The length of its turns in proportion to those of others.
    pub weight: u64,
    /// Returns why the strategy cannot be used for a target, if it cannot.
    pub unsuited: fn(&HuntTarget<'_>) -> Option<&'static str>,
    /// Creates the strategy of a thread.
    pub(super) create: fn(&HuntWorker<'_>) -> Box<dyn HuntStrategy>,
}

/// All strategies, in the order of turns.
pub static STRATEGIES: [StrategyEntry; 4] = [
    StrategyEntry {
        name: "dive",
        summary: "depth-first, with a bounded set of visited states, each dive in another order of successors; one \
                  goes on from turn to turn",
        parameters: &[
            StrategyParameter {
                name: "depth limit",
                value: "10,000; doubles after a dive that meets it",
            },
            StrategyParameter {
                name: "order",
                value: "as generated, by transition, reversed, shuffled",
            },
            StrategyParameter {
                name: "long dive",
                value: "two thirds of each turn; goes on in the next turn, up to a depth of 100,000",
            },
        ],
        weight: 3,
        unsuited: |_| None,
        create: |worker| Box::new(DepthFirstDives::new(worker)),
    },
    StrategyEntry {
        name: "uniform",
        summary: "random walks that avoid their own states and restart",
        parameters: &[StrategyParameter {
            name: "depth limit",
            value: "128; doubles after 4 walks that meet it",
        }],
        weight: 1,
        unsuited: |_| None,
        create: |_| Box::new(RandomWalks::uniform()),
    },
    StrategyEntry {
        name: "guided",
        summary: "random walks that prefer rare transitions and new states",
        parameters: &[
            StrategyParameter {
                name: "depth limit",
                value: "128; doubles after 4 walks that meet it",
            },
            StrategyParameter {
                name: "classes of transitions",
                value: "65,536, by the bits that change",
            },
            StrategyParameter { name: "factor for a new state", value: "4" },
        ],
        weight: 1,
        unsuited: |_| None,
        create: |worker| Box::new(RandomWalks::guided(worker.bytes)),
    },
    StrategyEntry {
        name: "best-first",
        summary: "expands the state nearest to a violation first",
        parameters: &[StrategyParameter {
            name: "distance",
            value: "failing parts of the negated invariants; for deadlocks the number of successors",
        }],
        weight: 1,
        unsuited: |target| match (target.is_of_runs(), target.distances.is_empty()) {
            (true, _) => Some("there is no distance to a run"),
            (false, true) => Some("the model gives no distance to these violations"),
            (false, false) => None,
        },
        create: |worker| Box::new(BestFirst::new(worker.bytes, worker.width())),
    },
];

/// Returns the strategy of a name.
pub fn strategy(name: &str) -> Option<&'static StrategyEntry> {
    STRATEGIES.iter().find(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::super::{dive, random_walk};
    use super::*;
    use spillway_base::numbers::grouped;

    #[test]
    fn the_table_has_the_constants_of_the_code() {
        let value = |name: &str, parameter: &str| {
            let entry = strategy(name).unwrap();
            entry.parameters.iter().find(|it| it.name == parameter).unwrap().value
        };
        assert!(value("dive", "depth limit").starts_with(&grouped(dive::DEPTH_FIRST as u64)));
        assert!(value("dive", "long dive").ends_with(&grouped(dive::DEPTH_LONG as u64)));
        for walks in ["uniform", "guided"] {
            let depth = value(walks, "depth limit");
            let (limit, at_limit) = (random_walk::DEPTH_FIRST, random_walk::WALKS_AT_LIMIT);
            assert_eq!(depth, format!("{limit}; doubles after {at_limit} walks that meet it"));
        }
        let classes = value("guided", "classes of transitions");
        assert!(classes.starts_with(&grouped(random_walk::CLASSES as u64)));
        let factor = value("guided", "factor for a new state");
        assert_eq!(factor, random_walk::WEIGHT_OF_NEW.to_string());
        assert_eq!(STRATEGIES.iter().filter(|it| strategy(it.name).is_some()).count(), 4);
        assert!(strategy("no such strategy").is_none());
    }
}
