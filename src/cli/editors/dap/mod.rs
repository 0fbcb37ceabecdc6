//! `dap`: a debug adapter, which steps through counterexamples and models.
//!
//! The main thread owns the model and answers requests. One thread reads messages. The check before a session has a
//! thread of its own, so that the client can end it.

mod breakpoints;
mod evaluation;
mod launch;
mod path;
mod protocol;
mod session;
mod variables;

use crate::cli::CommandResult;
use crate::cli::args::EditorArgs;
use crate::cli::failure::{CommandFailure, VERIFIED};
use crate::cli::model_walk::ModelWalk;
use crate::cli::reachable_graph::walkable;
use crate::search::SearchControl;
use breakpoints::{ClientNumbering, ModelFiles};
use evaluation::ExpressionEvaluator;
use launch::{LaunchArguments, LaunchedModel};
use path::DebugPath;
use protocol::{DapInput, DapRequest, DapSender, RequestFailure, parsed, read_requests};
use serde_json::{Value, json};
use session::DebugSession;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// `spillway dap`.
pub(in crate::cli) fn dap(args: &EditorArgs) -> CommandResult {
    let (sender, events) = channel();
    let reader = sender.clone();
    thread::spawn(move || read_requests(&reader, AdapterEvent::Input));
    let mut adapter = DebugAdapter {
        args: args.clone(),
        events: sender,
        sender: DapSender::default(),
        numbering: ClientNumbering::default(),
        launch: None,
    };
    match adapter.launch(&events) {
        ControlFlow::Break(ended) => ended,
        ControlFlow::Continue((model, arguments)) => adapter.debug(&model, &arguments, &events),
    }
}

/// What happens to the adapter.
enum AdapterEvent {
    /// A message arrived.
    Input(DapInput),
    /// The model is read, and checked if that was wanted. The error is a message.
    Launched(Box<Result<LaunchedModel, String>>),
}

/// A `launch` request whose model is being read or checked.
struct PendingLaunch {
    request: DapRequest,
    arguments: LaunchArguments,
    control: Arc<SearchControl>,
    thread: JoinHandle<()>,
}

/// The adapter.
struct DebugAdapter {
    args: EditorArgs,
    events: Sender<AdapterEvent>,
    sender: DapSender,
    numbering: ClientNumbering,
    launch: Option<PendingLaunch>,
}

impl DebugAdapter {
    /// Answers requests until a model is launched, or the client ends the session.
    fn launch(
        &mut self,
        events: &Receiver<AdapterEvent>,
    ) -> ControlFlow<CommandResult, (LaunchedModel, LaunchArguments)> {
        loop {
            let Ok(event) = events.recv() else { return ControlFlow::Break(Ok(VERIFIED)) };
            match event {
                AdapterEvent::Input(input) => match self.take_input(input) {
                    ControlFlow::Break(ended) => return ControlFlow::Break(ended),
                    ControlFlow::Continue(None) => {}
                    ControlFlow::Continue(Some(request)) => self.prepare(request),
                },
                AdapterEvent::Launched(result) => {
                    let Some(PendingLaunch { request, arguments, .. }) = self.launch.take() else {
                        continue;
                    };
                    match *result {
                        Err(why) => self.sender.respond(&request, Err(RequestFailure::new(why))),
                        Ok(model) => {
                            self.sender.respond(&request, Ok(json!({})));
                            return ControlFlow::Continue((model, arguments));
                        }
                    }
                }
            }
        }
    }

    /// Handles the input that is the same in all phases. Returns other requests, and breaks with the end of the
    /// command.
    fn take_input(&mut self, input: DapInput) -> ControlFlow<CommandResult, Option<DapRequest>> {
        match input {
            DapInput::Malformed(why) => {
                self.sender.say(&format!("a message that is no request was ignored: {why}"));
                ControlFlow::Continue(None)
            }
            DapInput::Closed(why) => {
                self.stop_launch();
                // A client that has disconnected needs no more output.
                ControlFlow::Break(why.map_or(Ok(VERIFIED), |it| Err(CommandFailure::wrong(it))))
            }
            DapInput::Request(request) => match request.command.as_str() {
                "disconnect" | "terminate" => {
                    self.stop_launch();
                    self.sender.respond(&request, Ok(json!({})));
                    self.sender.event("terminated", json!({}));
                    ControlFlow::Break(Ok(VERIFIED))
                }
                _ => ControlFlow::Continue(Some(request)),
            },
        }
    }

