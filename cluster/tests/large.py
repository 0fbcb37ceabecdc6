"""A search of 2,744,000 states by a real binary, whose driver may be restarted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from .conftest import HERE
from .real import SPILLWAY, levels

# Three counters that increase by one or by twelve, so that levels are wide.
GRID = (
    "int a; int b; int c;\n"
    + "".join(
        f"""process {it.upper()} {{ state s; init s; trans
  s -> s {{ guard {it} < 139; effect {it} = {it} + 1; }},
  s -> s {{ guard {it} < 128; effect {it} = {it} + 12; }}; }}
"""
        for it in "abc"
    )
    + """process Again { state s; init s; trans
  s -> s { guard a == 139 and b == 139 and c == 139; effect a = 0, b = 0, c = 0; }; }
system async;
"""
)
FLAGS = ["--reduce", "none", "--json", "--memory", "256MiB", "--threads", "1"]
MEMBERS = ("verdict", "states", "transitions", "levels", "coverage")


class Alone:
    """The reference: the same search by one process."""

    def __init__(self, path: Path) -> None:
        self.model, self.folder = path / "grid.dve", path / "alone"
        self.model.write_text(GRID)
        command = [SPILLWAY, "check", str(self.model), "--dir", str(self.folder), *FLAGS]
        found = json.loads(subprocess.run(command, stdout=-1, check=True).stdout)
        self.found: dict[str, Any] = {it: found[it] for it in MEMBERS}
        assert found["states"] == 140**3


class Search:
    """One search, whose driver may be restarted."""

    def __init__(self, alone: Alone, folder: Path, address: str, *flags: str) -> None:
        self.alone, self.folder, self.log = alone, folder, folder.with_suffix(".log")
        address_ = ["--address", address, "--spillway", SPILLWAY, "--memory-per-task", "128MiB"]
        self.flags = [*address_, "--tasks", "6", "--thin", "5000", *flags]
        self.driver = self._start("check", str(alone.model), "--dir", str(folder))

    def _start(self, *what: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
        argv = [sys.executable, "-m", "spillway_ray", *what, *self.flags, "--"]
        flags = FLAGS if what[0] == "check" else FLAGS[2:]
        with self.log.open("ab") as err:
            return subprocess.Popen(
                [*argv, *flags], stdout=subprocess.PIPE, stderr=err, env=environment
            )

    def kill_driver(self) -> None:
        self.driver.kill()
        self.driver.wait()
        begun = (self.folder / "job").exists()
        self.driver = self._start("resume", str(self.folder)) if begun else self.driver

    def ended(self) -> bool:
        """Whether there is a verdict. Restarts a driver that gave up, for example because Ray's own
        process on its machine was killed."""
        if self.driver.poll() == 3:
            self.driver = self._start("resume", str(self.folder))
        return self.driver.poll() is not None

    def tasks_done(self) -> int:
        """The number of tasks in the committed phases that the log contains."""
        told = re.findall(r" (\d+) tasks? ", self.log.read_text())
        return sum(int(it) for it in told)

    def redone(self) -> int:
        """The number of repeated tasks."""
        return sum(int(it) for it in re.findall(r"(\d+) redone", self.log.read_text()))

    def compare(self) -> None:
        """Asserts that the result equals that of one process."""
        report = self.driver.stdout.read() if self.driver.stdout else b""
        assert self.driver.returncode == 0, self.log.read_text()[-3000:]
        assert report.startswith(b"{"), report[:2000]
        assert {it: json.loads(report)[it] for it in MEMBERS} == self.alone.found
        assert levels(self.folder) == levels(self.alone.folder)
