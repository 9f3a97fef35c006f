"""The rules about many verifications at once, and about failures: what callers and the log learn of them."""

from __future__ import annotations

import contextlib
import tempfile
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from manual_clock import ManualClock
from rules_case import KEY, Asked, RulesCase, ask, is_idle, never, until
from service import Request, Service

from keyreeve import Keyreeve, KeyreeveUnavailable
from keyreeve._batch_sender import QUESTIONS_MAX
from keyreeve._in_flight import Flight, InFlight

STEP = 0.02


class Questions:
    """Questions that wait, and a service with an injected clock: the part of the sender that decides, without threads."""

    def __init__(self, count: int, duration: Callable[[int], float]) -> None:
        self.flights: list[tuple[float, Flight, int]] = []
        self.in_flight = InFlight()
        self.waiting = count
        self.duration = duration
        self.most = 0
        self.now = 0.0

    def full_waits(self) -> bool:
        return self.waiting >= QUESTIONS_MAX

    def serve(self) -> float:
        """Returns when the last question has its result."""
        while self.waiting > 0 or self.flights:
            while self.waiting > 0 and self.in_flight.can_start(self.full_waits()):
                flight = self.in_flight.start(self.now, self.full_waits())
                taken = min(QUESTIONS_MAX, self.waiting)
                self.flights.append((self.now + self.duration(len(self.flights)), flight, taken))
                self.waiting -= taken
            self.most = max(self.most, len(self.flights))
            self.now += STEP
            for due, flight, _ in [each for each in self.flights if each[0] <= self.now]:
                self.flights = [each for each in self.flights if each[1] is not flight]
                self.in_flight.end(flight, self.now, self.full_waits())
        return self.now


class Overload(RulesCase):
    def test_rule_6_the_batches_in_flight_follow_a_service_with_200_ms_per_batch(self) -> None:
        questions = Questions(12_000, lambda _: 0.2)
        self.assertLess(questions.serve(), 3)
        self.assertIn(questions.most, range(5, 17))

    def test_rule_6_a_service_that_works_on_one_batch_at_a_time_gets_few(self) -> None:
        questions = Questions(12_000, lambda before: (before + 1) * 2 * STEP)
        self.assertLess(questions.serve(), 3)
        self.assertLessEqual(questions.most, 4)

    def test_rule_6_the_limit_follows_a_service_that_becomes_slower_and_one_that_fails(self) -> None:
        questions = Questions(8_000, lambda _: STEP)
        questions.serve()
        for _ in range(4):
            questions.in_flight.end(questions.in_flight.start(questions.now, True), None, True)
        self.assertEqual(questions.in_flight.limit(True), 2)
        questions.waiting, questions.duration, begun = 12_000, lambda _: 0.2, questions.now
        self.assertLess(questions.serve() - begun, 3)

    def test_rule_6_the_sender_uses_the_limit(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service)
            asked = ask(client, (str(number) for number in range(10 * QUESTIONS_MAX)))
            self.clock.move(200)
            service.requests[0].answer()
            # The only place that became free, and two more: the first batch was not full.
            service.wait_for(3)
            for request in service.requests[1:3]:
                request.answer()
            for count in range(4, 13):
                service.wait_for(count)
                service.requests[count - 1].answer()
            for each, _ in asked:
                self.assertTrue(each.result().valid)
            until(lambda: is_idle(client))
            self.assertGreater(client._sender._threads, 2)
            self.assertLessEqual(client._sender._threads, 16)
            self.assertEqual([client._sender._bytes, client._sender._waiting], [0, 0])

    def test_rule_6_in_an_overload_a_question_that_would_be_late_is_not_sent(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service)
            old = ask(client, (f"old {number}" for number in range(QUESTIONS_MAX)))
            self.clock.move(2_000)
            young = ask(client, (f"young {number}" for number in range(QUESTIONS_MAX)))
            service.requests[0].answer()
            third = service.wait_for(3)[2]
            self.assertEqual(third.credentials()[0], "young 0")
            # A batch takes 2 s, and the old questions have waited for 2 s of 3.
            for each, _ in old:
                self.assertEqual(str(each.result()), "no result in time: a batch takes 2000 ms")
            third.answer()
            for each, _ in young:
                self.assertTrue(each.result().valid)


