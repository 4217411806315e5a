"""Listing, describing and invoking capabilities."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._clock import Deadline
from ._messages import Answer
from ._rpc import Rpc, parsed, without_nothing
from ._settings import Options
from .errors import CapabilityError, ConfigurationError, ProtocolError, capability_error
from .models import CapabilityDefinition, InvocationResult, Session

NOT_REPEATED = (".cancel", "proxy.cancel_write", "proxy.edit_write", "proxy.rollback")
"""How the names end of those whose second one would be told that it comes too late, though the first was done."""


@dataclass(frozen=True)
class RawResponse:
    """An answer as it came; `parse()` is what `call` gives of it."""

    request_id: str
    sends: int
    """How often the last request was sent: more than once where a connection was lost."""
    raw: dict[str, Any]
    """What stood in the answer's `result`."""
    _parsed: InvocationResult

    def parse(self) -> InvocationResult:
        return self._parsed


class Sessions:
    """The session that calls name, where `agent_name` or `purpose` was given: made with the first call, and anew once it has ended."""

    def __init__(self, rpc: Rpc, agent_name: str | None, purpose: str | None) -> None:
        self._rpc = rpc
        self._params = without_nothing(agent_name=agent_name, purpose=purpose)
        self._lock = asyncio.Lock()
        self.current: Session | None = None

    async def get(self, options: Options, deadline: Deadline, ended: str | None = None) -> str | None:
        """Its id; another one than `ended`. None where the host chooses the session."""
        if not self._params:
            return None
        async with self._lock:
            if self.current is None or self.current.session_id == ended:
                self.current = await self._rpc.ask(Session, "session.create", self._params, options, deadline=deadline)
            return self.current.session_id

    async def end(self) -> None:
        if self.current is None:
            return
        deadline = Deadline(self._rpc.channel.clock, 2)
        await self._rpc.channel.request("session.end", {"session_id": self.current.session_id}, deadline=deadline, repeatable=False)


class Invoker:
    def __init__(self, rpc: Rpc, sessions: Sessions) -> None:
        self._rpc = rpc
        self._sessions = sessions

    async def invoke(
        self,
        name: str,
        given: Mapping[str, Any] | None,
        named: Mapping[str, Any],
        options: Options,
        idempotency_key: str | None = None,
        raise_on_error: bool | None = None,
        deadline: Deadline | None = None,
        transaction: str | None = None,
    ) -> RawResponse:
        """The same key over all its retries, so that a write that was sent twice is one; and one deadline over all of it."""
        end = deadline or Deadline(self._rpc.channel.clock, options.timeout)
        key = idempotency_key or secrets.token_hex(16)
        params = {"capability": name, "arguments": arguments_of(name, given, named), "idempotency_key": key}
        params |= without_nothing(transaction=transaction)
        session = await self._sessions.get(options, end)
        raw = await self._send(name, params, session, key, options, end)
        error = raw.parse().error
        if session is not None and error is not None and error.type == "SessionExpired":
            session = await self._sessions.get(options, end, ended=session)
            raw = await self._send(name, params, session, key, options, end)
        wants_error = options.raise_on_error if raise_on_error is None else raise_on_error
        if wants_error and not raw.parse().success:
            raise self._error(name, raw.parse())
        return raw

    async def _send(
        self, name: str, params: dict[str, Any], session: str | None, key: str, options: Options, deadline: Deadline
    ) -> RawResponse:
        result: InvocationResult | None = None

        def failure_of(answer: Answer) -> CapabilityError | None:
            nonlocal result
            result = parsed(InvocationResult, answer.message["result"], answer)
            return None if result.error is None else capability_error(result.error, request_id=answer.request_id)

        try:
            answer = await self._rpc.call(
                "capabilities.invoke",
                {**params, **without_nothing(session_id=session)},
                options,
                deadline=deadline,
                repeatable=not name.endswith(NOT_REPEATED),
                idempotency_key=key,
                failure_of=failure_of,
            )
        except CapabilityError as error:
            error.capability, error.idempotency_key = name, key
            raise
        assert result is not None  # every answer that is returned was looked at
        result._request_id, result._idempotency_key = answer.request_id, key
        return RawResponse(answer.request_id, answer.sends, answer.message["result"], result)

    def _error(self, name: str, result: InvocationResult) -> Exception:
        if result.error is None:
            return ProtocolError(f"{name} failed, and the host did not say why.", request_id=result.request_id)
        error = capability_error(result.error, request_id=result.request_id, capability=name)
        error.idempotency_key = result.idempotency_key
        return error


def arguments_of(name: str, given: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Any]:
    """Of one mapping, or by name. None is sent as null, and not left out."""
    twice = sorted(set(given or ()) & set(named))
    if twice:
        raise ConfigurationError(f"{name}: {', '.join(twice)} was given twice.")
    return {**(given or {}), **named}


async def list_capabilities(rpc: Rpc, options: Options, **filters: str | None) -> list[CapabilityDefinition]:
    answer = await rpc.call("capabilities.list", without_nothing(**filters), options)
    result = answer.message["result"]
    found = result.get("capabilities") if isinstance(result, dict) else None
    if not isinstance(found, list):
        raise ProtocolError("The answer is no list of capabilities.", request_id=answer.request_id)
    return [parsed(CapabilityDefinition, one, answer) for one in found]
