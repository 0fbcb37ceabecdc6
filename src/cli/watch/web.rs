//! The page of `watch`: what a report has, growing while the search runs; of several searches, one more with all of them.
//!
//! Whatever is asked for that is not there is refused; nothing can be changed by asking. A page on another site cannot read
//! it under another name: one that listens to this machine alone answers to names of this machine alone.

use super::glance;
use crate::cli::failure::Failure;
use crate::cli::page::Beside;
use crate::cli::report;
use crate::report::{Glance, Seen, overview};
use crate::session::Contents;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tiny_http::{Header, Method, Request, Response, Server};

/// So many questions are answered at a time.
const THREADS: usize = 4;

/// What answers.
pub(super) struct Web {
    threads: Vec<JoinHandle<()>>,
}

impl Web {
    /// Answers until the process ends.
    pub(super) fn wait(self) {
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// A search whose page is shown.
struct Watched {
    dir: PathBuf,
    /// The page made last, with the stamp of the glance that it has: the way to a violation takes time to find.
    made: Mutex<Option<(String, String)>>,
}

/// An answer: its status, what it is, and the text.
type Answer = (u16, &'static str, String);

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// Answers at an address, in threads of its own.
pub(super) fn serve(address: SocketAddr, dirs: &[PathBuf]) -> Result<Web, Failure> {
    let failed = |error: String| {
        let help = "another port, or 0 for any that is free, may do";
        Failure::wrong(format!("cannot listen to {address}: {error}\n  help: {help}"))
    };
    let listener = TcpListener::bind(address).map_err(|error| failed(error.to_string()))?;
    let bound = listener.local_addr().unwrap_or(address);
    let server = Server::from_listener(listener, None).map_err(|it| failed(it.to_string()))?;
    let watched = |dir: &PathBuf| Watched { dir: dir.clone(), made: Mutex::default() };
    let all: Arc<Vec<Watched>> = Arc::new(dirs.iter().map(watched).collect());
    let server = Arc::new(server);
    let threads = (0..THREADS).map(|_| {
        let (server, all) = (Arc::clone(&server), Arc::clone(&all));
        std::thread::spawn(move || {
            // One that went away before it was answered is no reason to stop.
            while let Ok(request) = server.recv() {
                let answer = answer(&request, bound.ip(), &all);
                let _ = request.respond(response(answer));
            }
        })
    });
    let threads = threads.collect();
    super::say_where(bound);
    Ok(Web { threads })
}

fn response((status, what, text): Answer) -> Response<std::io::Cursor<Vec<u8>>> {
    let headers = [
        ("Content-Type", what),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
    ];
    let headers = headers.iter().filter_map(|(name, value)| Header::from_bytes(*name, *value).ok());
    let plain = Response::from_string(text).with_status_code(status);
    headers.fold(plain, Response::with_header)
}

fn answer(request: &Request, ip: IpAddr, all: &[Watched]) -> Answer {
    let host = request.headers().iter().find(|it| it.field.equiv("Host"));
    if ip.is_loopback() && !host.is_some_and(|it| is_of_this_machine(it.value.as_str())) {
        return (403, TEXT, "this is only for this machine\n".to_owned());
    }
    if !matches!(request.method(), Method::Get | Method::Head) {
        return (405, TEXT, "here is only to be looked\n".to_owned());
    }
    let path = request.url().split('?').next().unwrap_or_default();
    let absent = || (404, TEXT, "there is nothing here; / has all searches\n".to_owned());
    let found = |number: &str| -> Option<&Watched> {
        all.get(number.parse::<usize>().ok()?.checked_sub(1)?)
    };
    match path.strip_prefix('/').map(|it| it.split('/').collect::<Vec<_>>()).as_deref() {
        Some(["favicon.ico"]) => (204, TEXT, String::new()),
        Some([""]) if all.len() > 1 => (200, HTML, overview_of(all)),
        Some([""]) => redirected(),
        Some([number]) => match found(number) {
            Some(watched) => (200, HTML, watched.page()),
            None => absent(),
        },
        Some([number, "live"]) => match found(number) {
            Some(watched) => (200, HTML, glance::at(&watched.dir).part()),
            None => absent(),
        },
        _ => absent(),
    }
}

/// Whether a host is called as this machine is by itself, whatever the port.
fn is_of_this_machine(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|it| it.is_ascii_digit()));
    let name = name.map_or(host, |it| it.0).trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

/// Of one search there is no page with all of them.
fn redirected() -> Answer {
    (200, HTML, "<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url=/1\">".to_owned())
}

fn overview_of(all: &[Watched]) -> String {
    let each = all.iter().enumerate();
    let each = each.map(|(at, it)| (format!("/{}", at + 1), glance::at(&it.dir)));
    overview(&each.collect::<Vec<_>>())
}

impl Watched {
    fn page(&self) -> String {
        let glance = glance::at(&self.dir);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((stamp, html)) if *stamp == glance.stamp => html.clone(),
            _ => {
                let html = page_of(&self.dir, &glance);
                made.insert((glance.stamp, html)).1.clone()
            }
        }
    }
}

/// The page of the search in a directory; with a counterexample once the search has ended.
fn page_of(dir: &Path, glance: &Glance) -> String {
    let is_brief = glance.seen == Seen::Running;
    let note =
        is_brief.then_some("The search is running: what is below is as of its last checkpoint.");
    let beside = Beside { memory: None, note, live: Some(glance), is_brief };
    let page = Contents::read(dir).map_err(Failure::from);
    let page = page.and_then(|contents| report::of_directory(dir, &contents, beside));
    page.unwrap_or_else(|failure| report::of_damaged(dir, &failure.message, Some(glance)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "localhost:80", "127.0.0.1:8080", "[::1]:1", "[::1]", "127.1.2.3"]
        {
            assert!(is_of_this_machine(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "example.org:80",
            "10.0.0.1",
            "localhost.example.org",
            "127.0.0.1.example.org:80",
        ] {
            assert!(!is_of_this_machine(host), "{host}");
        }
    }
}
