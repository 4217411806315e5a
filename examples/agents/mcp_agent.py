#!/usr/bin/env python3
"""An agent that uses the host as any program does that speaks MCP: through the official client, and by nothing else.

    KRUXOS_HOST=localhost:7700 KRUXOS_API_KEY=… mcp_agent.py CHANNEL TEXT [--about WORDS] [--over http|bridge|stdio] [--wait SECONDS]
    mcp_agent.py CHANNEL TEXT --config FILE

It looks at the tools, searches for WORDS, posts TEXT, which waits in the host's buffer, and waits for its end. Where a person decides first, it
says where. No model is asked: `scripted` decides what a model would, and sees what one would see. FILE is a configuration as such programs have
it ({"mcpServers": {…}}); without it the SDK makes one of the host's address and the key. It ends with 0 when the message was sent, with 3 when
it still waits, and with 1 where it never will be sent. It needs the package `mcp` 2.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ElicitRequestURLParams, ElicitResult, TextContent

from kruxos import KruxOS
from kruxos.errors import KruxOSError

NEEDED = ("slack__search", "slack__send", "proxy__write_status")
ENDED = ("completed", "failed", "cancelled", "rejected", "discarded", "rolled_back")
LONGEST_WAIT = 50  # seconds: the host answers a wait by then, so that no client gives it up


class Stopped(Exception):
    """Why it cannot go on, in a sentence."""


def printable(text: str) -> str:
    """What others wrote is shown as text: a terminal obeys none of it."""
    return "".join(c if c.isprintable() else " " for c in text)


# --- what a model would decide ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ToolCall:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ToolResult:
    failed: bool
    values: dict[str, Any]
    """Of a call that failed `type`, `message`, `recovery` and `context`."""


@dataclass(frozen=True)
class Task:
    channel: str
    text: str
    about: str
    wait: float


@dataclass(frozen=True)
class Said:
    """What the agent ends with."""

    text: str
    code: int = 0


def scripted(task: Task) -> Generator[ToolCall, ToolResult, Said]:
    """In the place of a model: each result leads to the next call. What the search finds is data, and decides nothing."""
    found = yield ToolCall("slack__search", {"query": task.about, "limit": 5})
    if found.failed:
        return Said(f"The search failed: {found.values['message']}", 1)
    sent = yield ToolCall("slack__send", {"channel": task.channel, "text": task.text})
    write_id = sent.values.get("write_id") or sent.values.get("context", {}).get("write_id")
    if sent.failed and (sent.values["type"] != "ApprovalRequired" or write_id is None):
        return Said(f"The message was not accepted: {sent.values['message']}", 1)
    end = time.monotonic() + task.wait
    while True:
        left = max(0.0, min(LONGEST_WAIT, end - time.monotonic()))
        status = yield ToolCall("proxy__write_status", {"write_id": write_id, "wait_seconds": round(left)})
        if status.failed:
            return Said(f"How {write_id} stands cannot be learned: {status.values['message']}", 1)
        state = status.values["status"]
        if state in ENDED:
            reason = status.values.get("error", {}).get("message", "")
            return Said(f"{write_id} is {state}. {reason}".strip(), 0 if state == "completed" else 1)
        if time.monotonic() >= end:
            whom = f"A person decides: kruxos approve show {write_id}." if state == "pending_approval" else ""
            return Said(f"{write_id} still waits: it is {state}. {whom}".strip(), 3)


# --- what any program does that speaks MCP ------------------------------------------------------------------------------


def server_in(file: str) -> dict[str, Any]:
    """The host's entry in a program's configuration."""
    try:
        servers = json.loads(Path(file).read_text())["mcpServers"]
        server = servers["kruxos"] if "kruxos" in servers or len(servers) != 1 else next(iter(servers.values()))
    except OSError as error:
        raise Stopped(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise Stopped(f'{file} is no configuration: it has {{"mcpServers": {{"kruxos": …}}}}.') from None
    if not isinstance(server, dict) or not isinstance(server.get("command", server.get("url")), str):
        raise Stopped(f"{file} has no server with a url or a command.")
    return server


def server_of(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.config:
        return server_in(arguments.config)
    with KruxOS.connect() as agent:  # says in a sentence where there is no host, or no key that it takes
        return dict(agent.as_mcp_config(arguments.over)["mcpServers"]["kruxos"])


async def lead(context: Any, asked: Any) -> ElicitResult:
    """The host asks to show its user where a write waits for a decision. The answer decides nothing."""
    if not isinstance(asked, ElicitRequestURLParams):
        return ElicitResult(action="decline")
    print(f"A person decides at {printable(asked.url)}", flush=True)
    return ElicitResult(action="accept")


@asynccontextmanager
async def connected(server: dict[str, Any]) -> AsyncIterator[Client]:
    if "command" in server:
        program = StdioServerParameters(command=server["command"], args=server.get("args", []), env=server.get("env"))
        async with Client(program, elicitation_callback=lead, read_timeout_seconds=LONGEST_WAIT + 20) as client:
            yield client
        return
    if not server["url"].startswith("http"):
        raise Stopped('This client speaks HTTP or starts a program: take as_mcp_config("http"), or "bridge".')
    async with httpx2.AsyncClient(headers=server.get("headers"), timeout=LONGEST_WAIT + 20) as http:
        transport = streamable_http_client(server["url"], http_client=http)
        async with Client(transport, elicitation_callback=lead, read_timeout_seconds=LONGEST_WAIT + 20) as client:
            yield client


def values_of(result: CallToolResult) -> dict[str, Any]:
    if not result.is_error and result.structured_content is not None:
        return result.structured_content
    text = next((part.text for part in result.content if isinstance(part, TextContent)), "")
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    return values if isinstance(values, dict) else {"type": "Internal", "message": text or "nothing was said"}


def shown(result: ToolResult) -> str:
    """What a person wants to see of it, in a line."""
    values = result.values
    if result.failed:
        return f"{values['type']}: {values['message']}"
    if "messages" in values:
        return f"{values.get('total', len(values['messages']))} found"
    return " ".join(f"{name} {values[name]}" for name in ("write_id", "status", "cancel_deadline") if name in values)


async def run(server: dict[str, Any], task: Task) -> Said:
    async with connected(server) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        missing = [name for name in NEEDED if name not in tools]
        print(f"{len(tools)} tools, over MCP {client.protocol_version}", flush=True)
        if missing:
            raise Stopped(f"The host offers no {', '.join(missing)}: is Slack connected, and does no rule block it?")
        model = scripted(task)
        call = next(model)
        while True:
            answer = await client.call_tool(call.name, call.arguments)
            result = ToolResult(answer.is_error, values_of(answer))
            print(f"{call.name}: {printable(shown(result))}", flush=True)
            try:
                call = model.send(result)
            except StopIteration as ended:
                return ended.value


def innermost(error: BaseException) -> BaseException:
    """A group of tasks wraps what failed in it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def main(arguments: argparse.Namespace) -> int:
    task = Task(arguments.channel, arguments.text, arguments.about or arguments.text, arguments.wait)
    try:
        said = asyncio.run(run(server_of(arguments), task))
    except (KruxOSError, Stopped) as error:
        sys.exit(f"mcp_agent: {error}")
    except (MCPError, httpx2.HTTPError, OSError, BaseExceptionGroup) as error:
        cause = innermost(error)
        if not isinstance(cause, (KruxOSError, Stopped, MCPError, httpx2.HTTPError, OSError)):
            raise
        hint = "" if isinstance(cause, Stopped) else " Is the host running at this address, and its key still good?"
        sys.exit(f"mcp_agent: {str(cause).rstrip('.') or type(cause).__name__}.{hint}")
    print(printable(said.text))
    return said.code


def seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 86_400:
        raise ValueError
    return number


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("channel")
    parser.add_argument("text", help="what is posted there")
    parser.add_argument("--about", metavar="WORDS", help="what is searched for before; TEXT unless given")
    parser.add_argument("--over", choices=("http", "bridge", "stdio"), default="http", help="how the host is reached")
    parser.add_argument("--config", metavar="FILE", help="reach it as this configuration says")
    parser.add_argument("--wait", type=seconds, default=60.0, metavar="SECONDS", help="for the message's end (60)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main(parse()))
