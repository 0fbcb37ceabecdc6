"""Flags after `--`. `check` receives all of them. Each `resume` receives those that it also has.

The job of a search stores the others.
"""

from __future__ import annotations

from .failure import Failure

# Flags of `spillway resume` with a value.
VALUED = {
    "--checkpoint-every",
    "--disk-limit",
    "--exec",
    "--junit",
    "--memory",
    "--notify",
    "--report",
    "--sarif",
    "--spin-trail",
    "--threads",
}
# Flags of `spillway resume` without a value.
PLAIN = {"--json", "--msc", "--no-trace", "--strict", "--unfolded", "--verbose", "-v"}

# Flags that the driver sets itself, or that would end each session and not the run.
OURS = {
    "--dir": "it is a flag of `spillway-ray`",
    "--max-states": "the driver says it; `--thin STATES` is how many one process finds by itself",
    "--max-time": "it would end a sitting, not the run, which Ctrl-C ends",
}


def is_flag(it: str) -> bool:
    """Whether a word is a flag. `-` alone is a file."""
    return it.startswith("-") and it != "-"


def sift(flags: list[str]) -> tuple[list[str], list[str]]:
    """Splits flags with their values into those of `resume` and the others.

    The binary accepts a value that looks like a flag only after `=`.
    """
    kept: list[str] = []
    others: list[str] = []
    takes_value = False
    for it in flags:
        if takes_value and not is_flag(it):
            kept.append(it)
            takes_value = False
            continue
        name, equals, _ = it.partition("=")
        takes_value = name in VALUED and not equals
        if it.startswith("--"):
            (kept if name in VALUED | PLAIN else others).append(it)
        elif is_flag(it):
            # Short flags may be one word: `-vDN=3` is `-v -D N=3`, and `-Dv` has no `-v`.
            rest = it[1:]
            while rest and f"-{rest[0]}" in PLAIN:
                kept.append(f"-{rest[0]}")
                rest = rest[1:]
            others.extend([f"-{rest}"] if rest else [])
        else:
            others.append(it)
    return kept, others


def of_resume(flags: list[str]) -> list[str]:
    """The flags of `check` that `resume` also has."""
    return sift(flags)[0]


def refuse(flags: list[str], is_check: bool) -> None:
    """Rejects invalid flags after `--` before the search starts, not days later."""
    for it in flags:
        name = it.split("=")[0]
        if name in OURS:
            raise Failure(f"`{name}` cannot stand behind `--`: {OURS[name]}")
    others = sift(flags)[1]
    if others and not is_check:
        name = others[0].split("=")[0]
        raise Failure(f"`spillway resume` has no flag `{name}`: a search keeps what it began with")
