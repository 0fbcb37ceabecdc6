//! Decoders on hostile bytes. A decoder of files must reject them with the name of the file and an offset within it, or
//! decode something that could have been written. It never panics.
//!
//! There is one function for each format, which takes arbitrary bytes. The functions are the bodies of the fuzz targets
//! under `fuzz/`, and of `tests/corpora.rs`. Wrong checksums would stop a fuzzer immediately. So each function decodes
//! its input unchanged and then *sealed*, with corrected checksums.
#![allow(dead_code, unreachable_pub, reason = "each fuzz target uses its part")]

mod seal;
#[path = "../support/mod.rs"]
pub mod support;

use spill::fault::FaultPlan;
use spill::{
    BlockDecoder, ByteFrequencies, Codec, Disk, Error, FaultDisk, FileName, HuffmanCode,
    HuffmanTables, Segment, SegmentRef, block_keys_max,
};
use spillway::model::StateSpace;
use spillway::search::checkpoint::{FORMAT, MANIFEST, SavedSearch};
use spillway::search::{MemoryPlan, SearchControl, SearchLimits, SearchOutcome};
use spillway::session::SearchJob;
use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use support::postponing_model::PostponingModel;
use support::{Graph, begin_or_resume, tiny_plan};

/// Decodes arbitrary bytes, and panics on a wrong result. Returns whether they were decoded, plain or sealed.
pub type Target = fn(&[u8]) -> bool;

/// Every format: its name, which is also that of its corpus, and its target.
pub const TARGETS: [(&str, Target); 4] =
    [("block", block), ("segment", segment), ("manifest", manifest), ("job", job)];

/// Inputs choose widths of keys from 1 to this.
const WIDTHS: usize = 40;
const FILE: &str = "levels-000";
const JOB: &str = "job";
/// Bytes before the payload of a file that is committed.
const COMMITTED_HEADER: usize = 28;

/// The first byte of an input for keys of `width` bytes.
pub fn width_byte(width: usize) -> u8 {
    assert!((1..=WIDTHS).contains(&width));
    width as u8 - 1
}

/// The codec of an input whose first byte is `chosen`.
fn codec(chosen: u8) -> Codec {
    static HUFFMAN: OnceLock<Vec<Codec>> = OnceLock::new();
    let trained = |width| {
        let mut uneven = ByteFrequencies::new(width);
        (0..width).for_each(|column| uneven.add(column, column as u8, 1000));
        Codec::Huffman(Arc::new(HuffmanCode::train(&uneven, HuffmanTables::Single)))
    };
    match usize::from(chosen) / WIDTHS {
        1 => Codec::Raw,
        2 => Codec::Rle,
        3 => HUFFMAN.get_or_init(|| (1..=WIDTHS).map(trained).collect())
            [usize::from(chosen) % WIDTHS]
            .clone(),
        _ => Codec::Gaps,
    }
}

/// The first bytes of inputs for keys of `width` bytes in each codec but gaps, with the codecs.
pub fn codec_bytes(width: usize) -> [(u8, Codec); 3] {
    [1, 2, 3].map(|number| {
        let chosen = width_byte(width) + number * WIDTHS as u8;
        (chosen, codec(chosen))
    })
}

/// A byte that chooses the width of keys and their codec, then a block.
pub fn block(input: &[u8]) -> bool {
    let Some((&chosen, block)) = input.split_first() else { return false };
    let (width, codec) = (1 + chosen as usize % WIDTHS, codec(chosen));
    let mut sealed = block.to_vec();
    seal::block(&mut sealed);
    decode_block(width, &codec, block) | decode_block(width, &codec, &sealed)
}

fn decode_block(width: usize, codec: &Codec, block: &[u8]) -> bool {
    let mut keys = vec![3; 5];
    let outcome = BlockDecoder::new(width).with_codec(codec).decode(block, FILE, 0, &mut keys);
    match &outcome {
        Ok(()) => {
            assert!((1..=block_keys_max(width)).contains(&(keys.len() / width)));
            assert_ascending(width, &keys);
        }
        Err(error) => {
            assert_rejected(error, FILE, 0);
            assert!(keys.is_empty(), "nothing is believed of a damaged block");
        }
    }
    assert!(keys.capacity() <= 2 * block_keys_max(width) * width, "allocations are bounded");
    outcome.is_ok()
}

