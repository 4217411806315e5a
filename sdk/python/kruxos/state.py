"""What an agent notes: for its session, for later sessions, and for other agents."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

from ._core import Core
from ._events import PATIENT, STATE_CHANGED, Listener, begins_with
from ._namespace import Namespace
from ._portal import Blocking, Portal, blocking
from ._rpc import without_nothing
from ._settings import Options
from ._waiting import passes
from .errors import KruxOSError
from .models import Event, InvocationResult, StateEntry, StateHistory, text_in

log = logging.getLogger("kruxos")
Callback = Callable[[StateEntry], Awaitable[None] | None]
Keys = list[str]
Entries = list[StateEntry]
PAGE = 1000
ENTRIES = 100


class _Space:
    """One of the three. Each failure is raised."""

    name = ""

    def __init__(self, core: Core, options: Options) -> None:
        self._core = core
        self._options = options

    async def _ask(self, what: str, options: Options | None = None, /, **inputs: Any) -> Any:
        """A value may be None, and is sent then."""
        name = f"state.{self.name}.{what}"
        return (await self._core.invoker.invoke(name, inputs, {}, options or self._options, raise_on_error=True)).parse().data

    async def _get(self, key: str, version: int | None = None, options: Options | None = None) -> StateEntry:
        data = await self._ask("get", options, key=key, **without_nothing(version=version))
        return StateEntry.model_validate({"key": key, **data})

    async def _set(self, key: str, value: Any, expected_version: int | None = None) -> StateEntry:
        data = await self._ask("set", key=key, value=value, **without_nothing(expected_version=expected_version))
        return StateEntry.model_validate({**data, "value": value})

    async def _delete(self, key: str, expected_version: int | None = None) -> bool:
        data = await self._ask("delete", key=key, **without_nothing(expected_version=expected_version))
        return bool(data["deleted"])

    async def _pages(self, prefix: str, options: Options | None = None) -> Entries:
        """All there are, without their values."""
        found: Entries = []
        after: str | None = None
        while True:
            data = await self._ask("list", options, prefix=prefix, limit=PAGE, details=True, **without_nothing(after=after))
            found += [StateEntry.model_validate(one) for one in data["entries"]]
            after = text_in(data, "next_after")
            if not data["more"] or after is None:
                return found

    async def list(self, prefix: str = "") -> Keys:
        """The keys that begin so, in their order."""
        return [entry.key for entry in await self._pages(prefix)]

    async def entries(self, prefix: str = "") -> Entries:
        """The same with version and time of each, without the values."""
        return await self._pages(prefix)


class AsyncSessionState(_Space):
    """In the host's memory, until the session ends."""

    name = "session"

    async def get(self, key: str) -> StateEntry:
        """`found` says whether there is one."""
        return await self._get(key)

    async def set(self, key: str, value: Any) -> StateEntry:
        return await self._set(key, value)

    async def delete(self, key: str) -> bool:
        """Whether there was one."""
        return await self._delete(key)

    async def clear(self, prefix: str = "") -> int:
        """All whose keys begin so; how many there were."""
        return int((await self._ask("clear", prefix=prefix))["cleared"])


