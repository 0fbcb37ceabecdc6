//! The output files with results: report page, JUnit, SARIF.

use super::command::SessionOptions;
use super::failure::CommandFailure;
use super::report_page::{self, ReportedSearch, ShownViolation};
use super::say;
use super::unbuilt_outputs::reject_unbuilt;
use crate::report::{
    self, FailureReport, JudgementReport, RenderedPage, ReportPage, TraceView, junit,
    junit_of_failure, sarif, sarif_of_failure,
};
use crate::search::SearchVerdict;
use crate::session::SearchOutputs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether writing results has begun.
static IS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Writes the files of a search for safety properties, with the counterexample that is shown.
pub(super) fn write(
    args: &SessionOptions,
    search: &ReportedSearch<'_>,
    shown: Option<&ShownViolation<'_>>,
    note: Option<&str>,
) -> Result<(), CommandFailure> {
    let ReportedSearch { report, model, .. } = *search;
    if let Some(path) = &args.outputs.report {
        let page =
            report_page::with_page(search, shown, |page| ReportPage { note, ..page }.render());
        write_page(args, path, report.verdict(), page)?;
    }
    let outputs = &args.outputs;
    if outputs.junit.is_some() || outputs.sarif.is_some() || args.collector.is_some() {
        let shown = shown.map(|(violation, way)| {
            let ending = report::CounterexampleEnd::of(violation, way, model.sources());
            (violation.check, TraceView::of(&ending, way, model.sources()))
        });
        let told = report::print_result(report, None, true);
        write_judgements(args, JudgementReport::of(report, shown, told, args.strict))?;
    }
    Ok(())
}

/// Writes the files with the verdict on each property.
pub(super) fn write_judgements(
    args: &SessionOptions,
    judgements: JudgementReport,
) -> Result<(), CommandFailure> {
    match &args.collector {
        Some(collector) => collector.add_judgements(judgements),
        None => write_merged(&args.outputs, &judgements)?,
    }
    Ok(())
}

/// Writes the files of all properties of a check.
pub(super) fn write_merged(
    outputs: &SearchOutputs,
    judgements: &JudgementReport,
) -> Result<(), CommandFailure> {
    results(outputs, || junit(judgements), || sarif(judgements))
}

/// Writes the page of a search, or adds it to that of the whole check.
pub(super) fn write_page(
    args: &SessionOptions,
    path: &str,
    verdict: SearchVerdict,
    page: RenderedPage,
) -> Result<(), CommandFailure> {
    match &args.collector {
        Some(collector) => collector.add_page(verdict, page),
        None => put("the report", path, &page.html())?,
    }
    Ok(())
}

/// Writes the reason why there is no verdict to the files, unless writing them was what failed.
pub(super) fn write_failure(outputs: &SearchOutputs, name: &Path, failure: &CommandFailure) {
    if IS_BEGUN.load(Ordering::Relaxed) {
        return;
    }
    let CommandFailure { code, message, mistakes, .. } = failure;
    let (message, mistakes) = (message.clone(), mistakes.clone());
    let failed =
        FailureReport { model: name.display().to_string(), message, mistakes, code: *code };
    let written = results(outputs, || junit_of_failure(&failed), || sarif_of_failure(&failed));
    written.unwrap_or_else(say);
}

/// Writes the requested files.
fn results(
    outputs: &SearchOutputs,
    junit: impl FnOnce() -> String,
    sarif: impl FnOnce() -> String,
) -> Result<(), CommandFailure> {
    reject_unbuilt(outputs)?;
    IS_BEGUN.store(true, Ordering::Relaxed);
    if let Some(path) = &outputs.junit {
        put("the JUnit file", path, &junit())?;
    }
    if let Some(path) = &outputs.sarif {
        put("the SARIF file", path, &sarif())?;
    }
    Ok(())
}

/// Writes a file and reports it.
pub(super) fn put(what: &str, path: impl AsRef<Path>, text: &str) -> Result<(), CommandFailure> {
    let path = path.as_ref();
    let written = std::fs::write(path, text);
    written.map_err(|error| CommandFailure::cannot_write(what, path, error))?;
    say(format!("wrote {}", path.display()));
    Ok(())
}
