//! Compares verdicts on random formulas on random Promela models with SPIN's `pan -a`, for all runs and for weakly fair
//! runs.
//!
//! Each formula is checked as `check --ltl` does by default, and with listed reductions (`disk_searches.rs`), in memory and
//! on disk with buffers of a few states. For one formula of four, another search on disk, with reductions at random, is
//! killed, stopped and resumed.
//!
//! Half of the models have an additional process that can always move. For the others, a verdict that differs from
//! SPIN's is compared again with that process. If the verdicts are then equal, the cause is the documented one: a claim
//! while the system is blocked. `pan -f` misses fair runs that end, so fair runs are compared only if no run ends.

use super::disk_searches::{DiskSearch, InterruptionCensus, listed, load};
use super::spillway_answers::{self, Answer, Explored};
use super::spin_claims::{ClaimVerdicts, spin_claims};
use super::support::Random;
use super::tools::ToolOutcome;
use spillway::exec::ExecutionMode;
use spillway::front::promela;
use spillway::model::{SystemDescription, Violation};
use spillway::search::SearchVerdict;
use spillway::session::{CheckConfig, Fairness, ModelText};
use std::path::Path;

/// The formulas of each model. SPIN compiles one verifier for all of them.
const FORMULAS: usize = 6;

/// One verdict of so many is also that of a search with interruptions, which takes longer than all others.
const INTERRUPTED_EACH: usize = 4;

/// The deepest nesting of operators.
const DEPTH: usize = 3;

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
    /// The interruptions of searches on disk.
    pub interruptions: InterruptionCensus,
}

/// A model with formulas.
#[derive(Clone, Copy)]
struct AskedModel<'m> {
    text: &'m str,
    /// A folder for files.
    folder: &'m Path,
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
    let (mut census, model) = (FormulaCensus::default(), AskedModel { text: &text, folder });
    // `pan -f` does not regard a process as blocked by its `provided` clause or its priority, so it misses fair runs.
    let is_restricted = ["provided", "priority"].into_iter().any(|it| system.contains(it));
    let all: &[Fairness] = match !is_moving || is_restricted {
        true => &[Fairness::None],
        false => &[Fairness::None, Fairness::Weak],
    };
    for (number, formula) in formulas.iter().enumerate() {
        for &fairness in all {
            let Some(expected) = theirs.of(number, fairness == Fairness::Weak) else { continue };
            let found = model.verdicts(number, fairness, &mut random, &mut census);
            let Some(found) = found else { continue };
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
    let (model, census) = (AskedModel { text, folder }, &mut FormulaCensus::default());
    let found = model.verdicts(number, fairness, &mut Random::new(0), census);
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

impl AskedModel<'_> {
    /// Returns whether a formula is violated, by each way to check it. Returns `None` if some way is not possible.
    fn verdicts(
        self,
        number: usize,
        fairness: Fairness,
        random: &mut Random,
        census: &mut FormulaCensus,
    ) -> Option<Vec<bool>> {
        let AskedModel { text, folder } = self;
        let mut config = CheckConfig::default();
        config.properties.ltl = vec![format!("f{number}")];
        config.properties.fairness = fairness;
        config.limits.exec = ExecutionMode::Interp;
        let mut all = vec![check_verdict(text, &config)?];
        let is_invariant = load(text, number)?.invariant().is_some();
        census.invariants += u64::from(is_invariant);
        // Invariants have the reductions of all runs also with fairness.
        for selection in listed(if is_invariant { Fairness::None } else { fairness }) {
            let mut config = config.clone();
            config.search.reductions = selection.into();
            all.push(check_verdict(text, &config)?);
        }
        let stored = listed(fairness).len();
        let search = |reductions| DiskSearch { text, number, fairness, reductions };
        for reductions in 0..stored {
            all.extend(search(reductions).verdict());
        }
        if random.below(INTERRUPTED_EACH) == 0 {
            let interruptions = &mut census.interruptions;
            let interrupted = search(random.below(stored));
            all.extend(interrupted.interrupted_verdict(folder, random, interruptions));
        }
        census.searches += all.len() as u64;
        Some(all)
    }
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

impl FormulaCensus {
    /// Adds the counts of another model.
    pub fn add(&mut self, other: FormulaCensus) {
        let FormulaCensus { compared, violated, fair, invariants, .. } = other;
        let FormulaCensus { searches, explained, interruptions, .. } = other;
        self.compared += compared;
        self.violated += violated;
        self.fair += fair;
        self.invariants += invariants;
        self.searches += searches;
        self.explained += explained;
        self.interruptions.killed += interruptions.killed;
        self.interruptions.stopped += interruptions.stopped;
    }

    /// Prints the counts.
    pub fn print(&self) {
        let FormulaCensus { compared, violated, fair, invariants, .. } = *self;
        let FormulaCensus { searches, explained, interruptions, .. } = *self;
        let InterruptionCensus { killed, stopped } = interruptions;
        println!(
            "{compared} verdicts on formulas, {fair} of them for weakly fair runs, {violated} violations, \
             {invariants} times an invariant; {searches} searches, {killed} of them killed, with {stopped} sessions \
             stopped; {explained} differences as documented"
        );
    }
}
