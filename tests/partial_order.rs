//! Partial-order reduction: what is chosen is persistent, and what is looked for is found where it is
//! found without.
//!
//! `SPILLWAY_LARGE` tries as many random programs as take minutes; `SPILLWAY_CORPUS` names a folder of
//! models of others that are tried, too.

// Some of it is for others.
#[allow(dead_code, unused_imports)]
#[path = "support/programs/mod.rs"]
mod generated;
mod support;

use generated::{Generated, programs};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use spillway::analysis::instances::InstanceId;
use spillway::exec::{Expansion, Interp, Model, Obligations, Selective, Violation};
use spillway::front::{Options, murphi};
use spillway::reduce::Reduction;
use spillway::reduce::partial_order::{Method, PartialOrder};
use spillway::reduce::symmetry::Effort;
use spillway::search::Checks;
use spillway::session::TextModel;
use spillway::source::Sources;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use support::is_large;

/// Programs with more states are not searched.
const STATES_MAX: usize = 3000;

/// States on runs of what is not chosen that are looked at.
const OUTSIDE_MAX: usize = 40;

/// States whose choice is looked at closely.
const CLOSE_MAX: usize = 25;

type Tried<T> = Result<T, TestCaseError>;

/// Nothing is looked for but deadlocks.
const DEADLOCKS: Checks =
    Checks { deadlock: true, assertions: false, invariants: false, faults: false, claims: false };

fn try_all<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Tried<()>) {
    let cases = if is_large() { 40 * cases } else { cases };
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    };
    if let Err(failure) = TestRunner::new(config).run(&strategy, test) {
        panic!("{failure}");
    }
}

/// What comes of an instance: successors, and whether anything else does.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Came {
    successors: BTreeSet<Vec<u8>>,
    left_out: u64,
    faults: BTreeSet<Violation>,
}

/// A model whose steps are taken one instance at a time.
struct One<'m> {
    by: &'m dyn Selective,
    width: usize,
}

impl One<'_> {
    fn enabled(&self, state: &[u8]) -> Vec<InstanceId> {
        let mut sets = self.by.instances().sets();
        self.by.enabled(state, &mut sets).unwrap();
        sets.iter(0).collect()
    }

    fn take(&self, instance: InstanceId, state: &[u8]) -> Came {
        let mut sets = self.by.instances().sets();
        sets.clear(1);
        sets.insert(0, instance);
        let mut buffer = Vec::new();
        let run = |out: &mut Expansion| self.by.expand_chosen(state, &sets, out);
        let collected = Expansion::collect(self.width, &mut buffer, run).unwrap();
        Came {
            successors: buffer.chunks_exact(self.width).map(<[u8]>::to_vec).collect(),
            left_out: collected.left_out,
            faults: collected.findings.iter().map(|(check, _)| check).collect(),
        }
    }

    /// What comes of one and then another, whatever the first leads to.
    fn both(&self, first: InstanceId, second: InstanceId, state: &[u8]) -> BTreeSet<Vec<u8>> {
        let between = self.take(first, state).successors;
        between.iter().flat_map(|state| self.take(second, state).successors).collect()
    }
}

/// Definition 7 of Godefroid and Pirottin (1993), on runs of a few steps: whatever happens that is not
/// chosen, what is chosen stays possible, comes to the same, and commutes with it.
fn is_persistent(one: &One, state: &[u8], chosen: &[InstanceId]) -> Tried<()> {
    let firsts: Vec<Came> = chosen.iter().map(|&it| one.take(it, state)).collect();
    let (mut seen, mut open) = (BTreeSet::from([state.to_vec()]), VecDeque::from([state.to_vec()]));
    while let Some(at) = open.pop_front() {
        let enabled = one.enabled(&at);
        for (&taken, first) in chosen.iter().zip(&firsts) {
            prop_assert!(enabled.contains(&taken), "{taken:?} is no more possible, in {at:02x?}");
            let now = one.take(taken, &at);
            let same = (now.successors.len(), now.left_out, &now.faults);
            prop_assert_eq!(same, (first.successors.len(), first.left_out, &first.faults));
        }
        for &other in enabled.iter().filter(|it| !chosen.contains(it)) {
            let came = one.take(other, &at);
            for &taken in chosen {
                let next = one.take(taken, &at).successors;
                for state in &next {
                    let is_possible = one.enabled(state).contains(&other);
                    prop_assert!(is_possible, "{taken:?} takes {other:?} away, in {at:02x?}");
                }
                let orders = [one.both(taken, other, &at), one.both(other, taken, &at)];
                let what = format!("{taken:?} and {other:?} do not commute, in {at:02x?}");
                prop_assert_eq!(&orders[0], &orders[1], "{}", what);
            }
            for state in came.successors {
                if seen.len() < OUTSIDE_MAX && seen.insert(state.clone()) {
                    open.push_back(state);
                }
            }
        }
    }
    Ok(())
}

