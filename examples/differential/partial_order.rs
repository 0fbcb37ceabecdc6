//! Partial order on random models: each method and each proviso must find the violations of the full search.

use crate::spillway_answers::Explored;
use crate::support::stored::{search, storages};
use crate::support::{Random, tiny_plan};
use spillway::budget::AnalysisBudget;
use spillway::exec::Interp;
use spillway::model::{CheckSelection, StateSpace, Violation};
use spillway::reduce::Reduction;
use spillway::reduce::partial_order::{
    CycleProviso, PartialOrder, PartialOrderMethod, PartialOrderStrategy,
};
use spillway::search::{SearchLimits, StateStorage};
use std::collections::BTreeSet;

/// The number of strategies for each model.
const STRATEGIES: usize = 6;

/// The methods that omit states.
const METHODS: [PartialOrderMethod; 6] = [
    PartialOrderMethod::Conditional,
    PartialOrderMethod::Stubborn,
    PartialOrderMethod::Local,
    PartialOrderMethod::Overman,
    PartialOrderMethod::Simultaneous,
    PartialOrderMethod::ConfluentConditional,
];

/// The number of reduced searches, and of those that stored fewer states.
#[derive(Clone, Copy, Default)]
pub struct ReducedSearches {
    pub all: u64,
    pub fewer: u64,
}

/// Panics unless some strategies find the violations of the full search. Returns the searches.
pub fn assert_partial_orders_agree(explored: &Explored, random: &mut Random) -> ReducedSearches {
    let interp = &explored.interp;
    let mut done = ReducedSearches::default();
    if has_claim(interp) {
        return done;
    }
    let mut strategies = vec![
        (PartialOrderMethod::Conditional, CycleProviso::Static, CheckSelection::ALL),
        (PartialOrderMethod::Conditional, CycleProviso::Levels, CheckSelection::ALL),
        (PartialOrderMethod::Conditional, CycleProviso::Static, deadlocks()),
    ];
    while strategies.len() < STRATEGIES {
        let method = METHODS[random.below(METHODS.len())];
        let proviso = CycleProviso::ALL[random.below(CycleProviso::ALL.len())];
        let checks = if random.below(3) == 0 { deadlocks() } else { CheckSelection::ALL };
        strategies.push((method, proviso, checks));
    }
    for (method, proviso, checks) in strategies {
        let strategy = PartialOrderStrategy { method, proviso };
        if let Some(states) = assert_strategy_agrees(explored, strategy, &checks, random) {
            done.all += 1;
            done.fewer += u64::from(states < explored.outcome.states());
        }
    }
    done
}

fn deadlocks() -> CheckSelection {
    CheckSelection { deadlock: true, ..CheckSelection::NONE }
}

fn has_claim(interp: &Interp) -> bool {
    use spillway::ir::PropertyKind;
    let mut properties = interp.program().properties.values();
    properties.any(|it| matches!(it.kind, PropertyKind::Claim(_)))
}

/// Returns the number of stored states, or `None` if the strategy does not apply.
fn assert_strategy_agrees(
    explored: &Explored,
    strategy: PartialOrderStrategy,
    checks: &CheckSelection,
    random: &mut Random,
) -> Option<u64> {
    let interp = &explored.interp;
    let selector = Box::new(interp.selector().ok()?);
    let budget = AnalysisBudget::largest();
    let reduction = PartialOrder::of(interp, selector, strategy, checks, &budget).ok()?;
    let reduced = reduction.wrap(Box::new(interp));
    let plan = tiny_plan(1, interp.width(), 4 + random.below(2_000) as u64, 1 << 14);
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let storage = storages(interp).into_iter().find(|it| matches!(it, StateStorage::Sorted(_)))?;
    let (outcome, _) = search(&[&*reduced], &storage, &[plan], &[], &limits);
    let violations = |all: &mut dyn Iterator<Item = Violation>| -> BTreeSet<Violation> {
        all.filter(|it| checks.selects(interp, *it)).collect()
    };
    let found = violations(&mut outcome.findings.iter().map(|(it, _)| it));
    let expected = violations(&mut explored.outcome.findings.iter().map(|(it, _)| it));
    assert_eq!(found, expected, "partial order {strategy:?} with {checks:?}");
    assert!(outcome.states() <= explored.outcome.states(), "{strategy:?} stores more states");
    Some(outcome.states())
}
