"""A client of Authlib that gets a short-lived secret, or signs a person in as a device, and sends what it gets. Its input is a request
as JSON; its output has the status of the response, or the error of the token endpoint. Before, a device writes the user code."""

import json
import sys
import time

from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session

of = json.load(sys.stdin)
secret = of.get("clientSecret")
session = OAuth2Session(
    of["clientId"],
    secret,
    token_endpoint_auth_method="client_secret_basic" if secret else "none",
)
# Without proxies of this machine.
session.trust_env = False


def fetch_key() -> None:
    """Authlib has no loop of polls: the program of a developer has it."""
    begun = session.post(of["deviceUrl"], data={"client_id": of["clientId"], "scope": of["scope"]}, withhold_token=True).json()
    print(begun["user_code"], flush=True)
    grant_type = "urn:ietf:params:oauth:grant-type:device_code"
    while True:
        time.sleep(begun["interval"])
        try:
            session.fetch_token(of["tokenUrl"], grant_type=grant_type, device_code=begun["device_code"])
            return
        except OAuthError as error:
            if error.error != "authorization_pending":
                raise


try:
    if "deviceUrl" in of:
        fetch_key()
    else:
        session.fetch_token(of["tokenUrl"], **{"grant_type": "client_credentials", **of["parameters"]})
    print(json.dumps({"status": session.get(of["resourceUrl"]).status_code}))
except OAuthError as error:
    print(json.dumps({"error": error.error}))
