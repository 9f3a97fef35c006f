"""The guards of the handshakes of WebSockets, as messages of ASGI."""

import asyncio
import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, FastAPI, WebSocket
from rules_case import RulesCase
from service import Request, Service

from keyreeve import AcceptedCredential, Keyreeve
from keyreeve.asgi import KeyreeveMiddleware
from keyreeve.fastapi import Require

DENIAL = "websocket.http.response"
LIMITS = [{"policy": "key-rate", "limit": 60, "windowSeconds": 60, "remaining": 59, "resetSeconds": 1}]


def accept_with_limits(request: Request) -> None:
    request.answer([{"valid": True, "type": "api_key", "accountId": "acc_1", "limits": LIMITS}])


async def accept(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "websocket.accept", "subprotocol": scope["state"]["keyreeve"].account_id})


def guarded_by_middleware(client: Keyreeve) -> Any:
    return KeyreeveMiddleware(accept, client, rate_limit_fields=True)


def guarded_by_dependency(client: Keyreeve) -> Any:
    app = FastAPI()
    require = Require(client, rate_limit_fields=True)
    require.install(app)

    @app.websocket("/")
    async def respond(websocket: WebSocket, caller: Annotated[AcceptedCredential, Depends(require())]) -> None:
        await websocket.accept(subprotocol=caller.account_id)

    return app


def messages_of(app: Any, headers: list[tuple[bytes, bytes]], extensions: dict[str, Any]) -> list[dict[str, Any]]:
    """What the application sends for a handshake."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/", "query_string": b"", "headers": headers, "extensions": extensions}
    asyncio.run(app(scope, receive, send))
    return sent


class Handshakes(RulesCase):
    def each_guard(self, check: Callable[[Any], None]) -> None:
        with Service(accept_with_limits) as service:
            for guarded in (guarded_by_middleware, guarded_by_dependency):
                with self.subTest(guarded.__name__):
                    check(guarded(self.client(service)))

    def test_an_accepted_handshake_passes_on_the_result_and_the_limits(self) -> None:
        def check(app: Any) -> None:
            [message] = messages_of(app, [(b"authorization", b"Bearer key")], {})
            self.assertEqual((message["type"], message["subprotocol"]), ("websocket.accept", "acc_1"))
            fields = [(b"ratelimit-policy", b'"key-rate";q=60;w=60'), (b"ratelimit", b'"key-rate";r=59;t=1')]
            self.assertEqual(message["headers"], fields)

        self.each_guard(check)

    def test_a_refused_handshake_gets_the_problem_document_if_the_server_can_send_it(self) -> None:
        def check(app: Any) -> None:
            start, body = messages_of(app, [], {DENIAL: {}})
            self.assertEqual((start["type"], start["status"]), (f"{DENIAL}.start", 401))
            self.assertIn((b"content-type", b"application/problem+json; charset=utf-8"), start["headers"])
            self.assertEqual(json.loads(body["body"])["code"], "missing_credential")

        self.each_guard(check)

    def test_another_server_closes_a_refused_handshake(self) -> None:
        def check(app: Any) -> None:
            self.assertEqual(messages_of(app, [], {}), [{"type": "websocket.close", "code": 1008}])

        self.each_guard(check)
