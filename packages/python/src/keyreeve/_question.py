"""A question: one credential with its options, as an entry of `questions` of `POST /auth/verify/batch`."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

CREDENTIAL_BYTES_MAX = 4_096
SCOPES_MAX = 32
ENVIRONMENTS_MAX = 8
COST_MAX = 10_000

_SCOPE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]{1,64}")
_ENVIRONMENT = re.compile(r"[a-z][a-z0-9-]{0,15}")


@dataclass(frozen=True)
class Conditions:
    """What a credential must satisfy, apart from the client IP.

    Raises ValueError for conditions that the service rejects, except an unknown environment: the service would reject
    all other questions of the batch too.
    """

    scopes: tuple[str, ...] = ()
    environments: tuple[str, ...] | None = None
    cost: int | None = None

    def __post_init__(self) -> None:
        if len(self.scopes) > SCOPES_MAX or not all(_matches(_SCOPE, scope) for scope in self.scopes):
            raise ValueError(f"scopes: expected at most {SCOPES_MAX} scopes of RFC 6749 with at most 64 characters each")
        names = self.environments
        if names is not None and not (
            0 < len(names) <= ENVIRONMENTS_MAX and all(_matches(_ENVIRONMENT, name) for name in names)
        ):
            raise ValueError(f"environments: expected 1 to {ENVIRONMENTS_MAX} names of environments")
        if self.cost is not None and not (type(self.cost) is int and 0 <= self.cost <= COST_MAX):
            raise ValueError(f"cost: expected a whole number from 0 to {COST_MAX}")


@dataclass(frozen=True)
class Question:
    # JSON in UTF-8, with the members in a fixed order: equal questions have equal texts.
    text: bytes
    # Spends nothing, so equal questions can share an entry, and the client can repeat it.
    is_free: bool
    environments: tuple[str, ...] | None


def conditions_of(scopes: Sequence[str], environments: Sequence[str] | None, cost: int | None) -> Conditions:
    # A text is a sequence of characters, and ("orders:read") is a text.
    if isinstance(scopes, str) or isinstance(environments, str):
        raise ValueError("scopes and environments: expected a list, not a text")
    return Conditions(tuple(scopes), None if environments is None else tuple(environments), cost)


def can_be_credential(text: str) -> bool:
    """By the length only, because prefixes can change: at most 4,096 bytes in UTF-8.

    Text with a lone surrogate has no form in UTF-8, so the client cannot send it.
    """
    if text == "" or len(text) > CREDENTIAL_BYTES_MAX:
        return False
    try:
        return len(text.encode()) <= CREDENTIAL_BYTES_MAX
    except UnicodeEncodeError:
        return False


def question_of(credential: str, conditions: Conditions, address: str | None) -> Question:
    if address is not None and not is_ip_address(address):
        raise ValueError("address: expected an IP address without a port, such as 203.0.113.7")
    members: dict[str, object] = {"credential": credential}
    if conditions.scopes:
        members["scopes"] = conditions.scopes
    if conditions.environments is not None:
        members["environments"] = conditions.environments
    if address is not None:
        members["address"] = address
    if conditions.cost is not None:
        members["cost"] = conditions.cost
    text = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()
    return Question(text, conditions.cost == 0, conditions.environments)


def is_ip_address(text: str) -> bool:
    """Without port, brackets or zone id."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _matches(pattern: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None
