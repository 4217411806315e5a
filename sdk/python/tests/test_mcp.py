"""The bridge and the configurations, with a host in memory and with the official client."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeConnection, FakeHost, settle

from kruxos import Backoff, KruxOS
from kruxos.errors import ConfigurationError, NotAuthenticated
from kruxos.mcp_bridge import MOST_LINES, Bridge, main, mcp_url, read_key
from kruxos.testing import MockHost

KEY = "7f3a" * 16
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Client:
    """What is at the bridge's input and output."""

    def __init__(self, host: FakeHost) -> None:
        self.got: list[Any] = []
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        bridge = Bridge(host, lambda line: self.got.append(json.loads(line)), host.clock, Backoff(1.0, 8.0, lambda: 1.0))
        self.task = asyncio.create_task(bridge.run(self._read()))

    async def _read(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            yield line

    async def say(self, *messages: Any) -> None:
        for message in messages:
            self._lines.put_nowait(message if isinstance(message, str) else json.dumps(message) + "\n")
        await settle()

    @property
    def unread(self) -> int:
        return self._lines.qsize()

    async def end(self) -> None:
        self._lines.put_nowait(None)
        await settle()
        await self.task


class McpHost(FakeHost):
    def __init__(self) -> None:
        super().__init__()
        self.hear = self.answer_mcp

    async def answer_mcp(self, connection: FakeConnection, message: dict[str, Any]) -> None:
        if "id" in message and message["method"] != "slow":
            connection.answer(message, {"of": message["method"]})


def call(id_: Any, method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method}


async def test_messages_go_through_in_both_directions() -> None:
    host = McpHost()
    client = Client(host)
    await client.say(INITIALIZE, INITIALIZED, call("a", "tools/list"), "\n", "no JSON\n")
    host.last.tell({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    await settle()
    assert [message.get("id", message.get("method")) for message in client.got] == [0, "a", None, "notifications/tools/list_changed"]
    assert [message["method"] for message in host.messages] == ["initialize", "notifications/initialized", "tools/list"]
    await client.end()
    assert host.last.closed


async def test_after_a_loss_calls_fail_and_the_handshake_is_made_again() -> None:
    host = McpHost()
    client = Client(host)
    await client.say(INITIALIZE, INITIALIZED, call(1, "slow"))
    host.last.cut()
    await settle()
    assert client.got[-1]["id"] == 1 and "may have been done" in client.got[-1]["error"]["message"]
    await client.say(call(2, "tools/list"))
    assert len(host.connections) == 2
    assert [message["method"] for message in host.last.sent] == ["initialize", "notifications/initialized", "tools/list"]
    assert [message["id"] for message in client.got] == [0, 1, 2]  # the second handshake's answer is the bridge's own
    await client.end()


async def test_a_handshake_that_was_not_answered_is_the_client_s_to_make_again() -> None:
    host = McpHost()
    host.hear = host.hear_only
    client = Client(host)
    await client.say(INITIALIZE)
    host.last.cut()
    await settle()
    assert client.got[-1]["id"] == 0 and "error" in client.got[-1]
    host.hear = host.answer_mcp
    await host.clock.advance(1)  # nothing had been heard of that connection
    await client.say(INITIALIZE)
    assert [message["method"] for message in host.last.sent] == ["initialize"] and "result" in client.got[-1]
    await client.end()


async def test_a_host_that_closes_at_once_is_tried_after_longer_and_longer_rests() -> None:
    host = McpHost()
    client = Client(host)
    await client.say(INITIALIZE, INITIALIZED)

    async def close_behind_the_handshake(connection: FakeConnection, message: dict[str, Any]) -> None:
        await host.answer_mcp(connection, message)
        if message["method"] == "notifications/initialized":
            connection.cut()

    host.hear = close_behind_the_handshake
    host.last.cut()
    await settle()
    for connections, rest in enumerate((1, 2, 4, 8, 8), start=2):
        assert len(host.connections) == connections and host.clock.sleeping() == [rest]
        await host.clock.advance(rest)
    await client.say(call(3, "tools/list"))
    assert client.got[-1]["id"] == 3 and "ends each connection" in client.got[-1]["error"]["message"]
    host.hear = host.answer_mcp
    await host.clock.advance(8)
    await client.say(call(4, "tools/list"))
    host.last.cut()
    await settle()
    assert client.got[-1] == {"jsonrpc": "2.0", "id": 4, "result": {"of": "tools/list"}}
    assert host.clock.sleeping() == [] and not host.last.closed  # that one was of use: the next is made at once
    await client.end()


async def test_no_more_lines_wait_than_are_bounded() -> None:
    host = McpHost()
    taken = asyncio.Event()

    async def take_late(connection: FakeConnection, message: dict[str, Any]) -> None:
        await taken.wait()
        await host.answer_mcp(connection, message)

    host.hear = take_late
    client = Client(host)
    lines = [call(number, "tools/list") for number in range(3 * MOST_LINES)]
    for _ in range(4):
        await client.say(*lines[:MOST_LINES])
        del lines[:MOST_LINES]
    assert client.unread >= MOST_LINES
    taken.set()
    await client.end()
    assert len(client.got) == 3 * MOST_LINES


async def test_what_is_asked_while_no_host_answers_is_told_why() -> None:
    host = McpHost()
    host.refuse_next(2)
    client = Client(host)
    await client.say(call(1, "initialize"))
    assert client.got == [{"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "No host answers."}}]
    host.refusals = [NotAuthenticated.of("NotAuthenticated", "The key has ended.")]
    await host.clock.advance(1)
    await client.say(call(2, "initialize"), INITIALIZED)
    assert client.got[-1]["error"]["message"] == "The key has ended." and len(client.got) == 2
    await host.clock.advance(2)
    await client.say(INITIALIZE)
    assert client.got[-1]["result"] == {"of": "initialize"}
    await client.end()


async def test_the_end_of_the_input_waits_for_answers_but_for_those_of_cancelled_calls() -> None:
    host = McpHost()
    client = Client(host)
    await client.say(INITIALIZE, call(1, "slow"), call(2, "slow"))
    await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
    ending = asyncio.create_task(client.end())
    await settle()
    assert not client.task.done()
    host.last.answer(call(1, "slow"), {})
    await ending


def test_a_key_file_is_its_owners_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key"
    file.write_text(KEY + "\n")
    file.chmod(0o644)
    assert main(["--key-file", str(file)]) == 2 and "chmod 600" in capsys.readouterr().err
    file.chmod(0o600)
    assert read_key(str(file)).reveal() == KEY
    assert main([]) == 2 and main(["--key-file", str(tmp_path / "nowhere")]) == 2
    monkeypatch.setenv("KRUXOS_API_KEY", KEY)
    assert read_key(None).reveal() == KEY


def test_the_documented_configuration_and_those_of_todays_programs() -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    agent = KruxOS.connect("localhost:7700", api_key=KEY, transport=FakeHost())
    servers = {form: agent.as_mcp_config(form)["mcpServers"]["kruxos"] for form in ("websocket", "http", "stdio", "bridge")}
    assert agent.as_mcp_config() == {"mcpServers": {"kruxos": {"url": "ws://localhost:7700/mcp", "headers": headers}}}
    assert servers["http"] == {"type": "http", "url": "http://localhost:7700/mcp", "headers": headers}
    at = ["--url", "http://localhost:7700"]
    assert servers["stdio"] == {"command": "kruxos", "args": ["mcp", *at], "env": {"KRUXOS_API_KEY": KEY}}
    assert servers["bridge"] == {"command": sys.executable, "args": ["-m", "kruxos.mcp_bridge", *at], "env": {"KRUXOS_API_KEY": KEY}}
    told = agent.as_mcp_config("stdio", key_file="/k", tools="all", name="k")["mcpServers"]["k"]
    assert told == {"command": "kruxos", "args": ["mcp", *at, "--tools", "all", "--key-file", "/k"]}
    assert mcp_url("https://far.example", "slack,core", "http") == "https://far.example:443/mcp?tools=slack,core"
    for wrong in ({"form": "http", "key_file": "/k"}, {"form": "other"}):
        with pytest.raises(ConfigurationError):
            agent.as_mcp_config(**wrong)
    agent.close()


@pytest.mark.parametrize("form", ["http", "stdio", "bridge"])
async def test_the_official_client_takes_the_configuration(form: Any, kruxos_host: MockHost) -> None:
    pytest.importorskip("mcp")
    import httpx2
    from mcp import Client as McpClient
    from mcp import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    async with kruxos_host.connect_async() as agent:
        server = agent.as_mcp_config(form, tools="all")["mcpServers"]["kruxos"]
    if form == "http":
        async with httpx2.AsyncClient(headers=server["headers"]) as http:
            async with McpClient(streamable_http_client(server["url"], http_client=http)) as client:
                await use(client)
        return
    command = str(kruxos_host.installation.programs / "kruxos") if form == "stdio" else server["command"]
    environment = {**server["env"], "PYTHONPATH": ":".join(path for path in sys.path if path)}
    async with McpClient(StdioServerParameters(command=command, args=server["args"], env=environment)) as client:
        await use(client)


async def use(client: Any) -> None:
    assert "slack__send" in [tool.name for tool in (await client.list_tools()).tools]
    result = await client.call_tool("slack__send", {"channel": "general", "text": "over MCP"})
    assert not result.is_error and result.structured_content["write_id"]
