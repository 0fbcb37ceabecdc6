"""What a run says of its progress, on standard error: a line for each phase."""

from __future__ import annotations

import sys
import time
from typing import IO

from .binary import Plan


def clock(seconds: float) -> str:
    """Hours, minutes and seconds, as the binary has them."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


class Progress:
    """Says how far a run is."""

    def __init__(self, to: IO[str] | None = None) -> None:
        self.to = sys.stderr if to is None else to
        self.began = time.monotonic()

    def say(self, text: str) -> None:
        """What cannot be written is left out."""
        try:
            self.to.write(text + "\n")
            self.to.flush()
        except (OSError, ValueError):
            pass

    def note(self, text: str) -> None:
        """Something that whoever looks on should know."""
        self.say(f"note: {text}")

    def phase(self, plan: Plan, states: int, seconds: float, redone: int = 0) -> None:
        """A phase is done, and there are so many states now."""
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
