//! `graph`: the state graph of a small model as DOT (Graphviz).

use super::args::GraphArgs;
use super::command::ModelInput;
use super::failure::{self, CommandFailure};
use super::reachable_graph::{ReachableEdge, ReachableGraph, walkable};
use super::trace_position::TracePosition;
use super::{CommandResult, languages, model, print, say, warn};
use crate::escape;
use crate::front::DrawnState;
use crate::model::{StepOutcome, SystemDescription};
use crate::report::{count, grouped, print_changes, print_state};
use crate::session::{Error, SourceModel};
use crate::source::SourceMap;
use std::fmt::Write;
use std::path::Path;

/// `spillway graph`.
pub(super) fn graph(args: &GraphArgs) -> CommandResult {
    let input = ModelInput::from_args(&args.model, &args.expert);
    let (model, warnings) = model::open_any(&input, model::open_widest)?;
    let model = &*model;
    warnings.iter().for_each(warn);
    if args.structure {
        return structure(args, model);
    }
    let searched = model.searched();
    let graph = ReachableGraph::of(walkable(&searched), args.states_max)
        .ok_or_else(|| too_large(model, args.states_max))?;
    write_to(args.out.as_deref(), &graph.text(model, args.changes))
}

/// Writes a graph to a file, or prints it.
fn write_to(path: Option<&Path>, text: &str) -> CommandResult {
    match path {
        None => print(text),
        Some(path) => {
            let failed = |error| CommandFailure::cannot_write("the graph", path, error);
            std::fs::write(path, text).map_err(failed)?;
            let word = escape::shell_path(path);
            say(format!("wrote {}; `dot -Tsvg {word}` draws it", path.display()));
        }
    }
    Ok(failure::VERIFIED)
}

/// Draws the model itself, in its initial state or in the one that `--from` selects.
fn structure(args: &GraphArgs, model: &dyn SourceModel) -> CommandResult {
    let draw =
        languages::require_feature("--structure is", model.name(), model.language(), |it| it.draw)?;
    let drawn = |sources: &SourceMap, walked: &dyn SystemDescription, state: &[u8]| {
        let next: Vec<String> = walked.steps(state).into_iter().map(|it| it.name).collect();
        let values = walked.describe(state);
        let drawn = DrawnState { name: model.name(), values: &values, next: &next };
        let text = draw(sources, &drawn).map_err(|error| Error::text(&[error], sources))?;
        write_to(args.out.as_deref(), &text)
    };
    if let Some(from) = args.from.as_deref().map(TracePosition::read) {
        return from.walk(model, |begun| {
            let walk = begun.walk;
            drawn(walk.model.sources(), walk.walked, walk.state().unwrap_or_default())
        });
    }
    let searched = model.searched();
    let walked = searched.model().description();
    let start = walked.starts().into_iter().next().map(|it| it.outcome);
    match start.unwrap_or_else(|| unreachable!("models that are drawn have an initial state")) {
        StepOutcome::Successor(state) => drawn(model.sources(), walked, &state),
        StepOutcome::Fault(fault) => Err(CommandFailure::wrong(fault.message)),
    }
}

fn too_large(model: &dyn SourceModel, most: u64) -> CommandFailure {
    let (name, most) = (model.name(), grouped(most));
    CommandFailure::wrong(format!(
        "{name} has more than {most} states, too many to be drawn\n  help: --max-states N draws more; \
         `spillway check {name} --keep-going --reduce none` counts them"
    ))
}

impl ReachableGraph<'_> {
    fn text(&self, model: &dyn SourceModel, changes: bool) -> String {
        let (states, steps) = (self.states.len() as u64, self.steps.len() as u64);
        let told =
            format!("{}: {}, {}", model.name(), count(states, "state"), count(steps, "step"));
        let mut out = format!("// {}\ndigraph {} {{\n", escape::line(&told), quoted(model.name()));
        out += "  node [shape=box, fontname=\"monospace\", fontsize=10];\n  edge [fontname=\"monospace\", fontsize=9];\n";
        let values: Vec<_> = self.states.iter().map(|it| self.walked.describe(it)).collect();
        for (number, state) in self.states.iter().enumerate() {
            let of_start = number < self.starts;
            let lines: Vec<String> = match changes && !of_start {
                true => vec![number.to_string()],
                false => print_state(model.sources(), &values[number]),
            };
            let wrong = !self.walked.violations(state).is_empty();
            let style = match (of_start, wrong) {
                (_, true) => ", color=red, penwidth=2",
                (true, false) => ", penwidth=2",
                (false, false) => "",
            };
            let _ = writeln!(out, "  s{number} [label={}{style}];", label(&lines));
        }
        for (number, ReachableEdge { from, step, to }) in self.steps.iter().enumerate() {
            let mut lines = vec![step.title()];
            match to {
                Some(to) if changes => lines.extend(print_changes(&values[*from], &values[*to])),
                _ => {}
            }
            match (to, &step.outcome) {
                (Some(to), _) => {
                    let _ = writeln!(out, "  s{from} -> s{to} [label={}];", label(&lines));
                }
                (None, StepOutcome::Fault(fault)) => {
                    let wrong = label(std::slice::from_ref(&fault.message));
                    let _ = writeln!(out, "  e{number} [label={wrong}, shape=octagon, color=red];");
                    let _ = writeln!(
                        out,
                        "  s{from} -> e{number} [label={}, color=red];",
                        label(&lines)
                    );
                }
                (None, StepOutcome::Successor(_)) => {}
            }
        }
        out + "}\n"
    }
}

/// Formats lines as a label, left-aligned.
fn label(lines: &[String]) -> String {
    format!("\"{}\"", lines.iter().map(|it| escape::dot(it) + "\\l").collect::<String>())
}

/// Formats a text as an identifier of DOT.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escape::dot(text))
}
