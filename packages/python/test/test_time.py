"""The rules about time: deadlines, idle threads, and the clock of the system."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import unittest
from collections.abc import Callable

from rules_case import RulesCase, account, is_idle, never, send_a_part, until
from service import Request, Service

from keyreeve import Keyreeve, KeyreeveUnavailable
from keyreeve._clock import Clock

LATE = "^no result within 3 s$"


class Deadlines(RulesCase):
    def test_rule_5_a_verification_without_a_response_takes_3_s_at_most(self) -> None:
        self.check_deadline(never)

    def test_rule_5_a_verification_with_a_slow_response_takes_3_s_at_most(self) -> None:
        self.check_deadline(send_a_part)

    def check_deadline(self, answer: Callable[[Request], None]) -> None:
        is_free = threading.Event()
        self.addCleanup(is_free.set)

        async def verify_in_a_busy_loop(client: Keyreeve) -> None:
            verification = asyncio.create_task(client.verify_async("busy"))
            await asyncio.sleep(0)
            # The deadline of the batch passes before the loop can call its timer.
            is_free.wait()
            await verification

        begun: list[Request] = []

        def begin(request: Request) -> None:
            answer(request)
            begun.append(request)

        with Service(begin) as service:
            client = self.client(service)
            asked = self.clock.now()
            busy = self.pool.submit(lambda: asyncio.run(verify_in_a_busy_loop(client)))
            service.wait_for(1)
            late = [
                self.pool.submit(client.verify, "thread"),
                self.pool.submit(lambda: asyncio.run(client.verify_async("task"))),
            ]
            # The parts of a response come in their order.
            until(lambda: len(begun) == 2 and len(self.clock.deadlines()) == 3)
            self.assertEqual(self.clock.deadlines(), [asked + 3] * 3)
            for _ in range(2):
                self.clock.move(1_000)
                if answer is send_a_part:
                    for request in service.requests:
                        request.send(b"X: y\r\n")
            self.clock.move(999)
            self.assertEqual(self.clock.deadlines(), [asked + 3] * 3)
            self.clock.move(1)
            for each in late:
                with self.assertRaisesRegex(KeyreeveUnavailable, LATE):
                    each.result()
            # Its timer is due, and its batch fails before the loop calls the timer.
            for request in service.requests:
                with contextlib.suppress(OSError):
                    request.end()
            # The threads do not wait for the rest of a response.
            until(lambda: is_idle(client))
            is_free.set()
            with self.assertRaisesRegex(KeyreeveUnavailable, LATE):
                busy.result()

    def test_rule_5_the_deadline_bounds_each_operation_of_a_socket(self) -> None:
        with Service() as service:
            client = self.client(service)
            self.clock.move(500)
            client.verify("key")
            # To connect, to send and to read.
            self.assertEqual(self.clock.socket_limits, [3.5] * 3)

    def test_rule_5_a_caller_is_late_even_if_its_batch_never_ends(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service)
            unsent = self.start(client, ["unsent"])
            until(lambda: len(self.clock.deadlines()) == 3)
            self.assertEqual(self.clock.deadlines(), [3.0] * 3)
            self.clock.move(3_000)
            with self.assertRaisesRegex(KeyreeveUnavailable, LATE):
                unsent[0].result()

    def test_threads_and_connections_end_when_they_are_idle(self) -> None:
        with Service() as service:
            client = self.client(service)
            client.verify("key")
            client.close()
            until(lambda: client._sender._threads == 0)
            self.assertEqual(service.requests[0].connection.recv(1), b"")
            self.assertEqual(account(client.verify("again")), "again")

    def test_threads_and_connections_end_after_30_s_without_questions(self) -> None:
        with Service() as service:
            client = self.client(service)
            client.verify("key")
            until(lambda: self.clock.idle_ends() == [30.0])
            self.clock.move(29_999)
            self.assertEqual([client._sender._threads, self.clock.idle_ends()], [1, [30.0]])
            self.clock.move(1)
            until(lambda: client._sender._threads == 0)
            self.assertEqual(service.requests[0].connection.recv(1), b"")


class ClockOfTheSystem(unittest.TestCase):
    def test_waits_end_at_their_time_or_before(self) -> None:
        clock = Clock()
        lock, condition = threading.Lock(), threading.Condition()
        lock.acquire()
        begun = clock.now()
        clock.acquire(lock, begun + 0.02)
        self.assertGreaterEqual(clock.now(), begun + 0.02)
        with condition:
            self.assertFalse(clock.wait(condition, 0.001))
        lock.release()
        clock.acquire(lock, clock.now() + 1_000_000)
        self.assertTrue(lock.locked())

    def test_an_event_loop_calls_at_the_time_unless_prevented(self) -> None:
        clock = Clock()

        async def call() -> list[str]:
            called: list[str] = []
            last = asyncio.get_running_loop().create_future()
            begun = clock.now()
            clock.call_at(asyncio.get_running_loop(), begun, lambda: called.append("prevented"))()
            clock.call_at(asyncio.get_running_loop(), begun + 0.02, lambda: last.set_result(None))
            await last
            self.assertGreaterEqual(clock.now(), begun + 0.02)
            return called

        self.assertEqual(asyncio.run(call()), [])

    def test_a_socket_gets_the_rest_of_the_time_and_stays_blocking_after_it(self) -> None:
        class Stopped(Clock):
            def now(self) -> float:
                return 100.0

        self.assertEqual([Stopped().socket_timeout(until) for until in (102.5, 99.0)], [2.5, 0.001])


if __name__ == "__main__":
    unittest.main()
