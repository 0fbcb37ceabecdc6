//! The requests of a session whose model is launched.

use super::breakpoints::{LineBreakpoints, ModelFiles, SetBreakpoints, SteppedLines};
use super::evaluation::ExpressionEvaluator;
use super::path::{DebugPath, OPTIONS_MAX};
use super::protocol::{DapRequest, DapSender, RequestFailure, RequestResult, parsed};
use super::variables::{ShownValue, StateVariables};
use crate::model::{ProcessLocation, StateValue, Violation};
use crate::report::count;
use crate::source::Span;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The thread of a model without processes.
const MODEL_THREAD: &str = "model";

/// The distance between the numbers of frames of one thread.
const FRAME_STRIDE: usize = 1 << 20;

/// The maximum number of steps between two stops.
const CONTINUED_MAX: u64 = 10_000;

/// A session with a model.
pub(super) struct DebugSession<'d> {
    path: DebugPath<'d>,
    evaluator: ExpressionEvaluator<'d>,
    files: ModelFiles<'d>,
    lines: SteppedLines,
    breakpoints: LineBreakpoints,
    /// The variables of the current state.
    variables: StateVariables,
    /// The names of the threads. The number of a thread is its index, from 1 on.
    threads: Vec<String>,
    stops_on_entry: bool,
}

/// The effect of a request on the path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MoveKind {
    Step,
    Continue,
    StepBack,
    ReverseContinue,
}

/// Why the session has stopped.
struct StopReason {
    reason: &'static str,
    description: Option<String>,
}

impl StopReason {
    fn of(reason: &'static str) -> StopReason {
        StopReason { reason, description: None }
    }
}

/// Arguments with the number of a frame.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameArguments {
    frame_id: usize,
}

/// The arguments of `evaluate`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateArguments {
    expression: String,
    frame_id: Option<usize>,
}

/// The arguments of `stepIn`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StepInArguments {
    target_id: Option<usize>,
}

impl<'d> DebugSession<'d> {
    pub(super) fn new(
        path: DebugPath<'d>,
        evaluator: ExpressionEvaluator<'d>,
        files: ModelFiles<'d>,
        stops_on_entry: bool,
    ) -> Self {
        let lines = SteppedLines::of(path.walk.walked, &files);
        let mut session = DebugSession {
            path,
            evaluator,
            files,
            lines,
            breakpoints: LineBreakpoints::default(),
            variables: StateVariables::new(Vec::new(), Vec::new()),
            threads: Vec::new(),
            stops_on_entry,
        };
        session.refresh();
        session
    }

    /// Answers a request; a failure is left to the caller. `None`: there is no such request.
    pub(super) fn answer(
        &mut self,
        request: &DapRequest,
        sender: &mut DapSender,
    ) -> Option<Result<(), RequestFailure>> {
        let arguments = &request.arguments;
        let moved = |kind| (kind, json!({}));
        let (kind, body) = match request.command.as_str() {
            "next" | "stepOut" => moved(MoveKind::Step),
            "continue" => (MoveKind::Continue, json!({ "allThreadsContinued": true })),
            "stepBack" => moved(MoveKind::StepBack),
            "reverseContinue" => moved(MoveKind::ReverseContinue),
            "stepIn" => match parsed::<StepInArguments>(arguments).map(|it| it.target_id) {
                Ok(None) => moved(MoveKind::Step),
                Ok(Some(choice)) => return Some(self.step_into(choice, request, sender)),
                Err(failure) => return Some(Err(failure)),
            },
            _ => return self.show(request, sender),
        };
        sender.respond(request, Ok(body));
        self.go(kind, sender);
        Some(Ok(()))
    }

    /// Answers a request that changes no position.
    fn show(
        &mut self,
        request: &DapRequest,
        sender: &mut DapSender,
    ) -> Option<Result<(), RequestFailure>> {
        let arguments = &request.arguments;
        let result = match request.command.as_str() {
            "setBreakpoints" => self.set_breakpoints(arguments),
            "setExceptionBreakpoints" | "setFunctionBreakpoints" => {
                Ok(json!({ "breakpoints": [] }))
            }
            "configurationDone" => {
                sender.respond(request, Ok(json!({})));
                self.enter(sender);
                return Some(Ok(()));
            }
            "threads" => Ok(self.list_threads()),
            "stackTrace" => self.stack_trace(arguments),
            "scopes" => parsed(arguments).map(|FrameArguments { frame_id }| {
                let process = self.process_of(frame_id);
                self.variables.scopes(process)
            }),
            "variables" => {
                let reference = arguments["variablesReference"].as_u64().unwrap_or(0) as usize;
                let below = self.variables.below(reference);
                below.ok_or_else(|| RequestFailure::new("there are no variables of this number"))
            }
            "evaluate" => self.evaluate(arguments),
            "stepInTargets" => Ok(self.step_in_targets()),
            "exceptionInfo" => self.exception_info(),
            // The session is never between two stops when it reads a request.
            "pause" => Ok(json!({})),
            _ => return None,
        };
        Some(result.map(|body| sender.respond(request, Ok(body))))
    }

