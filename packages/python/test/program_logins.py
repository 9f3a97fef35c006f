"""The sign-ins from a command line of the program."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future
from typing import Any

from manual_clock import ManualClock

from keyreeve import DeviceKey, device_login


class Login:
    def __init__(self, line: dict[str, Any], clock: ManualClock) -> None:
        self._cancel = threading.Event()
        self._key: Future[DeviceKey] = Future()
        threading.Thread(target=self._run, args=(line, clock), daemon=True).start()

    def _run(self, line: dict[str, Any], clock: ManualClock) -> None:
        try:
            key = device_login(
                line["url"],
                line["clientId"],
                scopes=line.get("scopes", ()),
                qr_code=lambda link: f"QR {link}\n",
                cancel=self._cancel,
                _clock=clock,
            )
            self._key.set_result(key)
        except BaseException as error:
            self._key.set_exception(error)

    def cancel(self) -> None:
        self._cancel.set()

    def outcome(self) -> dict[str, object]:
        try:
            key = self._key.result()
        except CancelledError as error:
            raise RuntimeError("cancelled") from error
        members = {"key": key.key, "keyId": key.key_id, "nickname": key.nickname, "scopes": list(key.scopes)}
        return {"key": {**members, "expiresAt": key.expires_at.isoformat()}}
