//! Tests of the guarantees of every disk, and of the data that survives a fault.

use spill::fault::FaultPlan;
use spill::{Disk, Error, FaultDisk, MeteredDisk, PayloadFormat, RealDisk, Result, commit, load};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const FORMAT: PayloadFormat = PayloadFormat { magic: *b"TESTFILE", version: 3 };

/// Runs `test` on every kind of disk.
fn on_every_disk(test: impl Fn(&dyn Disk)) {
    let directory = tempfile::tempdir().unwrap();
    test(&RealDisk::open(directory.path()).unwrap());
    test(&FaultDisk::new());
    test(&MeteredDisk::new(Arc::new(FaultDisk::new()), None).unwrap());
}

fn write_file(disk: &dyn Disk, name: &str, bytes: &[u8]) {
    let mut file = disk.create(name).unwrap();
    file.write(bytes).unwrap();
    file.flush().unwrap();
}

fn names(disk: &dyn Disk) -> Vec<String> {
    disk.list().unwrap().into_iter().map(|(name, _)| name).collect()
}

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

mod conformance {
    use super::*;

    #[test]
    fn appended_bytes_are_visible_in_order_after_a_flush() {
        on_every_disk(|disk| {
            let mut file = disk.create("log").unwrap();
            assert!(file.is_empty());
            let mut expected = Vec::new();
            for length in [0, 1, 7, 4096, 65_535, 65_536, 65_537, 3, 200_000, 60_000, 60_000] {
                let bytes = numbered(length);
                file.write(&bytes).unwrap();
                expected.extend_from_slice(&bytes);
                assert_eq!(file.len(), expected.len() as u64);
            }
            file.flush().unwrap();
            assert_eq!(disk.read("log").unwrap(), expected);
            assert_eq!(disk.list().unwrap(), [("log".to_owned(), expected.len() as u64)]);
            for (start, end) in [(0, 0), (0, 1), (4095, 4097), (65_537, 200_000), (5, 5)] {
                let mapped = disk.map("log", start as u64..end as u64).unwrap();
                assert_eq!(*mapped, expected[start..end]);
            }
        });
    }

    #[test]
    fn a_mapping_keeps_its_bytes_when_its_file_changes() {
        on_every_disk(|disk| {
            write_file(disk, "a", b"first");
            let mut file = disk.append_at("a", 5).unwrap();
            let first = disk.map("a", 0..5).unwrap();
            file.write(b", second").unwrap();
            file.sync().unwrap();
            let all = disk.map("a", 0..13).unwrap();
            write_file(disk, "a", b"other");
            let other = disk.map("a", 1..5).unwrap();
            disk.remove("a").unwrap();
            let copy = all.clone();
            drop(all);
            assert_eq!(&*first, b"first");
            assert_eq!(&*copy, b"first, second");
            assert_eq!(&*other, b"ther");
        });
    }

    #[test]
    fn append_at_truncates_the_file() {
        on_every_disk(|disk| {
            write_file(disk, "log", b"kept, cut");
            let mut file = disk.append_at("log", 4).unwrap();
            assert_eq!(file.len(), 4);
            assert_eq!(disk.read("log").unwrap(), b"kept");
            file.write(b"!").unwrap();
            file.sync().unwrap();
            assert_eq!(disk.read("log").unwrap(), b"kept!");
        });
    }

    #[test]
    fn ranges_past_the_end_are_corrupt() {
        on_every_disk(|disk| {
            write_file(disk, "short", b"12345");
            let refusals = [
                disk.map("short", 0..6).err(),
                disk.map("short", 5..7).err(),
                disk.map("short", 9..9).err(),
                disk.map("short", u64::MAX - 1..u64::MAX).err(),
                disk.append_at("short", 6).err(),
            ];
            for refusal in refusals {
                let Some(Error::Corrupt { file, offset, .. }) = refusal else {
                    panic!("{disk:?} gave {refusal:?}");
                };
                assert_eq!((file.as_str(), offset), ("short", 5));
            }
        });
    }

