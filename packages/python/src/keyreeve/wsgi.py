"""WSGI middleware: every request needs a valid credential. The application finds the result in `environ["keyreeve"]`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from ._check import Check
from ._client import Keyreeve
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

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        outcome = self._check.check(credential_lines(environ), self._address(environ))
        if isinstance(outcome, Refusal):
            start_response(f"{outcome.status} {HTTPStatus(outcome.status).phrase}", list(outcome.headers))
            return [] if environ["REQUEST_METHOD"] == "HEAD" else [outcome.body]

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, [*headers, *outcome.headers], *error)

        return self._app({**environ, "keyreeve": outcome.result}, start)


def credential_lines(environ: Mapping[str, Any]) -> list[tuple[str | bytes, str | bytes]]:
    """A WSGI server joins the lines of a repeated header with a comma (RFC 3875 section 4.1.18)."""
    names = {"HTTP_AUTHORIZATION": "authorization", "HTTP_X_API_KEY": "x-api-key"}
    return [(header, environ[name]) for name, header in names.items() if name in environ]
