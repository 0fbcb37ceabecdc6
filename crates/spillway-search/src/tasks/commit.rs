//! The commit of a plan: the results of its tasks become the state of the search.

use super::plan::{TaskPhase, TaskPlan};
use super::receipt::{self, PlannedTask, TaskReceipt};
use super::{PlanOutcome, remove_if_exists};
use crate::checkpoint::{SavedJournal, SavedSearch, logs, restore_findings, save_findings};
use crate::projection::{self, ProjectionWidening};
use spill::{Disk, FileName, FileSegment, Result, SavedRun, SavedStore};
use spillway_model::ActionCounts;

/// Commits a plan whose tasks are all done. The caller holds the lock of the directory, so that no other process
/// commits at the same time. Returns the new state of the search.
pub fn commit(disk: &dyn Disk, id: &str) -> Result<PlanOutcome<SavedSearch>> {
    let Some((plan, saved)) = TaskPlan::load(disk, id)? else { return Ok(PlanOutcome::Stale) };
    let mut receipts = Vec::new();
    for task in 0..plan.tasks() {
        match TaskReceipt::load(disk, PlannedTask { plan: &plan, saved: &saved, task })? {
            Ok(receipt) => receipts.push(receipt),
            Err(why) => return Ok(PlanOutcome::Undone(task, why)),
        }
    }
    let written = receipts.iter().map(TaskReceipt::bytes_written).fold(0, u64::saturating_add);
    let mut next = saved.clone();
    next.seconds += plan.age();
    next.disk.written = next.disk.written.saturating_add(written);
    match plan.phase {
        TaskPhase::Expand => apply_expansion(&mut next, &plan, &receipts)?,
        TaskPhase::Settle => apply_settling(&mut next, &receipts)?,
        TaskPhase::Merge => apply_merge(&mut next, &plan, &receipts),
        TaskPhase::Grow => apply_growth(&mut next, &plan, &receipts)?,
    }
    // A manifest that cannot be read must not replace one that can.
    next.check()?;
    next.commit(disk)?;
    sweep(disk, &plan, &saved, &next)?;
    Ok(PlanOutcome::Done(next))
}

fn apply_expansion(
    next: &mut SavedSearch,
    plan: &TaskPlan,
    receipts: &[TaskReceipt],
) -> Result<()> {
    let open = &mut next.open;
    let mut findings = restore_findings(&open.findings)?;
    let mut action_counts = ActionCounts::new(std::mem::take(&mut open.action_counts));
    for receipt in receipts {
        open.counters += receipt.counters;
        action_counts.merge(ActionCounts::new(receipt.action_counts.clone()));
        findings.merge(restore_findings(&receipt.findings)?);
    }
    open.unencoded.extend(receipts.iter().filter_map(TaskReceipt::second_segment));
    open.unencoded_logs = logs(open.unencoded_logs.iter().copied(), &open.unencoded);
    open.expanded = plan.states.last().copied().unwrap_or_default();
    open.action_counts = action_counts.all().to_vec();
    open.findings = save_findings(&findings);
    add_candidates(next, receipts)
}

/// Adds the candidates of tasks to those of the last level.
fn add_candidates(next: &mut SavedSearch, receipts: &[TaskReceipt]) -> Result<()> {
    let codec = next.codec()?;
    let mut exceptional: Vec<u8> = vec![0; next.width as usize];
    for receipt in receipts {
        exceptional.iter_mut().zip(&receipt.exceptional).for_each(|(all, bits)| *all |= bits);
    }
    let open = &mut next.open;
    open.candidates.extend(pieces(receipts).filter(|it| it.at.keys > 0));
    open.logs = logs(open.logs.iter().copied(), &open.candidates);
    if exceptional.iter().any(|bits| *bits != 0) {
        let wider = projection::widen_codec(&codec, &exceptional, ProjectionWidening::Exact);
        next.projection = wider.projection().map(|it| it.saved());
    }
    Ok(())
}

fn apply_growth(next: &mut SavedSearch, plan: &TaskPlan, receipts: &[TaskReceipt]) -> Result<()> {
    let journal = receipts.iter().find_map(TaskReceipt::second_segment).map(|it| it.at.length);
    next.encoding = journal.map(|length| SavedJournal { level: plan.level, length });
    (next.open.unencoded, next.open.unencoded_logs) = (Vec::new(), Vec::new());
    add_candidates(next, receipts)
}

/// Returns the outputs of tasks.
fn pieces(receipts: &[TaskReceipt]) -> impl Iterator<Item = FileSegment> {
    receipts.iter().map(TaskReceipt::segment)
}

fn apply_settling(next: &mut SavedSearch, receipts: &[TaskReceipt]) -> Result<()> {
    let pieces: Vec<FileSegment> = pieces(receipts).collect();
    if pieces.iter().all(|it| it.at.keys == 0) {
        // One process then finds that nothing is left to settle, and decides the verdict.
        (next.open.candidates, next.open.logs) = (Vec::new(), Vec::new());
        return Ok(());
    }
    adopt_levels(next);
    let level = next.store.levels.len() as u32;
    next.store.levels.push_files(&pieces)?;
    let pieces = next.store.levels.level(level as usize);
    next.store.runs.push(SavedRun { first: level, last: level, pieces });
    next.action_counts = next.action_counts().all().to_vec();
    next.findings = save_findings(&next.all_findings()?);
    next.counters += std::mem::take(&mut next.open).counters;
    Ok(())
}

fn apply_merge(next: &mut SavedSearch, plan: &TaskPlan, receipts: &[TaskReceipt]) {
    let (first, last) = next.levels_from(plan.runs_from);
    next.store.runs.truncate(plan.runs_from as usize);
    let pieces = pieces(receipts).filter(|it| it.at.keys > 0).collect();
    next.store.runs.push(SavedRun { first, last, pieces });
    adopt_levels(next);
}

/// Turns levels that one process had in memory into runs in the files of the levels, where other processes find them.
fn adopt_levels(next: &mut SavedSearch) {
    let SavedStore { levels, runs } = &mut next.store;
    for run in runs.iter_mut().filter(|run| run.pieces.is_empty() && run.first == run.last) {
        run.pieces = levels.level(run.first as usize);
    }
}

/// Removes the orphan files, which no manifest names, and the files of the plan.
fn sweep(
    disk: &dyn Disk,
    plan: &TaskPlan,
    before: &SavedSearch,
    after: &SavedSearch,
) -> Result<()> {
    let kept: Vec<FileName> = after.files().collect();
    let stale = before.files().filter(|file| !kept.contains(file)).map(|it| it.to_string());
    let receipts = (0..plan.tasks()).map(|task| receipt::file(plan, task));
    for name in stale.chain(receipts).chain([plan.file()]) {
        remove_if_exists(disk, &name)?;
    }
    // Other processes may still execute a task that was done twice.
    let left = disk.list()?.into_iter().filter(|(name, _)| plan.is_own(name));
    left.into_iter().try_for_each(|(name, _)| remove_if_exists(disk, &name))
}
