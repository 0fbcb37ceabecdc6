//! Levels of expressions.

use std::fmt;

/// The level of an expression, as the language defines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Depends on no variable.
    #[default]
    Constant,
    /// Depends on unprimed variables only.
    State,
    /// Depends on a step.
    Action,
    /// Depends on a behaviour.
    Temporal,
}

impl Level {
    /// Returns the word for messages.
    pub fn word(self) -> &'static str {
        match self {
            Level::Constant => "constant",
            Level::State => "state",
            Level::Action => "action",
            Level::Temporal => "temporal",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
