//! SPIN's trails: the numbers of SPIN's transitions for the steps of a counterexample.
//!
//! SPIN numbers the nodes of a whole model in the order of their creation. A trail has one line for each transition:
//! its depth, the pid of the process, and the number of the node. A rendezvous has two lines, a `d_step` one.
//! Statements are not merged, so no line is needed for merging. A line `-1:-1:-1` marks the start of a loop. (SPIN's
//! manual page, option `-t`; the format is that of `pan`'s trails.)

use super::ast::ProcessRole;
use super::{graph, lower, parse, preprocess};
use crate::{Options, StepSource, TrailEnd, TrailWriter};
use spillway_base::diag::Diagnostic;
use spillway_base::source::SourceMap;
use spillway_model::StepDescription;
use std::io::{Result, Write};

/// SPIN's numbers for the transitions of a model.
#[derive(Clone, Debug, Default)]
pub struct SpinNumbering {
    /// The number of each action of the program; `None` inside a `d_step`.
    pub actions: Vec<Option<usize>>,
    /// The numbers of the claim, if there is one.
    pub claim: Option<ClaimNumbering>,
}

/// The numbers of a claim.
#[derive(Clone, Debug, Default)]
pub struct ClaimNumbering {
    /// The number of the claim among processes and claims.
    pub own: usize,
    /// The number of each of its moves.
    pub moves: Vec<Option<usize>>,
}

/// Returns SPIN's numbers for a model that is read with `options`.
pub fn number_transitions(
    sources: &mut SourceMap,
    options: &Options,
) -> std::result::Result<SpinNumbering, Diagnostic> {
    let model = parse::parse(preprocess::preprocess(sources, options, &[])?.model, None)?;
    let remote: Vec<&str> = model.remote_labels.iter().map(|label| &**label).collect();
    let claim = lower::chosen_claim(&model, &options.claim, &remote)?.map(|(claim, _)| claim);
    let (mut before, mut numbers) = (0, SpinNumbering::default());
    for (own, process) in model.processes.iter().enumerate() {
        let control = graph::control_graph(process, &remote)?;
        let control = if options.lossy { control.with_losses() } else { control };
        let number =
            |it: &graph::ControlTransition| (!it.inside_d_step).then_some(before + it.node);
        if process.role == ProcessRole::Process {
            numbers.actions.extend(control.transitions.iter().map(number));
        } else if claim.is_some_and(|claim| std::ptr::eq(claim, process)) {
            let moves = control
                .transitions
                .iter()
                .filter(|it| !matches!(it.act, graph::ControlAction::End));
            numbers.claim = Some(ClaimNumbering { own, moves: moves.map(number).collect() });
        }
        before += control.nodes;
    }
    Ok(numbers)
}

/// Returns a writer of trails for the model.
pub(super) fn trail_writer(
    sources: &mut SourceMap,
    options: &Options,
) -> std::result::Result<Box<dyn TrailWriter>, Diagnostic> {
    Ok(Box::new(number_transitions(sources, options)?))
}

impl TrailWriter for SpinNumbering {
    fn write(
        &self,
        each_step: &mut StepSource<'_>,
        end: TrailEnd<'_>,
        out: &mut dyn Write,
    ) -> Result<()> {
        let (loop_behind, last) = match end {
            TrailEnd::LastMoves(last) => (None, last),
            TrailEnd::LoopAfter(steps) => (Some(steps), &[][..]),
        };
        let mut trail = SpinTrail::begin(self, out)?;
        let (mut written, mut steps) = (Ok(()), 0);
        each_step(&mut |step| {
            if written.is_ok() && loop_behind.is_some_and(|it| it + 1 == steps) {
                written = trail.begin_loop();
            }
            if written.is_ok() {
                written = trail.step(step);
            }
            steps += 1;
        });
        written?;
        trail.end(last).map(drop)
    }
}

/// A trail under construction, written line by line. With a claim, the first line names the claim; the claim has pid 0,
/// and the processes have pids from 1 on.
pub struct SpinTrail<'a, W: Write> {
    numbers: &'a SpinNumbering,
    depth: usize,
    out: W,
}

impl<'a, W: Write> SpinTrail<'a, W> {
    /// Starts a trail.
    pub fn begin(numbers: &'a SpinNumbering, mut out: W) -> Result<Self> {
        if let Some(claim) = &numbers.claim {
            writeln!(out, "-2:{}:-2", claim.own)?;
        }
        Ok(SpinTrail { numbers, depth: 0, out })
    }

    /// Adds a step, which is not a start.
    pub fn step(&mut self, step: &StepDescription) -> Result<()> {
        step.actions.iter().try_for_each(|it| self.action(it.action, it.pid))
    }

    /// Marks the start of the part that repeats.
    fn begin_loop(&mut self) -> Result<()> {
        writeln!(self.out, "-1:-1:-1")
    }

    /// Adds the claim's last moves; returns the underlying writer.
    pub fn end(mut self, last: &[u32]) -> Result<W> {
        last.iter().try_for_each(|&last| self.action(last, 0))?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn action(&mut self, action: u32, pid: u32) -> Result<()> {
        let Some(TrailEntry { pid, number }) = self.numbers.number(action as usize, pid) else {
            return Ok(());
        };
        self.depth += 1;
        writeln!(self.out, "{}:{pid}:{number}", self.depth)
    }
}

/// A line of a trail.
struct TrailEntry {
    /// The pid of the process; the claim's is 0, if there is one.
    pid: u32,
    /// The number of the transition.
    number: usize,
}

impl SpinNumbering {
    /// Returns the line of a trail for an action of a process with this pid.
    fn number(&self, action: usize, pid: u32) -> Option<TrailEntry> {
        let is_claimed = u32::from(self.claim.is_some());
        if let Some(number) = self.actions.get(action) {
            return number.map(|number| TrailEntry { pid: pid + is_claimed, number });
        }
        // The moves of the claim are numbered after the actions and the start.
        let number = action.checked_sub(self.actions.len() + 1)?;
        let number = self.claim.as_ref()?.moves.get(number).copied().flatten()?;
        Some(TrailEntry { pid: 0, number })
    }
}
