"""One message per minute while verifications fail, from the logger `keyreeve`."""

from __future__ import annotations

import logging
import threading

from ._clock import Clock
from ._unavailable import KeyreeveUnavailable

PERIOD_SECONDS = 60.0

_log = logging.getLogger("keyreeve")


class OutageLog:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # Since the last message.
        self._failures = 0
        self._reason = ""
        self._logged: float | None = None

    def failed(self, error: KeyreeveUnavailable) -> None:
        with self._lock:
            self._failures += 1
            self._reason = str(error)
        self.flush()

    def flush(self) -> None:
        """Logs the failures since the last message, if it is a minute old."""
        if self._failures == 0:
            return
        with self._lock:
            now, failures, period = self._clock.now(), self._failures, ""
            if self._logged is not None:
                if now - self._logged < PERIOD_SECONDS:
                    return
                period = f" in {now - self._logged:.0f} s"
            self._failures = 0
            self._logged = now
        if failures > 0:
            count = "1 verification" if failures == 1 else f"{failures} verifications"
            _log.warning("Keyreeve is unavailable: %s (%s failed%s)", self._reason, count, period)
