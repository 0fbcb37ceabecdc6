//! Search directories: made, recognised, locked, described.
//!
//! Beside what the search keeps in it, a directory holds the *job*: the model's text and the flags
//! that decide what is searched for, so that it can be resumed anywhere by itself.

use super::answer::{ANSWER, Answer};
use super::error::{Error, Taken};
use super::means::{MEANS, Means};
use super::reduce::{Reduce, Steps};
use super::searched::Decided;
use super::sitting::{SITTING, Sitting};
use super::watched::{Fairness, Kept, Watched};
use super::{Searched, TextModel};
use crate::exec::Model;
use crate::front::{ClaimChoice, Language, Options};
use crate::ir::layout::GroupId;
use crate::ir::{EndRule, Overflow};
use crate::reduce::claim::EndedRuns;
use crate::reduce::dominate::Sense;
use crate::reduce::partial_order::Way;
use crate::reduce::pruning::Pruning;
use crate::reduce::reversible::Rules;
use crate::reduce::rewriting::Rewritings;
use crate::reduce::symmetry::Effort;
use crate::reduce::{Refused, Wished};
use crate::report::RUST;
use crate::search::checkpoint::{FORMAT, MANIFEST, Saved};
use crate::search::storage::SavedStorage;
use crate::search::{Checks, Limits, Storage};
use crate::source::Sources;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Metered, RealDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the job's file.
pub(super) const JOB: &str = "job";

/// Names of temporary search directories begin with this.
pub(super) const PREFIX: &str = "spillway-";

/// A file of this name is in a directory that was made since none was named: what comes of it, goes with its verdict.
pub(super) const TEMPORARY: &str = "temporary";

/// What a job says where it is still to be decided how steps are chosen.
const UNDECIDED: u8 = 255;

/// Files that may lie in a directory in which no search has begun.
const HARMLESS: [&str; 2] = ["lock", "job.new"];

/// A search directory that this process holds the lock of.
pub struct Directory {
    /// Where it is.
    pub path: PathBuf,
    /// Its files, counted.
    pub disk: Arc<Metered>,
    /// What the sitting before took, if there was one that told.
    pub kept: Option<Means>,
    /// Removes it when dropped.
    temporary: Option<Removed>,
}

/// Removes a directory when dropped.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // What cannot be removed is listed by `status --all`.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a directory searches for.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct Job {
    language: String,
    /// Names and texts of the model's files.
    files: Vec<(String, String)>,
    defines: Vec<(String, i64)>,
    /// How many instances a `run` in a loop may make, if that is said.
    slots: Option<u32>,
    /// Whether the model is searched with a claim, if it has one.
    with_claim: bool,
    /// Which that is, if that is said.
    claim: Option<String>,
    wraps: bool,
    /// Whether what is sent to a full channel is lost.
    lossy: bool,
    /// What counts as a deadlock: 0 as the language has it, 1 stuck, 2 stuttering.
    deadlock: u8,
    /// The passes by which the program is rewritten: a bit for each.
    rewritings: u8,
    /// Whether one variable of each set that only count on from each other is always 0.
    linear: bool,
    /// The trouble taken over symmetric states: 0 none, 1 exact, 2 fast.
    symmetry: u8,
    /// Whether processes are exchanged, too.
    processes: bool,
    /// The names of the rules that are undone, if any are (all that can be, if none is named), and whether that
    /// is checked.
    reversible: Option<(Vec<String>, bool)>,
    /// The variables by which states dominate others, and whether larger values do, if they are left out; all that are found,
    /// if none is named.
    dominate: Option<Vec<(String, bool)>>,
    /// How steps are chosen: 0 all are taken, 255 that is to be decided, else the code of the way.
    partial_order: u8,
    /// Why partial-order reduction was left off, where nobody asked for it.
    left_off: Option<SavedRefusal>,
    /// The groups of the states' cells in key order, by number in declaration order.
    order: Vec<u32>,
    /// Of the model with that order.
    digest: [u8; 32],
    /// Deadlock, assertions, invariants, faults, claims.
    checks: [bool; 5],
    keep_going: bool,
    /// Whether a shortest counterexample is wanted, though steps may be put off.
    shortest: bool,
    /// What is asked of runs, if something is.
    runs: Option<SavedRuns>,
    /// How states are stored.
    storage: SavedStorage,
}

