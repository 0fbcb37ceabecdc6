//! SPIN's trails: which of its transitions a step takes.
//!
//! SPIN numbers the nodes of a whole model in the order in which it makes them. A trail has a line
//! for every transition: its depth, the pid of the process that takes it, and the number of the
//! node. A rendezvous is two lines, a `d_step` one. As statements are not merged, no line says so. (SPIN's manual page, option `-t`; the format is
//! that of `pan`'s own trails.)

use super::ast::Role;
use super::{graph, parse, preprocess};
use crate::diag::Diagnostic;
use crate::exec::Step;
use crate::front::Options;
use crate::source::Sources;
use std::fmt::Write;

/// The number that SPIN has for each action of a program; none for the inside of a `d_step`.
pub fn numbers(sources: &mut Sources, options: &Options) -> Result<Vec<Option<usize>>, Diagnostic> {
    let model = parse::parse(preprocess::preprocess(sources, &options.defines)?)?;
    let remote: Vec<&str> = model.remote_labels.iter().map(|label| &**label).collect();
    let (mut before, mut numbers) = (0, Vec::new());
    for process in &model.processes {
        let control = graph::control(process, &remote)?;
        if process.role == Role::Process {
            let number = |it: &graph::Move| (!it.inside_d_step).then_some(before + it.node);
            numbers.extend(control.moves.iter().map(number));
        }
        before += control.nodes;
    }
    Ok(numbers)
}

/// A trail of these steps, the start not among them.
pub fn print(steps: &[Step], numbers: &[Option<usize>]) -> String {
    let mut trail = String::new();
    let taken = steps.iter().flat_map(|step| &step.actions);
    let known = taken.filter_map(|&(action, pid)| {
        numbers.get(action as usize).copied().flatten().map(|number| (pid, number))
    });
    for (depth, (pid, number)) in known.enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(trail, "{}:{pid}:{number}", depth + 1);
    }
    trail
}
