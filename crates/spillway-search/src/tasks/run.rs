//! The execution of one task.

use super::plan::{SWEEPING, TaskPhase, TaskPlan};
use super::receipt::{self, PlannedTask, TaskOutput, TaskReceipt};
use super::{PlanOutcome, remove_if_exists};
use crate::checkpoint::{MANIFEST, SavedSearch, save_findings};
use crate::expand::{
    ExpansionPass, ExpansionWorker, LateEncoding, LevelExpansion, UnencodedBuffer, UnencodedLevel,
    exceptional_bits, expand,
};
use crate::external::GrowthError;
use crate::projection::{self, ProjectionWidening};
use crate::{MemoryPlan, SearchControl};
use spill::{
    AppendFile, Candidates, Codec, Disk, Error, FileName, FileSegment, Frontier, KeyMerge,
    KeyPartition, PartitionWorker, Result, SegmentRef, SegmentWriter,
};
use spillway_model::{ExpansionOutcome, StateSpace};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The input of a task that needs the model, besides the directory.
pub struct ExpansionContext<'m> {
    /// The searched system.
    pub model: &'m dyn StateSpace,
    /// Whether executions of actions are counted.
    pub coverage: bool,
    /// The memory plan.
    pub memory: MemoryPlan,
    /// The disk for candidates that do not fit in memory.
    pub scratch: Arc<dyn Disk>,
}

/// A task of a plan.
pub struct SearchTask<'d> {
    disk: &'d dyn Disk,
    plan: TaskPlan,
    saved: SavedSearch,
    number: u32,
}

