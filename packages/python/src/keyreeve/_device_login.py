"""The sign-in of a person from a command line (RFC 8628), which ends with an API key, and the sign-out (RFC 7009), which deletes it."""

from __future__ import annotations

import re
import ssl
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import urlencode

from ._clock import Clock
from ._request import TIMEOUT_SECONDS, Requests
from ._service_key import KEY_FORM
from ._service_url import destination_of
from ._unavailable import KeyreeveError

_GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
_HEADERS = {"Content-Type": "application/x-www-form-urlencoded"}
# RFC 8628 sections 3.2 and 3.5.
_INTERVAL_SECONDS = 5
_SLOWER_SECONDS = 5
# Of a poll. With the pause, so short that three polls reach the service while it repeats the response that was lost.
_POLL_SECONDS_MAX = 12.0
_PAUSE_SECONDS_MAX = 20
# While the service repeats a lost response.
_REPEAT_SECONDS = 60
_SECONDS_MAX = 86_400
# Of a key: 100 years.
_KEY_SECONDS_MAX = 3_155_760_000
_KEY_ID_MAX = 2**53 - 1
# Nothing that would control a terminal.
_USER_CODE_FORM = re.compile(r"[A-Za-z0-9-]{1,64}")
_SCOPE_FORM = re.compile(r"[\x20-\x7E]*")
_NICKNAME_FORM = re.compile(r"[^\x00-\x1F\x7F-\x9F]*")
# Without user name: a link to another host could look like one to the service.
_LINK_FORM = re.compile(r"https?://[A-Za-z0-9._:\[\]-]{1,300}(?:[/?#][\x21-\x7E]{0,999})?")


@dataclass(frozen=True)
class DeviceCode:
    """What the person needs to approve the sign-in."""

    # The person compares it with the code that the page shows.
    user_code: str
    # The page on which the person enters the code.
    verification_uri: str
    # The same page, with the code.
    link: str
    expires_in_seconds: int


@dataclass(frozen=True)
class DeviceKey:
    """The API key of the person."""

    # The secret: send it as a Bearer token.
    key: str
    key_id: int
    nickname: str
    # The scopes that the person has approved.
    scopes: tuple[str, ...]
    # By the clock of this machine, in UTC.
    expires_at: datetime

    def __repr__(self) -> str:
        return f"DeviceKey(key_id={self.key_id})"


def device_login(
    url: str,
    client_id: str,
    *,
    scopes: Iterable[str] = (),
    qr_code: Callable[[str], str] | None = None,
    show: Callable[[DeviceCode], None] | None = None,
    cancel: threading.Event | None = None,
    allow_plain_http: bool = False,
    ssl_context: ssl.SSLContext | None = None,
    _clock: Clock | None = None,
) -> DeviceKey:
    """Prints the link and the code on the standard error, waits until a person has approved, and returns the API key.

    url: of Keyreeve, such as https://auth.example.com.
    client_id: the id of the program, which an operator has declared.
    scopes: default: all scopes of the program.
    qr_code: gets the link and returns its QR code as text, which is printed below the link.
    show: shows the link and the code. Default: they are printed on the standard error.
    cancel: ends the wait when it is set, with CancelledError of concurrent.futures. A poll in progress ends first, within 12 s.
    allow_plain_http: allows http: to other hosts than loopback.
    ssl_context: for a certificate authority of your own. Default: the certificate authorities of the system.
    Raises KeyreeveError: `access_denied`, `expired_token`, `invalid_client`, `invalid_scope`, `too_many_device_requests`, and
    `unavailable` without a response. Failures of polls are repeated until the code has expired.
    Raises ValueError if the URL or the id is malformed, or the URL is plain HTTP to another host.
    """
    if not isinstance(client_id, str) or client_id == "":
        raise ValueError("client_id must be the id of a program")
    if isinstance(scopes, str):
        raise ValueError("scopes: expected several texts")
    clock = _clock or Clock()
    requests = Requests(destination_of(url, allow_plain_http, "auth/oauth/"), ssl_context, clock)

    def send(path: str, form: dict[str, str], seconds: float) -> Any:
        return _within(clock, seconds, lambda until: requests.send("POST", path, _HEADERS, urlencode(form).encode(), until))

    scope = " ".join(scopes)
    begun = send("device", {"client_id": client_id, **({"scope": scope} if scope else {})}, TIMEOUT_SECONDS)
    code, device_code, interval = _code_of(begun)
    ends_at = clock.now() + code.expires_in_seconds + _REPEAT_SECONDS
    if show is None:
        _print(code, qr_code)
    else:
        show(code)
    form = {"grant_type": _GRANT_TYPE, "client_id": client_id, "device_code": device_code}
    return _poll(clock, lambda: send("token", form, _POLL_SECONDS_MAX), interval, ends_at, cancel or threading.Event())


