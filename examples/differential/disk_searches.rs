//! Searches on disk for a violating run, with buffers of a few states: in one session, or with interruptions.
//!
//! The first session of an interrupted search is another process, which is killed. The next ones have deadlines, which
//! become longer until there is a verdict.

use super::support::{Random, tiny_plan};
use spillway::budget::AnalysisBudget;
use spillway::exec::{ExecutionMode, Executor};
use spillway::front::{Options, promela};
use spillway::model::FiniteRunPolicy;
use spillway::reduce::{ParameterValues, ReductionPlan, ReductionSelection};
use spillway::search::liveness::nested_dfs::ProbeVerdict;
use spillway::search::{SearchControl, StateStorage};
use spillway::session::{
    CheckConfig, EmptinessSearch, Fairness, LivenessCheck, ProductOptions, PropertyRequest,
    SearchBudget, SearchDirectory, SearchJob, with_product,
};
use spillway::source::SourceMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The flag of a session in a process of its own. Its values are a folder, the number of the formula, the fairness and the
/// number of the reductions.
pub const SESSION: &str = "--session";

/// The file with the model in the folder of an interrupted search, and its search directory.
const MODEL: &str = "interrupted.pml";
const DIRECTORY: &str = "interrupted";

/// The longest time until a session is killed.
const KILL_MS_MAX: usize = 40;

/// The time between checkpoints. Each takes some milliseconds.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(5);

/// The time of the first session that ends at a deadline. Each next one has twice as much.
const FIRST_DEADLINE: Duration = Duration::from_millis(4);

/// The reductions of which each search uses one list: for all runs, and for weakly fair runs.
pub fn listed(fairness: Fairness) -> Vec<ReductionSelection> {
    let of = |names: &[&str]| ReductionPlan::of(names.iter().copied()).selection;
    match fairness {
        Fairness::None => {
            let plain = of(&["por", "dead", "values", "states", "merge"]);
            let chains = ParameterValues::DEFAULT.with("proviso", "static+chains");
            vec![plain.clone(), plain.with("por", chains)]
        }
        Fairness::Weak => vec![of(&[]), of(&["dead", "values", "states"])],
    }
}

/// A search on disk for a run that violates a formula.
#[derive(Clone, Copy)]
pub struct DiskSearch<'m> {
    /// The model with the formulas `f0`, `f1` and so on.
    pub text: &'m str,
    /// The number of the formula.
    pub number: usize,
    /// The runs that are checked.
    pub fairness: Fairness,
    /// The number of the reductions among the listed ones.
    pub reductions: usize,
}

/// The counts of interruptions.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterruptionCensus {
    /// Searches that were killed before they had ended.
    pub killed: u64,
    /// Sessions that ended at a deadline.
    pub stopped: u64,
}

/// Loads a formula of a model. `None` if the model is rejected.
pub fn load(text: &str, number: usize) -> Option<LivenessCheck> {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    let name = format!("f{number}");
    let wanted = PropertyRequest::Formula(&name);
    LivenessCheck::load(&promela::LANGUAGE, sources, Options::default(), wanted).ok().map(|it| it.0)
}

