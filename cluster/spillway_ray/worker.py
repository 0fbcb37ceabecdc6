"""The functions that run on workers: they check whether a machine is fit, and run tasks.

Ray sends these functions and those of `objects` to its workers by value. So workers need Ray, the
binary and the folder, and not this package. For this reason this module uses no other module of the
package except `objects`, and arguments and results are plain: numbers, texts, dictionaries.
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

# The exit code of shells for a command that cannot be run.
CANNOT_RUN = 127

# The exit code of the binary for a failure that may be temporary.
TRY_AGAIN = 3

# The command line of a server and, for a search in an object store, the maximum bytes of copies
# that it keeps.
Command = tuple[list[str], int]

# The index of the directory in the command line.
DIR = 3

# The number of attempts, one second apart, to open a file that another machine has just created.
# Over NFS, the file may become visible later.
LOOKS = 5

# A child that gets a signal when its parent has ended for any reason. The argument `preexec_fn` of
# `Popen` would do the same, but is not safe with the threads of a Ray worker.
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
    """The command that runs another one, which gets signal `number` when this process ends."""
    return [sys.executable, "-I", "-S", "-c", LEASH, str(os.getpid()), str(number), *argv]


class Server:
    """A binary that handles a sequence of requests, so that a model is compiled once."""

    def __init__(self, command: Command) -> None:
        argv, limit = command
        # A search in a bucket has a folder with copies.
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
        """Whether it accepts requests."""
        return not self._is_closed and self._child.poll() is None

    def ask(
        self,
        request: str,
        timeout: float | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> dict[str, Any]:
        """Returns the result of a request. A timeout or a request to stop kills the server."""
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
        # A server that ended by itself is not killed, since its last messages are reported.
        err = self.close(kill=line is None)
        return {**told, "code": self._child.returncode, "err": err}

    def _put(self, request: str) -> bytes | None:
        """Sends a request. Returns an empty line if the server has ended."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(request.encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            return b""
        return None

    def _line(self) -> bytes | None:
        """Returns a line of the server: None if there is none yet, an empty one at the end."""
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
        """Ends the server, and returns its standard error. A request in progress is lost.

        It may be closed several times: by its owner, and after the server was found to have ended.
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
        # A process that waits for an unresponsive disk can neither be killed nor waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(10)
        if self._copies is not None:
            self._copies.close()
        with self._err as err:
            err.seek(0)
            return err.read().decode(errors="replace")


def is_bucket(place: str) -> bool:
    """Whether a search is in an object store, not in a folder."""
    return "://" in place


def asks(line: bytes) -> dict[str, Any] | None:
    """Returns the question of a server before its answer, or None."""
    with contextlib.suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict) and "code" not in found:
            return found
    return None


def read_answer(line: bytes) -> dict[str, Any]:
    """Reads the line of a server: a code, and an object or an error."""
    try:
        found = json.loads(line)
        return {"code": int(found["code"]), "err": str(found.get("error", "")), "answer": found}
    except (ValueError, KeyError, TypeError, AttributeError):
        shown = line.decode(errors="replace").strip()[:200]
        error = f"error: `spillway task serve` answers {shown!r}, not an object of JSON"
        return {"code": 2, "err": error, "answer": None}


def is_lost(told: dict[str, Any]) -> bool:
    """Whether the process is lost: it ended without an answer, or by a signal, as when a machine
    runs out of memory."""
    code = told["code"]
    return code is None or code < 0 or (code == 0 and told["answer"] is None)


def run(argv: list[str], timeout: float) -> dict[str, Any]:
    """Runs a short command to its end, or until the timeout."""
    pipe = subprocess.PIPE
    none = subprocess.DEVNULL
    child = subprocess.Popen(
        leashed(argv, 9), stdin=none, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        out, err = (it.decode(errors="replace") for it in child.communicate(timeout=timeout))
    except subprocess.TimeoutExpired:
        # No wait: a process that waits for an unresponsive disk cannot be killed.
        child.kill()
        return {"code": None, "out": "", "err": f"it does not end in {timeout:g} s"}
    return {"code": child.returncode, "out": out, "err": err}


def unfit(binary: str, version: str, folder: str, job: str) -> str | None:
    """Returns the reason why this machine is unfit, or None.

    A machine is fit if its binary has the version of the driver's, and it sees the same search.
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
    problem = "the folder was not checked"
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
    """Returns the reason why a machine is unfit for a search in a bucket, or None."""
    try:
        found = job_digest(Bucket(url))
    except Exception as error:
        # Any error of the store, or a missing package.
        return f"{host}: {url} cannot be read there: {first_line(error)}"
    if found is None:
        return f"{host}: {url} holds no search there: it is not the driver's"
    if found != job:
        return f"{host}: {url} holds another search there"
    return None


# The server of each thread of this process, with its command and search.
SERVERS: dict[int, tuple[Any, Server]] = {}


def work(
    command: Command,
    request: str,
    fit: tuple[str, str, str, str],
    timeout: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Runs one task on a server. Checks first that this machine, which may be new, is fit."""
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
        # The task may succeed when it is repeated here or elsewhere.
        host, why = socket.gethostname(), f"{type(error).__name__}: {first_line(error)}"
        err = f"error: the task cannot be run: {why}"
        return {"code": TRY_AGAIN, "err": err, "host": host, "late": False, "answer": None}


def let_go(*threads: int) -> None:
    """Ends the servers of these threads of this process, or all servers."""
    for thread in threads or list(SERVERS):
        if thread in SERVERS:
            SERVERS.pop(thread)[1].close()
