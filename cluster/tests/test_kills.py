"""Searches whose processes are killed again and again: the levels equal those of one process.

`SPILLWAY_KILLS` is the number of kills, 200 for a meaningful test. `SPILLWAY` and `SPILLWAY_LEVELS`
name binaries, as for `test_corpus`. The test kills processes for tasks, processes of Ray, sessions,
machines, and drivers, which are restarted. Machines also join.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("ray")

from .large import Alone, Search
from .machines import machine, several
from .real import SPILLWAY, behind

KILLS = int(os.environ.get("SPILLWAY_KILLS", "0"))
pytestmark = behind(KILLS, "variables name no binaries, or no kills")


def running(*words: str) -> list[int]:
    """Returns the processes whose command line has all of these words."""
    found = []
    for it in Path("/proc").iterdir():
        try:
            line = (it / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if it.name.isdigit() and all(any(word in part for part in line) for word in words):
                found.append(int(it.name))
        except OSError:
            continue
    return [it for it in found if it != os.getpid()]


def test_whatever_is_killed(tmp_path: Path) -> None:
    alone = Alone(tmp_path)
    chance = random.Random(7)
    killed: Counter[str] = Counter()
    searches = redone = 0
    with several(3) as machines:
        others = list(machines.worker_nodes)
        while killed.total() < KILLS:
            folder = tmp_path / f"search-{searches}"
            search = Search(alone, folder, machines.address)
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
                    # A resumed driver also has the words of a session.
                    found = [it for it in running(*words[what]) if it != search.driver.pid]
                    if found:
                        os.kill(chance.choice(found), signal.SIGKILL)
                        killed[what] += 1
            search.compare()
            redone += search.redone()
            print(f"{searches} searches, {dict(killed)}, {redone} redone, ", end="")
            print(f"{search.tasks_done()} tasks in the last one")
    assert killed.total() >= KILLS
