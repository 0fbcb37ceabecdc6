//! A small HTTP server of pages for browsers on this machine, for `watch` and `explore`.
//!
//! `hyper` implements the protocol. It is well maintained and has the necessary limits. A framework would only add a
//! router, and here routing is a `match`. Since anybody can connect, this module limits the size and the time of a
//! request head, the time of reading a response, and the number of connections. Each request has its own connection,
//! and a request body is not read. Responses are produced on separate threads, so a slow client delays no other one. A
//! panic becomes a response too.
//!
//! Requests change nothing. The server rejects two kinds of foreign pages:
//!
//! - A page with a rebound name (DNS rebinding) cannot read a response.
//!   A server that listens only to this machine accepts only names of this machine.
//! - A page elsewhere cannot make a browser send requests in the background. They might keep this machine busy.
//!   Links to this server work.

use super::failure::CommandFailure;
use super::output::say;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

/// The maximum size of a head in bytes, and its maximum number of lines.
const HEAD_BYTES: usize = 16 << 10;
const HEAD_LINES: usize = 64;

/// The maximum time of the head of a request, from the connection on.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// The maximum time in which a response is read.
const READING_TIME: Duration = Duration::from_secs(60);

/// The interval between checks for timeouts.
const LOOK: Duration = Duration::from_millis(250);

/// The maximum number of connections. For a further connection the oldest is closed.
const CONNECTIONS_MAX: usize = 200;

/// The pause in accepting connections when the system has no more descriptors. The oldest connection is then closed.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";

/// The headers of every response: it must not be cached, framed, embedded elsewhere, sent as a referrer, or
/// reinterpreted as another type.
const COMMON_HEADERS: [(&str, &str); 5] = [
    ("cache-control", "no-store"),
    ("content-security-policy", "frame-ancestors 'none'"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
];

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The content type.
    pub kind: &'static str,
    /// The body.
    pub text: Bytes,
    /// A header of this response alone.
    header: Option<(&'static str, String)>,
}

/// A requested resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestTarget {
    /// The path: `/1/live`.
    pub path: String,
    /// The text after `?`, without it. Empty if there is none.
    pub query: String,
}

impl HttpResponse {
    /// Creates a response with a text.
    pub(super) fn new(status: u16, kind: &'static str, text: impl Into<Bytes>) -> HttpResponse {
        HttpResponse { status, kind, text: text.into(), header: None }
    }

    /// Creates a response that sends the browser to another path of this server.
    pub(super) fn redirect(path: impl Into<String>) -> HttpResponse {
        let header = Some(("location", path.into()));
        HttpResponse { header, ..HttpResponse::new(303, TEXT, "") }
    }

    /// Makes the browser save the text to a file of this name. The name must be plain ASCII without quotes.
    pub(super) fn saved_as(self, name: &str) -> HttpResponse {
        let header = ("content-disposition", format!("attachment; filename=\"{name}\""));
        HttpResponse { header: Some(header), ..self }
    }

    /// Creates the response of a server that failed to make a page.
    pub(super) fn failed() -> HttpResponse {
        let why = "this page cannot be rendered; this is a bug in spillway, please report it\n";
        HttpResponse::new(500, TEXT, why)
    }

    fn response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.text));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        for (name, value) in COMMON_HEADERS.into_iter().chain([("content-type", self.kind)]) {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if let Some((name, value)) = self.header {
            // Paths and file names are made of ASCII characters.
            let value = HeaderValue::from_str(&value);
            value.into_iter().for_each(|it| _ = headers.insert(name, it));
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        response
    }
}

/// The handler of requests.
pub(super) trait RequestHandler: Send + Sync + 'static {
    /// Returns the response to a request.
    fn answer(&self, target: &RequestTarget) -> HttpResponse;

    /// Returns the number of lanes. Each lane produces one response at a time, so that a path delays only those of its
    /// lane.
    fn lanes(&self) -> usize;

    /// Returns the lane of a path.
    fn lane(&self, path: &str) -> usize;
}

