"""ASGI middleware: every HTTP request and WebSocket handshake needs a valid credential.

The application finds the result in `scope["state"]["keyreeve"]`; in Starlette and FastAPI, `request.state.keyreeve`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any

from ._client import Keyreeve
from ._check import Check
from ._problem import Refusal

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
# Returns the client IP of a request, or None.
AddressOf = Callable[[Scope], "str | None"]

_DENIAL = "websocket.http.response"
_POLICY_VIOLATION = 1008


def peer_of(scope: Scope) -> str | None:
    """The IP address of the connection."""
    client = scope.get("client")
    return client[0] if client else None


class KeyreeveMiddleware:
    """Has the options of `keyreeve.Check`.

    address: returns the client IP, if a proxy is in front of the server. Default: the peer of the connection.
    """

    def __init__(
        self,
        app: App,
        client: Keyreeve,
        *,
        scopes: Sequence[str] = (),
        environments: Sequence[str] | None = None,
        cost: int | None = None,
        rate_limit_fields: bool = False,
        basic: bool = False,
        address: AddressOf = peer_of,
    ) -> None:
        self._app = app
        self._check = Check(client, scopes, environments, cost, rate_limit_fields, basic)
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] not in ("http", "websocket"):
            raise RuntimeError(f"keyreeve guards no connections of the type {scope['type']}")
        outcome = await self._check.check_async(scope["headers"], self._address(scope))
        if isinstance(outcome, Refusal):
            return await send_refusal(scope, send, outcome)
        # Copies: a server can pass the same state to several requests.
        state = {**(scope.get("state") or {}), "keyreeve": outcome.result}
        await self._app({**scope, "state": state}, receive, sending(send, lambda: outcome.headers))


def sending(send: Send, headers: Callable[[], Iterable[tuple[str, str]]]) -> Send:
    """Adds headers to the response, also to that of a WebSocket handshake. They are read when the response starts."""

    async def send_more(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.accept", f"{_DENIAL}.start"):
            message = {**message, "headers": [*message.get("headers", ()), *_encoded(headers())]}
        await send(message)

    return send_more


async def send_refusal(scope: Scope, send: Send, refusal: Refusal) -> None:
    """A WebSocket handshake gets the response if the server can send it, and otherwise the server's 403."""
    prefix = "http.response"
    if scope["type"] == "websocket":
        if _DENIAL not in (scope.get("extensions") or {}):
            return await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        prefix = _DENIAL
    await send({"type": f"{prefix}.start", "status": refusal.status, "headers": _encoded(refusal.headers)})
    await send({"type": f"{prefix}.body", "body": b"" if scope.get("method") == "HEAD" else refusal.body})


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers]
