//! `report`: what a search found, or checking a model finds, as a page for a browser.

use super::args::{Cli, Command, ReportArgs};
use super::failure::{self, Failure};
use super::going::heading;
use super::{Ending, check, page, status, trace};
use crate::report::ViolationReport;
use crate::search::trace::Counterexample;
use crate::session::{Contents, Going, traced_in};
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What `report` is told of a search that has no page.
const NO_PAGE: &str = "a page is made of searches of states and steps of a model's text";

/// `spillway report`: of the search in a directory, or of one that is made now, by `check`.
pub(super) fn report(args: &ReportArgs) -> Ending {
    match &args.target {
        it if it.is_dir() => of_directory(args),
        it if it.exists() => of_model(args),
        it => {
            let there = "there is no search directory and no model";
            Err(Failure::wrong(format!("{there} {}", it.display())))
        }
    }
}

/// Where the page goes if nobody says.
fn place(out: Option<&Path>, of: &Path) -> PathBuf {
    let usual = || PathBuf::from(of.file_stem().unwrap_or(of.as_os_str())).with_extension("html");
    out.map_or_else(usual, Path::to_path_buf)
}

fn of_model(args: &ReportArgs) -> Ending {
    let out = place(args.out.as_deref(), &args.target);
    let mut report = OsString::from("--report=");
    report.push(out);
    // Whatever the names begin with, they are names.
    let words = ["spillway", "check", "--no-trace"].map(OsString::from).into_iter();
    let words = words.chain([report, "--".into(), args.target.clone().into()]);
    match Cli::try_parse_from(words).map(|it| it.command) {
        Ok(Command::Check(args)) => check(&args),
        Ok(_) => unreachable!("it is `check` that is asked for"),
        Err(error) => Err(Failure::wrong(error.to_string())),
    }
}

fn of_directory(args: &ReportArgs) -> Ending {
    let dir = traced_in(&args.target)?;
    let contents = Contents::read(&dir)?;
    if contents.job.runs().is_some() || contents.job.is_of_rust_type() {
        let dir = dir.display();
        let help = format!("`spillway status {dir}` and `spillway trace {dir}` tell of this one");
        return Err(Failure::wrong(format!("{dir}: {NO_PAGE}\n  help: {help}")));
    }
    let going = Going::of(&dir, &contents);
    let is_open = contents.saved.as_ref().is_none_or(|saved| saved.verdict == 0);
    let note = is_open.then(|| heading(&going, false).trim_end().trim_end_matches(':').to_owned());
    let (job, out) = (&contents.job, place(args.out.as_deref(), &args.target));
    let model = job.model(&dir)?;
    let write = |shown: Option<&(ViolationReport, Counterexample)>| {
        status::with_report(&dir, &contents, &model, |report| {
            page::write(&out, report, (&model, &dir), shown, note.as_deref())
        })
    };
    let Some(saved) = &contents.saved else {
        write(None)?;
        return Ok(failure::VERIFIED);
    };
    trace::with_found((&dir, job), (&model, saved), args.memory, |found| {
        let first = found.violations.first();
        let shown = first.map(|it| found.way(it).map(|way| (it.clone(), way))).transpose()?;
        write(shown.as_ref())?;
        Ok(failure::VERIFIED)
    })
}
