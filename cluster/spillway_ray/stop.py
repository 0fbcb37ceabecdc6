"""Requests to stop. Signals are counted, and each wait checks the count.

The first signal requests a clean end, and the second an immediate one. Both are safe.
"""

from __future__ import annotations

import signal
import time

from .failure import Stopped

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """Counts the requests to stop."""

    def __init__(self) -> None:
        self.asked = 0

    def check(self) -> None:
        """Raises `Stopped` after a request to stop."""
        if self.asked:
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Waits. Raises `Stopped` at a request to stop."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, 0.1))
        self.check()

    def _count(self, _number: int, _frame: object) -> None:
        self.asked += 1

    def listen(self) -> None:
        """Starts counting signals. An ignored signal, as under `nohup`, remains ignored."""
        for it in SIGNALS:
            if signal.getsignal(it) is not signal.SIG_IGN:
                signal.signal(it, self._count)
