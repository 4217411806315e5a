"""The client for asyncio. `KruxOS` in client.py is its twin for callers that block."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, Unpack

from ._core import Core
from ._events import Listener, begins_with
from ._namespace import Namespace
from ._rpc import without_nothing
from ._settings import ConnectOptions, OptionChanges, Options, settings_of
from .approvals import AsyncApprovals
from .capabilities import RawResponse, arguments_of, list_capabilities
from .errors import ConfigurationError
from .mcp_config import Form, mcp_config
from .models import Briefing, CapabilityDefinition, InvocationResult, WriteStatus, write_id_in
from .state import AsyncState
from .writes import AsyncWrite, list_writes, pages

C_co = TypeVar("C_co", bound="AsyncKruxOS", covariant=True)
V = TypeVar("V", bound="View")
P = ParamSpec("P")


class Connecting(Generic[C_co]):
    """`await` it for the client, or use it in `async with`, which closes the client at its end."""

    def __init__(self, client: C_co) -> None:
        self._client = client

    def __await__(self) -> Generator[Any, None, C_co]:
        return self._open().__await__()

    async def _open(self) -> C_co:
        await self._client._core.open()
        return self._client

    async def __aenter__(self) -> C_co:
        return await self._open()

    async def __aexit__(self, *error: object) -> None:
        await self._client.close()


class View:
    """A client's connection, with its own patience."""

    def __init__(self, core: Core, options: Options) -> None:
        self._core = core
        self._options = options

    async def _respond(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        idempotency_key: str | None = None,
        raise_on_error: bool | None = None,
        **named: Any,
    ) -> RawResponse:
        """Invokes a capability, with its inputs by name or in a mapping."""
        return await self._core.invoker.invoke(name, arguments, named, self._options, idempotency_key, raise_on_error)


def parsing(
    respond: Callable[Concatenate[V, P], Awaitable[RawResponse]],
) -> Callable[Concatenate[V, P], Coroutine[Any, Any, InvocationResult]]:
    """The same call, which gives what the answer says."""

    @wraps(respond)
    async def run(self: V, /, *args: P.args, **named: P.kwargs) -> InvocationResult:
        return (await respond(self, *args, **named)).parse()

    run.__annotations__ = {**respond.__annotations__, "return": "InvocationResult"}
    return run


class AsyncCapabilities(View):
    async def list(
        self, *, category: str | None = None, tag: str | None = None, name_contains: str | None = None
    ) -> list[CapabilityDefinition]:
        """What the agent may call now."""
        filters = {"category": category, "tag": tag, "name_contains": name_contains}
        return await list_capabilities(self._core.rpc, self._options, **filters)

    async def describe(self, name: str) -> CapabilityDefinition:
        """One, with its inputs, outputs and errors."""
        return await self._core.rpc.ask(CapabilityDefinition, "capabilities.describe", {"name": name}, self._options)

    invoke = parsing(View._respond)


class AsyncRaw(View):
    """Calls that give the answer as it came, with what is known of the way there."""

    call = View._respond


class AsyncKruxOS(View):
    """Belongs to the event loop that it is first used in. Any number of tasks may use it at once."""

    def __init__(self, core: Core, options: Options) -> None:
        super().__init__(core, options)
        self.capabilities = AsyncCapabilities(core, options)
        self.approvals = AsyncApprovals(core, options)
        self.state = AsyncState(core, options)
        self.with_raw_response = AsyncRaw(core, options)

    @classmethod
    def connect(cls, host: str | None = None, **options: Unpack[ConnectOptions]) -> Connecting[Self]:
        """Address and key from KRUXOS_HOST and KRUXOS_API_KEY where they are not given."""
        settings = settings_of(host, options)
        return Connecting(cls(Core.of(settings), settings.options))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self._core.settings.url}>"

    if not TYPE_CHECKING:  # a name that is none shall be found by a type checker; generated stubs name those that are

        def __getattr__(self, name: str) -> Namespace:
            if name.startswith("_"):
                raise AttributeError(name)
            return Namespace(self.call, name)

    def with_options(self, **changed: Unpack[OptionChanges]) -> Self:
        """The same client and connection, with another `timeout`, `max_retries` or `raise_on_error`."""
        return type(self)(self._core, dataclasses.replace(self._options, **changed))

    call = parsing(View._respond)
    call_async = call

    def write(self, what: InvocationResult | str) -> AsyncWrite:
        """The write that an answer speaks of, or that has this id: `await agent.write(result).sent()`."""
        return AsyncWrite(self._core, self._options, write_id_of(what))

    def writes(
        self, *, status: str | None = None, service: str | None = None, session_id: str | None = None, limit: int | None = None
    ) -> AsyncIterator[WriteStatus]:
        """The agent's writes, the newest first. `limit` is a page's; pages are fetched as they are needed."""
        return list_writes(self._core, self._options, status=status, service=service, session_id=session_id, limit=limit)

    def pages(self, name: str, arguments: Mapping[str, Any] | None = None, /, **named: Any) -> AsyncIterator[InvocationResult]:
        """A read's answers, page by page, fetched as they are needed."""
        return pages(self._core, self._options, name, arguments_of(name, arguments, named))

    @asynccontextmanager
    async def events(self, types: Iterable[str] | None = None, *, prefix: str = "") -> AsyncIterator[Listener]:
        """`async with agent.events(["write.status"]) as events: async for event in events`. See docs/agent-api.md, Events."""
        with self._core.events.listener(begins_with(prefix), types) as listener:
            await self._core.events.subscribe(listener, self._options, self._core.deadline(self._options.timeout))
            yield listener

    async def briefing(self, since: str | None = None) -> Briefing:
        """What happened since the agent's previous session, or since a time (RFC 3339)."""
        result = await self.call("state.briefing.generate", without_nothing(since=since), raise_on_error=True)
        return Briefing.model_validate(result["briefing"])

    def as_mcp_config(
        self, form: Form = "websocket", *, key_file: str | None = None, tools: str | None = None, name: str = "kruxos"
    ) -> dict[str, Any]:
        """What a program that speaks MCP is told of this host, with the key in it unless `key_file` names a file that has it.

        `websocket`: the documented form; `http`: what most programs take; `stdio`: they start `kruxos mcp`; `bridge`: they start
        `python -m kruxos.mcp_bridge`, which needs no KruxOS on their machine.
        """
        return mcp_config(self._core.settings, form, key_file=key_file, tools=tools, name=name)

    async def close(self) -> None:
        """Ends its session and connection, also those of its views. Writes that were accepted are carried out all the same."""
        await self._core.close()

    close_async = close
    disconnect = close

    async def __aenter__(self) -> Self:
        await self._core.open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


def write_id_of(what: InvocationResult | str) -> str:
    found = what if isinstance(what, str) else write_id_in(what.data)
    if found is None:
        raise ConfigurationError("This answer is no write's: it has no write_id.")
    return found
