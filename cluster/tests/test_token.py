"""A cluster with a token: the commands of `docs/how-to/cluster.md`, and its error messages."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import HERE, Place

pytest.importorskip("ray")

from .machines import STORE

pytestmark = pytest.mark.ray

RAY = str(Path(sys.executable).parent / "ray")
DOCS = (HERE.parent.parent / "docs" / "how-to" / "cluster.md").read_text()
PORT = 6379

# Flags of a test beyond the documented ones: several simulated machines share this one.
SMALL = f"--num-cpus=1 --object-store-memory={STORE} --block"


class Machine:
    """A machine with a home folder, which contains a token or none."""

    def __init__(self, home: Path, mode: str | None = "token") -> None:
        home.mkdir(exist_ok=True)
        self.token = home / ".ray" / "auth_token"
        others = {it: value for it, value in os.environ.items() if not it.startswith("RAY_")}
        self.environment = {**others, "HOME": str(home), "PYTHONPATH": str(HERE.parent)}
        if mode is not None:
            self.environment["RAY_AUTH_MODE"] = mode

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        return subprocess.run(
            argv, env=self.environment, capture_output=True, text=True, timeout=300, check=False
        )

    def documented(self, line: str, *replaced: tuple[str, str]) -> list[str]:
        """Returns a command of the documentation with the names of this test."""
        assert re.search(f"^{re.escape(line)}( |$)", DOCS, re.MULTILINE), line
        for name, instead in replaced:
            line = line.replace(name, instead)
        return [RAY, *line.split()[1:]]


@contextlib.contextmanager
def ray_there(machine: Machine, argv: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Runs Ray on a machine."""
    pipe, both = subprocess.PIPE, subprocess.STDOUT
    argv = [*argv, *SMALL.split()]
    ray = subprocess.Popen(argv, env=machine.environment, stdout=pipe, stderr=both, text=True)
    try:
        yield ray
    finally:
        ray.send_signal(signal.SIGTERM)
        try:
            ray.wait(60)
        except subprocess.TimeoutExpired:
            ray.kill()


def free_port() -> int:
    """Returns an unused port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, str]]:
    """Runs the first machine, whose cluster requires a token. Returns it with its address."""
    machine, port = Machine(tmp_path_factory.mktemp("first")), free_port()
    made = machine.run(*machine.documented("ray get-auth-token --generate"))
    assert made.returncode == 0, made.stderr
    line = machine.documented(f"ray start --head --port={PORT}", (str(PORT), str(port)))
    with ray_there(machine, [*line, "--include-dashboard=false"]) as ray:
        said = ""
        assert ray.stdout is not None
        for it in ray.stdout:
            said += it
            found = re.search(r"--address='([0-9.]+:[0-9]+)'", it)
            if found is not None:
                yield machine, found[1]
                return
        pytest.fail(said)


def command(place: Place, *flags: str) -> list[str]:
    """Returns the command line of a run with Ray."""
    return place.command("check", "--memory-per-task", "64MiB", *flags)


def test_documented_commands(place: Place, first: tuple[Machine, str], tmp_path: Path) -> None:
    machine, address = first
    other = Machine(tmp_path / "other")
    other.token.parent.mkdir()
    shutil.copy(machine.token, other.token)
    line = f"ray start --address=first:{PORT}"
    with ray_there(other, other.documented(line, (f"first:{PORT}", address))):
        for it in (address, "auto"):
            shutil.rmtree(place.folder, ignore_errors=True)
            done = machine.run(*command(place, "--address", it))
            assert (done.returncode, done.stdout) == (0, place.verified.decode()), done.stderr
        status = "import ray; ray.init('auto'); print(sum(it['Alive'] for it in ray.nodes()))"
        for _ in range(30):
            alive = machine.run(sys.executable, "-c", status).stdout.strip()
            if alive == "2":
                return
            time.sleep(1)
        pytest.fail("the other machine did not join")


@pytest.mark.parametrize(
    ("mode", "token"),
    [(None, "right"), ("disabled", "right"), ("token", "wrong"), ("token", "none")],
)
def test_a_wrong_token_is_reported(
    place: Place,
    first: tuple[Machine, str],
    tmp_path: Path,
    mode: str | None,
    token: str,
) -> None:
    machine, address = first
    other = Machine(tmp_path / "other", mode)
    if token != "none":
        other.token.parent.mkdir()
        other.token.write_text(machine.token.read_text() if token == "right" else "0" * 64)
    done = other.run(*command(place, "--address", address))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: Ray at {address} cannot be reached: it asks for a token" in done.stderr
    is_sent = "none is found here, or another one"
    is_not_sent = "RAY_AUTH_MODE is not `token` here, so none is sent"
    assert (is_sent if mode == "token" else is_not_sent) in done.stderr
    assert "export RAY_AUTH_MODE=token" in done.stderr
    # The message that Ray prints each second is not shown.
    assert len(done.stderr.splitlines()) == 2, done.stderr
