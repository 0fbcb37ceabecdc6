//! `graph`: the states of a small model and the steps between them, as DOT (Graphviz).

use super::args::GraphArgs;
use super::failure::{self, Failure};
use super::{Ending, model, print, say};
use crate::exec::{Explain, Step, StepOutcome};
use crate::report::{StateGraph, StateStep, count, grouped, print_changes};
use crate::session::TextModel;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::ControlFlow;

/// `spillway graph`.
pub(super) fn graph(args: &GraphArgs) -> Ending {
    let model = model::open(&args.model)?;
    let searched = model.searched();
    let graph = Graph::of(searched.model().explained(), args.states_max)
        .ok_or_else(|| too_large(&model, args.states_max))?;
    let text = graph.text(&model, args.changes);
    match &args.out {
        None => print(&text),
        Some(path) => {
            let failed = |error| Failure::writing("the graph", path, error);
            std::fs::write(path, text).map_err(failed)?;
            say(format!("wrote {}; `dot -Tsvg {0}` draws it", path.display()));
        }
    }
    Ok(failure::VERIFIED)
}

/// All states of a model, to be drawn on a page; nothing if there are more than so many.
pub(super) fn drawn(model: &TextModel, most: u64) -> Option<StateGraph> {
    let searched = model.searched();
    let graph = Graph::of(searched.model().explained(), most)?;
    let values = graph.states.iter().map(|it| print_changes(&[], &graph.walked.describe(it)));
    let wrong = graph.states.iter().enumerate();
    let wrong = wrong.filter(|(_, it)| !graph.walked.violations(it).is_empty()).map(|it| it.0);
    let steps = graph.steps.iter().map(|Edge { from, step, to }| StateStep {
        from: *from,
        to: *to,
        title: match &step.outcome {
            StepOutcome::Fault(fault) => format!("{}: {}", step.title(), fault.message),
            StepOutcome::Successor(_) => step.title(),
        },
    });
    Some(StateGraph {
        levels: graph.levels(),
        values: values.map(|it| it.join("\n")).collect(),
        wrong: wrong.collect(),
        steps: steps.collect(),
    })
}

fn too_large(model: &TextModel, most: u64) -> Failure {
    let (name, most) = (model.name(), grouped(most));
    Failure::wrong(format!(
        "{name} has more than {most} states, too many to be drawn\n  help: --max-states N draws more; \
         `spillway check {name} --keep-going` counts them"
    ))
}

/// The states of a model, without reductions, in the order in which a search in breadth comes to them.
struct Graph<'m> {
    walked: &'m dyn Explain,
    states: Vec<Vec<u8>>,
    /// How many of them are initial.
    starts: usize,
    steps: Vec<Edge>,
}

/// A step from a state, by its number.
struct Edge {
    from: usize,
    step: Step,
    /// The state that it leads to; nothing if it fails.
    to: Option<usize>,
}

impl<'m> Graph<'m> {
    /// All of them; nothing if there are more than so many.
    fn of(walked: &'m dyn Explain, most: u64) -> Option<Graph<'m>> {
        let (mut states, mut numbers) = (Vec::new(), HashMap::new());
        let mut number = |state: Vec<u8>, states: &mut Vec<Vec<u8>>| {
            *numbers.entry(state).or_insert_with_key(|state| {
                states.push(state.clone());
                states.len() - 1
            })
        };
        // There may be very many.
        walked.each_start(&mut |step| {
            if let StepOutcome::Successor(state) = step.outcome {
                number(state, &mut states);
            }
            match states.len() as u64 > most {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        let (starts, mut steps, mut from) = (states.len(), Vec::new(), 0);
        while from < states.len() {
            if states.len() as u64 > most {
                return None;
            }
            for step in walked.steps(&states[from].clone()) {
                let to = match &step.outcome {
                    StepOutcome::Successor(state) => Some(number(state.clone(), &mut states)),
                    StepOutcome::Fault(_) => None,
                };
                steps.push(Edge { from, step, to });
            }
            from += 1;
        }
        Some(Graph { walked, states, starts, steps })
    }

    /// How many steps lead to each state, at least.
    fn levels(&self) -> Vec<usize> {
        let mut levels = vec![usize::MAX; self.states.len()];
        levels[..self.starts].fill(0);
        // Steps are in the order of the states that they lead from, and these in that of their levels.
        for (from, to) in self.steps.iter().filter_map(|it| Some((it.from, it.to?))) {
            levels[to] = levels[to].min(levels[from] + 1);
        }
        levels
    }

    fn text(&self, model: &TextModel, changes: bool) -> String {
        let (states, steps) = (self.states.len() as u64, self.steps.len() as u64);
        let told =
            format!("{}: {}, {}", model.name(), count(states, "state"), count(steps, "step"));
        let mut out =
            format!("// {}\ndigraph {} {{\n", told.replace('\n', " "), quoted(model.name()));
        out += "  node [shape=box, fontname=\"monospace\", fontsize=10];\n  edge [fontname=\"monospace\", fontsize=9];\n";
        let values: Vec<_> = self.states.iter().map(|it| self.walked.describe(it)).collect();
        for (number, state) in self.states.iter().enumerate() {
            let of_start = number < self.starts;
            let lines: Vec<String> = match changes && !of_start {
                true => vec![number.to_string()],
                false => print_changes(&[], &values[number]),
            };
            let wrong = !self.walked.violations(state).is_empty();
            let style = match (of_start, wrong) {
                (_, true) => ", color=red, penwidth=2",
                (true, false) => ", penwidth=2",
                (false, false) => "",
            };
            let _ = writeln!(out, "  s{number} [label={}{style}];", label(&lines));
        }
        for (number, Edge { from, step, to }) in self.steps.iter().enumerate() {
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

/// Lines as a label, each from the left.
fn label(lines: &[String]) -> String {
    format!("\"{}\"", lines.iter().map(|it| escaped(it) + "\\l").collect::<String>())
}

/// A text as an identifier of DOT.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// A text as it stands between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}