/// Listens at an address.
pub(super) fn listen(address: SocketAddr) -> Result<TcpListener, CommandFailure> {
    TcpListener::bind(address).map_err(|error| {
        let help = "try another port, or 0 for any free port";
        CommandFailure::wrong(format!("cannot listen to {address}: {error}\n  help: {help}"))
    })
}

/// A running server.
pub(super) struct HttpServer {
    /// The address on which it listens.
    address: SocketAddr,
    thread: JoinHandle<()>,
}

impl HttpServer {
    /// Starts a server, and prints its address. It runs on its own threads until the process ends.
    pub(super) fn serve(
        listener: TcpListener,
        site: Arc<dyn RequestHandler>,
    ) -> Result<HttpServer, CommandFailure> {
        let server = HttpServer::start(listener, site)
            .map_err(|error| CommandFailure::wrong(format!("cannot serve pages: {error}")))?;
        say(format!("http://{}/ shows it until interrupted", server.address));
        if !server.address.ip().is_loopback() {
            say("note: everyone with access to this machine can read the models");
        }
        Ok(server)
    }

    fn start(listener: TcpListener, site: Arc<dyn RequestHandler>) -> io::Result<HttpServer> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(site.lanes().max(1))
            .build()?;
        let listener = {
            let _within = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let lanes = (0..site.lanes().max(1)).map(|_| tokio::sync::Mutex::new(())).collect();
        let host = Arc::new(ServerContext { site, ip: address.ip(), lanes });
        let answers = move || runtime.block_on(host.accept_connections(listener));
        let thread = std::thread::Builder::new().name("http".into()).spawn(answers)?;
        Ok(HttpServer { address, thread })
    }

    /// Waits for the server. It returns only if the server has failed.
    pub(super) fn wait(self) -> CommandFailure {
        let HttpServer { address, thread } = self;
        let _ = thread.join();
        let fault = "this is a bug in spillway, please report it";
        CommandFailure::wrong(format!("the server at {address} has stopped: {fault}"))
    }
}

/// The shared state of the connections.
struct ServerContext {
    site: Arc<dyn RequestHandler>,
    ip: IpAddr,
    lanes: Vec<tokio::sync::Mutex<()>>,
}

/// The deadline at which a connection is closed. There is none while its response is produced.
#[derive(Clone)]
struct ConnectionDeadline(Arc<Mutex<Option<Instant>>>);

impl ConnectionDeadline {
    fn after(time: Duration) -> ConnectionDeadline {
        ConnectionDeadline(Arc::new(Mutex::new(Some(Instant::now() + time))))
    }

    fn set(&self, after: Option<Duration>) {
        let mut at = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *at = after.map(|it| Instant::now() + it);
    }

