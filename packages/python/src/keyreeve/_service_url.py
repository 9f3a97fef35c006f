"""The URL of the service. Plain HTTP is only for loopback, because every request contains a credential."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


@dataclass(frozen=True)
class Destination:
    is_tls: bool
    host: str
    # None: the default of the scheme.
    port: int | None
    path: str


def destination_of(url: str, allow_plain_http: bool, path: str) -> Destination:
    """path: below that of the URL. Raises ValueError if the URL is malformed, has a user, query or fragment, or is plain HTTP to another host."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    is_plain = parts.scheme in ("http", "https") and not any(mark in url for mark in "@?#\\") and url.isascii()
    if not is_plain or not host or any(ord(character) <= 0x20 for character in url):
        raise ValueError("url: expected the URL of Keyreeve, such as https://auth.example.com")
    if parts.scheme == "http" and not _LOOPBACK.fullmatch(host) and not allow_plain_http:
        raise ValueError("url: plain HTTP is allowed to loopback only; use https, or set allow_plain_http")
    return Destination(parts.scheme == "https", host, port, f"{parts.path.rstrip('/')}/{path}")
