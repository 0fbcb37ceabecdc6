//! Compares verdicts on random formulas on random Promela models with SPIN's `pan -a`, for all runs and for weakly fair
//! runs.
//!
//! Each formula is checked as `check --ltl` does by default, and with listed reductions, in memory and on disk: with partial
//! order that stores all states, and with chains.
//!
//! Half of the models have an additional process that can always move. For the others, a verdict that differs from
//! SPIN's is compared again with that process. If the verdicts are then equal, the cause is the documented one: a claim
//! while the system is blocked. `pan -f` misses fair runs that end, so fair runs are compared only if no run ends.

use super::spillway_answers::{self, Answer, Explored};
use super::spin_claims::{ClaimVerdicts, spin_claims};
use super::support::{Random, tiny_plan};
use super::tools::ToolOutcome;
use spillway::budget::AnalysisBudget;
use spillway::exec::{ExecutionMode, Executor};
use spillway::front::{Options, promela};
use spillway::model::{FiniteRunPolicy, SystemDescription, Violation};
use spillway::reduce::{ParameterValues, ReductionPlan, ReductionSelection};
use spillway::search::liveness::nested_dfs::ProbeVerdict;
use spillway::search::{SearchControl, SearchVerdict, StateStorage};
use spillway::session::{
    CheckConfig, EmptinessSearch, Fairness, LivenessCheck, ModelText, ProductOptions,
    PropertyRequest, SearchBudget, SearchDirectory, SearchJob, with_product,
};
use spillway::source::SourceMap;
use std::path::Path;

/// The formulas of each model. SPIN compiles one verifier for all of them.
const FORMULAS: usize = 6;

/// The deepest nesting of operators.
const DEPTH: usize = 3;

/// The reductions that are listed explicitly.
const LISTED: [&str; 5] = ["por", "dead", "values", "states", "merge"];

/// Returns the listed reductions: with partial order that stores all states, and with chains.
fn listed() -> [ReductionSelection; 2] {
    let plain = ReductionPlan::of(LISTED).selection;
    let chains = ParameterValues::DEFAULT.with("proviso", "static+chains");
    [plain.clone(), plain.with("por", chains)]
}

/// The counts of compared verdicts.
#[derive(Clone, Copy, Debug, Default)]
pub struct FormulaCensus {
    /// The compared verdicts: on a formula, for all runs or for fair runs.
    pub compared: u64,
    /// The violations.
    pub violated: u64,
    /// The verdicts for fair runs.
    pub fair: u64,
    /// The formulas that are equivalent to invariants.
    pub invariants: u64,
    /// Spillway's searches that were compared.
    pub searches: u64,
    /// The verdicts with a documented difference.
    pub explained: u64,
}

/// The result for a model.
pub enum FormulaComparison {
    /// All verdicts are equal, or differ as documented.
    Equal(FormulaCensus),
    /// The model is not compared. Contains the reason.
    Skipped(String),
    /// The verdicts differ. Contains a description.
    Differs(String),
}

