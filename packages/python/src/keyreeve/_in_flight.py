"""How many batches are in flight.

Questions that wait join a batch, so two batches are enough until full batches wait. Then the limit follows the service: as many as
let a full batch take twice as long as with two in flight.
"""

from __future__ import annotations

from dataclasses import dataclass

MIN = 2
MAX = 16
# Longer durations show that requests wait in the service or in a proxy.
SLOW_FACTOR = 2


@dataclass(frozen=True)
class Flight:
    started: float
    is_full: bool
    # Batches in flight, with this one.
    count: int


class InFlight:
    def __init__(self) -> None:
        self._count = 0
        self._limit = MIN
        # Duration of a full batch, with at most two in flight. In seconds, like all times here.
        self._base = 0.0
        # Duration of the last batch that the service has answered. 0 before the first one.
        self.last = 0.0

    def limit(self, full_waits: bool) -> int:
        """full_waits: whether a batch that is full waits."""
        return self._limit if full_waits else MIN

    def can_start(self, full_waits: bool) -> bool:
        return self._count < self.limit(full_waits)

    def start(self, started: float, is_full: bool) -> Flight:
        self._count += 1
        return Flight(started, is_full, self._count)

    def end(self, flight: Flight, ended: float | None, full_waits: bool) -> None:
        """ended: None if the service has not answered with results."""
        self._count -= 1
        if ended is None:
            self._set(self._limit / 2)
            return
        self.last = ended - flight.started
        if not full_waits:
            self._set(self._limit - 1)
        elif flight.is_full:
            self._follow(flight.count)

    def _follow(self, count: int) -> None:
        """count: of batches in flight when the last one started."""
        if count <= MIN:
            self._base = self.last
        # By Little's law, a service that works on one batch at a time gets four.
        self._set(MAX if self.last == 0 else count * SLOW_FACTOR * self._base / self.last)

    def _set(self, limit: float) -> None:
        self._limit = max(MIN, min(MAX, int(limit)))
