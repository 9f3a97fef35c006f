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
from starlette.types import Receive, Scope, Send

from ._client import Keyreeve
from ._guard import Guard
from ._problem import Refusal
from ._result import AcceptedCredential
from .asgi import AddressOf, credential_headers, peer_of, send_refusal


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
    """

    def __init__(self, client: Keyreeve, *, address: AddressOf = peer_of) -> None:
        self._client = client
        self._address = address

    def __call__(
        self, *scopes: str, environments: Sequence[str] | None = None, cost: int | None = None
    ) -> RequiredCredential:
        return RequiredCredential(Guard(self._client, scopes, environments, cost), self._address)

    @staticmethod
    def install(app: FastAPI) -> None:
        """Lets the application answer refused requests with problem documents."""
        app.add_exception_handler(CredentialRefused, _answer_refused)  # type: ignore[arg-type]


class RequiredCredential(SecurityBase):
    """A dependency. Equal dependencies verify a request once."""

    def __init__(self, guard: Guard, address: AddressOf) -> None:
        self.model = HTTPBearer(description="An API key or an access token of Keyreeve")
        self.scheme_name = "keyreeve"
        self._guard = guard
        self._address = address

    async def __call__(self, connection: HTTPConnection) -> AcceptedCredential:
        scope = connection.scope
        outcome = await self._guard.check_async(credential_headers(scope), self._address(scope))
        if isinstance(outcome, Refusal):
            raise CredentialRefused(outcome)
        connection.state.keyreeve = outcome
        return outcome

    def _identity(self) -> tuple[object, ...]:
        return (self._guard.client, self._guard.conditions, self._address)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RequiredCredential) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())



class _RefusedResponse:
    """A response for HTTP and for the handshake of a WebSocket."""

    def __init__(self, refusal: Refusal) -> None:
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_refusal(scope, send, self._refusal)


async def _answer_refused(_: HTTPConnection, error: CredentialRefused) -> _RefusedResponse:
    return _RefusedResponse(error.refusal)