class Failures(RulesCase):
    def test_an_error_has_the_status_and_the_code_of_the_service_and_retry_after(self) -> None:
        for head, body, expected in [
            (b"429 X\r\nRetry-After: 7", b'{"code":"too_many_in_progress"}', (429, "too_many_in_progress", 7)),
            (b"401 X", b'{"code":"invalid_credential"}', (401, "invalid_credential", None)),
            (b"502 X\r\nRetry-After: Sun, 29 Nov 2026 21:00:00 GMT", b"<html>", (502, "unavailable", None)),
        ]:
            text = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (head, len(body), body)
            with Service(lambda request: request.send(text)) as service:
                with self.assertRaises(KeyreeveUnavailable) as raised:
                    self.client(service).verify("key")
            error = raised.exception
            self.assertEqual((error.status, error.code, error.retry_after_seconds), expected)

    def test_an_outage_has_one_message_per_minute(self) -> None:
        with Service(lambda request: request.send(b"HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n")) as service:
            client = self.client(service)
            reason = "WARNING:keyreeve:Keyreeve is unavailable: the service answered 503"

            def fail(count: int) -> None:
                for _ in range(count):
                    with contextlib.suppress(KeyreeveUnavailable):
                        client.verify("key")

            with self.assertLogs("keyreeve") as logged:
                fail(3)
                self.clock.move(59_999)
                fail(2)
                self.assertEqual(logged.output, [f"{reason} (1 verification failed)"])
                self.clock.move(1)
                fail(5)
                self.clock.move(90_000)
                # The service answers again.
                service._answer = Request.answer
                self.assertTrue(client.verify("key").valid)
            self.assertEqual(
                logged.output[1:],
                [f"{reason} (5 verifications failed in 60 s)", f"{reason} (4 verifications failed in 90 s)"],
            )

    def test_a_service_key_can_change_in_a_running_process(self) -> None:
        seen: list[str] = []
        with tempfile.TemporaryDirectory() as folder, Service(Request.answer) as service:
            file = Path(folder, "key")
            keys: Iterator[Any] = iter(["krv_first", "krv_second", "a\nb", OSError("no such secret"), "krv_third"])

            def read() -> str:
                key = next(keys)
                if isinstance(key, OSError):
                    raise key
                return str(key)

            service.seen = lambda lines: seen.append(lines[b"authorization"].decode())
            client = Keyreeve(service.url, read, _clock=self.clock)
            self.addCleanup(client.close)
            for _ in range(2):
                self.assertTrue(client.verify("key").valid)
            for message in ("has no API key", "no such secret"):
                with self.assertRaisesRegex(KeyreeveUnavailable, message):
                    client.verify("key")
            self.assertTrue(client.verify("key").valid)
            from_file = Keyreeve(service.url, service_key_file=file, _clock=self.clock)
            self.addCleanup(from_file.close)
            for text in ("krv_a\n", "krv_b"):
                file.write_text(text)
                self.assertTrue(from_file.verify("key").valid)
        expected = ["krv_first", "krv_second", "krv_third", "krv_a", "krv_b"]
        self.assertEqual(seen, [f"Bearer {key}" for key in expected])

    def test_a_client_needs_exactly_one_service_key(self) -> None:
        for key, file in [(None, None), (KEY, "file"), ("a\nb", None)]:
            with self.assertRaisesRegex(ValueError, "^service_key: expected"):
                Keyreeve("https://auth.example.com", key, service_key_file=file, _clock=ManualClock())


if __name__ == "__main__":
    unittest.main()
