//! The servers of editors: `lsp`, a language server, and `dap`, a debug adapter. Both use standard input and output.

mod bounded_check;
mod dap;
mod framing;
mod lsp;
mod positions;

pub(super) use dap::dap;
pub(super) use lsp::lsp;
