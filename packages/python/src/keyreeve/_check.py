"""The check of a request, for any framework. All guards are built on it.

It reads exactly one credential, asks the service, and returns the verification result, or a response with the service's
problem document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ._client import Keyreeve
from ._problem import Refusal, limit_fields, problem, refusal_of, unavailable
from ._question import conditions_of, is_ip_address
from ._result import AcceptedCredential, VerificationResult
from ._unavailable import KeyreeveUnavailable

VALUE_CHARS_MAX = 4_096

_BEARER = re.compile(r"bearer +([\x21-\x2B\x2D-\x7E]+) *", re.IGNORECASE | re.ASCII)

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
    # X-API-Key is for API keys only.
    is_api_key_header: bool


class Check:
    """Checks the requests of an application.

    scopes: the credential must have all of them, at most 32; an access token has none.
    environments: the accepted ones, 1 to 8. Default: the first one of the installation.
    cost: tokens that a request spends from each limit, 0 to 10,000. 0 only checks the limits. Default: 1.
    rate_limit_fields: whether the response to an accepted request gets RateLimit and RateLimit-Policy.
    Raises ValueError for options that the service rejects.
    """

    def __init__(
        self,
        client: Keyreeve,
        scopes: Sequence[str] = (),
        environments: Sequence[str] | None = None,
        cost: int | None = None,
        rate_limit_fields: bool = False,
    ) -> None:
        self.client = client
        self.conditions = conditions_of(scopes, environments, cost)
        self.rate_limit_fields = rate_limit_fields

    def check(self, headers: HeaderLines, address: str | None = None) -> AcceptedRequest | Refusal:
        """Checks a request with a question that the service receives after this call.

        headers: of the request, such as `request.headers.items()`.
        address: the client IP, for keys that are limited to IP ranges. Text that is not an IP address counts as none.
        Returns the result, or the response to send instead: 401, 403 or 429, and 503 if the result is not known within
        3 s.
        """
        presented = _read(headers)
        if isinstance(presented, Refusal):
            return presented
        try:
            result = self.client.verify_with(presented.text, self.conditions, _known(address))
        except KeyreeveUnavailable:
            return unavailable()
        return self._outcome(presented, result)

    async def check_async(self, headers: HeaderLines, address: str | None = None) -> AcceptedRequest | Refusal:
        """Like `check`, without blocking the event loop of asyncio or trio."""
        presented = _read(headers)
        if isinstance(presented, Refusal):
            return presented
        try:
            result = await self.client.verify_with_async(presented.text, self.conditions, _known(address))
        except KeyreeveUnavailable:
            return unavailable()
        return self._outcome(presented, result)

    def _outcome(self, presented: _Presented, result: VerificationResult) -> AcceptedRequest | Refusal:
        if not result.valid:
            return refusal_of(result, self.conditions.scopes)
        # As at `/auth/forward`: X-API-Key is for API keys only.
        if presented.is_api_key_header and result.type != "api_key":
            return problem("invalid_credential")
        return AcceptedRequest(result, limit_fields(result) if self.rate_limit_fields else ())


def _known(address: str | None) -> str | None:
    return address if address is not None and is_ip_address(address) else None


def _read(headers: HeaderLines) -> _Presented | Refusal:
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
    return problem("invalid_credential") if bearer is None else _Presented(bearer[1], False)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")
