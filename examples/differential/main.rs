//! Compares Spillway with SPIN, Rumur and TLC, and with itself, on random models.
//!
//! ```sh
//! cargo run --release --example differential -- [--language promela|murphi|dve|tla] [--seed N]
//!     [--count N] [--time SECONDS] [--keep FOLDER] [--show] [--reductions] [--formulas]
//! ```
//!
//! A seed gives a list of numbers, and the numbers give a model (`models/`). Spillway's plain answer comes from its
//! interpreter and the oracle in memory. It is compared with the answer of the language's reference tool, if installed.
//! Then it is compared with Spillway's other ways to compute it (`spillway_answers.rs`). A model on which two answers
//! differ is reduced and shown with both answers; `--keep` writes it to a folder. Differences that
//! `docs/reference/languages.md` explains are recognised (`causes.rs`, `claims.rs`) and counted by their cause. The
//! exit code is 1 if there is any other difference.
//!
//! Modules in TLA+ are compared by the values of expressions and by the counts of searches (`tla/`). The variable
//! `TLC_CLASSPATH` contains TLC's class path. Without it only Spillway's own ways are compared, and a message reports
//! it.
//!
//! `--show` only prints the models of the seeds. `--reductions` compares the plain answer only with the other tool's
//! answer and with partial order (`partial_order.rs`), which takes less time. `--formulas` instead compares verdicts on
//! random formulas with SPIN's (`formulas.rs`).

mod causes;
mod claims;
mod compared_language;
mod disk_searches;
mod formulas;
mod models;
mod partial_order;
mod shrink;
mod spillway_answers;
mod spin_claims;
#[path = "../../tests/support/mod.rs"]
mod support;
mod tla;
mod tools;

use causes::Comparison;
use compared_language::ComparedLanguage;
use formulas::{FormulaCensus, FormulaComparison};
use partial_order::ReducedSearches;
use spillway::front::promela;
use spillway_answers::Answer;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use support::Random;

/// A model that takes longer counts as a failure, like a crash. The limit allows for a loaded machine.
const TIME_LIMIT: Duration = Duration::from_secs(1200);

struct Settings {
    compared_language: ComparedLanguage,
    seed: u64,
    count: u64,
    time: Duration,
    keep: Option<PathBuf>,
    show: bool,
    reductions_only: bool,
    /// Whether verdicts on formulas are compared instead of counts.
    formulas: bool,
}

/// The result for one model.
enum Verdict {
    /// All answers are equal.
    Equal,
    /// All of Spillway's answers are equal, and there is no other tool's answer. Contains the reason.
    Alone(String),
    /// The answers differ as documented.
    Explained(&'static str),
    /// The model is not compared. Contains the reason.
    Skipped(String),
    /// The answers differ. Contains a description.
    Differs(String),
}

thread_local! {
    /// The message of the last panic.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The current model, for the watchdog.
static CURRENT: Mutex<Option<(Instant, u64, String)>> = Mutex::new(None);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some((disk_searches::SESSION, values)) =
        args.split_first().map(|(flag, values)| (flag.as_str(), values))
    {
        return disk_searches::run_session(values);
    }
    let settings = match settings(args.into_iter()) {
        Ok(settings) => settings,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    std::panic::set_hook(Box::new(|info| {
        PANIC.with_borrow_mut(|it| *it = info.to_string());
    }));
    let keep = settings.keep.clone();
    std::thread::spawn(move || watch_time(keep));
    let folder = tempfile::tempdir().expect("a folder for the other tool's files");
    let tla = tla::Comparer::new(folder.path());
    let mut campaign = Campaign { settings, folder, tla, census: Census::default() };
    match campaign.run() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    }
}

fn settings(mut args: impl Iterator<Item = String>) -> Result<Settings, Box<dyn Error>> {
    let mut settings = Settings {
        compared_language: ComparedLanguage::Program(&promela::LANGUAGE),
        seed: 1,
        count: 100,
        time: Duration::MAX,
        keep: None,
        show: false,
        reductions_only: false,
        formulas: false,
    };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        let number = |text: String| {
            text.parse::<u64>().map_err(|_| format!("{arg}: `{text}` is not a number"))
        };
        match arg.as_str() {
            "--seed" => settings.seed = number(value()?)?,
            "--count" => settings.count = number(value()?)?,
            "--time" => settings.time = Duration::from_secs(number(value()?)?),
            "--keep" => settings.keep = Some(PathBuf::from(value()?)),
            "--show" => settings.show = true,
            "--reductions" => settings.reductions_only = true,
            "--formulas" => settings.formulas = true,
            "--language" => {
                let name = value()?;
                let compared_language = ComparedLanguage::from_name(&name);
                settings.compared_language =
                    compared_language.ok_or(format!("unknown language `{name}`"))?;
            }
            _ => return Err(format!("there is no flag `{arg}`").into()),
        }
    }
    Ok(settings)
}

