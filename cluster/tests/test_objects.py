"""Files in an object store, as processes for tasks and sessions see them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest

from spillway_ray import objects, worker
from spillway_ray.driver import Wishes
from spillway_ray.failure import DAMAGED, Failure, Stale
from spillway_ray.objects import PIECE, Behind, Bucket, Copies, Head, Mirror, digest
from spillway_ray.runner import Processes, Runner
from spillway_ray.storage import Storage

from . import real
from .bucket import new_url, serving
from .test_real import FLAGS, GRID, MEMORY, counts


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with serving():
        yield


@pytest.fixture
def url() -> str:
    return new_url()


ID = "00000001-expand-0123456789ab"
PLAN = f"plan-{ID}"


def begun(url: str, folder: Path, files: dict[str, bytes]) -> Mirror:
    """Creates a search, and copies its folder to the bucket."""
    mirror = Mirror(url, folder)
    mirror.pull()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    mirror.push()
    return mirror


def bring(copies: Copies, name: str, *span: int) -> bool:
    question: dict[str, object] = {"bring": name}
    if span:
        question.update(zip(("from", "until"), span))
    answer = copies.answer(question)
    assert set(answer) == {"done"}, answer
    return bool(answer["done"])


def take(copies: Copies, name: str, content: bytes, new: bool = False) -> bool:
    (copies.folder / name).write_bytes(content)
    answer = copies.answer({"take": name, "new": new})
    assert set(answer) == {"done"}, answer
    return bool(answer["done"])


def test_only_what_is_read_is_fetched(url: str, tmp_path: Path) -> None:
    large = bytes(range(256)) * (3 * PIECE // 256) + b"end"
    begun(url, tmp_path / "a", {"job": b"job", "levels-000": large})
    copies = Copies(url, 1 << 30)
    assert not bring(copies, "levels-000", 0, 1), "the head is looked at with a whole file"
    assert bring(copies, "job")
    assert not bring(copies, "manifest")
    assert (copies.folder / "job").read_bytes() == b"job"
    path = copies.folder / "levels-000"
    assert bring(copies, "levels-000", 3 * PIECE - 1, len(large))
    assert path.stat().st_size == len(large)
    seen = path.read_bytes()
    assert seen[2 * PIECE :] == large[2 * PIECE :]
    assert seen[: 2 * PIECE] == bytes(2 * PIECE)
    assert bring(copies, "levels-000", 5, PIECE + 1)
    assert path.read_bytes() == large
    copies.close()
    assert not copies.folder.exists()


def test_too_much_is_not_kept(url: str, tmp_path: Path) -> None:
    files = {f"levels-{it:03}": bytes([it + 1]) * 100_000 for it in range(4)}
    begun(url, tmp_path / "a", {"job": b"job", **files})
    copies = Copies(url, 250_000)
    assert bring(copies, "job")
    for name in files:
        assert bring(copies, name, 0, 100_000)
    assert bring(copies, "levels-001", 7, 8)
    copies.settle()
    assert sorted(it.name for it in copies.folder.glob("levels-*")) == ["levels-001", "levels-003"]
    assert bring(copies, "levels-000", 0, 1)
    assert (copies.folder / "levels-000").read_bytes() == files["levels-000"]


def test_what_the_dead_have_left_is_removed(url: str) -> None:
    begin = "import sys; from spillway_ray.objects import make_folder as it; print(it()[0])"
    dead = subprocess.run([sys.executable, "-c", begin], stdout=-1, text=True, check=True)
    left = Path(dead.stdout.strip())
    (left / "levels-000").write_bytes(b"keys")
    copies = Copies(url, 1)
    assert not left.exists()
    other = Copies(url, 1)
    assert copies.folder.exists()
    assert other.folder.exists()


def test_closing_a_server_twice_closes_no_other_file(url: str) -> None:
    """A lost server is closed when its end is detected, and again by its owner."""
    script = "import os, sys; sys.stdin.readline(); os._exit(1)"
    server = worker.Server(([sys.executable, "-c", script, url], 0))
    told = server.ask("run")
    assert (told["code"], told["answer"]) == (1, None)
    # Other files now have the numbers of the closed ones.
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    server.close()
    copies = Copies(url, 1)
    copies.close()
    others += [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    copies.close()
    for it in others:
        os.close(it)


def test_a_task_whose_server_is_lost_is_done_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "import sys\nfor line in sys.stdin: print(eval(line), flush=True)"
    command = ([sys.executable, "-c", script, url], 0)
    monkeypatch.setattr(worker, "unfit", lambda *_: None)
    fit = ("binary", "version", url, "job")
    try:
        for _ in range(3):
            lost = worker.work(command, "__import__('os').kill(__import__('os').getpid(), 9)", fit)
            assert (lost["code"], lost["answer"]) == (-9, None)
        told = worker.work(command, """'{"code": 0}'""", fit)
        assert told["code"] == 0, told
    finally:
        worker.let_go()


def test_a_commit_has_what_receipts_name(url: str, tmp_path: Path) -> None:
    begun(url, tmp_path / "a", {"job": b"job", "manifest": b"first", "changes-000": b"old"})
    driver, worker, other = (Copies(url, 1 << 30) for _ in range(3))
    assert bring(driver, "manifest")
    assert take(driver, PLAN, b"plan", new=True)
    assert not take(other, PLAN, b"another", new=True)
    assert bring(other, PLAN)
    assert (other.folder / PLAN).read_bytes() == b"plan"
    # Both workers write the same file. One of the two objects counts.
    for it in (worker, other):
        assert bring(it, "manifest")
        assert take(it, "merged-00000001-00000001-000", b"keys")
        assert take(it, f"receipt-{ID}-00000", b"receipt")
        it.settle()
    assert not bring(driver, "merged-00000001-00000001-000", 0, 4)
    assert not bring(driver, f"receipt-{ID}-00001")
    assert bring(driver, f"receipt-{ID}-00000")
    assert (driver.folder / f"receipt-{ID}-00000").read_bytes() == b"receipt"
    assert bring(driver, "merged-00000001-00000001-000", 0, 4)
    # A process with an old head cannot commit.
    assert take(driver, "manifest", b"second")
    assert not take(other, "manifest", b"other")
    for name in ("changes-000", PLAN, f"receipt-{ID}-00000"):
        assert driver.answer({"remove": name}) == {"done": True}
    driver.settle()
    bucket = Bucket(url)
    head = Head.of(bucket)
    assert sorted(head.files) == ["job", "manifest", "merged-00000001-00000001-000"]
    assert bucket.keys("loose/") == []
    assert not bring(driver, PLAN)
    assert bring(other, "manifest")
    assert (other.folder / "manifest").read_bytes() == b"second"
    assert bring(other, "merged-00000001-00000001-000", 0, 4)
    assert not bring(other, "changes-000", 0, 1)


def test_what_a_store_says_is_told(url: str, tmp_path: Path) -> None:
    begun(url, tmp_path / "a", {"job": b"job", "levels-000": b"keys"})
    copies = Copies(url, 1 << 30)
    assert bring(copies, "job")
    bucket = Bucket(url)
    # A missing object belongs to an earlier plan. Any other failure may be temporary.
    bucket.delete([Head.of(bucket).files["levels-000"][0]])
    assert copies.answer({"bring": "levels-000", "from": 0, "until": 4}) == {"done": False}
    assert "error" in copies.answer({"take": "levels-001", "new": False})
    assert "error" in copies.answer({"nothing": "that there is"})


def test_a_sitting_has_all_and_takes_it_back(url: str, tmp_path: Path) -> None:
    one = begun(url, tmp_path / "a", {"job": b"job", "manifest": b"1", "levels-000": b"keys"})
    bucket = Bucket(url)
    bucket.put(f"loose/{PLAN}", b"{}\nplan")
    two = Mirror(url, tmp_path / "b")
    two.pull()
    folder = tmp_path / "b"
    assert (folder / "levels-000").read_bytes() == b"keys"
    with (folder / "levels-000").open("ab") as file:
        file.write(b" and more")
    (folder / "manifest").unlink()
    (folder / "manifest").write_bytes(b"2")
    (folder / "lock").write_bytes(b"")
    (folder / "manifest.new").write_bytes(b"half")
    two.push()
    head = Head.of(bucket)
    assert {name: size for name, (_, size) in head.files.items()} == {
        "job": 3,
        "manifest": 1,
        "levels-000": 13,
    }
    assert len(bucket.keys("")) == 4, "an object for each file, and the head"
    # The first one has an old head.
    (tmp_path / "a" / "manifest").write_bytes(b"3")
    with pytest.raises(Behind):
        one.push()
    one.pull()
    assert (tmp_path / "a" / "manifest").read_bytes() == b"2"
    assert (tmp_path / "a" / "levels-000").read_bytes() == b"keys and more"


def test_a_folder_of_somebody_else_is_left_alone(url: str, tmp_path: Path) -> None:
    begun(url, tmp_path / "a", {"job": b"job"})
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / "thesis").write_bytes(b"mine")
    with (
        pytest.raises(Failure, match="name another folder"),
        Storage(url, str(folder), 0).sitting(),
    ):
        pass
    assert (folder / "thesis").read_bytes() == b"mine"
    with pytest.raises(Failure, match="holds a search already"):
        Storage(url, str(folder), 0).begin()
    with pytest.raises(Failure, match="there is no search"):
        Storage(new_url(), str(folder), 0).job()
    with pytest.raises(Failure, match="--storage nothing://there"):
        Storage("nothing://there", str(folder), 0)


DATA = "data/" + "0" * 32


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"../../escaped": [f"{DATA}-../../escaped", 3]}, "the name `../../escaped`"),
        ({"/tmp/escaped": [f"{DATA}-/tmp/escaped", 3]}, "the name `/tmp/escaped`"),
        ({"..": [f"{DATA}-..", 3]}, "the name `..`"),
        ({"levels-000\n": [f"{DATA}-levels-000\n", 3]}, "the name `levels-000?`"),
        ({"lock": [f"{DATA}-lock", 3]}, "the name `lock`"),
        ({"\x1b]52;c;\x07": [f"{DATA}-x", 3]}, r"the name `?]52;c;?`"),
        ({"levels-000": ["data/../../thesis", 3]}, "the key `data/../../thesis`"),
        ({"levels-000": [f"{DATA}-levels-001", 3]}, f"the key `{DATA}-levels-001`"),
        ({"levels-000": [f"{DATA}-levels-000", -1]}, "cannot have `-1` bytes"),
        ({"levels-000": [f"{DATA}-levels-000", "3"]}, "cannot have `3` bytes"),
        ({"levels-000": [f"{DATA}-levels-000"]}, "does not say which files"),
        (["levels-000"], "does not say which files"),
    ],
)
def test_a_head_of_somebody_else_leads_nowhere(
    url: str, tmp_path: Path, files: object, message: str
) -> None:
    bucket = Bucket(url)
    bucket.put(f"{DATA}-escaped", b"out")
    head = {"files": files}
    if isinstance(files, dict):
        head["files"] = {"job": [f"{DATA}-job", 3], **files}
        bucket.put(f"{DATA}-job", b"job")
    bucket.put("head", json.dumps(head).encode())
    inside = tmp_path / "a" / "b"
    storage = Storage(url, str(inside), 0)
    for use in (storage.job, storage.begin, storage.sitting().__enter__, storage.look().__enter__):
        with pytest.raises(Failure, match=re.escape(message)) as failed:
            use()
        assert failed.value.code == DAMAGED
    assert [it.name for it in tmp_path.rglob("*")] in ([], ["a"], ["a", "b"])
    copies = Copies(url, 1)
    assert "DamagedBucket" in str(copies.answer({"bring": "job"}))
    bucket.put(f"loose/{PLAN}", json.dumps(files).encode() + b"\nplan")
    assert "DamagedBucket" in str(copies.answer({"bring": PLAN}))
    copies.close()


def test_what_is_read_as_a_whole_has_a_bound(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "WHOLE_MAX", 10)
    Bucket(url).put("head", b" " * 11)
    with pytest.raises(Failure, match="the object head has 11 bytes"):
        Storage(url, "", 0).job()


def test_a_process_names_files_in_its_folder_only(url: str, tmp_path: Path) -> None:
    copies = Copies(url, 1)
    mine = tmp_path / "mine"
    mine.write_bytes(b"mine")
    name = os.path.relpath(mine, copies.folder)
    for question in ({"take": name, "new": False}, {"remove": name}, {"bring": name}):
        assert "DamagedBucket" in str(copies.answer(question))
    assert mine.read_bytes() == b"mine"
    assert Bucket(url).keys("") == []


def test_only_what_is_ours_is_opened_in_the_folder_for_temporary_files(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, elsewhere = tmp_path / "temporary", tmp_path / "elsewhere"
    for it in (temporary, elsewhere, temporary / "spillway-copies-of-my-thesis"):
        it.mkdir()
        (it / "file").write_bytes(b"mine")
    os.mkfifo(temporary / "spillway-copies-abcdefgh")
    (temporary / "spillway-copies-abcdefgi").symlink_to(elsewhere)
    (temporary / "spillway-copies-abcdefgj").write_bytes(b"a file")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = sorted(tmp_path.rglob("*"))
    copies = Copies(url, 1)
    copies.close()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_first_copy_that_is_interrupted_is_taken_up(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"answer": b"first", "job": b"job", "levels-000": b"keys", "manifest": b"1"}
    begun(url, tmp_path / "a", files)
    folder, save = tmp_path / "b", Bucket.save
    for whole in range(len(files)):
        saved: list[str] = []

        def interrupted(
            self: Bucket, entry: objects.Entry, path: Path, saved: list[str] = saved
        ) -> None:
            saved.append(path.name)
            if len(saved) > whole:  # noqa: B023
                path.write_bytes(b"ha")
                raise KeyboardInterrupt
            save(self, entry, path)

        monkeypatch.setattr(Bucket, "save", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Mirror(url, folder).pull()
    monkeypatch.setattr(Bucket, "save", save)
    Mirror(url, folder).pull()
    assert {it.name: it.read_bytes() for it in folder.iterdir() if it.suffix != ".new"} == files


def test_an_interrupted_first_session_is_copied_to_the_bucket(url: str, tmp_path: Path) -> None:
    """The driver is killed, or the store fails, before the bucket contains any file."""
    folder = tmp_path / "a"
    storage = Storage(url, str(folder), 0)
    storage.begin()
    # There is no file yet, so the search may start again.
    storage.begin()
    folder.mkdir()
    (folder / "job").write_bytes(b"job")
    (folder / "levels-000").write_bytes(b"keys")
    with pytest.raises(Failure, match="holds a search that was begun for"):
        storage.begin()
    # Another folder is not the recorded one.
    other = Storage(url, str(tmp_path / "b"), 0)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "job").write_bytes(b"other")
    other.take_over(lambda: False)
    with pytest.raises(Failure, match="there is no search"):
        other.job()
    with pytest.raises(Failure, match="another process searches"):
        storage.take_over(lambda: True)
    again = Storage(url, str(folder), 0)
    again.take_over(lambda: False)
    assert again.job() == digest(folder / "job")
    assert sorted(Head.of(Bucket(url)).files) == ["job", "levels-000"]
    assert Bucket(url).keys("begun") == []


def test_what_is_not_of_the_search_is_left_alone(url: str, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    mirror = begun(url, folder, {"job": b"job", "levels-000": b"keys"})
    (folder / "notes.txt").write_bytes(b"mine")
    (folder / "levels-001").symlink_to("/etc/hostname")
    os.mkfifo(folder / "levels-002")
    mirror.push()
    assert sorted(Head.of(Bucket(url)).files) == ["job", "levels-000"]
    for again in (mirror, Mirror(url, folder)):
        again.pull()
        assert (folder / "notes.txt").read_bytes() == b"mine"


def test_two_sittings_are_not_both_kept(url: str, tmp_path: Path) -> None:
    begun(url, tmp_path / "a", {"job": b"job"})
    late = Storage(url, str(tmp_path / "b"), 0)
    with pytest.raises(Stale), late.sitting():
        begun(url, tmp_path / "a", {"job": b"job", "manifest": b"sooner"})


@pytest.fixture
def compare(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Callable[[Runner], None]:
    """Compares a search by tasks in a bucket with the search of one process."""
    model = tmp_path / "grid.dve"
    model.write_text(GRID)

    def compared(runner: Runner) -> None:
        plain = subprocess.run([real.SPILLWAY, "check", model, *FLAGS], stdout=-1, check=True)
        wishes = Wishes(memory="64MiB", tasks=3, thin=50, flags=FLAGS)
        driver = real.driver(tmp_path / "search", runner, wishes, url)
        ended = driver.check(str(model))
        assert (ended.code, counts(ended.report)) == (0, counts(plain.stdout))
        told = capfd.readouterr().err
        for phase in ("expand", "settle", "merge"):
            assert f"{phase}  " in told, told
        # The bucket contains the files of the folder, and nothing else.
        bucket = Bucket(url)
        head = Head.of(bucket)
        assert head.now(bucket) is head
        assert set(bucket.keys("")) == {"head", *(key for key, _ in head.files.values())}
        with Storage(url, "", 0).look() as folder:
            status = subprocess.run([real.SPILLWAY, "status", folder], stdout=-1, check=True)
        assert b"90,000 states" in status.stdout, status

    return compared


NO_BINARY = pytest.mark.skipif(
    not real.SPILLWAY, reason="the variable SPILLWAY names no real binary"
)


@NO_BINARY
def test_a_search_in_a_bucket(
    compare: Callable[[Runner], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The files of this search are small, so pieces are small too.
    monkeypatch.setattr(objects, "PIECE", 1 << 12)
    compare(Processes(MEMORY))


@NO_BINARY
@pytest.mark.ray
def test_machines_and_a_bucket(compare: Callable[[Runner], None]) -> None:
    pytest.importorskip("ray")
    from spillway_ray.by_ray import Cluster  # noqa: PLC0415

    from .machines import several  # noqa: PLC0415

    with several(2) as machines:
        compare(Cluster(machines.address, MEMORY))
