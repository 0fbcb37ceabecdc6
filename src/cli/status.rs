//! `status`: how far a search is, or was at its last checkpoint.

use super::args::StatusArgs;
use super::failure;
use super::{Ending, liveness, print};
use crate::report::{self, Report};
use crate::search::Outcome;
use crate::search::checkpoint::{DiskFigures, Saved};
use crate::search::comback::Rebuilt;
use crate::search::storage::SavedStorage;
use crate::session::{Contents, Evidence, shortened_in};

/// `spillway status`.
pub(super) fn status(args: &StatusArgs) -> Ending {
    let Contents { job, saved, bytes, running, .. } = Contents::read(&args.dir)?;
    if job.runs().is_some() {
        return liveness::status(args, &job, (saved.as_ref(), running));
    }
    let model = job.model(&args.dir)?;
    let limits = job.limits(None);
    let (reduced, about) = (model.searched(), model.about(&limits));
    let outcome = match &saved {
        Some(saved) => {
            let (dir, limits, sources) = (&*args.dir, &limits, &model.sources);
            Evidence { saved, dir, limits, sources }.outcome(reduced.model())?
        }
        None => Outcome::default(),
    };
    let found = {
        let searched = (reduced.model(), reduced.stack().preserves());
        report::violations(searched, &model.sources, &limits, &outcome)
    };
    let disk = saved.as_ref().map_or(DiskFigures::default(), |saved| saved.disk);
    let report = Report {
        model_name: job.model_name(),
        language: job.language(),
        key_order: about.key_order,
        store: job.storage_name(),
        parts: saved.as_ref().map_or(&[], |saved| &saved.parts),
        rebuilt: rebuilt(saved.as_ref()),
        compiled: None,
        model: reduced.model(),
        reductions: reduced.stack().told(&outcome.tally()),
        unused: reduced.stack().unused(),
        claim: about.claim,
        sources: &model.sources,
        limits: &limits,
        scope: &about.scope,
        outcome: &outcome,
        seconds: saved.as_ref().map_or(0.0, |saved| saved.seconds),
        peak_rss_bytes: saved.as_ref().map_or(0, |saved| saved.peak_rss_bytes),
        shortened: shortened_in(&args.dir, &found)?,
        disk: DiskFigures { peak: disk.peak.max(bytes), ..disk },
        store_bytes: bytes,
        dir: Some(args.dir.display().to_string()),
    };
    match args.json {
        true => print(&format!("{:#}\n", report::result(&report))),
        false => {
            let state = if running { "running" } else { "not running" };
            print(&format!("{state}; at the last checkpoint:\n{}", report::print_result(&report)));
            saved.iter().for_each(|saved| print(&format!("{}\n", saved.plan)));
        }
    }
    Ok(failure::VERIFIED)
}

/// What was done to rebuild states up to a checkpoint, if states are rebuilt.
fn rebuilt(saved: Option<&Saved>) -> Option<Rebuilt> {
    let saved = saved.filter(|saved| matches!(saved.storage, SavedStorage::Comback(_)))?;
    Some(saved.frontier.rebuilt)
}
