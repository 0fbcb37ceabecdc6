//! What is compared: a language whose front end gives a program, or TLA+.

use super::{models, tla};
use spillway::front::{Language, murphi};
use std::collections::BTreeSet;

/// A language.
#[derive(Clone, Copy)]
pub enum Subject {
    /// One whose front end gives a program.
    Program(&'static Language),
    /// TLA+.
    Tla,
}

impl Subject {
    /// Returns the language with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "tla" => Some(Self::Tla),
            name => Language::from_name(name).map(Self::Program),
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Program(language) => language.name,
            Self::Tla => "tla",
        }
    }

    /// Returns the ending of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Program(language) => language.extensions[0],
            Self::Tla => "tla",
        }
    }

    /// Returns the beginning of a comment.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Program(language) if *language == murphi::LANGUAGE => "--",
            Self::Program(_) => "//",
            Self::Tla => "\\*",
        }
    }

    /// Returns the text of a model and the constructs in it.
    pub fn make(self, numbers: &[u16]) -> (String, BTreeSet<&'static str>) {
        match self {
            Self::Program(language) => models::make(language, numbers),
            Self::Tla => tla::modules::make(numbers),
        }
    }
}
