//! `explore`, in a build without a web server.

use super::CommandResult;
use super::args::ExploreArgs;
use super::explored_trace::ExploredModel;
use super::failure::CommandFailure;
use std::net::SocketAddr;

/// A port, which this build does not open.
pub(super) enum NoListener {}

/// Returns the error that this build serves no pages.
pub(super) fn explore(_: &ExploreArgs) -> CommandResult {
    Err(serves_nothing())
}

/// Returns the error that this build serves no pages.
pub(super) fn listen(_: SocketAddr) -> Result<NoListener, CommandFailure> {
    Err(serves_nothing())
}

fn serves_nothing() -> CommandFailure {
    CommandFailure::wrong("this build serves no pages: it was built without the feature `http`")
}

/// Serves nothing, since nothing listens.
pub(super) fn serve(_: &ExploredModel, listener: NoListener, _: u8) -> CommandResult {
    match listener {}
}
