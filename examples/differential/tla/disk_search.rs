//! The search on disk of a module.

use super::answers::SearchCounts;
use super::spillway_answers::LoadedModule;
use spillway::tla::system::SpecificationSystem;
use spillway::{Check, SearchVerdict};

/// The memory budget in bytes.
const MEMORY: u64 = 64 << 20;

/// Panics unless the search on disk has these counts.
pub fn assert_agrees(module: LoadedModule, counts: &SearchCounts) {
    let system =
        SpecificationSystem::new(module.program, &module.sources, &[]).expect("no symmetry");
    let found = Check::of_model(&system).memory(MEMORY).run().expect("a search");
    assert_eq!(found.verdict(), SearchVerdict::Verified, "on disk: {found}");
    let outcome = found.outcome();
    let levels = outcome.levels.len() as u64;
    assert_eq!((found.states(), levels), (counts.distinct, counts.levels), "on disk");
}