    #[test]
    fn files_are_created_replaced_renamed_and_removed() {
        on_every_disk(|disk| {
            for name in ["b", "a", "c"] {
                write_file(disk, name, name.as_bytes());
            }
            assert_eq!(names(disk), ["a", "b", "c"]);
            disk.rename("c", "a").unwrap();
            assert_eq!(names(disk), ["a", "b"]);
            assert_eq!(disk.read("a").unwrap(), b"c");
            disk.create("b").unwrap();
            assert_eq!(disk.read("b").unwrap(), b"");
            disk.remove("a").unwrap();
            disk.sync_dir().unwrap();
            assert_eq!(disk.list().unwrap(), [("b".to_owned(), 0)]);
        });
    }

    #[test]
    fn a_missing_file_is_not_found() {
        on_every_disk(|disk| {
            let failures = [
                disk.map("none", 0..0).err(),
                disk.read("none").err(),
                disk.append_at("none", 0).err(),
                disk.rename("none", "other").err(),
                disk.remove("none").err(),
                load(disk, "none", FORMAT).err(),
            ];
            for failure in failures {
                let Some(Error::Io { file, source, .. }) = failure else {
                    panic!("{disk:?} gave {failure:?}");
                };
                assert_eq!(file, "none");
                assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
            }
        });
    }
}

mod real {
    use super::*;

    #[test]
    fn the_lock_excludes_a_second_disk_until_the_first_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let first = RealDisk::open(directory.path()).unwrap();
        let second = RealDisk::open(directory.path()).unwrap();
        first.lock().unwrap();
        first.lock().unwrap();
        assert!(matches!(second.lock(), Err(Error::Locked { file }) if file == RealDisk::LOCK));
        assert!(second.is_locked());
        drop(first);
        second.lock().unwrap();
    }

    #[test]
    fn is_locked_does_not_block_other_disks() {
        let directory = tempfile::tempdir().unwrap();
        let asking = RealDisk::open(directory.path()).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    asking.is_locked();
                }
            });
            for _ in 0..200 {
                let locked = RealDisk::open(directory.path()).unwrap().lock();
                assert!(locked.is_ok(), "{locked:?}");
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn only_a_directory_is_a_disk() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(RealDisk::open(file.path()), Err(Error::Io { .. })));
        assert!(matches!(RealDisk::open(file.path().join("none")), Err(Error::Io { .. })));
    }
}

mod metered {
    use super::*;

    #[test]
    fn bytes_are_counted_while_their_file_exists() {
        let inner = Arc::new(FaultDisk::new());
        write_file(&*inner, "old", &[0; 100]);
        let disk = MeteredDisk::new(inner, None).unwrap();
        let check = |live, peak, written| {
            let usage = disk.usage();
            assert_eq!((usage.live, usage.peak, usage.written), (live, peak, written));
        };
        check(100, 100, 0);
        write_file(&disk, "new", &[0; 50]);
        check(150, 150, 50);
        disk.rename("new", "old").unwrap();
        check(50, 150, 50);
        disk.append_at("old", 20).unwrap();
        check(20, 150, 50);
        let mut file = disk.append_at("old", 20).unwrap();
        disk.remove("old").unwrap();
        check(20, 150, 50);
        file.sync().unwrap();
        drop(file);
        check(0, 150, 50);
        disk.sync_dir().unwrap();
        assert_eq!(disk.usage().syncs, 2);
        write_file(&disk, "a", &[0; 10]);
        write_file(&disk, "a", &[0; 5]);
        check(5, 150, 65);
    }

    #[test]
    fn a_write_beyond_the_limit_writes_nothing() {
        let disk = MeteredDisk::new(Arc::new(FaultDisk::new()), Some(100)).unwrap();
        write_file(&disk, "a", &[0; 60]);
        let mut file = disk.create("b").unwrap();
        file.write(&[0; 40]).unwrap();
        let full = file.write(&[0]);
        assert!(matches!(full, Err(Error::Full { file, limit: Some(100) }) if file == "b"));
        assert_eq!((file.len(), disk.usage().live), (40, 100));
        disk.remove("a").unwrap();
        file.write(&[0; 60]).unwrap();
        file.sync().unwrap();
        assert!(file.write(&[0]).is_err());
        assert_eq!(disk.list().unwrap(), [("b".to_owned(), 100)]);
    }

