//! `lsp`: a language server.
//!
//! The main thread owns the documents and answers requests in order. One thread reads messages. Each check has a thread of
//! its own. They send [`ServerEvent`]s to the main thread. Models are read again when no message waits, or when a request
//! needs one.

mod diagnostics;
mod documents;
mod features;

use super::bounded_check::{
    self, BoundedCheckResult, SelectedProperties, bounded_config, control_of,
};
use super::framing::{read_message, write_message};
use crate::cli::CommandResult;
use crate::cli::args::EditorArgs;
use crate::cli::failure::{CommandFailure, VERIFIED, VIOLATED};
use crate::report::{PropertyJudgement, overall_verdict};
use crate::search::{SearchControl, SearchVerdict};
use crate::session::{CheckConfig, EditedModel};
use diagnostics::DiagnosticStore;
use documents::OpenDocuments;
use features::{CHECK, DocumentPosition};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CodeLensOptions, CodeLensParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentSymbolParams,
    ExecuteCommandOptions, ExecuteCommandParams, HoverProviderCapability, InitializeResult,
    MessageType, OneOf, SaveOptions, ServerCapabilities, ServerInfo, ShowMessageParams,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, Uri,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{self, stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// `spillway lsp`.
pub(in crate::cli) fn lsp(args: &EditorArgs) -> CommandResult {
    let (sender, events) = channel();
    let reader = sender.clone();
    thread::spawn(move || read_messages(&reader));
    let server = LanguageServer {
        args: args.clone(),
        events: sender,
        state: ServerState::New,
        documents: OpenDocuments::default(),
        diagnostics: DiagnosticStore::default(),
        checks: HashMap::new(),
    };
    server.serve(&events)
}

/// What happens to the server.
enum ServerEvent {
    /// A message arrived.
    Message(Message),
    /// A message arrived that is none.
    Malformed(MalformedMessage),
    /// The input ended, or no further message can be found in it, with the reason.
    Closed(Option<String>),
    /// A check ended.
    CheckEnded(Box<EndedCheck>),
}

/// A message that is none.
struct MalformedMessage {
    /// What it has as its identifier, or null.
    id: Value,
    code: ErrorCode,
    why: String,
}

/// A check that ended.
struct EndedCheck {
    id: RequestId,
    root: PathBuf,
    /// The version of the model that was checked.
    version: u64,
    /// The result, or the message of a failure.
    result: Result<BoundedCheckResult, String>,
}

/// A check that runs.
struct RunningCheck {
    control: Arc<SearchControl>,
    is_cancelled: bool,
    thread: JoinHandle<()>,
}

/// The states of a server between the first and the last message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ServerState {
    New,
    Initialized,
    ShutDown,
}

/// The failure of a request.
struct RequestFailure(ErrorCode, String);

/// The arguments of the command for a check.
#[derive(Deserialize)]
struct CheckArguments {
    uri: Uri,
    #[serde(flatten)]
    selected: Value,
}

