//! Representatives compared with all permutations, on all states of small models and of random ones. With
//! `SPILLWAY_LARGE` there are many more random models.

mod blocks;
mod permute;
mod random;

use super::incidence::IncidencePlan;
use super::search::ElementBuffers;
use super::{SymmetryEffort, SymmetryModel};
use permute::{permutations as all_permutations, permuted};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use spillway_base::source::SourceMap;
use spillway_exec::{Interp, Jit};
use spillway_ir::layout::{CellId, Layout, ValueRanges};
use spillway_ir::validate::validate;
use spillway_ir::{Domain, Program, Type};
use spillway_lang::{Language, Options, dve, murphi};
use spillway_model::{
    CheckSelection, SearchLimits, SearchOutcome, Simulation, StateSpace, SuccessorSink, memory,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The most states of an examined model.
const STATES_MAX: usize = 5000;

fn symmetric_models() -> Vec<(String, Interp)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/murphi");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let models = files.into_iter().map(|file| {
        let text = std::fs::read_to_string(&file).unwrap();
        // The smallest model with something to permute.
        let defines = match text.contains("N: 3;") {
            true => vec![("N".to_owned(), 2)],
            false => Vec::new(),
        };
        (file.display().to_string(), load(&text, defines))
    });
    models
        .filter(|(_, model)| IncidencePlan::new(model.program(), model.layout()).is_some())
        .collect()
}

fn load(text: &str, defines: Vec<(String, i64)>) -> Interp {
    Interp::new(program(text, defines)).unwrap()
}

fn program(text: &str, defines: Vec<(String, i64)>) -> Program {
    program_in(&murphi::LANGUAGE, text, Options { defines, ..Options::default() })
}

fn load_dve(text: &str) -> Interp {
    Interp::new(program_in(&dve::LANGUAGE, text, Options::default())).unwrap()
}

fn program_in(language: &Language, text: &str, options: Options) -> Program {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let loaded = language
        .load(&mut sources, &options)
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors[0].render(&sources)));
    validate(&loaded.program).unwrap();
    loaded.program
}

