//! Each analysis ends soon after a stop request, at any point of its progress.

use crate::support::reductions::scalarsets;
use spillway::budget::{AnalysisBudget, AnalysisSupervisor};
use spillway::exec::{ExecutionMode, Executor};
use spillway::front::{Language, Options};
use spillway::reduce::REDUCTIONS;
use spillway::reduce::{ParameterValues, ReductionConfig, ReductionPlan, ReductionSelection};
use spillway::search::{CheckSelection, SearchControl, SearchLimits, StateStorage};
use spillway::session::ReductionSettings;
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Requests a stop after a number of queries.
struct DelayedStop {
    queries_left: Cell<u64>,
    analysis: RefCell<String>,
    /// The number of queries by each analysis, and how many of them were answered with a stop request.
    queries: RefCell<BTreeMap<String, [u64; 2]>>,
}

impl DelayedStop {
    fn after(queries_left: u64) -> DelayedStop {
        let analysis = RefCell::new("none".to_owned());
        DelayedStop { queries_left: Cell::new(queries_left), analysis, queries: RefCell::default() }
    }
}

impl AnalysisSupervisor for DelayedStop {
    fn should_stop(&self) -> bool {
        let stop = self.queries_left.get() == 0;
        self.queries_left.set(self.queries_left.get().saturating_sub(1));
        let mut queries = self.queries.borrow_mut();
        let [all, stopped] = queries.entry(self.analysis.borrow().clone()).or_default();
        *all += 1;
        *stopped += u64::from(stop);
        stop
    }

    fn analysis_started(&self, analysis: &str) {
        *self.analysis.borrow_mut() = analysis.to_owned();
    }
}

/// Processes that pass a token and count, with much work for each analysis.
fn ring(count: usize) -> TextModel {
    let process = |number: usize| {
        let next = (number + 1) % count;
        format!(
            "process P{number} {{ byte own; state idle, busy, done; init idle;
             trans idle -> busy {{ guard token == {number}; effect own = own + 1; }},
               busy -> done {{ guard own < 9; effect slots[{number}] = own, token = {next}; }},
               done -> idle {{ guard slots[{next}] < 9; effect sum = (sum + 1) % 7; }}; }}\n"
        )
    };
    let processes: String = (0..count).map(process).collect();
    load("dve", &format!("byte token; byte sum; byte slots[{count}];\n{processes}system async;"))
}

/// Rules over a scalarset, some of them reversible.
fn rules(size: usize) -> TextModel {
    load(
        "murphi",
        &format!(
            "type N: scalarset({size}); S: enum {{ idle, wants, has }};
             var a: array [N] of S; b: array [N] of 0..9; owner: N;
             startstate for n: N do a[n] := idle; b[n] := 0; end; undefine owner; end;
             ruleset n: N do
               rule \"ask\" a[n] = idle ==> a[n] := wants; end;
               rule \"take\" a[n] = wants & isundefined(owner) ==> a[n] := has; owner := n; end;
               rule \"leave\" a[n] = has & b[n] < 9 ==> a[n] := idle; b[n] := b[n] + 1; undefine owner; end;
             end;
             invariant \"one\" forall n: N do a[n] = has -> owner = n end;"
        ),
    )
}

fn load(language: &str, text: &str) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let language = Language::from_name(language).unwrap();
    TextModel::load(language, sources, Options::default()).unwrap().0
}

/// Returns every reduction alone, symmetry of scalarsets, and partial order and confluence by levels.
fn reductions() -> Vec<ReductionSelection> {
    let levels = |name: &str| {
        let parameters = ParameterValues::default().with("proviso", "levels");
        ReductionSelection::default().with(name, parameters)
    };
    let alone = REDUCTIONS.iter().map(|it| ReductionSelection::of([it.name]));
    alone.chain([scalarsets("exact").selection, levels("por"), levels("confluence")]).collect()
}

/// Prepares a search. Returns the queries of each analysis, and how many were answered with a stop request.
fn queries(
    model: &TextModel,
    selection: &ReductionSelection,
    queries_left: u64,
) -> BTreeMap<String, [u64; 2]> {
    let supervisor = DelayedStop::after(queries_left);
    let budget = AnalysisBudget::largest_watched(&supervisor);
    let request = ReductionConfig::from(selection.clone()).resolve();
    let plan = ReductionPlan::new(request.selection.clone(), CheckSelection::ALL);
    let runs = model.runnable(&plan, &budget, |it| Executor::new(it, ExecutionMode::Interp));
    let (limits, storage) = (SearchLimits::default(), StateStorage::default());
    let (control, budget) = (&SearchControl::default(), &budget);
    let settings = ReductionSettings { limits: &limits, storage: &storage, control, budget };
    model.reduced(runs, request, settings);
    supervisor.queries.into_inner()
}

#[test]
fn analyses_end_soon_after_a_stop_request() {
    let mut most_queries = BTreeMap::new();
    for model in [ring(20), rules(5)] {
        for reduce in reductions() {
            let undisturbed = queries(&model, &reduce, u64::MAX);
            let total: u64 = undisturbed.values().map(|it| it[0]).sum();
            for (name, [all, _]) in undisturbed {
                let maximum: &mut u64 = most_queries.entry(name).or_default();
                *maximum = (*maximum).max(all);
            }
            let mut queries_left = vec![0, 1, total / 3, total.saturating_sub(1)];
            queries_left.sort_unstable();
            queries_left.dedup();
            for queries_left in queries_left {
                for (name, [_, stopped]) in queries(&model, &reduce, queries_left) {
                    // The caller of the analysis may query once more.
                    assert!(
                        stopped <= 3,
                        "{name} goes on: told to stop {stopped} times ({reduce:?})"
                    );
                }
            }
        }
    }
    println!("{most_queries:?}");
    let often: Vec<_> = most_queries.iter().filter(|it| *it.1 >= 3).collect();
    assert!(most_queries.len() >= 12, "{most_queries:?}");
    assert!(often.len() >= 6, "few analyses do much: {most_queries:?}");
}
