"""Flags after `--`: those of `check` that `resume` receives."""

from __future__ import annotations

import pytest

from spillway_ray.driver import Wishes
from spillway_ray.flags import of_resume

from .conftest import Place


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        ("--memory 8GiB --reduce none --json", "--memory 8GiB --json"),
        ("--memory=8GiB --reduce=none --no-trace", "--memory=8GiB --no-trace"),
        ("--invariant json --json json", "--json"),
        ("--threads --keep-going 4", "--threads"),
        ("--report - --only deadlock", "--report -"),
        ("--notify= --store raw", "--notify="),
        ("-v -D N=3", "-v"),
        ("-vDN=3 -Dv", "-v"),
        ("-D v --exec interp", "--exec interp"),
        ("--memory-limit 3 --jsonl", ""),
    ],
)
def test_what_resume_has_too(flags: str, kept: str) -> None:
    assert of_resume(flags.split()) == kept.split()


def test_a_search_with_flags(place: Place) -> None:
    flags = ["--reduce", "none", "-vDN=3", "--memory=64MiB", "--keep-going", "--threads", "2"]
    assert place.check(Wishes(tasks=3, thin=5, flags=flags)) == (0, place.verified)
    assert place.called("sit") > 1
