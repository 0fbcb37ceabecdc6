//! Prints the levels of a search directory: the number of each level, its number of states, and a hash of the states in
//! key order. The hash depends neither on the search nor on the store.
//!
//! ```sh
//! cargo run --release --example levels -- DIR
//! ```

use spill::{BlockDecoder, Disk, RealDisk};
use spillway::search::checkpoint::SavedSearch;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1) else {
        eprintln!("error: no search directory is named");
        return ExitCode::from(2);
    };
    match RealDisk::open(Path::new(&dir)).and_then(|disk| print_levels(&disk)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn print_levels(disk: &dyn Disk) -> spill::Result<()> {
    let saved = SavedSearch::load(disk)?;
    let (width, codec) = (saved.width as usize, saved.codec()?.unprojected());
    let format = spill::LevelFormat { width, value_bytes: 0, codec: &codec };
    for level in 0..saved.store.levels.len() {
        let mut hash = blake3::Hasher::new();
        for segment in saved.store.levels.open(disk, format, level)? {
            let (mut decoder, mut keys) = (BlockDecoder::new(width), Vec::new());
            for block in 0..segment.blocks() {
                segment.decode(block, &mut decoder, &mut keys)?;
                hash.update(&keys);
            }
        }
        println!("{level} {} {}", saved.store.levels.keys(level), hash.finalize().to_hex());
    }
    Ok(())
}
