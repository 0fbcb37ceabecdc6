"""The real binary, and what tells of the levels of its directories, where variables name them."""

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
    """Marks of tests that take long, with Ray and the real binary: variables ask for them."""
    are_named = bool(SPILLWAY and LEVELS and wanted)
    return [pytest.mark.ray, pytest.mark.skipif(not are_named, reason=reason)]


def driver(folder: Path, runner: Runner, wishes: Wishes, url: str = "") -> Driver:
    """A driver of a search in a folder, or below a URL, in this process."""
    storage = Storage(url, str(folder), 1 << 30) if url else None
    binary = Binary(SPILLWAY, str(folder), Stop(), storage)
    return Driver(binary, lambda: runner, wishes, Progress(), Patience())


def levels(folder: Path) -> str:
    """Of each level a hash of its states."""
    return subprocess.run([LEVELS, folder], stdout=-1, text=True, check=True).stdout
