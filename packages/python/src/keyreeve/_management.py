"""The management of service accounts, their keys and portal sessions, by a backend with a management key."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

from ._clock import Clock
from ._records import (
    CreatedKey,
    CreatedPortalSession,
    KeyChange,
    KeyDetails,
    KeyLimits,
    KeySummary,
    Page,
    Person,
    RotatedKey,
    ServiceAccount,
    ServiceAccountChange,
    ShownLimits,
    members_of,
    record_of,
)
from ._request import Requests
from ._service_key import ServiceKey, authorization_of
from ._service_url import destination_of

_PATH = "auth/service-accounts"
_PORTAL_PATH = "auth/portal-sessions"

_T = TypeVar("_T")
KeyState = Literal["active", "expiring", "expired", "disabled"]
PortalCapability = Literal["read", "create", "rotate", "limit", "delete"]


class Management:
    """Manages service accounts and their keys. Any number of threads can use it; with asyncio, use `asyncio.to_thread`.

    url: of Keyreeve, such as https://auth.example.com.
    management_key: an API key with the scope keyreeve:keys, or a function that returns the current one. It is called for each request.
    allow_plain_http: allows http: to other hosts than loopback.
    ssl_context: for a certificate authority of your own. Default: the certificate authorities of the system.
    Raises ValueError if the URL or the key is malformed, or the URL is plain HTTP to another host.

    Every method sends its request once, and raises KeyreeveError, also without a complete response within 30 s.
    """

    def __init__(
        self,
        url: str,
        management_key: ServiceKey,
        *,
        allow_plain_http: bool = False,
        ssl_context: ssl.SSLContext | None = None,
        _clock: Clock | None = None,
    ) -> None:
        self._requests = _Requests(
            Requests(destination_of(url, allow_plain_http, ""), ssl_context, _clock or Clock()),
            authorization_of("management_key", management_key),
        )

    def create_service_account(self, name: str, external_id: str | None = None) -> ServiceAccount:
        """name: unique among the service accounts of its creator. external_id: your own id, for example of a tenant.

        If the response is lost, repeat the request: `external_id_taken` means that the first one succeeded.
        """
        body = {"name": name, "externalId": external_id} if external_id is not None else {"name": name}
        return record_of(ServiceAccount, self._requests.send("POST", _PATH, body))

    def service_account_page(self, limit: int | None = None, cursor: str | None = None) -> Page[ServiceAccount]:
        """limit: entries of the page, 1 to 100. cursor: `next_cursor` of the page before."""
        path = _PATH + _query(limit=limit, cursor=cursor)
        return _page(self._requests.send("GET", path), "serviceAccounts", ServiceAccount)

    def list_service_accounts(self) -> Iterator[ServiceAccount]:
        """All that the account of the caller manages, page by page."""
        return _entries(lambda cursor: self.service_account_page(cursor=cursor))

    def find_service_account(self, external_id: str) -> ServiceAccount | None:
        """That which the account of the caller has created with this external id."""
        content = self._requests.send("GET", _PATH + _query(externalId=external_id))
        return next(iter(_page(content, "serviceAccounts", ServiceAccount).entries), None)

    def get_service_account(self, id: str) -> ServiceAccount:
        return record_of(ServiceAccount, self._requests.send("GET", _path_of(id)))

    def change_service_account(self, id: str, change: ServiceAccountChange) -> ServiceAccount:
        return record_of(ServiceAccount, self._requests.send("PATCH", _path_of(id), members_of(change)))

    def delete_service_account(self, id: str) -> None:
        """Also deletes its keys: every verification that starts after the call rejects them. Cannot be undone."""
        self._requests.send("DELETE", _path_of(id))

    def set_limits(self, id: str, limits: KeyLimits) -> ShownLimits:
        """Replaces the limits that all keys of the service account share."""
        return record_of(ShownLimits, self._requests.send("PUT", f"{_path_of(id)}/limits", members_of(limits)))

    def keys(self, id: str) -> Keys:
        """id: of the service account."""
        return Keys(self._requests, f"{_path_of(id)}/api-keys")

    def create_portal_session(
        self,
        external_id: str,
        capabilities: Sequence[PortalCapability],
        *,
        scopes: Sequence[str] | None = None,
        person: Person | None = None,
        origin: str | None = None,
        return_url: str | None = None,
    ) -> CreatedPortalSession:
        """For a person who manages the keys of a service account on the key page. Redirect the frame or the browser to its `url` within a
        minute, and only for a signed-in person.

        scopes: that keys can get. Default: all entitlements of the service account.
        origin: of the page with the frame. Without it, the key page is a page of its own, which needs return_url.
        """
        values = {
            "external_id": external_id,
            "capabilities": list(capabilities),
            "scopes": None if scopes is None else list(scopes),
            "person": person,
            "origin": origin,
            "return_url": return_url,
        }
        given = {name: value for name, value in values.items() if value is not None}
        return record_of(CreatedPortalSession, self._requests.send("POST", _PORTAL_PATH, members_of(given)))

    def end_portal_session(self, id: str) -> None:
        """Every request of its key page that starts after the call is rejected."""
        self._requests.send("DELETE", _path_of(id, _PORTAL_PATH, "portal session"))


class Keys:
    """The API keys of a service account. `Management.keys` makes it."""

    def __init__(self, requests: _Requests, path: str) -> None:
        self._requests = requests
        self._path = path

    def create(
        self,
        nickname: str,
        *,
        scopes: Sequence[str] = (),
        expires_at: datetime | None = None,
        addresses: Sequence[str] | None = None,
        limits: KeyLimits | None = None,
        metadata: Mapping[str, Any] | None = None,
        environment: str | None = None,
        sha256: str | None = None,
    ) -> CreatedKey:
        """nickname: unique among the keys. sha256: of an existing secret, in hexadecimal; the result has no `key` then."""
        values = {
            "nickname": nickname,
            "scopes": list(scopes),
            "expires_at": expires_at,
            "addresses": None if addresses is None else list(addresses),
            "limits": limits,
            "metadata": metadata,
            "environment": environment,
            "sha256": sha256,
        }
        given = {name: value for name, value in values.items() if value is not None}
        return record_of(CreatedKey, self._requests.send("POST", self._path, members_of(given)))

    def page(
        self,
        *,
        search: str | None = None,
        state: KeyState | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[KeySummary]:
        """search: part of the nickname, or the last characters of the hint.
        sort: `created`, `nickname`, `lastUsed` or `expires`; with `-`, descending. Default: `created`.
        limit: entries of the page, 1 to 100. cursor: `next_cursor` of the page before, with the same other parameters.
        """
        query = _query(view="full", search=search, state=state, sort=sort, limit=limit or 100, cursor=cursor)
        return _page(self._requests.send("GET", self._path + query), "apiKeys", KeySummary)

    def list(
        self, *, search: str | None = None, state: KeyState | None = None, sort: str | None = None
    ) -> Iterator[KeySummary]:
        """All keys, page by page."""
        return _entries(lambda cursor: self.page(search=search, state=state, sort=sort, cursor=cursor))

    def get(self, id: int) -> KeyDetails:
        return record_of(KeyDetails, self._requests.send("GET", self._of(id)))

    def change(self, id: int, change: KeyChange) -> KeyDetails:
        """Changes also the limits of the key."""
        return record_of(KeyDetails, self._requests.send("PATCH", self._of(id), members_of(change)))

    def rotate(self, id: int, *, overlap_seconds: int | None = None, end_previous: bool = False) -> RotatedKey:
        """Replaces the secret. overlap_seconds: for how long the previous one stays valid. Default: a day."""
        body: dict[str, Any] = {} if overlap_seconds is None else {"overlapSeconds": overlap_seconds}
        if end_previous:
            body["endPrevious"] = True
        return record_of(RotatedKey, self._requests.send("POST", f"{self._of(id)}/rotate", body))

    def delete(self, id: int) -> None:
        """Every verification that starts after the call rejects the key. Cannot be undone."""
        self._requests.send("DELETE", self._of(id))

    def _of(self, id: int) -> str:
        """Raises ValueError for what is no id, such as a text with dots, which could lead to the key of another account."""
        if type(id) is not int or id <= 0:
            raise ValueError("id must be the number of a key")
        return f"{self._path}/{id}"


class _Requests:
    """Sends each request once, with the key."""

    def __init__(self, requests: Requests, authorization: Callable[[], str]) -> None:
        self._requests = requests
        self._authorization = authorization

    def send(self, method: str, path: str, body: object = None) -> object:
        """Returns the content of the response."""
        headers = {"Authorization": self._authorization()}
        if body is None:
            return self._requests.send(method, path, headers)
        return self._requests.send(method, path, {**headers, "Content-Type": "application/json"}, json.dumps(body).encode())


def _path_of(id: str, parent: str = _PATH, kind: str = "service account") -> str:
    # Dots would lead to another path.
    if not re.fullmatch(r"[\w-]+", id, re.ASCII):
        raise ValueError(f"id: expected the id of a {kind}")
    return f"{parent}/{id}"


def _query(**parameters: str | int | None) -> str:
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _page(content: object, name: str, kind: type[_T]) -> Page[_T]:
    members = content if isinstance(content, dict) else {}
    return Page([record_of(kind, each) for each in members.get(name, ())], members.get("nextCursor"))


def _entries(read: Callable[[str | None], Page[_T]]) -> Iterator[_T]:
    cursor = None
    while True:
        page = read(cursor)
        yield from page.entries
        cursor = page.next_cursor
        if cursor is None:
            return