/// Ends the process if a model takes too long.
fn watch_time(keep: Option<PathBuf>) {
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let current = CURRENT.lock().expect("nobody panics with it");
        if let Some((since, seed, text)) = &*current
            && since.elapsed() > TIME_LIMIT
        {
            println!("seed {seed}: no answer after {TIME_LIMIT:?}\n{text}");
            if let Some(folder) = &keep {
                let _ = std::fs::write(folder.join(format!("{seed}-endless")), text);
            }
            std::process::exit(1);
        }
    }
}

/// The counts of the models.
#[derive(Default)]
struct Census {
    models: u64,
    over_ten: u64,
    with_errors: u64,
    actions: (usize, usize),
    verdicts: BTreeMap<String, u64>,
    /// For each construct, the number of models that contain it, and the number of those with more than ten states.
    constructs: BTreeMap<&'static str, (u64, u64)>,
    states: u64,
    reduced: ReducedSearches,
    formulas: FormulaCensus,
}

struct Campaign {
    settings: Settings,
    folder: tempfile::TempDir,
    tla: tla::Comparer,
    census: Census,
}

impl Campaign {
    /// Runs all models. Returns the number of those that differ.
    fn run(&mut self) -> u64 {
        let compared_language = self.settings.compared_language;
        let has_tool = match compared_language {
            ComparedLanguage::Program(language) => causes::tool(language).is_some(),
            ComparedLanguage::Tla => self.tla.has_tool(),
        };
        if !has_tool {
            println!(
                "{}: no reference tool is installed; only our own ways are compared",
                compared_language.name()
            );
        }
        let (begun, mut different) = (Instant::now(), 0);
        for seed in self.settings.seed..self.settings.seed + self.settings.count {
            let numbers = models::numbers(seed);
            if self.settings.show {
                println!(
                    "{} seed {seed}\n{}",
                    compared_language.mark(),
                    compared_language.make(&numbers).0
                );
                continue;
            }
            let verdict = self.compare(seed, &numbers, true);
            let line = match verdict {
                Verdict::Equal => "equal".to_owned(),
                Verdict::Alone(why) => format!("only ours: {why}"),
                Verdict::Explained(cause) => format!("differs as documented: {cause}"),
                Verdict::Skipped(why) => format!("not compared: {why}"),
                Verdict::Differs(how) => {
                    different += 1;
                    self.print_smallest(seed, &numbers, &how);
                    "DIFFERS".to_owned()
                }
            };
            *self.census.verdicts.entry(line).or_default() += 1;
            if begun.elapsed() > self.settings.time {
                break;
            }
        }
        if !self.settings.show {
            self.census.print(compared_language.name(), begun.elapsed());
        }
        different
    }

    fn compare(&mut self, seed: u64, numbers: &[u16], count: bool) -> Verdict {
        let (text, constructs) = self.settings.compared_language.make(numbers);
        let current = Some((Instant::now(), seed, text.clone()));
        *CURRENT.lock().expect("nobody panics with it") = current;
        let compared = catch_unwind(AssertUnwindSafe(|| self.compare_text(seed, &text)));
        *CURRENT.lock().expect("nobody panics with it") = None;
        match compared {
            Ok(compared) => {
                if count && let Some(figures) = compared.figures {
                    self.census.count(figures, constructs);
                }
                compared.verdict
            }
            Err(_) => Verdict::Differs(PANIC.with_borrow(String::clone)),
        }
    }

    fn compare_text(&mut self, seed: u64, text: &str) -> Compared {
        let language = match self.settings.compared_language {
            ComparedLanguage::Tla => return self.tla.compare(text),
            ComparedLanguage::Program(language) => language,
        };
        if self.settings.formulas {
            return self.compare_formulas(seed, text);
        }
        let answer = spillway_answers::explore(language, text);
        let figures = Some(Figures::of(&answer));
        let theirs = match &answer {
            Answer::Large => {
                return Compared { verdict: Verdict::Skipped("too many states".into()), figures };
            }
            answer => causes::compare(language, text, answer, self.folder.path()),
        };
        // If both comparisons find a difference, the other tool's is shown.
        if let Answer::Explored(explored) = &answer
            && !matches!(theirs, Comparison::Different(_))
        {
            let mut random = Random::new(seed);
            if !self.settings.reductions_only {
                spillway_answers::assert_all_agree(explored, &mut random);
            }
            let done = partial_order::assert_partial_orders_agree(explored, &mut random);
            self.census.reduced.all += done.all;
            self.census.reduced.fewer += done.fewer;
        }
        let verdict = match theirs {
            Comparison::Same => Verdict::Equal,
            Comparison::None(why) => Verdict::Alone(why),
            Comparison::Explained(cause) => Verdict::Explained(cause),
            Comparison::Refused(why) => Verdict::Skipped(why),
            Comparison::Different(how) => Verdict::Differs(how),
        };
        Compared { verdict, figures }
    }

