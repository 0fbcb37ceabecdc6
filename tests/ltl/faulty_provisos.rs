//! Random programs with random formulas notice faults of the cycle proviso, in memory and on disk. `cargo test -p
//! spillway-reduce fault` injects faults of chains and of visibility.

use super::digraph::GraphRng;
use super::liveness_reductions::{formula, load_as, processes};
use crate::support::reductions::partial_order_plan;
use crate::support::tiny_plan;
use spillway::model::{FiniteRunPolicy, StateSpace};
use spillway::reduce::claim::ClaimProduct;
use spillway::reduce::partial_order::PartialOrderMethod;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use spillway::search::liveness::proviso::faulty_proviso::{FaultyProviso, ProvisoFault};
use spillway::search::{SearchControl, StateStorage};
use spillway::session::{
    CheckConfig, EmptinessSearch, EmptinessTarget, SearchDirectory, SearchJob, probe_reduced,
};

/// The number of programs in which each fault must show.
const PROGRAMS: u64 = 2000;

/// Returns whether a reduced product has a violating run. `None` if it has too many states.
fn is_violated(model: &dyn StateSpace, product: &ClaimProduct<'_>, on_disk: bool) -> Option<bool> {
    let control = SearchControl::default();
    let found = if on_disk {
        let (config, storage) = (CheckConfig::default(), StateStorage::default());
        let job = SearchJob::of_rust(&config, "faulty", model.digest(), &storage);
        let directory = SearchDirectory::create(None, &job, None).unwrap();
        let target = EmptinessTarget::accepting(model, |state| product.is_accepting(state));
        let plan = tiny_plan(1, model.width(), 64, 1 << 14);
        EmptinessSearch::of(target, plan, None, directory).run(None, &control).unwrap().found
    } else {
        let limits = ProbeLimits { states: 2000, bytes: 1 << 28 };
        probe_reduced(model, product, limits, &control).unwrap().found
    };
    (found != ProbeVerdict::Open).then_some(found != ProbeVerdict::None)
}

/// Returns the number of the first program with a violation that a search with a fault loses. `None` if there is none.
fn first_lost(fault: ProvisoFault, on_disk: bool) -> Option<u64> {
    let ended = FiniteRunPolicy::Stutter;
    let selection = partial_order_plan(PartialOrderMethod::Conditional).selection;
    (0..PROGRAMS).find(|&seed| {
        let mut rng = GraphRng(seed);
        let (text, formula) = (processes(&mut rng), formula(&mut rng, 2));
        let check = load_as("promela", &text, &formula).reduced(selection.clone(), ended);
        let Some(product) = check.product(&check.model.interp, ended) else { return false };
        if is_violated(&product, &product, false) != Some(true) {
            return false;
        }
        let searched = check.model.searched();
        if searched.model().capabilities().cycle_proviso.is_none() {
            return false;
        }
        let faulty = FaultyProviso::new(searched.model(), fault);
        is_violated(&faulty, &product, on_disk) == Some(false)
    })
}

#[test]
fn random_formulas_notice_faults_of_the_proviso() {
    for fault in [ProvisoFault::NoExpansion, ProvisoFault::SkippedCycles] {
        for on_disk in [false, true] {
            let lost = first_lost(fault, on_disk);
            println!("{fault:?} on disk: {on_disk}: {lost:?}");
            assert!(lost.is_some(), "{fault:?} is not noticed, on disk: {on_disk}");
        }
    }
}
