"""A search in an object store of S3, Google or Azure, by the package `obstore`.

Objects are immutable, except `head`, which maps each file of the search to its object. `head` is
replaced only on the condition that its version has not changed. So if two processes commit, one of
them fails with `Behind`. An object counts from the time when `head` names it. An object that `head`
no longer names is removed.

    head               {"files": {NAME: [KEY, BYTES]}}
    data/ID-NAME       a file
    loose/NAME         a plan, or a receipt: a line that maps each file that the task has written
                       to its object, and the file itself
    begun              {"host": HOST, "folder": FOLDER}, while there is no head: the place of the
                       first session, from which the search can still be copied to the bucket

A bucket is not trusted: its contents may be arbitrary. So names and keys are matched with complete
patterns before a file is opened or an object removed, and objects that are read whole have a bound.

Ray sends this module to its workers by value, like `worker`: it uses no other module of the
package.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
import stat
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, Callable

# The size in bytes of the pieces in which files are fetched. Adjacent pieces are fetched together.
PIECE = 4 << 20

# The maximum number of pieces in one request. They are in memory, and must arrive in half a minute.
AT_ONCE = 8

# The retries for a store that does not answer. After them, the driver tries again.
RETRIES: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=45)}

# The prefix of the names of folders with copies.
FOLDERS = "spillway-copies-"

# Files of a plan, which `head` does not contain.
LOOSE = ("plan-", "receipt-")

# The names that `mkdtemp` gives to folders with copies.
FOLDER_NAME = re.compile(re.escape(FOLDERS) + "[a-z0-9_]{8}")

# The file that identifies the search of a folder, and its name while it is written.
JOB, NEW_JOB = "job", "job.new"

# The lock of a folder, which is never copied.
LOCK = "lock"

# The names of the files of a search: those of `crates/spillway-search/src/files.rs`, without the
# lock and unfinished files.
PLAN_ID = "[0-9]{8,10}-(?:expand|settle|merge)-[0-9a-f]{12}"
FILE_NAME = re.compile(
    "job|means|sitting|manifest|cycles|proviso|answer|eventually|events[.]jsonl|status[.]json"
    "|temporary"
    "|(?:levels|changes)-[0-9]{3,5}"
    "|merged-[0-9]{8,10}-[0-9]{8,10}-[0-9]{3,5}"
    "|(?:candidates|obligations|marks|layer)-[0-9]{8,10}-[0-9]{3,5}"
    "|(?:frontier|fresh|carried)-[0-9]{8,10}"
    f"|region-000|plan-{PLAN_ID}|receipt-{PLAN_ID}-[0-9]{{5,10}}"
)

# The key of a file: a unique number, and the name.
KEY = re.compile("data/[0-9a-f]{32}-(.*)")

# The maximum size in bytes of an object that is read whole: the head, a job, a plan, a receipt.
WHOLE_MAX = 256 << 20

# The key of the object with the place of the first session.
BEGUN = "begun"

# A file: the key of its object, and its length in bytes.
Entry = tuple[str, int]


class Behind(Exception):
    """Another process has replaced the head."""


class Same(Exception):
    """An object still has the known version."""


class AnotherSearch(Exception):
    """A folder contains something other than the search in the bucket."""


class DamagedBucket(Exception):
    """A bucket contains something that no search writes."""


class Bucket:
    """Objects below a URL. Environment variables give the credentials, as for other programs."""

    def __init__(self, url: str) -> None:
        import obstore  # noqa: PLC0415
        from obstore.store import from_url  # noqa: PLC0415

        self._obstore: Any = obstore
        self._store: Any = from_url(url, retry_config=RETRIES)

    def get(self, key: str, known: str | None = None) -> tuple[bytes, str] | None:
        """Returns an object and the tag of its version. Raises `Same` for the known version."""
        options = None if known is None else {"if_none_match": known}
        try:
            got = self._obstore.get(self._store, key, options=options)
        except self._obstore.exceptions.NotModifiedError as error:
            raise Same from error
        except FileNotFoundError:
            return None
        if int(got.meta["size"]) > WHOLE_MAX:
            raise DamagedBucket(f"the object {key} has {got.meta['size']:,} bytes")
        return bytes(got.bytes()), str(got.meta["e_tag"])

    def part(self, key: str, start: int, end: int) -> bytes:
        """Returns a range of bytes of an object. Raises `FileNotFoundError` if it is gone."""
        return bytes(self._obstore.get_range(self._store, key, start=start, end=end))

    def save(self, entry: Entry, path: Path) -> None:
        """Writes a whole object to a file."""
        key, size = entry
        with made(path) as file:
            for start in range(0, size, AT_ONCE * PIECE):
                file.write(self.part(key, start, min(size, start + AT_ONCE * PIECE)))

    def put(self, key: str, content: bytes | Path) -> None:
        """Creates an object."""
        self._obstore.put(self._store, key, content)

    def replace(self, key: str, content: bytes, tag: str | None) -> str:
        """Replaces the version with this tag, or creates the first one. Returns the new tag.

        Raises `Behind` if the object has another version.
        """
        wrong = self._obstore.exceptions
        try:
            mode: Any = "create" if tag is None else {"e_tag": tag}
            return str(self._obstore.put(self._store, key, content, mode=mode)["e_tag"])
        except (wrong.AlreadyExistsError, wrong.PreconditionError) as error:
            raise Behind(str(error)) from error

    def delete(self, keys: list[str]) -> None:
        """Removes objects. Missing ones are ignored."""
        for key in keys:
            with contextlib.suppress(FileNotFoundError):
                self._obstore.delete(self._store, key)

    def keys(self, prefix: str) -> list[str]:
        """Returns the keys of all objects with a prefix."""
        return [it["path"] for some in self._obstore.list(self._store, prefix) for it in some]


@dataclass
class Head:
    """Maps each file of a search to its object."""

    files: dict[str, Entry] = field(default_factory=dict)
    # The tag of the version; None if there is no head yet.
    tag: str | None = None

    @staticmethod
    def of(bucket: Bucket) -> Head:
        """Returns the head of a bucket, or an empty one."""
        return Head().now(bucket)

    def now(self, bucket: Bucket) -> Head:
        """Returns the current head, which is this one if it has not changed."""
        try:
            found = bucket.get("head", self.tag)
        except Same:
            return self
        if found is None:
            return Head()
        return Head(read_files(found[0], "files"), found[1])

    def job(self, bucket: Bucket) -> bytes | None:
        """Returns the job of the search."""
        entry = self.files.get("job")
        found = None if entry is None else bucket.get(entry[0])
        return None if found is None else found[0]

    def replaced(self, bucket: Bucket, files: dict[str, Entry]) -> Head:
        """Replaces the head by one with these files."""
        content = json.dumps({"files": files}).encode()
        return Head(files, bucket.replace("head", content, self.tag))

    def without(self, kept: dict[str, Entry]) -> list[str]:
        """Returns the keys of its objects that are not those of these files."""
        left = {key for key, _ in kept.values()}
        return [key for key, _ in self.files.values() if key not in left]


def read_files(text: bytes, member: str | None = None) -> dict[str, Entry]:
    """Reads the map of files to objects from JSON. Raises `DamagedBucket` for other texts."""
    try:
        told = json.loads(text)
        found = (told if member is None else told[member]).items()
        return {name: read_entry(name, *entry) for name, entry in found}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedBucket(f"`{shown(text)}` does not say which files a search has") from error


def read_entry(name: str, key: str, size: int) -> Entry:
    """Checks the name of a file and the key of its object, since the bucket is not trusted."""
    if not FILE_NAME.fullmatch(name):
        raise DamagedBucket(f"no file of a search has the name `{shown(name)}`")
    found = KEY.fullmatch(key)
    if found is None or found[1] != name:
        raise DamagedBucket(f"no object of `{name}` has the key `{shown(key)}`")
    if type(size) is not int or not 0 <= size < 1 << 62:
        raise DamagedBucket(f"`{name}` cannot have `{shown(size)}` bytes")
    return key, size


def shown(text: object) -> str:
    """Returns the beginning of an untrusted text, without control characters."""
    found = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    return "".join(it if it.isprintable() else "?" for it in found[:100])


def is_regular(path: Path) -> bool:
    """Whether a file is a regular file, and not a link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def read_regular(path: str | Path) -> Iterator[bytes]:
    """Reads a regular file. Fails for anything else, such as a link or a FIFO, without waiting for
    it."""
    found = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(found, "rb") as file:
        if not stat.S_ISREG(os.fstat(found).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        while piece := file.read(PIECE):
            yield piece


def digest(path: str | Path) -> str:
    """Returns the digest of a file."""
    found = hashlib.sha256()
    for piece in read_regular(path):
        found.update(piece)
    return found.hexdigest()


def made(path: Path) -> BinaryIO:
    """Creates a new file. Removes a file with its name, and never writes to that."""
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return open(os.open(path, flags, 0o666), "wb")


def first_line(error: Exception) -> str:
    """Returns the first line of the message of an error."""
    return (str(error) or type(error).__name__).splitlines()[0][:300]


def upload(bucket: Bucket, path: Path) -> Entry:
    """Uploads a file to a new object."""
    key = f"data/{uuid.uuid4().hex}-{path.name}"
    bucket.put(key, path)
    return key, path.stat().st_size


@dataclass
class Held:
    """A file of the folder, with some or all of its pieces."""

    key: str
    size: int
    # The numbers of the present pieces; None for all.
    pieces: set[int] | None
    used: int = 0


def make_folder() -> tuple[Path, int]:
    """Creates a folder of this process, and its lock, which the end of the process releases.

    Folders of ended processes are removed. Other users may write to the folder for temporary files.
    So only folders of the same user with a complete name are opened.
    """
    for it in Path(tempfile.gettempdir()).glob(FOLDERS + "*"):
        if FOLDER_NAME.fullmatch(it.name):
            with contextlib.suppress(OSError), opened(it) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(it, ignore_errors=True)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=FOLDERS))
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        # Another process has removed it as the folder of an ended process.
        os.close(lock)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Opens a folder of this user, without waiting for anything that is not a folder."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    found = os.open(folder, flags)
    try:
        if os.fstat(found).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
        yield found
    finally:
        os.close(found)


