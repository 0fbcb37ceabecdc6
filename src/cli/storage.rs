//! Options that belong to a kind of `--store`.

use super::failure::CommandFailure;
use crate::session::STORES;
use crate::session::config::SearchConfig;

/// Rejects options of another kind of storage than the selected one.
pub(super) fn reject_options_of_other_stores(search: &SearchConfig) -> Result<(), CommandFailure> {
    for store in STORES.iter().filter(|it| it.kind != search.store) {
        if let Some(option) = store.options.iter().find(|it| (it.is_set)(search)) {
            return Err(CommandFailure::wrong(format!(
                "-X {} is for --store {}\n  help: add that, or leave the option out",
                option.name, store.name
            )));
        }
    }
    Ok(())
}