    #[test]
    fn bytes_of_a_failed_write_are_counted() {
        let inner = Arc::new(FaultDisk::new());
        let disk = MeteredDisk::new(inner.clone(), None).unwrap();
        let mut file = disk.create("a").unwrap();
        for seed in 0..50 {
            inner.set_plan(FaultPlan::new().seed(seed).full_at(inner.operations()));
            assert!(matches!(file.write(&[0; 10]), Err(Error::Full { limit: None, .. })));
            assert_eq!(disk.usage().live, file.len());
        }
        assert!((1..500).contains(&file.len()));
    }

    #[test]
    fn threads_share_the_limit() {
        let disk = MeteredDisk::new(Arc::new(FaultDisk::new()), Some(10_000)).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let mut file = disk.create(&format!("shard-{thread}")).unwrap();
                scope.spawn(
                    move || while file.write(&[0; 7]).and_then(|()| file.flush()).is_ok() {},
                );
            }
        });
        let total: u64 = disk.list().unwrap().iter().map(|(_, length)| length).sum();
        assert_eq!(disk.usage().live, total);
        assert!((9_994..=10_000).contains(&total));
    }
}

mod fault {
    use super::*;

    /// Creates `name` durably, in 5 operations, the second of them a write.
    fn write_durably(disk: &dyn Disk, name: &str) -> Result<()> {
        let mut file = disk.create(name)?;
        file.write(b"some bytes")?;
        file.flush()?;
        file.sync()?;
        disk.sync_dir()
    }

    #[test]
    fn a_single_fault_fails_one_operation() {
        for operation in 0..5 {
            for plan in
                [FaultPlan::new().io_error_at(operation), FaultPlan::new().full_at(operation)]
            {
                let disk = FaultDisk::with_faults(plan);
                write_durably(&disk, "a").unwrap_err();
                write_durably(&disk, "b").unwrap();
                assert_eq!(disk.read("b").unwrap(), b"some bytes");
            }
        }
    }

    #[test]
    fn a_full_disk_allows_removal_and_renaming() {
        let disk = FaultDisk::with_faults(FaultPlan::new().full_from(6));
        write_durably(&disk, "a").unwrap();
        assert_eq!(disk.operations(), 5);
        let mut file = disk.create("b").unwrap();
        assert!(matches!(file.write(b"bytes"), Err(Error::Full { limit: None, .. })));
        assert!(matches!(disk.create("c"), Err(Error::Full { limit: None, .. })));
        disk.remove("a").unwrap();
        disk.rename("b", "a").unwrap();
        disk.sync_dir().unwrap();
    }

    #[test]
    fn a_crashed_disk_fails_until_its_reboot() {
        let disk = FaultDisk::with_faults(FaultPlan::new().crash_at(4));
        write_durably(&disk, "a").unwrap_err();
        assert!(disk.has_crashed());
        assert_eq!(disk.operations(), 5);
        assert!(disk.list().is_err() && disk.read("a").is_err() && disk.create("b").is_err());
        assert_eq!(disk.operations(), 5);
        write_durably(&disk.reboot(7), "b").unwrap();
        assert_eq!(disk.restart().read("a").unwrap(), b"some bytes");
    }

    #[test]
    fn a_reboot_keeps_synced_data_and_samples_the_rest() {
        let disk = FaultDisk::new();
        write_durably(&disk, "durable").unwrap();
        write_file(&disk, "nameless", b"bytes");
        disk.rename("durable", "renamed").unwrap();
        assert_eq!(names(&disk.reboot(0)), ["durable"]);
        assert_eq!(names(&disk.reboot(1)), ["nameless", "renamed"]);
        for seed in 0..100 {
            let found = disk.reboot(seed);
            let renamed = names(&found).contains(&"renamed".to_owned());
            let name = if renamed { "renamed" } else { "durable" };
            assert_eq!(found.read(name).unwrap(), b"some bytes");
            let rebooted = disk.reboot(seed);
            assert_eq!(found.list().unwrap(), rebooted.list().unwrap());
        }
    }