    /// Stops at the entry, or goes to the first breakpoint.
    fn enter(&mut self, sender: &mut DapSender) {
        if let Some(trace) = self.path.trace {
            let steps = count(trace.choices.len() as u64 - 1, "step");
            sender.say(&format!("counterexample to {}: {steps}", trace.to));
            if let Some(back) = trace.loop_start {
                sender.say(&format!(
                    "the last step leads back to the state after step {back}; the steps since then repeat for ever"
                ));
            }
        }
        if self.stops_on_entry {
            self.stop(StopReason::of("entry"), sender);
        } else if self.planned_breakpoint(sender) {
            self.stop(StopReason::of("breakpoint"), sender);
        } else {
            self.go(MoveKind::Continue, sender);
        }
    }

    /// Moves along the path, and stops.
    fn go(&mut self, kind: MoveKind, sender: &mut DapSender) {
        let reason = match kind {
            MoveKind::Step => self.step(sender),
            MoveKind::StepBack => match self.path.go_back() {
                true => StopReason::of("step"),
                false => StopReason::of("entry"),
            },
            MoveKind::Continue => self.run(sender),
            MoveKind::ReverseContinue => loop {
                if !self.path.go_back() {
                    break StopReason::of("entry");
                }
                if self.planned_breakpoint(sender) {
                    break StopReason::of("breakpoint");
                }
            },
        };
        self.stop(reason, sender);
    }

    /// Takes steps up to a breakpoint, a violation or the end. A walk may have no end.
    fn run(&mut self, sender: &mut DapSender) -> StopReason {
        for _ in 0..CONTINUED_MAX {
            let reason = self.step(sender);
            if reason.reason != "step" {
                return reason;
            }
            if self.planned_breakpoint(sender) {
                return StopReason::of("breakpoint");
            }
        }
        let steps = count(CONTINUED_MAX, "step");
        sender.say(&format!("stopped after {steps} without a breakpoint or a violation"));
        StopReason::of("pause")
    }

    /// Takes the next step.
    fn step(&mut self, sender: &mut DapSender) -> StopReason {
        if self.path.repeat_cycle() {
            sender.say("the cycle begins again");
            return self.reason();
        }
        if !self.path.advance() {
            sender.say("no step follows");
            return match self.violation() {
                Some(_) => self.reason(),
                None => StopReason::of("pause"),
            };
        }
        let back = self.path.trace.and_then(|it| it.loop_start);
        if self.path.is_on_trace() && back.is_some_and(|it| it + 1 == self.path.len()) {
            sender.say("the cycle begins here");
        }
        self.reason()
    }

    /// Returns why a path stops after a step.
    fn reason(&self) -> StopReason {
        match self.violation() {
            None => StopReason::of("step"),
            Some(description) => StopReason { reason: "exception", description: Some(description) },
        }
    }

    /// Describes the violation at the end of the path, if there is one.
    fn violation(&self) -> Option<String> {
        let walk = &self.path.walk;
        if let Some(trace) = self.path.trace.filter(|_| self.path.is_at_trace_end()) {
            return Some(trace.to.clone());
        }
        if let Some(fault) = self.path.fault() {
            return Some(fault.title());
        }
        if self.path.is_on_trace() {
            return None;
        }
        Some(match walk.violations(walk.state()?).into_iter().next()? {
            Violation::Property(number) => {
                let info = walk.walked.property(number)?;
                format!("{}: {}", info.kind, info.name)
            }
            Violation::Deadlock | Violation::Fault(..) => {
                "deadlock: no step can be taken here".to_owned()
            }
        })
    }