/// What is asked of runs.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
struct SavedRuns {
    kept: Kept,
    /// Whether those that end repeat their last state.
    stutter: bool,
    /// Whether only those that are weakly fair are judged.
    is_fair: bool,
}

/// What was left off, and why.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
struct SavedRefusal {
    name: String,
    why: String,
}

impl Job {
    /// The job of searching `model` as it is searched.
    pub fn new(model: &TextModel, searched: &Searched, limits: &Limits, storage: &Storage) -> Job {
        let (wished, left_off) = (searched.wished(), searched.stack().left_off());
        let Checks { deadlock, assertions, invariants, faults, claims } = limits.checks;
        Job {
            language: model.language.name.into(),
            files: model.sources.iter().map(|it| (it.name.clone(), it.text.clone())).collect(),
            defines: model.options.defines.clone(),
            slots: model.options.slots,
            with_claim: model.options.claim != ClaimChoice::Leave,
            claim: match &model.options.claim {
                ClaimChoice::Named(name) => Some(name.clone()),
                ClaimChoice::First | ClaimChoice::Leave => None,
            },
            wraps: model.options.overflow == Some(Overflow::Wraps),
            lossy: model.options.lossy,
            deadlock: match model.options.deadlock {
                None => 0,
                Some(EndRule::NeverStuttering) => 2,
                Some(_) => 1,
            },
            rewritings: wished.rewritings.code(),
            linear: wished.linear,
            partial_order: match wished.partial_order {
                _ if searched.is_undecided() => UNDECIDED,
                None => 0,
                Some((way, _)) => way.code(),
            },
            left_off: left_off
                .map(|it| SavedRefusal { name: it.name.clone(), why: it.why.clone() }),
            symmetry: match wished.symmetry {
                None => 0,
                Some(Effort::Exact) => 1,
                Some(Effort::Fast) => 2,
            },
            processes: wished.processes,
            reversible: wished.reversible.map(|(rules, _)| (rules.named, rules.is_checked)),
            dominate: wished.pruning.dominate.map(|named| {
                named.into_iter().map(|(name, sense)| (name, sense == Sense::Up)).collect()
            }),
            order: model.interp.layout().order.iter().map(|group| group.0).collect(),
            digest: searched.model().digest(),
            checks: [deadlock, assertions, invariants, faults, claims],
            keep_going: !limits.stop_on_violation,
            shortest: false,
            runs: None,
            storage: storage.saved(),
        }
    }

    /// The job of searching a model that is a Rust type.
    pub fn of_rust(name: &str, model: &dyn Model, limits: &Limits, storage: &Storage) -> Job {
        let Checks { deadlock, assertions, invariants, faults, claims } = limits.checks;
        Job {
            language: RUST.into(),
            files: vec![(name.into(), String::new())],
            defines: Vec::new(),
            slots: None,
            with_claim: false,
            claim: None,
            wraps: false,
            lossy: false,
            deadlock: 0,
            rewritings: 0,
            linear: false,
            symmetry: 0,
            processes: false,
            reversible: None,
            dominate: None,
            partial_order: 0,
            left_off: None,
            order: Vec::new(),
            digest: model.digest(),
            checks: [deadlock, assertions, invariants, faults, claims],
            keep_going: !limits.stop_on_violation,
            shortest: false,
            runs: None,
            storage: storage.saved(),
        }
    }

    /// The same, where a shortest counterexample is wanted or not.
    pub fn for_shortest(self, shortest: bool) -> Job {
        Job { shortest, ..self }
    }

