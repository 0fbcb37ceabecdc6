//! Flags that belong to a kind of `--store`.

use super::failure::CommandFailure;
use crate::session::config::{SearchConfig, StoreKind};

/// Rejects flags of another kind of storage than the selected one.
pub(super) fn reject_flags_of_other_stores(search: &SearchConfig) -> Result<(), CommandFailure> {
    if search.huffman_table.is_some() && search.store != StoreKind::Huffman {
        return Err(CommandFailure::wrong(
            "--huffman-table is for --store huffman\n  help: add that, or leave the table out",
        ));
    }
    let for_comback = search.comback_hash.is_some() || search.comback_cache.is_some();
    if for_comback && search.store != StoreKind::Comback {
        return Err(CommandFailure::wrong(
            "--comback-hash and --comback-cache are for --store comback\n  help: add that, or leave \
             them out",
        ));
    }
    Ok(())
}
