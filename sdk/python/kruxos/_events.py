"""What the host tells without being asked: one subscription of the connection, and as many listeners as like."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ._channel import SUBSCRIBE
from ._clock import Deadline
from ._messages import Answer
from ._rpc import Rpc, is_for_now, without_nothing
from ._settings import Options
from .errors import CallTimeout, CapabilityError, ConnectionFailed, ConnectionLost, KruxOSError
from .models import Event, text_in

log = logging.getLogger("kruxos")
MISSED = Event(method="missed")
STATE_CHANGED = "state.changed"
"""Told to those alone that name it, so that it is named where somebody listens to it."""
WITH_STATE = ["write.status", "approval.resolved", "capabilities.changed", STATE_CHANGED]
PATIENT = Options(timeout=60.0, max_retries=1_000_000)
"""Of what goes on by itself: its time alone ends a try."""


class Listener:
    """Events in their order. One that does not take them loses them, and is told `missed`; nobody else waits for it."""

    MOST = 1000

    def __init__(self, wants: Callable[[Event], bool], types: Iterable[str] | None) -> None:
        self._wants = wants
        self._types = None if types is None else frozenset(types)
        self.state = self._types is not None and STATE_CHANGED in self._types
        self._events: deque[Event] = deque()
        self._some = asyncio.Event()
        self._error: KruxOSError | None = None

    def tell(self, event: Event) -> None:
        if not event.missed and not (self._is_of_types(event) and self._wants(event)):
            return
        if event.missed or len(self._events) >= self.MOST:
            self._events.clear()
            event = MISSED
        self._events.append(event)
        self._some.set()

    def _is_of_types(self, event: Event) -> bool:
        return event.method != STATE_CHANGED if self._types is None else event.method in self._types

    def fail(self, error: KruxOSError) -> None:
        self._error = error
        self._some.set()

    def must_not_have_failed(self) -> None:
        if self._error is not None:
            raise self._error

    async def get(self) -> Event:
        while not self._events:
            self.must_not_have_failed()
            self._some.clear()
            await self._some.wait()
        return self._events.popleft()

    def __aiter__(self) -> Listener:
        return self

    async def __anext__(self) -> Event:
        return await self.get()


class EventHub:
    def __init__(self, rpc: Rpc) -> None:
        self._rpc = rpc
        self._listeners: set[Listener] = set()
        self._subscribed_on: int | None = None
        """Over which connection (`Channel.connection`); it may have been lost since."""
        self._with_state = False
        self._last_id: str | None = None
        self._subscribing = asyncio.Lock()
        self._resuming: asyncio.Task[None] | None = None
        rpc.channel.notified = self._notified
        rpc.channel.connected = self._connected
        rpc.channel.failed = self._fail
        rpc.channel.keep_connected = lambda: bool(self._listeners)

    @contextmanager
    def listener(self, wants: Callable[[Event], bool], types: Iterable[str] | None = None) -> Iterator[Listener]:
        """Hears nothing before `subscribe`. `types`: as the host's."""
        if not self._listeners and not self._is_subscribed():
            self._forget()  # what was told meanwhile is nobody's
        listener = Listener(wants, types)
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    async def subscribe(self, listener: Listener, options: Options, deadline: Deadline) -> None:
        """What happens from now on it hears."""
        await self._subscribe_by(options, deadline)
        listener.must_not_have_failed()

    async def _subscribe_by(self, options: Options, deadline: Deadline) -> None:
        try:
            await deadline.finish(self._subscribe(options))
        except TimeoutError:
            raise self._rpc.channel.too_late(SUBSCRIBE, deadline) from None

    async def _subscribe(self, options: Options) -> None:
        """Each try goes on behind the newest event, and so none is told twice."""
        forever = Deadline(self._rpc.channel.clock, None)
        losses = 0
        async with self._subscribing:
            while not self._is_subscribed():
                before, with_state = self._last_id, self._wants_state()
                widens = with_state and not self._with_state
                on = self._subscribed_on
                asked = without_nothing(after=None if widens else before, types=WITH_STATE if with_state else None)
                try:
                    answer = await self._rpc.call(SUBSCRIBE, asked, options, deadline=forever, most_losses=0)
                    # In the place of the one that the same connection has, without a gap.
                    resumed = self._begun(answer, before, anew=on is None or (widens and on == answer.connection))
                    self._with_state = with_state or (self._with_state and resumed)
                except CapabilityError as error:
                    if not with_state or is_for_now(error):
                        raise
                    self._go_on_without_state(error)
                    if not self._listeners:
                        return
                except ConnectionLost:
                    losses += 1
                    if losses > options.max_retries:
                        raise

    def _wants_state(self) -> bool:
        return any(listener.state for listener in self._listeners)

    def _is_subscribed(self) -> bool:
        is_on = self._subscribed_on is not None and self._subscribed_on == self._rpc.channel.connection
        return is_on and (self._with_state or not self._wants_state())

    def _begun(self, answer: Answer, before: str | None, *, anew: bool) -> bool:
        """Whether the subscription of before goes on."""
        self._subscribed_on = answer.connection
        result = answer.message["result"]
        if isinstance(result, dict) and result.get("resumed") is True:
            return True
        if self._last_id == before:
            self._last_id = text_in(result, "event_id")
        if not anew:
            self._tell(MISSED)
        return False

    def _go_on_without_state(self, error: CapabilityError) -> None:
        """Who may not hear of the shared state hears of all else."""
        self._with_state = False
        for listener in [one for one in self._listeners if one.state]:
            listener.fail(error)
            self._listeners.discard(listener)

    def close(self) -> None:
        if self._resuming is not None:
            self._resuming.cancel()

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        event_id = params.pop("event_id", None)
        if isinstance(event_id, str):
            self._last_id = event_id
        self._tell(Event(method=method, params=params))

    def _connected(self) -> None:
        self.close()  # what was asked over another connection
        if not self._listeners:
            self._forget()
        elif self._subscribed_on is not None:
            self._resuming = asyncio.create_task(self._resume(), name="kruxos events")

    async def _resume(self) -> None:
        """Where that is not answered, whoever waits looks for himself, again and again."""
        while self._listeners:
            try:
                await self._subscribe_by(PATIENT, Deadline(self._rpc.channel.clock, PATIENT.timeout))
                return
            except CallTimeout:
                self._tell(MISSED)
            except (ConnectionFailed, ConnectionLost):
                return  # the next connection asks again
            except KruxOSError as error:
                self._fail(error)
                return

    def _tell(self, event: Event) -> None:
        for listener in list(self._listeners):
            try:
                listener.tell(event)
            except Exception:
                log.exception("an event was not understood")

    def _fail(self, error: KruxOSError) -> None:
        self._forget()
        for listener in self._listeners:
            listener.fail(error)

    def _forget(self) -> None:
        """The next one that listens begins anew."""
        self.close()
        self._subscribed_on, self._last_id, self._with_state = None, None, False


def begins_with(prefix: str) -> Callable[[Event], bool]:
    """As the host's `prefix` chooses."""

    def wants(event: Event) -> bool:
        if event.method == STATE_CHANGED:
            return str(event.params.get("key", "")).startswith(prefix)
        return not prefix or event.write is None or event.write.capability.startswith(prefix)

    return wants
