"""The check of a request, for any framework. All guards are built on it.

It reads exactly one credential, asks the service, and returns the verification result, or a response with the service's
problem document.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ._client import Keyreeve
from ._problem import Refusal, limit_fields, problem, refusal_of, unavailable, with_basic
from ._question import conditions_of, is_ip_address
from ._result import AcceptedCredential, VerificationResult
from ._unavailable import KeyreeveUnavailable

VALUE_CHARS_MAX = 4_096

_BEARER = re.compile(r"bearer +([\x21-\x2B\x2D-\x7E]+) *", re.IGNORECASE | re.ASCII)
_BASIC = re.compile(r"basic +([A-Za-z0-9+/]+={0,2})", re.IGNORECASE | re.ASCII)
# A user name without control characters, and a password in the characters of a Bearer credential.
_USER_AND_PASSWORD = re.compile(r"([\x20-\x39\x3B-\x7E\x80-\xFF]*):([\x21-\x2B\x2D-\x7E]*)")
_KEY = re.compile(r"[\x21-\x2B\x2D-\x7E]+")

# Names and values, one pair for each line. Names have any case. Bytes are Latin-1.
HeaderLines = Iterable["tuple[str | bytes, str | bytes]"]


@dataclass(frozen=True)
class AcceptedRequest:
    """A request with an accepted credential."""

    result: AcceptedCredential
    # For your own response: RateLimit and RateLimit-Policy if `rate_limit_fields` is true and the key has limits, or none.
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Presented:
    text: str
    # X-API-Key and Basic are for API keys only.
    is_key_only: bool


class Check:
    """Checks the requests of an application.

    scopes: the credential must have all of them, at most 32; an access token has none.
    environments: the accepted ones, 1 to 8. Default: the first one of the installation.
    cost: tokens that a request spends from each limit, 0 to 10,000. 0 only checks the limits. Default: 1.
    rate_limit_fields: whether the response to an accepted request gets RateLimit and RateLimit-Policy.
    basic: whether an API key may also be a Basic credential, for docker, Maven, pip and git: the password with any user name, or
    the user name with an empty password. A browser shows a sign-in dialog for the challenge.
    Raises ValueError for options that the service rejects.
    """

    def __init__(
        self,
        client: Keyreeve,
        scopes: Sequence[str] = (),
        environments: Sequence[str] | None = None,
        cost: int | None = None,
        rate_limit_fields: bool = False,
        basic: bool = False,
    ) -> None:
        self.client = client
        self.conditions = conditions_of(scopes, environments, cost)
        self.rate_limit_fields = rate_limit_fields
        self.basic = basic

    def check(self, headers: HeaderLines, address: str | None = None) -> AcceptedRequest | Refusal:
        """Checks a request with a question that the service receives after this call.

        headers: of the request, such as `request.headers.items()`.
        address: the client IP, for keys that are limited to IP ranges. Text that is not an IP address counts as none.
        Returns the result, or the response to send instead: 401, 403 or 429, and 503 if the result is not known within
        3 s.
        """
        presented = _read(headers, self.basic)
        if isinstance(presented, Refusal):
            return self._refused(presented)
        try:
            result = self.client.verify_with(presented.text, self.conditions, _known(address))
        except KeyreeveUnavailable:
            return unavailable()
        return self._outcome(presented, result)

    async def check_async(self, headers: HeaderLines, address: str | None = None) -> AcceptedRequest | Refusal:
        """Like `check`, without blocking the event loop of asyncio or trio."""
        presented = _read(headers, self.basic)
        if isinstance(presented, Refusal):
            return self._refused(presented)
        try:
            result = await self.client.verify_with_async(presented.text, self.conditions, _known(address))
        except KeyreeveUnavailable:
            return unavailable()
        return self._outcome(presented, result)

    def _outcome(self, presented: _Presented, result: VerificationResult) -> AcceptedRequest | Refusal:
        if not result.valid:
            return self._refused(refusal_of(result, self.conditions.scopes))
        # As at `/auth/forward`.
        if presented.is_key_only and result.type != "api_key":
            return self._refused(problem("invalid_credential"))
        return AcceptedRequest(result, limit_fields(result) if self.rate_limit_fields else ())

    def _refused(self, refusal: Refusal) -> Refusal:
        return with_basic(refusal) if self.basic else refusal


def _known(address: str | None) -> str | None:
    return address if address is not None and is_ip_address(address) else None


def _read(headers: HeaderLines, accepts_basic: bool) -> _Presented | Refusal:
    """Like the service at `/auth/forward`: two credentials are refused, even equal ones. An empty or blank line is none."""
    lines = ((_text(name).lower(), value) for name, value in headers)
    wanted = ((name, _text(value)) for name, value in lines if name in ("authorization", "x-api-key"))
    present = [(name, value) for name, value in wanted if value.strip(" \t")]
    if not present:
        return problem("missing_credential")
    if len(present) > 1:
        return problem("ambiguous_credentials")
    [(name, value)] = present
    if len(value) > VALUE_CHARS_MAX:
        return problem("invalid_credential")
    # Servers join the lines of a repeated header with a comma. No credential contains one.
    if "," in value:
        return problem("ambiguous_credentials")
    if name == "x-api-key":
        return problem("invalid_credential") if " " in value else _Presented(value, True)
    bearer = _BEARER.fullmatch(value)
    if bearer is not None:
        return _Presented(bearer[1], False)
    key = _key_of_basic(value) if accepts_basic else None
    return problem("invalid_credential") if key is None else _Presented(key, True)


def _key_of_basic(value: str) -> str | None:
    """The password with any user name, or the user name with an empty password."""
    basic = _BASIC.fullmatch(value)
    if basic is None:
        return None
    encoded = basic[1].encode()
    try:
        decoded = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return None
    # Padding bits that are not zero would give one credential several encodings.
    if base64.b64encode(decoded) != encoded:
        return None
    parts = _USER_AND_PASSWORD.fullmatch(decoded.decode("latin-1"))
    if parts is None:
        return None
    user, password = parts.groups()
    if password:
        return str(password)
    return str(user) if _KEY.fullmatch(user) else None


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")
