//! Doing one task.

use super::plan::{Phase, Plan, SWEEPING};
use super::receipt::{self, OfPlan, Receipt};
use super::{Followed, remove_if_there};
use crate::exec::Model;
use crate::search::checkpoint::{Saved, save_findings};
use crate::search::expand::{PartlyExpanded, Steps, Worker, exceptional_bits, expand};
use crate::search::{Control, MemoryPlan, project};
use spill::{
    Apart, Append, Candidates, Codec, Disk, Error, FileSegment, Frontier, Merge, Part, Result,
    SegmentRef, SegmentWriter,
};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What expanding needs beside the directory.
pub struct Expanding<'m> {
    /// The model as it is searched.
    pub model: &'m dyn Model,
    /// Whether it is counted how often each action is taken.
    pub coverage: bool,
    /// How memory is shared out.
    pub memory: MemoryPlan,
    /// Where candidates that are too many for memory lie meanwhile.
    pub scratch: Arc<dyn Disk>,
}

/// A task of a plan.
pub struct Task<'d> {
    disk: &'d dyn Disk,
    plan: Plan,
    saved: Saved,
    number: u32,
}

impl<'d> Task<'d> {
    /// A task of the plan of this name in a directory.
    pub fn find(disk: &'d dyn Disk, id: &str, number: u32) -> Result<Followed<Task<'d>>> {
        let Some((plan, saved)) = Plan::load(disk, id)? else { return Ok(Followed::Stale) };
        Ok(match number < plan.tasks() {
            true => Followed::Done(Task { disk, plan, saved, number }),
            false => Followed::Missing(number),
        })
    }

    /// What it does.
    pub fn phase(&self) -> Phase {
        self.plan.phase
    }

    /// Its receipt, if it has been done. One that does not count is replaced when the task is done.
    pub fn done(&self) -> Result<Option<Receipt>> {
        let of = OfPlan { plan: &self.plan, saved: &self.saved, task: self.number };
        Ok(Receipt::load(self.disk, of)?.ok())
    }

    /// Expands its part of the last level, and leaves a receipt.
    ///
    /// # Panics
    ///
    /// If it is of a plan that does something else.
    pub fn expand(&self, with: &Expanding<'_>) -> Result<Followed<Receipt>> {
        assert!(self.phase() == Phase::Expand, "a task that expands");
        self.does(|| self.expanded(with))
    }

    /// Settles or merges its range of keys, and leaves a receipt.
    ///
    /// # Panics
    ///
    /// If it is of a plan that expands.
    pub fn combine(&self) -> Result<Followed<Receipt>> {
        self.does(|| match self.phase() {
            Phase::Expand => panic!("a task that settles or merges"),
            Phase::Settle => self.settled(),
            Phase::Merge => self.merged(),
        })
    }

    fn does(&self, work: impl FnOnce() -> Result<Receipt>) -> Result<Followed<Receipt>> {
        let begun = Instant::now();
        let done = work().and_then(|receipt| {
            let receipt = Receipt { seconds: begun.elapsed().as_secs_f64(), ..receipt };
            receipt.leave(self.disk, &self.plan).map(|()| receipt)
        });
        if done.as_ref().is_err_and(Error::is_not_found) {
            // Somebody is sweeping: in a moment the plan is gone, too.
            std::thread::sleep(SWEEPING);
        }
        // Somebody may have committed meanwhile, and removed what this rests on, or left.
        if !self.plan.is_current(self.disk)? {
            remove_if_there(self.disk, &receipt::file(&self.plan, self.number))?;
            return Ok(Followed::Stale);
        }
        done.map(Followed::Done)
    }

    fn expanded(&self, with: &Expanding<'_>) -> Result<Receipt> {
        let Expanding { model, memory, scratch, .. } = with;
        let (codec, level) = (self.saved.codec()?, self.plan.level);
        let pieces = self.saved.store.levels.level(level as usize);
        let [from, until] = [0, 1].map(|it| self.plan.states[self.number as usize + it]);
        let apart = self.saved.apart(self.disk, &codec);
        let frontier = Frontier::Encoded(apart.open_numbers(&pieces, from..until)?);
        let mut workers = Worker::crew(memory, model.width(), None, &codec, scratch);
        // There is no store beside the candidates.
        let spare = (memory.young + memory.filter) as usize / workers.len();
        workers.iter_mut().for_each(|it| it.borrow(spare));
        let part = PartlyExpanded {
            number: level,
            last: level,
            steps: Steps::All,
            frontier: &frontier,
            codec: &codec,
            expanded: from,
            until,
            ending: None,
        };
        let control = Control::new(Duration::MAX, None);
        let expanded = expand(*model, &part, &mut workers, &control, &|| false)?;
        let exceptional = exceptional_bits(&workers);
        let wider = exceptional.as_ref().map_or(codec.clone(), |it| project::wider(&codec, it));
        workers.iter_mut().try_for_each(|it| it.change_codec(&wider, level))?;
        let receipt = self.written(|out| self.join(&mut workers, (scratch, &wider), out))?;
        Ok(Receipt {
            exceptional: exceptional.unwrap_or_default(),
            transitions: expanded.transitions,
            passed: expanded.passed,
            beyond: expanded.beyond,
            taken: if with.coverage { expanded.taken.all().to_vec() } else { Vec::new() },
            findings: save_findings(&expanded.findings),
            ..receipt
        })
    }

    /// Writes the candidates of all workers as one run: which runs there were depends on the memory, and what there is in
    /// all does not.
    fn join(
        &self,
        workers: &mut [Worker],
        (scratch, codec): (&Arc<dyn Disk>, &Codec),
        out: &mut dyn Append,
    ) -> Result<SegmentRef> {
        let whole = self.saved.width as usize;
        let mut segments = Vec::new();
        for worker in workers.iter_mut() {
            worker.flush()?;
            let all: Vec<FileSegment> = worker.pieces().copied().collect();
            segments.extend(Apart { disk: &**scratch, whole, codec }.open(&all)?);
        }
        let slices = workers.iter().map(Worker::sorted).collect();
        let width = codec.key_width(whole);
        let sources = Candidates { slices, segments }.sources(width, None, None);
        let mut writer = SegmentWriter::new(whole, out).coded(codec).uncompressed();
        spill::drain(&mut Merge::new(width, sources), |batch| writer.push(batch))?;
        writer.finish_some()
    }

    fn settled(&self) -> Result<Receipt> {
        let codec = self.saved.codec()?;
        let apart = self.saved.apart(self.disk, &codec);
        let part = self.part();
        let candidates = apart.open_keys(&self.saved.open.candidates, part)?;
        let runs = self.saved.store.runs.iter();
        let runs = runs.map(|it| apart.open_keys(&self.saved.pieces_of(it), part));
        let runs = runs.collect::<Result<Vec<_>>>()?;
        self.written(|out| apart.settle(&candidates, &runs, part, out))
    }

    fn merged(&self) -> Result<Receipt> {
        let codec = self.saved.codec()?;
        let apart = self.saved.apart(self.disk, &codec);
        let part = self.part();
        let segments = apart.open_keys(&self.saved.pieces_from(self.plan.runs_from), part)?;
        self.written(|out| apart.merge(&segments, part, out))
    }

    /// Its range of keys.
    fn part(&self) -> Part<'_> {
        Part { borders: &self.plan.borders, number: self.number as usize }
    }

    /// Has its file written, durably, that gets its name when all of it is there.
    fn written(
        &self,
        write: impl FnOnce(&mut dyn Append) -> Result<SegmentRef>,
    ) -> Result<Receipt> {
        let file = self.plan.output(&self.saved, self.number);
        let name = file.to_string();
        let own = self.plan.own(&name);
        let mut out = self.disk.create(&own)?;
        let at = write(&mut *out)?;
        out.sync()?;
        drop(out);
        if !self.plan.is_current(self.disk)? {
            // What has that name may be of another plan by now. Whoever asks again is told that this one is stale.
            return Err(Error::io("commit", name, ErrorKind::NotFound.into()));
        }
        self.disk.rename(&own, &name)?;
        self.disk.sync_dir()?;
        Receipt::of(&self.plan, self.number, self.disk, FileSegment { file, at })
    }
}
