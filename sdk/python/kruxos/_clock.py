"""Time, how long to wait before trying again, and until when; tests drive all of it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Timer(Protocol):
    def cancel(self) -> None:
        """Nothing is called any more; where it was, nothing happens."""


class Clock(Protocol):
    """Seconds that only go forward."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """In the loop that runs now: no task need sleep beside what is waited for."""


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)


class Backoff:
    """Twice as long each time, and spread, so that many clients do not come back at the same moment."""

    def __init__(self, first: float = 0.1, longest: float = 10.0, spread: Callable[[], float] = random.random) -> None:
        self._first = first
        self._longest = longest
        self._spread = spread

    def delay(self, failures: int) -> float:
        """After so many failures in a row; nothing after none."""
        if failures <= 0:
            return 0.0
        whole = min(self._longest, self._first * 2.0 ** min(failures - 1, 30))
        return whole * (0.5 + 0.5 * self._spread())


class Deadline:
    """The end of what may take so many seconds; of None there is none."""

    def __init__(self, clock: Clock, seconds: float | None) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = None if seconds is None else clock.now() + seconds

    def left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - self._clock.now())

    def allows(self, seconds: float) -> bool:
        """Whether there is time left after so many seconds more."""
        left = self.left()
        return left is None or seconds < left

    def sooner(self, seconds: float | None) -> Deadline:
        """So many seconds from now on, and not beyond this one."""
        ends = [one for one in (self.left(), seconds) if one is not None]
        return Deadline(self._clock, min(ends, default=None))

    async def wait(self, awaited: asyncio.Future[T]) -> T:
        """What `awaited` gives, or TimeoutError; it goes on all the same then, and when the caller is cancelled."""
        left = self.left()
        if left is None:
            await asyncio.wait({awaited})
            return awaited.result()
        bell: asyncio.Future[None] = awaited.get_loop().create_future()
        both: set[asyncio.Future[Any]] = {awaited, bell}
        timer = self._clock.call_later(left, partial(_ring, bell))
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
        if not awaited.done():
            raise TimeoutError
        return awaited.result()

    async def wait_for_own(self, own: asyncio.Future[T]) -> T:
        """The same of what nobody else waits for: it may end with its caller."""
        left = self.left()
        if left is None:
            return await own
        timer = self._clock.call_later(left, partial(_give_up, own))
        try:
            return await own
        finally:
            timer.cancel()

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` gives, or TimeoutError; it does not go on then, nor when the caller is cancelled."""
        task = asyncio.ensure_future(work)
        try:
            return await self.wait(task)
        finally:
            task.cancel()


def _ring(bell: asyncio.Future[None]) -> None:
    if not bell.done():
        bell.set_result(None)


def _give_up(own: asyncio.Future[Any]) -> None:
    if not own.done():
        own.set_exception(TimeoutError())
        own.exception()  # known, also where the caller is cancelled before it hears of it