/// What is violated, each with the level where it is first.
type Found = BTreeMap<Violation, usize>;

/// Collects what one look at states gives.
#[derive(Default)]
struct Look {
    buffer: Vec<u8>,
    found: BTreeSet<Violation>,
}

impl Look {
    fn at(width: usize, run: impl FnOnce(&mut Expansion)) -> Look {
        let mut buffer = Vec::new();
        let collected = Expansion::collect(width, &mut buffer, run).unwrap();
        let found = collected.findings.iter().map(|(check, _)| check).collect();
        Look { buffer, found }
    }
}

/// All states of a model and what is violated, level by level; nothing if there are too many. What is put
/// off is taken up when no successor of a state is new, together with the next level.
fn searched(model: &dyn Model, most: usize) -> Option<(BTreeSet<Vec<u8>>, Found)> {
    let width = model.width();
    let (mut seen, mut found, mut carried) = (BTreeSet::new(), Found::new(), Vec::new());
    let start = Look::at(width, |out| model.initial(out));
    let note = |found: &mut Found, look: &Look, level: usize| {
        for &it in &look.found {
            found.entry(it).or_insert(level);
        }
    };
    note(&mut found, &start, 0);
    let mut level: BTreeSet<Vec<u8>> =
        start.buffer.chunks_exact(width).map(<[u8]>::to_vec).collect();
    seen.extend(level.iter().cloned());
    for number in 0.. {
        if level.is_empty() && carried.is_empty() {
            break;
        }
        if seen.len() > most {
            return None;
        }
        let mut next = Vec::new();
        let mut owing: BTreeMap<&Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
        for state in &level {
            let look = Look::at(width, |out| match model.postpones() {
                None => model.expand(state, out),
                Some(model) => {
                    let mut owe = |_: usize, successor: &[u8]| {
                        owing.entry(state).or_default().push(successor.to_vec());
                        Ok(())
                    };
                    let run = |owed: &mut Obligations| {
                        model.expand_some(state, out, owed);
                        Ok(())
                    };
                    Obligations::collect(&mut owe, run).unwrap();
                }
            });
            note(&mut found, &look, number);
            next.push(look.buffer);
        }
        for state in std::mem::take(&mut carried) {
            let state: Vec<u8> = state;
            let rest = model.postpones().expect("it was put off");
            let look = Look::at(width, |out| rest.expand_rest(&state, out));
            note(&mut found, &look, number);
            next.push(look.buffer);
        }
        let candidates = next.iter().flat_map(|buffer| buffer.chunks_exact(width));
        let new: BTreeSet<Vec<u8>> =
            candidates.filter(|it| !seen.contains(*it)).map(<[u8]>::to_vec).collect();
        let is_owing = |owed: &Vec<Vec<u8>>| !owed.iter().any(|it| new.contains(it));
        carried = owing.iter().filter(|(_, it)| is_owing(it)).map(|(&it, _)| it.clone()).collect();
        seen.extend(new.iter().cloned());
        level = new;
    }
    Some((seen, found))
}

/// What counts of what is violated.
fn selected(model: &dyn Model, checks: &Checks, found: &Found) -> Found {
    let counts = |(check, _): &(&Violation, &usize)| checks.selects(model, **check);
    found.iter().filter(counts).map(|(&check, &level)| (check, level)).collect()
}