/// Sends the messages of standard input as events.
fn read_messages(events: &Sender<ServerEvent>) {
    let mut input = stdin().lock();
    loop {
        let event = match read_message(&mut input) {
            Ok(Some(content)) => parse_message(&content),
            Ok(None) => ServerEvent::Closed(None),
            Err(error) => ServerEvent::Closed(Some(error.to_string())),
        };
        let is_last = matches!(event, ServerEvent::Closed(_));
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

fn parse_message(content: &[u8]) -> ServerEvent {
    let malformed = |id, code, why| ServerEvent::Malformed(MalformedMessage { id, code, why });
    let value: Value = match serde_json::from_slice(content) {
        Ok(value) => value,
        Err(error) => return malformed(Value::Null, ErrorCode::ParseError, error.to_string()),
    };
    // A request with such an identifier would be read as a notification, and would wait for its response for ever.
    if let Some(id) = value.get("id").filter(|_| value.get("method").is_some())
        && serde_json::from_value::<RequestId>(id.clone()).is_err()
    {
        let why = "the `id` of a request must be text, or an integer of 32 bits";
        return malformed(id.clone(), ErrorCode::InvalidRequest, why.to_owned());
    }
    match serde_json::from_value(value) {
        Ok(message) => ServerEvent::Message(message),
        Err(_) => {
            let why = "it is no request, no response and no notification";
            malformed(Value::Null, ErrorCode::InvalidRequest, why.to_owned())
        }
    }
}

/// The server.
struct LanguageServer {
    args: EditorArgs,
    events: Sender<ServerEvent>,
    state: ServerState,
    documents: OpenDocuments,
    diagnostics: DiagnosticStore,
    checks: HashMap<RequestId, RunningCheck>,
}

impl LanguageServer {
    /// Serves until the client ends the session. Returns the exit code that the protocol demands: 0 if the client has
    /// sent `shutdown` before.
    fn serve(mut self, events: &Receiver<ServerEvent>) -> CommandResult {
        let mut waiting = VecDeque::new();
        loop {
            waiting.extend(events.try_iter());
            if waiting.is_empty() {
                self.read_models();
                waiting.extend(events.recv());
            }
            match waiting.pop_front() {
                Some(ServerEvent::Message(message)) => match message {
                    Message::Request(request) => self.answer(request),
                    Message::Notification(it) if it.method == "exit" => return Ok(self.end()),
                    Message::Notification(it) => self.take_notification(it),
                    // The server sends no requests.
                    Message::Response(_) => {}
                },
                Some(ServerEvent::Malformed(MalformedMessage { id, code, why })) => {
                    let error = json!({ "code": code as i32, "message": why });
                    send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                }
                Some(ServerEvent::CheckEnded(ended)) => self.end_check(*ended),
                Some(ServerEvent::Closed(Some(why))) => {
                    self.end();
                    return Err(CommandFailure::wrong(why));
                }
                Some(ServerEvent::Closed(None)) | None => return Ok(self.end()),
            }
        }
    }

    /// Ends the checks, which then remove their files. Returns the exit code.
    fn end(self) -> u8 {
        self.checks.values().for_each(|it| it.control.stop());
        self.checks.into_values().for_each(|it| _ = it.thread.join());
        if self.state == ServerState::ShutDown { VERIFIED } else { VIOLATED }
    }

    fn answer(&mut self, request: Request) {
        let id = request.id.clone();
        let answered = catch_unwind(AssertUnwindSafe(|| self.result_of(request)));
        let failed = || {
            let why =
                "this request cannot be answered; this is a bug in spillway, please report it";
            Err(RequestFailure(ErrorCode::InternalError, why.to_owned()))
        };
        match answered.unwrap_or_else(|_| failed()) {
            Ok(None) => {}
            Ok(Some(result)) => respond(Response::new_ok(id, result)),
            Err(RequestFailure(code, why)) => respond(Response::new_err(id, code as i32, why)),
        }
    }

    /// Returns the result of a request. `None`: it follows later.
    fn result_of(&mut self, request: Request) -> Result<Option<Value>, RequestFailure> {
        let Request { id, method, params } = request;
        match (self.state, method.as_str()) {
            (ServerState::New, "initialize") => {
                self.state = ServerState::Initialized;
                return Ok(Some(json!(capabilities())));
            }
            (ServerState::New, _) => {
                let why = "`initialize` has to be the first request";
                return Err(RequestFailure(ErrorCode::ServerNotInitialized, why.to_owned()));
            }
            (ServerState::ShutDown, _) | (_, "initialize") => {
                let why = format!("`{method}` is no valid request in this state of the session");
                return Err(RequestFailure(ErrorCode::InvalidRequest, why));
            }
            _ => {}
        }
        self.read_models();
        Ok(Some(match method.as_str() {
            "shutdown" => {
                self.state = ServerState::ShutDown;
                self.checks.values().for_each(|it| it.control.stop());
                Value::Null
            }
            "textDocument/hover" => self.at(parsed(params)?, features::hover),
            "textDocument/definition" => self.at(parsed(params)?, features::definition),
            "textDocument/documentSymbol" => {
                let DocumentSymbolParams { text_document, .. } = parsed(params)?;
                let root = self.documents.root_of(&text_document.uri);
                let model = root.and_then(|it| self.documents.model(&it));
                json!(model.and_then(|it| features::outline(it, &text_document.uri)))
            }
            "textDocument/codeLens" => {
                let CodeLensParams { text_document, .. } = parsed(params)?;
                match self.documents.root_of(&text_document.uri) {
                    None => Value::Null,
                    Some(root) => {
                        let model = self.documents.model(&root);
                        json!(features::lenses(model, &text_document.uri))
                    }
                }
            }
            "workspace/executeCommand" => {
                self.execute(id, parsed(params)?)?;
                return Ok(None);
            }
            _ => {
                let why = format!("this server has no method `{method}`");
                return Err(RequestFailure(ErrorCode::MethodNotFound, why));
            }
        }))
    }

    /// Returns the result of a function at a position. Null in files that are not open.
    fn at<T: serde::Serialize>(
        &self,
        params: TextDocumentPositionParams,
        find: fn(&documents::OpenModel, DocumentPosition<'_>) -> Option<T>,
    ) -> Value {
        let TextDocumentPositionParams { text_document, position } = params;
        let uri = &text_document.uri;
        let found = self.documents.root_of(uri).and_then(|root| {
            let (model, text) = (self.documents.model(&root)?, self.documents.text(uri)?);
            find(model, DocumentPosition { uri, text, position })
        });
        json!(found)
    }

    fn take_notification(&mut self, Notification { method, params }: Notification) {
        if self.state != ServerState::Initialized {
            return;
        }
        match method.as_str() {
            "textDocument/didOpen" => {
                let Ok(DidOpenTextDocumentParams { text_document: it }) = parsed(params) else {
                    return;
                };
                self.documents.open(&it.uri, &it.language_id, it.text);
            }
            "textDocument/didChange" => {
                let Ok(DidChangeTextDocumentParams { text_document, content_changes }) =
                    parsed(params)
                else {
                    return;
                };
                // With full synchronization the last change is the text.
                if let Some(last) = content_changes.into_iter().next_back() {
                    self.documents.set_text(&text_document.uri, last.text);
                }
            }
            "textDocument/didSave" => {
                // A file that the model includes may have changed too.
                let Ok(DidSaveTextDocumentParams { text_document, .. }) = parsed(params) else {
                    return;
                };
                if let Some(path) = super::positions::path_of(&text_document.uri) {
                    self.documents.change(&path);
                }
            }
            "textDocument/didClose" => {
                let Ok(DidCloseTextDocumentParams { text_document }) = parsed(params) else {
                    return;
                };
                if let Some(path) = self.documents.close(&text_document.uri) {
                    self.diagnostics.forget(&path, &self.documents);
                }
            }
            "$/cancelRequest" => self.cancel(&params["id"]),
            _ => {}
        }
    }

    /// Stops the check that a request has started.
    fn cancel(&mut self, id: &Value) {
        let Ok(id) = serde_json::from_value::<RequestId>(id.clone()) else { return };
        if let Some(check) = self.checks.get_mut(&id) {
            check.is_cancelled = true;
            check.control.stop();
        }
    }

    /// Reads the models whose texts have changed, and publishes their diagnostics.
    fn read_models(&mut self) {
        let config = CheckConfig::default();
        for root in self.documents.read_changed(&config) {
            if let Some(model) = self.documents.model(&root) {
                self.diagnostics.set_reading(&root, model);
            }
        }
        self.diagnostics.publish(&self.documents);
    }

    /// Starts a check.
    fn execute(
        &mut self,
        id: RequestId,
        params: ExecuteCommandParams,
    ) -> Result<(), RequestFailure> {
        if self.checks.contains_key(&id) {
            let why = "a check runs already for a request with this `id`";
            return Err(RequestFailure(ErrorCode::InvalidRequest, why.to_owned()));
        }
        if params.command != CHECK {
            let why = format!("there is no command `{}`; there is `{CHECK}`", params.command);
            return Err(RequestFailure(ErrorCode::InvalidParams, why));
        }
        let first = params.arguments.into_iter().next().unwrap_or_default();
        let CheckArguments { uri, selected } = parsed(first)?;
        let selected: SelectedProperties = parsed(selected)?;
        let root = self.documents.root_of(&uri);
        let read = root
            .and_then(|it| Some((self.documents.edited(&it)?, self.documents.model(&it)?.version)));
        let Some((model, version)) = read else {
            let why = format!("no model is open in {}", uri.as_str());
            return Err(RequestFailure(ErrorCode::RequestFailed, why));
        };
        let config = bounded_config(&self.args, &selected);
        let control = control_of(&config);
        let (events, stopped, request) = (self.events.clone(), Arc::clone(&control), id.clone());
        let thread = thread::spawn(move || {
            let result = run(&model, &config, &stopped);
            let ended = EndedCheck { id, result, root: model.path, version };
            let _ = events.send(ServerEvent::CheckEnded(Box::new(ended)));
        });
        self.checks.insert(request, RunningCheck { control, is_cancelled: false, thread });
        Ok(())
    }

    /// Answers the request for a check that ended, and shows its result.
    fn end_check(&mut self, EndedCheck { id, root, version, result }: EndedCheck) {
        let is_cancelled = self.checks.remove(&id).is_some_and(|it| it.is_cancelled);
        if is_cancelled {
            let why = "the check was cancelled".to_owned();
            return respond(Response::new_err(id, ErrorCode::RequestCanceled as i32, why));
        }
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match result {
            Err(why) => {
                show(MessageType::ERROR, why.clone());
                respond(Response::new_err(id, ErrorCode::RequestFailed as i32, why));
            }
            Ok(result) => {
                self.read_models();
                let is_current =
                    self.documents.model(&root).is_some_and(|it| it.version == version);
                let mut sentence = result.sentence(&name);
                if is_current {
                    self.diagnostics.set_check(&root, &result.traces);
                    self.diagnostics.publish(&self.documents);
                } else {
                    // The positions of the steps are those of another text.
                    sentence.push_str("; the model has changed since this check began");
                }
                let kind = match overall_verdict(&result.properties) {
                    SearchVerdict::Violated => MessageType::WARNING,
                    SearchVerdict::Verified | SearchVerdict::Incomplete => MessageType::INFO,
                };
                show(kind, sentence);
                respond(Response::new_ok(id, result_as_json(&result)));
            }
        }
    }
}

/// Runs a check. The error is a message.
fn run(
    model: &EditedModel,
    config: &CheckConfig,
    control: &Arc<SearchControl>,
) -> Result<BoundedCheckResult, String> {
    match catch_unwind(AssertUnwindSafe(|| bounded_check::check(model, config, control))) {
        Ok(result) => result.map_err(|it| it.to_string()),
        Err(_) => Err("the check failed; this is a bug in spillway, please report it".to_owned()),
    }
}

/// Returns the result of a check as the response to its request.
fn result_as_json(result: &BoundedCheckResult) -> Value {
    let property = |it: &PropertyJudgement| json!({ "kind": it.kind, "name": it.name, "verdict": it.verdict.name() });
    json!({
        "verdict": overall_verdict(&result.properties).name(),
        "properties": result.properties.iter().map(property).collect::<Vec<_>>(),
    })
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, RequestFailure> {
    serde_json::from_value(params)
        .map_err(|error| RequestFailure(ErrorCode::InvalidParams, error.to_string()))
}

fn capabilities() -> InitializeResult {
    let synchronization = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::FULL),
        save: Some(SaveOptions::default().into()),
        ..TextDocumentSyncOptions::default()
    };
    InitializeResult {
        capabilities: ServerCapabilities {
            text_document_sync: Some(TextDocumentSyncCapability::Options(synchronization)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            definition_provider: Some(OneOf::Left(true)),
            document_symbol_provider: Some(OneOf::Left(true)),
            code_lens_provider: Some(CodeLensOptions { resolve_provider: None }),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: vec![CHECK.to_owned()],
                ..ExecuteCommandOptions::default()
            }),
            ..ServerCapabilities::default()
        },
        server_info: Some(ServerInfo {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    }
}

/// Shows a message to the user.
fn show(typ: MessageType, message: String) {
    notify("window/showMessage", json!(ShowMessageParams { typ, message }));
}

/// Sends a notification.
fn notify(method: &str, params: Value) {
    send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
}

fn respond(response: Response) {
    let mut message = json!(response);
    message["jsonrpc"] = json!("2.0");
    send(&message);
}

/// Sends a message. If the client is gone, the input ends, and the server with it.
fn send(message: &Value) {
    let _: io::Result<()> = write_message(&mut stdout().lock(), &message.to_string());
}
