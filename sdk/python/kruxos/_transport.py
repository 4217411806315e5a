"""The connection that messages go over. A test gives one of its own (`transport=`)."""

from __future__ import annotations

import logging
import ssl
from collections.abc import MutableMapping
from typing import Any, Protocol
from urllib.parse import urlsplit

import websockets.asyncio.client as client
import websockets.exceptions as failures

from ._version import VERSION
from .errors import ConnectionFailed, NotAuthenticated

MOST_BYTES = 1 << 20
"""Of a message, as the host takes them."""
MOST_ANSWERED = 64 << 20


class Secret:
    """A text that no repr, log or message shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> Any:
        raise TypeError("A key is not pickled.")


class Disconnected(Exception):
    """The connection has ended; `code` is the host's, where it said one."""

    def __init__(self, code: int | None, reason: str) -> None:
        super().__init__(reason or "the connection was lost")
        self.code = code


class Connection(Protocol):
    """`send` and `receive` raise Disconnected once it has ended. Several tasks may send at once."""

    async def send(self, text: str) -> None: ...

    async def receive(self) -> str | bytes: ...

    async def close(self) -> None: ...


class Transport(Protocol):
    """`connect` raises ConnectionFailed, or NotAuthenticated where the key is not taken."""

    async def connect(self) -> Connection: ...


class _NoDetails(logging.LoggerAdapter[logging.Logger]):
    """The library's own log, without what it says of each byte: heads of requests have the key in them."""

    def isEnabledFor(self, level: int) -> bool:
        return level > logging.DEBUG and super().isEnabledFor(level)

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        return msg, kwargs


class _Connect(client.connect):
    def process_redirect(self, exc: Exception) -> Exception | str:
        """None is followed: a host does not send its agents elsewhere."""
        return exc


class WebSocketConnection:
    def __init__(self, socket: client.ClientConnection) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        try:
            await self._socket.send(text)
        except failures.ConnectionClosed as error:
            raise _disconnected(error) from None

    async def receive(self) -> str | bytes:
        try:
            return await self._socket.recv()
        except failures.ConnectionClosed as error:
            raise _disconnected(error) from None

    async def close(self) -> None:
        await self._socket.close()


def _disconnected(error: failures.ConnectionClosed) -> Disconnected:
    return Disconnected(error.rcvd.code if error.rcvd else None, error.rcvd.reason if error.rcvd else "")


class WebSocketTransport:
    def __init__(self, url: str, key: Secret, ssl_context: ssl.SSLContext | None = None) -> None:
        self._url = url
        self._key = key
        self._ssl = ssl_context

    def __repr__(self) -> str:
        return f"WebSocketTransport({self._url!r})"

    async def connect(self) -> Connection:
        where = urlsplit(self._url)
        here = where.hostname in ("localhost", "127.0.0.1", "::1")
        try:
            socket = await _Connect(
                self._url,
                additional_headers={"Authorization": f"Bearer {self._key.reveal()}"},
                user_agent_header=f"kruxos-python/{VERSION}",
                compression=None,
                max_size=MOST_ANSWERED,
                close_timeout=2,
                proxy=None if here else True,
                ssl=self._ssl if where.scheme == "wss" else None,
                logger=_NoDetails(logging.getLogger("kruxos.transport")),
            )
        except failures.InvalidStatus as refused:
            raise _refusal(refused.response.status_code, where.netloc) from None
        except ssl.SSLCertVerificationError as error:
            raise ConnectionFailed(
                f"The certificate of {where.netloc} is not trusted ({error.verify_message}): give an ssl_context that knows it.",
                retryable=False,
            ) from None
        except (OSError, failures.WebSocketException, EOFError) as error:
            raise ConnectionFailed(
                f"No host answers at {where.netloc} ({_said(error)}): is kruxosd running, and is this its address?"
            ) from None
        return WebSocketConnection(socket)


def _said(error: Exception) -> str:
    return str(error).split("\n")[0] or type(error).__name__


def _refusal(status: int, where: str) -> Exception:
    if status == 401:
        return NotAuthenticated.of("NotAuthenticated", f"{where} does not take the key: it is wrong, or was rotated or revoked.")
    if status == 429 or status >= 500:  # of the host, or of a proxy before it whose host is away
        return ConnectionFailed(f"{where} takes no connection for now (status {status}).")
    return ConnectionFailed(
        f"{where} refuses the connection with status {status}: is this the agents' port of a KruxOS host?", retryable=False
    )
