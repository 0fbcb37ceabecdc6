//! Servers of pages, and requests to them.

use super::Folder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// An HTTP response.
pub(super) struct PageResponse {
    pub code: u16,
    pub head: String,
    pub text: String,
}

/// Sends a request line to an address, with further headers that each end in a line break.
pub(super) fn send_request(address: &str, line: &str, headers: &str) -> PageResponse {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    PageResponse { code, head: head.to_owned(), text: text.to_owned() }
}

impl Folder {
    /// Starts a command that serves pages. Returns it and its address.
    #[track_caller]
    pub(super) fn start_server(&self, args: &[&str]) -> (Child, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_spillway"))
            .current_dir(self.path(""))
            .env("TMPDIR", self.path("tmp"))
            .args(args)
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.strip_prefix("http://").unwrap_or_else(|| panic!("{line}"));
        let address = rest.strip_suffix("/ shows it until interrupted\n").unwrap();
        (child, address.to_owned())
    }
}
