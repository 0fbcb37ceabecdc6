//! What lies behind states and need not be explored: which reductions of that kind there are to be.

use super::dominate::{self, Dominating, Named};
use super::{Reduction, Refused, boxed};
use crate::exec::{Checks, Interp};

/// Which of them there are to be, in a search for some checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruning {
    /// States that others dominate are left out, by the variables that are named, or by all that are found.
    pub dominate: Option<Named>,
    /// What is looked for.
    pub checks: Checks,
}

impl Default for Pruning {
    fn default() -> Self {
        Pruning::NONE
    }
}

impl Pruning {
    /// None: whatever is reached is explored.
    pub const NONE: Pruning = Pruning { dominate: None, checks: Checks::ALL };

    /// States that others dominate are left out, and that is all.
    pub const DOMINATE: Pruning = Pruning { dominate: Some(Vec::new()), ..Pruning::NONE };

    /// The same in a search for these checks.
    pub fn looking_for(self, checks: Checks) -> Pruning {
        Pruning { checks, ..self }
    }

    /// Whether there is to be any.
    pub fn is_wished(&self) -> bool {
        self.dominate.is_some()
    }

    /// Adds those of the program that is run so to what is wanted, or why there are none to what is refused.
    pub(super) fn add_to<'m>(
        &self,
        (wanted, refused): (&mut Vec<Box<dyn Reduction<'m> + 'm>>, &mut Vec<Refused>),
        interp: &'m Interp,
    ) {
        let (program, layout) = (interp.program(), interp.layout());
        if let Some(named) = &self.dominate {
            match Dominating::of(program, layout, named, self.checks) {
                Ok(found) => wanted.push(boxed(found)),
                Err(why) => refused.push(Refused { name: dominate::NAME.into(), why }),
            }
        }
    }
}
