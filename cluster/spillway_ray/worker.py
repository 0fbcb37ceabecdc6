"""What is done where the work is: look whether a machine is fit, have the binary do tasks there.

Ray sends these functions to its workers by value, and those of `objects`, so that workers need Ray,
the binary and the folder, and not this package. So nothing here uses the rest of the package, and
what goes to and fro is plain: numbers, texts, dictionaries.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Callable

from .objects import Bucket, Copies, digest, first_line, job_digest

# What cannot be run, as shells have it.
CANNOT_RUN = 127

# The exit code of the binary for what may succeed when it is tried again.
TRY_AGAIN = 3

# The command line of a server, and how many bytes of copies it may keep, where the search lies in
# an object store.
Command = tuple[list[str], int]

# Where in it the directory is.
DIR = 3

# How often, a second apart, a file that others have just made is looked for: over NFS that may take
# a moment.
LOOKS = 5

# A child that gets a signal when its parent is gone, whatever became of that. A function that
# `Popen` calls before the program would do, but is not safe beside the threads of a Ray worker.
LEASH = """
import ctypes, os, sys
parent, number, program = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
try:
    ctypes.CDLL(None).prctl(1, number)
except Exception:
    pass
if os.getppid() != parent:
    os._exit(127)
try:
    os.execvp(program[0], program)
except Exception as error:
    print(f"error: cannot run {program[0]}: {error}", file=sys.stderr)
    sys.exit(127)
"""


def leashed(argv: list[str], number: int) -> list[str]:
    """The command that runs another, which gets signal `number` when this process is gone."""
    return [sys.executable, "-I", "-S", "-c", LEASH, str(os.getpid()), str(number), *argv]


class Server:
    """A binary that does one request after another, so that a model is compiled once."""

    def __init__(self, command: Command) -> None:
        argv, limit = command
        # Where the search lies in a bucket, it has a folder with copies.
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        self._copies = Copies(argv[DIR], limit) if is_bucket(argv[DIR]) else None
        if self._copies is not None:
            argv = [*argv[:DIR], str(self._copies.folder), "--asks", *argv[DIR + 1 :]]
        self._rest = b""
        self._is_closed = False
        try:
            self._child = subprocess.Popen(
                leashed(argv, 9),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._err,
                start_new_session=True,
            )
        except BaseException:
            if self._copies is not None:
                self._copies.close()
            raise

    @property
    def is_up(self) -> bool:
        """Whether it takes requests."""
        return not self._is_closed and self._child.poll() is None

    def ask(
        self,
        request: str,
        timeout: float | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> dict[str, Any]:
        """What comes of a request. It is killed where that is late, or somebody says stop."""
        until = None if timeout is None else time.monotonic() + timeout
        late = False
        try:
            line = self._put(request) if self.is_up else b""
            while line is None and not late and not stopped():
                late = until is not None and time.monotonic() > until
                line = self._line()
                if line and self._copies is not None and (question := asks(line)) is not None:
                    line = self._put(json.dumps(self._copies.answer(question)))
        except BaseException:
            self.close()
            raise
        told: dict[str, Any] = {"late": late, "host": socket.gethostname(), "answer": None}
        if line:
            if self._copies is not None:
                self._copies.settle()
            return {**told, **read_answer(line)}
        # What ended by itself is let do so, as what it says last is told.
        err = self.close(kill=line is None)
        return {**told, "code": self._child.returncode, "err": err}

    def _put(self, request: str) -> bytes | None:
        """Gives it a request; nothing is its answer if it is gone."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(request.encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            return b""
        return None

    def _line(self) -> bytes | None:
        """A line that it says; none if there is none yet, an empty one if there never will be."""
        assert self._child.stdout is not None
        ready, _, _ = select.select([self._child.stdout], [], [], 0.1)
        if not ready:
            return None
        more = os.read(self._child.stdout.fileno(), 1 << 16)
        if not more:
            return b""
        line, end, rest = (self._rest + more).partition(b"\n")
        self._rest = rest if end else line
        return line + end if end else None

    def close(self, kill: bool = True) -> str:
        """Ends it, and gives what it said on standard error. What it is at is lost.

        It may be closed again: whoever finds it gone closes it, and so does its owner.
        """
        if self._is_closed:
            return ""
        if kill and self.is_up:
            self._child.kill()
        self._is_closed = True
        for pipe in (self._child.stdin, self._child.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        # One that waits for a disk that does not answer cannot be killed, nor waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(10)
        if self._copies is not None:
            self._copies.close()
        with self._err as err:
            err.seek(0)
            return err.read().decode(errors="replace")


def is_bucket(place: str) -> bool:
    """Whether a search lies in an object store, not in a folder."""
    return "://" in place


def asks(line: bytes) -> dict[str, Any] | None:
    """What a server asks for before it answers, if it does."""
    with contextlib.suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict) and "code" not in found:
            return found
    return None


