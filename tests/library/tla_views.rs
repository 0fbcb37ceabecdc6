//! VIEW on disk: a view has one state, the first one in the order of TLC's queue. `models/tla/counts.tsv` has TLC's
//! counts.
//!
//! In `metered_walk`, the counts depend on which state represents a view. In `audit_trail`, they do not.

use super::exclusive_search;
use super::tla_models::program_of;
use spill::Codec;
use spillway::model::memory;
use spillway::model::{SearchLimits, SearchOutcome};
use spillway::search::StateStorage;
use spillway::tla::system::SpecificationSystem;
use spillway::{Check, CheckConfig, Error, SearchVerdict, SpecificationModel};
use std::path::Path;
use std::time::Duration;

const MODELS: [&str; 2] = ["audit_trail", "metered_walk"];

fn system(model: &str) -> SpecificationSystem {
    let (program, sources) = program_of(model);
    SpecificationSystem::new(program, &sources, &[]).expect("no symmetry")
}

/// Searches in memory, over the same states as on disk.
fn in_memory(model: &str) -> SearchOutcome {
    let system = system(model);
    let limits = SearchLimits::default();
    memory::search(&system, &limits).unwrap()
}

/// The counts that must not depend on the storage, the threads or interruptions.
fn counts(outcome: &SearchOutcome) -> (&[u64], u64) {
    (&outcome.levels, outcome.generated())
}

#[test]
fn stores_and_threads_do_not_change_which_states_represent_views() {
    let _exclusive = exclusive_search();
    for model in MODELS {
        let expected = in_memory(model);
        for codec in [Codec::Gaps, Codec::Raw, Codec::Rle] {
            for threads in [1, 2] {
                let system = system(model);
                let storage = StateStorage::Sorted(codec.clone());
                let check = Check::of_model(&system).threads(threads).storage(storage);
                let found = check.run().unwrap();
                assert_eq!(found.verdict(), SearchVerdict::Verified);
                assert_eq!(counts(found.outcome()), counts(&expected), "{model}, {threads}");
            }
        }
    }
}

#[test]
fn a_search_with_a_view_resumes_after_each_stop() {
    let _exclusive = exclusive_search();
    for model in MODELS {
        let expected = in_memory(model);
        let dir = tempfile::tempdir().unwrap();
        let (mut time, mut stops) = (Duration::from_millis(1), 0);
        loop {
            let system = system(model);
            // The search also stops within levels, and each unit of a level ends with a checkpoint.
            let check = Check::of_model(&system).dir(dir.path()).max_time(time);
            let found = check.checkpoint_every(Duration::ZERO).run().unwrap();
            if found.verdict() == SearchVerdict::Verified {
                assert_eq!(counts(found.outcome()), counts(&expected), "{model}");
                break;
            }
            (time, stops) = (time * 3 / 2, stops + 1);
        }
        assert!(stops > 0, "{model} was never stopped");
    }
}

#[test]
fn a_counterexample_with_a_view_is_a_run_of_the_specification() {
    let _exclusive = exclusive_search();
    let folder = tempfile::tempdir().unwrap();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tla");
    let root = folder.path().join("audit_trail.tla");
    std::fs::copy(models.join("audit_trail.tla"), &root).unwrap();
    let configuration = std::fs::read_to_string(models.join("audit_trail.cfg")).unwrap();
    let configuration = configuration.replace("INVARIANT InOrder", "INVARIANT InOrder NeverFull");
    std::fs::write(root.with_extension("cfg"), configuration).unwrap();
    for threads in [1, 2] {
        let config = CheckConfig::default();
        let (model, warnings) = SpecificationModel::open(&root, &config).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let found = Check::of_specification(&model).config(config).threads(threads).run().unwrap();
        assert_eq!(found.verdict(), SearchVerdict::Violated);
        let report = found.to_string();
        // TLC's counterexample has six states. The trail is not part of the view.
        assert!(report.contains("NeverFull") && report.contains("after    5 steps"), "{report}");
        assert!(report.contains("balance: 3 -> 6"), "{report}");
    }
}

#[test]
fn a_store_without_values_is_rejected_by_name() {
    let _exclusive = exclusive_search();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tla");
    let mut config = CheckConfig::default();
    config.search.store = spillway::session::config::StoreKind::Huffman;
    let (model, _) = SpecificationModel::open(&models.join("audit_trail.tla"), &config).unwrap();
    let error = Check::of_specification(&model).config(config).run().map(drop).unwrap_err();
    assert!(matches!(error, Error::Views(_)), "{error}");
    assert!(error.to_string().contains("the store `huffman`"), "{error}");
}
