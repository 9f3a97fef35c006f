"""WSGI middleware: every request needs a valid credential. The application finds the result in `environ["keyreeve"]`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from ._client import Keyreeve
from ._guard import CredentialHeaders, Guard
from ._problem import Refusal

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
App = Callable[[Environ, StartResponse], Iterable[bytes]]
# Returns the client IP of a request, or None.
AddressOf = Callable[[Environ], "str | None"]


def peer_of(environ: Environ) -> str | None:
    """The IP address of the connection."""
    return environ.get("REMOTE_ADDR")


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

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        outcome = self._guard.check(credential_headers(environ), self._address(environ))
        if isinstance(outcome, Refusal):
            start_response(f"{outcome.status} {HTTPStatus(outcome.status).phrase}", list(outcome.headers))
            return [] if environ["REQUEST_METHOD"] == "HEAD" else [outcome.body]
        return self._app({**environ, "keyreeve": outcome}, start_response)


def credential_headers(environ: Mapping[str, Any]) -> CredentialHeaders:
    """A WSGI server joins the lines of a repeated header with a comma (RFC 3875 section 4.1.18)."""

    def values_of(name: str) -> list[str]:
        return [environ[name]] if name in environ else []

    return CredentialHeaders(values_of("HTTP_AUTHORIZATION"), values_of("HTTP_X_API_KEY"))
