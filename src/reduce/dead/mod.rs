//! Dead variables: what nobody reads any more has its first value.
//!
//! What is dead where is told by [`Dead`]. The program is rewritten so that every action sets to its first
//! value what is dead behind it (Bozga, Fernandez and Ghirvu 1999; Pelánek 2005). That
//! is all: interpreter, compiler and the other reductions run the rewritten program, and a state
//! that differs from another only in what is dead is never come to.
//!
//! *Why that keeps everything.* Call two states alike if everybody is at the same location in both and they differ only
//! in what is dead. From states that are alike the same actions are possible, fail in the same way, and lead to states
//! that are alike: whatever is read has the same value in both, and what is live behind an action is written by
//! it or was live before. Properties ask only for what is live. So being alike is a bisimulation. A step of the
//! rewritten program ends in a state that is alike to the end of the same step of the program as written, and so each
//! program can follow the other step by step. Actions keep their numbers, so a counterexample is
//! told by following it in the program as written.
//!
//! ```text
//! a -> b { x := f(y); }        y is read here for the last time, z is set before it is read
//! b -> c { guard x > 0; }      becomes     a -> b { x := f(y); y := 0; }
//! c -> a { z := 1; y := z; }               b -> c { guard x > 0; x := 0; }
//! ```

mod model;
mod resets;

use super::claim::NeverClaim;
use super::{Kind, Preserved, Reduction, Stack};
use crate::analysis::live::Dead;
use crate::exec::{Interp, Model, Tally};
use crate::ir::{LocationId, ProcessId, VarId};
use model::{Alike, Followed};
use std::collections::BTreeMap;

/// A program that resets what is dead.
#[derive(Debug)]
pub struct Cleared {
    interp: Interp,
    dead: Dead,
    resets: usize,
}

impl Cleared {
    /// The same program, resetting what is dead; nothing if nothing is.
    pub fn of(written: &Interp) -> Option<Cleared> {
        let program = written.program();
        let dead = Dead::of(program)?;
        let mut program = program.clone();
        let resets = resets::add_resets(&mut program, &dead);
        let interp = (resets > 0).then(|| written.rewritten(program)).flatten()?;
        Some(Cleared { interp, dead, resets })
    }

    /// Runs it.
    pub fn interp(&self) -> &Interp {
        &self.interp
    }

    /// Which variables are reset, and where each is dead.
    pub fn variables(&self) -> Vec<DeadVariable> {
        let program = self.interp.program();
        let mut found: BTreeMap<VarId, DeadVariable> = BTreeMap::new();
        let mut add = |scalar: usize, at: Option<(ProcessId, LocationId)>| {
            let (variable, _) = self.dead.scalars().variable(scalar);
            let new = || DeadVariable { variable, at: Vec::new() };
            let of = &mut found.entry(variable).or_insert_with(new).at;
            of.extend(at.filter(|it| !of.contains(it)));
        };
        self.dead.everywhere().for_each(|scalar| add(scalar, None));
        for (id, process) in program.processes.iter() {
            for location in process.locations.keys() {
                self.dead.at(id, location).for_each(|it| add(it, Some((id, location))));
            }
        }
        found.into_values().collect()
    }
}

/// A variable of which something is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadVariable {
    /// Which.
    pub variable: VarId,
    /// Where that depends on where a process is: its locations at which it is dead. Elsewhere it is dead always.
    pub at: Vec<(ProcessId, LocationId)>,
}

/// A program in the form in which it is run: as it is written, or resetting what is dead.
#[derive(Clone, Copy)]
pub struct ProgramForm<'m> {
    written: &'m Interp,
    cleared: Option<&'m Cleared>,
}

impl<'m> ProgramForm<'m> {
    /// As it is written.
    pub fn written(written: &'m Interp) -> ProgramForm<'m> {
        ProgramForm { written, cleared: None }
    }

    /// Resetting what is dead, if anything is: `cleared` is what comes of the same program.
    pub fn cleared(written: &'m Interp, cleared: Option<&'m Cleared>) -> ProgramForm<'m> {
        ProgramForm { written, cleared }
    }

    /// What runs it.
    pub fn interp(self) -> &'m Interp {
        self.cleared.map_or(self.written, Cleared::interp)
    }

    /// Whether it resets what is dead.
    pub fn resets(self) -> bool {
        self.cleared.is_some()
    }
}

/// Resetting what is dead, as a reduction of what runs the program that does it.
pub struct DeadVariables<'m> {
    written: &'m Interp,
    cleared: &'m Cleared,
}

impl<'m> DeadVariables<'m> {
    /// Of a program that resets what is dead.
    pub fn of(form: ProgramForm<'m>) -> Option<DeadVariables<'m>> {
        let ProgramForm { written, cleared } = form;
        cleared.map(|cleared| DeadVariables { written, cleared })
    }
}

impl<'m> Reduction<'m> for DeadVariables<'m> {
    fn name(&self) -> String {
        NAME.into()
    }

    fn kind(&self) -> Kind {
        Kind::Rewriting
    }

    fn preserves(&self) -> Preserved {
        Preserved::ALL
    }

    fn did(&self, _: &Tally) -> Option<String> {
        let variables = self.cleared.variables().len();
        let (s, places) = (if variables == 1 { "" } else { "s" }, self.cleared.resets);
        let es = if places == 1 { "" } else { "s" };
        Some(format!("{variables} variable{s} reset in {places} place{es}"))
    }

    fn refuses(&self, _: &Stack<'m>) -> Option<String> {
        None
    }

    /// What is counted with the program's states, a claim, is told with the program as written.
    fn over(&self, model: Box<dyn Model + 'm>) -> Box<dyn Model + 'm> {
        let below: Box<dyn Model + 'm> = match NeverClaim::of(self.written) {
            Some(claim) => Box::new(claim.with(self.written)),
            None => Box::new(self.written),
        };
        let alike = Alike::new(self.written, &self.cleared.dead);
        Box::new(Followed::new(model, below, alike))
    }
}

/// What the reduction is called.
pub const NAME: &str = "dead variables";