def device_logout(
    url: str,
    client_id: str,
    key: str,
    *,
    allow_plain_http: bool = False,
    ssl_context: ssl.SSLContext | None = None,
) -> None:
    """Deletes the key at the service, which rejects it from then on. It returns also if the key has been deleted before.

    After an error, the key may still be valid.
    client_id: the id of the program, as of the sign-in.
    key: the secret of the API key.
    allow_plain_http, ssl_context: as of device_login.
    Raises KeyreeveError: `invalid_client`, `invalid_grant` for a key that the program has not made, and `unavailable`: try again.
    Raises ValueError if the URL, the id or the key is malformed, or the URL is plain HTTP to another host.
    """
    if not isinstance(client_id, str) or client_id == "":
        raise ValueError("client_id must be the id of a program")
    if not isinstance(key, str) or key == "":
        raise ValueError("key must be an API key")
    clock = Clock()
    requests = Requests(destination_of(url, allow_plain_http, "auth/oauth/"), ssl_context, clock)
    body = urlencode({"client_id": client_id, "token": key}).encode()
    _within(clock, TIMEOUT_SECONDS, lambda until: requests.send("POST", "revoke", _HEADERS, body, until))


def _print(code: DeviceCode, qr_code: Callable[[str], str] | None) -> None:
    drawn = f"\n{qr_code(code.link)}\n" if qr_code else ""
    print(f"Open this link, and compare the code:\n\n  {code.link}\n  {code.user_code}\n{drawn}", file=sys.stderr, flush=True)


def _poll(clock: Clock, poll: Callable[[], Any], interval: int, ends_at: float, cancel: threading.Event) -> DeviceKey:
    pause, failures = interval, 0
    last: KeyreeveError | None = None
    while clock.now() + pause <= ends_at:
        if clock.pause(cancel, clock.now() + pause):
            raise CancelledError("the sign-in was cancelled")
        try:
            return _key_of(poll())
        except KeyreeveError as error:
            if error.code == "slow_down":
                interval += _SLOWER_SECONDS
            is_pending = error.code in ("authorization_pending", "slow_down")
            if not is_pending and not _is_temporary(error):
                raise
            last, failures = (None, 0) if is_pending else (error, failures + 1)
            # RFC 8628 section 3.5.
            pause = max(interval, min(interval * 2**failures, _PAUSE_SECONDS_MAX), error.retry_after_seconds or 0)
    raise last or KeyreeveError("the code has expired", problem={"code": "expired_token"})


def _within(clock: Clock, seconds: float, send: Callable[[float], Any]) -> Any:
    """In a thread of its own, because the resolution of a host name has no time limit."""
    until = clock.now() + seconds
    outcome: list[Any] = []
    arrived = threading.Lock()
    arrived.acquire()

    def run() -> None:
        try:
            outcome.append(send(until))
        except BaseException as error:
            outcome.append(error)
        arrived.release()

    threading.Thread(target=run, daemon=True).start()
    clock.acquire(arrived, until)
    if not outcome:
        raise KeyreeveError(f"Keyreeve gave no response within {seconds:.0f} s")
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _is_temporary(error: KeyreeveError) -> bool:
    return error.status in (0, 429) or error.status >= 500


def _is_text(value: object, form: re.Pattern[str]) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


def _is_integer(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _other_form() -> KeyreeveError:
    """Without the content, which may have a secret."""
    return KeyreeveError("the response has another form than expected", status=200)


def _code_of(content: Any) -> tuple[DeviceCode, str, int]:
    """Returns also the device code and the interval. Raises KeyreeveError."""
    members = content if isinstance(content, dict) else {}
    page, interval = members.get("verification_uri"), members.get("interval", _INTERVAL_SECONDS)
    link = members.get("verification_uri_complete", page)
    code = DeviceCode(members.get("user_code", ""), page or "", link or "", members.get("expires_in", 0))
    is_text = _is_text(code.user_code, _USER_CODE_FORM) and _is_text(page, _LINK_FORM) and _is_text(code.link, _LINK_FORM)
    is_time = _is_integer(code.expires_in_seconds, 1, _SECONDS_MAX) and _is_integer(interval, 1, _SECONDS_MAX)
    if not (is_text and is_time and _is_text(members.get("device_code"), KEY_FORM)):
        raise _other_form()
    return code, members["device_code"], interval


def _key_of(content: Any) -> DeviceKey:
    """Raises KeyreeveError."""
    members = content if isinstance(content, dict) else {}
    forms = {"access_token": KEY_FORM, "nickname": _NICKNAME_FORM, "scope": _SCOPE_FORM}
    is_key = all(_is_text(members.get(name), form) for name, form in forms.items())
    if not (is_key and _is_integer(members.get("key_id"), 1, _KEY_ID_MAX)):
        raise _other_form()
    seconds = members.get("expires_in")
    if type(seconds) is not int or not 0 <= seconds <= _KEY_SECONDS_MAX:
        raise _other_form()
    expires_at = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    scopes = tuple(members["scope"].split())
    return DeviceKey(members["access_token"], members["key_id"], members["nickname"], scopes, expires_at)
