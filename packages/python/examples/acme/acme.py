"""A command line whose users sign in with Keyreeve: acme login, acme whoami, acme logout.

With segno, login shows a QR code. The key is in the key store of the system, if keyring is installed and finds one; otherwise in a file
that only its owner can read. ACME_KEY_FILE names another file, which is used in any case.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keyreeve import KeyreeveError, device_login, device_logout

try:
    import segno
except ImportError:
    segno = None

URL = os.environ.get("KEYREEVE_URL", "https://auth.example.com")
CLIENT_ID = "acme-cli"
CONFIG = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config"))
PATH = Path(os.environ.get("ACME_KEY_FILE", CONFIG / "acme" / "key.json"))


def login() -> str:
    key = device_login(URL, CLIENT_ID, qr_code=qr_code if segno else None)
    store({"key": key.key, "key_id": key.key_id, "nickname": key.nickname})
    return f"Signed in until {key.expires_at:%Y-%m-%d} with the key “{key.nickname}”"


def whoami() -> str:
    """Replace the URL with that of your API, which verifies the key."""
    held = signed_in()
    request = urllib.request.Request(f"{URL}/auth/forward")
    # Not in the headers, which urllib sends again to the target of a redirect.
    request.add_unredirected_header("Authorization", f"Bearer {held['key']}")
    try:
        with urllib.request.urlopen(request) as response:
            scopes = "".join(filter(str.isprintable, response.headers["X-Keyreeve-Scopes"] or ""))
            return f"{held['nickname']}: {scopes}"
    except urllib.error.HTTPError as error:
        if error.code == 401:
            sys.exit("acme: the key is not accepted: run `acme login`")
        raise


def logout() -> str:
    key = signed_in()
    try:
        device_logout(URL, CLIENT_ID, key["key"])
    except KeyreeveError as error:
        forget()
        held = f"The key “{key['nickname']}” ({key['key_id']}) may still be valid: delete it at {URL}/console"
        sys.exit(f"acme: signed out only here ({error}). {held}")
    forget()
    return f"Signed out. The key “{key['nickname']}” has been deleted"


def qr_code(link: str) -> str:
    drawn = io.StringIO()
    segno.make(link).terminal(drawn, border=2, compact=True)
    return drawn.getvalue()


def signed_in() -> dict[str, Any]:
    text = keyring.get_password("acme-cli", "key") if keyring else None
    if text is None and PATH.exists():
        text = PATH.read_text()
    if text is None:
        sys.exit("acme: you are not signed in: run `acme login`")
    held: dict[str, Any] = json.loads(text)
    return held


def store(key: dict[str, Any]) -> None:
    forget()
    if keyring:
        keyring.set_password("acme-cli", "key", json.dumps(key))
        return
    PATH.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(PATH, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(key, file)


def forget() -> None:
    if keyring and keyring.get_password("acme-cli", "key") is not None:
        keyring.delete_password("acme-cli", "key")
    PATH.unlink(missing_ok=True)


def system_keyring() -> Any:
    """None without a key store, as over SSH."""
    with contextlib.suppress(Exception):
        import keyring

        keyring.get_password("acme-cli", "key")
        return keyring
    return None


keyring = None if "ACME_KEY_FILE" in os.environ else system_keyring()
COMMANDS: dict[str, Callable[[], str]] = {"login": login, "whoami": whoami, "logout": logout}

if __name__ == "__main__":
    command = COMMANDS.get(" ".join(sys.argv[1:]))
    if command is None:
        sys.exit("usage: acme login | whoami | logout")
    try:
        print(command())
    except KeyreeveError as error:
        sys.exit(f"acme: {error}")
