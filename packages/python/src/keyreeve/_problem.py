"""The problem documents (RFC 9457) of guards: those of the service, without the id of its request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ._result import RefusedCredential, RemainingLimit, VerificationResult

# By code: status, title and detail.
_PROBLEMS = {
    "missing_credential": (
        401,
        "A credential is required",
        "Send an API key or an access token as `Authorization: Bearer …`, or an API key as `X-API-Key: …`.",
    ),
    "invalid_credential": (
        401,
        "The credential is not valid",
        "The API key or access token is malformed, unknown, deleted, expired or disabled.",
    ),
    "ambiguous_credentials": (
        401,
        "The request carries more than one credential",
        "Send exactly one: one Authorization header or one X-API-Key header, with one value.",
    ),
    "insufficient_scope": (
        403,
        "The credential lacks a scope",
        "The credential is valid, but it lacks a scope that this request needs. Add the scope to the key "
        "with PATCH /auth/api-keys/{id}, or use another key.",
    ),
    "address_unknown": (
        403,
        "The client IP is not known",
        "The key is limited to IP ranges, and the request contains no client IP from a trusted proxy, or "
        "it is malformed. An operator sets KEYREEVE_TRUSTED_PROXIES.",
    ),
    "address_not_allowed": (
        403,
        "The key is not valid from this IP address",
        "The key is limited to IP ranges, and the client IP is outside them.",
    ),
    "wrong_environment": (
        403,
        "The key belongs to another environment",
        "The key is valid, but not in this environment: for example a test key in production.",
    ),
    "rate_limited": (
        429,
        "The rate limit is exceeded",
        "A rate limit of the key or its account has too few tokens left. Wait for the seconds in "
        "Retry-After. Without Retry-After, the cost exceeds the burst.",
    ),
    "quota_exceeded": (
        429,
        "The quota is used up",
        "A quota of the key or its account has too few tokens left. It starts again after the seconds in "
        "Retry-After. Without Retry-After, waiting does not help.",
    ),
    "unavailable": (
        503,
        "Keyreeve is unavailable",
        "The database cannot be reached, or the instance is stopping. Keyreeve has no cache to answer "
        "from. Wait for the seconds in Retry-After.",
    ),
}
_BEARER = 'Bearer realm="keyreeve"'
_BASIC = 'Basic realm="keyreeve", charset="UTF-8", '


@dataclass(frozen=True)
class Refusal:
    """The response to a request that is not let through."""

    # 401, 403, 429 or 503.
    status: int
    # Of the problem document, such as missing_credential.
    code: str
    title: str
    # Of each refusal Content-Type, Content-Length and Cache-Control, of some WWW-Authenticate, Retry-After or the limits.
    headers: tuple[tuple[str, str], ...]
    # The problem document (RFC 9457) in JSON and UTF-8, for each method except HEAD.
    body: bytes


def problem(code: str, scopes: Sequence[str] = (), more: Sequence[tuple[str, str]] = ()) -> Refusal:
    """scopes: those that the guard requires."""
    status, title, detail = _PROBLEMS[code]
    members = {"type": f"/problems/{code}", "title": title, "status": status, "detail": detail, "code": code}
    body = json.dumps(members, ensure_ascii=False).encode()
    headers = (
        ("Content-Type", "application/problem+json; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        *_challenge(code, scopes),
        *more,
    )
    return Refusal(status, code, title, headers, body)


def with_basic(refusal: Refusal) -> Refusal:
    """With a Basic challenge in a 401, the first one of the line: skopeo and Maven read no other."""
    if refusal.status != 401:
        return refusal
    headers = ((name, _BASIC + value if name == "WWW-Authenticate" else value) for name, value in refusal.headers)
    return replace(refusal, headers=tuple(headers))


def unavailable() -> Refusal:
    """The service's answer is not known."""
    return problem("unavailable", more=[("Retry-After", "1")])


def refusal_of(result: RefusedCredential, scopes: Sequence[str]) -> Refusal:
    """403 and 429 show that the credential is valid under other conditions; every other one gets the same 401."""
    if result.code in ("insufficient_scope", "address_not_allowed", "wrong_environment"):
        return problem(result.code, scopes)
    if result.code == "address_required":
        return problem("address_unknown")
    if result.code in ("rate_limited", "quota_exceeded"):
        return problem(result.code, more=[*_retry_after(result), *limit_fields(result)])
    return problem("invalid_credential")


def _challenge(code: str, scopes: Sequence[str]) -> list[tuple[str, str]]:
    """RFC 6750 section 3. The challenge of a missing scope names all required scopes."""
    errors = {
        "missing_credential": "",
        "invalid_credential": ', error="invalid_token"',
        "ambiguous_credentials": ', error="invalid_request"',
        "insufficient_scope": f', error="insufficient_scope", scope="{" ".join(scopes)}"',
    }
    return [("WWW-Authenticate", _BEARER + errors[code])] if code in errors else []


def _retry_after(result: RefusedCredential) -> list[tuple[str, str]]:
    return [] if result.retry_after_seconds is None else [("Retry-After", str(result.retry_after_seconds))]


def limit_fields(result: VerificationResult) -> tuple[tuple[str, str], ...]:
    """draft-ietf-httpapi-ratelimit-headers-11. Empty if neither the key nor its account has limits."""
    if result.limits is None:
        return ()
    policies, rests = map(_policy, result.limits), map(_rest, result.limits)
    return (("RateLimit-Policy", ", ".join(policies)), ("RateLimit", ", ".join(rests)))


def _policy(limit: RemainingLimit) -> str:
    window = "" if limit.window_seconds is None else f";w={limit.window_seconds}"
    return f'"{limit.policy}";q={limit.limit}{window}'


def _rest(limit: RemainingLimit) -> str:
    reset = "" if limit.reset_seconds is None else f";t={limit.reset_seconds}"
    return f'"{limit.policy}";r={limit.remaining}{reset}'
