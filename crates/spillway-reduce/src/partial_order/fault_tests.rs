//! Random programs with random formulas, searched with injected faults. Without a fault the verdicts are those of the
//! unreduced product. With each fault some verdict differs. So such programs notice a fault of the cycle proviso, of
//! chains and of visibility.

use super::injected_faults::{InjectedFault, with_fault};
use super::{CycleProviso, PartialOrder, PartialOrderMethod, PartialOrderStrategy};
use crate::Reduction;
use crate::claim::{ClaimProduct, FiniteRunPolicy, NeverClaim};
use spillway_base::budget::AnalysisBudget;
use spillway_base::random::SplitMix64;
use spillway_base::source::SourceMap;
use spillway_exec::Interp;
use spillway_lang::ltl::{LtlFormula, translate};
use spillway_lang::{Language, Options, PropertySource, TemporalSpec};
use spillway_search::SearchControl;
use spillway_search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict, probe};
use spillway_search::liveness::proviso::faulty_proviso::{FaultyProviso, ProvisoFault};

/// The number of programs in which each fault must show.
const PROGRAMS: u64 = 2000;

/// The number of programs without a fault.
const SOUND_PROGRAMS: u64 = 300;

/// A fault of a search with partial order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchFault {
    /// A fault of the reduction.
    Reduction(InjectedFault),
    /// A fault of the cycle proviso.
    Proviso(ProvisoFault),
}

/// Returns a statement. Some are visible to the formula, which reads `x`, `y` and `z`.
fn statement(random: &mut SplitMix64) -> String {
    let (name, value) = (["x", "y", "z"][random.below(3)], random.below(3));
    match random.below(9) {
        0 | 1 => format!("{name} = {value}"),
        2 => format!("{name} == {value} -> {name} = {}", random.below(3)),
        3 => format!("{name} = {}", ["x", "y", "z"][random.below(3)]),
        4 => format!("l = {value}"),
        5 => "l = 1 - l".to_owned(),
        6 => format!("l == {} -> skip", random.below(2)),
        7 => format!("{name} != {value}"),
        _ => "skip".to_owned(),
    }
}

/// Returns a program of two or three processes. Most of them loop.
fn program(random: &mut SplitMix64) -> String {
    let mut text = "byte x, y, z;\n".to_owned();
    for number in 0..2 + random.below(2) {
        text += &format!("active proctype P{number}() {{ byte l;\n");
        for _ in 0..random.below(3) {
            text += &format!("{}; ", statement(random));
        }
        if random.below(4) > 0 {
            text += "do\n";
            for _ in 0..1 + random.below(2) {
                let [one, other] = [0; 2].map(|_| statement(random));
                text += &format!(":: {one}; {other}\n");
            }
            text += "od; ";
        }
        text += "skip }\n";
    }
    text
}

/// Returns a formula without the next operator.
fn formula(random: &mut SplitMix64, depth: u32) -> String {
    if depth == 0 {
        let name = ["x", "y", "z"][random.below(3)];
        return format!("({name} == {})", random.below(3));
    }
    let [one, other] = [0; 2].map(|_| formula(random, depth - 1));
    match random.below(7) {
        0 => format!("!({one})"),
        1 => format!("[] ({one})"),
        2 => format!("<> ({one})"),
        3 => format!("[]<> ({one})"),
        4 => format!("<>[] ({one})"),
        5 => format!("({one} U {other})"),
        _ => format!("({one} -> {other})"),
    }
}

