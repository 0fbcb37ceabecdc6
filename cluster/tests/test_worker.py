"""What is done on a worker: whether a machine is fit, and commands that end as they like."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spillway_ray import worker

from .conftest import Place


@pytest.fixture
def fit(place: Place, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, str, str]:
    monkeypatch.setattr(worker, "LOOKS", 1)
    place.check()
    job = worker.digest(f"{place.folder}/job")
    return str(place.spillway), "spillway 0.1.0", str(place.folder), job


def test_a_fit_machine(fit: tuple[str, str, str, str]) -> None:
    assert worker.unfit(*fit) is None


def test_unfit_machines(fit: tuple[str, str, str, str], tmp_path: Path) -> None:
    binary, version, folder, job = fit
    assert "no `/nowhere` can be run" in str(worker.unfit("/nowhere", version, folder, job))
    assert "`false --version` fails" in str(worker.unfit("false", version, folder, job))
    assert "the driver's is 2" in str(worker.unfit(binary, "2", folder, job))
    assert "it is not the driver's folder" in str(worker.unfit(binary, version, "/nowhere", job))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "job").write_text("other")
    other = str(tmp_path / "other")
    assert "holds another search" in str(worker.unfit(binary, version, other, job))


def test_a_job_that_is_seen_late(
    fit: tuple[str, str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LOOKS", 2)
    folder = Path(fit[2])
    job = (folder / "job").read_text()
    (folder / "job").unlink()
    monkeypatch.setattr(time, "sleep", lambda _: (folder / "job").write_text(job))
    assert worker.unfit(*fit) is None


def test_commands_end_as_they_like() -> None:
    told = worker.run([sys.executable, "-c", "import sys; print(1); sys.exit('two')"])
    assert (told["code"], told["out"], told["err"]) == (1, "1\n", "two\n")
    assert worker.run(["/nowhere"])["code"] == worker.CANNOT_RUN
    late = worker.run(["sleep", "60"], timeout=0.2)
    assert (late["code"], late["late"]) == (-9, True)
    stopped = worker.run(["sleep", "60"], stopped=lambda: True)
    assert (stopped["code"], stopped["late"]) == (-9, False)


def test_much_output_is_read() -> None:
    told = worker.run([sys.executable, "-c", "print('x' * 1_000_000)"], timeout=30)
    assert len(told["out"]) == 1_000_001


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")
def test_who_is_killed_takes_its_command_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    script = (
        f"from spillway_ray import worker; worker.run(['sh', '-c', 'echo $$ > {mark}; sleep 60'])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    parent = subprocess.Popen([sys.executable, "-c", script], env=environment)
    for _ in range(200):
        if mark.exists() and mark.read_text().strip():
            break
        time.sleep(0.05)
    child = Path("/proc") / mark.read_text().strip()
    assert child.exists()
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for _ in range(200):
        if not child.exists() or ") Z " in (child / "stat").read_text():
            return
        time.sleep(0.05)
    pytest.fail("the command is still there")
