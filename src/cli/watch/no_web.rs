//! `watch --listen`, in a build without a web server.

use crate::cli::failure::CommandFailure;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A server, which this build does not have.
pub(super) enum NoServer {}

impl NoServer {
    /// Waits for its end.
    pub(super) fn wait(self) -> CommandFailure {
        match self {}
    }
}

/// Returns the error that this build serves no pages.
pub(super) fn serve(_: SocketAddr, _: &[PathBuf]) -> Result<NoServer, CommandFailure> {
    Err(CommandFailure::wrong(
        "this build serves no pages: it was built without the feature `http`",
    ))
}
