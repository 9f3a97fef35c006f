"""FastAPI: `Depends(require("orders:read"))`, where `require = Require(client)`.

The dependency returns the verification result, which is also `request.state.keyreeve`.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import FastAPI
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from ._check import Check
from ._client import Keyreeve
from ._problem import Refusal
from ._result import AcceptedCredential
from .asgi import AddressOf, peer_of, send_refusal, sending

# The member of a scope with the headers of the response, which the dependency sets.
_HEADERS = "keyreeve.headers"


class CredentialRefused(HTTPException):
    """Without `Require.install`, FastAPI answers with its own body instead of the problem document."""

    def __init__(self, refusal: Refusal) -> None:
        # FastAPI sets the type and the length of its own body.
        headers = {name: value for name, value in refusal.headers if not name.startswith("Content-")}
        super().__init__(refusal.status, refusal.title, headers)
        self.refusal = refusal


class Require:
    """Makes the dependencies of an application.

    address: returns the client IP, if a proxy is in front of the server. Default: the peer of the connection.
    rate_limit_fields: whether the responses to accepted requests get RateLimit and RateLimit-Policy. Needs `install`.
    basic: as in `keyreeve.Check`.
    """

    def __init__(
        self,
        client: Keyreeve,
        *,
        address: AddressOf = peer_of,
        rate_limit_fields: bool = False,
        basic: bool = False,
    ) -> None:
        self._client = client
        self._address = address
        self._rate_limit_fields = rate_limit_fields
        self._basic = basic

    def __call__(
        self, *scopes: str, environments: Sequence[str] | None = None, cost: int | None = None
    ) -> RequiredCredential:
        check = Check(self._client, scopes, environments, cost, self._rate_limit_fields, self._basic)
        return RequiredCredential(check, self._address)

    def install(self, app: FastAPI) -> None:
        """Lets the application answer refused requests with problem documents."""
        app.add_exception_handler(CredentialRefused, _answer_refused)  # type: ignore[arg-type]
        if self._rate_limit_fields:
            app.add_middleware(_SentHeaders)


class RequiredCredential(SecurityBase):
    """A dependency. Equal dependencies verify a request once."""

    def __init__(self, check: Check, address: AddressOf) -> None:
        self.model = HTTPBearer(description="An API key or an access token of Keyreeve")
        self.scheme_name = "keyreeve"
        self._check = check
        self._address = address

    async def __call__(self, connection: HTTPConnection) -> AcceptedCredential:
        scope = connection.scope
        outcome = await self._check.check_async(scope["headers"], self._address(scope))
        if isinstance(outcome, Refusal):
            raise CredentialRefused(outcome)
        scope.get(_HEADERS, [])[:] = outcome.headers
        connection.state.keyreeve = outcome.result
        return outcome.result

    def _identity(self) -> tuple[object, ...]:
        return (self._check.client, self._check.conditions, self._check.basic, self._address)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RequiredCredential) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


class _SentHeaders:
    """Adds the headers of the outcome to each response. FastAPI's way would leave out responses that a route makes itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: list[tuple[str, str]] = []
        # Not in a copy: middleware around this one reads what the router adds to the scope.
        scope[_HEADERS] = headers
        await self._app(scope, receive, sending(send, lambda: headers))


class _RefusedResponse:
    """A response for HTTP and for the handshake of a WebSocket."""

    def __init__(self, refusal: Refusal) -> None:
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_refusal(scope, send, self._refusal)


async def _answer_refused(_: HTTPConnection, error: CredentialRefused) -> _RefusedResponse:
    return _RefusedResponse(error.refusal)
