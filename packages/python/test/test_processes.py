"""Process models: forks that call no handlers of Python, threads that a library replaces, and event loops other than asyncio."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import unittest
from typing import Any
from unittest import mock

from rules_case import KEY, RulesCase, account
from service import Service

from keyreeve import Keyreeve

# Runs in a process of its own, because the patches of gevent hold for the whole process.
_GEVENT = """
import sys, time
from keyreeve import Keyreeve
client = Keyreeve(sys.argv[1], "krv_service")
if sys.argv[2] == "used":
    client.verify("before")
from gevent import monkey
monkey.patch_all()
import gevent
ticks = []
def tick():
    while True:
        ticks.append(time.monotonic())
        gevent.sleep(0.01)
gevent.spawn(tick)
gevent.sleep(0.05)
results = [job.get() for job in [gevent.spawn(client.verify, name) for name in ("one", "two")]]
gevent.sleep(0.05)
# A thread that waits for questions does not stop the other greenlets.
assert max(b - a for a, b in zip(ticks, ticks[1:])) < 20, ticks
print([result.account_id for result in results])
"""


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


class Processes(RulesCase):
    @unittest.skipUnless(sys.platform == "linux", "the C library has no fork")
    def test_rule_9_a_fork_that_calls_no_handlers_starts_with_empty_state(self) -> None:
        # A thread that waits for the lock of the interpreter at the fork can leave it unusable in the child, which no library
        # repairs. The system then ends the child, and there is another attempt.
        attempts = 5
        while self._status_of_fork() == signal.SIGALRM:
            attempts -= 1
            self.assertGreater(attempts, 0)

    def _status_of_fork(self) -> int:
        with Service() as service:
            client = self.client(service)
            client.verify("parent")
            before = client._sender
            # As a server in C does. PyDLL keeps the lock of the interpreter.
            child = ctypes.PyDLL(None).fork()
            if child == 0:
                signal.alarm(30)
                ok = False
                try:
                    ok = client._sender is not before and account(client.verify("child")) == "child"
                finally:
                    os._exit(0 if ok else 1)
            status = os.waitpid(child, 0)[1]
            if status == signal.SIGALRM:
                return status
            self.assertEqual(status, 0)
            # On a connection of its own.
            self.assertEqual([request.number for request in service.requests], [1, 2])
            self.assertEqual(account(client.verify("parent")), "parent")
            self.assertEqual([request.number for request in service.requests], [1, 2, 1])
            return status

    def test_a_client_that_was_made_before_a_library_replaces_the_threads_uses_the_new_ones(self) -> None:
        with Service() as service:
            client = self.client(service)
            client.verify("before")
            before = client._sender
            with mock.patch.object(threading, "Lock", lambda: _lock()):
                self.assertEqual(account(client.verify("after")), "after")
                self.assertIsNot(client._sender, before)
            self.assertIs(client._sender, before)

    def test_threads_that_start_a_sender_at_the_same_time_share_it(self) -> None:
        with Service() as service:
            client = self.client(service)
            senders = list(self.pool.map(lambda _: client._sender, range(64)))
            self.assertEqual(len({id(sender) for sender in senders}), 1)

    @unittest.skipUnless(has("gevent"), "gevent is not installed")
    def test_a_client_that_was_made_or_used_before_gevent_patches_verifies_and_blocks_no_greenlet(self) -> None:
        for use in ("made", "used"):
            with self.subTest(use), Service() as service:
                run = [sys.executable, "-W", "ignore", "-c", _GEVENT, service.url, use]
                self.assertEqual(subprocess.run(run, capture_output=True, text=True, check=True).stdout, "['one', 'two']\n")

    @unittest.skipUnless(has("trio"), "trio is not installed")
    def test_a_task_of_trio_gets_its_result_and_can_be_cancelled(self) -> None:
        trio: Any = importlib.import_module("trio")
        with Service() as service:
            client = Keyreeve(service.url, KEY)
            self.addCleanup(client.close)

            async def verify_all() -> list[str]:
                names: list[str] = []

                async def verify(name: str) -> None:
                    names.append(account(await client.verify_async(name)))

                async with trio.open_nursery() as nursery:
                    for name in ("one", "two", "three"):
                        nursery.start_soon(verify, name)
                with trio.CancelScope() as scope:
                    scope.cancel()
                    await client.verify_async("cancelled")
                return sorted(names)

            self.assertEqual(trio.run(verify_all), ["one", "three", "two"])


_lock = threading.Lock

if __name__ == "__main__":
    unittest.main()
