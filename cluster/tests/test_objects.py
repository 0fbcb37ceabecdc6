"""Files that lie in an object store: what a process that does tasks sees of them, and a sitting."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest

from spillway_ray import objects, worker
from spillway_ray.driver import Wishes
from spillway_ray.failure import Failure, Stale
from spillway_ray.objects import PIECE, Behind, Bucket, Copies, Head, Mirror
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


def begun(url: str, folder: Path, files: dict[str, bytes]) -> Mirror:
    """A search whose folder has been taken to the bucket."""
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


def test_what_is_closed_twice_closes_nothing_else(url: str) -> None:
    """A server that is lost is closed by whoever finds it gone, and by its owner."""
    script = "import os, sys; sys.stdin.readline(); os._exit(1)"
    server = worker.Server(([sys.executable, "-c", script, url], 0))
    told = server.ask("run")
    assert (told["code"], told["answer"]) == (1, None)
    # The numbers of what was closed are those of other files now.
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
    begun(url, tmp_path / "a", {"job": b"job", "manifest": b"first", "old-000": b"old"})
    driver, worker, other = (Copies(url, 1 << 30) for _ in range(3))
    assert bring(driver, "manifest")
    assert take(driver, "plan-1", b"plan", new=True)
    assert not take(other, "plan-1", b"another", new=True)
    assert bring(other, "plan-1")
    assert (other.folder / "plan-1").read_bytes() == b"plan"
    # The worker writes a file, and what is done twice is one of two objects.
    for it in (worker, other):
        assert bring(it, "manifest")
        assert take(it, "merged-1", b"keys")
        assert take(it, "receipt-1-0", b"receipt")
        it.settle()
    assert not bring(driver, "merged-1", 0, 4)
    assert not bring(driver, "receipt-1-1")
    assert bring(driver, "receipt-1-0")
    assert (driver.folder / "receipt-1-0").read_bytes() == b"receipt"
    assert bring(driver, "merged-1", 0, 4)
    # Whoever is behind does not commit.
    assert take(driver, "manifest", b"second")
    assert not take(other, "manifest", b"other")
    for name in ("old-000", "plan-1", "receipt-1-0"):
        assert driver.answer({"remove": name}) == {"done": True}
    driver.settle()
    bucket = Bucket(url)
    head = Head.of(bucket)
    assert sorted(head.files) == ["job", "manifest", "merged-1"]
    assert bucket.keys("loose/") == []
    assert not bring(driver, "plan-1")
    assert bring(other, "manifest")
    assert (other.folder / "manifest").read_bytes() == b"second"
    assert bring(other, "merged-1", 0, 4)
    assert not bring(other, "old-000", 0, 1)


def test_what_a_store_says_is_told(url: str, tmp_path: Path) -> None:
    begun(url, tmp_path / "a", {"job": b"job", "levels-000": b"keys"})
    copies = Copies(url, 1 << 30)
    assert bring(copies, "job")
    bucket = Bucket(url)
    # An object that is gone is of what is over; whatever else fails may go better once more.
    bucket.delete([Head.of(bucket).files["levels-000"][0]])
    assert copies.answer({"bring": "levels-000", "from": 0, "until": 4}) == {"done": False}
    assert "error" in copies.answer({"take": "levels-001", "new": False})
    assert "error" in copies.answer({"nothing": "that there is"})


def test_a_sitting_has_all_and_takes_it_back(url: str, tmp_path: Path) -> None:
    one = begun(url, tmp_path / "a", {"job": b"job", "manifest": b"1", "levels-000": b"keys"})
    bucket = Bucket(url)
    bucket.put("loose/plan-1", b"{}\nplan")
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
    # The first has gone by what is over.
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
        Storage(url, str(folder), 0).refuse_search()
    with pytest.raises(Failure, match="there is no search"):
        Storage(new_url(), str(folder), 0).job()
    with pytest.raises(Failure, match="--storage nothing://there"):
        Storage("nothing://there", str(folder), 0)


def test_two_sittings_are_not_both_kept(url: str, tmp_path: Path) -> None:
    begun(url, tmp_path / "a", {"job": b"job"})
    late = Storage(url, str(tmp_path / "b"), 0)
    with pytest.raises(Stale), late.sitting():
        begun(url, tmp_path / "a", {"job": b"job", "manifest": b"sooner"})


@pytest.fixture
def compare(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Callable[[Runner], None]:
    """A search in tasks that lies in a bucket comes to what one process comes to."""
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
        # What is there is what the folder has, and nothing else.
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
    # Files of this search are small.
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
