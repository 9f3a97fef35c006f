"""A clock that only a test moves, so that no load of the machine exceeds a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator

from keyreeve._clock import Clock

_POLL_SECONDS = 0.005


class ManualClock(Clock):
    """Starts at 0. It has no lock, because a fork could leave one taken: each step is one operation on a dictionary."""

    def __init__(self) -> None:
        self._now_ms = 0
        self._numbers = itertools.count()
        # The waits that have not ended: their time, what wakes them, and whether a caller waits.
        self._waits: dict[int, tuple[float, Callable[[], None], bool]] = {}
        # What operations of sockets were bounded by.
        self.socket_limits: list[float] = []

    def now(self) -> float:
        return self._now_ms / 1_000

    def move(self, ms: int) -> None:
        self._now_ms += ms
        for number, (until, wake, _) in list(self._waits.items()):
            if until <= self.now():
                self._drop(number)
                wake()

    def deadlines(self) -> list[float]:
        """Of the callers that wait."""
        return sorted(until for until, _, is_caller in list(self._waits.values()) if is_caller)

    def rests(self) -> list[int]:
        """The milliseconds until the waits of callers end."""
        return [round(until * 1_000) - self._now_ms for until in self.deadlines()]

    def idle_ends(self) -> list[float]:
        """When the threads without questions end."""
        return sorted(until for until, _, is_caller in list(self._waits.values()) if not is_caller)

    @contextlib.contextmanager
    def _waiting(self, until: float, wake: Callable[[], None], is_caller: bool) -> Iterator[None]:
        number = next(self._numbers)
        self._waits[number] = (until, wake, is_caller)
        try:
            yield
        finally:
            self._drop(number)

    def _drop(self, number: int) -> None:
        self._waits.pop(number, None)

    def acquire(self, lock: threading.Lock, until: float) -> None:
        with self._waiting(until, lambda: None, is_caller=True):
            while not lock.acquire(timeout=_POLL_SECONDS):
                if self.now() >= until:
                    return

    def pause(self, event: threading.Event, until: float) -> bool:
        with self._waiting(until, lambda: None, is_caller=True):
            while not event.wait(_POLL_SECONDS):
                if self.now() >= until:
                    return False
        return True

    def call_at(self, loop: asyncio.AbstractEventLoop, until: float, callback: Callable[[], None]) -> Callable[[], None]:
        number = next(self._numbers)

        def wake() -> None:
            # The loop has ended if its task was cancelled.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(callback)

        self._waits[number] = (until, wake, True)
        if self.now() >= until:
            wake()
        return lambda: self._drop(number)

    def wait(self, condition: threading.Condition, seconds: float) -> bool:
        until = self.now() + seconds

        def wake() -> None:
            with condition:
                condition.notify_all()

        with self._waiting(until, wake, is_caller=False):
            # A move meanwhile waits for the lock of the condition.
            condition.wait()
        return self.now() < until

    def socket_timeout(self, until: float) -> float | None:
        self.socket_limits.append(until)
        return None

