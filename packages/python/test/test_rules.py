"""The rules that keep the client strict. test/mutants.ts has a broken build for each.

No rule waits for something that only the correct library does, if a broken build is to be detected by it: waits have no limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
import unittest
from typing import Any

from rules_case import KEY, RulesCase, account, ask, is_idle, never, until, waiting
from service import Request, Service, accepted

from keyreeve import Keyreeve, KeyreeveUnavailable
from keyreeve import _connection

SERVICE = "auth.example.com"


class Rules(RulesCase):
    def test_rule_1_a_question_joins_no_batch_that_is_sent(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service, cost=0)
            late = self.start(client, ["first", "late"], cost=0)
            first, second = service.wait_for(2)
            self.assertEqual([first.credentials(), second.credentials()], [["first"], ["second"]])
            # The answers of the sent batches are old: a key was deleted meanwhile.
            first.answer()
            third = service.wait_for(3)[2]
            self.assertEqual(third.credentials(), ["first", "late"])
            third.answer([{"valid": False, "code": "not_found"}, accepted("late")])
            self.assertEqual([late[0].result().valid, account(late[1].result())], [False, "late"])

    def test_rule_2_no_result_is_kept(self) -> None:
        answers = iter([accepted("one"), {"valid": False, "code": "not_found"}])
        with Service(lambda request: request.answer([next(answers)])) as service:
            client = self.client(service)
            results = [client.verify("key", cost=0) for _ in range(2)]
            self.assertEqual([result.valid for result in results], [True, False])
            self.assertEqual(len(service.requests), 2)

    def test_rule_2_a_request_without_callers_ends(self) -> None:
        with Service(never) as service:
            client = self.client(service)

            async def leave() -> None:
                task = asyncio.ensure_future(client.verify_async("left"))
                await asyncio.to_thread(service.wait_for, 1)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

            asyncio.run(leave())
            # The clock stands still, so the request does not end at its deadline. Without an end, it would read this answer.
            with contextlib.suppress(OSError):
                service.requests[0].answer()
            until(lambda: is_idle(client))
            # The connection ended with the task, so the next question gets another one.
            later = self.pool.submit(client.verify, "later")
            request = service.wait_for(2)[1]
            request.answer()
            self.assertEqual([account(later.result()), request.number], ["later", 2])

    def test_rule_2_an_unsent_question_whose_caller_has_left_is_not_sent(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service)

            async def leave() -> None:
                task = asyncio.ensure_future(client.verify_async("left"))
                await asyncio.sleep(0)
                self.assertEqual(waiting(client), 1)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

            asyncio.run(leave())
            self.assertEqual(waiting(client), 0)
            self.start(client, ["stays"])
            service.requests[0].answer()
            self.assertEqual(service.wait_for(3)[2].credentials(), ["stays"])

    def test_rule_3_equal_questions_share_an_entry_only_without_cost(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service)
            free = self.start(client, ["key", "key"], cost=0)
            other = self.start(client, ["key"], cost=0, scopes=["orders:read"])
            paid = self.start(client, ["key", "key"])
            service.requests[0].answer()
            request = service.wait_for(3)[2]
            free_question, paid_question = {"credential": "key", "cost": 0}, {"credential": "key"}
            scoped = {"credential": "key", "scopes": ["orders:read"], "cost": 0}
            self.assertEqual(request.questions, [free_question, scoped, paid_question, paid_question])
            metadata = {"of": {"key": 1}}
            request.answer([{**accepted(name), "metadata": metadata} for name in ["free", "scoped", "1", "2"]])
            results = [started.result() for started in [*free, *other, *paid]]
            self.assertEqual([account(result) for result in results], ["free", "free", "scoped", "1", "2"])
            # A caller that changes its result changes no other.
            assert results[0].valid and results[1].valid and results[0].metadata and results[1].metadata
            results[0].metadata["of"]["key"] = 2
            self.assertEqual(results[1].metadata, {"of": {"key": 1}})

    def test_rule_4_only_a_free_question_is_repeated_once_on_a_new_connection(self) -> None:
        with Service(Request.end) as service:
            client = self.client(service)
            with self.assertRaises(KeyreeveUnavailable):
                client.verify("paid")
            self.assertEqual(len(service.wait_for(1)), 1)
            with self.assertRaises(KeyreeveUnavailable):
                client.verify("free", cost=0)
            self.assertEqual([request.number for request in service.requests], [1, 2, 3])

        with Service(lambda request: request.end() if request.number == 1 else request.answer()) as service:
            client = self.client(service)
            self.assertEqual(account(client.verify("free", cost=0)), "free")

    def test_rule_4_no_question_is_repeated_after_a_byte_of_a_response(self) -> None:
        def answer(request: Request) -> None:
            request.send(b"H")
            request.end()

        with Service(answer) as service, self.assertRaises(KeyreeveUnavailable):
            self.client(service).verify("free", cost=0)
        self.assertEqual(len(service.requests), 1)

    def test_a_paid_question_survives_the_end_of_an_idle_connection(self) -> None:
        with Service() as service:
            client = self.client(service)
            client.verify("one")
            service.requests[0].end()
            [connection] = client._sender._connections
            until(lambda: connection._http is not None and _connection._has_ended(connection._http))
            self.assertEqual(account(client.verify("two")), "two")
            self.assertEqual([request.number for request in service.requests], [1, 2])

    def test_rule_6_at_most_2_batches_of_256_questions_are_in_flight(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service)
            names = [str(number) for number in range(300)]
            asked = ask(client, names)
            # The call that asks starts the threads.
            self.assertEqual([client._sender._threads, len(service.requests), waiting(client)], [2, 2, 300])
            service.requests[0].answer()
            third = service.wait_for(3)[2]
            self.assertEqual(third.credentials(), names[:256])
            service.requests[1].answer()
            fourth = service.wait_for(4)[3]
            self.assertEqual(len(fourth.questions), 44)
            third.answer()
            fourth.answer()
            self.assertEqual([account(each.result()) for each, _ in asked], names)

    def test_a_batch_fits_the_bound_of_the_service(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service)
            ask(client, ["é" * 2_000 + f"{number:03}" for number in range(256)])
            service.requests[0].answer()
            self.assertEqual(len(service.wait_for(3)[2].questions), 248)

    def test_rule_6_16_384_questions_wait_and_one_more_is_refused_at_once(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service)
            asked = ask(client, (str(number) for number in range(16_384)))
            with self.assertRaisesRegex(KeyreeveUnavailable, "^16384 verifications wait already$"):
                ask(client, ["one more"])
            with self.assertRaisesRegex(KeyreeveUnavailable, "^16384 verifications wait already$"):
                client.verify("one more")
            with self.assertRaisesRegex(KeyreeveUnavailable, "^16384 verifications wait already$"):
                asyncio.run(client.verify_async("one more"))
            for _, leave in asked:
                leave()
            self.assertEqual(waiting(client), 0)

    def test_rule_7_results_belong_to_questions_by_position_and_count(self) -> None:
        for extra in (-1, 1):
            with self.subTest(extra=extra), Service(never) as service:
                client = self.client(service)
                self.fill(client, service)
                started = self.start(client, ["a", "b"])
                service.requests[0].answer()
                service.wait_for(3)[2].answer([accepted("x")] * (2 + extra))
                for each in started:
                    with self.assertRaisesRegex(KeyreeveUnavailable, f"{2 + extra} results for 2 questions"):
                        each.result()

    def test_rule_8_only_the_length_refuses_a_text_locally(self) -> None:
        with Service() as service:
            client = self.client(service)
            for text in ("", "k" * 4_097, "é" * 2_049, "\ud800"):
                self.assertEqual(client.verify(text).to_json(), {"valid": False, "code": "malformed"})
            self.assertEqual(service.requests, [])
            for text in ("k" * 4_096, "no-prefix", "\x00"):
                self.assertEqual(account(client.verify(text)), text)

    @unittest.skipUnless(hasattr(os, "fork"), "the system has no fork")
    def test_rule_9_a_child_process_starts_with_empty_state(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            first, _ = self.fill(client, service)
            self.start(client, ["unsent"])
            # A fork during a call leaves the lock taken in the child.
            client._sender._lock.acquire()
            child = os.fork()
            if child == 0:
                try:
                    ok = waiting(client) == 0 and account(client.verify("child")) == "child"
                finally:
                    os._exit(0 if ok else 1)
            client._sender._lock.release()
            # A child that keeps the state ends without a request.
            ended = 0
            while len(service.requests) < 3 and ended == 0:
                ended = os.waitpid(child, os.WNOHANG)[0]
                time.sleep(0.001)
            self.assertEqual(ended, 0)
            request = service.requests[2]
            self.assertEqual([request.credentials(), request.number], [["child"], 3])
            request.answer()
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            service.requests[0].answer()
            self.assertEqual(account(first.result()), "first")

    def test_rule_10_plain_http_is_for_loopback_only(self) -> None:
        for url in ("http://127.0.0.1:1", "http://127.9.9.9", "http://localhost", "http://[::1]:1", f"https://{SERVICE}"):
            Keyreeve(url, KEY)
        Keyreeve(f"http://{SERVICE}", KEY, allow_plain_http=True)
        for url in (f"http://{SERVICE}", "http://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1"):
            with self.subTest(url), self.assertRaisesRegex(ValueError, "plain HTTP is allowed to loopback only"):
                Keyreeve(url, KEY)
        for url in (SERVICE, f"ftp://{SERVICE}", f"https://u:p@{SERVICE}", f"https://{SERVICE}/?a", f"https://{SERVICE}#a"):
            with self.subTest(url), self.assertRaisesRegex(ValueError, "expected the URL of Keyreeve"):
                Keyreeve(url, KEY, allow_plain_http=True)

    def test_rule_10_a_redirect_is_an_error(self) -> None:
        with Service() as target:
            location = b"HTTP/1.1 307 X\r\nLocation: %s/auth/verify/batch\r\nContent-Length: 0\r\n\r\n" % target.url.encode()
            with Service(lambda request: request.send(location)) as service:
                with self.assertRaisesRegex(KeyreeveUnavailable, "the service answered 307"):
                    self.client(service).verify("key", cost=0)
            self.assertEqual([len(service.requests), target.requests], [1, []])

    def test_options_that_the_service_rejects_fail_the_call_and_not_the_batch(self) -> None:
        wrong: list[dict[str, Any]] = [
            {"scopes": "orders:read"}, {"scopes": ["a b"]}, {"scopes": [""]}, {"scopes": ["s"] * 33},
            {"environments": []}, {"environments": ["Live"]}, {"address": "127.0.0.1:80"}, {"address": "fe80::1%eth0"},
            {"cost": -1}, {"cost": 10_001}, {"cost": True}, {"cost": 1.0},
        ]  # fmt: skip
        with Service() as service:
            client = self.client(service)
            for options in wrong:
                with self.subTest(options), self.assertRaises(ValueError):
                    client.verify("key", **options)
            self.assertEqual(service.requests, [])

    def test_questions_with_other_environments_get_a_batch_of_their_own(self) -> None:
        with Service(never) as service:
            client = self.client(service)
            self.fill(client, service)
            self.start(client, ["a"])
            self.start(client, ["b"], environments=["unknown"])
            self.start(client, ["c"])
            service.requests[0].answer()
            service.requests[1].answer()
            batches = [request.credentials() for request in service.wait_for(4)[2:]]
            self.assertEqual(sorted(batches), [["a", "c"], ["b"]])

    def test_no_message_contains_a_credential(self) -> None:
        with Service(lambda request: request.send(b"HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n")) as service:
            client = self.client(service)
            with self.assertRaises(KeyreeveUnavailable) as raised:
                client.verify("krv_secret")
            self.assertEqual(str(raised.exception), "the service answered 401")
            self.assertEqual(repr(client), f"Keyreeve(url='{service.url}')")


if __name__ == "__main__":
    unittest.main()
