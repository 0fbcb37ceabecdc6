//! SPIN's trails: which of its transitions a step takes.
//!
//! SPIN numbers the nodes of a whole model in the order in which it makes them. A trail has a line
//! for every transition: its depth, the pid of the process that takes it, and the number of the
//! node. A rendezvous is two lines, a `d_step` one. As statements are not merged, no line says so. A line `-1:-1:-1`
//! stands where a loop begins. (SPIN's manual page, option `-t`; the format is that of `pan`'s own trails.)

use super::ast::ProcessRole;
use super::{graph, lower, parse, preprocess};
use crate::diag::Diagnostic;
use crate::front::{Options, StepSource, TrailEnd, TrailWriter};
use crate::model::StepDescription;
use crate::source::SourceMap;
use std::io::{Result, Write};

/// The numbers that SPIN has for the moves of a model.
#[derive(Clone, Debug, Default)]
pub struct SpinNumbering {
    /// Of each action of the program; none for the inside of a `d_step`.
    pub actions: Vec<Option<usize>>,
    /// Of each move of the claim, if there is one.
    pub claim: Option<ClaimNumbering>,
}

/// The numbers of a claim.
#[derive(Clone, Debug, Default)]
pub struct ClaimNumbering {
    /// The claim's own, among processes and claims.
    pub own: usize,
    /// Of each of its moves.
    pub moves: Vec<Option<usize>>,
}

/// SPIN's numbers for a model, read as `options` say.
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

/// SPIN's numbers, ready to write trails with.
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

/// A trail that is being written, line by line. With a claim a first line says which, and the claim has
/// pid 0 and the processes those from 1 on.
pub struct SpinTrail<'a, W: Write> {
    numbers: &'a SpinNumbering,
    depth: usize,
    out: W,
}

impl<'a, W: Write> SpinTrail<'a, W> {
    /// A trail without steps.
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

    /// Says that what follows is repeated.
    fn begin_loop(&mut self) -> Result<()> {
        writeln!(self.out, "-1:-1:-1")
    }

    /// Adds the claim's last moves; gives back where it was written to.
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

/// A move as a trail has it.
struct TrailEntry {
    /// The process's number; the claim's is 0, if there is one.
    pid: u32,
    /// The number of the move.
    number: usize,
}

impl SpinNumbering {
    /// The pid and the number that a trail has for an action of a process with this pid.
    fn number(&self, action: usize, pid: u32) -> Option<TrailEntry> {
        let is_claimed = u32::from(self.claim.is_some());
        if let Some(number) = self.actions.get(action) {
            return number.map(|number| TrailEntry { pid: pid + is_claimed, number });
        }
        // The moves of the claim come after the actions and the start.
        let number = action.checked_sub(self.actions.len() + 1)?;
        let number = self.claim.as_ref()?.moves.get(number).copied().flatten()?;
        Some(TrailEntry { pid: 0, number })
    }
}
