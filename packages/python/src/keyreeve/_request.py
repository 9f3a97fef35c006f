"""Requests that are sent once, each on a connection of its own, within a total time."""

from __future__ import annotations

import http.client
import io
import json
import socket
import ssl
from collections.abc import Mapping
from typing import Any

from ._client import USER_AGENT
from ._clock import Clock
from ._connection import connect, new_connection
from ._service_url import Destination
from ._unavailable import KeyreeveError, seconds_of

# From the start of a request to the end of its response, without the resolution of the host name.
TIMEOUT_SECONDS = 30.0
CONTENT_BYTES_MAX = 16_777_216


class Requests:
    """destination: whose path the paths of requests continue."""

    def __init__(self, destination: Destination, context: ssl.SSLContext | None, clock: Clock) -> None:
        self._destination = destination
        self._context = context
        self._clock = clock

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None, deadline: float | None = None
    ) -> object:
        """Returns the content of the response, None if it is not JSON. Raises KeyreeveError. deadline: a time of the clock."""
        context = (self._context or ssl.create_default_context()) if self._destination.is_tls else None
        connection = new_connection(self._destination, context)
        until = self._clock.now() + TIMEOUT_SECONDS if deadline is None else deadline
        try:
            connect(connection, context, self._clock, until)
            connection.sock = _TimedSocket(connection.sock, self._clock, until)
            connection.request(method, self._destination.path + path, body, {"User-Agent": USER_AGENT, **headers})
            response = connection.getresponse()
            content = response.read(CONTENT_BYTES_MAX + 1)
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise KeyreeveError(f"Keyreeve gave no response: {reason}") from error
        finally:
            connection.close()
        if len(content) > CONTENT_BYTES_MAX:
            raise KeyreeveError("the response is too long", status=response.status)
        value = _parsed(content)
        if 200 <= response.status < 300:
            return value
        raise KeyreeveError(
            f"status {response.status}",
            status=response.status,
            problem=value if isinstance(value, dict) else {},
            retry_after_seconds=seconds_of(response.getheader("Retry-After")),
        )


class _TimedSocket:
    """What a connection uses of a socket. All operations together end at the deadline, with TimeoutError."""

    def __init__(self, sock: socket.socket, clock: Clock, deadline: float) -> None:
        self._sock = sock
        self._clock = clock
        self._deadline = deadline

    def start(self) -> None:
        """Before each operation."""
        if self._clock.now() >= self._deadline:
            raise TimeoutError("the response is not complete")
        self._sock.settimeout(self._clock.socket_timeout(self._deadline))

    def sendall(self, data: bytes) -> None:
        self.start()
        self._sock.sendall(data)

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self, self._sock.makefile("rb", buffering=0)))

    def close(self) -> None:
        self._sock.close()


class _TimedReader(io.RawIOBase):
    def __init__(self, sock: _TimedSocket, raw: socket.SocketIO) -> None:
        self._sock = sock
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.start()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return None
