"""Tasks run by Ray, on simulated machines of one processor each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from spillway_ray.driver import Wishes
from spillway_ray.failure import Failure

from .conftest import HERE, Place

pytest.importorskip("ray")

from ray.cluster_utils import Cluster as Machines

from spillway_ray.by_ray import Cluster

from .machines import machine, several

pytestmark = pytest.mark.ray

MEMORY = 64 << 20
WISHES = Wishes(memory="64MiB", tasks=3, thin=5)


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    """Runs two machines, including that of the head."""
    with several(2) as found:
        yield found


def check(place: Place, machines: Machines, wishes: Wishes = WISHES) -> tuple[int, bytes]:
    """Does a whole run on these machines."""
    driver = place.driver(wishes, lambda: Cluster(machines.address, MEMORY))
    ended = driver.check(str(place.model))
    return ended.code, ended.report


def test_a_search_is_verified(
    place: Place, machines: Machines, capfd: pytest.CaptureFixture[str]
) -> None:
    # Three tasks for each of the two that run at the same time.
    assert check(place, machines, Wishes(memory="64MiB", thin=5)) == (0, place.verified)
    assert "expand  6 tasks" in capfd.readouterr().err


def test_a_worker_that_is_lost(
    place: Place, machines: Machines, capfd: pytest.CaptureFixture[str]
) -> None:
    place.trouble({"command": "run", "task": 1, "times": 2, "do": "kill-parent"})
    assert check(place, machines) == (0, place.verified)
    told = capfd.readouterr().err
    assert "task 1: was lost with its worker" in told
    assert "2 redone" in told


def test_a_machine_that_is_lost(
    place: Place, machines: Machines, capfd: pytest.CaptureFixture[str]
) -> None:
    third = machine(machines)
    place.trouble({"command": "run", "times": 3, "do": "sleep", "seconds": 15})

    def lose() -> None:
        place.until(lambda: place.called("run") == 3)
        machines.remove_node(third, allow_graceful=False)

    losing = threading.Thread(target=lose)
    losing.start()
    assert check(place, machines) == (0, place.verified)
    losing.join()
    assert "1 redone" in capfd.readouterr().err


def test_a_task_that_hangs(place: Place, machines: Machines) -> None:
    place.trouble({"command": "run", "task": 2, "times": 1, "do": "sleep", "seconds": 600})
    wishes = Wishes(memory="64MiB", tasks=3, thin=5, timeout=3)
    assert check(place, machines, wishes) == (0, place.verified)


def test_a_machine_that_comes_makes_room(machines: Machines) -> None:
    cluster = Cluster(machines.address, MEMORY)
    try:
        before = cluster.room()
        third = machine(machines)
        assert cluster.room() == before + 1
        machines.remove_node(third)
    finally:
        cluster.close()


def test_a_machine_with_another_version(place: Place, machines: Machines) -> None:
    third = machine(machines, env_vars={"FAKE_VERSION": "9.9.9"})
    try:
        with pytest.raises(Failure, match=r"is spillway 9\.9\.9, the driver's is spillway 0\.1\.0"):
            check(place, machines)
    finally:
        machines.remove_node(third)


def test_a_signal_while_tasks_run(place: Place, machines: Machines) -> None:
    place.trouble({"command": "run", "task": 1, "times": 1, "do": "sleep", "seconds": 600})
    flags = ["--address", machines.address, "--memory-per-task", "64MiB"]
    run = place.start("check", *flags)
    place.until(lambda: place.calls()["run 1"] == 1)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (3, b""), err
    run = place.start("resume", *flags)
    out, err = run.communicate(timeout=120)
    assert (run.returncode, out) == (0, place.verified), err


# The command, with short pauses between its attempts to reach the cluster.
HASTY = """
import sys
from spillway_ray import cli
from spillway_ray.phase import Patience
cli.Patience = lambda: Patience(pause=0.01, storage=1)
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("what", "others", "code"), [("gcs_server", 1, 3), ("raylet", 0, 3), ("raylet", 1, 0)]
)
def test_a_cluster_that_is_gone(place: Place, what: str, others: int, code: int) -> None:
    """Ray's library ends the process that uses it with exit code 1, or blocks it forever."""
    place.trouble({"command": "run", "task": 1, "times": 1, "do": "sleep", "seconds": 600})
    with several(1) as machines:
        for _ in range(others):
            machine(machines)
        flags = ["--address", machines.address, "--memory-per-task", "64MiB"]
        argv = [sys.executable, "-c", HASTY, *place.command("check", *flags)[3:]]
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
        pipe = subprocess.PIPE
        run = subprocess.Popen(argv, stdout=pipe, stderr=pipe, env=environment, text=True)
        try:
            place.until(lambda: place.calls()["run 1"] == 1)
            getattr(machines.head_node, f"kill_{what}")()
            out, err = run.communicate(timeout=200)
        finally:
            run.kill()
    assert "once more in" in err
    # If Ray has another process on this machine, the run continues with that.
    assert (run.returncode, out) == (code, place.verified.decode() if code == 0 else ""), err
    assert place.driver(Wishes(tasks=3, thin=5)).resume().report == place.verified


def test_no_cluster(place: Place) -> None:
    driver = place.driver(WISHES, lambda: Cluster("127.0.0.1:1", MEMORY))
    with pytest.raises(Failure, match=r"Ray at 127\.0\.0\.1:1 cannot be reached"):
        driver.check(str(place.model))
