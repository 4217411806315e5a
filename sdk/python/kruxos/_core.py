"""What the views of one client share: its connection, session and events."""

from __future__ import annotations

from dataclasses import dataclass

from ._channel import Channel
from ._clock import Deadline
from ._events import EventHub
from ._rpc import Rpc
from ._settings import Settings
from .capabilities import Invoker, Sessions
from .errors import KruxOSError


@dataclass(frozen=True)
class Core:
    settings: Settings
    channel: Channel
    rpc: Rpc
    events: EventHub
    sessions: Sessions
    invoker: Invoker

    @classmethod
    def of(cls, settings: Settings) -> Core:
        channel = Channel(settings.transport, settings.clock, settings.backoff, settings.max_in_flight, settings.options.max_retries)
        rpc = Rpc(channel)
        sessions = Sessions(rpc, settings.agent_name, settings.purpose)
        return cls(settings, channel, rpc, EventHub(rpc), sessions, Invoker(rpc, sessions))

    async def open(self) -> None:
        await self.channel.open()

    async def close(self) -> None:
        try:
            await self.sessions.end()
        except KruxOSError:
            pass  # it ends by itself after a day without use
        self.events.close()
        await self.channel.close()

    def deadline(self, seconds: float | None) -> Deadline:
        return Deadline(self.settings.clock, seconds)
