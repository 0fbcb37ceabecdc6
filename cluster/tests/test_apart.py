"""A run in a separate process: only the data that it sends at its end is its result."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Callable

import pytest

from spillway_ray import cli
from spillway_ray.apart import Ended, run_apart, run_once
from spillway_ray.stop import Stop

from .conftest import HASTE, Place

LOST = "the process that uses Ray"


def killed(_goes_on: bool) -> Ended:
    os.kill(os.getpid(), signal.SIGKILL)
    return Ended(1)


def ended_by_a_library(_goes_on: bool) -> Ended:
    print("half a report", flush=True)
    os._exit(1)


def failed(_goes_on: bool) -> Ended:
    raise MemoryError


def test_a_result_is_passed_on(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    def run(goes_on: bool) -> Ended:
        os.write(1, b"a library prints")
        return Ended(1, b"violated\n" * 100_000, str(goes_on))

    ended = run_once(run, True, Stop())
    assert (ended.code, len(ended.report), ended.message) == (1, 900_000, "True")
    assert capfdbinary.readouterr() == (b"", b"a library prints")


@pytest.mark.parametrize("run", [killed, ended_by_a_library, failed])
def test_a_run_that_says_nothing_has_stopped(run: Callable[[bool], Ended]) -> None:
    begun: list[int] = []

    def is_begun() -> bool:
        begun.append(1)
        return True

    ended = run_apart(run, False, is_begun, Stop(), HASTE)
    assert (ended.code, ended.report, len(begun)) == (3, b"", 1)
    assert LOST in ended.message
    assert "(tried 6 times)" in ended.message
    # Without a search there is nothing to resume.
    ended = run_apart(run, False, lambda: False, Stop(), HASTE)
    assert (ended.code, "tried" in ended.message) == (3, False)


def test_a_run_that_is_lost_goes_on(tmp_path: Path) -> None:
    def run(goes_on: bool) -> Ended:
        mark = tmp_path / "mark"
        if not mark.exists():
            mark.touch()
            os._exit(1)
        return Ended(0, str(goes_on).encode())

    assert run_apart(run, False, lambda: True, Stop(), HASTE) == Ended(0, b"True")


def test_a_signal_is_passed_on() -> None:
    stop = Stop()

    def run(_goes_on: bool) -> Ended:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        try:
            time.sleep(60)
        except SystemExit:
            return Ended(3, b"a checkpoint")
        return Ended(0)

    def ask() -> None:
        time.sleep(1)
        stop.asked += 1

    asking = threading.Thread(target=ask)
    asking.start()
    assert run_apart(run, False, lambda: True, stop, HASTE) == Ended(3, b"a checkpoint")
    asking.join()


def test_a_cluster_that_is_not_there_is_wrong_at_first_only(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from spillway_ray.failure import Lost, Unreachable  # noqa: PLC0415
    from spillway_ray.runner import Processes  # noqa: PLC0415

    monkeypatch.setattr(cli, "Patience", lambda: HASTE)

    def away(_address: object, _memory: int) -> Processes:
        raise Unreachable("Ray cannot be reached")

    argv = place.command("check", "--address", "host:1")[3:]
    monkeypatch.setattr(cli, "runner", away)
    assert cli.main(argv) == 2
    assert "once more" not in capsys.readouterr().err

    class Leaving(Processes):
        def ended(self, seconds: float) -> list[object]:  # type: ignore[override]
            monkeypatch.setattr(cli, "runner", away)
            raise Lost("the cluster is gone")

    monkeypatch.setattr(cli, "runner", lambda _address, memory: Leaving(memory))
    assert cli.main(argv) == 3
    told = capsys.readouterr().err
    assert "note: the cluster is gone; once more in 0.01 s" in told
    assert f"`spillway-ray resume {place.folder}" in told
