"""The loop of a run: request a plan, run its tasks, commit their results, and repeat.

The driver holds no state. It may be killed at any time, and there may be several drivers. A plan is
written once, and all drivers follow it. A task gives the same bytes on every machine. If two
drivers commit the same plan, the second one fails with `Stale`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Callable

from .binary import Binary, Plan, Sitting
from .failure import DAMAGED, STOPPED, VERIFIED, VIOLATED, WRONG, Failure, Lost, Refused, Stale
from .flags import of_resume
from .objects import first_line
from .phase import Patience, Phase
from .progress import Progress
from .runner import Runner
from .stop import Stop

# Tasks for each one that can run at the same time. With several, few machines are idle at the end.
TASKS_FOR_ROOM = 3

# Without `--thin`, one process finds this number of states before the first plan. The binary treats
# smaller levels as thin. The first plan is early, since it shows whether tasks can do the search.
BEGIN_STATES = 200_000


@dataclass(frozen=True)
class Wishes:
    """The options of a run."""

    memory: str = "2GiB"
    tasks: int | None = None
    thin: int | None = None
    timeout: float | None = None
    # Flags of `check`. The job stores those that `resume` does not have.
    flags: list[str] = field(default_factory=list)


class Driver:
    """A run, from the first plan to the verdict."""

    def __init__(
        self,
        binary: Binary,
        runner: Callable[[], Runner],
        wishes: Wishes,
        progress: Progress,
        patience: Patience,
    ) -> None:
        self.binary = binary
        self.make_runner = runner
        self.wishes = wishes
        self.progress = progress
        self.patience = patience
        self.stop: Stop = binary.stop
        # Consecutive failures without progress, and the plan at which they occurred.
        self.failures = 0
        self.failed_at: Plan | None = None
        # The plan and the seconds of the last session, until the next plan.
        self.sat: tuple[Plan, float] | None = None

    def check(self, model: str) -> Sitting:
        """Starts a search, and runs it to the verdict."""
        first = self.wishes.thin or BEGIN_STATES
        flags = ["--dir", self.binary.folder, "--max-states", str(first), *self.wishes.flags]
        if self.binary.storage is not None:
            self.binary.storage.begin()
        with self._runner() as runner:
            try:
                began = self.binary.sit(["check", model, *flags])
            except Stale:
                raise Failure("another driver has started a search there meanwhile") from None
            except Refused as refused:
                # If copying to the object store failed, the search is in the folder.
                if refused.code != STOPPED or not self.binary.has_search():
                    raise
                self._failed(None, refused.message, self.patience.storage)
                return self._go_on(runner)
            if began.code in (VERIFIED, VIOLATED, WRONG, DAMAGED) or self.stop.asked:
                return began
            if not self.binary.has_search():
                return began
            return self._go_on(runner)

    def resume(self) -> Sitting:
        """Resumes a search, and runs it to the verdict."""
        self._fit()
        with self._runner() as runner:
            return self._go_on(runner)

    def _fit(self) -> tuple[str, str, str, str]:
        """The values for `worker.unfit`, once the search is in its final place."""
        while True:
            self.stop.check()
            try:
                self.binary.take_over()
                return self.binary.fit()
            except Refused as refused:
                if refused.code != STOPPED:
                    raise
                self._failed(None, refused.message, self.patience.storage)
            except Stale:
                # Another driver has copied it there meanwhile.
                continue

    @contextlib.contextmanager
    def _runner(self) -> Iterator[Runner]:
        self.stop.check()
        runner = self.make_runner()
        # Ray sets its own handlers.
        self.stop.listen()
        try:
            yield runner
        finally:
            for it in (runner, self.binary):
                self._close(it)

    def _close(self, it: Runner | Binary) -> None:
        """Closes something. A failure does not change the result of the run."""
        try:
            it.close()
        except Exception as error:
            self.progress.note(f"{type(it).__name__} cannot be closed: {first_line(error)}")

    def _go_on(self, runner: Runner) -> Sitting:
        bad = runner.unfit(self._fit())
        if bad:
            raise Failure("\n       ".join(bad))
        while True:
            ended = self._next(runner)
            if ended is not None:
                return ended

    def _next(self, runner: Runner) -> Sitting | None:
        """Does the next plan. Returns the last session if the run is over."""
        self.stop.check()
        plan: Plan | None = None
        try:
            plan = self._plan(runner)
            self._tell_of_sitting(plan)
            if not plan.is_of_tasks:
                return self._search(plan)
            self._tasks(runner, plan)
        except Stale:
            # Another driver has committed the plan, or the process sees an old state of the folder.
            message = "a stale plan is planned again and again"
            self._failed(plan, message, self.patience.behind, at_once=True)
        except Refused as refused:
            if refused.code == WRONG and self.binary.is_running():
                self._wait_for_another()
            elif refused.code == STOPPED:
                self._failed(plan, refused.message, self.patience.storage)
            elif plan is None or not self._is_over(runner, plan):
                raise
        except Lost:
            raise
        except Failure:
            if plan is None or not self._is_over(runner, plan):
                raise
        return None

    def _plan(self, runner: Runner) -> Plan:
        tasks = self.wishes.tasks or max(1, TASKS_FOR_ROOM * runner.room())
        return self.binary.plan(tasks, self.wishes.thin)

    def _is_over(self, runner: Runner, plan: Plan) -> bool:
        """Whether another driver has committed the plan. Failures then do not matter."""
        return plan.is_of_tasks and self._plan(runner) != plan

    def _tasks(self, runner: Runner, plan: Plan) -> None:
        began = time.monotonic()
        phase = Phase(
            self.binary,
            runner,
            self.stop,
            self.patience,
            plan,
            self.wishes.memory,
            self.wishes.timeout,
            self.progress.note,
        )
        phase.run()
        done = self.binary.commit(plan)
        states = int(done.get("states") or plan.states)
        self.progress.phase(plan, states, time.monotonic() - began, phase.redone)

    def _search(self, plan: Plan) -> Sitting | None:
        """Runs a session, which continues the search or prints the verdict again."""
        began = time.monotonic()
        limit = [] if plan.max_states is None else ["--max-states", str(plan.max_states)]
        flags = of_resume(self.wishes.flags)
        sitting = self.binary.sit(["resume", self.binary.folder, *limit, *flags])
        if sitting.code in (VERIFIED, VIOLATED):
            return sitting
        self.stop.check()
        if sitting.code == WRONG and self.binary.is_running():
            self._wait_for_another()
            return None
        self.sat = plan, time.monotonic() - began
        if sitting.code == DAMAGED:
            return sitting
        # It stopped at its limit, or made no progress. The next plan shows which.
        return self._stopped(plan, sitting)

    def _tell_of_sitting(self, now: Plan) -> None:
        """Reports the last session, with the number of states of the next plan."""
        if self.sat is not None:
            plan, seconds = self.sat
            self.progress.phase(plan, now.states, seconds)
            self.sat = None

    def _stopped(self, plan: Plan, sitting: Sitting) -> Sitting | None:
        """A session ended without a verdict. The run continues if the session made progress."""
        limit = 1 if sitting.code == WRONG else self.patience.storage
        if self.failed_at != plan:
            self.failed_at, self.failures = plan, 0
            return None
        self.failures += 1
        if self.failures >= limit:
            return sitting
        self.stop.pause(self.patience.after(self.failures))
        return None

    def _failed(self, plan: Plan | None, message: str, limit: int, at_once: bool = False) -> None:
        """Handles a failure that may be temporary: waits, or ends the run."""
        if self.failed_at != plan:
            self.failed_at, self.failures = plan, 0
        self.failures += 1
        message = message.removeprefix("error: ")
        if self.failures > limit:
            raise Failure(f"{message} (tried {self.failures} times)", STOPPED)
        if self.failures == 1 and at_once:
            return
        pause = self.patience.after(self.failures)
        self.progress.note(f"{message}; once more in {pause:g} s")
        self.stop.pause(pause)

    def _wait_for_another(self) -> None:
        """Waits while another process searches in the directory."""
        self.progress.note("another process searches in the directory; waiting for it")
        while self.binary.is_running():
            self.stop.pause(2 * self.patience.pause)