/// Returns all states, if there are not too many.
fn states(model: &dyn StateSpace) -> Option<BTreeSet<Vec<u8>>> {
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

fn successors(model: &dyn StateSpace, of: Option<&[u8]>) -> Vec<Vec<u8>> {
    let mut buffer = Vec::new();
    let run = |out: &mut SuccessorSink| match of {
        None => model.initial(out),
        Some(state) => model.expand(state, out),
    };
    let _ = SuccessorSink::collect(model.width(), &mut buffer, run).unwrap();
    buffer.chunks(model.width()).map(<[u8]>::to_vec).collect()
}

/// Returns the orbit of a state.
fn orbit(plan: &IncidencePlan, model: &Interp, state: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut orbit = BTreeSet::new();
    let mut to: Vec<u32> = (0..plan.elements).collect();
    permutations(plan, 0, 0, &mut to, &mut |to| {
        let mut scratch = ElementBuffers::new(plan);
        let permuted = scratch.permuted(plan, model.layout(), state, to);
        orbit.insert(permuted);
    });
    orbit
}

/// Calls `visit` with every permutation of every set, from element `at` of set `set` on.
fn permutations(
    plan: &IncidencePlan,
    set: usize,
    at: u32,
    to: &mut [u32],
    visit: &mut dyn FnMut(&[u32]),
) {
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
fn each_orbit_has_one_representative_and_is_reachable() {
    let mut models = 0;
    for (name, model) in symmetric_models() {
        let plan = IncidencePlan::new(model.program(), model.layout()).unwrap();
        let new =
            |effort| SymmetryModel::new(&model, model.program(), model.layout(), effort).unwrap();
        let (exact, fast) = (new(SymmetryEffort::Exact), new(SymmetryEffort::Fast));
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
        models += 1;
    }
    assert!(models >= 8, "{models} models");
}

#[test]
fn both_efforts_keep_the_verdict_and_the_depth() {
    for (name, model) in symmetric_models() {
        let limits = SearchLimits::default();
        let plain = memory::search(&model, &limits).unwrap();
        for effort in [SymmetryEffort::Exact, SymmetryEffort::Fast] {
            let reduced =
                SymmetryModel::new(&model, model.program(), model.layout(), effort).unwrap();
            let outcome = memory::search(&reduced, &limits).unwrap();
            assert_eq!(outcome.verdict, plain.verdict, "{name}");
            assert_eq!(outcome.levels.len(), plain.levels.len(), "{name}");
            let checks = |outcome: &SearchOutcome| -> Vec<_> {
                outcome.findings.iter().map(|(check, finding)| (check, finding.level)).collect()
            };
            assert_eq!(checks(&outcome), checks(&plain), "{name}");
        }
    }
}

/// Relations that refinement alone does not distinguish: two triangles and a hexagon.
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
fn graphs_that_refinement_does_not_distinguish_are_distinguished() {
    let model = load(GRAPHS, Vec::new());
    let exact =
        SymmetryModel::new(&model, model.program(), model.layout(), SymmetryEffort::Exact).unwrap();
    let plan = IncidencePlan::new(model.program(), model.layout()).unwrap();
    let first = model.layout().variables[spillway_ir::VarId(0)].first.0;
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

/// The most states of an examined random model.
const RANDOM_STATES_MAX: usize = 600;

/// Searches without stopping at violations. Deadlocks are not checked.
fn explore(model: &dyn StateSpace) -> SearchOutcome {
    let checks = CheckSelection { deadlock: false, ..CheckSelection::default() };
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    memory::search(model, &limits).unwrap()
}

/// Returns the orbits of the states. The key is the least state of the orbit.
fn orbits(model: &Interp, all: &BTreeSet<Vec<u8>>) -> BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>> {
    let every_permutation = all_permutations(model.program());
    let mut orbits = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for state in all {
        if !seen.contains(state) {
            let orbit: BTreeSet<Vec<u8>> =
                every_permutation.iter().map(|to| permuted(model, to, state)).collect();
            seen.extend(orbit.iter().cloned());
            orbits.insert(state.clone(), orbit);
        }
    }
    orbits
}

/// Checks that a reduced executor visits one state for each orbit of the naive permutation. Its findings are those of
/// the model.
fn check_reduction(
    interp: &Interp,
    executor: &dyn StateSpace,
    all: &BTreeSet<Vec<u8>>,
) -> Result<(), TestCaseError> {
    let orbits = orbits(interp, all);
    let plain = explore(executor);
    prop_assert_eq!(plain.states(), all.len() as u64);
    for effort in [SymmetryEffort::Exact, SymmetryEffort::Fast] {
        let Some(reduced) = SymmetryModel::new(executor, interp.program(), interp.layout(), effort)
        else {
            return Ok(());
        };
        let Some(visited) = states(&reduced) else {
            return Err(TestCaseError::fail(format!("{effort:?}: more states than there are")));
        };
        for state in &visited {
            prop_assert!(all.contains(state), "{effort:?}: {state:?} is not reachable");
        }
        let mut represented_transitions = 0;
        for orbit in orbits.values() {
            let visited_members: Vec<_> =
                orbit.iter().filter(|state| visited.contains(*state)).collect();
            prop_assert!(!visited_members.is_empty(), "{effort:?}: nobody stands for {orbit:?}");
            for state in orbit {
                prop_assert!(all.contains(state), "the model is not symmetric");
                let representative = reduced.canonical(state);
                prop_assert_eq!(&representative, &reduced.canonical(visited_members[0]));
                prop_assert!(reduced.represents(visited_members[0], state));
            }
            if effort == SymmetryEffort::Exact {
                prop_assert_eq!(visited_members.len(), 1, "two states stand for one orbit");
                represented_transitions +=
                    orbit.len() * successors(executor, Some(visited_members[0])).len();
            }
        }
        let outcome = explore(&reduced);
        prop_assert_eq!(outcome.states(), visited.len() as u64);
        prop_assert_eq!(outcome.verdict, plain.verdict);
        prop_assert_eq!(outcome.levels.len(), plain.levels.len());
        let checks = |outcome: &SearchOutcome| -> Vec<_> {
            outcome.findings.iter().map(|(check, finding)| (check, finding.level)).collect()
        };
        prop_assert_eq!(checks(&outcome), checks(&plain));
        if effort == SymmetryEffort::Exact {
            prop_assert_eq!(represented_transitions as u64, plain.counters.transitions);
        }
    }
    Ok(())
}

/// Checks the reduction of a model. Returns the number of cells with fewer values than declared, or none for a large
/// model.
fn check_model(text: &str) -> Result<Option<usize>, TestCaseError> {
    let program = program(text, Vec::new());
    let narrow = Interp::new(program.clone()).unwrap();
    let declared = Interp::as_declared(program).unwrap();
    for interp in [&narrow, &declared] {
        let Some(all) = states(interp).filter(|all| all.len() <= RANDOM_STATES_MAX) else {
            return Ok(None);
        };
        check_reduction(interp, interp, &all)?;
        if let Ok(jit) = Jit::new(interp) {
            check_reduction(interp, &jit, &all)?;
        }
    }
    let cells = narrow.layout().cells.values();
    Ok(Some(cells.filter(|it| (it.least, it.most) != (it.low, it.high)).count()))
}

#[test]
fn reductions_of_random_models_agree_with_all_permutations() {
    let cases = if std::env::var_os("SPILLWAY_LARGE").is_some() { 5_000 } else { 150 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let numbers = prop::collection::vec(any::<u16>(), 20..160);
    let (checked, narrowed) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let result = TestRunner::new(config).run(&numbers.prop_map(|it| random::model(&it)), |text| {
        if let Some(cells) = check_model(&text)? {
            checked.set(checked.get() + 1);
            narrowed.set(narrowed.get() + u32::from(cells > 0));
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{}", failure.to_string().replace("\\n", "\n"));
    }
    println!("{} of {cases} models, {} of them narrowed", checked.get(), narrowed.get());
    assert!(checked.get() > cases / 2 && narrowed.get() > cases / 5);
}

/// A union that stores only constants; a union whose range begins inside; elements that are stored one at a time; a
/// scalarset without a value.
const NARROWED: [&str; 4] = [
    "type S: scalarset(2); E: enum {e0, e1}; U: union {S, E}; var b: array [S] of boolean; u: U;
     startstate begin for z: S do b[z] := true; end; u := e0; end;
     rule \"never\" u = e1 ==> begin u := e1; end;
     ruleset r: S do rule \"hit\" u = e0 & b[r] ==> begin error \"hit\"; end; end;",
    "type S: scalarset(3); E: enum {e0, e1, e2}; U: union {E, S}; var u: array [S] of U;
     startstate begin for z: S do u[z] := e2; end; end;
     ruleset r: S; t: S do rule u[r] = e2 ==> begin u[r] := t; end; end;
     ruleset r: S do rule u[r] != e2 ==> begin undefine u[r]; end; end;",
    "type S: scalarset(3); var s: S; t: S; b: array [S] of boolean;
     startstate begin for z: S do b[z] := false; end; end;
     ruleset r: S do rule !b[r] ==> begin b[r] := true; t := r; end; end;
     rule isundefined(s) & !isundefined(t) ==> begin s := t; undefine t; end;",
    "type S: scalarset(3); E: enum {e0, e1}; U: union {S, E}; var s: S; u: U; v: array [U] of S;
     startstate begin end;
     ruleset r: S do rule isundefined(s) & isundefined(v[e0]) ==> begin v[e0] := r; end; end;",
];

#[test]
fn reductions_of_narrowed_models_agree_with_all_permutations() {
    for text in NARROWED {
        match check_model(text) {
            Ok(cells) => assert!(cells.is_some()),
            Err(failure) => panic!("{failure}\n{text}"),
        }
    }
}

/// A layout accepts any ranges. A cell has codes for all elements of a scalarset, or for none if none is in the range.
#[test]
fn cells_are_narrowed_by_whole_scalarsets() {
    let program = program(NARROWED[1], Vec::new());
    let (id, variable) = program.variables.iter().next().unwrap();
    let Type::Array { element, .. } = program.types[variable.ty] else { unreachable!() };
    let Type::Scalar(scalar) = &program.types[element] else { unreachable!() };
    let Domain::Union(_) = scalar.domain else { unreachable!() };
    let cases = [
        ((0, 5), (0, 5)),
        ((0, 0), (0, 0)),
        ((1, 2), (1, 2)),
        ((2, 3), (2, 5)),
        ((4, 4), (3, 5)),
        ((5, 5), (3, 5)),
        ((1, 4), (1, 5)),
    ];
    for (range, expected) in cases {
        let mut ranges = ValueRanges {
            variables: program.variables.values().map(|_| None).collect(),
            channels: program.channels.values().map(|_| Vec::new()).collect(),
        };
        ranges.variables[id] = Some(range);
        let layout = Layout::with_ranges(&program, &ranges);
        let cell = layout.cells[layout.variables[id].first];
        assert_eq!((cell.least, cell.most), expected, "{range:?}");
        for value in cell.least..=cell.most {
            let code = cell.code(value) as u32;
            assert!(code > 0 && code >> cell.bits == 0);
            assert_eq!(cell.value(code), Some(value));
            assert_eq!(cell.codes(value, value), Some(code..code + 1));
        }
        assert_eq!(cell.value(0), None);
        assert_eq!(cell.codes(cell.least, cell.most + 1), None);
        assert!(cell.last() >= cell.most);
    }
}
