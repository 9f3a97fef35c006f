"""What every guard does, whatever the framework.

It reads exactly one credential, asks the service, and answers with the service's problem document. It lets a request
through only with an accepted result.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ._client import Keyreeve
from ._problem import Refusal, problem, refusal_of, unavailable
from ._question import conditions_of, is_ip_address
from ._result import AcceptedCredential, VerificationResult
from ._unavailable import KeyreeveUnavailable

VALUE_CHARS_MAX = 4_096

_log = logging.getLogger("keyreeve")
_BEARER = re.compile(r"bearer +([\x21-\x2B\x2D-\x7E]+) *", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class _Presented:
    text: str
    is_api_key_header: bool


@dataclass(frozen=True)
class CredentialHeaders:
    """All values of the two headers; one text for each line, decoded from Latin-1."""

    authorization: Sequence[str]
    api_key: Sequence[str]


class Guard:
    """Raises ValueError when it is created, for options that the service rejects."""

    def __init__(
        self,
        client: Keyreeve,
        scopes: Sequence[str] = (),
        environments: Sequence[str] | None = None,
        cost: int | None = None,
    ) -> None:
        self.client = client
        self.conditions = conditions_of(scopes, environments, cost)

    def check(self, headers: CredentialHeaders, address: str | None) -> AcceptedCredential | Refusal:
        """address: the client IP. Text that is not an IP address counts as none."""
        presented = _read(headers)
        if isinstance(presented, Refusal):
            return presented
        try:
            return self._outcome(
                presented, self.client.verify_with(presented.text, self.conditions, _known(address))
            )
        except KeyreeveUnavailable as error:
            return _fail_closed(error)

    async def check_async(self, headers: CredentialHeaders, address: str | None) -> AcceptedCredential | Refusal:
        presented = _read(headers)
        if isinstance(presented, Refusal):
            return presented
        try:
            return self._outcome(
                presented, await self.client.verify_with_async(presented.text, self.conditions, _known(address))
            )
        except KeyreeveUnavailable as error:
            return _fail_closed(error)

    def _outcome(self, presented: _Presented, result: VerificationResult) -> AcceptedCredential | Refusal:
        if not result.valid:
            return refusal_of(result, self.conditions.scopes)
        # As at `/auth/forward`: X-API-Key is for API keys only.
        if presented.is_api_key_header and result.type != "api_key":
            return problem("invalid_credential")
        return result


def _known(address: str | None) -> str | None:
    return address if address is not None and is_ip_address(address) else None


def _fail_closed(error: KeyreeveUnavailable) -> Refusal:
    _log.warning("a request gets 503: %s", error)
    return unavailable()


def _read(headers: CredentialHeaders) -> _Presented | Refusal:
    """Like the service at `/auth/forward`: two credentials are refused, even equal ones. An empty or blank line is none."""
    api_keys = [line for line in headers.api_key if line.strip(" \t")]
    values = [*(line for line in headers.authorization if line.strip(" \t")), *api_keys]
    if not values:
        return problem("missing_credential")
    if len(values) > 1:
        return problem("ambiguous_credentials")
    value = values[0]
    if len(value) > VALUE_CHARS_MAX:
        return problem("invalid_credential")
    # Servers join the lines of a repeated header with a comma. No credential contains one.
    if "," in value:
        return problem("ambiguous_credentials")
    if api_keys:
        return problem("invalid_credential") if " " in value else _Presented(value, True)
    bearer = _BEARER.fullmatch(value)
    return problem("invalid_credential") if bearer is None else _Presented(bearer[1], False)
