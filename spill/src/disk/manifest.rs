//! The commit point: one small file, replaced as a whole, that names the valid bytes of the other files.
//!
//! Everything else on the disk may be incomplete at any time. The data of a commit is made durable first. Then a
//! payload that names it is committed here in five steps. Each step leaves either the old payload or the new one in
//! place:
//!
//! 1. write `<name>.new`,
//! 2. sync it, so that the new name can never mean missing bytes,
//! 3. sync the directory, so that the payload can never name a file that has lost its own name,
//! 4. rename it over `<name>`, which is atomic,
//! 5. sync the directory: from here on the new payload is found after a power loss.
//!
//! The file is a header and the payload. Numbers are little-endian.
//!
//! ```text
//! offset  bytes
//!      0      8  magic: what the payload is
//!      8      4  version of the payload's format
//!     12      8  length of the payload
//!     20      4  checksum of the payload
//!     24      4  checksum of the 24 bytes before
//!     28      -  payload, up to the end of the file
//! ```
//!
//! With the magic `EXAMPLE!`, version 4 and the payload `hello`:
//!
//! ```text
//! 45 58 41 4d 50 4c 45 21 | 04 00 00 00 | 05 00 00 00 00 00 00 00
//! 86 a6 10 36 | xx xx xx xx | 68 65 6c 6c 6f
//! ```
//!
//! Every version has this layout, so an old build can name the version of a new file.

use super::Disk;
use super::checksum::checksum;
use super::error::{Error, Result};
use byteorder::{ByteOrder, LittleEndian};
use rkyv::api::high::{HighDeserializer, HighSerializer, HighValidator};
use rkyv::bytecheck::CheckBytes;
use rkyv::ser::allocator::ArenaHandle;
use rkyv::util::AlignedVec;
use rkyv::{Archive, Deserialize, Serialize, rancor};

const VERSION: usize = 8;
const LENGTH: usize = VERSION + 4;
const PAYLOAD_CHECKSUM: usize = LENGTH + 8;
const HEADER_CHECKSUM: usize = PAYLOAD_CHECKSUM + 4;
const HEADER: usize = HEADER_CHECKSUM + 4;
const _: () = assert!(HEADER <= super::HEAD_BYTES, "a header is in what is looked at first");

/// The maximum length of a payload: parts of an archive refer to each other by signed numbers of 32 bits.
const PAYLOAD_MAX: u64 = i32::MAX as u64;

/// The kind and encoding of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadFormat {
    /// The first bytes of the file.
    pub magic: [u8; 8],
    /// The version of the encoding. No other version is read.
    pub version: u32,
}

/// Replaces the payload of `name` durably and atomically. After an error or a power loss at any time, [`load`] returns
/// the old payload or this one. The bytes that the payload names must already be synced; the names of their files need
/// not be.
pub fn commit(disk: &dyn Disk, name: &str, format: PayloadFormat, payload: &[u8]) -> Result<()> {
    let new = format!("{name}.new");
    let mut file = disk.create(&new)?;
    file.write(&header(format, payload))?;
    file.write(payload)?;
    file.sync()?;
    drop(file);
    disk.sync_dir()?;
    disk.rename(&new, name)?;
    disk.sync_dir()
}

/// Loads and verifies the payload of `name`.
///
/// A missing file is an [`Error::Io`] of kind `NotFound`. The version is evaluated only if the header's checksum is
/// right.
pub fn load(disk: &dyn Disk, name: &str, format: PayloadFormat) -> Result<Vec<u8>> {
    let mut file = read_committed(disk, name, format)?;
    Ok(file.split_off(HEADER))
}

/// Reads the whole file that [`commit`] wrote, verified as by [`load`].
pub fn read_committed(disk: &dyn Disk, name: &str, format: PayloadFormat) -> Result<Vec<u8>> {
    let file = disk.read_if(name, &|head, length| verify_header(name, format, head, length))?;
    verify(name, format, &file)?;
    Ok(file)
}

/// [Commits](commit) a value in its archived form.
pub fn commit_value<T>(disk: &dyn Disk, name: &str, format: PayloadFormat, value: &T) -> Result<()>
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, rancor::Failure>>,
{
    commit(disk, name, format, &encode_value(name, value)?)
}

