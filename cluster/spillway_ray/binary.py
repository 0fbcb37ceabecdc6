"""The binary `spillway`: how it is called, and what it answers.

A server, `task serve`, answers each request about tasks by a line of JSON; a sitting, `check` or
`resume`, by a report that is kept as it is, since the last one is the run's.
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
    """What is to be done next, as `task plan` says it."""

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
        """Whether it is done by tasks, not by one process."""
        return self.id != ""


# The code of a sitting that said nothing. The codes of those that a signal ended are negative, too.
NO_RESULT = -1


@dataclass(frozen=True)
class Sitting:
    """What became of a process that searched by itself."""

    code: int
    report: bytes


def read_plan(found: dict[str, Any]) -> Plan:
    """A plan, of what `task plan` printed."""
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
        raise Failure(f"`spillway task plan` answers {found}, which is no plan") from error


def refuse_absent(path: str) -> None:
    """Fails if nothing can be called so here."""
    if shutil.which(path) is None:
        raise Failure(f"there is no command `{path}`; `--spillway PATH` says where it is")


class Binary:
    """A binary, for one search directory."""

    def __init__(self, path: str, folder: str, stop: Stop, storage: Storage | None = None) -> None:
        # A path is the same on all machines; a name is looked for on each.
        self.path = os.path.abspath(path) if os.sep in path else path
        self.folder = folder
        # Where the search lies, if the folder is only that of sittings.
        self.storage = storage
        self.stop = stop
        # What plans and commits, while it is needed.
        self._server: worker.Server | None = None
        refuse_absent(self.path)
        self.version = self._version()

    def _version(self) -> str:
        told = worker.run([self.path, "--version"], timeout=60)
        if told["code"] != 0:
            raise Failure(f"`{self.path} --version` fails: {told['err'].strip()}")
        return str(told["out"]).strip()

    def fit(self) -> tuple[str, str, str, str]:
        """What `worker.unfit` compares a machine with."""
        if self.storage is not None:
            return self.path, self.version, self.storage.url, self.storage.job()
        try:
            job = digest(os.path.join(self.folder, "job"))
        except OSError as error:
            raise Failure(f"there is no search in {self.folder}: {error.strerror}") from error
        return self.path, self.version, self.folder, job

    def has_search(self) -> bool:
        """Whether a search was begun in the folder."""
        return os.path.lexists(os.path.join(self.folder, "job"))

    def take_over(self) -> None:
        """Takes a search that lies in the folder alone to where it is to lie."""
        if self.storage is not None:
            self.storage.take_over(self.is_running)

    def server(self, *flags: str) -> worker.Command:
        """What does what it is asked, wherever that is."""
        at = self.storage
        place, limit = (self.folder, 0) if at is None else (at.url, at.limit)
        return [self.path, "task", "serve", place, *flags], limit

    @staticmethod
    def task(plan: Plan, task: int) -> str:
        """What a server is asked that does one task."""
        return f"run --plan {plan.id} --task {task}"

    def plan(self, tasks: int, thin: int | None) -> Plan:
        """What is to be done next, by about so many tasks."""
        more = "" if thin is None else f" --thin {thin}"
        return read_plan(self._ask(f"plan --tasks {tasks}{more}"))

    def commit(self, plan: Plan) -> dict[str, Any]:
        """Makes what tasks did the state of the search."""
        return self._ask(f"commit --plan {plan.id}")

    def _ask(self, request: str) -> dict[str, Any]:
        if self._server is None or not self._server.is_up:
            self.close()
            self._server = worker.Server(self.server())
        # It is killed where somebody asks for an end, which is safe at any instant.
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
        """Lets go of what answers requests."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def is_running(self) -> bool:
        """Whether some process searches in the directory now."""
        told = worker.run([self.path, "status", self.folder, "--json"], timeout=60)
        try:
            return told["code"] == 0 and bool(json.loads(told["out"])["running"])
        except (ValueError, KeyError, TypeError):
            return False

    def sit(self, argv: list[str]) -> Sitting:
        """One process searches. What it says of its progress is passed on, its report is kept.

        It is asked to stop where somebody asks for that, and where this process is gone; it then
        writes a checkpoint.
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
    """What became of a process that searched. A verdict has a report.

    What wraps the process may end with the code of a verdict, too, where it cannot begin.
    """
    if code in (VERIFIED, VIOLATED) and not report.strip():
        print(f"note: the search ended with exit code {code} without a result", file=sys.stderr)
        return Sitting(NO_RESULT, b"")
    return Sitting(code, report)


def pass_on(source: IO[bytes]) -> None:
    """Passes on, line by line, what a sitting says, but that it stops: the run goes on."""
    with source:
        for line in source:
            if not line.startswith(b"stopped at a checkpoint"):
                sys.stderr.write(line.decode(errors="replace"))
                sys.stderr.flush()
