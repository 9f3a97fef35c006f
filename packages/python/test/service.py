"""A raw server on loopback that records requests and answers as a test says. It is no HTTP library: tests choose the bytes."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from typing import Any


def accepted(name: str) -> dict[str, Any]:
    return {"valid": True, "type": "api_key", "accountId": name}


class Request:
    """A request of a client, which the test answers."""

    def __init__(self, connection: socket.socket, number: int, questions: list[dict[str, Any]]) -> None:
        self.connection = connection
        # Of the connection, in the order of acceptance.
        self.number = number
        self.questions = questions

    def credentials(self) -> list[str]:
        return [question["credential"] for question in self.questions]

    def answer(self, results: list[dict[str, Any]] | None = None) -> None:
        """Default: each credential is accepted, and the account has its name."""
        body = json.dumps({"results": results or [accepted(name) for name in self.credentials()]}).encode()
        self.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def send(self, text: bytes) -> None:
        self.connection.sendall(text)

    def end(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)


class Service:
    """`answer` is called for each request, in the thread of its connection."""

    def __init__(self, answer: Callable[[Request], None] = Request.answer) -> None:
        self._answer = answer
        # Called with the headers of each request, whose names are in lower case.
        self.seen: Callable[[dict[bytes, bytes]], None] = lambda lines: None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[Request] = []
        self.connections = 0
        self._arrived = threading.Condition()
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        for connection in self._sockets:
            connection.close()

    def wait_for(self, count: int) -> list[Request]:
        """Waits for requests."""
        with self._arrived:
            self._arrived.wait_for(lambda: len(self.requests) >= count)
            return list(self.requests)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.append(connection)
            threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            with connection.makefile("rb") as reader:
                while head := reader.readline():
                    lines = {}
                    while line := reader.readline().strip():
                        name, _, value = line.partition(b":")
                        lines[name.lower()] = value.strip()
                    self.seen(lines)
                    length = int(lines[b"content-length"])
                    assert head == b"POST /auth/verify/batch HTTP/1.1\r\n", head
                    request = Request(connection, number, json.loads(reader.read(length))["questions"])
                    with self._arrived:
                        self.requests.append(request)
                        self._arrived.notify_all()
                    self._answer(request)
        except OSError:
            # The client has ended the connection, or the test is over.
            return
