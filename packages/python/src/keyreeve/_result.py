"""The verification result of a credential: its types, and the strict reading of the service's answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, TypeVar, Union

UNAVAILABLE = "unavailable"

_T = TypeVar("_T")


@dataclass(frozen=True)
class RemainingLimit:
    """The remaining tokens of a limit, for `RateLimit` and `RateLimit-Policy` of your own response."""

    # `key-rate`, `key-quota`, `account-rate` or `account-quota`.
    policy: str
    # Tokens in a window or period.
    limit: int
    remaining: int
    # None for a quota without an end.
    window_seconds: int | None = None
    # Until the limit is full again. None for a quota without an end.
    reset_seconds: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The members that the HTTP API has."""
        seconds = {"windowSeconds": self.window_seconds, "resetSeconds": self.reset_seconds}
        members = {"policy": self.policy, "limit": self.limit, "remaining": self.remaining}
        return {**members, **{name: value for name, value in seconds.items() if value is not None}}


@dataclass(frozen=True)
class AcceptedCredential:
    """Members that do not apply are None: an access token has no key, nickname or scopes."""

    type: Literal["api_key", "access_token"]
    account_id: str
    key_id: int | None = None
    nickname: str | None = None
    scopes: tuple[str, ...] | None = None
    expires_at: datetime | None = None
    # None if the installation has no environments.
    environment: str | None = None
    # None if the key has no metadata.
    metadata: Mapping[str, Any] | None = None
    # None if neither the key nor its account has limits.
    limits: tuple[RemainingLimit, ...] | None = None
    valid: Literal[True] = True

    def to_json(self) -> dict[str, Any]:
        """The members that the HTTP API has."""
        members: dict[str, Any] = {
            "valid": True,
            "type": self.type,
            "accountId": self.account_id,
            "keyId": self.key_id,
            "nickname": self.nickname,
            "scopes": None if self.scopes is None else list(self.scopes),
            "expiresAt": None if self.expires_at is None else _instant_text(self.expires_at),
        }
        if self.environment is not None:
            members["environment"] = self.environment
        if self.metadata is not None:
            members["metadata"] = dict(self.metadata)
        return {**members, **_limits_json(self.limits)}


@dataclass(frozen=True)
class RefusedCredential:
    # A later version of the service can have codes that this version of the library does not have.
    code: str
    # With `rate_limited` and `quota_exceeded`. None if the request can never succeed.
    retry_after_seconds: int | None = None
    # With `quota_exceeded`. None if the request can never succeed.
    resets_at: datetime | None = None
    limits: tuple[RemainingLimit, ...] | None = None
    valid: Literal[False] = False

    def to_json(self) -> dict[str, Any]:
        """The members that the HTTP API has."""
        members: dict[str, Any] = {"valid": False, "code": self.code}
        if self.retry_after_seconds is not None:
            members["retryAfterSeconds"] = self.retry_after_seconds
        if self.resets_at is not None:
            members["resetsAt"] = _instant_text(self.resets_at)
        return {**members, **_limits_json(self.limits)}


# typing.Union, because Python 3.10 evaluates it and readers of the annotations too.
VerificationResult = Union[AcceptedCredential, RefusedCredential]


def read_results(text: bytes, count: int) -> list[VerificationResult]:
    """Reads the body of a batch's answer. The results are matched to the questions by position.

    Raises ValueError if the text is not exactly one result for each question.
    """
    answer = json.loads(text)
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise ValueError("the answer has no list of results")
    if len(results) != count:
        raise ValueError(f"the answer has {len(results)} results for {count} questions")
    return [_read_result(result) for result in results]


def _read_result(value: object) -> VerificationResult:
    members = value if isinstance(value, dict) else {}
    valid, kind = members.get("valid"), members.get("type")
    if valid is True and kind in ("api_key", "access_token"):
        scopes = _member(members, "scopes", list)
        return AcceptedCredential(
            type=kind,
            account_id=_name(members, "accountId"),
            key_id=_member(members, "keyId", int),
            nickname=_member(members, "nickname", str),
            scopes=None if scopes is None else tuple(scopes),
            expires_at=_instant(members, "expiresAt"),
            environment=_member(members, "environment", str),
            metadata=_member(members, "metadata", dict),
            limits=_limits(members),
        )
    if valid is False:
        return RefusedCredential(
            code=_name(members, "code"),
            retry_after_seconds=_member(members, "retryAfterSeconds", int),
            resets_at=_instant(members, "resetsAt"),
            limits=_limits(members),
        )
    raise ValueError("the answer has a result that is neither accepted nor refused")


def _member(members: Mapping[str, Any], name: str, kind: type[_T]) -> _T | None:
    value = members.get(name)
    # A boolean is an int in Python.
    if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
        return value
    raise ValueError(f"the answer has a result with another type of {name}")


def _name(members: Mapping[str, Any], name: str) -> str:
    value = _member(members, name, str)
    if not value:
        raise ValueError(f"the answer has a result without {name}")
    return value


def _count(members: Mapping[str, Any], name: str) -> int:
    value = _member(members, name, int)
    if value is None:
        raise ValueError(f"the answer has a limit without {name}")
    return value


def _instant(members: Mapping[str, Any], name: str) -> datetime | None:
    text = _member(members, name, str)
    # Python 3.10 reads no `Z`.
    return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))


def _instant_text(instant: datetime) -> str:
    return instant.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _limits(members: Mapping[str, Any]) -> tuple[RemainingLimit, ...] | None:
    values = _member(members, "limits", list)
    return None if values is None else tuple(_read_limit(value) for value in values)


def _read_limit(value: object) -> RemainingLimit:
    members = value if isinstance(value, dict) else {}
    return RemainingLimit(
        policy=_name(members, "policy"),
        limit=_count(members, "limit"),
        remaining=_count(members, "remaining"),
        window_seconds=_member(members, "windowSeconds", int),
        reset_seconds=_member(members, "resetSeconds", int),
    )


def _limits_json(limits: tuple[RemainingLimit, ...] | None) -> dict[str, Any]:
    return {} if limits is None else {"limits": [limit.to_json() for limit in limits]}
