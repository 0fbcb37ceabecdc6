//! The model's text on a page of the explorer. Lines are marked where processes are, where an action is enabled, and
//! where the last step was.

use super::explorer_breakpoints::LineBreakpoint;
use crate::model::{ProcessLocation, StepDescription};
use crate::numbers::grouped;
use crate::source::{SourceMap, Span};
use maud::{Markup, html};
use std::collections::HashMap;

/// The maximum number of lines of a file that are shown.
const LINES_MAX: usize = 5000;

/// A step with the address of the state after it.
pub struct ExploredStep<'p> {
    /// Its number among all steps of its state.
    pub choice: usize,
    /// The step.
    pub step: &'p StepDescription,
    /// The address of the page of the state after it.
    pub address: String,
}

/// The marks of a line.
#[derive(Default)]
struct LineMarks {
    /// The processes that are here.
    processes: Vec<String>,
    /// The numbers of the actions that are enabled here, with their addresses.
    options: Vec<LineOption>,
    /// Whether the last step was here.
    is_last: bool,
}

/// An enabled action of a line.
struct LineOption {
    choice: usize,
    address: String,
}

/// A line of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct TextLine {
    file: u32,
    line: usize,
}

/// The marks of all lines.
#[derive(Default)]
pub(super) struct TextMarks(HashMap<TextLine, LineMarks>);

impl TextMarks {
    fn at(&mut self, sources: &SourceMap, span: Span) -> Option<&mut LineMarks> {
        let line = sources.place(span)?.position.line;
        Some(self.0.entry(TextLine { file: span.file, line }).or_default())
    }

    /// Marks the lines of the last step.
    pub(super) fn add_last_step(&mut self, sources: &SourceMap, step: &StepDescription) {
        for span in &step.spans {
            self.at(sources, *span).into_iter().for_each(|it| it.is_last = true);
        }
    }

    /// Marks the line at which a process is.
    pub(super) fn add_process(&mut self, sources: &SourceMap, at: &ProcessLocation) {
        if let Some(marks) = self.at(sources, at.span) {
            marks.processes.push(at.process.clone());
        }
    }

    /// Marks the lines of an enabled action.
    pub(super) fn add_option(&mut self, sources: &SourceMap, option: &ExploredStep<'_>) {
        for span in &option.step.spans {
            let Some(marks) = self.at(sources, *span) else { continue };
            if marks.options.iter().all(|it| it.choice != option.choice) {
                let (choice, address) = (option.choice, option.address.clone());
                marks.options.push(LineOption { choice, address });
            }
        }
    }
}

/// The texts of a model with marks.
pub(super) struct MarkedTexts<'t> {
    /// The texts.
    pub sources: &'t SourceMap,
    /// The marks.
    pub marks: &'t TextMarks,
    /// Returns the breakpoint that can be set at a line of a file, or the one that is set there.
    pub breakpoint: &'t dyn Fn(u32, usize) -> Option<LineBreakpoint>,
}

impl MarkedTexts<'_> {
    pub(super) fn section(&self) -> Markup {
        html! {
            section #model {
                h2 { "Model" }
                @for (number, file) in (0..).zip(self.sources.iter()) {
                    @let is_marked = self.marks.0.keys().any(|it| it.file == number);
                    details open[is_marked || number == 0] {
                        summary { (file.name) }
                        @if file.text.lines().count() > LINES_MAX {
                            p.note { "These are its first " (grouped(LINES_MAX as u64)) " lines." }
                        }
                        div.scrolling.text {
                            table.text {
                                @for (line, text) in (1..).zip(file.text.lines().take(LINES_MAX)) {
                                    (self.row(TextLine { file: number, line }, text))
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn row(&self, at: TextLine, text: &str) -> Markup {
        let marks = self.marks.0.get(&at);
        let breakpoint = (self.breakpoint)(at.file, at.line);
        let class = match marks {
            None => "",
            Some(it) if !it.processes.is_empty() => "here",
            Some(it) if !it.options.is_empty() => "enabled",
            Some(_) => "last",
        };
        html! {
            tr class=(class) id={ "l" (at.file) "-" (at.line) } {
                td.number {
                    @match &breakpoint {
                        Some(it) => (it.button(at.line)),
                        None => (at.line),
                    }
                }
                td.marks {
                    @if let Some(it) = marks {
                        @if it.is_last { span title="the last step" { "◂" } " " }
                        @for process in &it.processes { span.process { (process) } " " }
                        @for option in &it.options { a.take href=(option.address) title="take this action" { (option.choice) } " " }
                    }
                }
                td { code { (text) } }
            }
        }
    }
}
