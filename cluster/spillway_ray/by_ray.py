"""Tasks run by Ray, on the current machines of its cluster.

Ray schedules tasks, and reports those that were lost with their worker or machine. Each task is
submitted once. The phase repeats lost tasks: it counts, waits and gives up in the same way for all
runners.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import ray
from ray import cloudpickle
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from . import objects, worker
from .failure import STOPPED, Failure, Lost, Unreachable
from .objects import first_line
from .runner import Order, Outcome, outcome, too_small

# Workers receive the functions by value, and do not need this package.
for it in (worker, objects):
    cloudpickle.register_pickle_by_value(it)  # type: ignore[no-untyped-call]

# The time in which a machine reports whether it is fit. A slower one reports it with its first
# task.
FIT_SECONDS = 30

# The time in which a cluster must answer at its address. Ray itself tries for minutes.
ANSWER_SECONDS = 10

# A run uses neither Ray's dashboard nor the output of workers, which print nothing. Both would take
# a tenth of Ray's own processor time.
QUIET: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False}

# Words in Ray's messages, on standard error or in exceptions, if it requires a token.
TOKEN_SIGNS = ("InvalidAuthToken", "Unauthenticated", "authentication token")

# While no task ends, the interval between checks that this machine belongs to the cluster. Without
# Ray's own process on this machine, tasks never end, and Ray reports nothing.
LOOK_SECONDS = 5.0

# The time in which Ray must disconnect from a cluster that may not answer.
CLOSE_SECONDS = 30.0


def look_for(address: str) -> None:
    """Fails if no server listens at an address with a port."""
    found = re.fullmatch(r"(?:ray://)?\[?([^/]+?)\]?:([0-9]{1,5})", address)
    if found is not None:
        socket.create_connection((found[1], int(found[2])), ANSWER_SECONDS).close()


class Unauthenticated(Exception):
    """The cluster requires a token, and this machine does not have the right one."""


def join(address: str | None) -> None:
    """Joins a cluster, or starts one. Raises `Unauthenticated` if the token is wrong.

    Ray's exception does not name this cause. Its library prints it on standard error each second.
    """
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        why: Exception | None = None
        try:
            ray.init(address=address, logging_level=logging.WARNING, **QUIET)
        except Exception as error:
            why = error
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        said = file.read().decode(errors="replace")
    if why is None:
        sys.stderr.write(said)
        return
    if any(it in said + str(why) for it in TOKEN_SIGNS):
        raise Unauthenticated(what_of_the_token()) from why
    last = [it for it in said.splitlines() if it.strip()][-1:]
    raise ConnectionError("\n  ".join([str(why), *last])) from why


def what_of_the_token() -> str:
    """A message: the fault of the token that this machine sends, and the remedy."""
    if os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
        found = "RAY_AUTH_MODE is not `token` here, so none is sent"
    else:
        found = "none is found here, or another one"
    return (
        f"it asks for a token, and {found}\n  help: `export RAY_AUTH_MODE=token` on each machine, "
        "with the token of the cluster's head in ~/.ray/auth_token (`ray get-auth-token` on the "
        "head prints it); docs/how-to/cluster.md explains this"
    )


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """Converts any exception of Ray: the cluster no longer answers."""
    try:
        yield
    except Exception as error:
        why = f"{type(error).__name__}: {first_line(error)}"
        raise Lost(f"the cluster of Ray does not answer any more: {why}") from error


class Cluster:
    """A cluster of Ray: a running one, or one that this process starts."""

    def __init__(self, address: str | None, memory: int) -> None:
        self._memory = memory
        self._open: dict[Any, int] = {}
        self._looked = time.monotonic()
        try:
            if address is not None:
                look_for(address)
            join(address)
        except Exception as error:
            where = "Ray" if address is None else f"Ray at {address}"
            raise Unreachable(f"{where} cannot be reached: {error}") from error
        if is_started_here() and self._nodes() and self.room() == 0:
            # No machine joins a cluster that was started for this run.
            why = self.why_no_room()
            self.close()
            raise Failure(why)
        # Ray reports a lost task at once. The phase counts it and submits it again.
        self._work = ray.remote(max_retries=0)(worker.work)
        self._unfit = ray.remote(num_cpus=0, max_retries=2)(worker.unfit)

    def _nodes(self) -> list[dict[str, Any]]:
        """The machines that tasks can run on."""
        return [it for it in alive_nodes() if it["Resources"].get("CPU", 0) >= 1]

    def room(self) -> int:
        resources = [it["Resources"] for it in self._nodes()]
        return sum(int(min(it["CPU"], it.get("memory", 0) // self._memory)) for it in resources)

    def why_no_room(self) -> str:
        nodes = self._nodes()
        if not nodes:
            return "no machine of the cluster has a processor for a task"
        largest = max(int(it["Resources"].get("memory", 0)) for it in nodes)
        if largest >= self._memory:
            return "no machine of the cluster has room for a task"
        return too_small(largest, self._memory)

    def unfit(self, fit: tuple[str, str, str, str]) -> list[str]:
        asked = []
        for node in self._nodes():
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            asked.append(self._unfit.options(scheduling_strategy=there).remote(*fit))
        if not asked:
            return []
        with answering():
            done, _ = ray.wait(asked, num_returns=len(asked), timeout=FIT_SECONDS)
        found = []
        for it in done:
            try:
                why = ray.get(it)
            except ray.exceptions.RayError:
                # A machine that has left meanwhile does not belong to the cluster.
                continue
            if why is not None:
                found.append(str(why))
        return sorted(found)

    def submit(self, order: Order) -> None:
        options = self._work.options(
            num_cpus=1,
            memory=self._memory,
            name=f"spillway task {order.task}",
            scheduling_strategy="SPREAD",
        )
        order_of = (order.command, order.request, order.fit, order.timeout)
        with answering():
            self._open[options.remote(*order_of)] = order.task

    def ended(self, seconds: float) -> list[Outcome]:
        open_ = list(self._open)
        with answering():
            done, _ = ray.wait(open_, num_returns=len(open_), timeout=0)
            if not done:
                done, _ = ray.wait(open_, num_returns=1, timeout=seconds)
        if not done and time.monotonic() - self._looked > LOOK_SECONDS:
            self._look()
        return [self._outcome(it, self._open.pop(it)) for it in done]

    def _look(self) -> None:
        """Fails if this machine no longer belongs to the cluster."""
        with answering():
            here = ray.get_runtime_context().get_node_id()
        if here not in [it["NodeID"] for it in alive_nodes()]:
            raise Lost("Ray's process on this machine is gone")
        self._looked = time.monotonic()

    @staticmethod
    def _outcome(done: Any, task: int) -> Outcome:
        try:
            return outcome(task, ray.get(done))
        except ray.exceptions.RayTaskError as error:
            # The code around the binary failed, not the binary.
            last = (str(error).strip() or type(error).__name__).splitlines()[-1]
            return Outcome(task, STOPPED, err=f"error: the task cannot be run: {last}")
        except ray.exceptions.LocalRayletDiedError as error:
            raise Lost("Ray's process on this machine is gone") from error
        except ray.exceptions.RayError as error:
            return Outcome(task, None, err=f"{type(error).__name__}: {first_line(error)}")

    def cancel(self) -> None:
        open_, self._open = self._open, {}
        # If the cluster does not answer, its tasks do not matter.
        with contextlib.suppress(Exception):
            for it in open_:
                ray.cancel(it, force=False)

    def close(self) -> None:
        closing = threading.Thread(target=self._let_go, daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)

    def _let_go(self) -> None:
        self.cancel()
        with contextlib.suppress(Exception):
            ray.shutdown()


def is_started_here() -> bool:
    """Whether the cluster was started by this process, and ends with it."""
    node = getattr(ray._private.worker, "_global_node", None)
    return bool(getattr(node, "head", False))


def alive_nodes() -> list[dict[str, Any]]:
    """The machines of the cluster that answer."""
    with answering():
        found = ray.nodes()  # type: ignore[no-untyped-call]
    return [it for it in found if it["Alive"]]