    /// Takes a chosen step.
    fn step_into(
        &mut self,
        choice: usize,
        request: &DapRequest,
        sender: &mut DapSender,
    ) -> Result<(), RequestFailure> {
        let was_on_trace = self.path.is_on_trace();
        if !self.path.choose(choice) {
            return Err(RequestFailure::new(format!("no step has the number {choice} here")));
        }
        sender.respond(request, Ok(json!({})));
        if was_on_trace && !self.path.is_on_trace() {
            sender.say("this step leaves the counterexample; a step back returns to it");
        }
        let reason = self.reason();
        self.stop(reason, sender);
        Ok(())
    }

    /// Returns whether the next step is on the line of a breakpoint whose condition holds. A condition that cannot be
    /// evaluated counts as true, and is reported.
    fn planned_breakpoint(&mut self, sender: &mut DapSender) -> bool {
        let Some(step) = self.path.planned() else { return false };
        let at: Vec<Option<String>> =
            self.breakpoints.at(&self.files, &step.step).map(|it| it.condition.clone()).collect();
        if at.iter().any(Option::is_none) {
            return true;
        }
        let mover = step.step.actors.first().cloned().flatten().map(|it| it.process);
        if !at.is_empty() {
            self.refresh();
        }
        let process =
            self.variables.processes.iter().position(|it| Some(&it.process) == mover.as_ref());
        // In specifications a condition is Boolean.
        let has_numbers = self.path.walk.model.as_program().is_some();
        at.into_iter().flatten().any(|condition| {
            let choices = self.path.choices();
            match self.evaluator.evaluate(&condition, &choices, &self.variables, process) {
                Ok(value) => is_true(&value, has_numbers).unwrap_or_else(|| {
                    sender.say(&format!(
                        "the condition `{condition}` is no condition: it is {value}"
                    ));
                    true
                }),
                Err(error) => {
                    sender.say(&format!("the condition `{condition}` has no value: {error}"));
                    true
                }
            }
        })
    }

    /// Reports that the session has stopped.
    fn stop(&mut self, StopReason { reason, description }: StopReason, sender: &mut DapSender) {
        self.refresh();
        let last = self.path.walk.steps.last();
        let mover = last.and_then(|it| it.step.actors.first().cloned().flatten());
        // The step may have ended its process.
        let is_alive =
            |name: &String| self.variables.processes.iter().any(|it| it.process == *name);
        let mover = mover.map(|it| it.process).filter(is_alive);
        let mover = mover.and_then(|it| self.threads.iter().position(|name| *name == it));
        let first = self.variables.processes.first();
        let first = first.and_then(|it| self.threads.iter().position(|name| *name == it.process));
        let mut body = json!({
            "reason": reason, "threadId": mover.or(first).unwrap_or(0) + 1, "allThreadsStopped": true,
        });
        if let Some(description) = description {
            sender.say(&format!("violated: {description}"));
            body["description"] = json!(format!("violated: {description}"));
            body["text"] = json!(description);
        }
        sender.event("stopped", body);
    }

    /// Describes the current state.
    fn refresh(&mut self) {
        let walked = self.path.walk.walked;
        self.variables = match self.path.shown_state() {
            None => StateVariables::new(Vec::new(), Vec::new()),
            Some(state) => {
                let processes = walked.process_locations(state);
                StateVariables::new(walked.describe_parts(state), processes)
            }
        };
        for ProcessLocation { process, .. } in &self.variables.processes {
            if !self.threads.contains(process) {
                self.threads.push(process.clone());
            }
        }
        if self.threads.is_empty() {
            self.threads.push(MODEL_THREAD.to_owned());
        }
    }

    fn list_threads(&self) -> Value {
        let thread = |name: &str| {
            let number = self.threads.iter().position(|it| it == name).unwrap_or(0) + 1;
            json!({ "id": number, "name": name })
        };
        let processes = &self.variables.processes;
        let threads: Vec<Value> = match processes.is_empty() {
            true => vec![thread(&self.threads[0])],
            false => processes.iter().map(|it| thread(&it.process)).collect(),
        };
        json!({ "threads": threads })
    }

    /// Returns the process of a frame. `None` in a model without processes.
    fn process_of(&self, frame: usize) -> Option<usize> {
        let name = self.threads.get((frame % FRAME_STRIDE).checked_sub(1)?)?;
        self.variables.processes.iter().position(|it| it.process == *name)
    }

