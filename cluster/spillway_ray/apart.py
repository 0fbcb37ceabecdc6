"""A run in a process of its own, which may be lost.

Ray's library ends the process that uses it, with exit code 1, where its cluster does not answer
any more; no exception is raised. Exit code 1 means "violated". So a process that does not use Ray
starts the one that does, and believes only what that one sends at its end. Where it sends nothing,
the run is begun again as `resume`, some times.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time
from dataclasses import dataclass
from typing import Callable, NoReturn

from .failure import STOPPED
from .phase import Patience
from .progress import Progress
from .runner import how_it_ended
from .stop import Stop

# A run that was lost after so many seconds has not failed because of what it began with.
CALM_SECONDS = 600.0

# The first signal asks for a clean end and the second for one at once; this one does not ask.
SIGNALS_OF_PATIENCE = 3

# The number of the call of `prctl` that names the signal for when the parent is gone.
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    report: bytes = b""
    # What is to be said on standard error, if anything.
    message: str = ""
    # Whether the cluster could not be reached, or does not answer any more.
    is_cluster_away: bool = False
    # Whether the cluster answered before.
    was_reached: bool = False


# A run: whether it goes on with a search that was begun, and how it ends.
Run = Callable[[bool], Ended]


def run_apart(
    run: Run, goes_on: bool, is_begun: Callable[[], bool], stop: Stop, patience: Patience
) -> Ended:
    """Does a run in another process, and once more where that process or the cluster is lost."""
    progress = Progress()
    losses = 0
    while True:
        began = time.monotonic()
        ended = run_once(run, goes_on, stop)
        is_lost = ended.is_cluster_away and (ended.was_reached or losses > 0)
        if not is_lost or stop.asked > 0 or not (goes_on or is_begun()):
            return ended
        if time.monotonic() - began > CALM_SECONDS:
            losses = 0
        losses += 1
        message = ended.message.removeprefix("error: ")
        if losses > patience.storage:
            return Ended(STOPPED, message=f"error: {message} (tried {losses} times)")
        pause = patience.after(losses)
        progress.note(f"{message}; once more in {pause:g} s")
        stop.pause(pause)
        goes_on = True


def run_once(run: Run, goes_on: bool, stop: Stop) -> Ended:
    """Does a run in another process. Signals that this one gets are passed on to it."""
    reading, writing = os.pipe()
    parent = os.getpid()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        be_child(run, goes_on, parent, writing)
    os.close(writing)
    said, status, passed = bytearray(), None, 0
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], 0.1)
            if ready:
                more = pipe.read(1 << 16)
                if not more:
                    break
                said += more
            elif status is not None:
                # Processes that the child has left behind may have the pipe open.
                break
            if stop.asked > passed:
                passed += 1
                # Ray's library may wait for a cluster without looking at signals.
                number = signal.SIGTERM if passed < SIGNALS_OF_PATIENCE else signal.SIGKILL
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, number)
            if status is None:
                status = wait_for(child, os.WNOHANG)
    if status is None:
        status = wait_for(child, 0)
    return read_ended(bytes(said), os.waitstatus_to_exitcode(status or 0))


def wait_for(child: int, how: int) -> int | None:
    """How a process ended, if it did."""
    try:
        gone, status = os.waitpid(child, how)
    except ChildProcessError:
        # The system does not keep it where this process was begun to ignore its children.
        return 0
    return status if gone else None


def be_child(run: Run, goes_on: bool, parent: int, writing: int) -> NoReturn:
    """Does a run, sends how it ended, and ends this process."""
    try:
        # Ctrl-C in a terminal is for the parent alone, which passes it on.
        os.setsid()
        with contextlib.suppress(Exception):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            # The report is the parent's to print. Whatever Ray prints there is no part of it.
            os.dup2(2, 1)
            ended = run(goes_on)
            head = {
                "code": ended.code,
                "message": ended.message,
                "is_cluster_away": ended.is_cluster_away,
                "was_reached": ended.was_reached,
                "bytes": len(ended.report),
            }
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(json.dumps(head).encode() + b"\n" + ended.report)
    finally:
        os._exit(0)


def read_ended(said: bytes, code: int) -> Ended:
    """What a run has sent. One that has not sent all of it is lost, whatever its exit code."""
    line, _, report = said.partition(b"\n")
    with contextlib.suppress(ValueError, KeyError, TypeError):
        head = json.loads(line)
        if len(report) == head.pop("bytes"):
            return Ended(report=report, **head)
    why = f"the process that uses Ray {how_it_ended(code)}"
    return Ended(STOPPED, message=f"error: {why}", is_cluster_away=True, was_reached=True)
