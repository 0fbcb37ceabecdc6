//! Reads a manifest, and resumes from it. `tests/hostile`, which the tests share, contains the assertions.
#![no_main]

#[path = "../../tests/hostile/mod.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    hostile::manifest(input);
});
