"""Verifies API keys and access tokens of Keyreeve. Guards are in keyreeve.fastapi, .asgi, .wsgi and .django."""

from ._client import Keyreeve
from ._result import AcceptedCredential, RefusedCredential, RemainingLimit, VerificationResult
from ._unavailable import KeyreeveUnavailable

__all__ = [
    "AcceptedCredential",
    "Keyreeve",
    "KeyreeveUnavailable",
    "RefusedCredential",
    "RemainingLimit",
    "VerificationResult",
]
