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

/// Answers that nothing is to stop so many times, and from then on that everything is.
struct StopsLate {
    patience: Cell<u64>,
    analysis: RefCell<String>,
    /// For each analysis, how often it asked, and how often of these it was told to stop.
    asked: RefCell<BTreeMap<String, [u64; 2]>>,
}

impl StopsLate {
    fn after(patience: u64) -> StopsLate {
        let analysis = RefCell::new("none".to_owned());
        StopsLate { patience: Cell::new(patience), analysis, asked: RefCell::default() }
    }
}

impl AnalysisSupervisor for StopsLate {
    fn should_stop(&self) -> bool {
        let stops = self.patience.get() == 0;
        self.patience.set(self.patience.get().saturating_sub(1));
        let mut asked = self.asked.borrow_mut();
        let [all, told] = asked.entry(self.analysis.borrow().clone()).or_default();
        *all += 1;
        *told += u64::from(stops);
        stops
    }

    fn analysis_started(&self, analysis: &str) {
        *self.analysis.borrow_mut() = analysis.to_owned();
    }
}

/// Processes of one kind that pass a token and count, so that each analysis has much to look at.
fn ring(count: usize) -> TextModel {
    let process = |at: usize| {
        let next = (at + 1) % count;
        format!(
            "process P{at} {{ byte own; state idle, busy, done; init idle;
             trans idle -> busy {{ guard token == {at}; effect own = own + 1; }},
               busy -> done {{ guard own < 9; effect slots[{at}] = own, token = {next}; }},
               done -> idle {{ guard slots[{next}] < 9; effect sum = (sum + 1) % 7; }}; }}\n"
        )
    };
    let processes: String = (0..count).map(process).collect();
    load("dve", &format!("byte token; byte sum; byte slots[{count}];\n{processes}system async;"))
}

/// Rules of a scalarset that may be undone.
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

/// Every reduction by itself, symmetry of scalarsets and of processes, and confluence and partial order by levels.
fn reductions() -> Vec<ReductionSelection> {
    let levels = |name: &str| {
        let parameters = ParameterValues::default().with("proviso", "levels");
        ReductionSelection::default().with(name, parameters)
    };
    let alone = REDUCTIONS.iter().map(|it| ReductionSelection::of([it.name]));
    alone.chain([scalarsets("exact").selection, levels("por"), levels("confluence")]).collect()
}

/// Prepares a search. For each analysis, how often it asked, and was told to stop.
fn asked(
    model: &TextModel,
    selection: &ReductionSelection,
    patience: u64,
) -> BTreeMap<String, [u64; 2]> {
    let supervisor = StopsLate::after(patience);
    let budget = AnalysisBudget::largest_watched(&supervisor);
    let request = ReductionConfig::from(selection.clone()).resolve(false);
    let plan = ReductionPlan::new(request.selection.clone(), CheckSelection::ALL);
    let runs = model.runnable(&plan, &budget, |it| Executor::new(it, ExecutionMode::Interp));
    let (limits, storage) = (SearchLimits::default(), StateStorage::default());
    let (control, budget) = (&SearchControl::default(), &budget);
    let settings = ReductionSettings { limits: &limits, storage: &storage, control, budget };
    model.reduced(runs, request, settings);
    supervisor.asked.into_inner()
}

#[test]
fn each_analysis_ends_where_it_is_told_to_stop() {
    let mut seen = BTreeMap::new();
    for model in [ring(20), rules(5)] {
        for reduce in reductions() {
            let undisturbed = asked(&model, &reduce, u64::MAX);
            let total: u64 = undisturbed.values().map(|it| it[0]).sum();
            for (name, [all, _]) in undisturbed {
                let most: &mut u64 = seen.entry(name).or_default();
                *most = (*most).max(all);
            }
            let mut patience = vec![0, 1, total / 3, total.saturating_sub(1)];
            patience.sort_unstable();
            patience.dedup();
            for patience in patience {
                for (name, [_, told]) in asked(&model, &reduce, patience) {
                    // What called it may ask once more.
                    assert!(told <= 3, "{name} goes on: told to stop {told} times ({reduce:?})");
                }
            }
        }
    }
    println!("{seen:?}");
    let often: Vec<_> = seen.iter().filter(|it| *it.1 >= 3).collect();
    assert!(seen.len() >= 12, "{seen:?}");
    assert!(often.len() >= 6, "few analyses do much: {seen:?}");
}
