//! Compares Spillway's answers for modules in TLA+ with TLC's.
//!
//! A module has expressions without variables and a state machine. The values of the expressions, as text, and the
//! counts of the machine must be equal. The other ways to search must have the same counts: over cells whose shapes
//! come from a large or a small sample, over escaped values, over numbered values, and on disk.

mod answers;
mod disk_search;
pub mod modules;
mod spillway_answers;
mod tlc;

use super::{Compared, Figures, Verdict};
use answers::SearchAnswer;
use std::path::Path;
use tlc::{Tlc, TlcAnswer};

/// TLC rejects a check that is constant and false. Spillway evaluates it.
const CONSTANT_CHECK: &str = "is equal to FALSE";

/// Compares modules.
pub struct Comparer {
    tlc: Option<Tlc>,
}

impl Comparer {
    /// Creates a comparison with TLC, if it is installed. `folder` is for TLC's files.
    pub fn new(folder: &Path) -> Self {
        Self { tlc: Tlc::find(folder) }
    }

    /// Returns whether TLC is installed.
    pub fn has_tool(&self) -> bool {
        self.tlc.is_some()
    }

    /// Compares all answers for a module. Panics if Spillway's own ways differ.
    pub fn compare(&mut self, text: &str) -> Compared {
        let module = match spillway_answers::read(text) {
            Ok(module) => module,
            Err(why) => {
                let verdict = Verdict::Differs(format!("refused: {why}"));
                return Compared { verdict, figures: None };
            }
        };
        let ours = spillway_answers::answers(&module.program);
        let figures = Some(Figures {
            states: match &ours.search {
                SearchAnswer::Verified(counts) => counts.distinct,
                _ => 0,
            },
            is_large: ours.search == SearchAnswer::Large,
            has_errors: matches!(
                ours.search,
                SearchAnswer::Failed(_) | SearchAnswer::Violated { .. }
            ),
            ..Figures::default()
        });
        if let SearchAnswer::Verified(counts) = &ours.search {
            disk_search::assert_agrees(module, counts);
        }
        let Some(tlc) = &mut self.tlc else {
            return Compared { verdict: Verdict::Alone("no other tool".into()), figures };
        };
        let verdict = match tlc.answers(text) {
            TlcAnswer::Answers(theirs) => match answers::difference(&ours, &theirs) {
                None => Verdict::Equal,
                Some(how) => Verdict::Differs(how),
            },
            TlcAnswer::Refused(why) if why.contains(CONSTANT_CHECK) => {
                Verdict::Explained("TLC refuses a check that is constant and false")
            }
            TlcAnswer::Refused(why) => Verdict::Differs(format!("TLC refuses it: {why}")),
            TlcAnswer::GaveUp(why) => Verdict::Alone(format!("TLC: {why}")),
        };
        Compared { verdict, figures }
    }
}
