//! `report`: the result of a search or of a new check, as a web page.

use super::args::{Cli, CliCommand, ReportArgs};
use super::failure::{self, CommandFailure};
use super::report_page::{self, PageContext, ReportedSearch, ShownViolation};
use super::run_status::status_heading;
use super::trace::CheckpointedSearch;
use super::{CommandResult, check, liveness, result_files, status, trace};
use crate::report::{ReportPage, StatusPanel};
use crate::search::{SearchVerdict, events};
use crate::session::{DirectoryContents, Error, SearchSnapshot, trace_directory};
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of the output in messages.
const WHAT: &str = "the report";

/// `spillway report`: of the search in a directory, or of a search that `check` makes now.
pub(super) fn report(args: &ReportArgs) -> CommandResult {
    match &args.target {
        it if it.is_dir() => report_of(args),
        it if it.exists() => of_model(args),
        it => Err(CommandFailure::no_search_and_no_model(it)),
    }
}

/// Returns the file of the page. `out` defaults to a name derived from `of`.
fn place(out: Option<&Path>, of: &Path) -> PathBuf {
    let usual = || PathBuf::from(of.file_stem().unwrap_or(of.as_os_str())).with_extension("html");
    out.map_or_else(usual, Path::to_path_buf)
}

fn of_model(args: &ReportArgs) -> CommandResult {
    let out = place(args.out.as_deref(), &args.target);
    let mut report = OsString::from("--report=");
    report.push(out);
    // Names that begin with a dash are names nevertheless.
    let words = ["spillway", "check", "--no-trace"].map(OsString::from).into_iter();
    let words = words.chain([report, "--".into(), args.target.clone().into()]);
    match Cli::try_parse_from(words).map(|it| it.command) {
        Ok(CliCommand::Check(args)) => check(&args),
        Ok(_) => unreachable!("it is `check` that is asked for"),
        Err(error) => Err(CommandFailure::wrong(error.to_string())),
    }
}

fn report_of(args: &ReportArgs) -> CommandResult {
    let dir = trace_directory(&args.target)?;
    let out = place(args.out.as_deref(), &args.target);
    let contents = match DirectoryContents::read(&dir) {
        Ok(contents) => contents,
        Err(error @ (Error::NoSearch(_) | Error::SeveralSearches(..))) => return Err(error.into()),
        Err(error) => {
            let failure = CommandFailure::from(error);
            result_files::put(WHAT, &out, &damaged_page(&dir, &failure.message, None))?;
            return Err(failure);
        }
    };
    let live = SearchSnapshot::of(&dir, &contents);
    let is_open = live.state.is_open();
    let note =
        is_open.then(|| status_heading(&live, false).trim_end().trim_end_matches(':').to_owned());
    let beside =
        PageContext { memory: args.memory, note: note.as_deref(), ..PageContext::default() };
    result_files::put(WHAT, &out, &directory_page(&dir, &contents, beside)?)?;
    Ok(failure::VERIFIED)
}

/// Returns the page of the search in a directory.
pub(super) fn directory_page(
    dir: &Path,
    contents: &DirectoryContents,
    beside: PageContext<'_>,
) -> Result<String, CommandFailure> {
    let job = &contents.job;
    if job.is_of_rust_type() {
        return rust_type_page(dir, contents, beside);
    }
    if job.runs().is_some() {
        return liveness::page(dir, contents, beside);
    }
    let (model, mut html) = (job.source_model(dir)?, String::new());
    let mut make = |shown: Option<&ShownViolation<'_>>| {
        status::with_report(dir, contents, &*model, |report| {
            html = report_page::with_page(
                &ReportedSearch { report, model: &*model, dir },
                shown,
                |page| beside.apply_to(page).html(),
            );
            Ok(())
        })
    };
    let found = contents.saved.as_ref().filter(|it| !beside.is_brief && it.has_findings());
    match found {
        None => make(None)?,
        Some(saved) => {
            let search = CheckpointedSearch { dir, job, model: &*model, saved };
            trace::with_violations(&search, beside.memory, |found| {
                let first = found.violations.first();
                let shown = first
                    .map(|it| found.counterexample(it).map(|way| (it.clone(), way)))
                    .transpose()?;
                make(shown.as_ref()).map(|()| failure::VERIFIED)
            })
            .map(drop)?
        }
    }
    Ok(html)
}

/// Returns the page of a search of a Rust type. Only the program that defines the type can describe its states.
fn rust_type_page(
    dir: &Path,
    contents: &DirectoryContents,
    beside: PageContext<'_>,
) -> Result<String, CommandFailure> {
    let outcome = status::outcome_of_rust_type(dir, contents)?;
    let told = status::rust_type_as_text(dir, contents, &outcome);
    let (events, name) = (events::read(dir), dir.display().to_string());
    let page = ReportPage {
        says: told.lines().next().unwrap_or_default().to_owned(),
        levels: &outcome.levels,
        events: &events,
        dir: Some(&name),
        ..ReportPage::new(contents.job.model_name(), outcome.verdict, told)
    };
    Ok(beside.apply_to(page).html())
}

/// Returns the page of a directory that cannot be read, with the reason.
pub(super) fn damaged_page(dir: &Path, why: &str, live: Option<&StatusPanel>) -> String {
    let (events, name) = (events::read(dir), dir.display().to_string());
    let says = "the search directory cannot be read; the verdict is unknown";
    let page = ReportPage {
        says: says.to_owned(),
        events: &events,
        dir: Some(&name),
        live,
        ..ReportPage::new(&name, SearchVerdict::Incomplete, why.to_owned())
    };
    page.html()
}
