//! What lies behind states and need not be explored: which reductions of that kind there are to be.

use super::boring::{self, Boring, Progress};
use super::dominate::{self, Dominating, Named};
use super::doomed::{self, Doomed};
use super::{Reduction, Refused, as_written, boxed};
use crate::exec::{Checks, Interp};

/// Which of them there are to be, in a search for some checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruning {
    /// States that others dominate are left out, by the variables that are named, or by all that are found.
    pub dominate: Option<Named>,
    /// States from which nothing that is looked for can be reached are left out, by variables that only rise together, or by what
    /// is found.
    pub boring: Option<Progress>,
    /// Where something that is looked for surely follows, one walks on to it.
    pub doomed: bool,
    /// What is looked for.
    pub checks: Checks,
}

impl Default for Pruning {
    fn default() -> Self {
        Pruning::NONE
    }
}

impl Pruning {
    /// None: whatever is reached is explored, level by level.
    pub const NONE: Pruning =
        Pruning { dominate: None, boring: None, doomed: false, checks: Checks::ALL };

    /// States that others dominate are left out, and that is all.
    pub const DOMINATE: Pruning = Pruning { dominate: Some(Vec::new()), ..Pruning::NONE };

    /// States from which nothing that is looked for can be reached are left out, and that is all.
    pub const BORING: Pruning = Pruning { boring: Some(Vec::new()), ..Pruning::NONE };

    /// One walks on to what surely follows, and that is all.
    pub const DOOMED: Pruning = Pruning { doomed: true, ..Pruning::NONE };

    /// The same in a search for these checks.
    pub fn looking_for(self, checks: Checks) -> Pruning {
        Pruning { checks, ..self }
    }

    /// Whether there is to be any.
    pub fn is_wished(&self) -> bool {
        self.dominate.is_some() || self.boring.is_some() || self.doomed
    }

    /// Adds those of the program that is run so to what is wanted, or why there are none to what is refused.
    pub(super) fn add_to<'m>(
        &self,
        (wanted, refused): (&mut Vec<Box<dyn Reduction<'m> + 'm>>, &mut Vec<Refused>),
        interp: &'m Interp,
    ) {
        let (program, layout, checks) = (interp.program(), interp.layout(), self.checks);
        let whole = as_written(program, layout);
        let mut add =
            |name: &str, found: Result<Box<dyn Reduction<'m> + 'm>, String>| match (whole, found) {
                (None, Ok(found)) => wanted.push(found),
                (Some(why), _) => refused.push(Refused { name: name.into(), why: why.to_owned() }),
                (None, Err(why)) => refused.push(Refused { name: name.into(), why }),
            };
        if let Some(progress) = &self.boring {
            add(boring::NAME, Boring::of(interp, checks, progress).map(boxed));
        }
        if self.doomed {
            add(doomed::NAME, Doomed::of(interp, checks).map(boxed));
        }
        if let Some(named) = &self.dominate {
            add(dominate::NAME, Dominating::of(program, layout, named, checks).map(boxed));
        }
    }
}
