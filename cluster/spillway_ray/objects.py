"""A search whose files lie in an object store: S3, Google's or Azure's, by the package `obstore`.

Objects are never changed, but for one: `head` says which object each file of the search is. It is
replaced only by whoever has seen the last one, so that of two who commit one is told that he is
behind. Until it names them, objects do not count; when it names them no more, they are removed.

    head               {"files": {NAME: [KEY, BYTES]}}
    data/ID-NAME       a file
    loose/NAME         a plan, or a receipt with what its task has written: a line that says which
                       object each of these files is, and the file itself

Ray sends this to its workers by value, as it does `worker`: nothing here uses the package.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Callable

# Files are fetched in pieces of so many bytes, or more where neighbours are wanted, too.
PIECE = 4 << 20

# And so many pieces at a time, at most: they are held in memory, and have to come in half a minute.
AT_ONCE = 8

# How long a store that does not answer is asked again, before it is for the driver to try again.
RETRIES: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=45)}

# How folders with copies are called.
FOLDERS = "spillway-copies-"

# Files of a plan, which stand beside the head.
LOOSE = ("plan-", "receipt-")

# What of a folder is nobody else's: the lock, and what is half written.
PRIVATE_NAME = "lock"
PRIVATE_END = ".new"

# A file: its object, and its length in bytes.
Entry = tuple[str, int]


class Behind(Exception):
    """Somebody else has replaced the head."""


class Same(Exception):
    """An object is the version that is known."""


class AnotherSearch(Exception):
    """A folder holds something that is not of the search in the bucket."""


class Bucket:
    """Objects below a URL. Who may see them is told by the environment, as for other programs."""

    def __init__(self, url: str) -> None:
        import obstore  # noqa: PLC0415
        from obstore.store import from_url  # noqa: PLC0415

        self._obstore: Any = obstore
        self._store: Any = from_url(url, retry_config=RETRIES)

    def get(self, key: str, known: str | None = None) -> tuple[bytes, str] | None:
        """An object, and what tells this version of it from others; `Same` if it is known."""
        options = None if known is None else {"if_none_match": known}
        try:
            got = self._obstore.get(self._store, key, options=options)
        except self._obstore.exceptions.NotModifiedError as error:
            raise Same from error
        except FileNotFoundError:
            return None
        return bytes(got.bytes()), str(got.meta["e_tag"])

    def part(self, key: str, start: int, end: int) -> bytes:
        """Some bytes of an object; `FileNotFoundError` if it is gone."""
        return bytes(self._obstore.get_range(self._store, key, start=start, end=end))

    def save(self, entry: Entry, path: Path) -> None:
        """A whole object as a file."""
        key, size = entry
        with path.open("wb") as file:
            for start in range(0, size, AT_ONCE * PIECE):
                file.write(self.part(key, start, min(size, start + AT_ONCE * PIECE)))

    def put(self, key: str, content: bytes | Path) -> None:
        """Makes an object."""
        self._obstore.put(self._store, key, content)

    def replace(self, key: str, content: bytes, tag: str | None) -> str:
        """Replaces the version of this tag, or makes the first one; `Behind` if it is another.

        Gives its own tag.
        """
        wrong = self._obstore.exceptions
        try:
            mode: Any = "create" if tag is None else {"e_tag": tag}
            return str(self._obstore.put(self._store, key, content, mode=mode)["e_tag"])
        except (wrong.AlreadyExistsError, wrong.PreconditionError) as error:
            raise Behind(str(error)) from error

    def delete(self, keys: list[str]) -> None:
        """Removes objects; it does not matter if there are none."""
        for key in keys:
            with contextlib.suppress(FileNotFoundError):
                self._obstore.delete(self._store, key)

    def keys(self, prefix: str) -> list[str]:
        """All objects whose names begin so."""
        return [it["path"] for some in self._obstore.list(self._store, prefix) for it in some]


@dataclass
class Head:
    """Which object each file of a search is."""

    files: dict[str, Entry] = field(default_factory=dict)
    # None where there is none yet.
    tag: str | None = None

    @staticmethod
    def of(bucket: Bucket) -> Head:
        """That of a bucket, or an empty one."""
        return Head().now(bucket)

    def now(self, bucket: Bucket) -> Head:
        """The last one: itself, if it is."""
        try:
            found = bucket.get("head", self.tag)
        except Same:
            return self
        if found is None:
            return Head()
        return Head(entries(json.loads(found[0])["files"]), found[1])

    def job(self, bucket: Bucket) -> bytes | None:
        """The job of the search."""
        entry = self.files.get("job")
        found = None if entry is None else bucket.get(entry[0])
        return None if found is None else found[0]

    def replaced(self, bucket: Bucket, files: dict[str, Entry]) -> Head:
        """Makes these its files."""
        content = json.dumps({"files": files}).encode()
        return Head(files, bucket.replace("head", content, self.tag))

    def without(self, kept: dict[str, Entry]) -> list[str]:
        """Its objects that are not of these files."""
        left = {key for key, _ in kept.values()}
        return [key for key, _ in self.files.values() if key not in left]


def entries(told: dict[str, Any]) -> dict[str, Entry]:
    """Files as JSON has them."""
    return {name: (key, size) for name, (key, size) in told.items()}


def first_line(error: Exception) -> str:
    """What an error says, without what is below."""
    return (str(error) or type(error).__name__).splitlines()[0][:300]


def upload(bucket: Bucket, path: Path) -> Entry:
    """Makes a file an object that no other is."""
    key = f"data/{uuid.uuid4().hex}-{path.name}"
    bucket.put(key, path)
    return key, path.stat().st_size


@dataclass
class Held:
    """A file that is here, or pieces of it."""

    key: str
    size: int
    # The numbers of the pieces; None for all.
    pieces: set[int] | None
    used: int = 0


def make_folder() -> tuple[Path, int]:
    """A folder of this process, and its lock, which ends with the process however it ends.

    Those of processes that are gone are removed.
    """
    for it in Path(tempfile.gettempdir()).glob(FOLDERS + "*"):
        with contextlib.suppress(OSError), opened(it) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(it, ignore_errors=True)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=FOLDERS))
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        # Somebody has taken it for one of those.
        os.close(lock)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A folder, for as long as it is locked."""
    found = os.open(folder, os.O_RDONLY)
    try:
        yield found
    finally:
        os.close(found)