/// Returns a random program with the automaton of the runs that violate a random formula, if there are some.
fn asked(seed: u64) -> Option<Interp> {
    let mut random = SplitMix64::new(seed);
    let mut sources = SourceMap::default();
    sources.add("model.pml", program(&mut random));
    let file = sources.add_property("formula", formula(&mut random, 2));
    let language = Language::from_name("promela").unwrap();
    let (options, source) = (Options::default(), PropertySource::Formula(file));
    let mut loaded = language.load_with_property(&mut sources, &options, &source).unwrap();
    let property = loaded.property.take().unwrap().with_grouped_propositions();
    let TemporalSpec::Formula(formula) = &property.spec else { panic!("it is a formula") };
    let propositions = property.propositions.iter().map(|it| it.text.clone()).collect();
    let automaton = translate(&LtlFormula::Not(Box::new(formula.clone())), propositions).unwrap();
    if automaton.is_empty() {
        return None;
    }
    property.add_as_claim(&mut loaded.program, "formula", &automaton);
    Some(Interp::new(loaded.program).unwrap())
}

/// Returns whether a product has a violating run. `None` if it has too many states.
fn is_violated(product: &ClaimProduct<'_>) -> Option<bool> {
    let limits = ProbeLimits { states: 2000, bytes: 1 << 28 };
    let accepts = |state: &[u8]| product.is_accepting(state);
    match probe(product, &accepts, limits, &SearchControl::default()).unwrap().found {
        ProbeVerdict::Open => None,
        found => Some(found != ProbeVerdict::None),
    }
}

/// Returns whether a program has a violating run, by a search with partial order. `None` if it is not applied.
fn is_violated_reduced(
    interp: &Interp,
    way: PartialOrderStrategy,
    fault: Option<SearchFault>,
) -> Option<bool> {
    let claim = NeverClaim::for_runs(interp, Some(FiniteRunPolicy::Stutter)).unwrap();
    let injected = match fault {
        Some(SearchFault::Reduction(fault)) => Some(fault),
        _ => None,
    };
    with_fault(injected, || {
        let (selector, largest) = (Box::new(interp.selector().unwrap()), AnalysisBudget::largest());
        let order = PartialOrder::for_infinite_runs(interp, selector, way, &largest).ok()?;
        let order = order.wrap(Box::new(interp));
        is_violated(&match fault {
            Some(SearchFault::Proviso(fault)) => claim.with(FaultyProviso::new(&*order, fault)),
            _ => claim.with(&*order),
        })
    })
}

/// Returns the number of the first programs up to one whose verdict differs from that of the unreduced product. `None` if
/// there is none among the given number.
fn first_difference(
    method: PartialOrderMethod,
    proviso: CycleProviso,
    fault: Option<SearchFault>,
    programs: u64,
) -> Option<u64> {
    let way = PartialOrderStrategy { method, proviso };
    (0..programs).find(|&seed| {
        let Some(interp) = asked(seed) else { return false };
        let claim = NeverClaim::for_runs(&interp, Some(FiniteRunPolicy::Stutter)).unwrap();
        let Some(expected) = is_violated(&claim.with(&interp)) else { return false };
        is_violated_reduced(&interp, way, fault).is_some_and(|found| found != expected)
    })
}

#[test]
fn random_formulas_notice_faults_of_partial_order() {
    let (plain, chains) = (CycleProviso::Static, CycleProviso::StaticChains);
    for method in [PartialOrderMethod::Local, PartialOrderMethod::Conditional] {
        for proviso in [plain, chains] {
            let difference = first_difference(method, proviso, None, SOUND_PROGRAMS);
            assert_eq!(difference, None, "{method:?} {proviso:?}");
        }
        for (proviso, fault) in [
            (plain, SearchFault::Proviso(ProvisoFault::NoExpansion)),
            (plain, SearchFault::Proviso(ProvisoFault::SkippedCycles)),
            (plain, SearchFault::Reduction(InjectedFault::HiddenChange)),
            (chains, SearchFault::Proviso(ProvisoFault::NoExpansion)),
            (chains, SearchFault::Proviso(ProvisoFault::SkippedCycles)),
            (chains, SearchFault::Reduction(InjectedFault::HiddenChange)),
            (chains, SearchFault::Reduction(InjectedFault::PassedVisible)),
        ] {
            let difference = first_difference(method, proviso, Some(fault), PROGRAMS);
            assert!(difference.is_some(), "{method:?} {proviso:?} {fault:?} is not noticed");
        }
    }
}
