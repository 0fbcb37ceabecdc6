//! `lsp` and `dap`, in a build without servers of editors.

use super::CommandResult;
use super::args::EditorArgs;
use super::failure::CommandFailure;

/// Returns the error that this build has no language server.
pub(super) fn lsp(_: &EditorArgs) -> CommandResult {
    Err(serves_no_editor())
}

/// Returns the error that this build has no debug adapter.
pub(super) fn dap(_: &EditorArgs) -> CommandResult {
    Err(serves_no_editor())
}

fn serves_no_editor() -> CommandFailure {
    CommandFailure::wrong(
        "this build serves no editors: it was built without the feature `editors`",
    )
}
