"""Sends questions in batches, each from a thread of its own.

A question joins only a batch that no thread has taken to send, so its verification starts after the call: a key that was
deleted before the call is refused. Nothing is kept: a result goes to the callers that wait for it, and no later caller
receives it.
"""

from __future__ import annotations

import copy
import os
import re
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from ._clock import Clock
from ._connection import Answer, Connection, Unanswered
from ._in_flight import Flight, InFlight
from ._outage_log import OutageLog
from ._question import Question
from ._result import UNAVAILABLE, VerificationResult, read_results
from ._unavailable import KeyreeveUnavailable, seconds_of

DEADLINE_SECONDS = 3.0
WAITING_MAX = 16_384
# The service accepts 256 questions and 1,050,688 bytes.
QUESTIONS_MAX = 256
BYTES_MAX = 1_000_000
# Shorter than the 65 s of the service and the 60 s of common load balancers.
IDLE_SECONDS = 30.0
_OK = 200


class Waiter(Protocol):
    """A caller of `verify`. The sender delivers at most one outcome, from another thread."""

    def deliver(self, outcome: VerificationResult | KeyreeveUnavailable) -> None: ...


class _Entry:
    __slots__ = ("batch", "deadline", "question", "waiters")

    def __init__(self, question: Question) -> None:
        self.question = question
        # Of its last waiter.
        self.deadline = 0.0
        self.waiters: list[Waiter] = []
        # None until a thread has taken the entry.
        self.batch: _Batch | None = None


class _Batch:
    """Entries that a thread has taken, and the connection that sends them."""

    def __init__(self, entries: list[_Entry], connection: Connection, flight: Flight) -> None:
        self.entries = entries
        self.connection = connection
        self.flight = flight
        self.is_in_flight = True

    def has_waiters(self) -> bool:
        return any(entry.waiters for entry in self.entries)


