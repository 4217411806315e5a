"""A call with its patience: what is refused for now is asked again, as long as the call's time lasts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ._channel import Channel
from ._clock import Deadline
from ._messages import Answer, error_of
from ._settings import Options
from .errors import CapabilityError, KruxOSError, ProtocolError

M = TypeVar("M", bound=BaseModel)
WORTH_REPEATING = frozenset({"RateLimited", "ServiceUnavailable", "DatabaseError", "Timeout", "BodyFetchFailed"})
"""Nothing has begun of what failed with these; WriteFailed is not among them, since the host itself tries such a write again."""


def is_for_now(error: KruxOSError | None) -> bool:
    """Whether the host refused it for now alone."""
    return isinstance(error, CapabilityError) and error.retryable and error.type in WORTH_REPEATING


@dataclass(frozen=True)
class Rpc:
    channel: Channel

    async def call(
        self,
        method: str,
        params: dict[str, Any],
        options: Options,
        *,
        deadline: Deadline | None = None,
        repeatable: bool = True,
        most_losses: int | None = None,
        idempotency_key: str | None = None,
        failure_of: Callable[[Answer], CapabilityError | None] = lambda answer: None,
    ) -> Answer:
        """Raises what JSON-RPC answers as an error; a failure that `failure_of` finds is asked again, and then returned."""
        clock = self.channel.clock
        end = deadline or Deadline(clock, options.timeout)
        for tries in itertools.count(1):
            answer = await self.channel.request(
                method,
                params,
                deadline=end,
                repeatable=repeatable,
                most_losses=options.max_retries if most_losses is None else most_losses,
                idempotency_key=idempotency_key,
            )
            refused = error_of(answer)
            error = refused or failure_of(answer)
            wait = self._wait(error, tries, options) if repeatable else None
            if wait is None or not end.allows(wait):
                if refused is not None:
                    raise refused
                return answer
            await clock.sleep(wait)
        raise AssertionError

    def _wait(self, error: KruxOSError | None, tries: int, options: Options) -> float | None:
        if not isinstance(error, CapabilityError) or not is_for_now(error) or tries > options.max_retries:
            return None
        return max(error.retry_after or 0.0, self.channel.backoff.delay(tries))

    async def ask(
        self, kind: type[M], method: str, params: dict[str, Any], options: Options, *, deadline: Deadline | None = None
    ) -> M:
        """As a type of ours."""
        answer = await self.call(method, params, options, deadline=deadline)
        return parsed(kind, answer.message["result"], answer)


def parsed(kind: type[M], value: Any, answer: Answer) -> M:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise ProtocolError(
            f"The answer is no {kind.__name__}: {error.error_count()} of its members do not fit.", request_id=answer.request_id
        ) from None


def without_nothing(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}