    #[test]
    fn a_killed_process_loses_its_buffers_and_syncs_nothing() {
        let disk = FaultDisk::new();
        let mut file = disk.create("a").unwrap();
        file.write(b"flushed").unwrap();
        file.flush().unwrap();
        file.write(b", not flushed").unwrap();
        assert_eq!(disk.read("a").unwrap(), b"flushed");
        let found = disk.restart();
        assert_eq!(found.read("a").unwrap(), b"flushed");
        assert_eq!(names(&found.reboot(0)), [""; 0]);
        found.append_at("a", 7).unwrap().sync().unwrap();
        found.sync_dir().unwrap();
        assert_eq!(found.reboot(0).read("a").unwrap(), b"flushed");
    }

    #[test]
    fn data_of_a_failed_sync_may_be_lost_despite_later_syncs() {
        let lost = |seed| {
            let disk = FaultDisk::new();
            write_durably(&disk, "a").unwrap();
            disk.set_plan(FaultPlan::new().seed(seed).sync_error_from(disk.operations()));
            let mut file = disk.append_at("a", 10).unwrap();
            file.write(b", doubtful").unwrap();
            assert!(file.sync().is_err() && disk.sync_dir().is_err());
            assert_eq!(disk.failures(), ["sync", "sync"]);
            let found = disk.restart();
            let seen = found.read("a").unwrap();
            found.append_at("a", seen.len() as u64).unwrap().sync().unwrap();
            found.reboot(0).read("a").unwrap() != seen
        };
        assert!((0..20).any(lost) && !(0..20).all(lost));
    }

    #[test]
    fn a_failed_sync_is_not_repeated() {
        let disk = FaultDisk::with_faults(FaultPlan::new().io_error_at(2));
        let mut file = disk.create("a").unwrap();
        file.write(b"bytes").unwrap();
        assert!(file.sync().is_err() && file.sync().is_err() && file.write(b"more").is_err());
        assert_eq!(disk.operations(), 3);
    }
}

mod manifest {
    use super::*;

    const NAME: &str = "manifest";

    fn committed(payload: &[u8]) -> FaultDisk {
        let disk = FaultDisk::new();
        commit(&disk, NAME, FORMAT, payload).unwrap();
        disk
    }

    #[test]
    fn a_committed_payload_is_loaded() {
        on_every_disk(|disk| {
            for length in [0, 1, 1000, 300_000] {
                let payload = numbered(length);
                commit(disk, NAME, FORMAT, &payload).unwrap();
                assert_eq!(load(disk, NAME, FORMAT).unwrap(), payload);
                assert_eq!(names(disk), [NAME]);
            }
        });
    }

    /// Commits three payloads, of growing and shrinking lengths.
    fn payloads() -> [Vec<u8>; 3] {
        [numbered(5000), numbered(20_000), b"short".to_vec()]
    }

    /// Returns the number of operations of one commit.
    fn operations_of_commit() -> u64 {
        committed(b"payload").operations()
    }

    #[test]
    fn a_crash_at_any_operation_leaves_the_old_payload_or_the_new() {
        let each = operations_of_commit();
        let payloads = payloads();
        for crash in 0..each * payloads.len() as u64 {
            for plan_seed in 0..4 {
                let disk = FaultDisk::with_faults(FaultPlan::new().seed(plan_seed).crash_at(crash));
                let done = payloads
                    .iter()
                    .take_while(|payload| commit(&disk, NAME, FORMAT, payload).is_ok())
                    .count();
                assert_eq!(done as u64, crash / each);
                let is_old_or_new = |found: &FaultDisk| match load(found, NAME, FORMAT) {
                    Ok(payload) => {
                        payload == payloads[done] || done > 0 && payload == payloads[done - 1]
                    }
                    Err(Error::Io { .. }) => done == 0,
                    Err(_) => false,
                };
                assert!(is_old_or_new(&disk.restart()), "killed at operation {crash}");
                for seed in 0..100 {
                    let found = disk.reboot(seed);
                    assert!(is_old_or_new(&found), "power lost at operation {crash}, seed {seed}");
                    // The remains do not disturb the next commit.
                    commit(&found, NAME, FORMAT, b"next").unwrap();
                    assert_eq!(load(&found.reboot(0), NAME, FORMAT).unwrap(), b"next");
                }
            }
        }
    }

