//! Programs for tests: their states and their relations.

use super::relation::{MemberRelation, VerificationGoal, dependence};
use spillway_analysis::access::AccessTable;
use spillway_analysis::dependence::{DependenceRelation, ProgramDependence};
use spillway_base::budget::AnalysisBudget;
use spillway_base::source::SourceMap;
use spillway_exec::Interp;
use spillway_lang::{Language, Options};
use spillway_model::{StateSpace, SuccessorSink};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Returns a program in Promela.
pub(super) fn interp(text: &str) -> Interp {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    let language = Language::from_name("promela").unwrap();
    let loaded = language.load(&mut sources, &Options::default()).unwrap();
    Interp::new(loaded.program).unwrap()
}

/// Passes the dependence of a program and the relation of its instances to a function.
pub(super) fn with_relation<R>(
    interp: &Interp,
    is_conditional: bool,
    and_then: impl FnOnce(&DependenceRelation<'_>, MemberRelation) -> R,
) -> R {
    let table = AccessTable::new(interp.program(), interp.layout()).unwrap();
    let dependence = dependence(&table, &AnalysisBudget::largest()).unwrap();
    let matrix = dependence.matrix(&AnalysisBudget::largest()).unwrap();
    let related = ProgramDependence { relation: &dependence, matrix: &matrix };
    let goal = VerificationGoal::default();
    let budget = AnalysisBudget::largest();
    let relation = MemberRelation::new(interp, related, &goal, is_conditional, &budget);
    and_then(&dependence, relation.unwrap())
}

/// Returns the reachable states with the successors of each.
pub(super) fn state_graph(interp: &Interp) -> BTreeMap<Vec<u8>, Vec<Vec<u8>>> {
    let collected = |run: &dyn Fn(&mut SuccessorSink)| {
        let mut all = Vec::new();
        let _ = SuccessorSink::collect(interp.width(), &mut all, |out| run(out)).unwrap();
        all.chunks_exact(interp.width()).map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (mut graph, mut open) = (BTreeMap::new(), collected(&|out| interp.initial(out)));
    while let Some(state) = open.pop() {
        if let Entry::Vacant(free) = graph.entry(state) {
            let after = collected(&|out| interp.expand(free.key(), out));
            open.extend(after.iter().cloned());
            free.insert(after);
        }
    }
    graph
}
