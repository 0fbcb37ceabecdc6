//! `explain`: a model as Spillway understands it.

use super::args::ExplainArgs;
use super::failure::{Failure, VERIFIED};
use super::model;
use super::{Ending, print};
use crate::exec::{Exec, Executor, Interp};
use crate::ir::layout::Content;
use crate::ir::{Owner, Program, text};
use crate::report;
use crate::session::{Budget, KeyOrder, TextModel};
use std::fmt::Write;

/// `spillway explain`.
pub(super) fn explain(args: &ExplainArgs) -> Ending {
    let (model, share) = model::open(&args.model)?.in_key_order(args.key_order.into())?;
    let executor = Executor::new(&model.interp, Exec::Jit);
    if let Some(wanted) = &args.asm {
        print(&assembly(&executor, &model, wanted)?);
        return Ok(VERIFIED);
    }
    print(&format!("{}\n", text::print(model.interp.program())));
    print(&format!("{}{}\n", layout(&model.interp), order(&model, args.key_order.into(), share)));
    print(&format!("{}\n\n", report::print_compiled(executor.compiled())));
    let (memory, threads, exec) = (args.memory, args.threads, Exec::Jit);
    let budget = Budget { memory, threads, exec, goes_on: false };
    match budget.share_out(model.searched().model().width()) {
        Ok(plan) => print(&format!("{plan}\n")),
        Err(error) => print(&format!("{error}\n")),
    }
    Ok(VERIFIED)
}

/// The machine code of the actions with this number or name.
fn assembly(executor: &Executor, model: &TextModel, wanted: &str) -> Result<String, Failure> {
    let Executor::Compiled(jit) = executor else {
        let why = executor.compiled().err().unwrap_or_default();
        return Err(Failure::wrong(format!("there is no machine code of this model: {why}")));
    };
    let actions = &model.interp.program().actions;
    let chosen =
        actions.iter().filter(|(id, action)| action.name == wanted || wanted.parse() == Ok(id.0));
    let mut out = String::new();
    for (id, action) in chosen {
        let code = jit.assembly(id).map_err(|error| Failure::wrong(error.to_string()))?;
        let _ = writeln!(out, "action {}: {}\n{code}", id.0, action.name);
    }
    match out.is_empty() {
        false => Ok(out),
        true => Err(Failure::wrong(format!(
            "{} has no action `{wanted}`\n  help: `spillway explain` without --asm lists the \
             actions; give the name between quotes, or the position in the list from 0",
            model.name()
        ))),
    }
}

/// Which bits of a state hold what, in key order.
fn layout(model: &Interp) -> String {
    let (program, layout) = (model.program(), model.layout());
    let mut out = format!("state of {} bits in {} bytes\n", layout.bits, layout.bytes);
    for &id in &layout.order {
        let (bits, name) = (layout.extent(id), part(program, layout.groups[id].part));
        let _ = writeln!(out, "  bits {:>5} + {:<5} {name}", bits.start, bits.len());
    }
    out
}

/// What a group of cells is called.
fn part(program: &Program, part: Content) -> String {
    let owned = |owner, name: &str| match owner {
        Owner::Program => name.to_string(),
        Owner::Process(process) => format!("{}.{name}", program.processes[process].name),
    };
    match part {
        Content::Location(process) => format!("location of {}", program.processes[process].name),
        Content::Variable(id) => owned(program.variables[id].owner, &program.variables[id].name),
        Content::Channel(id) => owned(program.channels[id].owner, &program.channels[id].name),
    }
}

/// How the order came about.
fn order(model: &TextModel, wanted: KeyOrder, share: Option<f64>) -> String {
    let why = match (wanted, share) {
        (KeyOrder::Sampled, None) => {
            ": there are few states, or no other stores a sample of them much smaller".to_string()
        }
        (_, Some(share)) => {
            format!(": a sample takes {:.0} % of what it takes as declared", share * 100.0)
        }
        _ => String::new(),
    };
    format!("key order {}{why}\n", model.key_order())
}
