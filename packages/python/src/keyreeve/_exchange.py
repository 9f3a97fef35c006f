"""Exchanges identity tokens for short-lived secrets of an API key with a trust (RFC 7523), so that a workload stores no secret."""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from ._clock import Clock
from ._request import Requests
from ._service_key import KEY_FORM
from ._service_url import destination_of
from ._unavailable import KeyreeveError

_GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
# Of an exchange, with the time of identity_token.
_DEADLINE_SECONDS = 30.0
# Of the life of a secret.
_RENEWED_AFTER = 0.8
# After a failed renewal.
_PAUSE_SECONDS = 10.0

# Gets the audience, and returns a token that was signed for this call, or that is still valid for some time.
IdentityToken = Callable[[str], str]


def exchange(
    url: str,
    key_id: int | None,
    identity_token: IdentityToken,
    *,
    audience: str | None = None,
    allow_plain_http: bool = False,
    ssl_context: ssl.SSLContext | None = None,
) -> ExchangedSecrets:
    """Create one for each key in the whole program.

    url: of Keyreeve, such as https://auth.example.com.
    key_id: of the API key. None: identity_token returns an assertion that the private key of a public-key key has signed.
    identity_token: returns a fresh token, such as `github_token`. It is called for each exchange, in a thread of its own.
    audience: the claim aud of the tokens. Default: url, without a slash at its end.
    allow_plain_http: allows http: to other hosts than loopback.
    ssl_context: for a certificate authority of your own. Default: the certificate authorities of the system.
    Raises ValueError if the URL or the id is malformed, or the URL is plain HTTP to another host.
    """
    if key_id is not None and (type(key_id) is not int or key_id <= 0):
        raise ValueError("key_id must be the number of a key")
    destination = destination_of(url, allow_plain_http, "auth/oauth/token")
    client = {} if key_id is None else {"client_id": str(key_id)}
    of_audience = url.rstrip("/") if audience is None else audience

    def issue(clock: Clock, deadline: float) -> _Held:
        token = identity_token(of_audience)
        if not isinstance(token, str) or token == "":
            raise ValueError("identity_token: the function has returned no token")
        body = urlencode({"grant_type": _GRANT_TYPE, "assertion": token, **client}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        start = clock.now()
        return _held_of(Requests(destination, ssl_context, clock).send("POST", "", headers, body, deadline), start)

    return ExchangedSecrets(url, issue, Clock())


class _Held:
    """A secret. Times are those of the clock."""

    def __init__(self, secret: str, start: float, life: float) -> None:
        self.secret = secret
        self.renews_at = start + life * _RENEWED_AFTER
        self.ends_at = start + life


class _Flight:
    """An exchange in flight. Each caller waits for a lock of its own."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.callers: list[threading.Lock] = []
        # The default is the outcome at the deadline.
        self.outcome: _Held | BaseException = KeyreeveError(f"Keyreeve gave no secret within {_DEADLINE_SECONDS:.0f} s")


class _State:
    """Of one process. The lock is held for a few statements."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.held: _Held | None = None
        self.flight: _Flight | None = None

    def valid(self, now: float) -> _Held | None:
        return self.held if self.held is not None and now < self.held.ends_at else None


class ExchangedSecrets:
    """A source of short-lived secrets. Any number of threads can use it; with asyncio, use `asyncio.to_thread`. `exchange` makes it."""

    def __init__(self, url: str, issue: Callable[[Clock, float], _Held], clock: Clock) -> None:
        self._url = url
        self._issue = issue
        self._clock = clock
        self._states: dict[tuple[int, object], _State] = {}

    def __repr__(self) -> str:
        return f"ExchangedSecrets(url={self._url!r})"

    def secret(self) -> str:
        """Returns a valid secret. After 80 % of its life, one caller waits for its successor; the others get the current one. If
        the exchange fails while the current one is valid, it is repeated 10 s later, or after Retry-After.

        Raises KeyreeveError, also without a secret within 30 s, and what identity_token raises.
        """
        state = self._state()
        with state.lock:
            held = state.valid(self._clock.now())
            if held is not None and (state.flight is not None or self._clock.now() < held.renews_at):
                return held.secret
            flight = state.flight or self._start(state)
            arrived = threading.Lock()
            arrived.acquire()
            flight.callers.append(arrived)
        self._clock.acquire(arrived, flight.deadline)
        with state.lock:
            outcome = flight.outcome
            if isinstance(outcome, _Held):
                return outcome.secret
            # At the deadline, the thread may still be in identity_token.
            self._land(state, flight)
            if held := state.valid(self._clock.now()):
                return held.secret
        raise outcome

    def drop(self, secret: str) -> None:
        """After a service has rejected the secret: the next call of `secret` exchanges a token. No effect for an earlier secret."""
        state = self._state()
        with state.lock:
            if state.held is not None and state.held.secret == secret:
                state.held = None

    def _state(self) -> _State:
        """A child process after a fork, and a library that replaces the threads, start with an empty state."""
        key = (os.getpid(), threading.Lock)
        state = self._states.get(key)
        return self._states.setdefault(key, _State()) if state is None else state

    def _start(self, state: _State) -> _Flight:
        flight = state.flight = _Flight(self._clock.now() + _DEADLINE_SECONDS)
        try:
            threading.Thread(target=self._run, args=(state, flight), daemon=True).start()
        except BaseException:
            state.flight = None
            raise
        return flight

    def _run(self, state: _State, flight: _Flight) -> None:
        outcome: _Held | BaseException
        try:
            outcome = self._issue(self._clock, flight.deadline)
        except BaseException as error:
            outcome = error
        with state.lock:
            if state.flight is not flight:
                return
            if isinstance(outcome, _Held):
                state.held = outcome
            flight.outcome = outcome
            self._land(state, flight)
        for arrived in flight.callers:
            arrived.release()

    def _land(self, state: _State, flight: _Flight) -> None:
        """Of several callers at the deadline, the first one."""
        if state.flight is not flight:
            return
        state.flight = None
        if isinstance(flight.outcome, BaseException) and state.held is not None:
            after = getattr(flight.outcome, "retry_after_seconds", None) or 0
            state.held.renews_at = self._clock.now() + max(_PAUSE_SECONDS, after)


def _held_of(content: Any, start: float) -> _Held:
    """Raises KeyreeveError without the content, which may have a secret."""
    members = content if isinstance(content, dict) else {}
    secret, seconds = members.get("access_token"), members.get("expires_in")
    is_form = isinstance(secret, str) and KEY_FORM.fullmatch(secret) is not None
    if not is_form or type(seconds) is not int or seconds <= 0:
        raise KeyreeveError("the response has another form than expected", status=200)
    return _Held(str(secret), start, seconds)
