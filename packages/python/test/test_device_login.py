"""What only callers in this process can do with a sign-in from a command line."""

from __future__ import annotations

import json
import threading
import unittest
from concurrent.futures import CancelledError
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from keyreeve import DeviceCode, device_login
from keyreeve._clock import Clock

_PAGE = "https://auth.example.com/console/device"
_CODE = {"device_code": "krvd_1", "user_code": "WDJB-MJHT", "verification_uri": _PAGE, "expires_in": 600, "interval": 5}
_KEY = {"access_token": "krv_1", "token_type": "Bearer", "expires_in": 60, "scope": "", "key_id": 7, "nickname": "Acme"}


class _WithoutPauses(Clock):
    def pause(self, event: threading.Event, until: float) -> bool:
        return event.is_set()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.dumps(_CODE if self.path == "/auth/oauth/device" else _KEY).encode()
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class DeviceLogin(unittest.TestCase):
    def setUp(self) -> None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"

    def test_a_sign_in_shows_the_code_as_the_program_likes_and_no_secret(self) -> None:
        shown: list[DeviceCode] = []
        key = device_login(self.url, "acme-cli", show=shown.append, _clock=_WithoutPauses())
        self.assertEqual(shown, [DeviceCode("WDJB-MJHT", _PAGE, _PAGE, 600)])
        self.assertEqual((key.key, key.key_id, key.scopes), ("krv_1", 7, ()))
        self.assertNotIn("krv_", repr(key) + str(key))

    def test_a_sign_in_ends_with_the_error_of_show_or_of_the_event(self) -> None:
        def fail(_: DeviceCode) -> None:
            raise OSError("the terminal is closed")

        with self.assertRaisesRegex(OSError, "the terminal is closed"):
            device_login(self.url, "acme-cli", show=fail)
        cancelled = threading.Event()
        with self.assertRaises(CancelledError):
            device_login(self.url, "acme-cli", show=lambda _: cancelled.set(), cancel=cancelled)

    def test_options_that_cannot_lead_to_a_key_are_errors(self) -> None:
        for url, client_id in (("http://auth.example.com", "acme-cli"), (self.url, "")):
            with self.assertRaises(ValueError):
                device_login(url, client_id)
        with self.assertRaises(ValueError):
            device_login(self.url, "acme-cli", scopes="orders:read")


if __name__ == "__main__":
    unittest.main()