class AsyncPersistentState(_Space):
    """For good, and this agent's alone. Each set is a new version."""

    name = "persistent"

    async def get(self, key: str, *, version: int | None = None) -> StateEntry:
        """The present version, or an earlier one that is still kept; `found` says whether there is one."""
        return await self._get(key, version)

    async def set(self, key: str, value: Any, *, expected_version: int | None = None) -> StateEntry:
        """With `expected_version` only where that is the present one (0: there is none), else `VersionConflict` is raised."""
        return await self._set(key, value, expected_version)

    async def delete(self, key: str) -> bool:
        """With all its versions; whether there was one."""
        return await self._delete(key)

    async def history(self, key: str, *, limit: int = 20, before: int | None = None) -> StateHistory:
        """Newest first, below version `before`."""
        data = await self._ask("history", key=key, limit=limit, **without_nothing(before=before))
        return StateHistory.model_validate({**data, "versions": [{"key": key, **one} for one in data["versions"]]})

    async def query(
        self, prefix: str = "", *, contains: str | None = None, since: str | None = None, until: str | None = None, limit: int = 100
    ) -> Entries:
        """Entries with their values, by key: what stands in key or value, and when it was set (RFC 3339)."""
        asked = without_nothing(contains=contains, since=since, until=until)
        found: Entries = []
        after: str | None = None
        while len(found) < limit:
            page = min(limit - len(found), ENTRIES)
            data = await self._ask("query", prefix=prefix, limit=page, **asked, **without_nothing(after=after))
            found += [StateEntry.model_validate(one) for one in data["entries"]]
            after = text_in(data, "next_after")
            if not data["more"] or after is None:
                break
        return found


class Watch:
    """Tells of changes until `stop()`, or until it cannot go on: `await` it to learn why."""

    def __init__(self, work: asyncio.Task[None]) -> None:
        self._work = work

    async def stop(self) -> None:
        self._work.cancel()
        await asyncio.wait([self._work])

    def __await__(self) -> Generator[Any, None, None]:
        return asyncio.shield(self._work).__await__()