class BatchSender:
    def __init__(self, connect: Callable[[], Connection], clock: Clock) -> None:
        self._connect = connect
        self._clock = clock
        self._lock = threading.Lock()
        # Threads wait on it for questions.
        self._work = threading.Condition(self._lock)
        # Oldest first.
        self._unsent: deque[_Entry] = deque()
        # The free ones of them, by their text.
        self._free: dict[bytes, _Entry] = {}
        # Callers whose question has not been sent.
        self._waiting = 0
        # Of the unsent questions.
        self._bytes = 0
        self._in_flight = InFlight()
        self._threads = 0
        self._idle_threads = 0
        self._connections: set[Connection] = set()
        self._closes = 0
        self.outages = OutageLog(clock)

    def ask(self, question: Question, waiter: Waiter, deadline: float) -> Callable[[], None]:
        """Returns a function that the caller calls when it stops waiting. Raises KeyreeveUnavailable if 16,384 wait."""
        with self._lock:
            if self._waiting >= WAITING_MAX:
                raise KeyreeveUnavailable(f"{WAITING_MAX} verifications wait already")
            entry = self._free.get(question.text) if question.is_free else None
            if entry is None:
                entry = _Entry(question)
                self._unsent.append(entry)
                self._bytes += _size(entry)
                if question.is_free:
                    self._free[question.text] = entry
            entry.waiters.append(waiter)
            entry.deadline = deadline
            self._waiting += 1
            self._wake_thread()
        asked = entry
        return lambda: self._leave(asked, waiter)

    def close(self) -> None:
        """Ends idle connections and their threads. The sender can still be used."""
        with self._lock:
            self._closes += 1
            self._work.notify_all()

    def _full_waits(self) -> bool:
        return len(self._unsent) >= QUESTIONS_MAX or self._bytes > BYTES_MAX

    def _can_start(self) -> bool:
        return bool(self._unsent) and self._in_flight.can_start(self._full_waits())

    def _wake_thread(self) -> None:
        if not self._can_start():
            return
        if self._idle_threads > 0:
            self._work.notify()
        elif self._threads < self._in_flight.limit(self._full_waits()):
            self._threads += 1
            # A daemon, so that it does not keep the process alive.
            threading.Thread(target=self._run, name="keyreeve", daemon=True).start()

    def _leave(self, entry: _Entry, waiter: Waiter) -> None:
        with self._lock:
            if waiter not in entry.waiters:
                return
            entry.waiters.remove(waiter)
            batch = entry.batch
            if batch is None:
                self._waiting -= 1
                if not entry.waiters:
                    self._unsent.remove(entry)
                    self._bytes -= _size(entry)
                    self._free.pop(entry.question.text, None)
            elif batch.is_in_flight and not batch.has_waiters():
                # No answer outlives its callers, and a thread does not wait for an answer that no caller reads.
                batch.connection.abort()

    def _run(self) -> None:
        connection = self._connect()
        with self._lock:
            self._connections.add(connection)
        while (batch := self._next_batch(connection)) is not None:
            self._deliver(batch)
        connection.close()

    def _next_batch(self, connection: Connection) -> _Batch | None:
        """Waits for questions. Returns None when the thread has to end."""
        while True:
            with self._lock:
                if not self._wait_for_work():
                    self._threads -= 1
                    self._connections.discard(connection)
                    return None
                now, full_waits = self._clock.now(), self._full_waits()
                taken = self._take()
                late: list[Waiter] = []
                # In an overload, a question whose result would come after its deadline would only take the place of others.
                end = now + self._in_flight.last if full_waits else now
                for entry in [each for each in taken if each.deadline < end]:
                    taken.remove(entry)
                    late.extend(entry.waiters)
                    entry.waiters = []
                batch = _Batch(taken, connection, self._in_flight.start(now, full_waits)) if taken else None
                for entry in taken:
                    entry.batch = batch
                self._wake_thread()
            milliseconds = round(self._in_flight.last * 1_000)
            for waiter in late:
                waiter.deliver(KeyreeveUnavailable(f"no result in time: a batch takes {milliseconds} ms"))
            if batch is not None:
                return batch

    def _wait_for_work(self) -> bool:
        closes = self._closes
        self._idle_threads += 1
        while not self._can_start():
            if not self._clock.wait(self._work, IDLE_SECONDS) or (closes != self._closes and not self._unsent):
                break
        self._idle_threads -= 1
        return self._can_start()

    def _take(self) -> list[_Entry]:
        """Takes the oldest questions. The environments are equal: the service rejects a batch with an unknown one."""
        environments = self._unsent[0].question.environments
        taken: list[_Entry] = []
        others: list[_Entry] = []
        size = 0
        while self._unsent and len(taken) < QUESTIONS_MAX:
            entry = self._unsent[0]
            if entry.question.environments == environments:
                size += _size(entry)
                if taken and size > BYTES_MAX:
                    break
                taken.append(entry)
            else:
                others.append(entry)
            self._unsent.popleft()
        self._unsent.extendleft(reversed(others))
        for entry in taken:
            self._waiting -= len(entry.waiters)
            self._bytes -= _size(entry)
            self._free.pop(entry.question.text, None)
        return taken

    def _deliver(self, batch: _Batch) -> None:
        """Gives each caller of a batch its result or an error. Never raises."""
        deadline = self._clock.now() + DEADLINE_SECONDS
        ended = None
        try:
            asked, answer = self._send(batch, deadline)
            if answer.status != _OK:
                raise _OtherStatus(answer)
            results = read_results(answer.text, len(asked))
            ended = self._clock.now()
        except Exception as error:
            self._finish(batch, [(entry, self._unavailable(error, deadline)) for entry in batch.entries], is_last=True)
        else:
            self._finish(batch, list(zip(asked, map(_outcome, results))), is_last=True)
        with self._lock:
            self._in_flight.end(batch.flight, ended, self._full_waits())
            self._wake_thread()

    def _send(self, batch: _Batch, deadline: float) -> tuple[list[_Entry], Answer]:
        """Repeats free questions once, on a new connection, if the first one fails before the deadline and before a response."""
        entries = batch.entries
        try:
            return entries, batch.connection.send(_body_of(entries), deadline, False, batch.has_waiters)
        except Unanswered as error:
            if self._clock.now() >= deadline:
                raise
            with self._lock:
                repeated = [entry for entry in entries if entry.question.is_free and entry.waiters]
            spent = [entry for entry in entries if entry not in repeated]
            self._finish(batch, [(entry, self._unavailable(error, deadline)) for entry in spent])
            if not repeated:
                raise
            return repeated, batch.connection.send(_body_of(repeated), deadline, True, batch.has_waiters)

    def _finish(
        self,
        batch: _Batch,
        outcomes: Iterable[tuple[_Entry, VerificationResult | KeyreeveUnavailable]],
        is_last: bool = False,
    ) -> None:
        delivered = []
        with self._lock:
            batch.is_in_flight = not is_last
            for entry, outcome in outcomes:
                delivered.append((entry.waiters, outcome))
                entry.waiters = []
        for waiters, outcome in delivered:
            for index, waiter in enumerate(waiters):
                # Metadata is mutable: callers with equal questions must not share it.
                waiter.deliver(outcome if index == 0 else copy.deepcopy(outcome))

    def _unavailable(self, cause: Exception, deadline: float) -> KeyreeveUnavailable:
        """After the deadline of the batch, each of its callers has waited for as long: all get the error of a late result."""
        if self._clock.now() >= deadline:
            error = late()
        elif isinstance(cause, _OtherStatus):
            error = KeyreeveUnavailable(str(cause), **cause.details)
        else:
            error = KeyreeveUnavailable(str(cause) or type(cause).__name__)
        error.__cause__ = cause
        return error

    def leave_to_parent(self) -> None:
        """In a child process: the threads exist only in the parent process, and the connections belong to it."""
        for connection in list(self._connections):
            connection.close()


