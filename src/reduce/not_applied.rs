//! Why a reduction is not applied.

use crate::budget::BudgetExceeded;
use std::fmt;

/// Why a reduction is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotApplied {
    /// The program, or what else is used, does not go with it.
    Unfit(String),
    /// Its analysis exceeded its budget.
    Exceeded(BudgetExceeded),
}

impl fmt::Display for NotApplied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotApplied::Unfit(why) => f.write_str(why),
            NotApplied::Exceeded(what) => what.fmt(f),
        }
    }
}

impl From<String> for NotApplied {
    fn from(why: String) -> NotApplied {
        NotApplied::Unfit(why)
    }
}

impl From<&str> for NotApplied {
    fn from(why: &str) -> NotApplied {
        NotApplied::Unfit(why.to_owned())
    }
}

impl From<BudgetExceeded> for NotApplied {
    fn from(what: BudgetExceeded) -> NotApplied {
        NotApplied::Exceeded(what)
    }
}