    /// Compares the verdicts on random formulas of a model.
    fn compare_formulas(&mut self, seed: u64, text: &str) -> Compared {
        let verdict = match formulas::compare(text, seed, self.folder.path()) {
            FormulaComparison::Equal(census) => {
                self.census.formulas.add(census);
                Verdict::Equal
            }
            FormulaComparison::Skipped(why) => Verdict::Skipped(first_line(&why).to_owned()),
            FormulaComparison::Differs(how) => Verdict::Differs(how),
        };
        Compared { verdict, figures: None }
    }

    /// Prints the smallest model with a difference of the same kind.
    fn print_smallest(&mut self, seed: u64, numbers: &[u16], how: &str) {
        println!("seed {seed}: {}", first_line(how));
        let difference_kind = difference_kind(how);
        let mut has_same_kind = |fewer: &[u16]| match self.compare(seed, fewer, false) {
            Verdict::Differs(how) => self::difference_kind(&how) == difference_kind,
            _ => false,
        };
        let small = shrink::shrink(numbers, &mut has_same_kind);
        let compared_language = self.settings.compared_language;
        let (text, _) = compared_language.make(&small);
        let how = match self.compare(seed, &small, false) {
            Verdict::Differs(how) => how,
            _ => "(not again)".to_owned(),
        };
        println!("---- seed {seed}, {}\n{text}---- {how}\n", compared_language.name());
        if let Some(folder) = &self.settings.keep {
            let _ = std::fs::create_dir_all(folder);
            let (ending, mark) = (compared_language.extension(), compared_language.mark());
            let how: String = how.lines().map(|line| format!("{mark} {line}\n")).collect();
            let path = folder.join(format!("{seed}.{ending}"));
            if let Err(error) = std::fs::write(&path, how + &text) {
                println!("cannot write {}: {error}", path.display());
            }
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Returns the part of a difference that must stay the same during reduction: everything but the numbers.
fn difference_kind(how: &str) -> String {
    let line = how.lines().take(2).collect::<Vec<_>>().join(" ");
    line.split(|c: char| c.is_ascii_digit() || c == '-')
        .collect::<String>()
        .chars()
        .take(70)
        .collect()
}

/// The result for a model, with its figures if it was read.
struct Compared {
    verdict: Verdict,
    figures: Option<Figures>,
}

/// The figures of a model in the census.
#[derive(Default)]
struct Figures {
    states: u64,
    /// Whether there are too many states.
    is_large: bool,
    has_errors: bool,
    /// The actions that random walks took, and all actions.
    actions: (usize, usize),
}

impl Figures {
    fn of(answer: &Answer) -> Self {
        match answer {
            Answer::Explored(explored) => Self {
                states: explored.outcome.states(),
                is_large: false,
                has_errors: explored.findings() > 0,
                actions: spillway_answers::executed_actions(explored),
            },
            Answer::Large => Self { is_large: true, ..Self::default() },
            Answer::Refused(_) => Self::default(),
        }
    }
}

impl Census {
    fn count(&mut self, figures: Figures, constructs: BTreeSet<&'static str>) {
        self.models += 1;
        self.states += figures.states;
        self.with_errors += u64::from(figures.has_errors);
        self.actions.0 += figures.actions.0;
        self.actions.1 += figures.actions.1;
        let over_ten = figures.is_large || figures.states > 10;
        self.over_ten += u64::from(over_ten);
        for construct in constructs {
            let (with, over_ten_with) = self.constructs.entry(construct).or_default();
            *with += 1;
            *over_ten_with += u64::from(over_ten);
        }
    }

    fn print(&self, language: &str, time: Duration) {
        let Census { models, over_ten, with_errors, states, actions: (taken, actions), .. } = self;
        println!(
            "{language}: {models} models, {over_ten} with more than 10 states, {with_errors} with errors; \
             {states} states; random walks took {taken} of {actions} actions; {:.0} s",
            time.as_secs_f64()
        );
        let ReducedSearches { all, fewer } = self.reduced;
        println!("{all} searches with partial order; {fewer} of them stored fewer states");
        self.formulas.print();
        for (verdict, count) in &self.verdicts {
            println!("{count:>7} {verdict}");
        }
        let constructs = self.constructs.iter();
        let listed: Vec<String> = constructs
            .map(|(name, (with, over_ten))| format!("{name} {with} ({over_ten})"))
            .collect();
        println!(
            "models with each construct (of them with more than 10 states): {}",
            listed.join(", ")
        );
    }
}