    async fn wait_until_passed(self) {
        let is_over = || {
            let at = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            at.is_some_and(|it| Instant::now() >= it)
        };
        while !is_over() {
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl ServerContext {
    async fn accept_connections(self: Arc<Self>, listener: tokio::net::TcpListener) {
        let mut open: VecDeque<AbortHandle> = VecDeque::new();
        loop {
            let accepted = listener.accept().await;
            open.retain(|it| !it.is_finished());
            if open.len() >= CONNECTIONS_MAX || accepted.is_err() {
                open.pop_front().inspect(AbortHandle::abort);
            }
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            open.push_back(tokio::spawn(self.clone().serve_connection(stream)).abort_handle());
        }
    }

    /// Answers the request of one connection, or closes it at its deadline.
    async fn serve_connection(self: Arc<Self>, stream: TcpStream) {
        let deadline = ConnectionDeadline::after(HEAD_TIME);
        let until = deadline.clone();
        let service = service_fn(move |request| {
            let (host, deadline) = (self.clone(), deadline.clone());
            async move {
                deadline.set(None);
                let answer = host.answer(&request).await;
                deadline.set(Some(READING_TIME));
                Ok::<_, Infallible>(answer.response())
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .keep_alive(false)
            .max_buf_size(HEAD_BYTES)
            .max_headers(HEAD_LINES)
            .title_case_headers(true)
            .serve_connection(TokioIo::new(stream), service);
        let (mut connection, mut is_over) = (pin!(connection), pin!(until.wait_until_passed()));
        poll_fn(|context| {
            // Errors of a connection are not reported: the client notices them.
            let is_done = connection.as_mut().poll(context).is_ready();
            match is_done || is_over.as_mut().poll(context).is_ready() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }

    async fn answer(&self, request: &Request<Incoming>) -> HttpResponse {
        if let Some(refusal) = refusal(request.headers(), request.uri(), self.ip) {
            return HttpResponse::new(403, TEXT, refusal);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return HttpResponse::new(405, TEXT, "only GET and HEAD are supported\n");
        }
        let (site, uri) = (self.site.clone(), request.uri());
        let query = uri.query().unwrap_or_default().to_owned();
        let target = RequestTarget { path: uri.path().to_owned(), query };
        let lane = site.lane(&target.path) % self.lanes.len();
        let _turn = self.lanes[lane].lock().await;
        let answer = tokio::task::spawn_blocking(move || site.answer(&target)).await;
        answer.unwrap_or_else(|_| HttpResponse::failed())
    }
}

/// Returns why a request is rejected, if it is.
fn refusal(headers: &HeaderMap, uri: &Uri, ip: IpAddr) -> Option<&'static str> {
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|it| it.to_str().ok()).filter(|_| hosts.next().is_none());
    let Some(host) = host else { return Some("the request names no host\n") };
    let names = [Some(host), uri.authority().map(|it| it.as_str())];
    if ip.is_loopback() && !names.into_iter().flatten().all(is_of_this_machine) {
        return Some("only requests from this machine are answered\n");
    }
    let origin = headers.get(header::ORIGIN).map(|it| it.as_bytes().to_ascii_lowercase());
    let own = format!("http://{}", host.to_ascii_lowercase());
    let is_elsewhere = origin.is_some_and(|it| it != own.as_bytes())
        || matches!(text("sec-fetch-site"), Some("cross-site" | "same-site"))
            && text("sec-fetch-mode") != Some("navigate");
    is_elsewhere.then_some("requests from pages of other sites are rejected\n")
}

/// Returns whether a host name denotes this machine, whatever the port.
fn is_of_this_machine(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|it| it.is_ascii_digit()));
    let name = name.map_or(host, |it| it.0).trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_recognised() {
        for host in ["localhost", "Localhost:80", "127.0.0.1:8080", "[::1]:1", "[::1]", "127.1.2.3"]
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

    /// Returns whether a request with these headers is accepted.
    fn is_answered(ip: &str, uri: &str, headers: &[(&str, &str)]) -> bool {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.append(
                header::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        refusal(&all, &uri.parse().unwrap(), ip.parse().unwrap()).is_none()
    }

    #[test]
    fn requests_from_other_sites_are_rejected() {
        let here = ("host", "localhost:8080");
        let navigates = ("sec-fetch-mode", "navigate");
        for headers in [
            &[here][..],
            &[here, ("origin", "http://localhost:8080")],
            &[here, ("origin", "HTTP://Localhost:8080")],
            &[here, ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")],
            &[here, ("sec-fetch-site", "none"), navigates],
            &[here, ("sec-fetch-site", "cross-site"), navigates],
        ] {
            assert!(is_answered("127.0.0.1", "/1", headers), "{headers:?}");
        }
        for headers in [
            &[][..],
            &[here, here],
            &[("host", "example.org")],
            &[here, ("host", "example.org")],
            &[here, ("origin", "http://example.org")],
            &[here, ("origin", "https://localhost:8080")],
            &[here, ("origin", "http://localhost:8081")],
            &[here, ("origin", "null")],
            &[here, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
            &[here, ("sec-fetch-site", "same-site")],
        ] {
            assert!(!is_answered("127.0.0.1", "/1", headers), "{headers:?}");
        }
        // A server that listens to other machines does not know the name under which they address it.
        let other = [("host", "any.name"), ("origin", "http://any.name")];
        assert!(is_answered("0.0.0.0", "/1", &other));
        assert!(!is_answered("127.0.0.1", "/1", &other));
        assert!(!is_answered("127.0.0.1", "http://example.org/1", &[here]));
        assert!(is_answered("127.0.0.1", "http://localhost:8080/1", &[here]));
    }
}
