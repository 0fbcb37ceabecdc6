//! What a sitting of a search may take, and how sizes and times are written.

use super::questions::StateSpaceQuery;
use crate::cli::{output, say};
use crate::escape;
use crate::exec::ExecutionMode;
use crate::report::TraceDisplayOptions;
use crate::session::{RunLimits, SearchBudget, SearchOutputs};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How the model is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExecArg {
    /// As machine code, where there is a back end for this machine
    Jit,
    /// By the interpreter, many times slower: the reference
    Interp,
}

impl From<ExecutionMode> for ExecArg {
    fn from(exec: ExecutionMode) -> ExecArg {
        match exec {
            ExecutionMode::Jit => ExecArg::Jit,
            ExecutionMode::Interp => ExecArg::Interp,
        }
    }
}

impl From<ExecArg> for ExecutionMode {
    fn from(arg: ExecArg) -> ExecutionMode {
        match arg {
            ExecArg::Jit => ExecutionMode::Jit,
            ExecArg::Interp => ExecutionMode::Interp,
        }
    }
}

/// What is settled before a model is read.
#[derive(Clone, Debug, Default)]
pub struct LoadContext {
    /// What a file asks of states: what the sources of each are called, and its text.
    pub conditions: Vec<(String, String)>,
    /// Slots for processes, by their names, where a search before this one lacked some.
    pub slots: Vec<(String, u32)>,
    /// When a look at the model has to end.
    pub deadline: Option<Instant>,
}

/// Resources of one sitting of a search. What is not said is as it was in the sitting before.
#[derive(Args, Clone, Debug)]
pub struct SessionArgs {
    /// The most memory the process may hold resident, such as 64MiB or 4GiB [default: 1GiB, or what the search had]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// Threads to search with [default: all cores, or as many as the memory is enough for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// The most bytes the search directory may take
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub disk_limit: Option<u64>,
    /// The longest time between two checkpoints, such as 30s or 10min [default: 10min, or what the search had]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub checkpoint_every: Option<Duration>,
    /// Stop, resumably, at the end of the level that reaches this many states
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Stop, resumably, after this time
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_time: Option<Duration>,
    /// How the model is run; the counts do not depend on it [default: jit, or as the search was]
    #[arg(long, value_enum)]
    pub exec: Option<ExecArg>,
    /// Print the result as one JSON object, the counterexample in it
    #[arg(long)]
    pub json: bool,
    /// Leave the counterexample out
    #[arg(long)]
    pub no_trace: bool,
    /// Show each step of the counterexample, also where some come again and again
    #[arg(long, conflicts_with = "json")]
    pub unfolded: bool,
    /// Show the counterexample as a message sequence chart
    #[arg(long, conflicts_with_all = ["json", "no_trace", "unfolded"])]
    pub msc: bool,
    /// Tell what the search took, too: of time, memory, disk and store, and which reductions did not pay
    #[arg(long, short)]
    pub verbose: bool,
    /// Write the counterexample to this file as a trail, which SPIN replays: `spin -t -p -k FILE MODEL`
    #[arg(long, value_name = "FILE")]
    pub spin_trail: Option<PathBuf>,
    /// Write what was found to this file, as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write what came of each thing that was looked for to this file, as JUnit's XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write what is violated to this file, as SARIF, the counterexample as its code flow
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Run this command at the end, by `sh`, with SPILLWAY_VERDICT and more in its environment
    #[arg(long, value_name = "CMD")]
    pub notify: Option<String>,
    /// End with exit code 1 where the model asks for something that was not checked, too
    #[arg(long)]
    pub strict: bool,
    /// What a file asks beside conditions on states, each with a name.
    #[arg(skip)]
    pub(in crate::cli) state_space_queries: Vec<(String, StateSpaceQuery)>,
    /// Whether only the contest's lines are printed.
    #[arg(skip)]
    pub(in crate::cli) mcc: bool,
    /// Whether it is asked how large the state space is.
    #[arg(skip)]
    pub(in crate::cli) asks_space: bool,
    /// When the time is up, if that was settled before this sitting began.
    #[arg(skip)]
    pub(in crate::cli) deadline: Option<Instant>,
}

impl SessionArgs {
    /// The same in a sitting after one that took this.
    pub(in crate::cli) fn with_kept_limits(
        &self,
        kept: Option<RunLimits>,
        dir: &Path,
    ) -> SessionArgs {
        let Some(kept) = kept else { return self.clone() };
        let outputs = self.kept_outputs(&kept, dir);
        let RunLimits { memory, threads, disk_limit, checkpoint_every, exec, .. } = kept;
        let SearchOutputs { notify, report, junit, sarif } = outputs;
        SessionArgs {
            notify: self.notify.clone().or(notify),
            report: self.report.clone().or(report.map(PathBuf::from)),
            junit: self.junit.clone().or(junit.map(PathBuf::from)),
            sarif: self.sarif.clone().or(sarif.map(PathBuf::from)),
            memory: self.memory.or(Some(memory)),
            threads: self.threads.or(threads),
            disk_limit: self.disk_limit.or(disk_limit),
            checkpoint_every: self.checkpoint_every.or(Some(checkpoint_every)),
            exec: self.exec.or(Some(exec.into())),
            ..self.clone()
        }
    }

    /// When the time is up, counted from now where nothing else was settled.
    pub(in crate::cli) fn deadline(&self) -> Option<Instant> {
        let counted = || self.max_time.and_then(|time| Instant::now().checked_add(time));
        self.deadline.or_else(counted)
    }

