"""A host with several addresses: the first one that answers is used (RFC 8305)."""

from __future__ import annotations

import socket
import unittest
from typing import Any
from unittest import mock

from rules_case import RulesCase, account
from service import Service

from keyreeve import Keyreeve, KeyreeveUnavailable
from keyreeve import _dial
from keyreeve._clock import Clock

Found = tuple[Any, Any, int, str, Any]


def found(host: str, port: int) -> Found:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    address = (host, port, 0, 0) if ":" in host else (host, port)
    return (family, socket.SOCK_STREAM, 6, "", address)


class DeadAddress:
    """A listener whose queue is full: it answers no further attempt to connect."""

    def __init__(self, host: str = "127.0.0.2") -> None:
        self._listener = socket.socket()
        self._listener.bind((host, 0))
        self._listener.listen(0)
        self.address = self._listener.getsockname()
        self._waiting: list[socket.socket] = []

    def __enter__(self) -> DeadAddress:
        for _ in range(4):
            sock = socket.socket()
            sock.setblocking(False)
            sock.connect_ex(self.address)
            self._waiting.append(sock)
        return self

    def __exit__(self, *_: object) -> None:
        for sock in [*self._waiting, self._listener]:
            sock.close()


def resolved(*results: Found) -> Any:
    return mock.patch.object(socket, "getaddrinfo", lambda *_, **__: list(results))


class Addresses(RulesCase):
    def test_an_address_that_does_not_answer_does_not_use_up_the_time(self) -> None:
        with DeadAddress() as dead, Service() as service:
            host, port = service.url.removeprefix("http://").split(":")
            with resolved(found(*dead.address), found(host, int(port))):
                # With the clock of the system: the deadline of 3 s holds.
                client = Keyreeve("http://localhost:1", "krv_service")
                try:
                    self.assertEqual(account(client.verify("key")), "key")
                except KeyreeveUnavailable as error:
                    self.fail(f"no result: {error}")
                finally:
                    client.close()

    def test_a_refused_address_is_followed_by_the_next_at_once(self) -> None:
        with Service() as service:
            host, port = service.url.removeprefix("http://").split(":")
            refused = socket.socket()
            refused.bind(("127.0.0.1", 0))
            delays = mock.patch.object(_dial, "ATTEMPT_DELAY_SECONDS", 1_000_000)
            with refused, delays, resolved(found(*refused.getsockname()), found(host, int(port))):
                self.assertEqual(account(Keyreeve("http://localhost:1", "krv_service").verify("key")), "key")

    def test_the_attempts_end_at_the_deadline_and_with_the_last_address(self) -> None:
        with DeadAddress() as dead, DeadAddress("127.0.0.3") as other:
            with resolved(found(*dead.address), found(*other.address)), self.assertRaises(TimeoutError):
                clock = Clock()
                _dial.dial("host", 1, clock, clock.now() + 0.3)
        with resolved(), self.assertRaisesRegex(OSError, "no address"):
            clock = Clock()
            _dial.dial("host", 1, clock, clock.now() + 3)
        refused = socket.socket()
        refused.bind(("127.0.0.1", 0))
        with refused, resolved(found(*refused.getsockname())), self.assertRaises(ConnectionRefusedError):
            _dial.dial("host", 1, clock, clock.now() + 3)
        with resolved(found("127.0.0.1", 9)), self.assertRaises(KeyreeveUnavailable):
            Keyreeve("http://localhost:1", "krv_service").verify("key", cost=0)

    def test_the_families_take_turns_in_the_order_of_the_system(self) -> None:
        results = [found(host, 1) for host in ("::1", "::2", "::3", "10.0.0.1", "10.0.0.2")]
        order = [address[4][0] for address in _dial._interleaved(results)]
        self.assertEqual(order, ["::1", "10.0.0.1", "::2", "10.0.0.2", "::3"])


if __name__ == "__main__":
    unittest.main()
