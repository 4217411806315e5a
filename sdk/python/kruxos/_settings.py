"""Where the host is, by which key, and how patient a client is: from arguments, else from the environment."""

from __future__ import annotations

import ipaddress
import logging
import os
import ssl
from dataclasses import dataclass, field
from typing import TypedDict
from urllib.parse import urlsplit

from ._clock import Backoff, Clock, SystemClock
from ._transport import Secret, Transport, WebSocketTransport
from .errors import ConfigurationError

log = logging.getLogger("kruxos")
DEFAULT_HOST = "localhost:7700"
DEFAULT_PORT = 7700


@dataclass(frozen=True)
class Options:
    """What `with_options` changes."""

    timeout: float | None = 60.0
    """Seconds that a call takes at most, with everything that is tried again."""
    max_retries: int = 2
    """How often a call is sent again that was lost or refused for now."""
    raise_on_error: bool = True
    """Whether a capability that fails raises; else its result has `success` false and `error`."""


class OptionChanges(TypedDict, total=False):
    """What `with_options` takes by name."""

    timeout: float | None
    max_retries: int
    raise_on_error: bool


class ConnectOptions(TypedDict, total=False):
    """What `connect` and `connect_async` take by name."""

    endpoint: str | None
    api_key: str | None
    agent_name: str | None
    purpose: str | None
    timeout: float | None
    max_retries: int
    raise_on_error: bool
    max_in_flight: int
    ssl_context: ssl.SSLContext | None
    transport: Transport | None
    clock: Clock | None
    backoff: Backoff | None


@dataclass(frozen=True)
class Settings:
    url: str
    key: Secret
    transport: Transport
    agent_name: str | None = None
    purpose: str | None = None
    options: Options = field(default_factory=Options)
    max_in_flight: int = 32
    clock: Clock = field(default_factory=SystemClock)
    backoff: Backoff = field(default_factory=Backoff)

    @property
    def http_url(self) -> str:
        """The host's address for HTTP, without a path."""
        return "http" + self.url.removeprefix("ws").removesuffix("/rpc")


def is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def websocket_url(address: str) -> str:
    """`localhost:7700`, or an address with http, https, ws or wss. Without one it is TLS beyond this machine."""
    try:
        parts = urlsplit(address if "://" in address else "//" + address)
        name, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigurationError(f"The host's address is none: {error}.") from None
    if not name or parts.query or parts.fragment or parts.username is not None:
        raise ConfigurationError("Give the host's address as localhost:7700, or ws://localhost:7700, and the key as api_key.")
    if parts.path not in ("", "/", "/rpc"):
        raise ConfigurationError(f"The host's address ends with its port, without {parts.path}.")
    secure = {"": not is_loopback(name), "ws": False, "http": False, "wss": True, "https": True}.get(parts.scheme)
    if secure is None:
        raise ConfigurationError(f"{parts.scheme}: is no address of a host; it begins with ws, wss, http or https.")
    if port is None:
        port = DEFAULT_PORT if parts.scheme == "" else 443 if secure else 80
    shown = f"[{name}]" if ":" in name else name
    return f"{'wss' if secure else 'ws'}://{shown}:{port}/rpc"


def settings_of(host: str | None, given: ConnectOptions) -> Settings:
    endpoint = given.get("endpoint")
    if host is not None and endpoint is not None and host != endpoint:
        raise ConfigurationError("Give the host's address once: as host or as endpoint.")
    url = websocket_url(host or endpoint or os.environ.get("KRUXOS_HOST") or DEFAULT_HOST)
    text = (given.get("api_key") or os.environ.get("KRUXOS_API_KEY") or "").strip()
    transport = given.get("transport")
    if not text and transport is None:
        raise ConfigurationError(
            "There is no key: give api_key, or set KRUXOS_API_KEY. The operator makes one with: kruxos agent create NAME"
        )
    if not text.isascii() or any(c.isspace() or not c.isprintable() for c in text):
        raise ConfigurationError("The key is one line of letters and digits, as kruxos agent create shows it.")
    if url.startswith("ws:") and not is_loopback(urlsplit(url).hostname or ""):
        log.warning("The key goes to %s without TLS: use a wss:// address", urlsplit(url).netloc)
    key = Secret(text)
    timeout = given.get("timeout", 60.0)
    if timeout is not None and timeout <= 0:
        raise ConfigurationError("timeout is a number of seconds above 0, or None.")
    return Settings(
        url=url,
        key=key,
        transport=transport or WebSocketTransport(url, key, given.get("ssl_context")),
        agent_name=given.get("agent_name"),
        purpose=given.get("purpose"),
        options=Options(timeout, given.get("max_retries", 2), given.get("raise_on_error", True)),
        max_in_flight=given.get("max_in_flight", 32),
        clock=given.get("clock") or SystemClock(),
        backoff=given.get("backoff") or Backoff(),
    )