/// Compares the verdicts on random formulas of a model.
pub fn compare(text: &str, seed: u64, folder: &Path) -> FormulaComparison {
    let system = text.split("never {").next().unwrap_or(text);
    let explored = match spillway_answers::explore(&promela::LANGUAGE, system) {
        Answer::Explored(explored) => explored,
        Answer::Large => return FormulaComparison::Skipped("too many states".into()),
        Answer::Refused(_) => return FormulaComparison::Skipped("the model is rejected".into()),
    };
    let mut checks = explored.outcome.findings.iter().map(|(check, _)| check);
    if checks.any(|it| it != Violation::Deadlock) {
        return FormulaComparison::Skipped("a step or a property fails".into());
    }
    let names = variables(&explored, system);
    if names.is_empty() {
        return FormulaComparison::Skipped("no variable to observe".into());
    }
    let mut random = Random::new(seed);
    let formulas: Vec<String> =
        (0..FORMULAS).map(|_| formula(&mut random, &names, DEPTH)).collect();
    let moving = format!("{system}active proctype Moving() {{ do :: true -> true od }}\n");
    let moving = with_formulas(&moving, &formulas);
    let is_moving = random.below(2) == 0;
    let text = if is_moving { moving.clone() } else { with_formulas(system, &formulas) };
    let theirs = match spin(&text, folder) {
        ToolOutcome::Answer(theirs) => theirs,
        ToolOutcome::Refused(_) => {
            return FormulaComparison::Skipped("SPIN rejects the model".into());
        }
        ToolOutcome::GaveUp(why) => return FormulaComparison::Skipped(why),
    };
    let mut census = FormulaCensus::default();
    // `pan -f` does not regard a process as blocked by its `provided` clause or its priority, so it misses fair runs.
    let is_restricted = ["provided", "priority"].into_iter().any(|it| system.contains(it));
    let all: &[Fairness] = match !is_moving || is_restricted {
        true => &[Fairness::None],
        false => &[Fairness::None, Fairness::Weak],
    };
    for (number, formula) in formulas.iter().enumerate() {
        for &fairness in all {
            let Some(expected) = theirs.of(number, fairness == Fairness::Weak) else { continue };
            let Some(found) = verdicts(&text, number, fairness, &mut census) else { continue };
            census.compared += 1;
            census.fair += u64::from(fairness == Fairness::Weak);
            census.violated += u64::from(expected);
            let is_consistent = found.windows(2).all(|it| it[0] == it[1]);
            let described = format!(
                "formula {number}, {formula}, fairness {}: ours violated {found:?}, SPIN's {expected}",
                fairness.name()
            );
            if !is_consistent {
                return FormulaComparison::Differs(described);
            }
            if found[0] != expected {
                if is_moving || !is_equal(&moving, number, fairness, folder) {
                    return FormulaComparison::Differs(described);
                }
                census.explained += 1;
            }
        }
    }
    FormulaComparison::Equal(census)
}

/// Returns whether the verdict on a formula of a model is SPIN's.
fn is_equal(text: &str, number: usize, fairness: Fairness, folder: &Path) -> bool {
    let ToolOutcome::Answer(theirs) = spin(text, folder) else { return false };
    let found = verdicts(text, number, fairness, &mut FormulaCensus::default());
    let expected = theirs.of(number, fairness == Fairness::Weak);
    found.zip(expected).is_some_and(|(found, expected)| found.iter().all(|it| *it == expected))
}

/// Returns SPIN's verdicts. SPIN counts a claim as a process, so the text subtracts it.
fn spin(text: &str, folder: &Path) -> ToolOutcome<ClaimVerdicts> {
    spin_claims(&text.replace("_nr_pr", "(_nr_pr - 1)"), FORMULAS, folder)
}

fn with_formulas(system: &str, formulas: &[String]) -> String {
    let listed = formulas.iter().enumerate();
    let listed = listed.map(|(number, it)| format!("ltl f{number} {{ {it} }}\n"));
    format!("{system}\n{}", listed.collect::<String>())
}

/// Returns the names of the global variables except arrays and channels. SPIN numbers channels differently.
fn variables(explored: &Explored, system: &str) -> Vec<String> {
    let interp = &explored.interp;
    let starts = interp.starts();
    let first = starts.first().and_then(|it| match &it.outcome {
        spillway::model::StepOutcome::Successor(state) => Some(state.clone()),
        spillway::model::StepOutcome::Fault(_) => None,
    });
    let described = first.map_or(Vec::new(), |state| interp.describe(&state));
    let is_plain = |it: &str| it.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    let is_channel = |it: &str| system.contains(&format!("chan {it} "));
    described.into_iter().map(|it| it.0).filter(|it| is_plain(it) && !is_channel(it)).collect()
}

/// Returns a random formula over comparisons of variables.
fn formula(random: &mut Random, names: &[String], depth: usize) -> String {
    let proposition = |random: &mut Random| {
        let name = &names[random.below(names.len())];
        let operator = ["==", "!=", "<=", ">"][random.below(4)];
        format!("({name} {operator} {})", random.below(3))
    };
    if depth == 0 {
        return proposition(random);
    }
    let mut part = |depth: usize| formula(random, names, depth - 1);
    let (one, other) = (part(depth), part(depth));
    match random.below(11) {
        0 => proposition(random),
        // Invariants are frequent in practice.
        1 | 2 => format!("[] {}", proposition(random)),
        3 => format!("[] ({one})"),
        4 => format!("<> ({one})"),
        5 => format!("[]<> ({one})"),
        6 => format!("<>[] ({one})"),
        7 => format!("!({one})"),
        8 => format!("(({one}) && ({other}))"),
        9 => format!("(({one}) -> ({other}))"),
        _ => format!("(({one}) U ({other}))"),
    }
}

