"""Flask: the decorator `require("orders:read")` for views, where `require = Require(client)`, and guards for all views.

Views find the result in `flask.g.keyreeve`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from flask import Request, Response, after_this_request, current_app, g, request

from ._check import Check
from ._client import Keyreeve
from ._problem import Refusal
from .wsgi import credential_lines

View = Callable[..., Any]
# Returns the client IP of a request, or None.
AddressOf = Callable[[Request], "str | None"]


def peer_of(request: Request) -> str | None:
    """The IP address of the connection, or what Werkzeug's `ProxyFix` has made of it."""
    return request.remote_addr


class Require:
    """Makes the guards of an application.

    address: returns the client IP, if a proxy is in front of the server. Default: `request.remote_addr`.
    rate_limit_fields: whether the responses to accepted requests get RateLimit and RateLimit-Policy.
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
        """Has the options of `keyreeve.Check`. Raises ValueError for options that the service rejects."""
        check = Check(self._client, scopes, environments, cost, self._rate_limit_fields, self._basic)
        return RequiredCredential(check, self._address)


class RequiredCredential:
    """A decorator of views, also of asynchronous ones."""

    def __init__(self, check: Check, address: AddressOf) -> None:
        self._check = check
        self._address = address

    def __call__(self, view: View) -> View:
        @functools.wraps(view)
        def respond(*args: Any, **named: Any) -> Any:
            refused = self.before_request()
            return current_app.ensure_sync(view)(*args, **named) if refused is None else refused

        return respond

    def before_request(self) -> Response | None:
        """For `before_request` of an application or a blueprint: guards all of its views.

        Returns the response to a refused request, or None.
        """
        outcome = self._check.check(credential_lines(request.environ), self._address(request))
        if isinstance(outcome, Refusal):
            return Response(outcome.body, outcome.status, list(outcome.headers))
        g.keyreeve = outcome.result
        after_this_request(lambda response: _with_headers(response, outcome.headers))
        return None


def _with_headers(response: Response, headers: Sequence[tuple[str, str]]) -> Response:
    for name, value in headers:
        response.headers[name] = value
    return response
