"""One connection to the service, which stays open between batches. One thread at a time uses it."""

from __future__ import annotations

import contextlib
import http.client
import select
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ._clock import Clock
from ._dial import dial
from ._service_url import Destination

# 256 results with the longest metadata, scopes and nicknames have less than half of it.
ANSWER_BYTES_MAX = 4_194_304
_READ_BYTES = 65_536


class Unanswered(Exception):
    """The request failed, and no byte of a response has arrived."""


@dataclass(frozen=True)
class Answer:
    status: int
    text: bytes
    # The field of this name.
    retry_after: str | None


class _Response(http.client.HTTPResponse):
    """Distinguishes a failure before the first byte of the response from one after it."""

    def begin(self) -> None:
        try:
            first = self.fp.peek(1)
        except OSError as error:
            raise Unanswered(str(error)) from error
        if not first:
            raise Unanswered("the connection ended without a response")
        super().begin()


class Connection:
    def __init__(
        self,
        destination: Destination,
        headers: Callable[[], Mapping[str, str]],
        context: ssl.SSLContext | None,
        clock: Clock,
    ) -> None:
        """headers: returns those of the next request."""
        self._clock = clock
        self._destination = destination
        self._headers = headers
        self._context = context
        self._http: http.client.HTTPConnection | None = None

    def send(self, body: bytes, deadline: float, is_repeated: bool, has_callers: Callable[[], bool]) -> Answer:
        """Sends a batch, unless its callers have left. `deadline` is a time of the clock. A repeated batch gets a new connection.

        Raises Unanswered, OSError, HTTPException or ValueError, and what the function for the service key raises. A redirect is an answer like every other status.
        """
        headers = self._headers()
        try:
            connection = self._open(deadline, is_repeated)
            # `abort` ends only a connection that is open.
            if not has_callers():
                raise Unanswered("no caller waits for the result")
            return self._exchange(connection, headers, body, deadline)
        except BaseException:
            self.close()
            raise

    def _open(self, deadline: float, is_repeated: bool) -> http.client.HTTPConnection:
        if is_repeated or (self._http is not None and _has_ended(self._http)):
            self.close()
        if self._http is None:
            self._http = new_connection(self._destination, self._context)
            self._http.response_class = _Response
            try:
                connect(self._http, self._context, self._clock, deadline)
            except OSError as error:
                raise Unanswered(str(error)) from error
        return self._http

    def _exchange(
        self, connection: http.client.HTTPConnection, headers: Mapping[str, str], body: bytes, deadline: float
    ) -> Answer:
        connection.sock.settimeout(self._clock.socket_timeout(deadline))
        # If sending fails, the service may have answered before it read the whole body.
        with contextlib.suppress(OSError):
            connection.request("POST", self._destination.path, body, dict(headers))
        connection.sock.settimeout(self._clock.socket_timeout(deadline))
        with connection.getresponse() as response:
            text = self._read(response, deadline)
            if response.will_close:
                self.close()
            return Answer(response.status, text, response.getheader("Retry-After"))

    def _read(self, response: http.client.HTTPResponse, deadline: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        while part := response.read1(_READ_BYTES):
            parts.append(part)
            size += len(part)
            if size > ANSWER_BYTES_MAX:
                raise ValueError("the response is too long")
            if self._clock.now() > deadline:
                raise TimeoutError("the response is not complete")
        if response.length:
            raise ValueError("the response ended early")
        return b"".join(parts)

    def abort(self) -> None:
        """Ends a request that another thread is sending. That thread gets an error."""
        sock = getattr(self._http, "sock", None)
        if sock is not None:
            # Not the method of SSLSocket, which another thread cannot call during a read.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None


def new_connection(destination: Destination, context: ssl.SSLContext | None) -> http.client.HTTPConnection:
    """A connection that is not open. context: None for plain HTTP."""
    # Of the two classes, only the default port and the header `Host` are used. Without a context, the second one reads the
    # certificate authorities.
    if context is None:
        return http.client.HTTPConnection(destination.host, destination.port)
    return http.client.HTTPSConnection(destination.host, destination.port, context=context)


def connect(
    connection: http.client.HTTPConnection, context: ssl.SSLContext | None, clock: Clock, deadline: float
) -> None:
    """Opens it. Raises OSError, also at the deadline."""
    sock = dial(connection.host, connection.port, clock, deadline)
    connection.sock = sock
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if context is not None:
        connection.sock = context.wrap_socket(sock, server_hostname=connection.host)


def _has_ended(connection: http.client.HTTPConnection) -> bool:
    """Nothing arrives on an idle connection but its end. Detecting that avoids failures of questions with a cost."""
    sock = connection.sock
    if sock is None:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([sock], [], [], 0)[0])
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))
