"""The time of a client, and the waits that end at a time. Tests replace it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

# A timeout of 0 would make a socket non-blocking.
_SOCKET_SECONDS_MIN = 0.001


class Clock:
    """The clock of the system. All times are seconds of `now()`."""

    def now(self) -> float:
        return time.monotonic()

    def acquire(self, lock: threading.Lock, until: float) -> None:
        """Waits for the lock, until this time."""
        lock.acquire(timeout=max(0.0, until - self.now()))

    def pause(self, event: threading.Event, until: float) -> bool:
        """Waits for the event, until this time. Returns whether it is set."""
        return event.wait(max(0.0, until - self.now()))

    def call_at(self, loop: asyncio.AbstractEventLoop, until: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Calls back in the event loop of the caller. Returns a function that prevents the call."""
        return loop.call_later(max(0.0, until - self.now()), callback).cancel

    def wait(self, condition: threading.Condition, seconds: float) -> bool:
        """Waits for a notification. Returns false after this time."""
        return condition.wait(seconds)

    def socket_timeout(self, until: float) -> float | None:
        """How long an operation of a socket may take from now on."""
        return self.rest(until)

    def rest(self, until: float) -> float:
        """The time from now on, in seconds; never 0."""
        return max(_SOCKET_SECONDS_MIN, until - self.now())