/// Returns whether the formula is violated, by each way to check it. Returns `None` if some way is not possible.
fn verdicts(
    text: &str,
    number: usize,
    fairness: Fairness,
    census: &mut FormulaCensus,
) -> Option<Vec<bool>> {
    let mut config = CheckConfig::default();
    config.properties.ltl = vec![format!("f{number}")];
    config.properties.fairness = fairness;
    config.limits.exec = ExecutionMode::Interp;
    let mut all = vec![check_verdict(text, &config)?];
    let check = load(text, number)?;
    let is_invariant = check.invariant().is_some();
    census.invariants += u64::from(is_invariant);
    // Fairness and reductions are combined for invariants alone.
    if fairness == Fairness::None || is_invariant {
        for selection in listed() {
            let mut config = config.clone();
            config.search.reductions = selection.into();
            all.push(check_verdict(text, &config)?);
        }
    }
    let stored = match fairness {
        Fairness::None => listed().to_vec(),
        Fairness::Weak => vec![ReductionSelection::default()],
    };
    for selection in stored {
        let check = load(text, number)?.without_invariant();
        all.extend(disk_verdict(check, selection, fairness, &config)?);
    }
    census.searches += all.len() as u64;
    Some(all)
}

/// Returns the verdict of a check of this configuration.
fn check_verdict(text: &str, config: &CheckConfig) -> Option<bool> {
    let model = ModelText::new("promela", "model.pml", text).ok()?;
    let report = model.check(config).run().unwrap_or_else(|error| panic!("{error}"));
    match report.verdict() {
        SearchVerdict::Verified => Some(false),
        SearchVerdict::Violated => Some(true),
        SearchVerdict::Incomplete => None,
    }
}

fn load(text: &str, number: usize) -> Option<LivenessCheck> {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    let name = format!("f{number}");
    let wanted = PropertyRequest::Formula(&name);
    LivenessCheck::load(&promela::LANGUAGE, sources, Options::default(), wanted).ok().map(|it| it.0)
}

/// Returns the verdict of a search on disk with small buffers and these reductions.
fn disk_verdict(
    check: LivenessCheck,
    selection: ReductionSelection,
    fairness: Fairness,
    config: &CheckConfig,
) -> Option<Option<bool>> {
    let check = check.reduced(selection, FiniteRunPolicy::Stutter);
    let control = SearchControl::default();
    let options = ProductOptions {
        budget: SearchBudget::of(&config.limits, false),
        finite_runs: FiniteRunPolicy::Stutter,
        fairness,
        shortest: false,
        hunts: false,
        control: &control,
    };
    let executor = |it| Executor::new(it, ExecutionMode::Interp);
    let largest = AnalysisBudget::largest();
    with_product(&check, options, &largest, executor, |product| {
        let Some(product) = product else { return Ok::<_, spillway::Error>(None) };
        let storage = StateStorage::default();
        let job = SearchJob::of_runs(config, product.check, product.searched, &storage);
        let directory = SearchDirectory::create(None, &job, None)?;
        let plan = tiny_plan(1, product.searched.model().width(), 64, 1 << 14);
        let mut search = EmptinessSearch::new(product, plan, None, directory);
        let found = search.run(None, &control)?.found;
        assert_ne!(found, ProbeVerdict::Open, "the search on disk ends");
        Ok(Some(found != ProbeVerdict::None))
    })
    .ok()
}

impl FormulaCensus {
    /// Adds the counts of another model.
    pub fn add(&mut self, other: FormulaCensus) {
        let FormulaCensus { compared, violated, fair, invariants, searches, explained } = other;
        self.compared += compared;
        self.violated += violated;
        self.fair += fair;
        self.invariants += invariants;
        self.searches += searches;
        self.explained += explained;
    }

    /// Prints the counts.
    pub fn print(&self) {
        let FormulaCensus { compared, violated, fair, invariants, searches, explained } = *self;
        println!(
            "{compared} verdicts on formulas, {fair} of them for weakly fair runs, {violated} violations, \
             {invariants} times an invariant; {searches} searches; {explained} differences as documented"
        );
    }
}