/// A byte for the width of keys, a byte for the offset of the segment in the file, and the file.
pub fn segment(input: &[u8]) -> bool {
    let [width, offset, file @ ..] = input else { return false };
    let width = 1 + *width as usize % WIDTHS;
    let offset = *offset as usize % (file.len() + 1);
    let mut decoded = read_segment(width, offset, file);
    for frame in [false, true] {
        let mut sealed = file.to_vec();
        seal::segment(width, &mut sealed[offset..], frame);
        decoded |= read_segment(width, offset, &sealed);
    }
    decoded
}

/// Whether the segment at `offset` of `file` is decoded, with all its blocks.
fn read_segment(width: usize, offset: usize, file: &[u8]) -> bool {
    let disk = FaultDisk::new();
    write(&disk, FILE, file);
    let bytes = &file[offset..];
    let at = SegmentRef {
        offset: offset as u64,
        length: bytes.len() as u64,
        keys: seal::keys_of_segment(bytes).unwrap_or(0),
    };
    match Segment::open(&disk, FILE, at, width) {
        Ok(segment) => read_blocks(&segment, file.len() as u64),
        Err(error) => {
            assert_rejected(&error, FILE, file.len() as u64);
            false
        }
    }
}

/// Whether all blocks of a segment are decoded according to its index.
fn read_blocks(segment: &Segment, file_length: u64) -> bool {
    let width = segment.width();
    let (mut decoder, mut keys, mut last) = (BlockDecoder::new(width), Vec::new(), Vec::new());
    let mut decoded = true;
    for block in 0..segment.blocks() {
        assert_eq!(segment.find(&segment.first_key(block)), block);
        match segment.decode(block, &mut decoder, &mut keys) {
            Ok(()) => {
                assert_eq!(keys.len(), segment.block_keys(block) * width);
                assert_ascending(width, &keys);
                assert!(last.as_slice() < &keys[..width], "blocks ascend");
                last = keys[keys.len() - width..].to_vec();
            }
            Err(error) => {
                assert_rejected(&error, FILE, file_length);
                decoded = false;
            }
        }
        segment.will_need(block..block + 1);
        segment.release(block..block + 1);
    }
    let counted = (0..segment.blocks()).map(|block| segment.block_keys(block) as u64).sum::<u64>();
    assert_eq!(counted, segment.keys());
    decoded
}

/// A manifest, which replaces those of two small searches. The searches are then resumed.
pub fn manifest(input: &[u8]) -> bool {
    let read = |disk: &FaultDisk| {
        SavedSearch::load(disk)?.outcome()?;
        resume(disk);
        Ok(())
    };
    let [one, other] = interrupted_searches();
    let decoded = decodes_plain_or_sealed(input, MANIFEST, one, read);
    decoded | decodes_plain_or_sealed(input, MANIFEST, other, read)
}

/// Resumes a search whose manifest is consistent, but may be wrong.
fn resume(disk: &FaultDisk) {
    let [graph, postponing] = models();
    let is_postponing =
        SavedSearch::load(disk).is_ok_and(|saved| saved.digest == postponing.digest());
    match search(if is_postponing { &*postponing } else { &*graph }, disk, u64::MAX) {
        Ok(_) => {}
        Err(Error::Io { source, file, .. }) => {
            let missing = source.kind() == ErrorKind::NotFound && FileName::is_key_file(&file);
            assert!(missing, "{file}: {source}");
        }
        Err(error) => {
            let (Error::Corrupt { file, .. } | Error::Version { file, .. }) = &error else {
                panic!("{error}");
            };
            assert_rejected(&error, file, u64::MAX);
        }
    }
}

/// The job of a search directory.
pub fn job(input: &[u8]) -> bool {
    decodes_plain_or_sealed(input, JOB, &FaultDisk::new(), |disk| {
        let job = SearchJob::load(disk)?;
        let _ = (job.model_name(), job.language(), job.limits(None));
        Ok(())
    })
}