    /// The job of finding out whether runs of a model have a property.
    pub fn of_runs(
        watched: &Watched,
        fairness: Fairness,
        limits: &Limits,
        storage: &Storage,
    ) -> Job {
        let ended = watched.model.wished.runs;
        let mut job = Job::new(&watched.model, &watched.model.searched(), limits, storage);
        job.files.drain(1..1 + watched.asked_in);
        let (stutter, is_fair) = (ended == Some(EndedRuns::Stutter), fairness == Fairness::Weak);
        Job { runs: Some(SavedRuns { kept: watched.kept.clone(), stutter, is_fair }), ..job }
    }

    /// What is asked of runs, if something is, what becomes of those that end, and which are judged.
    pub fn runs(&self) -> Option<(&Kept, EndedRuns, Fairness)> {
        let SavedRuns { kept, stutter, is_fair } = self.runs.as_ref()?;
        let ended = if *stutter { EndedRuns::Stutter } else { EndedRuns::Ignored };
        Some((kept, ended, if *is_fair { Fairness::Weak } else { Fairness::None }))
    }

    /// Whether a shortest counterexample is wanted.
    pub fn wants_shortest(&self) -> bool {
        self.shortest
    }

    /// The name of the model's file.
    pub fn model_name(&self) -> &str {
        self.files.first().map_or("", |(name, _)| name)
    }

