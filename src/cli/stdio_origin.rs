//! Files on another machine. The process that started this one manages them. Each request is a line of JSON on
//! standard output, and each response is a line on standard input.
//!
//! ```text
//! {"bring": NAME}                          the whole file, as it is now, into the directory
//! {"bring": NAME, "from": A, "until": B}   these bytes of it, at their place in a file of its length
//! {"take": NAME, "new": false}             the file is whole, and is to have its name for all; `new`: if no other has it
//! {"remove": NAME}
//! {"done": true}       it is so; `false`: there is no such file, or another has the name
//! {"error": REASON}    it cannot be done, or not now
//! ```

use serde_json::{Value, json};
use spill::{Error, RemoteOrigin, Result};
use std::io::{self, BufRead, ErrorKind, Read};
use std::ops::Range;
use std::sync::Mutex;

/// The maximum length of a request and of a response. Longer input is discarded.
const LINE_MAX: u64 = 1 << 20;

/// The process that started this one.
#[derive(Debug)]
pub(super) struct StdioOrigin;

/// Ensures that each request is followed by its response.
static TURN: Mutex<()> = Mutex::new(());

impl RemoteOrigin for StdioOrigin {
    fn fetch(&self, name: &str, range: Option<Range<u64>>) -> Result<()> {
        let question = match range {
            None => json!({"bring": name}),
            Some(range) => json!({"bring": name, "from": range.start, "until": range.end}),
        };
        match request("bring", name, &question)? {
            true => Ok(()),
            false => Err(Error::io("read", name, ErrorKind::NotFound.into())),
        }
    }

    fn publish(&self, name: &str, new: bool) -> Result<bool> {
        request("take", name, &json!({"take": name, "new": new}))
    }

    fn remove(&self, name: &str) -> Result<()> {
        request("remove", name, &json!({"remove": name})).map(|_| ())
    }
}

/// Returns the response to a request about a file.
fn request(action: &'static str, name: &str, question: &Value) -> Result<bool> {
    let _turn = TURN.lock();
    super::print_json(&format!("{question}\n"));
    let failed = |why: String| Error::io(action, name, io::Error::other(why));
    let said = read_line().map_err(|error| failed(error.to_string()))?;
    let said = said.ok_or_else(|| failed("no answer".into()))?;
    let said = said.map_err(|why| failed(why.to_owned()))?;
    let answer: Value = serde_json::from_str(&said).unwrap_or_default();
    match (&answer["done"], &answer["error"]) {
        (Value::Bool(done), _) => Ok(*done),
        (_, Value::String(why)) => Err(failed(why.clone())),
        _ => Err(failed(format!("`{said}` is not an answer"))),
    }
}

/// A line, or why it is unreadable.
pub(super) type InputLine = std::result::Result<String, &'static str>;

/// Returns the next line of standard input, if there is one.
pub(super) fn read_line() -> io::Result<Option<InputLine>> {
    let (mut input, mut line) = (io::stdin().lock(), Vec::new());
    (&mut input).take(LINE_MAX).read_until(b'\n', &mut line)?;
    if line.len() as u64 == LINE_MAX && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
        return Ok(Some(Err("a line has more than 1 MiB")));
    }
    let text = |line| String::from_utf8(line).map_err(|_| "a line is not UTF-8");
    Ok((!line.is_empty()).then(|| text(line).map(|it| it.trim_end().to_owned())))
}