/// Replaces the value of `name`: atomically for concurrent readers, but not durably. After a power loss it may be the
/// old one, damaged or missing. It is for information that is only displayed.
pub fn put_value<T>(disk: &dyn Disk, name: &str, format: PayloadFormat, value: &T) -> Result<()>
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, rancor::Failure>>,
{
    let new = format!("{name}.new");
    let bytes = encode_value(name, value)?;
    let mut file = disk.create(&new)?;
    file.write(&header(format, &bytes))?;
    file.write(&bytes)?;
    file.flush()?;
    drop(file);
    disk.rename(&new, name)
}

/// Returns the archived form of a value.
fn encode_value<T>(name: &str, value: &T) -> Result<AlignedVec>
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, rancor::Failure>>,
{
    rkyv::to_bytes::<rancor::Failure>(value)
        .map_err(|_| Error::corrupt(name, 0, "it is too large to be written as a whole"))
}

/// Loads and verifies the value that [`commit_value`] or [`put_value`] stored as the payload of `name`.
pub fn load_value<T>(disk: &dyn Disk, name: &str, format: PayloadFormat) -> Result<T>
where
    T: Archive,
    T::Archived: for<'a> CheckBytes<HighValidator<'a, rancor::Failure>>
        + Deserialize<T, HighDeserializer<rancor::Failure>>,
{
    let payload = load(disk, name, format)?;
    let mut bytes = AlignedVec::<16>::with_capacity(payload.len());
    bytes.extend_from_slice(&payload);
    // The decoder's message is not for users: it contains addresses and names of types.
    rkyv::from_bytes::<T, rancor::Failure>(&bytes).map_err(|_| {
        Error::corrupt(name, HEADER as u64, "the parts of the payload do not fit together")
    })
}

fn header(format: PayloadFormat, payload: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..VERSION].copy_from_slice(&format.magic);
    LittleEndian::write_u32(&mut header[VERSION..], format.version);
    LittleEndian::write_u64(&mut header[LENGTH..], payload.len() as u64);
    LittleEndian::write_u32(&mut header[PAYLOAD_CHECKSUM..], checksum(payload));
    let header_checksum = checksum(&header[..HEADER_CHECKSUM]);
    LittleEndian::write_u32(&mut header[HEADER_CHECKSUM..], header_checksum);
    header
}

/// Rejects a file of `length` bytes that begins with `head`, unless its length is that in its header.
fn verify_header(name: &str, format: PayloadFormat, head: &[u8], length: u64) -> Result<()> {
    let corrupt = |offset: usize, what: String| Err(Error::corrupt(name, offset as u64, what));
    let Some(header) = head.get(..HEADER) else {
        return corrupt(head.len(), format!("the file ends within its header of {HEADER} bytes"));
    };
    if header[..VERSION] != format.magic {
        let (found, expected) = (header[..VERSION].escape_ascii(), format.magic.escape_ascii());
        return corrupt(0, format!("it begins with \"{found}\" instead of \"{expected}\""));
    }
    if LittleEndian::read_u32(&header[HEADER_CHECKSUM..]) != checksum(&header[..HEADER_CHECKSUM]) {
        return corrupt(HEADER_CHECKSUM, "the checksum of the header does not match".to_owned());
    }
    let found = LittleEndian::read_u32(&header[VERSION..]);
    if found != format.version {
        let (file, expected) = (name.to_owned(), format.version);
        return Err(Error::Version { file, found, expected });
    }
    let (told, payload) =
        (LittleEndian::read_u64(&header[LENGTH..]), length.saturating_sub(HEADER as u64));
    if told != payload {
        let what = format!("the payload has {payload} bytes instead of {told}");
        return corrupt(LENGTH, what);
    }
    if payload > PAYLOAD_MAX {
        let what = format!("a payload of {payload} bytes is more than {PAYLOAD_MAX}");
        return corrupt(LENGTH, what);
    }
    Ok(())
}

/// Verifies a whole file.
fn verify(name: &str, format: PayloadFormat, file: &[u8]) -> Result<()> {
    verify_header(name, format, file, file.len() as u64)?;
    match LittleEndian::read_u32(&file[PAYLOAD_CHECKSUM..]) == checksum(&file[HEADER..]) {
        true => Ok(()),
        false => {
            let what = "the checksum of the payload does not match";
            Err(Error::corrupt(name, HEADER as u64, what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_the_documented_bytes() {
        let header = header(PayloadFormat { magic: *b"EXAMPLE!", version: 4 }, b"hello");
        assert_eq!(header[..20], *b"EXAMPLE!\x04\0\0\0\x05\0\0\0\0\0\0\0");
        assert_eq!(header[20..24], [0x86, 0xa6, 0x10, 0x36]);
    }
}
