"""ASGI middleware: every HTTP request and WebSocket handshake needs a valid credential.

The application finds the result in `scope["state"]["keyreeve"]`; in Starlette and FastAPI, `request.state.keyreeve`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from ._client import Keyreeve
from ._guard import CredentialHeaders, Guard
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
    """address: returns the client IP, if a proxy is in front of the server. Default: the peer of the connection."""

    def __init__(
        self,
        app: App,
        client: Keyreeve,
        *,
        scopes: Sequence[str] = (),
        environments: Sequence[str] | None = None,
        cost: int | None = None,
        address: AddressOf = peer_of,
    ) -> None:
        self._app = app
        self._guard = Guard(client, scopes, environments, cost)
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] not in ("http", "websocket"):
            raise RuntimeError(f"keyreeve guards no connections of the type {scope['type']}")
        outcome = await self._guard.check_async(credential_headers(scope), self._address(scope))
        if isinstance(outcome, Refusal):
            return await send_refusal(scope, send, outcome)
        # Copies: a server can pass the same state to several requests.
        state = {**(scope.get("state") or {}), "keyreeve": outcome}
        await self._app({**scope, "state": state}, receive, send)


def credential_headers(scope: Scope) -> CredentialHeaders:
    def values_of(wanted: bytes) -> list[str]:
        return [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == wanted]

    return CredentialHeaders(values_of(b"authorization"), values_of(b"x-api-key"))


async def send_refusal(scope: Scope, send: Send, refusal: Refusal) -> None:
    """A WebSocket handshake gets the response if the server can send it, and otherwise the server's 403."""
    prefix = "http.response"
    if scope["type"] == "websocket":
        if _DENIAL not in (scope.get("extensions") or {}):
            return await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        prefix = _DENIAL
    headers = [(name.lower().encode(), value.encode()) for name, value in refusal.headers]
    await send({"type": f"{prefix}.start", "status": refusal.status, "headers": headers})
    await send({"type": f"{prefix}.body", "body": b"" if scope.get("method") == "HEAD" else refusal.body})
