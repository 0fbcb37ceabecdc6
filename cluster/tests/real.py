"""The real binary, and the program that prints the levels of a directory, named by variables."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from spillway_ray.binary import Binary
from spillway_ray.driver import Driver, Wishes
from spillway_ray.phase import Patience
from spillway_ray.progress import Progress
from spillway_ray.runner import Runner
from spillway_ray.stop import Stop
from spillway_ray.storage import Storage

# `cargo build --release --bin spillway --example levels`
SPILLWAY, LEVELS = (os.environ.get(it, "") for it in ("SPILLWAY", "SPILLWAY_LEVELS"))


def behind(wanted: object, reason: str) -> list[pytest.MarkDecorator]:
    """The marks of long tests with Ray and the real binary, which variables enable."""
    are_named = bool(SPILLWAY and LEVELS and wanted)
    return [pytest.mark.ray, pytest.mark.skipif(not are_named, reason=reason)]


def driver(folder: Path, runner: Runner, wishes: Wishes, url: str = "") -> Driver:
    """Creates a driver of a search in a folder, or below a URL, in this process."""
    storage = Storage(url, str(folder), 1 << 30) if url else None
    binary = Binary(SPILLWAY, str(folder), Stop(), storage)
    return Driver(binary, lambda: runner, wishes, Progress(), Patience())


def levels(folder: Path) -> str:
    """Returns a hash of the states of each level."""
    return subprocess.run([LEVELS, folder], stdout=-1, text=True, check=True).stdout