class Copies:
    """A folder with copies of what a process reads, and with what it writes. It goes at the end."""

    def __init__(self, url: str, limit: int) -> None:
        self._bucket = Bucket(url)
        self._limit = limit
        self.folder, lock = make_folder()
        self._lock: int | None = lock
        self._head = Head()
        # What tasks have written that are not committed, by their receipts or by this process.
        self._loose: dict[str, Entry] = {}
        # What the task that is done now has written.
        self._written: dict[str, Entry] = {}
        self._gone: dict[str, Entry] = {}
        self._held: dict[str, Held] = {}
        self._asked = 0

    def close(self) -> None:
        """Removes the folder, if that was not done before.

        The lock is closed once: its number may be that of another file afterwards.
        """
        lock, self._lock = self._lock, None
        if lock is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(lock)

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Does what the process asks for (`src/cli/asking.rs`)."""
        self._asked += 1
        try:
            if "bring" in question:
                whole = "from" not in question
                span = None if whole else (int(question["from"]), int(question["until"]))
                with contextlib.suppress(FileNotFoundError):
                    return {"done": self._bring(str(question["bring"]), span)}
                # An object that is gone is of what is over.
                return {"done": False}
            if "take" in question:
                return {"done": self._take(str(question["take"]), bool(question["new"]))}
            self._remove(str(question["remove"]))
        except Exception as error:
            # Whatever a store says: the process tells of it, and it is tried again.
            return {"error": f"{type(error).__name__}: {first_line(error)}"}
        return {"done": True}

    def settle(self) -> None:
        """A request has been answered: what it removed is gone, and not too much is kept."""
        self._written = {}
        if self._gone:
            gone, self._gone = self._gone, {}
            # It does not matter if it fails: what nothing names is removed by the next sitting.
            with contextlib.suppress(Exception):
                head = self._head.now(self._bucket)
                kept = {it: entry for it, entry in head.files.items() if gone.get(it) != entry}
                self._head = head.replaced(self._bucket, kept)
                self._bucket.delete(head.without(kept))
        self._shrink()

    def _bring(self, name: str, span: tuple[int, int] | None) -> bool:
        if name.startswith(LOOSE):
            return self._bring_loose(name)
        if span is None:
            # The manifest, or the job: the last one counts. What was for another is over.
            before, self._head = self._head, self._head.now(self._bucket)
            if before.files.get("manifest") != self._head.files.get("manifest"):
                self._loose = {}
        entry = self._loose.get(name) if span is not None else None
        entry = entry or self._head.files.get(name)
        if entry is None:
            return False
        held = self._held.get(name)
        if held is None or (held.key, held.size) != entry:
            held = self._begin(name, entry)
        held.used = self._asked
        self._fetch(name, held, span or (0, held.size))
        return True

    def _begin(self, name: str, entry: Entry) -> Held:
        """A file of holes. The old one keeps its bytes for who has it open."""
        path = self.folder / name
        path.unlink(missing_ok=True)
        with path.open("wb") as file:
            file.truncate(entry[1])
        held = self._held[name] = Held(*entry, pieces=set())
        return held

    def _fetch(self, name: str, held: Held, span: tuple[int, int]) -> None:
        """Fetches of a file the pieces with some bytes that are not here."""
        if held.pieces is None:
            return
        wanted = range(span[0] // PIECE, -(-min(span[1], held.size) // PIECE))
        missing = [it for it in wanted if it not in held.pieces]
        with (self.folder / name).open("r+b") as file:
            while missing:
                first = missing[0]
                count = next((i for i, it in enumerate(missing) if it != first + i), len(missing))
                count = min(count, AT_ONCE)
                start, end = first * PIECE, min((first + count) * PIECE, held.size)
                file.seek(start)
                file.write(self._bucket.part(held.key, start, end))
                held.pieces.update(missing[:count])
                missing = missing[count:]

    def _bring_loose(self, name: str) -> bool:
        found = self._bucket.get(f"loose/{name}")
        if found is None:
            return False
        line, _, content = found[0].partition(b"\n")
        self._loose.update(entries(json.loads(line)))
        new = self.folder / f"{name}.brought"
        new.write_bytes(content)
        new.replace(self.folder / name)
        return True

    def _take(self, name: str, new: bool) -> bool:
        path = self.folder / name
        self._held.pop(name, None)
        if name.startswith(LOOSE):
            content = json.dumps(self._written).encode() + b"\n" + path.read_bytes()
            if not new:
                self._bucket.put(f"loose/{name}", content)
                return True
            try:
                self._bucket.replace(f"loose/{name}", content, None)
            except Behind:
                return False
            return True
        entry = upload(self._bucket, path)
        self._held[name] = Held(*entry, pieces=None, used=self._asked)
        if name != "manifest":
            self._written[name] = self._loose[name] = entry
            return True
        # The commit: what tasks have written counts from here on.
        files = {**self._head.files, **self._loose, name: entry}
        try:
            self._head = self._head.replaced(self._bucket, files)
        except Behind:
            self._held.pop(name)
            self._bucket.delete([entry[0]])
            return False
        self._loose = {}
        return True

    def _remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)
        if name.startswith(LOOSE):
            self._bucket.delete([f"loose/{name}"])
            return
        self._held.pop(name, None)
        self._loose.pop(name, None)
        if name in self._head.files:
            self._gone[name] = self._head.files[name]

    def _shrink(self) -> None:
        """Lets go of the files that were asked for longest ago, if there are too many bytes."""
        sizes = {}
        for name in self._held:
            with contextlib.suppress(FileNotFoundError):
                sizes[name] = (self.folder / name).stat().st_blocks * 512
        for name in sorted(sizes, key=lambda it: self._held[it].used):
            if sum(sizes.values()) <= self._limit:
                break
            sizes.pop(name)
            self._held.pop(name)
            (self.folder / name).unlink(missing_ok=True)


class Mirror:
    """A folder that is, for the time of a sitting, the search itself."""

    def __init__(self, url: str, folder: Path) -> None:
        self.bucket = Bucket(url)
        self._folder = folder
        self._head = Head()
        # What the files of the folder were when they were the bucket's: length, time of change.
        self._known: dict[str, tuple[Entry, tuple[int, int]]] = {}

    def has_search(self) -> bool:
        """Whether there is a search."""
        return bool(Head.of(self.bucket).files)

    def pull(self, is_wanted: Callable[[str], bool] = lambda _: True) -> None:
        """Makes the folder what the bucket has; what is not wanted only in length."""
        self._head = Head.of(self.bucket)
        self._folder.mkdir(parents=True, exist_ok=True)
        if not self._known:
            self._refuse_others()
        for path in self._files():
            if path.name not in self._head.files:
                path.unlink()
        for name, entry in self._head.files.items():
            path = self._folder / name
            known = self._known.get(name)
            if known is not None and known[0] == entry and known[1] == stamp(path):
                continue
            path.unlink(missing_ok=True)
            if is_wanted(name):
                self.bucket.save(entry, path)
            else:
                with path.open("wb") as file:
                    file.truncate(entry[1])
            self._known[name] = entry, stamp(path)

    def _refuse_others(self) -> None:
        """Fails if there is something in the folder that is not of this search."""
        files = self._files()
        if not files:
            return
        ours, theirs = self._folder / "job", self._head.job(self.bucket)
        if theirs is None or not ours.is_file() or ours.read_bytes() != theirs:
            raise AnotherSearch(
                f"{self._folder} is not empty, and not a copy of the search in the object store: "
                "name another folder by `--dir`, or empty it"
            )

    def push(self) -> None:
        """Makes the bucket what the folder has; `Behind` if it is another since it was pulled."""
        files: dict[str, Entry] = {}
        for path in self._files():
            known = self._known.get(path.name)
            if known is None or known[1] != stamp(path):
                known = upload(self.bucket, path), stamp(path)
                self._known[path.name] = known
            files[path.name] = known[0]
        self._head = self._head.replaced(self.bucket, files)
        # Plans were of the manifest before, and what is not named now will never be.
        left = {key for key, _ in files.values()}
        stale = [it for it in self.bucket.keys("data/") if it not in left]
        self.bucket.delete(stale + self.bucket.keys("loose/"))

    def _files(self) -> list[Path]:
        """What of the folder is the search's."""
        files = sorted(it for it in self._folder.iterdir() if it.is_file())
        return [it for it in files if it.name != PRIVATE_NAME and it.suffix != PRIVATE_END]


def stamp(path: Path) -> tuple[int, int]:
    """What tells whether a file was written since; nothing is like that of one that is gone."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


def job_digest(bucket: Bucket) -> str | None:
    """What tells the search in a bucket from others."""
    found = Head.of(bucket).job(bucket)
    return None if found is None else hashlib.sha256(found).hexdigest()
