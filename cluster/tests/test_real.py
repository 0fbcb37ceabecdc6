"""The real binary, if the variable SPILLWAY names one: the counts equal those of one process."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest

from spillway_ray import flags, objects
from spillway_ray.driver import Wishes
from spillway_ray.failure import Failure
from spillway_ray.runner import Processes, Runner

pytest.importorskip("ray")

from spillway_ray.by_ray import Cluster

from .conftest import HASTE
from .machines import several
from .real import SPILLWAY, driver

pytestmark = pytest.mark.skipif(not SPILLWAY, reason="the variable SPILLWAY names no real binary")

# A grid of 300 by 300 places. A move covers one place or ten. So there are few and wide levels, and
# later levels reach most places again.
GRID = """int east; int north;
process Walker { state there; init there; trans
  there -> there { guard east < 299; effect east = east + 1; },
  there -> there { guard east < 290; effect east = east + 10; },
  there -> there { guard north < 299; effect north = north + 1; },
  there -> there { guard north < 290; effect north = north + 10; },
  there -> there { guard east == 299 and north == 299; effect east = 0, north = 0; };
}
system async;
"""
FLAGS = ["--reduce", "none", "--json"]
MEMORY = 64 << 20


def counts(report: bytes) -> dict[str, Any]:
    """Returns the results that do not depend on the number of processes."""
    found = json.loads(report)
    return {it: found[it] for it in ("verdict", "states", "transitions", "levels")}


@pytest.fixture
def compare(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[[Runner], None]:
    """Compares a search by tasks with the search of one process."""
    model = tmp_path / "grid.dve"
    model.write_text(GRID)

    def compared(runner: Runner) -> None:
        plain = subprocess.run([SPILLWAY, "check", model, *FLAGS], stdout=-1, check=True).stdout
        assert counts(plain)["states"] == 90_000
        wishes = Wishes(memory="64MiB", tasks=3, thin=50, flags=FLAGS)
        ended = driver(tmp_path / "search", runner, wishes).check(str(model))
        assert (ended.code, counts(ended.report)) == (0, counts(plain))
        told = capfd.readouterr().err
        # A level of one block is one task. Runs are longer.
        assert re.search(r"expand  [123] task", told), told
        assert re.search(r"settle  [123] task", told), told
        assert re.search(r"merge  [23] tasks", told), told

    return compared


def test_flags_are_those_of_resume() -> None:
    shown = subprocess.run([SPILLWAY, "resume", "--help"], stdout=-1, text=True, check=True).stdout
    found = re.findall(r"^ +(?:-(\w), )?(--[a-z-]+)( <)?", shown, re.MULTILINE)
    names = {name for _, name, _ in found} | {f"-{short}" for short, _, _ in found if short}
    assert names == flags.VALUED | flags.PLAIN | {"--max-states", "--max-time", "--help", "-h"}
    assert {name for _, name, value in found if value} - set(flags.OURS) == flags.VALUED


def test_names_of_files_are_those_of_a_search(tmp_path: Path) -> None:
    """One search stops within a level, and the other checks a liveness property."""
    model = tmp_path / "grid.dve"
    model.write_text(GRID)
    grid = [SPILLWAY, "check", str(model), "--dir", str(tmp_path / "search"), *FLAGS]
    subprocess.run([*grid, "--max-states", "20000"], stdout=-1, check=False)
    runs = [SPILLWAY, "check", str(model), "--dir", str(tmp_path / "runs"), *FLAGS]
    subprocess.run([*runs, "--ltl", "[] <> east == 0"], stdout=-1, check=False)
    found = [it for name in ("search", "runs") for it in (tmp_path / name).iterdir()]
    names = {it.name for it in found if it.is_file()} - {objects.LOCK}
    assert {"job", "manifest", "levels-000", "answer"} <= names
    assert [it for it in names if not objects.FILE_NAME.fullmatch(it)] == []


def test_local_processes(compare: Callable[[Runner], None]) -> None:
    compare(Processes(MEMORY))


def test_what_is_said_of_tasks_names_their_flags(tmp_path: Path) -> None:
    model = tmp_path / "grid.dve"
    model.write_text(GRID)
    # Less than the model needs, and more than the system has.
    tasks = [("100KiB", 2, "to at least this size"), ("900GiB", 3, "out of memory")]
    for memory, code, message in tasks:
        wishes = Wishes(memory=memory, tasks=2, thin=50, flags=FLAGS)
        folder = tmp_path / memory
        search = driver(folder, Processes(MEMORY), wishes)
        search.patience = HASTE
        with pytest.raises(Failure, match=message) as failed:
            search.check(str(model))
        assert failed.value.code == code
        assert "--memory-per-task" in failed.value.message
        assert not re.search(r"--memory(?!-per-task)|--threads", failed.value.message)


@pytest.mark.ray
@pytest.mark.parametrize("number", [1, 2, 4])
def test_machines(compare: Callable[[Runner], None], number: int) -> None:
    with several(number) as machines:
        compare(Cluster(machines.address, MEMORY))
