"""A model, a search directory, and injected failures."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Callable

import pytest

from spillway_ray.binary import Binary
from spillway_ray.driver import Driver, Wishes
from spillway_ray.phase import Patience
from spillway_ray.progress import Progress
from spillway_ray.runner import LOCAL, Processes, Runner
from spillway_ray.stop import Stop

HERE = Path(__file__).parent

# The numbers of retries of a real run, with short pauses.
HASTE = Patience(pause=0.01)


def expected(modulus: int) -> tuple[int, int]:
    """The numbers of states and levels of a model."""
    known, frontier, levels = {1}, {1}, 0
    while frontier:
        met = {(5 * x + i) % modulus for x in frontier for i in range(4)}
        frontier = met - known
        known |= frontier
        levels += 1
    return len(known), levels


class Place:
    """A model, a search directory, and the binary for it."""

    def __init__(self, path: Path, modulus: int = 60, bad: int | None = None) -> None:
        self.folder = path / "search"
        self.model = path / "model.json"
        self.model.write_text(json.dumps({"modulus": modulus, "bad": bad}))
        self.spillway = path / "spillway"
        self.spillway.write_text(
            f'#!/bin/sh\nexec {sys.executable} -S {HERE}/fake_spillway.py "$@"\n'
        )
        self.spillway.chmod(self.spillway.stat().st_mode | stat.S_IXUSR)
        states, levels = expected(modulus)
        self.verified = f"verified: {states} states, {levels} levels\n".encode()

    def trouble(self, *what: dict[str, object]) -> None:
        """Sets the failures from now on."""
        Path(f"{self.folder}.trouble").write_text(json.dumps(what))

    def calls(self) -> Counter[str]:
        """Counts the calls of each command, and the runs of each task."""
        path = Path(f"{self.folder}.calls")
        return Counter(path.read_text().splitlines() if path.exists() else [])

    def called(self, command: str) -> int:
        """Counts the calls of a command."""
        return sum(n for it, n in self.calls().items() if it.split()[0] == command)

    def driver(
        self, wishes: Wishes | None = None, runner: Callable[[], Runner] | None = None
    ) -> Driver:
        """Creates a driver in this process."""
        return Driver(
            Binary(str(self.spillway), str(self.folder), Stop()),
            runner or (lambda: Processes(1 << 30)),
            wishes or Wishes(tasks=3, thin=5),
            Progress(),
            HASTE,
        )

    def check(self, wishes: Wishes | None = None) -> tuple[int, bytes]:
        """Does a whole run in this process."""
        ended = self.driver(wishes).check(str(self.model))
        return ended.code, ended.report

    def command(self, what: str, *flags: str) -> list[str]:
        """Returns the command line of a run."""
        first = (
            [str(self.model), "--dir", str(self.folder)] if what == "check" else [str(self.folder)]
        )
        ours = ["--address", LOCAL, "--tasks", "3", "--thin", "5", "--spillway", str(self.spillway)]
        return [sys.executable, "-m", "spillway_ray", what, *first, *ours, *flags]

    def start(self, what: str, *flags: str) -> subprocess.Popen[bytes]:
        """Starts a run as a separate process."""
        pipe = subprocess.PIPE
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
        argv = self.command(what, *flags)
        return subprocess.Popen(argv, stdout=pipe, stderr=pipe, env=environment)

    def until(self, done: Callable[[], bool]) -> None:
        """Waits until a condition is true."""
        for _ in range(600):
            if done():
                return
            time.sleep(0.05)
        pytest.fail("the condition did not become true")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A model without errors."""
    return Place(tmp_path)
