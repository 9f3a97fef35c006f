"""Functions that return the identity token of a workload."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ._service_key import KEY_FORM

# Of each operation of the connection. The exchange has a total time.
_TIMEOUT_SECONDS = 10.0


def github_token(audience: str) -> str:
    """The token of a job of GitHub Actions that has the permission `id-token: write`."""
    url = os.environ.get("ACTIONS_ID_TOKEN_REQUEST_URL", "")
    token = os.environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
    if not url or not KEY_FORM.fullmatch(token):
        raise RuntimeError("github_token: the job needs the permission `id-token: write`")
    parts = urlsplit(url)
    query = urlencode([*parse_qsl(parts.query), ("audience", audience)])
    text = _read("github_token", urlunsplit(parts._replace(query=query)), {"Authorization": f"Bearer {token}"})
    try:
        return str(json.loads(text)["value"])
    except (ValueError, KeyError, TypeError):
        raise RuntimeError("github_token: the response has no token") from None


def google_token(audience: str) -> str:
    """The token of the service account of a machine, a pod or a function on Google Cloud."""
    host = os.environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    query = urlencode({"audience": audience, "format": "full"})
    url = f"http://{host}/computeMetadata/v1/instance/service-accounts/default/identity?{query}"
    # By default, plain HTTP, and so the token, is sent to a proxy of the environment.
    direct = urllib.request.ProxyHandler({})
    return _read("google_token", url, {"Metadata-Flavor": "Google"}, direct)


def token_from_file(path: str | os.PathLike[str]) -> Callable[[str], str]:
    """A token that the platform renews in a file, such as a projected token of Kubernetes. It determines the audience."""
    file = Path(path)
    return lambda audience: file.read_text().strip()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: the header would reach another host."""

    def redirect_request(self, *_: object) -> None:
        return None


def _read(name: str, url: str, headers: Mapping[str, str], *handlers: urllib.request.BaseHandler) -> str:
    """Raises RuntimeError, whose message has no header and no content."""
    request = urllib.request.Request(url, headers=dict(headers))  # noqa: S310
    try:
        with urllib.request.build_opener(_NoRedirect, *handlers).open(request, timeout=_TIMEOUT_SECONDS) as response:
            return str(response.read().decode()).strip()
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{name}: status {error.code}") from None
    except (OSError, ValueError) as error:
        raise RuntimeError(f"{name}: {error}") from error
