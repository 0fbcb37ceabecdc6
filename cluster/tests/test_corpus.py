"""Models of other authors in the folder SPILLWAY_CORPUS: each level has the states of one process.

`SPILLWAY` names the real binary. `SPILLWAY_LEVELS` names the program that prints the levels of a
directory (`cargo build --release --example levels`). A folder of the corpus contains the models of
a language and `reference.tsv`, with the number of states of each.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spillway_ray.driver import Wishes

pytest.importorskip("ray")

from spillway_ray.by_ray import Cluster

from .machines import several
from .real import SPILLWAY, behind, driver, levels

CORPUS = os.environ.get("SPILLWAY_CORPUS", "")
pytestmark = behind(CORPUS, "variables name no corpus, or no binaries")

# The number of models of each language, and the names of the columns with the numbers of states.
LANGUAGES = {"dve": 20, "promela": 12, "murphi": 8}
COUNTS = ("states", "cmurphi_states", "rumur_states")
STATES = range(30_000, 400_000)

FLAGS = ["--reduce", "none", "--keep-going", "--json", "--memory", "256MiB"]
MEMORY = 128 << 20
THIN = 2_000


def models() -> list[str]:
    """Selects some models of each language, small ones and large ones."""
    found = []
    for language, number in LANGUAGES.items():
        path = Path(CORPUS, language, "reference.tsv")
        if not path.exists():
            continue
        with path.open() as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        sizes = [(states(it), f"{language}/{it['file']}") for it in rows]
        fitting = sorted(it for it in sizes if it[0] in STATES)
        every = max(1, len(fitting) // number)
        found += [name for _, name in fitting[::every][:number]]
    return found


def states(row: dict[str, str]) -> int:
    """Returns the number of states of a model; 0 if it is unknown."""
    return next((int(row[it]) for it in COUNTS if (row.get(it) or "").isdigit()), 0)


def told(report: bytes) -> dict[str, Any]:
    """Returns the results that do not depend on the number of machines."""
    found = json.loads(report)
    counts = ("verdict", "states", "transitions", "levels", "deadlocks")
    return {it: found[it] for it in (*counts, "coverage", "violations", "counterexample")}


@pytest.fixture(scope="module", params=[1, 2, 4, 7])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs this number of machines, and returns the address."""
    with several(request.param) as machines:
        yield str(machines.address)


@pytest.mark.parametrize("model", models() if CORPUS else [])
def test_levels_are_those_of_one_process(address: str, model: str, tmp_path: Path) -> None:
    path, alone, shared = Path(CORPUS, model), tmp_path / "alone", tmp_path / "shared"
    flags = [*FLAGS, "--language", model.split("/", maxsplit=1)[0]]
    plain = subprocess.run(
        [SPILLWAY, "check", path, "--dir", alone, *flags], capture_output=True, check=False
    )
    assert plain.returncode in (0, 1), plain.stderr
    wishes = Wishes(memory="128MiB", thin=THIN, flags=flags)
    ended = driver(shared, Cluster(address, MEMORY), wishes).check(str(path))
    assert (ended.code, told(ended.report)) == (plain.returncode, told(plain.stdout))
    assert levels(shared) == levels(alone)