    /// The model's files that have another text now than when the search began.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        let is_other = |(name, text): &&(String, String)| {
            std::fs::read(name).is_ok_and(|now| now != text.as_bytes())
        };
        self.files.iter().filter(is_other).map(|(name, _)| name.as_str())
    }

    /// The model's language.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// What to look for; `max_states` is each sitting's own.
    pub fn limits(&self, max_states: Option<u64>) -> Limits {
        let [deadlock, assertions, invariants, faults, claims] = self.checks;
        Limits {
            checks: Checks { deadlock, assertions, invariants, faults, claims },
            stop_on_violation: !self.keep_going,
            max_states,
        }
    }

    /// How states are stored, in a search of a model with states of `width` bytes.
    pub fn storage(&self, dir: &Path, width: usize) -> Result<Storage, Error> {
        self.storage.restore(width).ok_or_else(|| {
            let what = "its codec is none for states of this model";
            Error::Open(dir.to_path_buf(), spill::Error::corrupt(JOB, 0, what))
        })
    }

    /// What that is called.
    pub fn storage_name(&self) -> &'static str {
        self.storage.name()
    }

    /// Whether the other job's search is of the same model; its states may have another order.
    fn is_of_same_model(&self, other: &Job) -> bool {
        let of = |job: &Job| {
            let read = (job.language.clone(), job.defines.clone(), job.slots);
            (read, job.claim.clone(), job.with_claim, (job.wraps, job.lossy), job.deadlock)
        };
        let texts = |job: &Job| job.files.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
        of(self) == of(other) && texts(self) == texts(other)
    }

    /// Whether its search is of this model: of the same texts, with the same constants. How it is read otherwise is the
    /// search's.
    pub fn is_of(&self, model: &TextModel) -> bool {
        let texts = self.files.iter().map(|(_, text)| text.as_str());
        self.language == model.language.name
            && self.defines == model.options.defines
            && texts.eq(model.sources.iter().map(|it| it.text.as_str()))
    }

    /// Whether its model is a Rust type: what that is, only the program knows that began the search.
    pub fn is_of_rust_type(&self) -> bool {
        self.language == RUST
    }

    /// The model's language, its files, and how they are read.
    fn to_read(&self) -> Result<(&'static Language, Sources, Options), Error> {
        if self.is_of_rust_type() {
            return Err(Error::RustType(self.model_name().into()));
        }
        let mut sources = Sources::default();
        for (name, text) in &self.files {
            sources.add(name.as_str(), text.as_str());
        }
        let overflow = if self.wraps { Overflow::Wraps } else { Overflow::Fails };
        let deadlock = match self.deadlock {
            0 => None,
            1 => Some(EndRule::Never),
            _ => Some(EndRule::NeverStuttering),
        };
        let claim = match &self.claim {
            _ if !self.with_claim => ClaimChoice::Leave,
            None => ClaimChoice::First,
            Some(name) => ClaimChoice::Named(name.clone()),
        };
        let (defines, slots, lossy) = (self.defines.clone(), self.slots, self.lossy);
        let options = Options { defines, overflow: Some(overflow), deadlock, slots, claim, lossy };
        let language = Language::from_name(&self.language)
            .ok_or_else(|| Error::Language(self.language.clone()))?;
        Ok((language, sources, options))
    }

    /// Reads the model again, from the text that was kept in `dir`; with what is asked of its runs, if something is.
    pub fn model(&self, dir: &Path) -> Result<TextModel, Error> {
        if let Some(watched) = self.watched()? {
            return Ok(watched.model);
        }
        let (language, sources, options) = self.to_read()?;
        let (model, _) = TextModel::load(language, sources, options)?;
        let order: Vec<GroupId> = self.order.iter().copied().map(GroupId).collect();
        let model = model.with_order(&order).map_err(|error| {
            Error::Open(
                dir.to_path_buf(),
                spill::Error::corrupt(JOB, 0, format!("the key order: {error}")),
            )
        })?;
        let (wished, left_off) = (self.wished(), self.left_off());
        let model = TextModel { wished, left_off, ..model };
        self.check_digest(&model)?;
        Ok(model)
    }

    /// Reads the model again with what is asked of its runs, if something is.
    pub fn watched(&self) -> Result<Option<Watched>, Error> {
        let Some((kept, ..)) = self.runs() else { return Ok(None) };
        let (language, sources, options) = self.to_read()?;
        let (mut watched, _) = Watched::load(language, sources, options, kept.wanted())?;
        watched.model.wished = self.wished();
        watched.model.left_off = self.left_off();
        self.check_digest(&watched.model)?;
        Ok(Some(watched))
    }

    /// How the state space is to be reduced, where that is still to be decided: the search has not begun.
    pub fn undecided(&self) -> Option<Reduce> {
        let Wished { reversible, rewritings, linear, symmetry, processes, pruning, .. } =
            self.wished();
        let (reversible, steps) = (reversible.map(|(rules, _)| rules), Steps::Auto);
        let is_open = self.partial_order == UNDECIDED;
        is_open.then_some(Reduce {
            reversible,
            rewritings,
            linear,
            symmetry,
            processes,
            pruning,
            steps,
        })
    }

    /// How the state space is reduced.
    fn wished(&self) -> Wished {
        let symmetry = match self.symmetry {
            0 => None,
            1 => Some(Effort::Exact),
            _ => Some(Effort::Fast),
        };
        let checks = self.limits(None).checks;
        let way = Way::of_code(self.partial_order);
        let rules = |(named, is_checked)| (Rules { named, is_checked }, checks);
        let reversible = self.reversible.clone().map(rules);
        let partial_order = way.map(|way| (way, checks));
        let rewritings = Rewritings::of_code(self.rewritings, checks);
        let Job { linear, processes, .. } = *self;
        let runs = self.runs().map(|(_, ended, _)| ended);
        let pruning = self.pruning(checks);
        Wished { reversible, rewritings, linear, symmetry, processes, partial_order, pruning, runs }
    }

    /// What need not be explored, or visited.
    fn pruning(&self, checks: Checks) -> Pruning {
        let sense = |is_up| if is_up { Sense::Up } else { Sense::Down };
        let named = |it: &Vec<(String, bool)>| {
            it.iter().map(|(name, is_up)| (name.clone(), sense(*is_up))).collect()
        };
        Pruning { dominate: self.dominate.as_ref().map(named), checks }
    }

    /// What it is not reduced by, as that would not pay.
    fn left_off(&self) -> Option<Refused> {
        let SavedRefusal { name, why } = self.left_off.clone()?;
        Some(Refused { name, why })
    }

    fn check_digest(&self, model: &TextModel) -> Result<(), Error> {
        match model.searched().model().digest() == self.digest {
            true => Ok(()),
            false => Err(Error::Understood),
        }
    }

    fn commit(&self, disk: &dyn Disk) -> spill::Result<()> {
        spill::commit_value(disk, JOB, FORMAT, self)
    }

    /// The digest of the model.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Reads the job of the search in `disk`.
    pub fn load(disk: &dyn Disk) -> spill::Result<Job> {
        spill::load_value(disk, JOB, FORMAT)
    }
}

