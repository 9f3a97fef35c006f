"""The 30 s of a management request are a total: a server that sends a byte now and then does not prolong them."""

from __future__ import annotations

import contextlib
import socket
import unittest
from collections.abc import Iterator
from concurrent.futures import Future

from rules_case import RulesCase, until

from keyreeve import KeyreeveError, Management, ServiceAccount


class ManagementDeadline(RulesCase):
    def test_a_request_with_a_slow_response_takes_30_s_at_most(self) -> None:
        with self.asked() as (asked, connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            for number in range(3):
                self.clock.move(9_999)
                reads = len(self.clock.socket_limits)
                connection.sendall(b"X-%d: y\r\n" % number)
                until(lambda reads=reads: len(self.clock.socket_limits) > reads)  # type: ignore[misc]
            self.assertFalse(asked.done())
            self.clock.move(3)
            connection.sendall(b"Z: y\r\n")
            with self.assertRaisesRegex(KeyreeveError, "^Keyreeve gave no response: the response is not complete$"):
                asked.result()
        self.assertEqual(set(self.clock.socket_limits), {30.0})

    def test_a_response_that_is_complete_before_30_s_is_read(self) -> None:
        with self.asked() as (asked, connection):
            self.clock.move(29_999)
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
            with self.assertRaises(KeyreeveError) as raised:
                asked.result()
        self.assertEqual(raised.exception.status, 404)

    @contextlib.contextmanager
    def asked(self) -> Iterator[tuple[Future[ServiceAccount], socket.socket]]:
        """A request whose headers have arrived."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            management = Management(url, "krv_management", _clock=self.clock)
            asked = self.pool.submit(management.get_service_account, "acc_1")
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as reader:
                while reader.readline().strip():
                    pass
                yield asked, connection


if __name__ == "__main__":
    unittest.main()
