"""A run in a separate process, which may be lost.

If its cluster no longer answers, Ray's library ends the process that uses it with exit code 1,
without an exception. Exit code 1 means "violated". So a process that does not use Ray starts the
process that does, and trusts only the result that this process sends at its end. If it sends none,
the run is repeated as `resume`, a limited number of times.
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

# A run that was lost after this time did not fail because of its initial conditions.
CALM_SECONDS = 600.0

# The first signal requests a clean end, and the second an immediate one. This one kills.
SIGNALS_OF_PATIENCE = 3

# The option of `prctl` that sets the signal for the end of the parent.
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    report: bytes = b""
    # The message for standard error, if any.
    message: str = ""
    # Whether the cluster could not be reached, or no longer answers.
    is_cluster_away: bool = False
    # Whether the cluster answered before.
    was_reached: bool = False


# A run. The argument tells whether it resumes a search. Returns how the run ended.
Run = Callable[[bool], Ended]


def run_apart(
    run: Run, goes_on: bool, is_begun: Callable[[], bool], stop: Stop, patience: Patience
) -> Ended:
    """Does a run in another process, and repeats it if that process or the cluster is lost."""
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
    """Does a run in another process. Forwards the signals of this process to it."""
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
                # Descendants of the child may still have the pipe open.
                break
            if stop.asked > passed:
                passed += 1
                # Ray's library may wait for a cluster and ignore signals.
                number = signal.SIGTERM if passed < SIGNALS_OF_PATIENCE else signal.SIGKILL
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, number)
            if status is None:
                status = wait_for(child, os.WNOHANG)
    if status is None:
        status = wait_for(child, 0)
    return read_ended(bytes(said), os.waitstatus_to_exitcode(status or 0))


def wait_for(child: int, how: int) -> int | None:
    """Returns the status of a process that ended, or None."""
    try:
        gone, status = os.waitpid(child, how)
    except ChildProcessError:
        # The system does not keep the status if this process ignores its children.
        return 0
    return status if gone else None


def be_child(run: Run, goes_on: bool, parent: int, writing: int) -> NoReturn:
    """Does a run, sends its result, and ends this process."""
    try:
        # Ctrl-C in a terminal reaches only the parent, which forwards it.
        os.setsid()
        with contextlib.suppress(Exception):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            # The parent prints the report. The output of Ray is no part of the report.
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
    """Reads the result that a run has sent. An incomplete result means that the run is lost."""
    line, _, report = said.partition(b"\n")
    with contextlib.suppress(ValueError, KeyError, TypeError):
        head = json.loads(line)
        if len(report) == head.pop("bytes"):
            return Ended(report=report, **head)
    why = f"the process that uses Ray {how_it_ended(code)}"
    return Ended(STOPPED, message=f"error: {why}", is_cluster_away=True, was_reached=True)
