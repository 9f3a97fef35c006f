"""The client of a service: verifies the credentials of its callers, from threads and from asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import os
import ssl
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from . import _batch_sender
from ._batch_sender import BatchSender, Senders
from ._clock import Clock
from ._connection import Connection
from ._outage_log import OutageLog
from ._question import Conditions, can_be_credential, conditions_of, question_of
from ._result import RefusedCredential, VerificationResult
from ._service_key import ServiceKey, authorization_of
from ._service_url import destination_of
from ._unavailable import KeyreeveUnavailable
USER_AGENT = "keyreeve-python"


class Keyreeve:
    """Verifies credentials. Use one client for all threads and event loops of a process.

    url: of Keyreeve, such as https://auth.example.com.
    service_key: an API key with the scope keyreeve:verify, or a function that returns the current one. Threads of the client call it
    for each request.
    service_key_file: instead of service_key, a file with the key, which is read for each request.
    allow_plain_http: allows http: to other hosts than loopback. The service key and all credentials are then sent
    unencrypted.
    ssl_context: for a certificate authority of your own. Default: the certificate authorities of the system.
    Raises ValueError if the URL or the service key is malformed, or the URL is plain HTTP to another host.
    """

    def __init__(
        self,
        url: str,
        service_key: ServiceKey | None = None,
        *,
        service_key_file: str | os.PathLike[str] | None = None,
        allow_plain_http: bool = False,
        ssl_context: ssl.SSLContext | None = None,
        _clock: Clock | None = None,
    ) -> None:
        authorization = authorization_of("service_key", service_key, service_key_file)
        destination = destination_of(url, allow_plain_http, "auth/verify/batch")
        # One context for all connections, because reading the certificate authorities takes milliseconds.
        self._context = (ssl_context or ssl.create_default_context()) if destination.is_tls else None
        self._has_own_context = ssl_context is not None
        # Common firewalls block requests without the first one.
        fixed = {"User-Agent": USER_AGENT, "Content-Type": "application/json"}
        self._url = url
        clock = self._clock = _clock or Clock()

        def connect() -> Connection:
            return Connection(
                destination, lambda: {**fixed, "Authorization": authorization()}, self._usable_context(), clock
            )

        self._senders = Senders(lambda: BatchSender(connect, clock))

    @property
    def _sender(self) -> BatchSender:
        return self._senders.current()

    def _usable_context(self) -> ssl.SSLContext | None:
        """A library that replaces the threads replaces the sockets of TLS too: a default context from before would block."""
        if self._context is not None and not self._has_own_context and type(self._context) is not ssl.SSLContext:
            self._context = ssl.create_default_context()
        return self._context

    def __repr__(self) -> str:
        return f"Keyreeve(url={self._url!r})"

    def verify(
        self,
        credential: str,
        *,
        scopes: Sequence[str] = (),
        address: str | None = None,
        environments: Sequence[str] | None = None,
        cost: int | None = None,
    ) -> VerificationResult:
        """Verifies a credential with a question that the service receives after this call.

        scopes: the credential must have all of them, at most 32; an access token has none.
        address: the client IP, for keys that are limited to IP ranges.
        environments: the accepted ones, 1 to 8. Default: the first one of the installation.
        cost: tokens that the verification spends from each limit, 0 to 10,000. 0 only checks the limits. Default: 1.
        Returns the result. A refused credential is a result too.
        Raises KeyreeveUnavailable if the result is not known within 3 s: reject the credential. The logger `keyreeve` has one
        message per minute while verifications fail.
        Raises ValueError for options that the service rejects.
        """
        return self.verify_with(credential, conditions_of(scopes, environments, cost), address)

    async def verify_async(
        self,
        credential: str,
        *,
        scopes: Sequence[str] = (),
        address: str | None = None,
        environments: Sequence[str] | None = None,
        cost: int | None = None,
    ) -> VerificationResult:
        """Like `verify`, without blocking the event loop of asyncio or trio."""
        return await self.verify_with_async(credential, conditions_of(scopes, environments, cost), address)

    def verify_with(self, credential: str, conditions: Conditions, address: str | None) -> VerificationResult:
        question = question_of(credential if can_be_credential(credential) else "-", conditions, address)
        if not can_be_credential(credential):
            return RefusedCredential("malformed")
        until = self._clock.now() + _batch_sender.DEADLINE_SECONDS
        waiter = _ThreadWaiter()
        sender = self._sender
        with _counted(sender.outages):
            leave = sender.ask(question, waiter, until)
            try:
                outcome = waiter.wait(self._clock, until)
            finally:
                leave()
            return _result_of(outcome)

    async def verify_with_async(
        self, credential: str, conditions: Conditions, address: str | None
    ) -> VerificationResult:
        question = question_of(credential if can_be_credential(credential) else "-", conditions, address)
        if not can_be_credential(credential):
            return RefusedCredential("malformed")
        until = self._clock.now() + _batch_sender.DEADLINE_SECONDS
        waiter = _waiter_of_task()
        sender = self._sender
        with _counted(sender.outages):
            leave = sender.ask(question, waiter, until)
            try:
                outcome = await waiter.wait(self._clock, until)
            finally:
                leave()
            return _result_of(outcome)

    def close(self) -> None:
        """Ends idle connections. The client can still be used."""
        self._sender.close()


class _ThreadWaiter:
    def __init__(self) -> None:
        self._delivered = threading.Lock()
        self._delivered.acquire()
        self._outcome: VerificationResult | KeyreeveUnavailable = _batch_sender.late()

    def deliver(self, outcome: VerificationResult | KeyreeveUnavailable) -> None:
        self._outcome = outcome
        self._delivered.release()

    def wait(self, clock: Clock, until: float) -> VerificationResult | KeyreeveUnavailable:
        clock.acquire(self._delivered, until)
        return self._outcome


class _TaskWaiter:
    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[VerificationResult | KeyreeveUnavailable] = self._loop.create_future()

    def deliver(self, outcome: VerificationResult | KeyreeveUnavailable) -> None:
        try:
            self._loop.call_soon_threadsafe(self._settle, outcome)
        except RuntimeError:
            # The event loop has been closed, and its tasks with it.
            return

    def _settle(self, outcome: VerificationResult | KeyreeveUnavailable) -> None:
        if not self._future.done():
            self._future.set_result(outcome)

    async def wait(self, clock: Clock, until: float) -> VerificationResult | KeyreeveUnavailable:
        cancel = clock.call_at(self._loop, until, lambda: self._settle(_batch_sender.late()))
        try:
            return await self._future
        finally:
            cancel()


class _TrioWaiter:
    def __init__(self, trio: Any) -> None:
        self._trio = trio
        self._token = trio.lowlevel.current_trio_token()
        self._delivered = trio.Event()
        self._outcome: VerificationResult | KeyreeveUnavailable = _batch_sender.late()

    def deliver(self, outcome: VerificationResult | KeyreeveUnavailable) -> None:
        try:
            self._token.run_sync_soon(self._settle, outcome)
        except self._trio.RunFinishedError:
            # The event loop has ended, and its tasks with it.
            return

    def _settle(self, outcome: VerificationResult | KeyreeveUnavailable) -> None:
        self._outcome = outcome
        self._delivered.set()

    async def wait(self, clock: Clock, until: float) -> VerificationResult | KeyreeveUnavailable:
        with self._trio.move_on_after(clock.rest(until)):
            await self._delivered.wait()
        return self._outcome


def _waiter_of_task() -> _TaskWaiter | _TrioWaiter:
    """The library does not need trio: only a program that uses it has imported it."""
    trio: Any = sys.modules.get("trio")
    if trio is not None:
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            # A task of asyncio in the same program.
            return _TaskWaiter()
        return _TrioWaiter(trio)
    return _TaskWaiter()


@contextlib.contextmanager
def _counted(outages: OutageLog) -> Iterator[None]:
    try:
        yield
    except KeyreeveUnavailable as error:
        outages.failed(error)
        raise
    outages.flush()


def _result_of(outcome: VerificationResult | KeyreeveUnavailable) -> VerificationResult:
    if isinstance(outcome, KeyreeveUnavailable):
        # A new one, because several callers can have the same outcome, and raising changes the exception.
        raise copy.copy(outcome) from outcome.__cause__
    return outcome
