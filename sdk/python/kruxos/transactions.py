"""Writes that are carried out all, or none: `async with transaction(agent) as tx: await tx.invoke(...)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, overload

from ._core import Core
from ._portal import Blocking, blocking
from ._settings import Options
from .async_client import AsyncKruxOS
from .client import KruxOS
from .errors import ConfigurationError, ConflictError, KruxOSError
from .models import InvocationResult, TransactionStatus


class AsyncTransaction:
    """Committed at the end of its `async with`; rolled back where that raises, where its time is over, and where the connection is lost."""

    def __init__(self, core: Core, options: Options, timeout: int | None) -> None:
        self._core = core
        self._options = options
        self._begin = {} if timeout is None else {"timeout": timeout}
        self._id: str | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._id or 'not begun'})"

    @property
    def id(self) -> str:
        if self._id is None:
            raise ConfigurationError("The transaction is not begun: use it in a `with` statement.")
        return self._id

    async def begin(self) -> Self:
        if self._id is not None:
            raise ConfigurationError("The transaction was begun already: make another one.")
        begun = await self._ask("transaction.begin", self._begin)
        self._id = begun.transaction
        return self

    async def invoke(
        self, name: str, arguments: Mapping[str, Any] | None = None, /, *, idempotency_key: str | None = None, **named: Any
    ) -> InvocationResult:
        """As a client's, in this transaction. It raises what fails, whatever the client is set to."""
        raw = await self._core.invoker.invoke(
            name, arguments, named, self._options, idempotency_key, raise_on_error=True, transaction=self.id
        )
        return raw.parse()

    call = invoke

    async def status(self) -> TransactionStatus:
        return await self._step("transaction.status")

    async def commit(self) -> TransactionStatus:
        """What was held goes out, once what happens at once has happened. ConflictError: it was undone; the message says why."""
        deadline = self._core.deadline(self._options.timeout)
        while True:
            try:
                return await self._step("transaction.commit")
            except ConflictError as early:
                wait = early.retry_after or 1.0
                if not early.retryable or not deadline.allows(wait):
                    raise
                await self._core.rpc.channel.clock.sleep(wait)

    async def rollback(self) -> TransactionStatus:
        """Drops what was held and undoes what ran. What could not be undone has `stays_because`."""
        return await self._step("transaction.rollback")

    async def _step(self, method: str) -> TransactionStatus:
        return await self._ask(method, {"transaction": self.id})

    async def _ask(self, method: str, params: dict[str, Any]) -> TransactionStatus:
        return await self._core.rpc.ask(TransactionStatus, method, params, self._options)

    async def _end(self, error: BaseException | None) -> None:
        if error is not None:
            await self._take_back(error)
            return
        try:
            await self.commit()
        except BaseException as uncommitted:
            # Cut short, or too early until the end: it is open then, and nobody else ends it.
            if not isinstance(uncommitted, ConflictError) or uncommitted.retryable:
                await self._take_back(uncommitted)
            raise

    async def _take_back(self, error: BaseException) -> None:
        try:
            undone = await self.rollback()
        except KruxOSError as problem:
            # The host rolls it back by itself when the connection is lost, or its time is over.
            error.add_note(f"The transaction {self.id} could not be asked to be rolled back: {problem}")
            return
        for write in undone.writes:
            if write.stays_because:
                error.add_note(f"{write.capability} {write.write_id} was not undone: {write.stays_because}")
        if undone.state != "undone":
            error.add_note(f"The transaction {self.id} is still being undone.")

    async def __aenter__(self) -> Self:
        return await self.begin()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self._end(error)


class Transaction(Blocking[AsyncTransaction]):
    """The same, for callers that block."""

    @property
    def id(self) -> str:
        return self._twin.id

    def begin(self) -> Self:
        self._portal.run(self._twin.begin())
        return self

    invoke = blocking(AsyncTransaction.invoke)
    call = invoke
    status = blocking(AsyncTransaction.status)
    commit = blocking(AsyncTransaction.commit)
    rollback = blocking(AsyncTransaction.rollback)

    def __enter__(self) -> Self:
        return self.begin()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._portal.run(self._twin._end(error))


@overload
def transaction(agent: AsyncKruxOS, timeout: int | None = None) -> AsyncTransaction: ...
@overload
def transaction(agent: KruxOS, timeout: int | None = None) -> Transaction: ...
def transaction(agent: AsyncKruxOS | KruxOS, timeout: int | None = None) -> AsyncTransaction | Transaction:
    """`timeout`: for how many seconds it may stay open, 300 unless given."""
    if isinstance(agent, AsyncKruxOS):
        return AsyncTransaction(agent._core, agent._options, timeout)
    return Transaction(agent._portal, AsyncTransaction(agent._twin._core, agent._twin._options, timeout))
