"""Connects to the first address of a host that answers (RFC 8305, Happy Eyeballs).

A host can have an IPv6 address whose packets are lost. Without attempts to the other addresses, it would use up the time of a
verification.
"""

from __future__ import annotations

import errno
import os
import select
import socket
from collections import deque
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from ._clock import Clock

# RFC 8305 section 5, Connection Attempt Delay.
ATTEMPT_DELAY_SECONDS = 0.25
_IN_PROGRESS = {errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EAGAIN, errno.EINTR}

# Family, type, protocol, canonical name and address.
_Found = tuple[Any, Any, int, str, Any]


def dial(host: str, port: int, clock: Clock, deadline: float) -> socket.socket:
    """Returns a blocking socket, whose operations end at the deadline. Raises OSError: the last one, or TimeoutError."""
    limit = clock.socket_timeout(deadline)
    untried = deque(_interleaved(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
    attempts: list[socket.socket] = []
    error: OSError = OSError("the host has no address")
    try:
        while untried or attempts:
            if untried:
                family, kind, protocol, _, address = untried.popleft()
                try:
                    attempts.append(_begin(socket.socket(family, kind, protocol), address))
                except OSError as failure:
                    error = failure
                    continue
            rest = None if limit is None else deadline - clock.now()
            if rest is not None and rest <= 0:
                raise TimeoutError("no address of the host answers")
            delay = ATTEMPT_DELAY_SECONDS if untried else None
            ends = [seconds for seconds in (rest, delay) if seconds is not None]
            for sock in _ready(attempts, min(ends, default=None)):
                attempts.remove(sock)
                code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if code == 0:
                    sock.settimeout(clock.rest(deadline) if limit is not None else None)
                    return sock
                sock.close()
                error = OSError(code, os.strerror(code))
        raise error
    finally:
        for sock in attempts:
            sock.close()


def _interleaved(found: Iterable[_Found]) -> list[_Found]:
    """The order of the system (RFC 6724), in which the families take turns (RFC 8305 section 4)."""
    families: dict[Any, list[_Found]] = {}
    for each in found:
        families.setdefault(each[0], []).append(each)
    return [each for turn in zip_longest(*families.values()) for each in turn if each is not None]


def _begin(sock: socket.socket, address: Any) -> socket.socket:
    """Raises OSError if the attempt has failed already."""
    try:
        sock.setblocking(False)
        code = sock.connect_ex(address)
        if code != 0 and code not in _IN_PROGRESS:
            raise OSError(code, os.strerror(code))
    except BaseException:
        sock.close()
        raise
    return sock


def _ready(sockets: list[socket.socket], seconds: float | None) -> list[socket.socket]:
    """Those that are connected or have failed. Empty after this time; no bound without one."""
    if not hasattr(select, "poll"):
        # Windows reports a failure in the third list only.
        _, connected, failed = select.select([], sockets, sockets, seconds)
        return [sock for sock in sockets if sock in connected or sock in failed]
    poll = select.poll()
    for sock in sockets:
        poll.register(sock, select.POLLOUT)
    ready = {number for number, _ in poll.poll(None if seconds is None else max(1, round(seconds * 1_000)))}
    return [sock for sock in sockets if sock.fileno() in ready]
