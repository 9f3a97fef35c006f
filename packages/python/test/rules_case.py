"""What the tests of the rules share: a client with a clock that stands still, on a raw server."""

from __future__ import annotations

import time
import unittest
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from manual_clock import ManualClock
from service import Request, Service

from keyreeve import AcceptedCredential, Keyreeve, KeyreeveUnavailable, VerificationResult
from keyreeve._question import conditions_of, question_of

KEY = "krv_service"


def never(_: Request) -> None:
    """The test answers the requests itself, or not at all."""


def send_a_part(request: Request) -> None:
    request.send(b"HTTP/1.1 200 OK\r\n")


def account(result: VerificationResult) -> str:
    assert isinstance(result, AcceptedCredential), result
    return result.account_id


def waiting(client: Keyreeve) -> int:
    """Callers whose question has not been sent."""
    return client._sender._waiting


def until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.001)


def is_idle(client: Keyreeve) -> bool:
    return client._sender._idle_threads == client._sender._threads


class Asked(Future["VerificationResult | KeyreeveUnavailable"]):
    """A caller without a thread and without a deadline."""

    def deliver(self, outcome: VerificationResult | KeyreeveUnavailable) -> None:
        self.set_result(outcome)


def ask(client: Keyreeve, names: Iterable[str], waiter: Callable[[], Any] = Asked) -> list[tuple[Any, Callable[[], None]]]:
    """Asks in this order. Returns the waiters, and what makes them leave."""
    asked = []
    for name in names:
        added = waiter()
        question = question_of(name, conditions_of((), None, None), None)
        asked.append((added, client._sender.ask(question, added, client._clock.now() + 3)))
    return asked


class RulesCase(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = ManualClock()
        self.pool = ThreadPoolExecutor(16)
        self.addCleanup(self.pool.shutdown, wait=False)
        # Ends the verifications that a test leaves: the pool waits for them at the end of the process.
        self.addCleanup(self.clock.move, 1_000_000)

    def client(self, service: Service) -> Keyreeve:
        client = Keyreeve(service.url, KEY, _clock=self.clock)
        self.addCleanup(client.close)
        return client

    def start(self, client: Keyreeve, names: Iterable[str], **options: Any) -> list[Future[VerificationResult]]:
        """Starts verifications in this order."""
        started = []
        for name in names:
            before = waiting(client)
            started.append(self.pool.submit(client.verify, name, **options))
            until(lambda: waiting(client) > before)
        return started

    def fill(self, client: Keyreeve, service: Service, **options: Any) -> list[Future[VerificationResult]]:
        """Two batches in flight, so that later questions are unsent."""
        first = self.pool.submit(client.verify, "first", **options)
        service.wait_for(1)
        second = self.pool.submit(client.verify, "second", **options)
        service.wait_for(2)
        return [first, second]
