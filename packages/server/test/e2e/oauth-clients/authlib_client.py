"""A client of Authlib that gets a short-lived secret and sends it. Its input is a request as JSON; its output has the status of the
response, or the error of the token endpoint."""

import json
import sys

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
try:
    session.fetch_token(of["tokenUrl"], **{"grant_type": "client_credentials", **of["parameters"]})
    print(json.dumps({"status": session.get(of["resourceUrl"]).status_code}))
except OAuthError as error:
    print(json.dumps({"error": error.error}))
