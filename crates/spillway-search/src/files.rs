//! The names of all files in a search directory, in one table for writing, cleaning up and removal.
//!
//! A directory may also contain files of other origin, such as notes of the user or results of another program. So
//! names are compared as a whole. No file is removed because its name begins or ends like one of these.
//!
//! `cluster/spillway_ray/objects.py` has the same names, for a search in an object store; a test there compares them.

use spill::{FileName, RealDisk};

/// The texts of the model, and the checks.
pub const JOB: &str = "job";
/// The run limits of the last session.
pub const RUN_LIMITS: &str = "means";
/// The start of the last session.
pub const SESSION_START: &str = "sitting";
/// The last checkpoint.
pub const MANIFEST: &str = "manifest";
/// The last checkpoint of a search for accepting cycles.
pub const CYCLES: &str = "cycles";
/// The round of a search for accepting cycles that enforces the cycle proviso.
pub const PROVISO: &str = "proviso";
/// The result of a search in memory.
pub const ANSWER: &str = "answer";
/// The `eventually` properties of a Rust type, and the verdict on each.
pub const EVENTUALLY_VERDICTS: &str = "eventually";
/// The events of all sessions.
pub const EVENTS: &str = "events.jsonl";
/// The current progress of the search.
pub const STATUS: &str = "status.json";
/// Marks a directory that was created because none was named.
pub const TEMPORARY: &str = "temporary";

/// Files that are written under another name first and replaced as a whole.
const REPLACED: [&str; 10] = [
    JOB,
    RUN_LIMITS,
    SESSION_START,
    MANIFEST,
    CYCLES,
    PROVISO,
    ANSWER,
    EVENTUALLY_VERDICTS,
    EVENTS,
    STATUS,
];

/// Files without content.
const MARKS: [&str; 2] = [RealDisk::LOCK, TEMPORARY];

/// The suffix of the name of an unfinished file.
const UNFINISHED: &str = ".new";

/// The folder of a search for a shorter counterexample.
pub const SHORTER: &str = "shorter";

/// The prefix of the names of folders for searches of `eventually` properties; a number follows.
const EVENTUALLY: &str = "eventually-";

/// The phases of plans, as in names.
pub const PHASES: [&str; 4] = ["expand", "settle", "merge", "grow"];

const PLAN: &str = "plan-";
const RECEIPT: &str = "receipt-";

/// The kind of a file of a search directory, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryFile {
    /// One of the files that each search has.
    Fixed,
    /// An unfinished replacement of one of these files.
    Unfinished,
    /// A file of keys.
    Keys(FileName),
    /// A plan, or a receipt of one of its tasks.
    OfPlan,
    /// An unfinished output of a task.
    Private,
}

impl DirectoryFile {
    /// Returns the kind of a file, if a search makes such files.
    pub fn of(name: &str) -> Option<DirectoryFile> {
        let keys = || FileName::parse(name).map(DirectoryFile::Keys);
        if REPLACED.contains(&name) || MARKS.contains(&name) {
            Some(DirectoryFile::Fixed)
        } else if name.strip_suffix(UNFINISHED).is_some_and(|it| REPLACED.contains(&it)) {
            Some(DirectoryFile::Unfinished)
        } else if is_of_plan(name) {
            Some(DirectoryFile::OfPlan)
        } else if is_private(name) {
            Some(DirectoryFile::Private)
        } else {
            keys()
        }
    }
}

/// Returns the name of a file while its replacement is written.
pub fn unfinished(name: &str) -> String {
    format!("{name}{UNFINISHED}")
}

/// Returns the folder of the search for runs that violate the `eventually` property with this number.
pub fn eventually(number: usize) -> String {
    format!("{EVENTUALLY}{number}")
}

/// Returns whether a folder in a search directory belongs to a secondary search.
pub fn is_folder(name: &str) -> bool {
    let number = name.strip_prefix(EVENTUALLY).and_then(|it| it.parse().ok());
    name == SHORTER || number.is_some_and(|it| eventually(it) == name)
}

