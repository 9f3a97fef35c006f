"""Verifies API keys and access tokens of Keyreeve, and manages them.

Guards are in keyreeve.fastapi, .flask, .django, .asgi and .wsgi.
"""

from ._check import AcceptedRequest, Check, HeaderLines
from ._client import Keyreeve
from ._device_login import DeviceCode, DeviceKey, device_login, device_logout
from ._exchange import ExchangedSecrets, IdentityToken, exchange
from ._identity_tokens import github_token, google_token, token_from_file
from ._management import Keys, Management, PortalCapability
from ._problem import Refusal
from ._records import (
    CreatedKey,
    CreatedPortalSession,
    KeyChange,
    KeyDetails,
    KeyLimits,
    KeySummary,
    Page,
    Person,
    Quota,
    QuotaUse,
    RateLimit,
    RotatedKey,
    ServiceAccount,
    ServiceAccountChange,
    ShownLimits,
)
from ._result import AcceptedCredential, RefusedCredential, RemainingLimit, VerificationResult
from ._service_key import ServiceKey
from ._unavailable import KeyreeveError, KeyreeveUnavailable

__all__ = [
    "AcceptedCredential",
    "AcceptedRequest",
    "Check",
    "CreatedKey",
    "CreatedPortalSession",
    "DeviceCode",
    "DeviceKey",
    "ExchangedSecrets",
    "HeaderLines",
    "IdentityToken",
    "KeyChange",
    "KeyDetails",
    "KeyLimits",
    "KeySummary",
    "Keyreeve",
    "KeyreeveError",
    "KeyreeveUnavailable",
    "Keys",
    "Management",
    "Page",
    "Person",
    "PortalCapability",
    "Quota",
    "QuotaUse",
    "RateLimit",
    "Refusal",
    "RefusedCredential",
    "RemainingLimit",
    "RotatedKey",
    "ServiceAccount",
    "ServiceAccountChange",
    "ServiceKey",
    "ShownLimits",
    "VerificationResult",
    "device_login",
    "device_logout",
    "exchange",
    "github_token",
    "google_token",
    "token_from_file",
]