/// Whether `read` decodes `input` as the file `name` among the files of `disk`: plain, or as the payload of a valid
/// header.
fn decodes_plain_or_sealed(
    input: &[u8],
    name: &str,
    disk: &FaultDisk,
    read: impl Fn(&FaultDisk) -> spill::Result<()>,
) -> bool {
    let payload = input.get(COMMITTED_HEADER..).unwrap_or(input);
    let (plain, sealed) = (disk.restart(), disk.restart());
    write(&plain, name, input);
    spill::commit(&sealed, name, FORMAT, payload).expect("the disk works");
    let decodes = |disk: FaultDisk| {
        let length = disk.read(name).expect("it was written").len() as u64;
        read(&disk).inspect_err(|error| assert_rejected(error, name, length)).is_ok()
    };
    decodes(plain) | decodes(sealed)
}

/// The graph of the searches whose manifests are in the corpus.
pub fn graph() -> Graph {
    Graph { nodes: 120, degree: 3, spread: 60, width: 12, broken: 50, dense: 110 }
}

/// A similar graph with postponed transitions.
pub fn postponing_graph() -> PostponingModel<Graph> {
    PostponingModel::new(Graph { degree: 5, ..graph() }, 5)
}

/// Both models.
pub fn models() -> [Box<dyn StateSpace>; 2] {
    [Box::new(graph()), Box::new(postponing_graph())]
}

/// Searches a model in `disk` until `max_states`. A checkpoint is made at every opportunity. The memory is small, so
/// there are files of every kind.
pub fn search(
    model: &dyn StateSpace,
    disk: &FaultDisk,
    max_states: u64,
) -> spill::Result<SearchOutcome> {
    search_until(model, disk, max_states, &SearchControl::new(Duration::ZERO, None))
}

/// The same search, until `control` stops it.
pub fn search_until(
    model: &dyn StateSpace,
    disk: &FaultDisk,
    max_states: u64,
    control: &SearchControl,
) -> spill::Result<SearchOutcome> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let plan: MemoryPlan = tiny_plan(1, model.width(), 8, 24);
    let limits = SearchLimits {
        stop_on_violation: false,
        max_states: Some(max_states),
        ..SearchLimits::default()
    };
    begin_or_resume(model, &disk, plan, &limits, control)?.run()
}

/// Disks on which the search of a model was killed, at each operation in turn before its end.
pub fn killed_searches(model: &dyn StateSpace) -> impl Iterator<Item = FaultDisk> {
    (0..).map_while(|operation| {
        let disk = FaultDisk::with_faults(FaultPlan::new().crash_at(operation));
        search(model, &disk, u64::MAX).err().map(|_| disk.restart())
    })
}

/// A killed search of each model: one with levels, merged runs and candidate runs, and one with obligations and states
/// to re-expand. They are made once.
fn interrupted_searches() -> &'static [FaultDisk; 2] {
    static MADE: OnceLock<[FaultDisk; 2]> = OnceLock::new();
    MADE.get_or_init(|| {
        models().map(|model| {
            let sorts: &[&str] = match model.capabilities().postponing {
                None => &["levels-", "merged-", "candidates-", MANIFEST],
                Some(_) => &["levels-", "merged-", "obligations-", "carried-", MANIFEST],
            };
            let has_all = |disk: &FaultDisk| {
                let files = disk.list().unwrap();
                sorts.iter().all(|sort| files.iter().any(|(name, _)| name.starts_with(sort)))
            };
            let killed = killed_searches(&*model).filter(has_all).last();
            killed.expect("a search meets files of every sort")
        })
    })
}

fn write(disk: &FaultDisk, name: &str, bytes: &[u8]) {
    let mut file = disk.create(name).expect("the disk works");
    file.write(bytes).expect("the disk works");
    file.flush().expect("the disk works");
}

fn assert_ascending(width: usize, keys: &[u8]) {
    assert!(keys.len().is_multiple_of(width));
    assert!(keys.chunks_exact(width).is_sorted_by(|a, b| a < b), "keys ascend strictly");
}

/// Asserts that an error names the file and, unless the version differs, an offset within it.
fn assert_rejected(error: &Error, name: &str, length: u64) {
    let named = match error {
        Error::Corrupt { file, offset, .. } => file == name && *offset <= length,
        Error::Version { file, .. } => file == name,
        _ => false,
    };
    assert!(named, "{name} of {length} bytes: {error}");
}
