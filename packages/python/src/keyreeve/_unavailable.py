"""The only exception of a verification."""


class KeyreeveUnavailable(Exception):
    """The result is not known: reject the credential. The message has the reason, and no credential."""
