"""Verifies API keys and access tokens of Keyreeve. Guards are in keyreeve.fastapi, .flask, .django, .asgi and .wsgi."""

from ._check import AcceptedRequest, Check, HeaderLines
from ._client import Keyreeve
from ._problem import Refusal
from ._result import AcceptedCredential, RefusedCredential, RemainingLimit, VerificationResult
from ._unavailable import KeyreeveUnavailable

__all__ = [
    "AcceptedCredential",
    "AcceptedRequest",
    "Check",
    "HeaderLines",
    "Keyreeve",
    "KeyreeveUnavailable",
    "Refusal",
    "RefusedCredential",
    "RemainingLimit",
    "VerificationResult",
]
