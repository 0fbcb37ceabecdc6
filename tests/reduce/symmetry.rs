//! Counterexamples of symmetric searches are runs of the unreduced model. Each step is an enabled action that leads to
//! the next state. The last state violates the reported property, at the same depth as in a search of all states.
//!
//! With `SPILLWAY_CORPUS`, the same for external models with errors.

use crate::runs::{assert_is_run, configurations, explore, load};
use spillway::exec::Interp;
use spillway::model::{Simulation, StateSpace, SuccessorSink, SystemDescription, Violation};
use spillway::reduce::symmetry::{SymmetryEffort, SymmetryModel};
use std::path::PathBuf;

/// The steps of a walk.
const STEPS: usize = 300;

fn symmetric(model: &Interp, effort: SymmetryEffort) -> Option<SymmetryModel<'_>> {
    SymmetryModel::new(model, model.program(), model.layout(), effort)
}

fn count_valid_counterexamples(name: &str, model: &Interp) -> usize {
    let (full, shortest) = explore(model);
    let mut traces = 0;
    for effort in [SymmetryEffort::Exact, SymmetryEffort::Fast] {
        let Some(reduced) = symmetric(model, effort) else { continue };
        let (outcome, violations) = explore(&reduced);
        assert_eq!(outcome.verdict, full.verdict, "{name}");
        assert_eq!(violations.len(), shortest.len(), "{name}");
        for (trace, shortest) in violations.iter().zip(&shortest) {
            assert_is_run(name, model, trace);
            assert_eq!((trace.check, trace.depth()), (shortest.check, shortest.depth()), "{name}");
            traces += 1;
        }
    }
    traces
}

#[test]
fn counterexamples_are_runs_of_the_unreduced_model() {
    let all = configurations();
    let traces: usize =
        all.iter().map(|(name, model)| count_valid_counterexamples(name, model)).sum();
    assert!(traces >= 16, "{traces} traces");
}

/// The result of an expansion.
struct ExpansionResult {
    successors: Vec<Vec<u8>>,
    /// The violations, with their numbers.
    violations: Vec<(Violation, u64)>,
}

impl ExpansionResult {
    fn initial(model: &dyn StateSpace) -> ExpansionResult {
        Self::by(model, |out| model.initial(out))
    }

    fn of(model: &dyn StateSpace, state: &[u8]) -> ExpansionResult {
        Self::by(model, |out| model.expand(state, out))
    }

    fn by(model: &dyn StateSpace, run: impl FnOnce(&mut SuccessorSink)) -> ExpansionResult {
        let (successors, _, findings) = crate::support::agree::collected(model, usize::MAX, run);
        let violations = findings.iter().map(|(check, finding)| (check, finding.count));
        let successors = successors.chunks_exact(model.width()).map(Vec::from).collect();
        ExpansionResult { successors, violations: violations.collect() }
    }
}

/// A walk through representatives corresponds to a walk through the represented states.
#[test]
fn representatives_simulate_the_states_that_they_represent() {
    let mut random = 1u64;
    let mut draw = |options: &ExpansionResult| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let position = (random >> 33) as usize % options.successors.len().max(1);
        options.successors.get(position).cloned()
    };
    let mut walked = 0;
    for (name, model) in configurations() {
        for effort in [SymmetryEffort::Exact, SymmetryEffort::Fast] {
            let Some(reduced) = symmetric(&model, effort) else { continue };
            let (mut options, mut concrete) =
                (ExpansionResult::initial(&reduced), ExpansionResult::initial(&model));
            for _ in 0..STEPS {
                let Some(representative) = draw(&options) else { break };
                let mut possible = concrete.successors.into_iter();
                let real = possible.find(|state| reduced.represents(&representative, state));
                let real = real.unwrap_or_else(|| panic!("{name}: no transition leads there"));
                let description = reduced.description();
                assert_eq!(
                    description.violations(&representative),
                    model.violations(&real),
                    "{name}"
                );
                options = ExpansionResult::of(&reduced, &representative);
                concrete = ExpansionResult::of(&model, &real);
                assert_eq!(options.successors.len(), concrete.successors.len(), "{name}");
                assert_eq!(options.violations, concrete.violations, "{name}");
                walked += 1;
            }
        }
    }
    assert!(walked > 1000, "{walked} steps");
}

#[test]
fn counterexamples_of_the_corpus_are_runs() {
    let Some(folder) = std::env::var_os("SPILLWAY_CORPUS") else { return };
    let files: [(&str, &[(&str, i64)]); 3] = [
        ("cmurphi/adashbug.m", &[]),
        ("cmurphi/ns.m", &[("NumInitiators", 2)]),
        ("romp/h_MESI_werror.m", &[]),
    ];
    for (file, defines) in files {
        let defines: Vec<(String, i64)> =
            defines.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let model = load(&PathBuf::from(&folder).join("murphi").join(file), &defines);
        assert!(count_valid_counterexamples(file, &model) > 0, "{file}: no violation is found");
    }
}
