from __future__ import annotations

import asyncio
import inspect
import logging
import pickle
from typing import Any

import pytest
from fakes import FakeHost

from kruxos import AsyncKruxOS, KruxOS
from kruxos._settings import settings_of, websocket_url
from kruxos._transport import Secret
from kruxos.errors import ConfigurationError, ConnectionFailed, NotAuthenticated

KEY = "7f3a" * 16


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("localhost:7700", "ws://localhost:7700/rpc"),
        ("localhost", "ws://localhost:7700/rpc"),
        ("127.0.0.1:1234", "ws://127.0.0.1:1234/rpc"),
        ("[::1]:7700", "ws://[::1]:7700/rpc"),
        ("ws://localhost:7700", "ws://localhost:7700/rpc"),
        ("ws://localhost:7700/rpc", "ws://localhost:7700/rpc"),
        ("http://127.0.0.1:7700/", "ws://127.0.0.1:7700/rpc"),
        ("https://kruxos.example", "wss://kruxos.example:443/rpc"),
        ("kruxos.example:7700", "wss://kruxos.example:7700/rpc"),
    ],
)
def test_an_address_has_many_forms(address: str, url: str) -> None:
    assert websocket_url(address) == url


@pytest.mark.parametrize(
    "address", ["", "ftp://localhost", "localhost:port", "ws://localhost:7700/other", "ws://user@localhost", "ws://localhost?token=x"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError):
        websocket_url(address)


def test_host_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRUXOS_HOST", "localhost:1")
    monkeypatch.setenv("KRUXOS_API_KEY", KEY + "\n")
    settings = settings_of(None, {})
    assert (settings.url, settings.key.reveal()) == ("ws://localhost:1/rpc", KEY)
    assert settings_of("localhost:2", {"api_key": "other"}).key.reveal() == "other"


@pytest.mark.parametrize(
    "given", [{}, {"api_key": "two words"}, {"api_key": "k", "timeout": 0}, {"api_key": "k", "endpoint": "localhost:3"}]
)
def test_what_cannot_be_right_is_refused_at_once(given: Any) -> None:
    with pytest.raises(ConfigurationError):
        settings_of("localhost:2", given)


def test_a_key_without_tls_beyond_this_machine_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    settings_of("ws://kruxos.example:7700", {"api_key": KEY})
    assert "without TLS" in caplog.text and KEY not in caplog.text


def test_no_repr_shows_the_key() -> None:
    settings = settings_of("localhost:2", {"api_key": KEY})
    assert KEY not in repr(settings) + repr(settings.transport) + repr(KruxOS(settings))
    with pytest.raises(TypeError):
        pickle.dumps(Secret(KEY))


async def test_no_log_shows_the_key(host: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("websockets", "websockets.client", "kruxos", "kruxos.transport"):
        caplog.set_level(logging.DEBUG, name)
    async with host.connect_async() as agent:
        await agent.call("slack.channels")
        with pytest.raises(NotAuthenticated):
            await agent.connect(host.address, api_key=KEY)
    logged = caplog.text
    assert host.key not in logged and KEY not in logged


async def test_no_redirect_is_followed() -> None:
    asked: list[bytes] = []

    async def elsewhere(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(elsewhere, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionFailed, match="status 302"):
            await KruxOS.connect_async(f"127.0.0.1:{port}", api_key=KEY)
    assert len(asked) == 1


async def test_with_options_changes_a_view_alone() -> None:
    fake = FakeHost()
    async with fake.client() as agent:
        quick = agent.with_options(timeout=1, max_retries=0)
        assert quick._options.timeout == 1 and agent._options.timeout == 60
        assert (await quick.call("x")).success and len(fake.connections) == 1


def test_blocking_methods_have_their_twins_signatures() -> None:
    def parameters(method: Any) -> list[str]:
        return list(inspect.signature(method).parameters)

    assert parameters(KruxOS.call) == parameters(AsyncKruxOS.call) and KruxOS.call.__doc__ == AsyncKruxOS.call.__doc__ is not None
    assert not inspect.iscoroutinefunction(KruxOS.call) and inspect.iscoroutinefunction(KruxOS.call_async)
    assert parameters(AsyncKruxOS.call) == ["self", "name", "arguments", "idempotency_key", "raise_on_error", "named"]