impl<'d> SearchTask<'d> {
    /// Returns a task of the plan of this name in a directory.
    pub fn find(disk: &'d dyn Disk, id: &str, number: u32) -> Result<PlanOutcome<SearchTask<'d>>> {
        let Some((plan, saved)) = TaskPlan::load(disk, id)? else { return Ok(PlanOutcome::Stale) };
        Ok(match number < plan.tasks() {
            true => PlanOutcome::Done(SearchTask { disk, plan, saved, number }),
            false => PlanOutcome::Missing(number),
        })
    }

    /// Returns its work.
    pub fn phase(&self) -> TaskPhase {
        self.plan.phase
    }

    /// Returns its receipt, if it is done. An invalid receipt is replaced when the task is executed.
    pub fn receipt(&self) -> Result<Option<TaskReceipt>> {
        let of = PlannedTask { plan: &self.plan, saved: &self.saved, task: self.number };
        Ok(TaskReceipt::load(self.disk, of)?.ok())
    }

    /// Expands its part of the last level, or gives bytes to unencoded states, and writes a receipt.
    ///
    /// # Panics
    ///
    /// Panics if its phase [needs no model](TaskPhase::needs_model).
    pub fn run_on_model(&self, with: &ExpansionContext<'_>) -> Result<PlanOutcome<TaskReceipt>> {
        self.run_if_current(|| match self.phase() {
            TaskPhase::Expand => self.run_expansion(with),
            TaskPhase::Grow => self.run_growth(with),
            TaskPhase::Settle | TaskPhase::Merge => panic!("a task that needs the model"),
        })
    }

    /// Settles or merges its range of keys and writes a receipt.
    ///
    /// # Panics
    ///
    /// Panics if its phase [needs the model](TaskPhase::needs_model).
    pub fn combine(&self) -> Result<PlanOutcome<TaskReceipt>> {
        self.run_if_current(|| match self.phase() {
            TaskPhase::Expand | TaskPhase::Grow => panic!("a task that needs no model"),
            TaskPhase::Settle => self.run_settling(),
            TaskPhase::Merge => self.run_merge(),
        })
    }

    fn run_if_current(
        &self,
        work: impl FnOnce() -> Result<TaskReceipt>,
    ) -> Result<PlanOutcome<TaskReceipt>> {
        let begun = Instant::now();
        let done = work().and_then(|receipt| {
            let receipt = TaskReceipt { seconds: begun.elapsed().as_secs_f64(), ..receipt };
            receipt.write(self.disk, &self.plan).map(|()| receipt)
        });
        if done.as_ref().is_err_and(Error::is_not_found) {
            // Another process is removing files; the plan is removed soon, too.
            std::thread::sleep(SWEEPING);
        }
        // Another process may have committed and removed files that this needs, or left some.
        if !self.plan.is_current(self.disk)? {
            remove_if_exists(self.disk, &receipt::file(&self.plan, self.number))?;
            return Ok(PlanOutcome::Stale);
        }
        done.map(PlanOutcome::Done)
    }

    fn run_expansion(&self, with: &ExpansionContext<'_>) -> Result<TaskReceipt> {
        let ExpansionContext { model, memory, scratch, .. } = with;
        let (codec, level) = (self.saved.codec()?, self.plan.level);
        self.saved.prepare_model(*model, self.disk)?;
        let pieces = self.saved.store.levels.level(level as usize);
        let [from, until] = [0, 1].map(|it| self.plan.states[self.number as usize + it]);
        let apart = self.saved.apart(self.disk, &codec);
        let frontier = Frontier::Encoded(apart.open_numbers(&pieces, from..until)?);
        let mut workers = self.workers(with, &codec);
        // A task keeps no store, so that memory goes to the candidates.
        let spare = (memory.young + memory.filter) as usize / workers.len();
        workers.iter_mut().for_each(|it| it.grow_buffer(spare));
        let part = LevelExpansion {
            number: level,
            last: level,
            steps: ExpansionPass::All,
            frontier: &frontier,
            codec: &codec,
            expanded: from,
            until,
            ending: None,
        };
        let control = SearchControl::new(Duration::MAX, None);
        let expanded = expand(*model, &part, &mut workers, &control, &|| false)?;
        let second = self.write_unencoded(&mut workers, &**scratch)?;
        let mut receipt = self.write_candidates(&mut workers, &codec, scratch)?;
        receipt.outputs.extend(second);
        let ExpansionOutcome { counters, action_counts, findings } = expanded.outcome;
        Ok(TaskReceipt {
            counters,
            action_counts: if with.coverage { action_counts.all().to_vec() } else { Vec::new() },
            findings: save_findings(&findings),
            ..receipt
        })
    }

    /// Gives bytes to the unencoded states of the last level, and writes the journal as a new file.
    fn run_growth(&self, with: &ExpansionContext<'_>) -> Result<TaskReceipt> {
        let ExpansionContext { model, memory, scratch, .. } = with;
        let (codec, level) = (self.saved.codec()?, self.plan.level);
        self.saved.prepare_model(*model, self.disk)?;
        let Some(growing) = model.capabilities().growing else {
            return Err(Error::corrupt(MANIFEST, 0, "it has unencoded states of another model"));
        };
        let unencoded =
            UnencodedLevel::open(self.disk, std::iter::empty(), &self.saved.open.unencoded)?;
        let mut workers = self.workers(with, &codec);
        let late = LateEncoding { model: *model, growing, level, edge_bytes: 0 };
        let gained = late.encode(unencoded, &mut workers[0], &mut |_| {})?;
        GrowthError::check_size(growing, memory)?;
        let file = FileName::Encoding { level };
        let journal = self.write_file(file, |out| {
            if let Some(before) = self.saved.encoding {
                out.write(&self.disk.map(&before.file().to_string(), 0..before.length)?)?;
            }
            out.write(&gained)?;
            Ok(SegmentRef { offset: 0, length: out.len(), keys: 0 })
        })?;
        let mut receipt = self.write_candidates(&mut workers, &codec, scratch)?;
        receipt.outputs.push(journal);
        Ok(receipt)
    }

    fn workers(&self, with: &ExpansionContext<'_>, codec: &Codec) -> Vec<ExpansionWorker> {
        ExpansionWorker::crew(&with.memory, with.model.width(), None, codec, &with.scratch)
    }

    /// Writes the unencoded states of all workers as one run, if there are any.
    fn write_unencoded(
        &self,
        workers: &mut [ExpansionWorker],
        scratch: &dyn Disk,
    ) -> Result<Option<TaskOutput>> {
        let mut buffers = workers.iter_mut().filter_map(ExpansionWorker::unencoded_mut);
        buffers.try_for_each(UnencodedBuffer::flush)?;
        let buffers = workers.iter().filter_map(ExpansionWorker::unencoded);
        let unencoded = UnencodedLevel::open(scratch, buffers, &[])?;
        match self.plan.second_output(&self.saved, self.number) {
            Some(file) if !unencoded.is_empty() => {
                self.write_file(file, |out| unencoded.write(out)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Writes the candidates of all workers as the output.
    fn write_candidates(
        &self,
        workers: &mut [ExpansionWorker],
        codec: &Codec,
        scratch: &Arc<dyn Disk>,
    ) -> Result<TaskReceipt> {
        let exceptional = exceptional_bits(workers);
        let wider = exceptional.as_ref().map_or(codec.clone(), |it| {
            projection::widen_codec(codec, it, ProjectionWidening::Exact)
        });
        workers.iter_mut().try_for_each(|it| it.change_codec(&wider, self.plan.level))?;
        let receipt = self.write_output(|out| self.join(workers, scratch, &wider, out))?;
        Ok(TaskReceipt { exceptional: exceptional.unwrap_or_default(), ..receipt })
    }

    /// Writes the candidates of all workers as one run. The runs of the workers depend on the memory; their union does
    /// not.
    fn join(
        &self,
        workers: &mut [ExpansionWorker],
        scratch: &Arc<dyn Disk>,
        codec: &Codec,
        out: &mut dyn AppendFile,
    ) -> Result<SegmentRef> {
        let whole = self.saved.width as usize;
        let mut segments = Vec::new();
        for worker in workers.iter_mut() {
            worker.flush()?;
            let all: Vec<FileSegment> = worker.pieces().copied().collect();
            segments.extend(
                PartitionWorker { disk: &**scratch, whole_width: whole, codec }.open(&all)?,
            );
        }
        let slices = workers.iter().map(ExpansionWorker::sorted).collect();
        let width = codec.key_width(whole);
        let sources = Candidates { slices, segments }.sources(width, None, None);
        let mut writer = SegmentWriter::new(whole, out).with_codec(codec).without_compression();
        spill::drain(&mut KeyMerge::new(width, sources), |batch| writer.push(batch))?;
        writer.finish_or_empty()
    }

    fn run_settling(&self) -> Result<TaskReceipt> {
        let codec = self.saved.codec()?;
        let apart = self.saved.apart(self.disk, &codec);
        let part = self.key_range();
        let candidates = apart.open_keys(&self.saved.open.candidates, part)?;
        let runs = self.saved.store.runs.iter();
        let runs = runs.map(|it| apart.open_keys(&self.saved.pieces_of(it), part));
        let runs = runs.collect::<Result<Vec<_>>>()?;
        self.write_output(|out| apart.settle(&candidates, &runs, part, out))
    }

    fn run_merge(&self) -> Result<TaskReceipt> {
        let codec = self.saved.codec()?;
        let apart = self.saved.apart(self.disk, &codec);
        let part = self.key_range();
        let segments = apart.open_keys(&self.saved.pieces_from(self.plan.runs_from), part)?;
        self.write_output(|out| apart.merge(&segments, part, out))
    }

    /// Returns its range of keys.
    fn key_range(&self) -> KeyPartition<'_> {
        KeyPartition { boundaries: &self.plan.borders, number: self.number as usize }
    }

    /// Writes its output, and returns a receipt without other results.
    fn write_output(
        &self,
        write: impl FnOnce(&mut dyn AppendFile) -> Result<SegmentRef>,
    ) -> Result<TaskReceipt> {
        let output = self.write_file(self.plan.output(&self.saved, self.number), write)?;
        Ok(TaskReceipt::of(&self.plan, self.number, output))
    }

    /// Writes a file durably. It gets its name when it is complete.
    fn write_file(
        &self,
        file: FileName,
        write: impl FnOnce(&mut dyn AppendFile) -> Result<SegmentRef>,
    ) -> Result<TaskOutput> {
        let name = file.to_string();
        let own = self.plan.own(&name);
        let mut out = self.disk.create(&own)?;
        let at = write(&mut *out)?;
        out.sync()?;
        drop(out);
        if !self.plan.is_current(self.disk)? {
            // The file with that name may now belong to another plan. The next query finds that this one is stale.
            return Err(Error::io("commit", name, ErrorKind::NotFound.into()));
        }
        self.disk.rename(&own, &name)?;
        self.disk.sync_dir()?;
        TaskOutput::of(self.disk, FileSegment { file, at })
    }
}
