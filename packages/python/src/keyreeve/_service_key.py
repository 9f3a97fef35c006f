"""The key of the client's own requests. A function or a file has the current one, so that it can change in a running process."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Union

# Of API keys, and of short-lived secrets.
KEY_FORM = re.compile(r"[\x21-\x2B\x2D-\x7E]+")

# A function is called for each request. typing.Union, because Python 3.10 evaluates it.
ServiceKey = Union[str, Callable[[], str]]


def authorization_of(
    name: str, key: ServiceKey | None, file: str | os.PathLike[str] | None = None
) -> Callable[[], str]:
    """Returns a function that returns the field `Authorization`. Raises ValueError for a malformed text."""
    if file is not None:
        if key is not None:
            raise ValueError(f"{name}: expected none beside {name}_file")
        path = Path(file)
        key = lambda: path.read_text().strip()  # noqa: E731
    if callable(key):
        read = key

        def authorization() -> str:
            text = read()
            if not KEY_FORM.fullmatch(text):
                raise ValueError(f"{name}: the function or the file has no API key")
            return f"Bearer {text}"

        return authorization
    if key is None or not KEY_FORM.fullmatch(key):
        raise ValueError(f"{name}: expected an API key, or a function that returns it")
    text = f"Bearer {key}"
    return lambda: text
