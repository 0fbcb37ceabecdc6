"""Runners of tasks: processes on this machine. `by_ray` contains the other runner.

A runner accepts tasks, and returns the outcomes of those that ended. It does not evaluate them: the
phase decides what is repeated, and when (`phase`).
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import signal
import threading
from dataclasses import dataclass
from typing import Any, Protocol

from . import worker
from .failure import Failure

# The address that selects processes on this machine, without a cluster.
LOCAL = "local-processes"


@dataclass(frozen=True)
class Order:
    """One task, as it is submitted to a machine."""

    task: int
    # The command that starts a server, and the request to it.
    command: worker.Command
    request: str
    fit: tuple[str, str, str, str]
    timeout: float | None


@dataclass(frozen=True)
class Outcome:
    """The outcome of a submitted task."""

    task: int
    # The exit code; None if the process or its machine is lost.
    code: int | None
    err: str = ""
    host: str = ""
    # Whether it exceeded its time limit and was killed.
    late: bool = False
    # The reason why its machine is unfit.
    unfit: str | None = None


class Runner(Protocol):
    """Runs tasks."""

    def room(self) -> int:
        """Returns the number of tasks that can run at the same time now."""

    def why_no_room(self) -> str:
        """Returns the reason why no current machine can run a task."""

    def unfit(self, fit: tuple[str, str, str, str]) -> list[str]:
        """Returns the reasons why current machines are unfit."""

    def submit(self, order: Order) -> None:
        """Submits a task, which runs when there is room."""

    def ended(self, seconds: float) -> list[Outcome]:
        """Returns the tasks that ended, after waiting at most this time for one."""

    def cancel(self) -> None:
        """Cancels all tasks. None of them has an outcome."""

    def close(self) -> None:
        """Releases all resources."""


def outcome(task: int, told: dict[str, Any]) -> Outcome:
    """Converts the result of `worker.work`."""
    if "unfit" in told:
        return Outcome(task, None, unfit=told["unfit"])
    is_lost = worker.is_lost(told)
    err = str(told["err"]).strip()
    if is_lost:
        how = f"its process {how_it_ended(told['code'])}"
        err = ": ".join(it for it in (how, err) if it)
    code = None if is_lost else int(told["code"])
    return Outcome(task, code, err, told["host"], bool(told["late"]))


def how_it_ended(code: int | None) -> str:
    """Describes the end of a process that gave no answer."""
    if code is None:
        return "does not end"
    if code >= 0:
        return f"ended without an answer, with exit code {code}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(-code).name
        hint = ", which the system sends if memory runs out" if -code == signal.SIGKILL else ""
        return f"was ended by {name}{hint}"
    return f"was ended by signal {-code}"


def sized(number: int) -> str:
    """Formats a number of bytes."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if number >= 1 << power:
            return f"{number / (1 << power):.1f}{unit}"
    return f"{number}B"


def too_small(largest: int, memory: int) -> str:
    """A message: no machine has the memory of a task."""
    return (
        f"no machine has {sized(memory)} of memory for a task: the largest has {sized(largest)}; "
        "`--memory-per-task` says how much a task is given"
    )


def local_room(memory: int) -> int:
    """Returns the number of tasks with this memory that fit on this machine. Fails if none does."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if memory > total:
        raise Failure(too_small(total, memory))
    return max(1, min(cores or 1, total * 8 // 10 // memory))


class Processes:
    """Processes on this machine."""

    def __init__(self, memory: int) -> None:
        self._room = local_room(memory)
        self._pool = concurrent.futures.ThreadPoolExecutor(self._room)
        self._open: dict[concurrent.futures.Future[dict[str, Any]], int] = {}
        self._let_go = threading.Event()

    def room(self) -> int:
        return self._room

    def why_no_room(self) -> str:
        return "this machine has no room for a task"

    def unfit(self, fit: tuple[str, str, str, str]) -> list[str]:
        why = worker.unfit(*fit)
        return [] if why is None else [why]

    def submit(self, order: Order) -> None:
        order_of = (order.command, order.request, order.fit, order.timeout)
        future = self._pool.submit(worker.work, *order_of, self._let_go.is_set)
        self._open[future] = order.task

    def ended(self, seconds: float) -> list[Outcome]:
        first = concurrent.futures.FIRST_COMPLETED
        done, _ = concurrent.futures.wait(self._open, seconds, return_when=first)
        return [outcome(self._open.pop(it), it.result()) for it in done]

    def cancel(self) -> None:
        self._let_go.set()
        for future in self._open:
            future.cancel()
        concurrent.futures.wait(self._open)
        self._open.clear()
        self._let_go = threading.Event()

    def close(self) -> None:
        self.cancel()
        self._pool.shutdown()
        worker.let_go()
