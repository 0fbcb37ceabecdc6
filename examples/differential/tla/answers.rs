//! The answers of Spillway or TLC for a module.

/// The answers for a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// The values of its expressions as text, or the reasons of their failures.
    pub values: Vec<Result<String, String>>,
    /// The outcome of the search.
    pub search: SearchAnswer,
}

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchAnswer {
    Verified(SearchCounts),
    /// The invariant is violated first at this level, counted from 0.
    Violated {
        level: u64,
    },
    /// An evaluation failed, with the reason.
    Failed(String),
    /// There are too many states or steps.
    Large,
}

/// The counts of a complete search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchCounts {
    pub distinct: u64,
    pub generated: u64,
    pub levels: u64,
    /// The first level with a state that has no successor.
    pub deadlock: Option<u64>,
}

/// A search with more states or steps is abandoned.
pub const STATES_MAX: u64 = 3000;
pub const GENERATED_MAX: u64 = 20_000;

/// Returns a description of the first difference, if there is one. The reasons of failures are not compared.
pub fn difference(ours: &Answers, theirs: &Answers) -> Option<String> {
    for (at, pair) in ours.values.iter().zip(&theirs.values).enumerate() {
        let number = at + 1;
        match pair {
            (Ok(ours), Ok(theirs)) if ours == theirs => {}
            (Err(_), Err(_)) => {}
            (Ok(ours), Ok(theirs)) => {
                return Some(format!("values differ: E{number}\nours: {ours}\nTLC:  {theirs}"));
            }
            (Err(ours), Ok(theirs)) => {
                return Some(format!("only ours fails: E{number}\nours: {ours}\nTLC:  {theirs}"));
            }
            (Ok(ours), Err(theirs)) => {
                return Some(format!("only TLC fails: E{number}\nours: {ours}\nTLC:  {theirs}"));
            }
        }
    }
    match (&ours.search, &theirs.search) {
        (SearchAnswer::Failed(_), SearchAnswer::Failed(_)) => None,
        (SearchAnswer::Failed(ours), theirs) => {
            Some(format!("only our search fails\nours: {ours}\nTLC:  {theirs:?}"))
        }
        (ours, SearchAnswer::Failed(theirs)) => {
            Some(format!("only TLC's search fails\nours: {ours:?}\nTLC:  {theirs}"))
        }
        // TLC's limit is also for the number of steps, so its search may stop before Spillway's.
        (SearchAnswer::Verified(ours), SearchAnswer::Large) if ours.generated > GENERATED_MAX => {
            None
        }
        (SearchAnswer::Violated { .. }, SearchAnswer::Large) => None,
        (ours, theirs) if ours == theirs => None,
        (ours, theirs) => Some(format!("searches differ\nours: {ours:?}\nTLC:  {theirs:?}")),
    }
}
