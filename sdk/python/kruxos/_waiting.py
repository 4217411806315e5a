"""Waiting for what a person or a service does: by events, and over every absence of the host."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

from ._clock import Deadline
from ._core import Core
from ._rpc import is_for_now
from ._settings import Options
from .errors import CallTimeout, ConnectionFailed, ConnectionLost, KruxOSError
from .models import Event

T = TypeVar("T")
AT_LEAST = 10.0
"""Seconds that the first look may take, however short the wait."""


async def states(
    core: Core,
    options: Options,
    timeout: float | None,
    wants: Callable[[Event], bool],
    look: Callable[[Deadline], Awaitable[T]],
    *,
    told: Callable[[Event], T | None] = lambda event: None,
    is_last: Callable[[T], bool],
) -> AsyncGenerator[T, None]:
    """How something stands now, and whenever that has changed, until `is_last` or the time is over.

    Where an event does not tell it (`told`), and where events were missed, it is looked up. Nothing is kept but the newest state.
    """
    end = core.deadline(timeout)
    first = core.deadline(None if timeout is None else max(timeout, AT_LEAST))
    with core.events.listener(wants) as listener:
        await patiently(core, options, first, lambda by: core.events.subscribe(listener, options, by))
        state = await patiently(core, options, first, look)
        yield state
        while not is_last(state):
            try:
                event = await end.finish(listener.get())
            except TimeoutError:
                return
            heard = None if event.missed else told(event)
            try:
                changed = heard if heard is not None else await patiently(core, options, end, look)
            except KruxOSError as error:
                if not passes(error):
                    raise
                return  # it was tried until the end
            if changed != state:
                state = changed
                yield state


async def patiently(core: Core, options: Options, end: Deadline, ask: Callable[[Deadline], Awaitable[T]]) -> T:
    """Asks again where the host is away, or cannot tell just now, until `end`; one that was never there is not waited for."""
    for failures in itertools.count(1):
        try:
            return await ask(end.sooner(options.timeout))
        except KruxOSError as error:
            rest = core.settings.backoff.delay(failures)
            if not passes(error) or not core.channel.was_connected or not end.allows(rest):
                raise
            await core.settings.clock.sleep(rest)
    raise AssertionError


def passes(error: KruxOSError) -> bool:
    """Whether it may be over in a while."""
    if isinstance(error, ConnectionFailed):
        return error.retryable
    return isinstance(error, ConnectionLost | CallTimeout) or is_for_now(error)