def read_answer(line: bytes) -> dict[str, Any]:
    """What the line of a server says: a code, and an object or an error."""
    try:
        found = json.loads(line)
        return {"code": int(found["code"]), "err": str(found.get("error", "")), "answer": found}
    except (ValueError, KeyError, TypeError, AttributeError):
        shown = line.decode(errors="replace").strip()[:200]
        error = f"error: `spillway task serve` answers {shown!r}, not an object of JSON"
        return {"code": 2, "err": error, "answer": None}


def is_lost(told: dict[str, Any]) -> bool:
    """Whether who was asked is gone: ended by a signal, as where a machine has no memory left, or
    without an answer."""
    code = told["code"]
    return code is None or code < 0 or (code == 0 and told["answer"] is None)


def run(argv: list[str], timeout: float) -> dict[str, Any]:
    """Runs a short command to its end, or until it is late."""
    pipe = subprocess.PIPE
    none = subprocess.DEVNULL
    child = subprocess.Popen(
        leashed(argv, 9), stdin=none, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        out, err = (it.decode(errors="replace") for it in child.communicate(timeout=timeout))
    except subprocess.TimeoutExpired:
        # It is not waited for: what waits for a disk that does not answer cannot be killed.
        child.kill()
        return {"code": None, "out": "", "err": f"it does not end in {timeout:g} s"}
    return {"code": child.returncode, "out": out, "err": err}


def unfit(binary: str, version: str, folder: str, job: str) -> str | None:
    """Why this machine cannot work in the folder; None if it can.

    It can if its binary is of the same version as the driver's and it sees the same search there.
    """
    host = socket.gethostname()
    told = run([binary, "--version"], timeout=60)
    if told["code"] == CANNOT_RUN:
        return f"{host}: no `{binary}` can be run there"
    found = told["out"].strip()
    if told["code"] != 0:
        return f"{host}: `{binary} --version` fails with {told['code']}: {told['err'].strip()}"
    if found != version:
        return f"{host}: its `{binary}` is {found}, the driver's is {version}"
    if is_bucket(folder):
        return unseen(host, folder, job)
    problem = "is never looked at"
    for look in range(LOOKS):
        if look > 0:
            time.sleep(1)
        try:
            if digest(os.path.join(folder, "job")) == job:
                return None
            problem = f"{folder} holds another search there"
        except FileNotFoundError:
            problem = f"{folder} is not there, or holds no search: it is not the driver's folder"
        except OSError as error:
            problem = f"{folder} cannot be read there: {error.strerror}"
    return f"{host}: {problem}"


def unseen(host: str, url: str, job: str) -> str | None:
    """Why a machine cannot work on a search in a bucket."""
    try:
        found = job_digest(Bucket(url))
    except Exception as error:
        # Whatever the store says, or that there is no package for it.
        return f"{host}: {url} cannot be read there: {first_line(error)}"
    if found is None:
        return f"{host}: {url} holds no search there: it is not the driver's"
    if found != job:
        return f"{host}: {url} holds another search there"
    return None


# The server of each thread of this process, and what it was started for.
SERVERS: dict[int, tuple[Any, Server]] = {}


def work(
    command: Command,
    request: str,
    fit: tuple[str, str, str, str],
    timeout: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Has a server do one task, if this machine is fit: it may have come since the search began."""
    thread, wanted = threading.get_ident(), (command, fit)
    try:
        found, server = SERVERS.get(thread, (None, None))
        if server is None or found != wanted or not server.is_up:
            let_go(thread)
            why = unfit(*fit)
            if why is not None:
                return {"unfit": why}
            server = Server(command)
            SERVERS[thread] = wanted, server
        return server.ask(request, timeout, stopped)
    except Exception as error:
        # The task may succeed when it is tried again, here or elsewhere.
        host, why = socket.gethostname(), f"{type(error).__name__}: {first_line(error)}"
        err = f"error: the task cannot be run: {why}"
        return {"code": TRY_AGAIN, "err": err, "host": host, "late": False, "answer": None}


def let_go(*threads: int) -> None:
    """Ends the servers of some threads of this process, or all of them."""
    for thread in threads or list(SERVERS):
        if thread in SERVERS:
            SERVERS.pop(thread)[1].close()
