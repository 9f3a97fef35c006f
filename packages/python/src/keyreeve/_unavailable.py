"""The exceptions of this library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_CODE_FORM = re.compile(r"[a-z_]{1,64}")
_CONTROL = re.compile(r"[\x00-\x1F\x7F-\x9F]")


class KeyreeveUnavailable(Exception):
    """The result of a verification is not known: reject the credential. The message has the reason, and no credential.

    status: of the service's response; 0 without one.
    code: of the service's problem document, such as `invalid_credential` for the service key; `unavailable` without one.
    retry_after_seconds: of Retry-After.
    """

    def __init__(
        self, reason: str, *, status: int = 0, code: str = "unavailable", retry_after_seconds: int | None = None
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.code = code
        self.retry_after_seconds = retry_after_seconds


class KeyreeveError(Exception):
    """A request to manage keys or service accounts, or an exchange, has failed. The message is the detail of the problem document
    (RFC 9457), or the description of the error of an exchange (RFC 6749 section 5.2), without control characters, which a terminal
    would follow.

    status: of the service's response; 0 without one.
    code: stable, such as `nickname_taken` or `invalid_grant`; `unavailable` without a response of the service.
    retry_after_seconds: of Retry-After.
    problem: all members of the problem document, as the server sent them.
    """

    def __init__(
        self, reason: str, *, status: int = 0, problem: Mapping[str, Any] = {}, retry_after_seconds: int | None = None
    ) -> None:
        detail = problem.get("detail", problem.get("error_description"))
        code = problem.get("code", problem.get("error"))
        super().__init__(_CONTROL.sub(" ", detail) if isinstance(detail, str) else reason)
        self.status = status
        self.code = code if isinstance(code, str) and _CODE_FORM.fullmatch(code) else "unavailable"
        self.retry_after_seconds = retry_after_seconds
        self.problem = problem


def seconds_of(retry_after: str | None) -> int | None:
    """None for a date, and without the field."""
    text = retry_after or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
