//! Runs of a product whose program has merged transitions, as runs of the product with the program as written.
//!
//! A merged transition is several transitions of the program as written. There the automaton reads the letter of each
//! state between them, too. Its language is closed under stuttering, so it accepts that run, but it may pass other
//! locations. They are searched for: in the product with the states of the run alone.

use crate::exec::Interp;
use crate::model::{
    Capabilities, StateSpace, StepOutcome, SuccessorSink, SystemDescription, any_bits,
};
use crate::reduce::claim::ClaimProduct;
use crate::reduce::rewriting::RewrittenProgram;
use crate::search::SearchControl;
use crate::search::lasso::Lasso;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict, probe};
use spill::{Error, Result};
use std::collections::HashMap;

/// The bytes of a position on a run.
const POSITION: usize = 4;

/// The most rounds of a cycle that are followed until a state is repeated. A state of the merged program represents
/// finitely many states, so a repetition follows.
const ROUNDS_MAX: usize = 1000;

/// The limits of the search for locations of the automaton.
const LIMITS: ProbeLimits = ProbeLimits { states: u64::MAX, bytes: 1 << 28 };

/// Converts runs of a product whose program has merged transitions.
#[derive(Clone, Copy)]
pub(super) struct MergedRuns<'p> {
    /// The product with the program as written.
    pub product: &'p ClaimProduct<'p>,
    /// The program as written.
    pub written: &'p Interp,
    /// The program with merged transitions.
    pub rewritten: &'p RewrittenProgram,
}

impl MergedRuns<'_> {
    /// Returns a verdict with its run in the product with the program as written.
    pub fn unmerged(&self, found: ProbeVerdict, control: &SearchControl) -> Result<ProbeVerdict> {
        let ProbeVerdict::Found(lasso) = found else { return Ok(found) };
        let run = self.system_run(&lasso)?;
        let probed = probe(&run, &|state| run.is_accepting(state), LIMITS, control)?;
        Ok(match probed.found {
            ProbeVerdict::Found(Lasso { states, back, .. }) => {
                let states = states.into_iter().map(|it| it[POSITION..].to_vec()).collect();
                ProbeVerdict::Found(Lasso { states, back, fair_to: Vec::new() })
            }
            ProbeVerdict::Open => ProbeVerdict::Open,
            ProbeVerdict::None => return Err(lost("the automaton does not accept the run")),
        })
    }

    /// Returns the run of the program as written.
    fn system_run(&self, lasso: &Lasso) -> Result<RunProduct<'_>> {
        let Lasso { states: found, back, .. } = lasso;
        let systems: Vec<&[u8]> = found.iter().map(|it| self.product.system(it)).collect();
        let first = self.start(systems[0]);
        let mut states = vec![first.ok_or_else(|| lost("no initial state is like its first"))?];
        // The position at which each state of the merged program is reached.
        let mut reached = vec![0];
        for to in &systems[1..] {
            self.follow(&mut states, to)?;
            reached.push(states.len() - 1);
        }
        let mut rounds = HashMap::from([(states[reached[*back]].clone(), reached[*back])]);
        for _ in 0..ROUNDS_MAX {
            self.follow(&mut states, systems[*back])?;
            let end = states.len() - 1;
            if let Some(&back) = rounds.get(&states[end]) {
                // A run that has ended stays in its last state.
                states.truncate(end.max(back + 1));
                return Ok(RunProduct { product: self.product, states, back });
            }
            rounds.insert(states[end].clone(), end);
            systems[back + 1..].iter().try_for_each(|to| self.follow(&mut states, to))?;
        }
        Err(lost("its cycle does not close"))
    }

    /// Returns an initial state that is equivalent to one of the merged program.
    fn start(&self, like: &[u8]) -> Option<Vec<u8>> {
        let layout = self.written.layout();
        let starts = self.written.starts().into_iter().filter_map(|step| match step.outcome {
            StepOutcome::Successor(state) => Some(state),
            StepOutcome::Fault(_) => None,
        });
        starts.into_iter().find(|it| self.rewritten.are_equivalent(layout, it, like))
    }

    /// Adds the states through which a merged transition leads. There are none if the system does not move.
    fn follow(&self, states: &mut Vec<Vec<u8>>, to: &[u8]) -> Result<()> {
        let Some(from) = states.last() else { return Ok(()) };
        let layout = self.written.layout();
        match self.rewritten.merged_path(self.written, from, to) {
            Some(path) => states.extend(path),
            None if self.rewritten.are_equivalent(layout, from, to) => {}
            None => return Err(lost("no path leads on")),
        }
        Ok(())
    }
}

/// The product of a run of the system and the automaton. A state is a position on the run and a state of the product.
struct RunProduct<'p> {
    product: &'p ClaimProduct<'p>,
    states: Vec<Vec<u8>>,
    back: usize,
}

impl RunProduct<'_> {
    fn is_accepting(&self, state: &[u8]) -> bool {
        self.product.is_accepting(&state[POSITION..])
    }

    /// Passes on the states that a function collects, if the run has them at a position.
    fn pass_on(
        &self,
        at: usize,
        out: &mut SuccessorSink,
        collect: impl FnOnce(&mut SuccessorSink),
    ) {
        let mut found = Vec::new();
        // Its errors and counts do not belong to the run.
        let _ = SuccessorSink::collect(self.product.width(), &mut found, collect);
        for state in found.chunks_exact(self.product.width()) {
            if self.product.system(state) == self.states[at] {
                out.candidate(&[&(at as u32).to_be_bytes()[..], state].concat());
            }
        }
    }
}

impl StateSpace for RunProduct<'_> {
    fn width(&self) -> usize {
        POSITION + self.product.width()
    }

    fn bits(&self) -> u32 {
        8 * POSITION as u32 + self.product.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.pass_on(0, out, |inner| self.product.initial(inner));
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(self.width()) {
            let (at, state) = state.split_at(POSITION);
            let at = at.iter().fold(0, |at: usize, &byte| at << 8 | usize::from(byte));
            let next = if at + 1 < self.states.len() { at + 1 } else { self.back };
            self.pass_on(next, out, |inner| self.product.expand(state, inner));
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        self.product.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.product
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

fn lost(what: &str) -> Error {
    Error::Source {
        reason: format!("no run of the model is that of the merged one: {what}").into(),
    }
}
