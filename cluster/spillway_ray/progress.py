"""The progress of a run on standard error: a line for each phase."""

from __future__ import annotations

import sys
import time
from typing import IO

from .binary import Plan


def clock(seconds: float) -> str:
    """Formats hours, minutes and seconds, as the binary does."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def counted(number: int, what: str) -> str:
    """Formats a number with its noun."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


class Progress:
    """Prints the progress of a run."""

    def __init__(self, to: IO[str] | None = None) -> None:
        self.to = sys.stderr if to is None else to
        self.began = time.monotonic()

    def say(self, text: str) -> None:
        """Prints a line. A line that cannot be written is dropped."""
        try:
            self.to.write(text + "\n")
            self.to.flush()
        except (OSError, ValueError):
            pass

    def note(self, text: str) -> None:
        """Prints a note for the user."""
        self.say(f"note: {text}")

    def phase(self, plan: Plan, states: int, seconds: float, redone: int = 0) -> None:
        """Prints a completed phase, with the number of states after it."""
        parts = [
            clock(time.monotonic() - self.began),
            f"level {plan.level}",
            counted(states, "state"),
            f"frontier {plan.frontier:,}",
            plan.phase,
        ]
        if plan.is_of_tasks:
            parts.append(counted(plan.tasks, "task"))
        parts.append(f"{seconds:.1f} s")
        if redone:
            parts.append(f"{redone:,} redone")
        self.say("  ".join(parts))
