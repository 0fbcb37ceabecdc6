//! The compared language: one whose front end gives a program, or TLA+.

use super::{models, tla};
use spillway::front::{self, Language, murphi};
use std::collections::BTreeSet;

/// A compared language.
#[derive(Clone, Copy)]
pub enum ComparedLanguage {
    /// A language whose front end gives a program.
    Program(&'static Language),
    /// TLA+.
    Tla,
}

impl ComparedLanguage {
    /// Returns the language with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        let language = Language::from_name(name)?;
        Some(if language.has_programs() { Self::Program(language) } else { Self::Tla })
    }

    fn language(self) -> &'static Language {
        match self {
            Self::Program(language) => language,
            Self::Tla => &front::tla::LANGUAGE,
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.language().name
    }

    /// Returns the extension of its files.
    pub fn extension(self) -> &'static str {
        self.language().extensions[0]
    }

    /// Returns the mark that begins a comment.
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
