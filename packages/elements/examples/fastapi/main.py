"""The backend of a product, with the key page of Keyreeve in its dashboard. Replace `person_of` with your own sign-in."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from keyreeve import KeyreeveError, Management

URL = os.environ["KEYREEVE_URL"]
ORIGIN = os.environ.get("ORIGIN", "http://localhost:8000")
PAGE = Path(__file__).with_name("index.html").read_text().replace("KEYREEVE_URL", URL)
NO_STORE = {"Cache-Control": "no-store"}

keyreeve = Management(URL, lambda: os.environ["KEYREEVE_MANAGEMENT_KEY"])
app = FastAPI()


def person_of(request: Request) -> dict[str, str] | None:
    """The signed-in person and the tenant; None to refuse. This one accepts every request as DEMO_PERSON, for a try-out."""
    person = os.environ.get("DEMO_PERSON")
    return {"id": person, "tenant": "tenant_182"} if person else None


def new_session(person: dict[str, str]) -> str:
    """The URL of the frame, whose token works once."""

    def create() -> str:
        return keyreeve.create_portal_session(
            person["tenant"],
            ["read", "create", "rotate", "limit", "delete"],
            person={"id": person["id"]},
            origin=ORIGIN,
        ).url

    try:
        return create()
    except KeyreeveError as error:
        if error.code != "account_not_found":
            raise
    try:
        keyreeve.create_service_account(person["tenant"], external_id=person["tenant"])
    except KeyreeveError as error:
        if error.code != "external_id_taken":
            raise
    return create()


@app.get("/")
def page() -> Response:
    service = "{0.scheme}://{0.netloc}".format(urlsplit(URL))
    policy = f"default-src 'self'; script-src {service}; style-src 'unsafe-inline'; frame-src 'self' {service}"
    return HTMLResponse(PAGE, headers={"Content-Security-Policy": policy})


# Limit the requests of one person here: Keyreeve creates at most 600 sessions an hour for each service account.
@app.get("/api-keys/frame")
def frame(request: Request) -> Response:
    # Requests of scripts and of other sites get no token.
    asked = request.headers.get("Sec-Fetch-Dest"), request.headers.get("Sec-Fetch-Site")
    if asked != ("iframe", "same-origin"):
        return PlainTextResponse("Only for the frame of the page.", 403, NO_STORE)
    person = person_of(request)
    if person is None:
        return PlainTextResponse("Sign in again, and reload the page.", 401, NO_STORE)
    try:
        return RedirectResponse(new_session(person), 302, NO_STORE)
    except KeyreeveError as error:
        logging.error("%s %s", error.code, error)
        return PlainTextResponse("The API keys are not available. Reload the page later.", 503, NO_STORE)