impl DiskSearch<'_> {
    /// Returns whether the formula is violated, by a search in one session. `None` if nothing can violate it, or the
    /// search is not possible.
    pub fn verdict(&self) -> Option<bool> {
        let found = self.run(None, &SearchControl::default())?;
        assert_ne!(found, ProbeVerdict::Open, "the search on disk ends");
        Some(found != ProbeVerdict::None)
    }

    /// Returns the same by a search with interruptions, in a folder for the files of this search.
    pub fn interrupted_verdict(
        &self,
        folder: &Path,
        random: &mut Random,
        census: &mut InterruptionCensus,
    ) -> Option<bool> {
        let dir = folder.join(DIRECTORY);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::write(folder.join(MODEL), self.text).expect("the model can be written");
        let is_running = self.run_killed(folder, random);
        census.killed += u64::from(is_running && SearchDirectory::has_search(&dir));
        if !SearchDirectory::has_search(&dir) {
            // It was killed before there was a job, and left perhaps some other files.
            let _ = std::fs::remove_dir_all(&dir);
        }
        for exponent in 0.. {
            let deadline = Instant::now() + FIRST_DEADLINE * 2_u32.pow(exponent);
            let control = SearchControl::new(CHECKPOINT_EVERY, Some(deadline));
            let found = self.run(Some(&dir), &control)?;
            if found != ProbeVerdict::Open {
                return Some(found != ProbeVerdict::None);
            }
            census.stopped += 1;
        }
        unreachable!("some session is long enough")
    }

    /// Runs a session in a process of its own, and kills it. Returns whether it was still running.
    fn run_killed(&self, folder: &Path, random: &mut Random) -> bool {
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        command.arg(SESSION).arg(folder).arg(self.number.to_string());
        command.arg(self.fairness.name()).arg(self.reductions.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut session = command.spawn().expect("this program can be run");
        std::thread::sleep(Duration::from_millis(random.below(KILL_MS_MAX) as u64));
        let ended = session.try_wait().expect("it is a child");
        if let Some(status) = ended {
            assert!(status.success(), "a session in a process of its own fails");
        } else {
            session.kill().expect("it is a child");
            session.wait().expect("it is a child");
        }
        ended.is_none()
    }

    /// Searches in a directory that may have a search, or in a temporary one.
    fn run(&self, dir: Option<&Path>, control: &SearchControl) -> Option<ProbeVerdict> {
        let selection = listed(self.fairness).swap_remove(self.reductions);
        let check = load(self.text, self.number)?.without_invariant();
        let check = check.reduced(selection, FiniteRunPolicy::Stutter);
        let config = CheckConfig::default();
        let options = ProductOptions {
            budget: SearchBudget::of(&config.limits, false),
            finite_runs: FiniteRunPolicy::Stutter,
            fairness: self.fairness,
            shortest: false,
            hunts: false,
            control,
        };
        let executor = |it| Executor::new(it, ExecutionMode::Interp);
        let largest = AnalysisBudget::largest();
        let found = with_product(&check, options, &largest, executor, |product| {
            let Some(product) = product else { return Ok::<_, spillway::Error>(None) };
            let storage = StateStorage::default();
            let job = SearchJob::of_runs(&config, product.check, product.searched, &storage);
            let (directory, saved) = match dir {
                Some(dir) if SearchDirectory::has_search(dir) => {
                    SearchDirectory::resume(dir, &job, None)?
                }
                dir => (SearchDirectory::create(dir, &job, None)?, None),
            };
            let plan = tiny_plan(1, product.searched.model().width(), 64, 1 << 14);
            let mut search = EmptinessSearch::new(product, plan, None, directory);
            Ok(Some(search.run(saved, control)?.found))
        });
        match found {
            Ok(found) => found,
            Err(error) if error.lacks_slots().is_some() => None,
            Err(error) => panic!("a search on disk fails: {error}"),
        }
    }
}

/// Runs a session whose process may be killed.
pub fn run_session(values: &[String]) -> ExitCode {
    let [folder, number, fairness, reductions] = values else { return ExitCode::from(2) };
    let folder = Path::new(folder);
    let text = std::fs::read_to_string(folder.join(MODEL)).expect("the model was written");
    let fairness = match fairness == Fairness::Weak.name() {
        true => Fairness::Weak,
        false => Fairness::None,
    };
    let parsed = |text: &String| text.parse().expect("the value is a number");
    let (number, reductions) = (parsed(number), parsed(reductions));
    let search = DiskSearch { text: &text, number, fairness, reductions };
    let control = SearchControl::new(CHECKPOINT_EVERY, None);
    search.run(Some(&folder.join(DIRECTORY)), &control);
    ExitCode::SUCCESS
}
