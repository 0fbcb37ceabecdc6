//! The commit point: one small file, replaced whole, that says which bytes of which files count.
//!
//! Everything else on the disk may be half written at any time. What belongs together is made
//! durable first; then a payload that names it is committed here in five steps, each of which
//! leaves either the old payload or the new one in place:
//!
//! 1. write `<name>.new`,
//! 2. sync it, so that the new name can never mean missing bytes,
//! 3. sync the directory, so that the payload can never name a file that has lost its own name,
//! 4. rename it over `<name>`, which is atomic,
//! 5. sync the directory: from here on the new payload is what is found after a loss of power.
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
//! This layout is that of every version, so an old build can name the version of a new file.

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

/// What a payload is and how it is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The first bytes of the file.
    pub magic: [u8; 8],
    /// The version of the encoding. Only this one is read.
    pub version: u32,
}

/// Durably replaces the payload of `name`, atomically: after an error or a loss of power at any
/// time, [`load`] gives the old payload or this one. The bytes that the payload speaks of must be
/// synced before; the names of their files need not be.
pub fn commit(disk: &dyn Disk, name: &str, format: Format, payload: &[u8]) -> Result<()> {
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

/// The payload of `name`, verified.
///
/// A missing file is an [`Error::Io`] of kind `NotFound`. Of a damaged file nothing is believed:
/// the version is looked at only once the header's checksum is right.
pub fn load(disk: &dyn Disk, name: &str, format: Format) -> Result<Vec<u8>> {
    let mut file = disk.read(name)?;
    verify(name, format, &file)?;
    Ok(file.split_off(HEADER))
}

/// [Commits](commit) a value, as its archived form.
pub fn commit_value<T>(disk: &dyn Disk, name: &str, format: Format, value: &T) -> Result<()>
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, rancor::Error>>,
{
    commit(disk, name, format, &encoded(name, value)?)
}

/// Replaces the value of `name`, atomically for whoever reads it meanwhile, but not durably: after a loss of power it may be
/// the old one, damaged or gone. For what is only shown, and no search rests on.
pub fn put_value<T>(disk: &dyn Disk, name: &str, format: Format, value: &T) -> Result<()>
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, rancor::Error>>,
{
    let new = format!("{name}.new");
    let bytes = encoded(name, value)?;
    let mut file = disk.create(&new)?;
    file.write(&header(format, &bytes))?;
    file.write(&bytes)?;
    file.flush()?;
    drop(file);
    disk.rename(&new, name)
}

/// The archived form of a value.
fn encoded<T>(name: &str, value: &T) -> Result<AlignedVec>
where
    T: for<'a> Serialize<HighSerializer<AlignedVec, ArenaHandle<'a>, rancor::Error>>,
{
    rkyv::to_bytes::<rancor::Error>(value)
        .map_err(|error| Error::corrupt(name, 0, format!("cannot encode: {error}")))
}

/// The value that [`commit_value`] or [`put_value`] made the payload of `name`, every part of it checked.
pub fn load_value<T>(disk: &dyn Disk, name: &str, format: Format) -> Result<T>
where
    T: Archive,
    T::Archived: for<'a> CheckBytes<HighValidator<'a, rancor::Error>>
        + Deserialize<T, HighDeserializer<rancor::Error>>,
{
    let payload = load(disk, name, format)?;
    let mut bytes = AlignedVec::<16>::with_capacity(payload.len());
    bytes.extend_from_slice(&payload);
    rkyv::from_bytes::<T, rancor::Error>(&bytes)
        .map_err(|error| Error::corrupt(name, 0, format!("cannot decode: {error}")))
}

fn header(format: Format, payload: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..VERSION].copy_from_slice(&format.magic);
    LittleEndian::write_u32(&mut header[VERSION..], format.version);
    LittleEndian::write_u64(&mut header[LENGTH..], payload.len() as u64);
    LittleEndian::write_u32(&mut header[PAYLOAD_CHECKSUM..], checksum(payload));
    let header_checksum = checksum(&header[..HEADER_CHECKSUM]);
    LittleEndian::write_u32(&mut header[HEADER_CHECKSUM..], header_checksum);
    header
}

fn verify(name: &str, format: Format, file: &[u8]) -> Result<()> {
    let corrupt = |offset: usize, what: String| Err(Error::corrupt(name, offset as u64, what));
    let Some((header, payload)) = file.split_at_checked(HEADER) else {
        return corrupt(file.len(), format!("the file ends within its header of {HEADER} bytes"));
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
    let length = LittleEndian::read_u64(&header[LENGTH..]);
    if length != payload.len() as u64 {
        let what = format!("the payload has {} bytes instead of {length}", payload.len());
        return corrupt(LENGTH, what);
    }
    if LittleEndian::read_u32(&header[PAYLOAD_CHECKSUM..]) != checksum(payload) {
        return corrupt(HEADER, "the checksum of the payload does not match".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_as_shown() {
        let header = header(Format { magic: *b"EXAMPLE!", version: 4 }, b"hello");
        assert_eq!(header[..20], *b"EXAMPLE!\x04\0\0\0\x05\0\0\0\0\0\0\0");
        assert_eq!(header[20..24], [0x86, 0xa6, 0x10, 0x36]);
    }
}