class AsyncSharedState(_Space):
    """For good, and of all agents of the host. What stands there another agent may have written."""

    name = "shared"

    async def get(self, key: str) -> StateEntry:
        """Its `version` is what `set` wants; 0 where there is none."""
        return await self._get(key)

    async def set(self, key: str, value: Any, *, expected_version: int = 0) -> StateEntry:
        """`expected_version`: that it has, 0 for a new key. `VersionConflict` is raised where another agent was there before."""
        return await self._set(key, value, expected_version)

    async def delete(self, key: str, *, expected_version: int | None = None) -> bool:
        """Whether there was one."""
        return await self._delete(key, expected_version)

    async def watch(self, prefix: str, callback: Callback) -> Watch:
        """Calls `callback` with each entry that changes from now on, one after the other; `found` is false where it was deleted.

        Of changes that follow each other quickly the last is told. After a lost connection it goes on with what has changed meanwhile.
        """
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        work = asyncio.create_task(_Watching(self, prefix, callback).run(ready), name="kruxos watch")
        try:
            await asyncio.wait([ready, work], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            work.cancel()
            raise
        if not ready.done():
            await work  # why it could not begin
        return Watch(work)


class _Watching:
    def __init__(self, state: AsyncSharedState, prefix: str, callback: Callback) -> None:
        self._state = state
        self._prefix = prefix
        self._callback = callback
        self._known: dict[str, int] = {}

    async def run(self, ready: asyncio.Future[None]) -> None:
        core, options = self._state._core, self._state._options
        with core.events.listener(begins_with(self._prefix), [STATE_CHANGED]) as listener:
            await core.events.subscribe(listener, options, core.deadline(options.timeout))
            self._known = {entry.key: entry.version for entry in await self._state._pages(self._prefix)}
            ready.set_result(None)
            try:
                await self._follow(listener)
            except KruxOSError as error:
                log.error("a watch of %r has ended: %s", self._prefix, error)
                raise

    async def _follow(self, listener: Listener) -> None:
        missed = False
        while True:
            event = None if missed else await listener.get()
            try:
                if event is None or event.missed:
                    missed = True
                    await self._look_at_all()
                    missed = False
                else:
                    await self._look_at(event)
            except KruxOSError as error:
                if not passes(error):
                    raise
                missed = True  # then all of it is looked at once more; each look is patient, so that none follows at once

    async def _look_at_all(self) -> None:
        present = {entry.key: entry for entry in await self._state._pages(self._prefix, PATIENT)}
        for key in [key for key in self._known if key not in present]:
            await self._tell_deleted(key, self._known[key])
        for key, entry in present.items():
            if entry.version > self._known.get(key, 0):
                await self._read(key)

    async def _look_at(self, event: Event) -> None:
        key, version = event.params["key"], event.params["version"]
        known = self._known.get(key, 0)
        if event.params["deleted"]:
            if 0 < known <= version:
                await self._tell_deleted(key, version, event.params.get("updated_by"))
        elif version > known:
            await self._read(key)

    async def _read(self, key: str) -> None:
        """What is there now: an event may be older, and says not what."""
        entry = await self._state._get(key, options=PATIENT)
        if not entry.found:
            if key in self._known:
                await self._tell_deleted(key, self._known[key])
        elif entry.version > self._known.get(key, 0):
            self._known[key] = entry.version
            await self._tell(entry)

    async def _tell_deleted(self, key: str, version: int, by: str | None = None) -> None:
        self._known.pop(key, None)
        await self._tell(StateEntry(key=key, found=False, version=version, updated_by=by))

    async def _tell(self, entry: StateEntry) -> None:
        try:
            told = self._callback(entry)
            if inspect.isawaitable(told):
                await told
        except Exception:
            log.exception("the callback of a watch failed at %r", entry.key)


class AsyncState:
    """`agent.state`."""

    def __init__(self, core: Core, options: Options) -> None:
        self.session = AsyncSessionState(core, options)
        self.persistent = AsyncPersistentState(core, options)
        self.shared = AsyncSharedState(core, options)
        self.briefing = Namespace(_invoking(core, options), "state.briefing")


def _invoking(core: Core, options: Options) -> Callable[..., Awaitable[InvocationResult]]:
    async def invoke(name: str, arguments: Any = None, /, **named: Any) -> InvocationResult:
        return (await core.invoker.invoke(name, arguments, named, options)).parse()

    return invoke


S_co = TypeVar("S_co", bound=_Space, covariant=True)


class _BlockingSpace(Blocking[S_co]):
    list = blocking(_Space.list)
    entries = blocking(_Space.entries)


class SessionState(_BlockingSpace[AsyncSessionState]):
    """AsyncSessionState, for callers that block."""

    get = blocking(AsyncSessionState.get)
    set = blocking(AsyncSessionState.set)
    delete = blocking(AsyncSessionState.delete)
    clear = blocking(AsyncSessionState.clear)


class PersistentState(_BlockingSpace[AsyncPersistentState]):
    """AsyncPersistentState, for callers that block."""

    get = blocking(AsyncPersistentState.get)
    set = blocking(AsyncPersistentState.set)
    delete = blocking(AsyncPersistentState.delete)
    history = blocking(AsyncPersistentState.history)
    query = blocking(AsyncPersistentState.query)


class BlockingWatch(Blocking[Watch]):
    """A watch, for callers that block."""

    stop = blocking(Watch.stop)


class SharedState(_BlockingSpace[AsyncSharedState]):
    """AsyncSharedState, for callers that block."""

    get = blocking(AsyncSharedState.get)
    set = blocking(AsyncSharedState.set)
    delete = blocking(AsyncSharedState.delete)

    def watch(self, prefix: str, callback: Callable[[StateEntry], None]) -> BlockingWatch:
        """Calls `callback` in a thread of its own, which may use this client."""

        async def elsewhere(entry: StateEntry) -> None:
            await asyncio.to_thread(callback, entry)

        return BlockingWatch(self._portal, self._portal.run(self._twin.watch(prefix, elsewhere)))


class State:
    """`agent.state`, for callers that block."""

    def __init__(self, portal: Portal, twin: AsyncState, invoke: Callable[..., InvocationResult]) -> None:
        self.session = SessionState(portal, twin.session)
        self.persistent = PersistentState(portal, twin.persistent)
        self.shared = SharedState(portal, twin.shared)
        self.briefing = Namespace(invoke, "state.briefing")
