//! Runs of a product whose transitions are several transitions of the model, as runs of a product with all states.
//!
//! A merged transition is several transitions of the program as written. A chain is several transitions of the program
//! that is searched. Between them the automaton reads the letter of each state, too. Its language is closed under
//! stuttering, so it accepts that run, but it may pass other locations. They are searched for: in the product with the
//! states of the run alone.

use crate::exec::Interp;
use crate::model::{
    Capabilities, ChainedSteps, StateSpace, StepOutcome, SuccessorSink, SystemDescription, any_bits,
};
use crate::reduce::claim::ClaimProduct;
use crate::reduce::rewriting::RewrittenProgram;
use crate::search::lasso::Lasso;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict, probe};
use crate::search::{SearchControl, model_failure};
use spill::{Error, Result};
use std::collections::HashMap;

/// The bytes of a position on a run.
const POSITION: usize = 4;

/// The most rounds of a cycle that are followed until a state is repeated. A state of the merged program represents
/// finitely many states, so a repetition follows.
const ROUNDS_MAX: usize = 1000;

/// The limits of the search for locations of the automaton.
const LIMITS: ProbeLimits = ProbeLimits { states: u64::MAX, bytes: 1 << 28 };

/// Converts runs of a product whose transitions are several transitions of the model.
#[derive(Clone, Copy)]
pub(super) struct CompositeRuns<'p> {
    /// The product with the program as written.
    pub product: &'p ClaimProduct<'p>,
    /// The product in which each transition is a step. Its states are divided as those of `product`.
    pub all_steps: &'p dyn StateSpace,
    /// The chains of the searched product, if it has some.
    pub chained: Option<&'p dyn ChainedSteps>,
    /// The merged transitions, if there are some. Then `all_steps` is the product with the program as written.
    pub merged: Option<MergedTransitions<'p>>,
}

/// A program with merged transitions.
#[derive(Clone, Copy)]
pub(super) struct MergedTransitions<'p> {
    /// The program as written.
    pub written: &'p Interp,
    /// The program with merged transitions.
    pub rewritten: &'p RewrittenProgram,
}

/// An infinite run of the system: a stem, and a cycle that closes from the last state to the state at `back`.
struct SystemRun {
    states: Vec<Vec<u8>>,
    back: usize,
}

impl CompositeRuns<'_> {
    /// Returns a verdict with its run in the product in which each transition is a step.
    pub fn expanded(&self, found: ProbeVerdict, control: &SearchControl) -> Result<ProbeVerdict> {
        let ProbeVerdict::Found(lasso) = found else { return Ok(found) };
        let searched = self.unchained(&lasso)?;
        let SystemRun { states, back } = match &self.merged {
            None => searched,
            Some(merged) => merged.run_as_written(&searched)?,
        };
        let run = RunProduct { product: self.product, all_steps: self.all_steps, states, back };
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

    /// Returns the run of the searched program, with the states that chains pass through.
    fn unchained(&self, lasso: &Lasso) -> Result<SystemRun> {
        let systems = lasso.states.iter().map(|it| self.product.system(it));
        let Some(chained) = self.chained else {
            return Ok(SystemRun {
                states: systems.map(<[u8]>::to_vec).collect(),
                back: lasso.back,
            });
        };
        let systems: Vec<&[u8]> = systems.collect();
        let (mut states, mut reached) = (vec![systems[0].to_vec()], vec![0]);
        let closing = [systems[lasso.back]];
        for (from, to) in systems.iter().zip(systems[1..].iter().chain(&closing)) {
            match chained.path(from, to).map_err(model_failure)? {
                Some(path) => states.extend(path),
                // A run that has ended stays in its last state.
                None if from == to => states.push(to.to_vec()),
                None => return Err(lost("no chain leads on")),
            }
            reached.push(states.len() - 1);
        }
        states.pop();
        Ok(SystemRun { states, back: reached[lasso.back] })
    }
}

impl MergedTransitions<'_> {
    /// Returns a run of the merged program as a run of the program as written.
    fn run_as_written(&self, merged: &SystemRun) -> Result<SystemRun> {
        let SystemRun { states: systems, back } = merged;
        let first = self.start(&systems[0]);
        let mut states = vec![first.ok_or_else(|| lost("no initial state is like its first"))?];
        // The position at which each state of the merged program is reached.
        let mut reached = vec![0];
        for to in &systems[1..] {
            self.follow(&mut states, to)?;
            reached.push(states.len() - 1);
        }
        let mut rounds = HashMap::from([(states[reached[*back]].clone(), reached[*back])]);
        for _ in 0..ROUNDS_MAX {
            self.follow(&mut states, &systems[*back])?;
            let end = states.len() - 1;
            if let Some(&back) = rounds.get(&states[end]) {
                // A run that has ended stays in its last state.
                states.truncate(end.max(back + 1));
                return Ok(SystemRun { states, back });
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
    all_steps: &'p dyn StateSpace,
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
        self.pass_on(0, out, |inner| self.all_steps.initial(inner));
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(self.width()) {
            let (at, state) = state.split_at(POSITION);
            let at = at.iter().fold(0, |at: usize, &byte| at << 8 | usize::from(byte));
            let next = if at + 1 < self.states.len() { at + 1 } else { self.back };
            self.pass_on(next, out, |inner| self.all_steps.expand(state, inner));
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
        reason: format!("no run of the model is that of the reduced one: {what}").into(),
    }
}