    fn stack_trace(&self, arguments: &Value) -> RequestResult {
        let thread = arguments["threadId"].as_u64().unwrap_or(0) as usize;
        let known = thread.checked_sub(1).and_then(|it| self.threads.get(it));
        let name =
            known.ok_or_else(|| RequestFailure::new("there is no process of this number"))?;
        let mut frames = Vec::new();
        let last = self.path.walk.steps.last();
        let mover = last.and_then(|it| it.step.actors.first().cloned().flatten());
        let is_mover = mover.is_none_or(|it| it.process == *name);
        if let Some(fault) = self.path.fault().filter(|_| is_mover) {
            frames.push((fault.message.clone(), fault.span));
            frames.extend(fault.calls.iter().map(|it| (format!("in {}", it.function), it.span)));
        }
        match self.variables.processes.iter().find(|it| it.process == *name) {
            Some(ProcessLocation { process, location, span, .. }) => {
                frames.push((format!("{process}: {location}"), *span));
            }
            None => frames.extend(self.model_frame()),
        }
        let frame = |(number, (name, span)): (usize, (String, Span))| {
            self.frame(thread + number * FRAME_STRIDE, &name, span)
        };
        let frames: Vec<Value> = frames.into_iter().enumerate().map(frame).collect();
        Ok(json!({ "totalFrames": frames.len(), "stackFrames": frames }))
    }

    /// Returns the frame of a model without processes: the next step, or else the last one.
    fn model_frame(&self) -> Option<(String, Span)> {
        let span =
            |it: &crate::model::StepDescription| it.spans.first().copied().unwrap_or_default();
        match self.path.planned() {
            Some(next) => Some((format!("next: {}", next.step.title()), span(&next.step))),
            None => self.path.walk.steps.last().map(|it| (it.step.title(), span(&it.step))),
        }
    }

    fn frame(&self, id: usize, name: &str, span: Span) -> Value {
        let mut frame = json!({ "id": id, "name": name, "line": 0, "column": 0 });
        if let Some((path, line)) = self.files.line_of(span) {
            let column = self.files.column_of(span);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            frame["source"] = json!({ "name": name, "path": path });
            (frame["line"], frame["column"]) = (json!(line), json!(column));
        }
        frame
    }

    fn set_breakpoints(&mut self, arguments: &Value) -> RequestResult {
        let wanted: SetBreakpoints = parsed(arguments)?;
        let lines = self.breakpoints.set(&wanted, &self.files, &self.lines);
        let answer = |line: &Option<usize>| match line {
            Some(line) => json!({ "verified": true, "line": line }),
            None => {
                json!({ "verified": false, "message": "no step begins on this line or after it" })
            }
        };
        Ok(json!({ "breakpoints": lines.iter().map(answer).collect::<Vec<_>>() }))
    }

    fn evaluate(&mut self, arguments: &Value) -> RequestResult {
        let EvaluateArguments { expression, frame_id } = parsed(arguments)?;
        let process = frame_id.and_then(|it| self.process_of(it));
        let choices = self.path.choices();
        let found = self.evaluator.evaluate(&expression, &choices, &self.variables, process);
        let value = found.map_err(|it| RequestFailure::new(it.to_string()))?;
        let ShownValue { text, reference } = self.variables.shown(&expression, value);
        Ok(json!({ "result": text, "variablesReference": reference }))
    }

    fn step_in_targets(&self) -> Value {
        let target = |it: &crate::cli::model_walk::WalkStep| {
            let place = it.step.spans.first().and_then(|it| self.files.line_of(*it));
            let line = place.map(|it: (PathBuf, usize)| it.1);
            json!({ "id": it.choice, "label": it.step.title(), "line": line })
        };
        let targets: Vec<Value> = self.path.walk.options(OPTIONS_MAX).iter().map(target).collect();
        json!({ "targets": targets })
    }

    fn exception_info(&self) -> RequestResult {
        let violation = self.violation();
        let description =
            violation.ok_or_else(|| RequestFailure::new("nothing is violated here"))?;
        let kind = description.split(':').next().unwrap_or_default();
        Ok(json!({ "exceptionId": kind, "description": description, "breakMode": "always" }))
    }
}

/// Returns whether a value counts as true in a condition. `None` if it is no condition.
fn is_true(value: &StateValue, has_numbers: bool) -> Option<bool> {
    match value {
        StateValue::Truth(truth) => Some(*truth),
        StateValue::Number(number) => has_numbers.then_some(*number != 0),
        StateValue::Undefined => Some(false),
        StateValue::Written(_, inner) => is_true(inner, has_numbers),
        _ => None,
    }
}