    /// What is written at the end of a search in a directory, as it was said when the search began; nothing in a directory that came
    /// from elsewhere.
    fn kept_outputs(&self, kept: &RunLimits, dir: &Path) -> SearchOutputs {
        if kept.is_kept_in(dir) {
            return kept.outputs.clone();
        }
        let mine = self.outputs();
        let is_said = |flag: &str| mine.flags().iter().any(|it| it.0 == flag);
        let all = kept.outputs.flags();
        let left = all.iter().filter(|it| !is_said(it.0));
        let left: Vec<String> =
            left.map(|(flag, value)| format!("{flag} {}", escape::shell(value))).collect();
        if !left.is_empty() {
            say(format!(
                "note: the directory comes from elsewhere, so what it says of its end is left out: {}; give it again if it is wanted",
                left.join(" ")
            ));
        }
        SearchOutputs::default()
    }

    /// What is written at the end. Files have the names that they have everywhere.
    fn outputs(&self) -> SearchOutputs {
        let whole = |it: &PathBuf| std::path::absolute(it).unwrap_or_else(|_| it.clone());
        let whole = |it: &Option<PathBuf>| it.as_ref().map(|it| whole(it).display().to_string());
        SearchOutputs {
            notify: self.notify.clone(),
            report: whole(&self.report),
            junit: whole(&self.junit),
            sarif: whole(&self.sarif),
        }
    }

    /// What the sitting takes.
    pub(in crate::cli) fn run_limits(&self) -> RunLimits {
        let SessionArgs { memory, threads, disk_limit, checkpoint_every, exec, .. } = *self;
        let usual = RunLimits::default();
        RunLimits {
            memory: memory.unwrap_or(usual.memory),
            threads,
            disk_limit,
            checkpoint_every: checkpoint_every.unwrap_or(usual.checkpoint_every),
            exec: exec.map_or(usual.exec, ExecutionMode::from),
            outputs: self.outputs(),
            ..usual
        }
    }

    /// What a search may take that begins, or goes on.
    pub(in crate::cli) fn budget(&self, goes_on: bool) -> SearchBudget {
        let RunLimits { memory, threads, exec, .. } = self.run_limits();
        SearchBudget { memory, threads, exec, goes_on, counts: false }
    }

    /// What is shown of a counterexample.
    pub(in crate::cli) fn view(&self) -> TraceDisplayOptions {
        let width = output::columns_of_output();
        TraceDisplayOptions {
            unfolded: self.unfolded,
            chart: self.msc,
            width,
            ..TraceDisplayOptions::default()
        }
    }

    /// Whether a file is to be written that tells the result.
    pub(in crate::cli) fn writes_results(&self) -> bool {
        self.report.is_some() || self.junit.is_some() || self.sarif.is_some()
    }

    /// The states and the bytes in which a shorter run is looked for.
    pub(in crate::cli) fn shortening_limits(&self) -> (Option<u64>, u64) {
        (self.max_states, self.run_limits().memory)
    }
}

/// What a size is to look like.
const SIZE: &str = "expected a size such as 64MiB or 4G";

/// A size: `64MiB`, `64M`, `2GB`, `4096B`. Without a unit it is none: people who write 64 have 64 MiB in mind.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let units: [(&str, f64); 13] = [
        ("B", 1.0),
        ("K", 1024.0),
        ("KiB", 1024.0),
        ("KB", 1e3),
        ("M", 1048576.0),
        ("MiB", 1048576.0),
        ("MB", 1e6),
        ("G", 1073741824.0),
        ("GiB", 1073741824.0),
        ("GB", 1e9),
        ("T", 1099511627776.0),
        ("TiB", 1099511627776.0),
        ("TB", 1e12),
    ];
    let (number, unit) = split_unit(text);
    let number: f64 = number.parse().map_err(|_| SIZE)?;
    if unit.is_empty() {
        let number = text.trim();
        return Err(format!("a size has a unit: {number}MiB, {number}GiB, or {number}B for bytes"));
    }
    let (_, scale) = units.iter().find(|it| it.0.eq_ignore_ascii_case(unit)).ok_or(SIZE)?;
    Ok((number * scale) as u64)
}

/// A time: `30s`, `10min`, `1.5h`, `2d`; without a unit, seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let units: [(&str, f64); 8] = [
        ("", 1.0),
        ("ms", 0.001),
        ("s", 1.0),
        ("m", 60.0),
        ("min", 60.0),
        ("h", 3600.0),
        ("d", 86400.0),
        ("sec", 1.0),
    ];
    let expected = "expected a time such as 30s, 10min or 2h";
    let (number, unit) = split_unit(text);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit).ok_or(expected)?;
    let number: f64 = number.parse().map_err(|_| expected.to_string())?;
    Duration::try_from_secs_f64(number * scale).map_err(|_| expected.to_string())
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let digits = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let end = text.find(|c| !digits(c)).unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("4096B"), Ok(4096));
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!((size("64M"), size("4G")), (Ok(64 << 20), Ok(4 << 30)));
        assert_eq!(size("1.5 gib"), Ok(3 << 29));
        assert_eq!(size("2GB"), Ok(2_000_000_000));
        assert!(size("lots").is_err() && size("1Q").is_err() && size("").is_err());
        assert!(size("64").is_err_and(|why| why.contains("64MiB") && why.contains("64B")));
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("10min"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(duration("soon").is_err() && duration("-1s").is_err());
    }
}
