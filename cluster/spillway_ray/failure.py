"""Ends of a run without a verdict: a message, and an exit code (`docs/reference/exit-codes.md`)."""

from __future__ import annotations

# The exit codes of the binary that this package distinguishes.
VERIFIED, VIOLATED, WRONG, STOPPED, DAMAGED, STALE = 0, 1, 2, 3, 4, 5


class Failure(Exception):
    """A failure that ends a run. With `said`, the message is that of the binary, unchanged.

    A failure never has the exit code of a verdict. An undocumented code, such as that of a process
    that panicked or could not be started, means that the run stopped.
    """

    def __init__(self, message: str, code: int = WRONG, said: bool = False) -> None:
        super().__init__(message)
        self.message = message if said else f"error: {message}"
        self.code = code if code in (WRONG, STOPPED, DAMAGED, STALE) else STOPPED


class Unreachable(Failure):
    """The cluster does not answer at its address."""


class Lost(Failure):
    """The cluster no longer answers. A new run may reach it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, STOPPED)


class Refused(Failure):
    """The binary or the object store rejected a request, with a reason."""


class Stale(Exception):
    """The plan is no longer the current one: another driver has committed it."""


class Stopped(Exception):
    """A signal requested the end of the run: Ctrl-C, SIGTERM."""
