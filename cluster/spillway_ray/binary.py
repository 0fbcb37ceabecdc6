"""The binary `spillway`: its commands and answers.

A server, `task serve`, answers each request about tasks with a line of JSON. A session, `check` or
`resume`, prints a report, which is kept unchanged: the report of the last session is that of the
run.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import IO, Any

from . import worker
from .failure import STALE, STOPPED, VERIFIED, VIOLATED, Failure, Refused, Stale
from .objects import digest
from .stop import Stop
from .storage import Storage


@dataclass(frozen=True)
class Plan:
    """The next part of the search, as `task plan` prints it."""

    phase: str
    level: int
    states: int
    frontier: int
    transitions: int = 0
    id: str = ""
    tasks: int = 0
    max_states: int | None = None

    @property
    def is_of_tasks(self) -> bool:
        """Whether tasks do it, and not one process."""
        return self.id != ""


# The code of a session without a report. The code of a session that a signal ended is negative,
# too.
NO_RESULT = -1


@dataclass(frozen=True)
class Sitting:
    """The result of a session: one process that searched by itself."""

    code: int
    report: bytes


def read_plan(found: dict[str, Any]) -> Plan:
    """Reads a plan from the output of `task plan`."""
    try:
        phase = str(found["phase"])
        by_tasks = phase not in ("search", "done")
        limit = found.get("max_states")
        return Plan(
            phase=phase,
            level=int(found.get("level") or 0),
            states=int(found.get("states") or 0),
            frontier=int(found.get("frontier") or 0),
            transitions=int(found.get("transitions") or 0),
            id=str(found["plan"]) if by_tasks else "",
            tasks=int(found["tasks"]) if by_tasks else 0,
            max_states=None if limit is None else int(limit),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Failure(f"`spillway task plan` answers {found}, which is not a plan") from error


def refuse_absent(path: str) -> None:
    """Fails if this machine has no such command."""
    if shutil.which(path) is None:
        raise Failure(f"there is no command `{path}`; `--spillway PATH` names the binary")


class Binary:
    """The binary, for one search directory."""

    def __init__(self, path: str, folder: str, stop: Stop, storage: Storage | None = None) -> None:
        # A path is the same on all machines. Each machine searches its PATH for a name.
        self.path = os.path.abspath(path) if os.sep in path else path
        self.folder = folder
        # The object store of the search, if the folder is only a copy for sessions.
        self.storage = storage
        self.stop = stop
        # The server that plans and commits, while it is needed.
        self._server: worker.Server | None = None
        refuse_absent(self.path)
        self.version = self._version()

    def _version(self) -> str:
        told = worker.run([self.path, "--version"], timeout=60)
        if told["code"] != 0:
            raise Failure(f"`{self.path} --version` fails: {told['err'].strip()}")
        return str(told["out"]).strip()

    def fit(self) -> tuple[str, str, str, str]:
        """The values with which `worker.unfit` compares a machine."""
        if self.storage is not None:
            return self.path, self.version, self.storage.url, self.storage.job()
        try:
            job = digest(os.path.join(self.folder, "job"))
        except OSError as error:
            raise Failure(f"there is no search in {self.folder}: {error.strerror}") from error
        return self.path, self.version, self.folder, job

    def has_search(self) -> bool:
        """Whether the folder contains a search."""
        return os.path.lexists(os.path.join(self.folder, "job"))

    def take_over(self) -> None:
        """Copies a search that is only in the folder to its object store."""
        if self.storage is not None:
            self.storage.take_over(self.is_running)

    def server(self, *flags: str) -> worker.Command:
        """The command that starts a server for requests, on any machine."""
        at = self.storage
        place, limit = (self.folder, 0) if at is None else (at.url, at.limit)
        return [self.path, "task", "serve", place, *flags], limit

    @staticmethod
    def task(plan: Plan, task: int) -> str:
        """The request to a server to do one task."""
        return f"run --plan {plan.id} --task {task}"

    def plan(self, tasks: int, thin: int | None) -> Plan:
        """Returns the next plan, with about this number of tasks."""
        more = "" if thin is None else f" --thin {thin}"
        return read_plan(self._ask(f"plan --tasks {tasks}{more}"))

    def commit(self, plan: Plan) -> dict[str, Any]:
        """Commits the results of the tasks of a plan."""
        return self._ask(f"commit --plan {plan.id}")

    def _ask(self, request: str) -> dict[str, Any]:
        if self._server is None or not self._server.is_up:
            self.close()
            self._server = worker.Server(self.server())
        # A request to stop kills the server, which is safe at any time.
        told = self._server.ask(request, stopped=lambda: self.stop.asked > 0)
        lost = worker.is_lost(told)
        if told["code"] == 0 and not lost:
            return dict(told["answer"])
        self.stop.check()
        if told["code"] == STALE:
            raise Stale
        what = request.split(maxsplit=1)[0]
        if lost:
            raise Refused(f"`spillway task {what}` was killed by a signal", STOPPED)
        raise Refused(
            told["err"].strip() or f"`spillway task {what}` fails", told["code"], said=True
        )

    def close(self) -> None:
        """Closes the server."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def is_running(self) -> bool:
        """Whether a process searches in the directory now."""
        told = worker.run([self.path, "status", self.folder, "--json"], timeout=60)
        try:
            return told["code"] == 0 and bool(json.loads(told["out"])["running"])
        except (ValueError, KeyError, TypeError):
            return False

    def sit(self, argv: list[str]) -> Sitting:
        """Runs a session. Its progress is passed on, and its report is kept.

        A request to stop, and the end of this process, stop the session at a checkpoint.
        """
        with contextlib.nullcontext() if self.storage is None else self.storage.sitting():
            return self._sat(argv)

    def _sat(self, argv: list[str]) -> Sitting:
        child = subprocess.Popen(
            worker.leashed([self.path, *argv], signal.SIGTERM),
            stdin=subprocess.DEVNULL,
            stdout=(out := tempfile.TemporaryFile()),  # noqa: SIM115
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert child.stderr is not None
        passing = threading.Thread(target=pass_on, args=(child.stderr,))
        passing.start()
        passed = 0
        with out:
            while True:
                try:
                    child.wait(0.1)
                    break
                except subprocess.TimeoutExpired:
                    if self.stop.asked > passed:
                        passed += 1
                        child.send_signal(signal.SIGTERM if passed == 1 else signal.SIGKILL)
            passing.join()
            out.seek(0)
            return read_sitting(child.returncode, out.read())


def read_sitting(code: int, report: bytes) -> Sitting:
    """The result of a process that searched. A verdict has a report.

    The wrapper of the process may also end with the code of a verdict, if it cannot start it.
    """
    if code in (VERIFIED, VIOLATED) and not report.strip():
        print(f"note: the search ended with exit code {code} without a result", file=sys.stderr)
        return Sitting(NO_RESULT, b"")
    return Sitting(code, report)


def pass_on(source: IO[bytes]) -> None:
    """Passes on the lines of a session, except the one that it stopped: the run continues."""
    with source:
        for line in source:
            if not line.startswith(b"stopped at a checkpoint"):
                sys.stderr.write(line.decode(errors="replace"))
                sys.stderr.flush()