impl Directory {
    /// A new directory for `job`: at `path`, or a temporary one.
    pub fn create(
        path: Option<&Path>,
        job: &Job,
        disk_limit: Option<u64>,
    ) -> Result<Directory, Error> {
        let (path, temporary) = match path {
            Some(path) => (path.to_path_buf(), None),
            None => {
                let made = tempfile::Builder::new().prefix(PREFIX).tempdir();
                let made = made.map_err(|error| Error::Temporary(std::env::temp_dir(), error))?;
                let path = made.keep();
                (path.clone(), Some(Removed(path)))
            }
        };
        std::fs::create_dir_all(&path).map_err(|error| Error::Create(path.clone(), error))?;
        // Its own name should survive what its files survive; where it cannot be made to, it may not.
        if let Some(parent) = path.canonicalize().ok().as_deref().and_then(Path::parent) {
            let _ = std::fs::File::open(parent).and_then(|parent| parent.sync_all());
        }
        refuse_if_used(&path, job)?;
        let directory = Directory::lock(path, temporary, disk_limit)?;
        let failed = |error| Error::Begin(directory.path.clone(), error);
        if directory.is_temporary() {
            let marked = std::fs::write(directory.path.join(TEMPORARY), "");
            marked.map_err(|error| failed(spill::Error::io("create", TEMPORARY, error)))?;
        }
        job.commit(&*directory.disk).map_err(failed)?;
        Ok(directory)
    }

    /// Refuses a place where a new directory for `job` cannot be made, as something else is there.
    pub fn refuse_if_used(path: &Path, job: &Job) -> Result<(), Error> {
        if path.exists() { refuse_if_used(path, job) } else { Ok(()) }
    }

    /// A directory that a search has begun in, and what lies in it. It may take what it might before, if nothing else is said.
    pub fn open(path: &Path, disk_limit: Option<u64>) -> Result<(Directory, Contents), Error> {
        let before = Contents::read(path)?.means;
        let disk_limit = disk_limit.or(before.and_then(|it| it.disk_limit));
        let directory = Directory::lock(path.to_path_buf(), None, disk_limit)?;
        // Read again: another process may have ended its search just before the lock was taken.
        let contents = Contents::read(path)?;
        Ok((Directory { kept: contents.means, ..directory }, contents))
    }

    /// Whether a search has begun in a directory.
    pub fn has_search(path: &Path) -> bool {
        path.join(JOB).is_file()
    }

    /// How the search in a directory is reduced.
    pub(super) fn decided(path: &Path) -> Result<Decided, Error> {
        let job = Contents::read(path)?.job;
        let is_open = job.undecided().is_some();
        Ok(Decided { wished: job.wished(), left_off: job.left_off(), is_open })
    }

    /// A directory in which a search has begun that is to be gone on with: the same job's. With its last
    /// checkpoint, if it made one.
    pub fn go_on(
        path: &Path,
        job: &Job,
        disk_limit: Option<u64>,
    ) -> Result<(Directory, Option<Saved>), Error> {
        let (directory, Contents { job: theirs, saved, .. }) = Directory::open(path, disk_limit)?;
        if theirs.undecided().is_some() && theirs.is_of_same_model(job) {
            directory.decide(job)?;
            return Ok((directory, None));
        }
        let wishes =
            |job: &Job| (job.checks, job.keep_going, job.storage.clone(), job.runs.clone());
        let taken = match theirs.digest == job.digest {
            true if wishes(&theirs) == wishes(job) => return Ok((directory, saved)),
            true => Taken::Otherwise,
            false => Taken::OtherModel(theirs.model_name().into()),
        };
        Err(Error::Taken(path.to_path_buf(), taken))
    }