    /// Adds a file to those that the manifest names.
    fn add_file(disk: &dyn Disk, name: &str) -> Result<()> {
        let mut file = disk.create(name)?;
        file.write(b"content")?;
        file.sync()?;
        let mut payload = load(disk, NAME, FORMAT)?;
        payload.extend_from_slice(name.as_bytes());
        commit(disk, NAME, FORMAT, &payload)
    }

    #[test]
    fn a_manifest_names_only_files_that_survived() {
        let operations = {
            let disk = committed(b"a");
            let before = disk.operations();
            add_file(&disk, "b").unwrap();
            disk.operations() - before
        };
        for crash in 0..operations {
            let disk = committed(b"");
            disk.set_plan(FaultPlan::new().crash_at(disk.operations() + crash));
            add_file(&disk, "b").unwrap_err();
            for seed in 0..100 {
                let found = disk.reboot(seed);
                for name in load(&found, NAME, FORMAT).unwrap() {
                    let name = char::from(name).to_string();
                    assert_eq!(found.read(&name).unwrap(), b"content", "crash at {crash}, {seed}");
                }
            }
        }
    }

    #[test]
    fn a_failure_at_any_operation_leaves_the_old_payload_or_the_new() {
        for operation in 0..operations_of_commit() {
            for plan in
                [FaultPlan::new().io_error_at(operation), FaultPlan::new().full_at(operation)]
            {
                let disk = committed(b"old").restart();
                disk.set_plan(plan);
                commit(&disk, NAME, FORMAT, b"new").unwrap_err();
                let payload = load(&disk, NAME, FORMAT).unwrap();
                assert!(payload == b"old" || payload == b"new");
                commit(&disk, NAME, FORMAT, b"newer").unwrap();
                assert_eq!(load(&disk.reboot(0), NAME, FORMAT).unwrap(), b"newer");
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_rejected() {
        let disk = committed(b"a payload of some bytes");
        let bits = 8 * disk.read(NAME).unwrap().len() as u64;
        for bit in 0..bits {
            disk.flip_bit(NAME, bit / 8, (bit % 8) as u32);
            let refusal = load(&disk, NAME, FORMAT);
            assert!(matches!(refusal, Err(Error::Corrupt { .. })), "bit {bit}: {refusal:?}");
            disk.flip_bit(NAME, bit / 8, (bit % 8) as u32);
        }
        load(&disk, NAME, FORMAT).unwrap();
    }

    #[test]
    fn truncations_and_extensions_are_rejected() {
        let length = committed(b"a payload").read(NAME).unwrap().len() as u64;
        for shorter in 0..length {
            let disk = committed(b"a payload");
            disk.truncate(NAME, shorter);
            let refusal = load(&disk, NAME, FORMAT);
            assert!(matches!(refusal, Err(Error::Corrupt { .. })), "{shorter}: {refusal:?}");
        }
        let disk = committed(b"a payload");
        let mut file = disk.append_at(NAME, length).unwrap();
        file.write(&[0]).unwrap();
        file.flush().unwrap();
        assert!(matches!(load(&disk, NAME, FORMAT), Err(Error::Corrupt { .. })));
    }

    #[test]
    fn another_version_is_reported_and_another_magic_is_corrupt() {
        let disk = committed(b"a payload");
        let newer = PayloadFormat { version: 4, ..FORMAT };
        let refusal = load(&disk, NAME, newer);
        assert!(matches!(refusal, Err(Error::Version { found: 3, expected: 4, .. })));
        let other = PayloadFormat { magic: *b"OTHERONE", ..FORMAT };
        let refusal = load(&disk, NAME, other).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "manifest is damaged at byte 0: it begins with \"TESTFILE\" instead of \"OTHERONE\""
        );
    }
}
