"""Clusters of Ray for tests: simulated machines of one processor each on this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ray.cluster_utils import Cluster as Machines

STORE = 80 << 20


def machine(machines: Machines, **more: Any) -> Any:
    """Adds a machine."""
    return machines.add_node(num_cpus=1, object_store_memory=STORE, **more)


@contextlib.contextmanager
def several(number: int) -> Iterator[Machines]:
    """Runs this number of machines, including that of the head."""
    head = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
    found = Machines(initialize_head=True, head_node_args=head)
    try:
        for _ in range(number - 1):
            machine(found)
        yield found
    finally:
        found.shutdown()  # type: ignore[no-untyped-call]
