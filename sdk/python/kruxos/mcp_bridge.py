"""`python -m kruxos.mcp_bridge`: the Model Context Protocol on standard input and output, passed on to a host that may be far away.

It speaks the models with sessions over the host's WebSocket. A session is a connection there: after a loss the bridge makes a new one
with the handshake that its client has made, so that the client notices only that the calls under way have failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ._clock import Backoff, Clock, SystemClock
from ._settings import websocket_url
from ._transport import Connection, Disconnected, Secret, Transport, WebSocketTransport
from .errors import ConfigurationError, ConnectionFailed, KruxOSError, NotAuthenticated

Message = dict[str, Any]
FAILED = -32603
MOST_LINES = 64
"""Of those that wait for the host: no more is read of the input meanwhile."""
LOST = "The connection was lost before the answer. What was asked for may have been done: proxy__list_writes shows your writes."


class Bridge:
    def __init__(
        self, transport: Transport, write: Callable[[str], None], clock: Clock | None = None, backoff: Backoff | None = None
    ) -> None:
        self._transport = transport
        self._write = write
        self._clock = clock or SystemClock()
        self._backoff = backoff or Backoff()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue(MOST_LINES)
        self._handshake: list[str] = []
        self._under_way: dict[str | int, Message] = {}
        self._ended = False
        self._heard = False

    async def run(self, lines: AsyncIterator[str]) -> None:
        """Until the lines end and what they asked for is answered."""
        feeding = asyncio.create_task(self._feed(lines))
        failures = 0
        try:
            while not self._ended:
                try:
                    connection = await self._transport.connect()
                    failures = 0 if await self._serve(connection) else failures + 1
                    problem: KruxOSError = ConnectionFailed("The host ends each connection before it has answered.")
                except (ConnectionFailed, NotAuthenticated) as error:
                    failures += 1
                    problem = error
                if failures > 0:
                    await self._refuse(problem, self._backoff.delay(failures))
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)

    async def _serve(self, connection: Connection) -> bool:
        """Whether something came that was the client's, and not only an answer to the bridge's own handshake."""
        self._heard = False
        try:
            await self._converse(connection)
        except Disconnected:
            self._lost()
        finally:
            await connection.close()
        return self._heard

    async def _feed(self, lines: AsyncIterator[str]) -> None:
        async for line in lines:
            if line.strip():
                await self._lines.put(line.strip())
        await self._lines.put(None)

    async def _converse(self, connection: Connection) -> None:
        for text in self._handshake:
            await connection.send(text)
        listening = asyncio.create_task(self._listen(connection))
        try:
            while not self._ended or self._under_way:
                line = asyncio.ensure_future(self._lines.get())
                done, _ = await asyncio.wait({line, listening}, return_when=asyncio.FIRST_COMPLETED)
                if line not in done:
                    line.cancel()
                    await listening
                    return
                await self._take(connection, line.result())
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _take(self, connection: Connection, line: str | None) -> None:
        if line is None:
            self._ended = True
            return
        message = _parsed(line)
        if message is None:
            self._tell_error(None, -32700, "A line is one message of JSON-RPC.")
            return
        self._note(message, line)
        await connection.send(line)

    def _note(self, message: Message, line: str) -> None:
        method = message.get("method")
        if "id" in message and method is not None:
            self._under_way[message["id"]] = message
        if method == "initialize":
            self._handshake = [line]
        elif method == "notifications/initialized" and self._handshake:
            self._handshake = [self._handshake[0], line]
        elif method == "notifications/cancelled":
            self._under_way.pop(_cancelled(message), None)

    async def _listen(self, connection: Connection) -> None:
        """Of a handshake that is repeated the client has the answer already."""
        repeated = json.loads(self._handshake[0]).get("id") if self._handshake else None
        while True:
            text = await connection.receive()
            message = _parsed(text) if isinstance(text, str) else None
            if message is None:
                raise Disconnected(None, "what came is no JSON-RPC")
            answered = message.get("id") if "method" not in message else None
            if answered is not None and answered == repeated and answered not in self._under_way:
                repeated = None
                continue
            self._heard = True
            if isinstance(answered, str | int):
                self._under_way.pop(answered, None)
            self._write(json.dumps(message, ensure_ascii=False, separators=(",", ":")))
            if self._ended and not self._under_way:
                raise Disconnected(1000, "all is answered")

    def _lost(self) -> None:
        for id_ in list(self._under_way):
            self._tell_error(id_, FAILED, LOST)
        if len(self._handshake) == 1:
            self._handshake = []  # it was not answered: the client begins anew
        self._under_way.clear()

    async def _refuse(self, error: KruxOSError, seconds: float) -> None:
        """What is asked until the host is tried again is answered with why it cannot be."""
        bell = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            while not self._ended:
                line = asyncio.ensure_future(self._lines.get())
                done, _ = await asyncio.wait({line, bell}, return_when=asyncio.FIRST_COMPLETED)
                if line not in done:
                    line.cancel()
                    return
                self._ended = line.result() is None
                message = _parsed(line.result() or "")
                if message is not None and "id" in message and "method" in message:
                    self._tell_error(message["id"], FAILED, error.message)
        finally:
            bell.cancel()

    def _tell_error(self, id_: str | int | None, code: int, text: str) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": text}}, ensure_ascii=False))


def _cancelled(message: Message) -> str | int:
    params = message.get("params")
    found = params.get("requestId") if isinstance(params, dict) else None
    return found if isinstance(found, str | int) else ""


def _parsed(line: str) -> Message | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def mcp_url(address: str, tools: str | None, scheme: str = "ws") -> str:
    """The host's /mcp, for a WebSocket or, with `http`, for HTTP."""
    url = websocket_url(address).removesuffix("/rpc") + "/mcp" + (f"?tools={quote(tools, safe=',')}" if tools else "")
    return url if scheme == "ws" else scheme + url.removeprefix("ws")


def read_key(file: str | None) -> Secret:
    """From a file that nobody else may read, else from KRUXOS_API_KEY."""
    if file is None:
        text = os.environ.get("KRUXOS_API_KEY", "")
    else:
        path = Path(file).expanduser()
        if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigurationError(f"Others may read {path}: run chmod 600 {path}")
        text = path.read_text()
    if not text.strip():
        raise ConfigurationError("There is no key: name a file with --key-file, or set KRUXOS_API_KEY.")
    return Secret(text.strip())


async def input_lines() -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
        yield line.decode("utf-8", "replace")


def print_line(text: str) -> None:
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m kruxos.mcp_bridge", description="MCP on standard input and output, over a host.")
    parser.add_argument("--url", default=os.environ.get("KRUXOS_HOST") or "localhost:7700", help="the host's address; else KRUXOS_HOST")
    parser.add_argument("--key-file", help="a file with the agent's key, which you alone may read; else KRUXOS_API_KEY")
    parser.add_argument("--tools", help="which tools are shown: all, or names of services with commas between them")
    given = parser.parse_args(arguments)
    try:
        transport = WebSocketTransport(mcp_url(given.url, given.tools), read_key(given.key_file))
    except (KruxOSError, OSError) as error:
        print(f"kruxos.mcp_bridge: {error}", file=sys.stderr)
        return 2
    asyncio.run(Bridge(transport, print_line).run(input_lines()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
