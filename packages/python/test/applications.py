"""An application behind each guard, for the table of packages/conformance: it responds with the verification result."""

import json
import socket
import socketserver
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any
from unittest import mock
from wsgiref.simple_server import ServerHandler, WSGIRequestHandler, WSGIServer

import django
import uvicorn
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, JsonResponse
from django.test.utils import override_settings
from django.urls import re_path
from fastapi import Depends, FastAPI
from flask import Flask, g

import keyreeve.asgi
import keyreeve.django
import keyreeve.flask
import keyreeve.wsgi
from keyreeve import AcceptedCredential, Check, Keyreeve, Refusal
from keyreeve.fastapi import Require

Options = dict[str, Any]
NewClient = Callable[..., Keyreeve]
Serve = Callable[[socket.socket], None]

# One list of routes for each application of Django.
urlpatterns: list[Any] = []
settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, LOGGING_CONFIG=None, KEYREEVE={})
django.setup()


def serve_asgi(app: Any) -> Serve:
    # uvicorn trusts the X-Forwarded-For of loopback by default.
    config = uvicorn.Config(app, log_config=None, access_log=False, proxy_headers=False, lifespan="off")
    return lambda listener: uvicorn.Server(config).run(sockets=[listener])


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        return


class _ThreadingServer(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


def serve_wsgi(app: Any) -> Serve:
    ServerHandler.http_version = "1.1"

    def serve(listener: socket.socket) -> None:
        server = _ThreadingServer(listener.getsockname(), _Handler, bind_and_activate=False)
        server.socket.close()
        server.socket = listener
        server.server_name, server.server_port = listener.getsockname()
        server.setup_environ()
        server.set_app(app)
        server.serve_forever()

    return serve


def use_check(new_client: NewClient, url: str, service_key: str, options: Options) -> Serve:
    check = Check(new_client(url, service_key), **options)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            outcome = check.check(self.headers.items(), self.client_address[0])
            if isinstance(outcome, Refusal):
                status, body = outcome.status, outcome.body
            else:
                status, body = 200, json.dumps({"result": outcome.result.to_json()}).encode()
            self.send_response(status)
            for name, value in outcome.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

        do_HEAD = do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            return

    def serve(listener: socket.socket) -> None:
        server = ThreadingHTTPServer(listener.getsockname(), Handler, bind_and_activate=False)
        server.socket.close()
        server.socket = listener
        server.serve_forever()

    return serve


def common(options: Options) -> Options:
    """The options that all guards of an application have in common."""
    return {name: options.pop(name, False) for name in ("rate_limit_fields", "basic")}


def use_flask(guards_all: bool) -> Callable[..., Serve]:
    def start(new_client: NewClient, url: str, service_key: str, options: Options) -> Serve:
        app = Flask(__name__)
        require = keyreeve.flask.Require(new_client(url, service_key), **common(options))
        guard = require(*options.pop("scopes", []), **options)
        if guards_all:
            app.before_request(guard.before_request)

            @app.route("/<path:path>", methods=["GET", "POST"])
            def respond(path: str) -> dict[str, Any]:
                return {"result": g.keyreeve.to_json()}

        else:

            @app.route("/<path:path>", methods=["GET", "POST"])
            @guard
            async def respond_async(path: str) -> dict[str, Any]:
                return {"result": g.keyreeve.to_json()}

        return serve_wsgi(app)

    return start


def use_fastapi(new_client: NewClient, url: str, service_key: str, options: Options) -> Serve:
    app = FastAPI()
    require = Require(new_client(url, service_key), **common(options))
    require.install(app)
    scopes = options.pop("scopes", [])

    @app.api_route("/{path:path}", methods=["GET", "POST", "HEAD"])
    async def respond(caller: Annotated[AcceptedCredential, Depends(require(*scopes, **options))]) -> dict[str, Any]:
        return {"result": caller.to_json()}

    return serve_asgi(app)


def use_asgi(new_client: NewClient, url: str, service_key: str, options: Options) -> Serve:
    async def respond(scope: Any, receive: Any, send: Any) -> None:
        body = json.dumps({"result": scope["state"]["keyreeve"].to_json()}).encode()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return serve_asgi(keyreeve.asgi.KeyreeveMiddleware(respond, new_client(url, service_key), **options))


def use_wsgi(new_client: NewClient, url: str, service_key: str, options: Options) -> Serve:
    def respond(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps({"result": environ["keyreeve"].to_json()}).encode()]

    return serve_wsgi(keyreeve.wsgi.KeyreeveMiddleware(respond, new_client(url, service_key), **options))


def view(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"result": request.keyreeve.to_json()})


async def async_view(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"result": request.keyreeve.to_json()})


def use_django(handler: Callable[[], Any], guarded: Callable[..., Any], as_middleware: bool) -> Callable[..., Serve]:
    """Behind the middleware of CSRF, which refuses each POST without a token, unless the guard is exempt from it."""
    csrf = "django.middleware.csrf.CsrfViewMiddleware"

    def start(new_client: NewClient, url: str, service_key: str, options: Options) -> Serve:
        names = {"URL": url, "SERVICE_KEY": service_key}
        own = {name.upper(): value for name, value in options.items()} if as_middleware else {}
        middleware = ["keyreeve.django.KeyreeveMiddleware", csrf] if as_middleware else [csrf]
        scopes = options.pop("scopes", [])
        require = keyreeve.django.require(*scopes, **options, client=new_client(url, service_key))
        routed = guarded if as_middleware else require(guarded)
        urls = type("Urls", (), {"urlpatterns": [re_path("", routed)]})
        override = override_settings(KEYREEVE={**names, **own}, MIDDLEWARE=middleware, ROOT_URLCONF=urls)
        # The handler creates its middleware here, and the middleware its client.
        with override, mock.patch.object(keyreeve.django, "Keyreeve", new_client):
            app = handler()
        return (serve_asgi if handler is ASGIHandler else serve_wsgi)(with_routes(app, urls))

    return start


def with_routes(app: Any, urls: Any) -> Any:
    """Django has one list of routes for a process."""
    original = app.resolve_request

    def resolve_request(request: HttpRequest) -> Any:
        request.urlconf = urls
        return original(request)

    app.resolve_request = resolve_request
    return app


applications: dict[str, Callable[[NewClient, str, str, Options], Serve]] = {
    "core check": use_check,
    "flask": use_flask(guards_all=False),
    "flask-all": use_flask(guards_all=True),
    "fastapi": use_fastapi,
    "asgi": use_asgi,
    "wsgi": use_wsgi,
    "django": use_django(WSGIHandler, view, as_middleware=False),
    "django-async": use_django(ASGIHandler, async_view, as_middleware=False),
    "django-middleware": use_django(WSGIHandler, view, as_middleware=True),
    "django-middleware-async": use_django(ASGIHandler, async_view, as_middleware=True),
}
