"""Django: the decorator `require("orders:read")` for views, and `KeyreeveMiddleware` for all views.

The setting `KEYREEVE` has the members of `DjangoSettings`. Views find the result in `request.keyreeve`.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypedDict

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from ._check import AcceptedRequest, Check
from ._client import Keyreeve
from ._problem import Refusal
from ._service_key import ServiceKey
from .wsgi import credential_lines

View = Callable[..., Any]


class _RequiredSettings(TypedDict):
    # Of Keyreeve, such as https://auth.example.com.
    URL: str


class DjangoSettings(_RequiredSettings, total=False):
    # One of both. An API key with the scope keyreeve:verify, or a function that returns the current one.
    SERVICE_KEY: ServiceKey
    # A file with the key, which is read for each request.
    SERVICE_KEY_FILE: str
    ALLOW_PLAIN_HTTP: bool
    # Returns the client IP, if a proxy is in front of the server. Default: the peer of the connection.
    ADDRESS: Callable[[HttpRequest], "str | None"]
    # What the middleware requires.
    SCOPES: Sequence[str]
    ENVIRONMENTS: Sequence[str]
    COST: int
    # Whether responses get RateLimit and RateLimit-Policy.
    RATE_LIMIT_FIELDS: bool
    # Whether an API key may also be a Basic credential, as in `keyreeve.Check`.
    BASIC: bool


def require(
    *scopes: str,
    environments: Sequence[str] | None = None,
    cost: int | None = None,
    rate_limit_fields: bool = False,
    basic: bool = False,
    client: Keyreeve | None = None,
) -> Callable[[View], View]:
    """Decorates a view, also an asynchronous one, with a guard. Has the options of `keyreeve.Check`.

    client: default: that of the settings.

    The view needs no CSRF token, except with `basic`: a browser adds a cookie or a Basic credential to the request of another
    site, but no other credential.
    """

    def decorate(view: View) -> View:
        # Reads the settings with the first request, because modules with views are imported earlier.
        options = (scopes, environments, cost, rate_limit_fields, basic)
        guarded = _guarded(view, functools.cache(lambda: Check(client or _client(), *options)))
        guarded.csrf_exempt = not basic  # type: ignore[attr-defined]
        return guarded

    return decorate


class KeyreeveMiddleware:
    """Place it first in MIDDLEWARE. It refuses requests before other middleware, such as that of CSRF, sees them."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        options: DjangoSettings = settings.KEYREEVE
        check = Check(
            _client(),
            options.get("SCOPES", ()),
            options.get("ENVIRONMENTS"),
            options.get("COST"),
            options.get("RATE_LIMIT_FIELDS", False),
            options.get("BASIC", False),
        )
        self._respond = _guarded(get_response, lambda: check)
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        # Read by CsrfViewMiddleware, for requests that only a header of the client itself authenticates. A browser adds a cookie to
        # the request of another site, and a Basic credential too.
        is_basic = request.headers.get("Authorization", "").lower().startswith("basic")
        request._dont_enforce_csrf_checks = not is_basic
        return self._respond(request)


def _guarded(view: View, check: Callable[[], Check]) -> View:
    if iscoroutinefunction(view):

        @functools.wraps(view)
        async def respond_async(request: HttpRequest, *args: Any, **named: Any) -> Any:
            outcome = await check().check_async(credential_lines(request.META), _address_of(request))
            if isinstance(outcome, Refusal):
                return _refused(request, outcome)
            request.keyreeve = outcome.result
            return _with_headers(await view(request, *args, **named), outcome)

        return respond_async

    @functools.wraps(view)
    def respond(request: HttpRequest, *args: Any, **named: Any) -> Any:
        outcome = check().check(credential_lines(request.META), _address_of(request))
        if isinstance(outcome, Refusal):
            return _refused(request, outcome)
        request.keyreeve = outcome.result
        return _with_headers(view(request, *args, **named), outcome)

    return respond


def _client() -> Keyreeve:
    """One for each URL and service key, so that the guards of an application share batches."""
    options: DjangoSettings = settings.KEYREEVE
    key, file = options.get("SERVICE_KEY"), options.get("SERVICE_KEY_FILE")
    return _client_for(options["URL"], key, file, options.get("ALLOW_PLAIN_HTTP", False))


@functools.cache
def _client_for(url: str, key: ServiceKey | None, file: str | None, allow_plain_http: bool) -> Keyreeve:
    return Keyreeve(url, key, service_key_file=file, allow_plain_http=allow_plain_http)


def _address_of(request: HttpRequest) -> str | None:
    find: Callable[[HttpRequest], str | None] | None = settings.KEYREEVE.get("ADDRESS")
    return find(request) if find else request.META.get("REMOTE_ADDR")


def _with_headers(response: Any, outcome: AcceptedRequest) -> Any:
    for name, value in outcome.headers:
        response[name] = value
    return response


def _refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    body = b"" if request.method == "HEAD" else refusal.body
    return HttpResponse(body, status=refusal.status, headers=dict(refusal.headers))
