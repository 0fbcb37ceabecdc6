"""One phase: runs all tasks of a plan, and repeats tasks that failed.

A task that is run twice gives the same bytes. So each uncertain task is repeated: one whose worker
or machine is lost, one that takes too long, and one whose disk failed. `Patience` limits the number
of repetitions and sets the pauses.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Callable

from .binary import Binary, Plan
from .failure import DAMAGED, STALE, STOPPED, WRONG, Failure, Stale
from .runner import Order, Outcome, Runner
from .stop import Stop

# Flags in the messages of the binary, and the corresponding flags of this command.
TERMS = (
    (re.compile(r"--memory(?: or --threads)?(?![\w-])"), "--memory-per-task"),
    (re.compile("; `spillway resume` resumes a search that has a checkpoint"), ""),
)


def in_terms_of_tasks(message: str) -> str:
    """Replaces the flags in a message of the binary by those of this command."""
    for pattern, instead in TERMS:
        message = pattern.sub(instead, message)
    return message


@dataclass(frozen=True)
class Patience:
    """The maximum numbers of retries before a run ends, and the first pause in seconds."""

    lost: int = 10
    late: int = 3
    storage: int = 5
    # For an old plan that a slow folder still shows, and for a search by another process.
    behind: int = 10
    pause: float = 1.0
    # The time without events, in seconds, after which the reason is printed.
    quiet: float = 60.0

    def after(self, times: int) -> float:
        """The pause after this number of failures, in seconds."""
        return min(self.pause * 2.0 ** (times - 1), 30 * self.pause)


@dataclass
class Phase:
    """The tasks of one plan, while they run."""

    binary: Binary
    runner: Runner
    stop: Stop
    patience: Patience
    plan: Plan
    memory: str
    timeout: float | None
    tell: Callable[[str], None]
    redone: int = 0
    failed: Counter[tuple[str, int]] = field(default_factory=Counter)
    # Tasks that wait: the time at which each is submitted, and its number.
    waiting: list[tuple[float, int]] = field(default_factory=list)

    def run(self) -> None:
        """Runs all tasks. Raises `Stale` if the plan is no longer the current one."""
        fit = self.binary.fit()
        self.waiting = [(0.0, task) for task in range(self.plan.tasks)]
        left = self.plan.tasks
        quiet_since = time.monotonic()
        if self.runner.room() == 0:
            self._tell_why_quiet(left)
        try:
            while left > 0:
                self.stop.check()
                self._submit(fit)
                ended = self.runner.ended(0.3) if left > len(self.waiting) else self._sleep()
                done = [it for it in ended if self._judge(it)]
                left -= len(done)
                if ended:
                    quiet_since = time.monotonic()
                elif time.monotonic() - quiet_since > self.patience.quiet:
                    self._tell_why_quiet(left)
                    quiet_since = time.monotonic()
        except BaseException:
            self.runner.cancel()
            raise

    def _sleep(self) -> list[Outcome]:
        """Sleeps while all remaining tasks wait."""
        self.stop.pause(min(0.3, max(0.0, min(self.waiting)[0] - time.monotonic())))
        return []

    def _submit(self, fit: tuple[str, str, str, str]) -> None:
        now = time.monotonic()
        due = sorted(task for at, task in self.waiting if at <= now)
        self.waiting = [(at, task) for at, task in self.waiting if at > now]
        command = self.binary.server("--memory", self.memory)
        for task in due:
            request = self.binary.task(self.plan, task)
            self.runner.submit(Order(task, command, request, fit, self.timeout))

    def _judge(self, it: Outcome) -> bool:
        """Returns whether a task is done. Otherwise it is repeated, or the run ends."""
        if it.unfit is not None:
            raise Failure(it.unfit)
        if it.late:
            tries = f"did not end in {self.timeout:g} s"
            return self._again(it, "late", self.patience.late, f"{tries}; raise `--task-timeout`")
        if it.code == 0:
            return True
        if it.code == STALE:
            raise Stale
        if it.code == STOPPED:
            return self._again(it, "storage", self.patience.storage, it.err)
        if it.code in (WRONG, DAMAGED):
            err = in_terms_of_tasks(it.err.strip())
            raise Failure(err or f"task {it.task} fails on {it.host}", it.code, said=True)
        why = it.err.strip() or f"exit code {it.code}"
        return self._again(it, "lost", self.patience.lost, f"was lost with its worker: {why}")

    def _again(self, it: Outcome, why: str, limit: int, message: str) -> bool:
        self.failed[why, it.task] += 1
        times = self.failed[why, it.task]
        where = f" on {it.host}" if it.host else ""
        told = f"task {it.task}{where}: {in_terms_of_tasks(message.strip()) or 'fails'}"
        if times > limit:
            raise Failure(f"{told} (tried {times} times)", STOPPED)
        pause = self.patience.after(times)
        self.tell(f"{told}; once more in {pause:g} s")
        self.redone += 1
        self.waiting.append((time.monotonic() + pause, it.task))
        return False

    def _tell_why_quiet(self, left: int) -> None:
        if self.runner.room() == 0:
            message = f"{self.runner.why_no_room()}; waiting for a machine that has it"
        else:
            message = f"{self.plan.phase}: {left} of {self.plan.tasks} tasks are not done yet"
        self.tell(message)
