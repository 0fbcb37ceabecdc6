"""How a run ends other than by a verdict: one message, and an exit code of `docs/reference/exit-codes.md`."""

from __future__ import annotations

# The codes of the binary that mean something here.
VERIFIED, VIOLATED, WRONG, STOPPED, DAMAGED, STALE = 0, 1, 2, 3, 4, 5


class Failure(Exception):
    """What ends a run. `said` is what the binary said, which stands for itself.

    A failure never has the exit code of a verdict. A code that no command documents, such as that
    of a process that panicked or could not be started, means that the run stopped.
    """

    def __init__(self, message: str, code: int = WRONG, said: bool = False) -> None:
        super().__init__(message)
        self.message = message if said else f"error: {message}"
        self.code = code if code in (WRONG, STOPPED, DAMAGED, STALE) else STOPPED


class Unreachable(Failure):
    """The cluster does not answer at its address."""


class Lost(Failure):
    """The cluster answered before, and does not answer any more. A new run may reach it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, STOPPED)


class Refused(Failure):
    """The binary, or where the search lies, did not do what it was asked, and said why."""


class Stale(Exception):
    """The plan is no longer the current one: somebody else has committed it."""


class Stopped(Exception):
    """Somebody asked for an end: Ctrl-C, SIGTERM."""
