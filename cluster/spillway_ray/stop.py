"""Being asked to stop: signals are counted, and whoever waits looks.

The first asks for a clean end, the second for one at once. Both are safe.
"""

from __future__ import annotations

import signal
import time

from .failure import Stopped

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """How often somebody has asked for an end."""

    def __init__(self) -> None:
        self.asked = 0

    def check(self) -> None:
        """Ends what is being done, if that was asked for."""
        if self.asked:
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Waits, unless somebody asks for an end."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, 0.1))
        self.check()

    def _count(self, _number: int, _frame: object) -> None:
        self.asked += 1

    def listen(self) -> None:
        """Counts signals from now on. One that is ignored, as by `nohup`, stays so."""
        for it in SIGNALS:
            if signal.getsignal(it) is not signal.SIG_IGN:
                signal.signal(it, self._count)
