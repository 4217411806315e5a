"""The client for callers that block. It works in threads, in notebooks and inside a running loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Self, Unpack

from ._core import Core
from ._namespace import Namespace
from ._portal import Blocking, at_once, blocking, elsewhere, in_running_loop, portal, stepping
from ._settings import ConnectOptions, OptionChanges, Settings, settings_of
from .approvals import Approvals
from .async_client import AsyncCapabilities, AsyncKruxOS, AsyncRaw, Connecting
from .models import Event, InvocationResult
from .state import State
from .writes import Write


class Capabilities(Blocking[AsyncCapabilities]):
    list = blocking(AsyncCapabilities.list)
    describe = blocking(AsyncCapabilities.describe)
    invoke = blocking(AsyncCapabilities.invoke)


class Raw(Blocking[AsyncRaw]):
    call = blocking(AsyncRaw.call)


async def _events(twin: AsyncKruxOS, types: Iterable[str] | None = None, *, prefix: str = "") -> AsyncIterator[Event]:
    """Events as they come, without end, from when the first is asked for."""
    async with twin.events(types, prefix=prefix) as events:
        async for event in events:
            yield event


class KruxOS(Blocking[AsyncKruxOS]):
    """A host, as one agent. Any number of threads may use it at once."""

    def __init__(self, settings: Settings, twin: AsyncKruxOS | None = None) -> None:
        shared = portal()
        super().__init__(shared, twin or shared.run(_made(settings)))
        self._settings = settings
        self._in_loop: AsyncKruxOS | None = None
        self.capabilities = Capabilities(self._portal, self._twin.capabilities)
        self.approvals = Approvals(self._portal, self._twin.approvals)
        self.state = State(self._portal, self._twin.state, self.call)
        self.with_raw_response = Raw(self._portal, self._twin.with_raw_response)

    @classmethod
    def connect(cls, host: str | None = None, **options: Unpack[ConnectOptions]) -> Self:
        """Address and key from KRUXOS_HOST and KRUXOS_API_KEY where they are not given.

        Connects at once; inside a running loop with the first call, since `async with KruxOS.connect()` must not hold that loop up.
        """
        client = cls(settings_of(host, options))
        if not in_running_loop():
            client._open()
        return client

    @staticmethod
    def connect_async(host: str | None = None, **options: Unpack[ConnectOptions]) -> Connecting[AsyncKruxOS]:
        """The client for asyncio: `await` it, or use it in `async with`."""
        return AsyncKruxOS.connect(host, **options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self._settings.url}>"

    if not TYPE_CHECKING:  # as in AsyncKruxOS

        def __getattr__(self, name: str) -> Namespace:
            if name.startswith("_"):
                raise AttributeError(name)
            return Namespace(self.call, name)

    def _open(self) -> None:
        self._portal.run(self._twin._core.open())

    def with_options(self, **changed: Unpack[OptionChanges]) -> Self:
        """The same client and connection, with another `timeout`, `max_retries` or `raise_on_error`."""
        return type(self)(self._settings, self._twin.with_options(**changed))

    call = blocking(AsyncKruxOS.call)
    call_async = elsewhere(AsyncKruxOS.call)

    def write(self, what: InvocationResult | str) -> Write:
        """The write that an answer speaks of, or that has this id: `agent.write(result).sent()`."""
        return Write(self._portal, self._twin.write(what))

    writes = stepping(AsyncKruxOS.writes)
    pages = stepping(AsyncKruxOS.pages)
    events = stepping(_events)
    briefing = blocking(AsyncKruxOS.briefing)
    as_mcp_config = at_once(AsyncKruxOS.as_mcp_config)
    close = blocking(AsyncKruxOS.close)
    disconnect = close

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> AsyncKruxOS:
        """The client for asyncio, with the same settings."""
        self._in_loop = AsyncKruxOS(Core.of(self._settings), self._twin._options)
        return await self._in_loop.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        if self._in_loop is not None:
            await self._in_loop.close()


async def _made(settings: Settings) -> AsyncKruxOS:
    return AsyncKruxOS(Core.of(settings), settings.options)
