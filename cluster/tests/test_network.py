"""Searches on machines with a disturbed network, which join and leave: the levels equal those of
one process.

`SPILLWAY_FAULTS` is the number of faults. `SPILLWAY` and `SPILLWAY_LEVELS` name binaries, as for
`test_corpus`. The test needs the right to create network namespaces.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray")

from . import networks
from .bucket import new_url, serving
from .large import Alone, Search
from .networks import HEAD, Networks
from .real import behind

FAULTS = int(os.environ.get("SPILLWAY_FAULTS", "0"))
pytestmark = [
    *behind(FAULTS, "variables name no binaries, or no faults"),
    pytest.mark.skipif(not networks.can_be_made(), reason="namespaces cannot be created"),
]

# The disturbances of a machine's network, in the syntax of `tc`, and their durations in seconds.
BAD = {
    # A queue with a low rate and a delay, which drops packets when it is full.
    "slow": ("tbf rate 400kbit burst 10kb latency 200ms", (2.0, 10.0)),
    "very slow": ("tbf rate 50kbit burst 5kb latency 500ms", (2.0, 5.0)),
    "parted": ("", (2.0, 8.0)),
    # Long enough that Ray gives the machine up.
    "given up": ("", (45.0, 60.0)),
}
NETEM = {
    "delay": ("netem delay 150ms 100ms", (2.0, 10.0)),
    "loss": ("netem loss 15%", (2.0, 10.0)),
    "both": ("netem delay 50ms 50ms loss 10% reorder 20%", (2.0, 10.0)),
}
MACHINES = 3


@pytest.fixture
def machines() -> Iterator[Networks]:
    made = Networks(MACHINES)
    yield made
    made.close()


class Weather:
    """Disturbs the network at random while it is polled."""

    def __init__(self, machines: Networks) -> None:
        self.machines = machines
        self.chance = random.Random(11)
        self.had: Counter[str] = Counter()
        self._bad = {**BAD, **(NETEM if networks.has_netem() else {})}
        # The time at which the network of each machine is repaired.
        self._until: dict[int, float] = {}
        self._next = time.monotonic() + 5

    def pass_by(self) -> None:
        """Ends the disturbances whose time is over, and starts another one."""
        now = time.monotonic()
        for it in [it for it, until in self._until.items() if until <= now]:
            del self._until[it]
            self.machines.mend(it)
        for it in range(MACHINES):
            if it not in self._until and not self.machines.is_there(it):
                self.machines.join(it)
        if now < self._next or self.had.total() >= FAULTS:
            return
        self._next = now + self.chance.uniform(1, 6)
        it = self.chance.randrange(MACHINES)
        if it in self._until:
            return
        what = self.chance.choice([*self._bad, "slow", "parted", "leaves"])
        self.had[what] += 1
        if what == "leaves":
            self.machines.leave(it)
            self.machines.join(it)
            return
        how, (least, most) = self._bad[what]
        if how:
            self.machines.make(it, how)
        else:
            self.machines.part(it)
        self._until[it] = now + self.chance.uniform(least, most)


@pytest.mark.parametrize("where", ["folder", "bucket"])
def test_whatever_the_network_does(machines: Networks, tmp_path: Path, where: str) -> None:
    alone = Alone(tmp_path)
    weather = Weather(machines)
    searches = redone = 0
    while weather.had.total() < FAULTS:
        searches += 1
        url = ["--storage", new_url()] if where == "bucket" else []
        search = Search(alone, tmp_path / f"search-{searches}", machines.address, *url)
        while not search.ended():
            weather.pass_by()
            time.sleep(0.2)
        search.compare()
        redone += search.redone()
        print(f"{where}: {searches} searches, {dict(weather.had)}, {redone} redone, ", end="")
        print(f"{search.tasks_done()} tasks in the last one")


@pytest.fixture(autouse=True, scope="module")
def store() -> Iterator[None]:
    with serving(HEAD):
        yield
