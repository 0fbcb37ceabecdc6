//! What cells hold: as it is, as it is asked, and as it is written.

use crate::ir::Binary;

/// What a cell holds: nothing, if it is undefined.
pub(super) type Held = Option<i64>;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum When {
    Is(Held),
    /// A value that compares so with this one; or it is undefined.
    Compares(Binary, i64),
}

impl When {
    /// Whether it may be so if the cell holds this.
    pub(super) fn admits(self, held: Held) -> bool {
        match (self, held) {
            (When::Is(wanted), held) => wanted == held,
            (When::Compares(..), None) => true,
            (When::Compares(how, with), Some(value)) => match how {
                Binary::Equal => value == with,
                Binary::NotEqual => value != with,
                Binary::Less => value < with,
                Binary::LessEqual => value <= with,
                Binary::Greater => value > with,
                Binary::GreaterEqual => value >= with,
                _ => true,
            },
        }
    }
}

/// What a cell may hold next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Next {
    /// What it holds.
    pub(super) same: bool,
    /// One of these.
    pub(super) to: Vec<Held>,
    /// As much more.
    pub(super) plus: Option<i64>,
    /// Anything.
    pub(super) any: bool,
}