class Senders:
    """The sender of this process, and of this kind of threads.

    A child process starts with empty state, also after a fork that calls no handlers of Python. A library such as gevent can
    replace the threads after the client was made: a lock from before would then block all of them.
    """

    def __init__(self, make: Callable[[], BatchSender]) -> None:
        self._make = make
        self._senders: dict[tuple[int, object], BatchSender] = {}
        _all_senders.add(self)

    def current(self) -> BatchSender:
        key = (os.getpid(), threading.Lock)
        sender = self._senders.get(key)
        return self._start(key) if sender is None else sender

    def _start(self, key: tuple[int, object]) -> BatchSender:
        # One operation, without a lock: of several threads at once, one starts the sender.
        sender = self._senders.setdefault(key, self._make())
        for other in list(self._senders):
            if other[0] != key[0] and (inherited := self._senders.pop(other, None)) is not None:
                inherited.leave_to_parent()
        return sender

    def end_inherited(self) -> None:
        if self._senders:
            self.current()


_all_senders: weakref.WeakSet[Senders] = weakref.WeakSet()


def _end_inherited() -> None:
    for senders in list(_all_senders):
        senders.end_inherited()


# Ends the connections in a child process that verifies nothing, too.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_end_inherited)


def _body_of(entries: list[_Entry]) -> bytes:
    return b'{"questions":[' + b",".join(entry.question.text for entry in entries) + b"]}"


def _outcome(result: VerificationResult) -> VerificationResult | KeyreeveUnavailable:
    if not result.valid and result.code == UNAVAILABLE:
        return KeyreeveUnavailable("the service cannot verify this credential now")
    return result


def late() -> KeyreeveUnavailable:
    return KeyreeveUnavailable(f"no result within {DEADLINE_SECONDS:g} s")


class _OtherStatus(Exception):
    """The service has answered without results."""

    def __init__(self, answer: Answer) -> None:
        found = re.search(rb'"code":"([a-z_]{1,64})"', answer.text)
        code = found and found[1].decode()
        super().__init__(f"the service answered {answer.status}{f' ({code})' if code else ''}")
        self.details: dict[str, Any] = {
            "status": answer.status,
            "retry_after_seconds": seconds_of(answer.retry_after),
            **({"code": code} if code else {}),
        }


def _size(entry: _Entry) -> int:
    """With its comma."""
    return len(entry.question.text) + 1
