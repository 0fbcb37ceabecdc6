"""One phase: all tasks of a plan are done, however often some of them must be done again.

A task that is done twice gives the same bytes, so whatever is in doubt is done again: a task whose
worker or machine is gone, one that takes too long, one whose disk failed. How often, and after
which pause, is a matter of patience.
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

# What the binary says of its own flags, and what it is for whoever starts tasks.
TERMS = (
    (re.compile(r"--memory(?: or --threads)?(?![\w-])"), "--memory-per-task"),
    (re.compile("; `spillway resume` resumes a search that has a checkpoint"), ""),
)


def in_terms_of_tasks(message: str) -> str:
    """What the binary says of a task, with the flags of this command."""
    for pattern, instead in TERMS:
        message = pattern.sub(instead, message)
    return message


@dataclass(frozen=True)
class Patience:
    """How often something is tried again before a run ends, and how long the first pause is."""

    lost: int = 10
    late: int = 3
    storage: int = 5
    # Whoever sees an old plan over a slow folder, or waits for another who searches.
    behind: int = 10
    pause: float = 1.0
    # How long nothing may happen before the reason is told.
    quiet: float = 60.0

    def after(self, times: int) -> float:
        """The pause after so many failures."""
        return min(self.pause * 2.0 ** (times - 1), 30 * self.pause)


@dataclass
class Phase:
    """The tasks of one plan, being done."""

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
    # Tasks that wait for their turn: when, and which.
    waiting: list[tuple[float, int]] = field(default_factory=list)

    def run(self) -> None:
        """Does all tasks; `Stale` if the plan is not the current one any more."""
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
        """All tasks that are left wait for their turn."""
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
        """Whether a task is done. Otherwise it is done again, or the run ends."""
        if it.unfit is not None:
            raise Failure(it.unfit)
        if it.late:
            tries = f"did not end in {self.timeout:g} s"
            return self._again(it, "late", self.patience.late, f"{tries}; `--task-timeout` is more")
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