/// Returns the name of a plan: the level, the name of the phase in [`PHASES`], and the hash of the manifest that it is
/// based on.
pub fn plan_id(level: u32, phase: usize, base: &[u8; 32]) -> String {
    let base: String = base[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{level:08}-{}-{base}", PHASES[phase])
}

/// Returns whether a plan can have this name.
pub fn is_plan_id(id: &str) -> bool {
    let mut parts = id.splitn(3, '-');
    let [level, phase, base] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let level = level.parse::<u32>().is_ok_and(|it| format!("{it:08}") == level);
    level && PHASES.contains(&phase) && is_hexadecimal(base, 12)
}

/// Returns the file of a plan.
pub fn plan_file(id: &str) -> String {
    format!("{PLAN}{id}")
}

/// Returns the file of a receipt of a task.
pub fn receipt_file(plan: &str, task: u32) -> String {
    format!("{RECEIPT}{plan}-{task:05}")
}

/// Returns the name of a file while an attempt at a task of a plan writes it.
pub fn private_file(name: &str, plan: &str, attempt: u64) -> String {
    format!("{name}.{plan}.{attempt:016x}")
}

/// Returns whether a file is the unfinished output of an attempt at a task of a plan.
pub fn is_private_of(name: &str, plan: &str) -> bool {
    is_private(name) && name.split('.').nth(1) == Some(plan)
}

fn is_of_plan(name: &str) -> bool {
    let is_task = |it: &str| it.parse::<u32>().is_ok_and(|task| format!("{task:05}") == it);
    match (name.strip_prefix(PLAN), name.strip_prefix(RECEIPT)) {
        (Some(id), _) => is_plan_id(id),
        (_, Some(rest)) => {
            rest.rsplit_once('-').is_some_and(|(id, task)| is_plan_id(id) && is_task(task))
        }
        _ => false,
    }
}

fn is_private(name: &str) -> bool {
    let name = name.strip_suffix(UNFINISHED).unwrap_or(name);
    match name.split('.').collect::<Vec<_>>()[..] {
        [file, plan, attempt] => {
            (FileName::is_key_file(file) || is_of_plan(file))
                && is_plan_id(plan)
                && is_hexadecimal(attempt, 16)
        }
        _ => false,
    }
}

fn is_hexadecimal(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_written_files_are_recognised() {
        let plan = plan_id(31, 1, &[0xab; 32]);
        assert_eq!(plan, "00000031-settle-abababababab");
        let keys = FileName::Levels { shard: 7 };
        let (own, receipt) = (plan_file(&plan), receipt_file(&plan, 12));
        let fixed =
            REPLACED.into_iter().chain(MARKS).map(|it| (it.to_owned(), DirectoryFile::Fixed));
        let begun = REPLACED.map(|it| (unfinished(it), DirectoryFile::Unfinished));
        let private = [&keys.to_string(), &own, &receipt].map(|it| private_file(it, &plan, 9));
        let unfinished = private.clone().map(|it| unfinished(&it));
        let private = private.into_iter().chain(unfinished);
        for name in private.clone() {
            assert!(is_private_of(&name, &plan), "{name}");
            assert!(!is_private_of(&name, &plan_id(31, 1, &[0xac; 32])), "{name}");
        }
        let others = [
            (keys.to_string(), DirectoryFile::Keys(keys)),
            (own, DirectoryFile::OfPlan),
            (receipt, DirectoryFile::OfPlan),
        ];
        let private = private.map(|it| (it, DirectoryFile::Private));
        for (name, kind) in fixed.chain(begun).chain(others).chain(private) {
            assert_eq!(DirectoryFile::of(&name), Some(kind), "{name}");
        }
        for number in [0, 1, 12] {
            assert!(is_folder(&eventually(number)));
        }
    }

    #[test]
    fn similar_names_are_not_recognised() {
        let plan = plan_id(31, 1, &[0xab; 32]);
        for name in [
            "notes.new",
            "lock.new",
            "job.new.new",
            "jobs",
            "plan-b.md",
            "plan-00000031-settle-ababababab",
            "plan-00000031-settle-ABABABABABAB",
            "plan-31-settle-abababababab",
            "plan-00000031-paint-abababababab",
            "receipt-2024.pdf",
            "receipt-00000031-settle-abababababab",
            "receipt-00000031-settle-abababababab-1",
            "levels-000.bak",
            "levels-of-detail.txt",
            "status.json.old",
            "events.jsonl.gz",
            &format!("notes.{plan}.0123456789abcdef"),
            &format!("levels-000.{plan}.0123456789abcde"),
            &format!("levels-000.{plan}.0123456789abcdef.old"),
        ] {
            assert_eq!(DirectoryFile::of(name), None, "{name}");
        }
        for name in ["shorter-2", "eventually", "eventually-", "eventually-01", "eventually-x"] {
            assert!(!is_folder(name), "{name}");
        }
    }
}