    /// Ends the check of a launch, which then removes its files.
    fn stop_launch(&mut self) {
        if let Some(launch) = self.launch.take() {
            launch.control.stop();
            let _ = launch.thread.join();
        }
    }

    /// Answers a request before a model is launched.
    fn prepare(&mut self, request: DapRequest) {
        match request.command.as_str() {
            "initialize" => {
                let numbering = parsed::<Option<ClientNumbering>>(&request.arguments);
                let result = numbering.map(|it| {
                    self.numbering = it.unwrap_or_default();
                    capabilities()
                });
                self.sender.respond(&request, result);
            }
            "launch" if self.launch.is_none() => {
                if let Err((request, failure)) = self.begin_launch(request) {
                    self.sender.respond(&request, Err(failure));
                }
            }
            command => {
                let why = match command {
                    "launch" => "a model is being launched already".to_owned(),
                    "attach" => "there is no running program to attach to: use `launch`".to_owned(),
                    _ => format!("`{command}` needs a model: `launch` has not ended yet"),
                };
                self.sender.respond(&request, Err(RequestFailure::new(why)));
            }
        }
    }

    /// Reads and checks the model of a request in a thread.
    fn begin_launch(&mut self, request: DapRequest) -> Result<(), (DapRequest, RequestFailure)> {
        let arguments: LaunchArguments = match parsed(&request.arguments) {
            Ok(arguments) => arguments,
            Err(failure) => return Err((request, failure)),
        };
        let target = match arguments.target(&self.args) {
            Ok(target) => target,
            Err(error) => return Err((request, RequestFailure::new(error.to_string()))),
        };
        let control = target.control();
        let (events, stopped) = (self.events.clone(), Arc::clone(&control));
        let thread = thread::spawn(move || {
            let launched = catch_unwind(AssertUnwindSafe(|| target.launch(&stopped)));
            let bug = "the check failed; this is a bug in spillway, please report it";
            let result = match launched {
                Ok(result) => result.map_err(|it| it.to_string()),
                Err(_) => Err(bug.to_owned()),
            };
            let _ = events.send(AdapterEvent::Launched(Box::new(result)));
        });
        self.launch = Some(PendingLaunch { request, arguments, control, thread });
        Ok(())
    }

    /// Serves a session with a model until the client ends it.
    fn debug(
        &mut self,
        launched: &LaunchedModel,
        arguments: &LaunchArguments,
        events: &Receiver<AdapterEvent>,
    ) -> CommandResult {
        launched.says.iter().for_each(|it| self.sender.say(it));
        let job = &launched.explored.job;
        let model = match job.unreduced_model() {
            Ok(model) => model,
            Err(error) => {
                self.sender.say(&error.to_string());
                self.sender.event("terminated", json!({}));
                return Err(error.into());
            }
        };
        let searched = model.searched();
        let walk = ModelWalk::new(&*model, walkable(&searched));
        let path = DebugPath::new(walk, launched.explored.trace.as_ref(), arguments.seed);
        let evaluator = ExpressionEvaluator::new(job);
        let files =
            ModelFiles::new(model.sources(), arguments.directory.as_deref(), self.numbering);
        let mut session = DebugSession::new(path, evaluator, files, arguments.stop_on_entry);
        self.sender.event("initialized", json!({}));
        loop {
            let Ok(event) = events.recv() else { return Ok(VERIFIED) };
            let AdapterEvent::Input(input) = event else { continue };
            match self.take_input(input) {
                ControlFlow::Break(ended) => return ended,
                ControlFlow::Continue(None) => {}
                ControlFlow::Continue(Some(request)) => self.answer(&mut session, &request),
            }
        }
    }

    /// Answers a request of a session with a model.
    fn answer(&mut self, session: &mut DebugSession<'_>, request: &DapRequest) {
        let sender = &mut self.sender;
        let answered = catch_unwind(AssertUnwindSafe(|| session.answer(request, sender)));
        let failure = match answered {
            Ok(Some(Ok(()))) => return,
            Ok(Some(Err(failure))) => failure,
            Ok(None) => {
                RequestFailure::new(format!("this adapter has no request `{}`", request.command))
            }
            Err(_) => RequestFailure::new(
                "this request cannot be answered; this is a bug in spillway, please report it",
            ),
        };
        self.sender.respond(request, Err(failure));
    }
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsStepInTargetsRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsTerminateRequest": true,
    })
}
