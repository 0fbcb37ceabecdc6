//! `explain`: a model as Spillway understands it.

use super::args::{self, ExplainArgs};
use super::failure::VERIFIED;
use super::model::Model;
use super::{Ending, print};
use crate::exec::{Interp, Model as _};
use crate::ir::text;
use std::fmt::Write;

/// `spillway explain`.
pub(super) fn explain(args: &ExplainArgs) -> Ending {
    let model = Model::open(&args.model)?;
    print(&format!("{}\n", text::print(model.interp.program())));
    print(&format!("{}\n", layout(&model.interp)));
    match args::plan(args.memory, args.threads, model.interp.width()) {
        Ok(plan) => print(&format!("{plan}\n")),
        Err(error) => print(&format!("{error}\n")),
    }
    Ok(VERIFIED)
}

/// Which bits of a state hold what.
fn layout(model: &Interp) -> String {
    let (program, layout) = (model.program(), model.layout());
    let mut out = format!("state of {} bits in {} bytes\n", layout.bits, layout.bytes);
    let mut line = |name: String, first: crate::ir::layout::CellId, cells: u32| {
        let first_bit = layout.cells[first].bit;
        let bits: u32 = (first.0..first.0 + cells)
            .map(|cell| layout.cells[crate::ir::layout::CellId(cell)].bits)
            .sum();
        let _ = writeln!(out, "  bits {first_bit:>5} + {bits:<5} {name}");
    };
    for (id, variable) in program.variables.iter() {
        let owner = match variable.owner {
            crate::ir::Owner::Program => String::new(),
            crate::ir::Owner::Process(process) => format!("{}.", program.processes[process].name),
        };
        let cells = layout.sizes[variable.ty];
        line(format!("{owner}{}", variable.name), layout.variables[id].first, cells);
    }
    for (id, channel) in program.channels.iter().filter(|(_, channel)| channel.capacity > 0) {
        let fields: u32 = channel.fields.iter().map(|&ty| layout.sizes[ty]).sum();
        line(channel.name.clone(), layout.channels[id].first, 1 + channel.capacity * fields);
    }
    for (id, process) in program.processes.iter() {
        line(format!("location of {}", process.name), layout.locations[id].first, 1);
    }
    out
}
