//! Representatives against all permutations, on all states of our models that have few.

use super::plan::Plan;
use super::search::Scratch;
use super::{Effort, Symmetric};
use crate::exec::{Expansion, Interp, Model};
use crate::front::{self, Language, Options};
use crate::ir::layout::CellId;
use crate::ir::validate::validate;
use crate::search::{Limits, memory};
use crate::source::Sources;
use std::collections::BTreeSet;
use std::path::Path;

/// The most states of a model that is looked at.
const STATES_MAX: usize = 5000;

fn symmetric_models() -> Vec<(String, Interp)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/murphi");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let models = files.into_iter().map(|file| {
        let text = std::fs::read_to_string(&file).unwrap();
        // The smallest that has something to permute.
        let defines = match text.contains("N: 3;") {
            true => vec![("N".to_owned(), 2)],
            false => Vec::new(),
        };
        (file.display().to_string(), load(&text, defines))
    });
    models.filter(|(_, model)| Plan::new(model.program(), model.layout()).is_some()).collect()
}

fn load(text: &str, defines: Vec<(String, i64)>) -> Interp {
    let mut sources = Sources::default();
    sources.add("model.m", text);
    let options = Options { defines, ..Options::default() };
    let loaded = front::load(Language::Murphi, &mut sources, &options).unwrap();
    validate(&loaded.program).unwrap();
    Interp::new(loaded.program).unwrap()
}

/// All states, if there are not too many.
fn states(model: &dyn Model) -> Option<BTreeSet<Vec<u8>>> {
    let (mut found, mut next) = (BTreeSet::new(), successors(model, None));
    while let Some(state) = next.pop() {
        if found.len() > STATES_MAX {
            return None;
        }
        if found.insert(state.clone()) {
            next.extend(successors(model, Some(&state)));
        }
    }
    Some(found)
}

fn successors(model: &dyn Model, of: Option<&[u8]>) -> Vec<Vec<u8>> {
    let mut buffer = Vec::new();
    let run = |out: &mut Expansion| match of {
        None => model.initial(out),
        Some(state) => model.expand(state, out),
    };
    let _ = Expansion::collect(model.width(), &mut buffer, run).unwrap();
    buffer.chunks(model.width()).map(<[u8]>::to_vec).collect()
}

/// Every state that permuting makes of one.
fn orbit(plan: &Plan, model: &Interp, state: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut orbit = BTreeSet::new();
    let mut to: Vec<u32> = (0..plan.elements).collect();
    permutations(plan, 0, 0, &mut to, &mut |to| {
        let mut scratch = Scratch::new(plan);
        let permuted = scratch.permuted(plan, model.layout(), state, to);
        orbit.insert(permuted);
    });
    orbit
}

/// Calls `visit` with every permutation of every set, from element `at` of set `set` on.
fn permutations(plan: &Plan, set: usize, at: u32, to: &mut [u32], visit: &mut dyn FnMut(&[u32])) {
    let Some(about) = plan.sets.get(set) else { return visit(to) };
    if at == about.size {
        return permutations(plan, set + 1, 0, to, visit);
    }
    for other in at..about.size {
        let (one, other) = ((about.first + at) as usize, (about.first + other) as usize);
        to.swap(one, other);
        permutations(plan, set, at + 1, to, visit);
        to.swap(one, other);
    }
}

#[test]
fn each_orbit_has_one_representative_and_is_whole() {
    let mut looked_at = 0;
    for (name, model) in symmetric_models() {
        let plan = Plan::new(model.program(), model.layout()).unwrap();
        let new = |effort| Symmetric::new(&model, model.program(), model.layout(), effort).unwrap();
        let (exact, fast) = (new(Effort::Exact), new(Effort::Fast));
        let Some(all) = states(&model) else { continue };
        let (representatives, some) = (states(&exact).unwrap(), states(&fast).unwrap());
        let mut covered = BTreeSet::new();
        for representative in &representatives {
            let orbit = orbit(&plan, &model, representative);
            assert!(orbit.is_subset(&all), "{name}: an orbit leaves the state space");
            for state in &orbit {
                assert_eq!(exact.canonical(state), *representative, "{name}");
                assert!(covered.insert(state.clone()), "{name}: two representatives of an orbit");
            }
        }
        assert_eq!(covered.len(), all.len(), "{name}: a state is represented by none");
        assert!(some.is_subset(&all) && some.len() >= representatives.len(), "{name}");
        looked_at += 1;
    }
    assert!(looked_at >= 8, "{looked_at} models");
}

#[test]
fn both_efforts_have_the_verdict_and_the_depth_of_none() {
    for (name, model) in symmetric_models() {
        let limits = Limits::default();
        let plain = memory::search(&model, &limits).unwrap();
        for effort in [Effort::Exact, Effort::Fast] {
            let reduced = Symmetric::new(&model, model.program(), model.layout(), effort).unwrap();
            let outcome = memory::search(&reduced, &limits).unwrap();
            assert_eq!(outcome.verdict, plain.verdict, "{name}");
            assert_eq!(outcome.levels.len(), plain.levels.len(), "{name}");
            let checks = |outcome: &crate::search::Outcome| -> Vec<_> {
                outcome.findings.iter().map(|(check, finding)| (check, finding.level)).collect()
            };
            assert_eq!(checks(&outcome), checks(&plain), "{name}");
        }
    }
}

/// Relations that refining alone does not tell apart: two triangles and a hexagon.
const GRAPHS: &str = "
    type V: scalarset(6);
    var edge: array [V] of array [V] of boolean; round: 0..9; last: V;
    ruleset a: V; b: V do
      rule a != b & !edge[a][b] & round < 9 & (isundefined(last) | last != a) ==>
        edge[a][b] := true; edge[b][a] := true; round := round + 1; last := a;
      end;
    end;
    startstate
      for a: V; b: V do edge[a][b] := false; end; round := 0;
    end;";

#[test]
fn what_refining_cannot_tell_apart_is_tried() {
    let model = load(GRAPHS, Vec::new());
    let exact = Symmetric::new(&model, model.program(), model.layout(), Effort::Exact).unwrap();
    let plan = Plan::new(model.program(), model.layout()).unwrap();
    let first = model.layout().variables[crate::ir::VarId(0)].first.0;
    let graph = |edges: &[(u32, u32)]| {
        let mut state = successors(&model, None).remove(0);
        for &(a, b) in edges {
            for cell in [first + 6 * a + b, first + 6 * b + a] {
                model.layout().set(&mut state, CellId(cell), Some(1));
            }
        }
        state
    };
    let hexagon = graph(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]);
    let triangles = graph(&[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]);
    assert_ne!(exact.canonical(&hexagon), exact.canonical(&triangles));
    for state in [hexagon, triangles] {
        let representative = exact.canonical(&state);
        for equivalent in orbit(&plan, &model, &state) {
            assert_eq!(exact.canonical(&equivalent), representative);
        }
    }
}
