"""What becomes of a write, heard by events and not asked for again and again."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from ._clock import Deadline
from ._core import Core
from ._portal import Blocking, Portal, blocking, stepping
from ._rpc import without_nothing
from ._settings import Options
from ._waiting import states
from .errors import (
    ApprovalRejected,
    CallTimeout,
    CannotCancel,
    CapabilityError,
    ConnectionFailed,
    ConnectionLost,
    KruxOSError,
    RollbackConflict,
    WriteCancelled,
    WriteDiscarded,
    WriteFailed,
    capability_error,
)
from .models import ErrorResponse, Event, InvocationResult, WriteStatus, text_in, write_id_in

ENDED_WITHOUT = {"cancelled": WriteCancelled, "rejected": ApprovalRejected, "discarded": WriteDiscarded, "failed": WriteFailed}


def _told(event: Event) -> WriteStatus | None:
    """An event has not all of a write that has ended: its result is looked up."""
    return event.write if event.write is not None and not event.write.ended else None


class AsyncWrite:
    """One write of this agent, by its id."""

    def __init__(self, core: Core, options: Options, write_id: str) -> None:
        self._core = core
        self._options = options
        self.write_id = write_id
        self._unanswered: dict[str, ConnectionLost | CallTimeout] = {}
        """By name the newest decision that may have been carried out: the next of its kind goes on from it."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.write_id!r})"

    async def _invoke(self, name: str, deadline: Deadline | None = None) -> InvocationResult:
        given = {"write_id": self.write_id}
        return (await self._core.invoker.invoke(name, given, {}, self._options, raise_on_error=True, deadline=deadline)).parse()

    async def status(self) -> WriteStatus:
        return await self._look()

    async def _look(self, deadline: Deadline | None = None) -> WriteStatus:
        return WriteStatus.model_validate((await self._invoke("proxy.write_status", deadline)).data)

    async def cancel(self) -> InvocationResult:
        """Takes it back; CannotCancel where it is too late."""
        return await self._decide("proxy.cancel_write", self._cancelled)

    async def undo(self) -> InvocationResult:
        """Undoes it at the service (`proxy.rollback`)."""
        return await self._decide("proxy.rollback", self._undone)

    async def _decide(self, name: str, done: Callable[[Deadline], Awaitable[dict[str, Any] | None]]) -> InvocationResult:
        """Where an answer was lost, how the write stands shows whether it was done; a second one is sent only where it was not.

        The first may be carried out behind that look, and the second refused for it: so it is looked up again then.
        """
        end = self._core.deadline(self._options.timeout)
        for losses in itertools.count(1):
            refused: CapabilityError | None = None
            try:
                result = await self._invoke(name, end)
                self._unanswered.pop(name, None)
                return result
            except (ConnectionLost, CallTimeout) as error:
                if error.may_have_happened:
                    self._unanswered[name] = error
                if isinstance(error, CallTimeout):
                    raise
            except (CannotCancel, RollbackConflict) as error:
                if name not in self._unanswered:
                    raise
                refused = error
            try:
                found = await done(end)
            except (ConnectionFailed, ConnectionLost, CallTimeout):
                raise self._unanswered[name] from None
            if found is not None:
                del self._unanswered[name]
                return InvocationResult(success=True, data=found)
            if refused is not None:
                del self._unanswered[name]
                raise refused
            if losses > self._options.max_retries:
                raise self._unanswered[name]
        raise AssertionError

    async def _cancelled(self, deadline: Deadline) -> dict[str, Any] | None:
        found = await self._invoke("proxy.write_status", deadline)
        return found.data if found["status"] == "cancelled" else None

    async def _undone(self, deadline: Deadline) -> dict[str, Any] | None:
        """As the host says that it is done: with the undo's own id, where that is among the newest writes."""
        status = await self._look(deadline)
        if status.status != "rolled_back":
            return None
        asked = {"status": "completed", "limit": 100, **without_nothing(service=status.service or None)}
        try:
            newest = await self._core.invoker.invoke("proxy.list_writes", asked, {}, self._options, deadline=deadline)
            writes = newest.parse().get("writes", [])
        except KruxOSError:
            writes = []  # it is undone all the same
        undo = next((write["write_id"] for write in writes if text_in(write, "undoes") == self.write_id), None)
        return without_nothing(status="ok", write_id=undo, undoes=self.write_id)

    async def changes(self, timeout: float | None = None) -> AsyncIterator[WriteStatus]:
        """How it stands now, and whenever that changes, until it has ended; CallTimeout after `timeout` seconds.

        Lost connections are gone over, however long the host is away.
        """
        status: WriteStatus | None = None
        found = states(
            self._core, self._options, timeout, self._is_about, self._look, told=_told, is_last=lambda one: one.ended
        )
        async with aclosing(found):
            async for status in found:
                yield status
        if status is not None and not status.ended:
            raise CallTimeout(f"The write {self.write_id} has not ended within {timeout:g} seconds: it is {status.status}.")

    def _is_about(self, event: Event) -> bool:
        return event.method == "write.status" and write_id_in(event.params) == self.write_id

    async def ended(self, timeout: float | None = None) -> WriteStatus:
        """Once it has ended, however; CallTimeout after `timeout` seconds."""
        last: WriteStatus | None = None
        async for last in self.changes(timeout):
            pass
        assert last is not None
        return last

    async def sent(self, timeout: float | None = None) -> WriteStatus:
        """Once it has happened at the service. Raises what it ended with where it never will."""
        status = await self.ended(timeout)
        if status.sent:
            return status
        raise self._failure(status)

    def _failure(self, status: WriteStatus) -> CapabilityError:
        kind = ENDED_WITHOUT.get(status.status, WriteFailed)
        if status.error is not None and status.status == "failed":
            return capability_error(status.error, capability=status.capability)
        said = status.error or ErrorResponse(type=kind.__name__, message=f"The write {self.write_id} is {status.status}.")
        return kind(said.model_copy(update={"type": kind.__name__}), capability=status.capability)


async def list_writes(core: Core, options: Options, **filters: Any) -> AsyncIterator[WriteStatus]:
    """The agent's writes, the newest first; pages are fetched as they are needed."""
    async for page in pages(core, options, "proxy.list_writes", without_nothing(**filters)):
        for one in page["writes"]:
            yield WriteStatus.model_validate(one)


async def pages(core: Core, options: Options, name: str, arguments: dict[str, Any]) -> AsyncIterator[InvocationResult]:
    """A read's pages: each answer says where the next begins, as `next_offset` or `next_before`."""
    while True:
        page = (await core.invoker.invoke(name, arguments, {}, options, raise_on_error=True)).parse()
        yield page
        goes_on = {of: page.get(f"next_{of}") for of in ("offset", "before")}
        follows = {of: at for of, at in goes_on.items() if at is not None and at != arguments.get(of)}
        if not follows:
            return
        arguments = {**arguments, **follows}


class Write(Blocking[AsyncWrite]):
    """The same, for callers that block."""

    def __init__(self, portal: Portal, twin: AsyncWrite) -> None:
        super().__init__(portal, twin)
        self.write_id = twin.write_id

    def __repr__(self) -> str:
        return f"Write({self.write_id!r})"

    status = blocking(AsyncWrite.status)
    cancel = blocking(AsyncWrite.cancel)
    undo = blocking(AsyncWrite.undo)
    ended = blocking(AsyncWrite.ended)
    sent = blocking(AsyncWrite.sent)
    changes = stepping(AsyncWrite.changes)
