"""What programs that speak MCP are told of a host: `agent.as_mcp_config()`."""

from __future__ import annotations

import sys
from typing import Any, Literal

from ._settings import Settings
from .errors import ConfigurationError
from .mcp_bridge import mcp_url

Form = Literal["websocket", "http", "stdio", "bridge"]


def mcp_config(settings: Settings, form: Form, *, key_file: str | None, tools: str | None, name: str) -> dict[str, Any]:
    """The key stands in it where no `key_file` is named: keep it as you keep the key."""
    return {"mcpServers": {name: _server(settings, form, key_file, tools)}}


def _server(settings: Settings, form: Form, key_file: str | None, tools: str | None) -> dict[str, Any]:
    if form in ("websocket", "http"):
        if key_file is not None:
            raise ConfigurationError(f"A server of the form {form} takes the key in a header, and no key_file.")
        address = mcp_url(settings.http_url, tools, "ws" if form == "websocket" else "http")
        kind = {"type": "http"} if form == "http" else {}
        return {**kind, "url": address, "headers": {"Authorization": f"Bearer {settings.key.reveal()}"}}
    if form not in ("stdio", "bridge"):
        raise ConfigurationError(f"There is no form {form!r}: it is websocket, http, stdio or bridge.")
    command, first = ("kruxos", ["mcp"]) if form == "stdio" else (sys.executable, ["-m", "kruxos.mcp_bridge"])
    arguments = [*first, "--url", settings.http_url, *(["--tools", tools] if tools else [])]
    if key_file is not None:
        return {"command": command, "args": [*arguments, "--key-file", key_file]}
    return {"command": command, "args": arguments, "env": {"KRUXOS_API_KEY": settings.key.reveal()}}
