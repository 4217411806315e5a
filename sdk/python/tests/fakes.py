"""A host in memory, and a clock that tests drive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from kruxos import Backoff, Disconnected, KruxOS
from kruxos._clock import SystemClock
from kruxos.async_client import AsyncKruxOS, Connecting
from kruxos.errors import ConnectionFailed


@dataclass(eq=False)
class ManualTimer:
    due: float
    callback: Callable[[], object] | None

    def cancel(self) -> None:
        self.callback = None


class ManualClock:
    def __init__(self) -> None:
        self.time = 0.0
        self._timers: list[ManualTimer] = []

    def now(self) -> float:
        return self.time

    def call_later(self, seconds: float, callback: Callable[[], object]) -> ManualTimer:
        timer = ManualTimer(self.time + seconds, callback)
        self._timers.append(timer)
        return timer

    async def sleep(self, seconds: float) -> None:
        bell: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = self.call_later(seconds, lambda: bell.set_result(None))
        try:
            await bell
        finally:
            timer.cancel()

    async def advance(self, seconds: float) -> None:
        self.time += seconds
        for timer in [one for one in self._timers if one.due <= self.time]:
            callback, timer.callback = timer.callback, None
            if callback is not None:
                callback()
        self._timers = [one for one in self._timers if one.callback is not None]
        await settle()

    def sleeping(self) -> list[float]:
        """For how long each sleeps or waits yet."""
        return sorted(round(one.due - self.time, 6) for one in self._timers if one.callback is not None)


class AheadClock(SystemClock):
    """The system's, whose time and whose loop's a test takes ahead."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        return super().now() + self._ahead

    async def advance(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        if self._ahead == 0.0:
            before = loop.time
            setattr(loop, "time", lambda: before() + self._ahead)
        self._ahead += seconds
        await settle()


async def settle() -> None:
    """Until all that can go on without time or a message has."""
    for _ in range(50):
        await asyncio.sleep(0)


async def begun(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    task = asyncio.create_task(work)
    await settle()
    return task


class FakeConnection:
    def __init__(self, host: FakeHost) -> None:
        self._host = host
        self._to_client: asyncio.Queue[str | Exception] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        self.closed = False

    async def send(self, text: str) -> None:
        if self.closed:
            raise Disconnected(None, "")
        message = json.loads(text)
        self.sent.append(message)
        self._host.messages.append(message)
        await self._host.hear(self, message)

    async def receive(self) -> str | bytes:
        got = await self._to_client.get()
        if isinstance(got, Exception):
            raise got
        return got

    async def close(self) -> None:
        self.closed = True

    def tell(self, message: Any) -> None:
        self._to_client.put_nowait(message if isinstance(message, str) else json.dumps(message))

    def answer(self, request: dict[str, Any], result: Any) -> None:
        self.tell({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def refuse(self, request: dict[str, Any], code: int, message: str, **data: Any) -> None:
        self.tell({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message, "data": data}})

    def cut(self, code: int | None = None) -> None:
        self.closed = True
        self._to_client.put_nowait(Disconnected(code, ""))


Hear = Callable[[FakeConnection, dict[str, Any]], Awaitable[None]]


class FakeHost:
    """As a transport: `hear` is called with each message; `refusals` are what the next connections meet instead."""

    def __init__(self, clock: ManualClock | AheadClock | None = None) -> None:
        self.connections: list[FakeConnection] = []
        self.messages: list[dict[str, Any]] = []
        self.refusals: list[Exception] = []
        self.clock = clock or ManualClock()
        self.hear: Hear = self.answer_all

    async def connect(self) -> FakeConnection:
        await asyncio.sleep(0)
        if self.refusals:
            raise self.refusals.pop(0)
        self.connections.append(FakeConnection(self))
        return self.connections[-1]

    async def answer_all(self, connection: FakeConnection, message: dict[str, Any]) -> None:
        connection.answer(message, {"success": True, "data": {"heard": message["params"]}})

    async def hear_only(self, connection: FakeConnection, message: dict[str, Any]) -> None:
        """And answer nothing: the test does."""

    def client(self, **options: Any) -> Connecting[AsyncKruxOS]:
        given = {"transport": self, "clock": self.clock, "backoff": Backoff(1.0, 8.0, lambda: 1.0)}
        return KruxOS.connect_async(**{**given, **options})

    @property
    def last(self) -> FakeConnection:
        return self.connections[-1]

    @property
    def keys(self) -> list[str]:
        """Of the invocations that it has heard."""
        return [message["params"]["idempotency_key"] for message in self.messages]

    def refuse_next(self, times: int) -> None:
        self.refusals = [ConnectionFailed("No host answers.") for _ in range(times)]


class EventfulHost(FakeHost):
    """Answers as a host does that has one write."""

    def __init__(self) -> None:
        super().__init__()
        self.status: dict[str, Any] = {"write_id": "w_1", "status": "buffered", "capability": "slack.send"}
        self.told: list[dict[str, Any]] = []
        self.keeps = True
        self.hear = self.answer_as_host
        self.looks = 0

    async def answer_as_host(self, connection: FakeConnection, message: dict[str, Any]) -> None:
        params = message["params"]
        if message["method"] == "approvals.check":
            self.looks += 1
            pending = self.status["status"] == "pending_approval"
            connection.answer(message, {"approval_id": "w_1", "status": "pending" if pending else "approved", "resolved": not pending})
        elif message["method"] != "events.subscribe":
            self.looks += 1
            connection.answer(message, {"success": True, "data": self.status})
        elif "after" in params and self.keeps:
            for event in self.told[int(params["after"]) :]:
                connection.tell(event)
            connection.answer(message, {"resumed": True, "types": [], "prefix": ""})
        else:
            connection.answer(message, {"resumed": False, "event_id": str(len(self.told)), "types": [], "prefix": ""})

    def happens(self, status: str, tell: bool = True, method: str = "write.status", **more: Any) -> None:
        self.status = {**self.status, "status": status, **more}
        event_id = str(len(self.told) + 1)
        self.told.append({"jsonrpc": "2.0", "method": method, "params": {**self.status, "event_id": event_id}})
        if tell:
            self.last.tell(self.told[-1])

    @property
    def subscriptions(self) -> list[dict[str, Any]]:
        return [message["params"] for message in self.messages if message["method"] == "events.subscribe"]
