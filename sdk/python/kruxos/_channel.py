"""JSON-RPC over a connection that may be lost: calls wait for the next one and are sent again where that is safe."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ._clock import Backoff, Clock, Deadline
from ._messages import Answer, Call, Garbage, NobodysAnswer, Notification, request_text, understood
from ._transport import Connection, Disconnected, Transport
from .errors import (
    CallTimeout,
    ClientClosed,
    ConfigurationError,
    ConnectionFailed,
    ConnectionLost,
    KruxOSError,
    NotAuthenticated,
    ProtocolError,
)

log = logging.getLogger("kruxos")
Notified = Callable[[str, dict[str, Any]], None]
SUBSCRIBE = "events.subscribe"


@dataclass
class Channel:
    """Belongs to the event loop that it is first used in."""

    transport: Transport
    clock: Clock
    backoff: Backoff
    max_in_flight: int = 32
    first_tries: int = 2
    """How often the first connection is tried again; after that a call's own time is what counts."""
    notified: Notified = lambda method, params: None
    connected: Callable[[], None] = lambda: None
    failed: Callable[[KruxOSError], None] = lambda error: None
    keep_connected: Callable[[], bool] = lambda: False
    connection: int | None = None
    """The number of the one that messages go over now."""
    was_connected: bool = False
    """Whether there was ever one."""
    _loop: asyncio.AbstractEventLoop | None = None
    _name: str = field(default_factory=lambda: secrets.token_hex(4))
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _connections: itertools.count[int] = field(default_factory=itertools.count)
    _waiting: deque[Call] = field(default_factory=deque)
    _sent: dict[str, Call] = field(default_factory=dict)
    _work: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None
    _closed: bool = False
    _heard: bool = False
    _last_failure: ConnectionFailed | None = None

    # --- calls --------------------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: dict[str, Any],
        *,
        deadline: Deadline,
        repeatable: bool = True,
        most_losses: int = 2,
        idempotency_key: str | None = None,
    ) -> Answer:
        self._check()
        number = next(self._numbers)
        id_ = f"{self._name}-{number}"
        text = request_text(id_, method, params)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        call = Call(number, id_, method, text, repeatable, most_losses, answer, idempotency_key)
        self._waiting.append(call)
        self._wake()
        try:
            return await deadline.wait_for_own(answer)
        except TimeoutError:
            raise self.too_late(call.method, deadline, call) from self._last_failure
        finally:
            self._let_go(call)

    def too_late(self, method: str, deadline: Deadline, call: Call | None = None) -> KruxOSError:
        """Says why nothing has come of it in its time."""
        id_, sends, key = (call.id, call.sends, call.idempotency_key) if call else (None, 0, None)
        seconds = deadline.seconds or 0.0
        if sends == 0 and self._last_failure is not None:
            return ConnectionFailed(f"{self._last_failure.message} Tried for {seconds:g} seconds.", request_id=id_)
        said = f"{method} was not answered within {seconds:g} seconds."
        return CallTimeout(said, request_id=id_, may_have_happened=sends > 0, idempotency_key=key)

    def _let_go(self, call: Call) -> None:
        """Nobody waits for it any more. What was sent keeps its place until it is answered: the host is at it."""
        answer = call.answer
        if answer.done() and not answer.cancelled() and answer.exception() is None:
            return  # it was answered, and so waits no more
        answer.cancel()
        with contextlib.suppress(ValueError):
            self._waiting.remove(call)

    # --- the connection -----------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Connects, and says why it cannot."""
        self._check()
        if self._task is not None and not self._task.done():
            return
        for failures in itertools.count(1):
            try:
                connection = await self.transport.connect()
                break
            except ConnectionFailed as error:
                if not error.retryable or failures > self.first_tries:
                    raise
                await self.clock.sleep(self.backoff.delay(failures))
        self.was_connected = True
        self._task = asyncio.create_task(self._serve(connection), name="kruxos connection")
        await asyncio.sleep(0)  # it has begun, and closes the connection however it ends

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._fail_all(ClientClosed("The client was closed."))
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _check(self) -> None:
        loop = asyncio.get_running_loop()
        if self._closed:
            raise ClientClosed("The client was closed: connect again.")
        if self._loop not in (None, loop):
            raise ConfigurationError("This client belongs to another event loop: connect one in each, or use the sync client.")
        self._loop = loop

    def _wake(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve(None), name="kruxos connection")
        self._work.set()

    async def _serve(self, connection: Connection | None) -> None:
        """One connection after the other, as long as something wants one."""
        failures, opened = 0, connection is not None
        try:
            while connection is not None or self._wanted():
                if connection is None:
                    await self._rest(failures)
                    connection = await self._connect(failures)
                if connection is None:
                    failures += 1
                    continue
                if not opened:
                    self.connected()
                opened, self._heard, self._last_failure = False, False, None
                await self._converse(connection)
                connection = None
                failures = 0 if self._heard else failures + 1
        except (ConnectionFailed, NotAuthenticated) as error:
            self._fail_all(error)
        except Exception:
            log.exception("the transport failed")
            self._fail_all(ConnectionLost("The transport failed: the log of kruxos says how."))

    async def _rest(self, failures: int) -> None:
        seconds = self.backoff.delay(failures)
        if seconds > 0:
            await self.clock.sleep(seconds)

    async def _connect(self, failures: int) -> Connection | None:
        try:
            connection = await self.transport.connect()
            self.was_connected = True
            return connection
        except ConnectionFailed as error:
            if not error.retryable or (not self.was_connected and failures >= self.first_tries):
                raise
            log.info("no connection yet: %s", error.message)
            self._last_failure = error
            return None

    def _wanted(self) -> bool:
        return bool(self._waiting) or self.keep_connected()

    async def _converse(self, connection: Connection) -> None:
        self.connection = next(self._connections)
        writer = asyncio.create_task(self._write(connection), name="kruxos sending")
        problem: Exception = Disconnected(None, "")
        try:
            while True:
                self._take(await connection.receive())
        except Disconnected as error:
            log.info("the connection was lost: %s", error)
            problem = error
        except (Garbage, NobodysAnswer) as error:
            log.warning("the connection is given up: %s", error)
            problem = error
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            self._lost(problem)
            await connection.close()

    async def _write(self, connection: Connection) -> None:
        while True:
            while self._waiting and len(self._sent) < self.max_in_flight:
                call = self._waiting.popleft()
                self._sent[call.id] = call
                call.sends += 1
                try:
                    await connection.send(call.text)
                except Disconnected:
                    return  # the reader hears of it too, and sees to what was sent
            self._work.clear()
            await self._work.wait()

    def _lost(self, problem: Exception) -> None:
        """What was sent is sent again over the next connection where that is safe."""
        self.connection = None
        again = []
        for call in self._sent.values():
            call.losses += 1
            if call.answer.done():
                continue
            if call.repeatable and call.losses <= call.most_losses and not self._closed:
                again.append(call)
                continue
            kind = ProtocolError if isinstance(problem, Garbage) else ConnectionLost
            call.fail(
                kind(
                    f"{call.method} was sent and not answered: {problem}.",
                    request_id=call.id,
                    idempotency_key=call.idempotency_key,
                )
            )
        self._sent.clear()
        self._waiting = deque(sorted([*again, *self._waiting], key=lambda call: call.number))

    def _fail_all(self, error: KruxOSError) -> None:
        for call in [*self._sent.values(), *self._waiting]:
            call.fail(error)
        self._sent.clear()
        self._waiting.clear()
        self.failed(error)

    # --- what comes ---------------------------------------------------------------------------------------------

    def _take(self, text: str | bytes) -> None:
        message = understood(text)
        if isinstance(message, Notification):
            self._heard = True
            self.notified(message.method, message.params)
            return
        call = self._sent.pop(message["id"], None)
        # Where that alone is ever answered, connections do no good, and each is made after a longer rest.
        self._heard = self._heard or call is None or call.method != SUBSCRIBE
        if self._waiting:
            self._work.set()
        if call is None:
            log.debug("an answer came that nobody waits for")
        elif not call.answer.done():
            call.answer.set_result(Answer(call.id, message, call.sends, self.connection))
