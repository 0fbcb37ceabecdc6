//! The key order changes only the encoding of states. In any order a model has the same counts, and the same steps in
//! the same states.

use proptest::prelude::*;
use spillway::analysis::static_key_order::static_order;
use spillway::exec::Interp;
use spillway::front::{Options, dve};
use spillway::ir::Layout;
use spillway::ir::layout::{GroupId, InvalidKeyOrder};
use spillway::model::{StateSpace, StepOutcome, SystemDescription, memory};
use spillway::search::SearchLimits;
use spillway::source::SourceMap;
use std::path::PathBuf;

/// Our models with arrays, buffered and rendezvous channels, faults and lockstep.
const MODELS: [&str; 6] =
    ["alternating_bit", "averager", "bounded_buffer", "elevator", "lockstep_counter", "msi"];

fn load(name: &str) -> Interp {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("models/dve/{name}.dve"));
    let mut sources = SourceMap::default();
    sources.add(name, std::fs::read_to_string(file).unwrap());
    let loaded = dve::LANGUAGE.load(&mut sources, &Options::default()).unwrap();
    Interp::new(loaded.program).unwrap()
}

/// Returns a model, and the same model with a pseudo-random order of its groups.
fn reordered(name: &str, mut seed: u64) -> (Interp, Interp) {
    let model = load(name);
    let mut order = model.layout().order.clone();
    for at in (1..order.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(at, (seed >> 33) as usize % (at + 1));
    }
    (model, load(name).with_order(&order).unwrap())
}

/// Converts a state of one layout to another.
fn convert(state: &[u8], from: &Layout, to: &Layout) -> Vec<u8> {
    let mut converted = vec![0; to.bytes];
    for cell in from.cells.keys() {
        to.set(&mut converted, cell, from.get(state, cell));
    }
    converted
}

/// Returns the outcome without the witnesses, which are least states and depend on the order.
fn counts(outcome: &spillway::search::SearchOutcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let found = outcome.findings.iter().map(|(check, it)| (check, it.count, it.level));
    let found: Vec<_> = found.collect();
    (outcome.verdict, outcome.levels.clone(), outcome.counters.transitions, found)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_order_gives_the_same_counts(name in prop::sample::select(&MODELS[..]), seed: u64) {
        let (model, other) = reordered(name, seed);
        for stop_on_violation in [false, true] {
            let limits = SearchLimits { stop_on_violation, ..SearchLimits::default() };
            let expected = memory::search(&model, &limits).unwrap();
            prop_assert_eq!(counts(&memory::search(&other, &limits).unwrap()), counts(&expected));
        }
    }

    #[test]
    fn every_order_gives_the_same_steps(name in prop::sample::select(&MODELS[..]), seed: u64) {
        let (model, other) = reordered(name, seed);
        let translate = |mut steps: Vec<spillway::model::StepDescription>| {
            for step in &mut steps {
                let state = match &mut step.outcome {
                    StepOutcome::Successor(state) => Some(state),
                    StepOutcome::Fault(fault) => fault.reached.as_mut(),
                };
                state.into_iter().for_each(|it| *it = convert(it, model.layout(), other.layout()));
            }
            steps
        };
        prop_assert_eq!(translate(model.starts()), other.starts());
        let mut states = vec![model.starts()];
        for round in 0..200 {
            let Some(step) = states.pop().and_then(|steps| {
                let at = (seed >> (round % 32)) as usize % steps.len().max(1);
                steps.into_iter().nth(at)
            }) else { break };
            let StepOutcome::Successor(state) = step.outcome else { break };
            let converted = convert(&state, model.layout(), other.layout());
            prop_assert_eq!(convert(&converted, other.layout(), model.layout()), state.clone());
            prop_assert_eq!(model.describe(&state), other.describe(&converted));
            prop_assert_eq!(model.violations(&state), other.violations(&converted));
            prop_assert_eq!(translate(model.steps(&state)), other.steps(&converted));
            states.push(model.steps(&state));
        }
    }

    #[test]
    fn groups_are_adjacent_and_fill_the_key(
        name in prop::sample::select(&MODELS[..]),
        seed: u64,
    ) {
        let (model, other) = reordered(name, seed);
        let layout = other.layout();
        let mut next = 0;
        for &group in &layout.order {
            let extent = layout.extent(group);
            prop_assert_eq!(extent.start, next);
            next = extent.end;
        }
        prop_assert_eq!((next, layout.bytes), (model.layout().bits, model.layout().bytes));
        let same = model.layout().cells == layout.cells;
        prop_assert_eq!(same, model.digest() == other.digest());
    }
}

#[test]
fn the_declared_order_is_the_default() {
    for name in MODELS {
        let model = load(name);
        let declared: Vec<GroupId> = model.layout().groups.keys().collect();
        let layout = model.layout().clone().reordered(&declared).unwrap();
        assert_eq!(&layout, model.layout());
        assert!(Layout::with_order(model.program(), &declared).is_ok());
        assert_eq!(load(name).with_order(&declared).unwrap().digest(), model.digest());
    }
}

#[test]
fn the_static_order_is_valid() {
    for name in MODELS {
        let model = load(name);
        let order = static_order(model.program(), model.layout());
        assert!(Layout::with_order(model.program(), &order).is_ok());
    }
}

#[test]
fn invalid_orders_are_refused() {
    let model = load("msi");
    let groups = model.layout().groups.len();
    let declared = model.layout().order.clone();
    let short = declared[1..].to_vec();
    let long = [declared.as_slice(), &declared[..1]].concat();
    let twice = [&declared[..1], &declared[..groups - 1]].concat();
    let unknown = [&declared[1..], &[GroupId(groups as u32)]].concat();
    for order in [short, long, twice, unknown, vec![]] {
        let refused = Layout::with_order(model.program(), &order);
        assert_eq!(refused, Err(InvalidKeyOrder { found: order.len(), groups }));
    }
}