    /// Takes this job instead of one of which it was still to be decided how it is reduced.
    pub fn decide(&self, job: &Job) -> Result<(), Error> {
        job.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Keeps what a search in memory came to, so that none is needed here.
    pub fn keep_answer(&self, answer: &Answer) -> Result<(), Error> {
        answer.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Keeps what this sitting takes for the next one.
    pub fn keep_means(&self, means: &Means) -> Result<(), Error> {
        means.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// The same, where it is not what the sitting before took. What is refused is not to be kept.
    pub fn keep_changed_means(&self, means: &Means) -> Result<(), Error> {
        match self.kept == Some(*means) {
            true => Ok(()),
            false => self.keep_means(means),
        }
    }

    fn lock(
        path: PathBuf,
        temporary: Option<Removed>,
        disk_limit: Option<u64>,
    ) -> Result<Directory, Error> {
        let open = || -> spill::Result<Metered> {
            let real = RealDisk::open(&path)?;
            real.lock()?;
            Metered::new(Arc::new(real), disk_limit)
        };
        let disk = open().map_err(|error| Error::Open(path.clone(), error))?;
        Ok(Directory { path, disk: Arc::new(disk), kept: None, temporary })
    }

    /// Keeps the directory even if it is a temporary one.
    pub fn keep(&mut self) {
        // What is not dropped removes nothing.
        self.temporary.take().into_iter().for_each(std::mem::forget);
    }

    /// Has the directory removed that was gone on with, unless it is kept from now on, if it is a temporary one: its search
    /// has come to its end.
    pub fn remove_if_temporary(&mut self) {
        if self.temporary.is_none() && is_temporary(&self.path) {
            self.temporary = Some(Removed(self.path.clone()));
        }
    }

    /// Leaves nothing of a search that is to be made again.
    pub fn discard(self) {
        let Directory { path, disk, temporary, .. } = self;
        drop(disk);
        if temporary.is_none() {
            // What cannot be removed is found, and told, when the directory is to be used again.
            let files = std::fs::read_dir(&path).into_iter().flatten().flatten();
            files.for_each(|file| drop(std::fs::remove_file(file.path())));
        }
    }

    /// Whether it will be removed.
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }
}

/// What lies in a search directory, read without touching it.
pub struct Contents {
    /// What is searched for.
    pub job: Job,
    /// The last checkpoint.
    pub saved: Option<Saved>,
    /// What was found in memory, if that was enough.
    pub answer: Option<Answer>,
    /// What the last sitting takes, if it told.
    pub means: Option<Means>,
    /// How the last sitting began, if it told: only to be shown.
    pub sitting: Option<Sitting>,
    /// The bytes of all files.
    pub bytes: u64,
    /// Whether a search is running in it.
    pub running: bool,
}

impl Contents {
    /// Reads the job and the last checkpoint in `path`.
    pub fn read(path: &Path) -> Result<Contents, Error> {
        let disk = RealDisk::open(path).map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let files = disk.list().map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let has = |wanted: &str| files.iter().any(|(name, _)| name == wanted);
        if !has(JOB) {
            return Err(Error::NoSearch(path.to_path_buf()));
        }
        let job = Job::load(&disk).map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let saved = has(MANIFEST).then(|| Saved::load(&disk)).transpose();
        let saved = saved.map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let answer = has(ANSWER).then(|| Answer::load(&disk, job.digest)).transpose();
        let answer = answer.map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let means = has(MEANS).then(|| Means::load(&disk)).transpose();
        let means = means.map_err(|error| Error::Open(path.to_path_buf(), error))?;
        // One without a level is of no use, and may be from before it was decided how to reduce.
        let is_begun = |saved: &Saved| !saved.store.levels.is_empty();
        let saved = saved.filter(|saved| saved.digest == job.digest || is_begun(saved));
        let differs = |saved: &Saved| saved.digest != job.digest || saved.storage != job.storage;
        if saved.as_ref().is_some_and(differs) {
            let error =
                spill::Error::corrupt(MANIFEST, 0, "it belongs to another model than the job");
            return Err(Error::Open(path.to_path_buf(), error));
        }
        let bytes = files.iter().map(|(_, length)| length).sum();
        let sitting = has(SITTING).then(|| Sitting::load(&disk)).flatten();
        let running = disk.is_locked();
        Ok(Contents { job, saved, answer, means, sitting, bytes, running })
    }
}

/// Whether a directory was made since none was named, and is still where it was made: what somebody copied is theirs.
fn is_temporary(path: &Path) -> bool {
    let whole = path.canonicalize().ok();
    let is_named =
        |it: &Path| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with(PREFIX));
    let is_there =
        |it: &Path| it.parent().map(Path::to_path_buf) == std::env::temp_dir().canonicalize().ok();
    let is_where_made = whole.is_some_and(|it| is_named(&it) && is_there(&it));
    is_where_made && path.join(TEMPORARY).is_file()
}

/// Refuses a directory that is not empty, saying what is in it.
fn refuse_if_used(path: &Path, job: &Job) -> Result<(), Error> {
    let disk = RealDisk::open(path).map_err(|error| Error::Open(path.to_path_buf(), error))?;
    let files = disk.list().map_err(|error| Error::Open(path.to_path_buf(), error))?;
    if files.iter().all(|(name, _)| HARMLESS.contains(&name.as_str())) {
        return Ok(());
    }
    if !files.iter().any(|(name, _)| name == JOB) {
        return Err(Error::NotEmpty(path.to_path_buf()));
    }
    drop(disk);
    let Contents { job: theirs, running, .. } = Contents::read(path)?;
    let taken = match (running, theirs.is_of_same_model(job)) {
        (true, _) => Taken::Running(theirs.model_name().into()),
        (false, true) if theirs.runs != job.runs => Taken::Otherwise,
        (false, true) => Taken::SameModel,
        (false, false) => Taken::OtherModel(theirs.model_name().into()),
    };
    Err(Error::Taken(path.to_path_buf(), taken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::dve;

    fn job() -> Job {
        let text = "byte x; byte y; process P { state a; init a;
                    trans a -> a { effect x = 5, y = 9; }; } system async;";
        let mut sources = Sources::default();
        sources.add("model.dve", text);
        let (model, _) = TextModel::load(&dve::LANGUAGE, sources, Options::default()).unwrap();
        let order: Vec<GroupId> = [2, 0, 1].into_iter().map(GroupId).collect();
        let model = model.with_order(&order).unwrap();
        Job::new(&model, &model.searched(), &Limits::default(), &Storage::default())
    }

    #[test]
    fn a_job_keeps_the_key_order() {
        let model = job().model(Path::new("d")).unwrap();
        assert_eq!(model.interp.layout().order, [2, 0, 1].map(GroupId));
    }

    #[test]
    fn an_impossible_key_order_is_damage_and_another_one_is_refused() {
        for order in [vec![], vec![0, 1], vec![0, 1, 1], vec![0, 1, 3], vec![0, 1, 2, 3]] {
            let error = Job { order, ..job() }.model(Path::new("d")).err().unwrap();
            let damaged = matches!(error, Error::Open(_, spill::Error::Corrupt { .. }));
            assert!(damaged, "{error}");
        }
        let error = Job { order: vec![0, 1, 2], ..job() }.model(Path::new("d")).err().unwrap();
        assert!(matches!(error, Error::Understood), "{error}");
    }
}
