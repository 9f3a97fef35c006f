"""The program of this library for packages/conformance: starts guards, and verifies credentials."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from management_scenario import manage
from manual_clock import ManualClock
from program_logins import Login

from keyreeve import (
    ExchangedSecrets,
    IdentityToken,
    Keyreeve,
    KeyreeveError,
    KeyreeveUnavailable,
    device_logout,
    exchange,
    github_token,
    google_token,
    token_from_file,
)

_output = threading.Lock()
_sources: dict[str, ExchangedSecrets] = {}
_logins: dict[str, Login] = {}
# By the URL of the guarded application, or the name of the source or login.
_clocks: dict[str, ManualClock] = {}


def write(line: dict[str, object]) -> None:
    with _output:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def start_guard(line_id: int, guard: dict[str, Any]) -> None:
    # Only here, because importing the frameworks takes seconds.
    from applications import applications

    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    names = {"rateLimitFields": "rate_limit_fields"}
    options = {names.get(name, name): value for name, value in guard["options"].items()}
    clock = ManualClock()
    start = applications[guard["framework"]]
    serve = start(partial(Keyreeve, _clock=clock), guard["url"], guard["serviceKey"], options)
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    _clocks[url] = clock
    write({"id": line_id, "url": url})


def token_function(kind: str, place: str) -> IdentityToken:
    if kind == "github":
        os.environ.update(ACTIONS_ID_TOKEN_REQUEST_URL=place, ACTIONS_ID_TOKEN_REQUEST_TOKEN="request-token")
        return github_token
    if kind == "google":
        os.environ["GCE_METADATA_HOST"] = place
        return google_token
    return token_from_file(place)


def start_exchange(line_id: int, started: dict[str, Any]) -> None:
    token = token_function(*started["token"])
    source = exchange(started["url"], started.get("keyId"), token, audience=started.get("audience"))
    name = f"source {len(_sources)}"
    source._clock = _clocks[name] = ManualClock()
    _sources[name] = source
    write({"id": line_id, "source": name})


def start_login(line_id: int, started: dict[str, Any]) -> None:
    name = f"login {len(_logins)}"
    _clocks[name] = ManualClock()
    _logins[name] = Login(started, _clocks[name])
    write({"id": line_id, "login": name})


def write_outcome(line_id: int, outcome: Callable[[], dict[str, object]]) -> None:
    try:
        write({"id": line_id, **outcome()})
    except KeyreeveError as error:
        write({"id": line_id, "failure": {"message": str(error), "status": error.status, "code": error.code}})
    except Exception as error:
        write({"id": line_id, "failure": {"message": str(error)}})


def start_outcome(line_id: int, outcome: Callable[[], dict[str, object]]) -> None:
    threading.Thread(target=write_outcome, args=(line_id, outcome), daemon=True).start()


def secret_of(source: ExchangedSecrets) -> Callable[[], dict[str, object]]:
    return lambda: {"secret": source.secret()}


def log_out(line: dict[str, Any]) -> dict[str, object]:
    device_logout(line["url"], line["clientId"], line["key"])
    return {}


def verify(client: Keyreeve, line: dict[str, Any]) -> None:
    answer(line, lambda: client.verify(line["credential"], **line.get("options", {})).to_json())


async def verify_async(client: Keyreeve, line: dict[str, Any]) -> None:
    try:
        result = await client.verify_async(line["credential"], **line.get("options", {}))
        write({"id": line["id"], "result": result.to_json()})
    except KeyreeveUnavailable as error:
        write({"id": line["id"], "unavailable": str(error)})


def answer(line: dict[str, Any], result: Callable[[], object]) -> None:
    try:
        write({"id": line["id"], "result": result()})
    except KeyreeveUnavailable as error:
        write({"id": line["id"], "unavailable": str(error)})


def main() -> None:
    # Verifications come from threads and from asyncio in turn.
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    url, service_key = os.environ.get("KEYREEVE_URL"), os.environ.get("KEYREEVE_SERVICE_KEY")
    client = Keyreeve(url, service_key) if url and service_key else None
    for text in sys.stdin:
        line = json.loads(text)
        if "guard" in line:
            start_guard(line["id"], line["guard"])
        elif "moveClock" in line:
            _clocks[line["moveClock"]["url"]].move(line["moveClock"]["ms"])
            write({"id": line["id"]})
        elif "management" in line:
            options = line["management"]
            write({"id": line["id"], "transcript": manage(options["url"], options["managementKey"])})
        elif "exchange" in line:
            start_exchange(line["id"], line["exchange"])
        elif "secret" in line:
            start_outcome(line["id"], secret_of(_sources[line["secret"]["source"]]))
        elif "deviceLogin" in line:
            start_login(line["id"], line["deviceLogin"])
        elif "deviceLogout" in line:
            start_outcome(line["id"], partial(log_out, line["deviceLogout"]))
        elif "waits" in line:
            write({"id": line["id"], "waits": _clocks[line["waits"]["login"]].rests()})
        elif "key" in line:
            start_outcome(line["id"], _logins[line["key"]["login"]].outcome)
        elif "cancel" in line:
            _logins[line["cancel"]["login"]].cancel()
            write({"id": line["id"]})
        elif "drop" in line:
            _sources[line["drop"]["source"]].drop(line["drop"]["secret"])
            write({"id": line["id"]})
        elif client is None:
            raise ValueError("KEYREEVE_URL and KEYREEVE_SERVICE_KEY are not set")
        elif line["id"] % 2 == 0:
            asyncio.run_coroutine_threadsafe(verify_async(client, line), loop)
        else:
            threading.Thread(target=verify, args=(client, line), daemon=True).start()


if __name__ == "__main__":
    main()