class Copies:
    """A temporary folder with copies of the files that a process reads and writes."""

    def __init__(self, url: str, limit: int) -> None:
        self._bucket = Bucket(url)
        self._limit = limit
        self.folder, lock = make_folder()
        self._lock: int | None = lock
        self._head = Head()
        # Files of uncommitted tasks, from their receipts or written by this process.
        self._loose: dict[str, Entry] = {}
        # Files that the current task has written.
        self._written: dict[str, Entry] = {}
        self._gone: dict[str, Entry] = {}
        self._held: dict[str, Held] = {}
        self._asked = 0

    def close(self) -> None:
        """Removes the folder, unless it was removed before.

        The lock is closed once, since another file may get its number afterwards.
        """
        lock, self._lock = self._lock, None
        if lock is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(lock)

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Handles a request of the process (`src/cli/stdio_origin.rs`)."""
        self._asked += 1
        try:
            for it in ("bring", "take", "remove"):
                if it in question and Path(name := str(question[it])).name != name:
                    raise DamagedBucket(f"no file of a search has the name `{shown(name)}`")
            if "bring" in question:
                whole = "from" not in question
                span = None if whole else (int(question["from"]), int(question["until"]))
                with contextlib.suppress(FileNotFoundError):
                    return {"done": self._bring(str(question["bring"]), span)}
                # A missing object belongs to an earlier plan.
                return {"done": False}
            if "take" in question:
                return {"done": self._take(str(question["take"]), bool(question["new"]))}
            self._remove(str(question["remove"]))
        except Exception as error:
            # Any error of the store: the process reports it, and the request is repeated.
            return {"error": f"{type(error).__name__}: {first_line(error)}"}
        return {"done": True}

    def settle(self) -> None:
        """Ends a request: removes objects of removed files, and limits the size of the folder."""
        self._written = {}
        if self._gone:
            gone, self._gone = self._gone, {}
            # A failure is harmless: the next session removes objects that `head` does not name.
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
            # The manifest or the job: the last version counts. Files for another one are obsolete.
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
        """Creates a sparse file. Processes that have the old file open keep its contents."""
        with made(self.folder / name) as file:
            file.truncate(entry[1])
        held = self._held[name] = Held(*entry, pieces=set())
        return held

    def _fetch(self, name: str, held: Held, span: tuple[int, int]) -> None:
        """Fetches the missing pieces of a range of a file."""
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
        self._loose.update(read_files(line))
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
        # The commit: the files of tasks count from here on.
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
        """Removes the least recently used files while the folder exceeds its limit."""
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
    """A folder with the whole search during a session."""

    def __init__(self, url: str, folder: Path) -> None:
        self.bucket = Bucket(url)
        self._folder = folder
        self._head = Head()
        # The files of the folder that equal those of the bucket: length and modification time.
        self._known: dict[str, tuple[Entry, tuple[int, int]]] = {}

    def has_search(self) -> bool:
        """Whether the bucket contains a search."""
        return bool(Head.of(self.bucket).files)

    def begin(self) -> None:
        """Records the place of the first session in the bucket."""
        self.bucket.put(BEGUN, json.dumps(self._here()).encode())

    def is_begun_here(self) -> bool:
        """Whether the folder contains a search that is not yet in the bucket."""
        found = self.bucket.get(BEGUN)
        if found is None or not is_regular(self._folder / JOB):
            return False
        with contextlib.suppress(ValueError):
            return bool(json.loads(found[0]) == self._here())
        return False

    def _here(self) -> dict[str, str]:
        return {"host": socket.gethostname(), "folder": str(self._folder.absolute())}

    def pull(self, is_wanted: Callable[[str], bool] = lambda _: True) -> None:
        """Copies the bucket to the folder. Unwanted files get only their length."""
        self._head = Head.of(self.bucket)
        self._folder.mkdir(parents=True, exist_ok=True)
        if not self._known:
            self._refuse_others()
        for path in self._files():
            if path.name not in self._head.files:
                path.unlink()
        # The job is first, and written atomically. It identifies the folder as a copy of the search
        # if this process is killed before all other files are written.
        for name, entry in sorted(self._head.files.items(), key=lambda it: it[0] != JOB):
            path = self._folder / name
            known = self._known.get(name)
            if known is not None and known[0] == entry and known[1] == stamp(path):
                continue
            if name == JOB:
                self.bucket.save(entry, self._folder / NEW_JOB)
                (self._folder / NEW_JOB).replace(path)
            elif is_wanted(name):
                self.bucket.save(entry, path)
            else:
                with made(path) as file:
                    file.truncate(entry[1])
            self._known[name] = entry, stamp(path)

    def _refuse_others(self) -> None:
        """Fails if the folder contains files that are not of this search."""
        if all(it.name in (LOCK, NEW_JOB) for it in self._folder.iterdir()):
            return
        ours, theirs = self._folder / JOB, self._head.job(self.bucket)
        is_same = theirs is not None and is_regular(ours)
        if not is_same or digest(ours) != hashlib.sha256(theirs or b"").hexdigest():
            raise AnotherSearch(
                f"{self._folder} is not empty, and not a copy of the search in the object store: "
                "name another folder by `--dir`, or empty it"
            )

    def push(self) -> None:
        """Copies the folder to the bucket. Raises `Behind` if the bucket changed since `pull`."""
        files: dict[str, Entry] = {}
        for path in self._files():
            known = self._known.get(path.name)
            if known is None or known[1] != stamp(path):
                known = upload(self.bucket, path), stamp(path)
                self._known[path.name] = known
            files[path.name] = known[0]
        self._head = self._head.replaced(self.bucket, files)
        # Plans belong to the previous manifest. Objects that `head` does not name now are obsolete.
        left = {key for key, _ in files.values()}
        stale = [it for it in self.bucket.keys("data/") if it not in left]
        self.bucket.delete([*stale, *self.bucket.keys("loose/"), BEGUN])

    def _files(self) -> list[Path]:
        """Returns the files of the search. Other files are neither copied nor removed."""
        files = sorted(self._folder.iterdir())
        return [it for it in files if FILE_NAME.fullmatch(it.name) and is_regular(it)]


def stamp(path: Path) -> tuple[int, int]:
    """Returns the length and modification time of a file; (-1, -1) for a missing file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


def job_digest(bucket: Bucket) -> str | None:
    """Returns the digest that identifies the search in a bucket, or None."""
    found = Head.of(bucket).job(bucket)
    return None if found is None else hashlib.sha256(found).hexdigest()
