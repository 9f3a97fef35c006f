"""The scenario of the management, which packages/conformance/README.md describes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyreeve import KeyreeveError, Management


def manage(url: str, management_key: str) -> dict[str, Any]:
    management = Management(url, lambda: management_key)
    account = management.create_service_account("Analytical Engines", "tenant_182")
    taken = failure_of(lambda: management.create_service_account("other", "tenant_182"))
    found = management.find_service_account("tenant_182")
    unknown = management.find_service_account("tenant_0")
    renamed = management.change_service_account(account.id, {"name": "Engines"}).name
    first = management.service_account_page(limit=1)
    management.create_service_account("another")
    listed = len(list(management.list_service_accounts()))
    session = management.create_portal_session(
        "tenant_182", ["read", "create"], person={"id": "u_7", "name": "Ada"}, origin="https://app.example.com"
    )
    management.end_portal_session(session.id)
    shown = management.set_limits(account.id, {"quota": {"limit": 10_000, "per": "month"}})
    quota = (shown.limits or {}).get("quota")

    keys = management.keys(account.id)
    a, *_ = [keys.create(nickname) for nickname in ("a", "b", "c")]
    rotated = keys.rotate(a.id, overlap_seconds=0)
    key = rotated.key or ""
    printed = f"{a} {rotated!r} {[session]} {session}"
    changed = keys.change(a.id, {"limits": {"rate": {"limit": 60, "window_seconds": 60}}})
    rate = (changed.limits or {}).get("rate")
    page = keys.page(limit=2, sort="-nickname")
    last = keys.page(limit=2, sort="-nickname", cursor=page.next_cursor)
    [of_a] = last.entries
    keys.delete(a.id)
    left = [each.nickname for each in keys.list(sort="nickname")]
    missing = failure_of(lambda: keys.get(a.id))
    management.delete_service_account(account.id)
    return {
        "created": [account.name, account.external_id],
        "taken": taken,
        "found": [found is not None and found.id == account.id, unknown is not None],
        "renamed": renamed,
        "firstPage": [len(first.entries), first.next_cursor is not None],
        "listed": listed,
        "portal": [
            f"/portal/{session.id}#" in session.url,
            round((session.expires_at - session.token_expires_at).total_seconds() * 1000),
        ],
        "portalEnded": failure_of(lambda: management.end_portal_session(session.id)),
        "quota": quota and [quota["limit"], quota["per"]],
        "rotated": key.startswith("krv_") and key != a.key,
        "printed": len([secret for secret in (a.key or "", key, "#") if secret in printed]),
        "rate": rate and rate["limit"],
        "pages": [
            [each.nickname for each in page.entries],
            [of_a.nickname, of_a.hint == f"krv_…{key[-4:]}"],
        ],
        "left": left,
        "missing": missing,
        "deleted": failure_of(lambda: management.get_service_account(account.id)),
        "unreachable": failure_of(
            lambda: Management("http://127.0.0.1:1", management_key).get_service_account(account.id)
        ),
    }


def failure_of(call: Callable[[], object]) -> tuple[int, str] | None:
    try:
        call()
    except KeyreeveError as error:
        return error.status, error.code
    return None
