//! `explore`: the state space of a model in a browser.
//!
//! The pages are made on the main thread, which owns the model and the walk. The threads of the server send it the
//! requests. So the walk of the last page is at hand for the next one, and one request at a time computes.

mod address;
mod around;
mod request;
mod run_to;
mod searches;
mod site;
mod stops;
mod stored_paths;

use super::args::ExploreArgs;
use super::command::ModelInput;
use super::explored_trace::ExploredModel;
use super::failure::{self, CommandFailure};
pub(super) use super::http::listen;
use super::http::{HttpResponse, HttpServer, RequestHandler, RequestTarget};
use super::model_walk::ModelWalk;
use super::reachable_graph::walkable;
use super::{CommandResult, explored_input, signals};
use crate::session::CheckConfig;
use site::ExplorerSite;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The default address: a free port of this machine.
const FREE_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// `spillway explore`.
pub(super) fn explore(args: &ExploreArgs) -> CommandResult {
    let listener = listen(args.listen.unwrap_or(FREE_PORT))?;
    let explored = match &args.target {
        it if it.is_dir() => of_directory(args)?,
        it if !it.exists() => return Err(CommandFailure::no_search_and_no_model(it)),
        _ => {
            explored_input::of_file(&ModelInput::of_file(&args.target, &args.flags, &args.expert))?
        }
    };
    serve(&explored, listener, failure::VERIFIED)
}

/// Reads the model and the counterexample of a search directory.
fn of_directory(args: &ExploreArgs) -> Result<ExploredModel, CommandFailure> {
    let given = ModelInput::of_file(&args.target, &args.flags, &args.expert);
    if given.config != CheckConfig::default() {
        let shown = args.target.display();
        return Err(CommandFailure::wrong(format!(
            "{shown} is a search directory, and contains its model with all options\n  help: leave out the options \
             of models and properties"
        )));
    }
    explored_input::of_directory(&args.target)
}

/// Serves the pages of a model until a signal ends the process with an exit code.
pub(super) fn serve(explored: &ExploredModel, listener: TcpListener, code: u8) -> CommandResult {
    let model = explored.job.unreduced_model()?;
    let searched = model.searched();
    let walk = ModelWalk::new(&*model, walkable(&searched));
    let mut site = ExplorerSite::new(explored, walk)?;
    let (sender, requests) = channel();
    let server = HttpServer::serve(listener, Arc::new(RequestQueue(Mutex::new(sender))))?;
    signals::end_at_once(code);
    for PendingRequest { target, reply } in requests {
        let answer = catch_unwind(AssertUnwindSafe(|| site.answer(&target)));
        // A client that has disconnected needs no response.
        let _ = reply.send(answer.unwrap_or_else(|_| HttpResponse::failed()));
    }
    Err(server.wait())
}

/// A request that waits for its response.
struct PendingRequest {
    target: RequestTarget,
    reply: Sender<HttpResponse>,
}

/// Passes requests to the main thread.
struct RequestQueue(Mutex<Sender<PendingRequest>>);

impl RequestHandler for RequestQueue {
    fn answer(&self, target: &RequestTarget) -> HttpResponse {
        let (reply, response) = channel();
        let request = PendingRequest { target: target.clone(), reply };
        let sent = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(request);
        let received = sent.ok().and_then(|()| response.recv().ok());
        received.unwrap_or_else(HttpResponse::failed)
    }

    fn lanes(&self) -> usize {
        1
    }

    fn lane(&self, _: &str) -> usize {
        0
    }
}
