"""The binary `spillway`: how it is called, and what it answers.

Commands about tasks answer by a line of JSON; a sitting, `check` or `resume`, by a report that is
kept as it is, since the last one is the run's.
"""

from __future__ import annotations

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
from .failure import STALE, STOPPED, Failure
from .stop import Stop


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


@dataclass(frozen=True)
class Sitting:
    """What became of a process that searched by itself."""

    code: int
    report: bytes


class Stale(Exception):
    """The plan is no longer the current one: somebody else has committed it."""


class Refused(Failure):
    """The binary ended with a code that is neither done nor stale, and said why."""


def answer(text: str, what: str) -> dict[str, Any]:
    """The object in the last line of what a command printed."""
    lines = text.strip().splitlines()
    try:
        found = json.loads(lines[-1])
    except (IndexError, ValueError):
        found = None
    if not isinstance(found, dict):
        shown = lines[-1][:200] if lines else "nothing"
        raise Failure(f"`spillway {what}` answers {shown!r}, not an object of JSON")
    return found


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


class Binary:
    """A binary, for one search directory."""

    def __init__(self, path: str, folder: str, stop: Stop) -> None:
        # A path is the same on all machines; a name is looked for on each.
        self.path = os.path.abspath(path) if os.sep in path else path
        self.folder = folder
        self.stop = stop
        if shutil.which(self.path) is None:
            raise Failure(f"there is no command `{self.path}`; `--spillway PATH` says where it is")
        self.version = self._version()

    def _version(self) -> str:
        told = worker.run([self.path, "--version"], timeout=60)
        if told["code"] != 0:
            raise Failure(f"`{self.path} --version` fails: {told['err'].strip()}")
        return str(told["out"]).strip()

    def fit(self) -> tuple[str, str, str, str]:
        """What `worker.unfit` compares a machine with."""
        try:
            job = worker.digest(os.path.join(self.folder, "job"))
        except OSError as error:
            raise Failure(f"there is no search in {self.folder}: {error.strerror}") from error
        return self.path, self.version, self.folder, job

    def plan(self, tasks: int, thin: int | None) -> Plan:
        """What is to be done next, by about so many tasks."""
        flags = ["--tasks", str(tasks)] + ([] if thin is None else ["--thin", str(thin)])
        return read_plan(self._task("plan", flags))

    def task(self, plan: Plan, task: int, memory: str) -> list[str]:
        """The command that does one task, wherever that is."""
        which = ["--plan", plan.id, "--task", str(task), "--memory", memory]
        return [self.path, "task", "run", self.folder, *which]

    def commit(self, plan: Plan) -> dict[str, Any]:
        """Makes what tasks did the state of the search."""
        return self._task("commit", ["--plan", plan.id])

    def _task(self, what: str, flags: list[str]) -> dict[str, Any]:
        argv = [self.path, "task", what, self.folder, *flags]
        # It is killed where somebody asks for an end, which is safe at any instant.
        told = worker.run(argv, stopped=lambda: self.stop.asked > 0)
        if told["code"] == 0:
            return answer(told["out"], f"task {what}")
        self.stop.check()
        if told["code"] == STALE:
            raise Stale
        if told["code"] is None or told["code"] < 0:
            raise Refused(f"`spillway task {what}` was killed by a signal", STOPPED)
        raise Refused(
            told["err"].strip() or f"`spillway task {what}` fails", told["code"], said=True
        )

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
            return Sitting(child.returncode, out.read())


def pass_on(source: IO[bytes]) -> None:
    """Passes on, line by line, what a sitting says, but that it stops: the run goes on."""
    with source:
        for line in source:
            if not line.startswith(b"stopped at a checkpoint"):
                sys.stderr.write(line.decode(errors="replace"))
                sys.stderr.flush()
