"""The values of the management: dataclasses for responses, and dictionaries for the parts that requests and responses share.

Names of members are in lower case with underscores here, and in camel case in the HTTP API.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Generic, Literal, TypedDict, TypeVar

from ._unavailable import KeyreeveError

_T = TypeVar("_T")


class _RateLimit(TypedDict):
    limit: int
    window_seconds: int


class RateLimit(_RateLimit, total=False):
    """A bucket of `burst` tokens (default: `limit`), which is refilled with `limit` tokens in each window."""

    burst: int


class Quota(TypedDict):
    """Tokens of a day or month in UTC, or of all time."""

    limit: int
    per: Literal["day", "month", "ever"]


class KeyLimits(TypedDict, total=False):
    """A verification spends one token of each, or as many as its cost."""

    rate: RateLimit | None
    quota: Quota | None


class QuotaUse(TypedDict):
    used: int
    # RFC 3339. None: never.
    resets_at: str | None


class KeyChange(TypedDict, total=False):
    """Absent members keep their values, and None removes a value."""

    nickname: str
    scopes: list[str]
    expires_at: datetime | None
    addresses: list[str] | None
    limits: KeyLimits | None
    metadata: Mapping[str, Any] | None
    disabled: bool


class _Person(TypedDict):
    # Your own id of the person: no email address.
    id: str


class Person(_Person, total=False):
    """Who manages keys on the key page, for the audit log."""

    name: str


class ServiceAccountChange(TypedDict, total=False):
    """Absent members keep their values, and None removes the external id."""

    name: str
    external_id: str | None


@dataclass(frozen=True)
class ServiceAccount:
    id: str
    name: str
    external_id: str | None
    # None after the deletion of the account that created it.
    creator_id: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class CreatedKey:
    id: int
    nickname: str
    created_at: datetime
    updated_at: datetime
    # The secret. No other response has it. None for a key with the SHA-256 of an existing one.
    key: str | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id})"


@dataclass(frozen=True, repr=False)
class RotatedKey(CreatedKey):
    # None without an overlap.
    previous_expires_at: datetime | None = None


@dataclass(frozen=True)
class CreatedPortalSession:
    id: str
    # Of the key page. Its fragment is a token that works once, for a minute. No other response has it.
    url: str = field(repr=False)
    expires_at: datetime
    token_expires_at: datetime


@dataclass(frozen=True)
class KeySummary:
    """A key in a page of a list."""

    id: int
    nickname: str
    created_at: datetime
    updated_at: datetime
    scopes: list[str]
    expires_at: datetime | None
    disabled_at: datetime | None
    last_used_at: datetime | None
    environment: str | None
    # The prefix and the last characters of the secret.
    hint: str | None


@dataclass(frozen=True)
class KeyDetails(KeySummary):
    addresses: list[str] | None
    metadata: Mapping[str, Any] | None
    limits: KeyLimits | None
    quota_use: QuotaUse | None


@dataclass(frozen=True)
class ShownLimits:
    """The limits of a service account, and what is used of its quota."""

    limits: KeyLimits | None
    quota_use: QuotaUse | None


@dataclass(frozen=True)
class Page(Generic[_T]):
    # Also a page that is not the last can have few or none.
    entries: list[_T]
    # None for the last page.
    next_cursor: str | None


def record_of(kind: type[_T], content: object) -> _T:
    """Raises KeyreeveError for other content. Members that this version of the library does not have are dropped."""
    names = {_camel(each.name): each.name for each in fields(kind)}  # type: ignore[arg-type]
    members = content.items() if isinstance(content, dict) else ()
    try:
        return kind(**{names[name]: _value(name, value) for name, value in members if name in names})
    except (TypeError, ValueError) as error:
        raise KeyreeveError("the response has another form than expected") from error


def members_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Of a request. Raises ValueError for a time without a time zone."""
    return {_camel(name): value if name == "metadata" else _json(value) for name, value in values.items()}


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("expected a time with a time zone")
        return value.isoformat()
    return members_of(value) if isinstance(value, Mapping) else value


def _value(name: str, value: Any) -> Any:
    if name.endswith("At") and isinstance(value, str):
        # Python 3.10 reads no `Z`.
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    return _snake_members(value) if name in ("limits", "quotaUse") and value is not None else value


def _snake_members(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name): _snake_members(member) for name, member in value.items()}


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)
