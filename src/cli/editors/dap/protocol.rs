//! The messages of the Debug Adapter Protocol.
//!
//! There is no well-kept crate for them: `dap` has only pre-releases, whose server reads messages itself and ends at a
//! malformed one; `debug_types` lacks the newer requests. The few messages that are used are built here.

use crate::cli::editors::framing::{read_message, write_message};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::{self, stdin, stdout};
use std::sync::mpsc::Sender;

/// A request.
#[derive(Debug, Deserialize)]
pub(super) struct DapRequest {
    pub seq: i64,
    pub command: String,
    #[serde(default)]
    pub arguments: Value,
}

/// What the reader of standard input finds.
pub(super) enum DapInput {
    /// A request.
    Request(DapRequest),
    /// A message that is no request, with the reason.
    Malformed(String),
    /// The end, or the reason why no further message can be found.
    Closed(Option<String>),
}

/// Why a request fails, for the user.
#[derive(Debug)]
pub(super) struct RequestFailure(pub String);

impl RequestFailure {
    pub(super) fn new(why: impl Into<String>) -> RequestFailure {
        RequestFailure(why.into())
    }
}

/// The body of a response, or the failure.
pub(super) type RequestResult = Result<Value, RequestFailure>;

/// Passes on the messages of standard input.
pub(super) fn read_requests<T>(events: &Sender<T>, event: fn(DapInput) -> T) {
    let mut input = stdin().lock();
    loop {
        let found = match read_message(&mut input) {
            Ok(Some(content)) => parse(&content),
            Ok(None) => DapInput::Closed(None),
            Err(error) => DapInput::Closed(Some(error.to_string())),
        };
        let is_last = matches!(found, DapInput::Closed(_));
        if events.send(event(found)).is_err() || is_last {
            return;
        }
    }
}

fn parse(content: &[u8]) -> DapInput {
    match serde_json::from_slice(content) {
        Ok(request) => DapInput::Request(request),
        Err(error) => DapInput::Malformed(error.to_string()),
    }
}

/// Returns the arguments of a request.
pub(super) fn parsed<T: DeserializeOwned>(arguments: &Value) -> Result<T, RequestFailure> {
    serde_json::from_value(arguments.clone()).map_err(|it| RequestFailure::new(it.to_string()))
}

/// Sends messages, which are numbered.
#[derive(Default)]
pub(super) struct DapSender {
    sent: i64,
}

impl DapSender {
    /// Responds to a request.
    pub(super) fn respond(&mut self, request: &DapRequest, result: RequestResult) {
        let (is_done, body, message) = match result {
            Ok(body) => (true, body, None),
            Err(RequestFailure(why)) => {
                // With `showUser` the client shows the error and not only its first line.
                let error = json!({ "id": 1, "format": "{why}", "variables": { "why": why }, "showUser": true });
                (false, json!({ "error": error }), Some(why))
            }
        };
        let mut response = json!({
            "type": "response", "request_seq": request.seq, "command": request.command,
            "success": is_done, "body": body,
        });
        if let Some(why) = message {
            response["message"] = json!(why);
        }
        self.send(response);
    }

    /// Sends an event.
    pub(super) fn event(&mut self, name: &str, body: Value) {
        self.send(json!({ "type": "event", "event": name, "body": body }));
    }

    /// Shows a line on the debug console.
    pub(super) fn say(&mut self, line: &str) {
        self.event("output", json!({ "category": "console", "output": format!("{line}\n") }));
    }

    /// Sends a message. If the client is gone, the input ends, and the adapter with it.
    fn send(&mut self, mut message: Value) {
        self.sent += 1;
        message["seq"] = json!(self.sent);
        let _: io::Result<()> = write_message(&mut stdout().lock(), &message.to_string());
    }
}
