"""A TCP proxy that cuts a connection at a piece of what goes over it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass
class CuttingProxy:
    """Cuts once, at the `piece`-th one towards `to_host` (true) or the client: before it is passed on, or behind it."""

    port: int
    to_host: bool = True
    piece: int = 0
    passes_it: bool = True
    done: bool = False
    counts: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    connections: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> CuttingProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut_next(self, *, to_host: bool, passes_it: bool) -> None:
        """At the next piece in that direction."""
        self.to_host, self.passes_it, self.done = to_host, passes_it, False
        self.piece = self.counts[to_host] + 1

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self.port)
        ways = [
            asyncio.create_task(self._pass(reader, to_writer, to_host=True)),
            asyncio.create_task(self._pass(to_reader, writer, to_host=False)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for end in (writer, to_writer):
                end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, to_host: bool) -> None:
        while data := await reader.read(1 << 16):
            self.counts[to_host] += 1
            cuts = not self.done and to_host == self.to_host and self.counts[to_host] == self.piece
            if cuts:
                self.done = True
            if not cuts or self.passes_it:
                writer.write(data)
                await writer.drain()
            if cuts:
                return
