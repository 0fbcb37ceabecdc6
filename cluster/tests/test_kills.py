"""Searches of which processes are killed all the time: the levels of one process.

`SPILLWAY_KILLS` says how many are killed, 200 if it is to mean something; `SPILLWAY` and
`SPILLWAY_LEVELS` name binaries, as for `test_corpus`. What is killed is whatever does tasks, a
process of Ray's, a sitting, a machine, or the driver, which is begun anew; machines join, too.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("ray")

from .conftest import HERE
from .machines import machine, several
from .real import LEVELS, SPILLWAY, levels

KILLS = int(os.environ.get("SPILLWAY_KILLS", "0"))
pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(
        not (SPILLWAY and LEVELS and KILLS), reason="variables name no binaries, or no kills"
    ),
]

# Three who take one step or twelve, so that levels are wide.
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


def running(*words: str) -> list[int]:
    """The processes whose command line has all of these words."""
    found = []
    for it in Path("/proc").iterdir():
        try:
            line = (it / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if it.name.isdigit() and all(any(word in part for part in line) for word in words):
                found.append(int(it.name))
        except OSError:
            continue
    return [it for it in found if it != os.getpid()]


class Search:
    """One search, whose driver may be begun anew."""

    def __init__(self, model: Path, folder: Path, address: str, log: Path) -> None:
        self.folder, self.log = folder, log
        address_ = ["--address", address, "--spillway", SPILLWAY, "--memory-per-task", "128MiB"]
        self.flags = [*address_, "--tasks", "6", "--thin", "5000"]
        self.driver = self._start("check", str(model), "--dir", str(folder))

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
        """Whether there is a verdict. Who gave up, as where Ray's own process on the driver's
        machine was the one that went, is begun anew."""
        if self.driver.poll() == 3:
            self.driver = self._start("resume", str(self.folder))
        return self.driver.poll() is not None

    def tasks_done(self) -> int:
        """In phases that were committed by a driver that told of it."""
        told = re.findall(r" (\d+) tasks? ", self.log.read_text())
        return sum(int(it) for it in told)


def test_whatever_is_killed(tmp_path: Path) -> None:
    model = tmp_path / "grid.dve"
    model.write_text(GRID)
    alone = tmp_path / "alone"
    plain = subprocess.run(
        [SPILLWAY, "check", model, "--dir", alone, *FLAGS], stdout=-1, check=True
    ).stdout
    expected = {it: json.loads(plain)[it] for it in MEMBERS}
    assert expected["states"] == 140**3
    chance = random.Random(7)
    killed: Counter[str] = Counter()
    searches = redone = 0
    with several(3) as machines:
        others = list(machines.worker_nodes)
        while killed.total() < KILLS:
            folder, log = tmp_path / f"search-{searches}", tmp_path / f"log-{searches}"
            search = Search(model, folder, machines.address, log)
            searches += 1
            while not search.ended():
                time.sleep(chance.uniform(0.5, 4))
                if killed.total() >= KILLS:
                    continue
                what = chance.choice(["task", "task", "worker", "sitting", "driver", "machine"])
                if what == "machine":
                    gone = others.pop(chance.randrange(len(others)))
                    machines.remove_node(gone, allow_graceful=False)
                    others.append(machine(machines))
                    killed[what] += 1
                elif what == "driver":
                    if (folder / "job").exists():
                        search.kill_driver()
                        killed[what] += 1
                else:
                    words = {
                        "task": ("serve", str(folder)),
                        "worker": ("ray::",),
                        "sitting": ("resume", str(folder), SPILLWAY),
                    }
                    # A driver that resumes has the words of a sitting, too.
                    found = [it for it in running(*words[what]) if it != search.driver.pid]
                    if found:
                        os.kill(chance.choice(found), signal.SIGKILL)
                        killed[what] += 1
            report = search.driver.stdout.read() if search.driver.stdout else b""
            assert search.driver.returncode == 0, log.read_text()[-3000:]
            assert report.startswith(b"{"), report[:2000]
            assert {it: json.loads(report)[it] for it in MEMBERS} == expected
            assert levels(folder) == levels(alone)
            redone += sum(int(it) for it in re.findall(r"(\d+) redone", log.read_text()))
            print(f"{searches} searches, {dict(killed)}, {redone} redone, ", end="")
            print(f"{search.tasks_done()} tasks in the last one")
    assert killed.total() >= KILLS