/// What was tried.
#[derive(Default)]
struct Census {
    searched: Cell<u32>,
    fewer: Cell<u32>,
    violated: Cell<u32>,
    close: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// That a program reduced by one method is searched to the same verdicts.
fn keeps_verdicts(
    interp: &Interp,
    whole: &(BTreeSet<Vec<u8>>, Found),
    method: Method,
    checks: &Checks,
    census: &Census,
) -> Tried<()> {
    let selector = || Box::new(interp.selector().unwrap());
    let Ok(reduction) = PartialOrder::of(interp, selector(), method, checks) else {
        return Ok(());
    };
    let reduced = reduction.over(Box::new(interp));
    let (states, found) = searched(&*reduced, usize::MAX).unwrap();
    prop_assert!(states.is_subset(&whole.0));
    let (found, expected) = (selected(interp, checks, &found), selected(interp, checks, &whole.1));
    let kinds = |found: &Found| found.keys().copied().collect::<BTreeSet<_>>();
    prop_assert_eq!(kinds(&found), kinds(&expected), "{} {:?}", method.name(), checks);
    if *checks == DEADLOCKS {
        prop_assert_eq!(&found, &expected, "where deadlocks are, by {}", method.name());
    }
    count(&census.searched);
    if states.len() < whole.0.len() {
        count(&census.fewer);
    }
    if !expected.is_empty() {
        count(&census.violated);
    }
    let one = One { by: &*selector(), width: interp.width() };
    let partial = whole.0.iter().filter_map(|state| {
        let chosen = reduction.chosen(state).unwrap();
        (chosen.len() < one.enabled(state).len()).then_some((state, chosen))
    });
    for (state, chosen) in partial.take(CLOSE_MAX) {
        prop_assert!(!chosen.is_empty(), "nothing is taken of {state:02x?}");
        is_persistent(&one, state, &chosen)?;
        count(&census.close);
    }
    Ok(())
}

/// A model of a symmetric program in which steps are put off, reduced by both.
#[test]
fn symmetry_stacks_on_partial_order() {
    let text = "
        type P: scalarset(3);
        var at: array [P] of 0..3; mark: array [P] of boolean; done: 0..3;
        startstate for p: P do at[p] := 0; mark[p] := false; end; done := 0; end;
        ruleset p: P do
          rule \"go\" at[p] = 0 ==> at[p] := 1; end;
          rule \"on\" at[p] = 1 ==> at[p] := 2; end;
          rule \"mark\" at[p] = 2 & !mark[p] ==> mark[p] := true; end;
          rule \"end\" at[p] = 2 & mark[p] & done < 3 ==> at[p] := 3; done := done + 1; end;
          rule \"again\" at[p] = 1 ==> at[p] := 0; end;
        end;
        invariant \"few\" done < 3;";
    let mut sources = Sources::default();
    sources.add("model.m", text);
    let (model, _) = TextModel::load(&murphi::LANGUAGE, sources, Options::default()).unwrap();
    let whole = searched(model.searched().model(), STATES_MAX).unwrap();
    for method in [Method::Stubborn, Method::Conditional] {
        let checks = Checks::default();
        let mut states = Vec::new();
        for (symmetry, chosen) in [
            (None, Some((method, checks))),
            (Some(Effort::Exact), None),
            (Some(Effort::Exact), Some((method, checks))),
        ] {
            let (reduced, _) =
                TextModel::load(&murphi::LANGUAGE, model.sources.clone(), Options::default())
                    .unwrap();
            let reduced = reduced.with_symmetry(symmetry).with_partial_order(chosen);
            let ready = reduced.searched();
            let (visited, found) = searched(ready.model(), STATES_MAX).unwrap();
            let kinds = |found: &Found| found.keys().copied().collect::<BTreeSet<_>>();
            assert_eq!(kinds(&found), kinds(&whole.1), "{symmetry:?} {chosen:?}");
            states.push(visited.len());
        }
        assert!(states[2] < states[0] && states[2] < states[1], "{states:?}");
    }
}

/// The checks that are tried.
fn all_checks() -> [Checks; 4] {
    let none = Checks { deadlock: false, ..DEADLOCKS };
    [
        DEADLOCKS,
        Checks::default(),
        Checks { assertions: true, ..none },
        Checks { invariants: true, ..none },
    ]
}

fn is_reduced_well(interp: &Interp, census: &Census) -> Tried<()> {
    if interp.selector().is_err() {
        return Ok(());
    }
    let Some(whole) = searched(interp, STATES_MAX) else { return Ok(()) };
    for checks in all_checks() {
        for method in Method::ALL {
            keeps_verdicts(interp, &whole, method, &checks, census)?;
        }
    }
    Ok(())
}

#[test]
fn random_programs_keep_their_verdicts() {
    let census = Census::default();
    try_all(60, programs(), |Generated(program)| {
        let interp = Interp::new(program).expect("what is generated can be executed");
        is_reduced_well(&interp, &census)
    });
    let Census { searched, fewer, violated, close } = &census;
    println!(
        "{} searches, {} of fewer states, {} with violations, {} choices",
        searched.get(),
        fewer.get(),
        violated.get(),
        close.get()
    );
}
