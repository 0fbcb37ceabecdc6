//! One block of keys. What must hold is in `tests/hostile`, which the tests share.
#![no_main]

#[path = "../../tests/hostile/mod.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    hostile::block(input);
});
