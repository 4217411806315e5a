"""The loop that sync clients share: one thread of the process, whoever calls and whatever loop runs there."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from .errors import ConfigurationError

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)
P = ParamSpec("P")
T = TypeVar("T")


class Portal:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.process = os.getpid()
        self._thread = threading.Thread(target=self._run, name="kruxos", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        if os.getpid() != self.process:
            work.close()
            raise ConfigurationError("This client was connected before the process was forked: connect one in each process.")
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Blocks the calling thread. Who is interrupted meanwhile takes the call back."""
        if threading.current_thread() is self._thread:
            work.close()
            raise ConfigurationError("A sync call inside the client's own loop would wait for itself: use the async client there.")
        future = self.start(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


_lock = threading.Lock()
_portal: Portal | None = None


def portal() -> Portal:
    global _portal
    with _lock:
        if _portal is None or _portal.process != os.getpid():
            _portal = Portal()
        return _portal


def in_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Blocking(Generic[A_co]):
    """For callers that block, what `twin` is for asyncio. Each method has its signature from the twin's."""

    def __init__(self, portal: Portal, twin: A_co) -> None:
        self._portal = portal
        self._twin = twin


def blocking(method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Blocking[A], P], T]:
    @wraps(method)
    def run(self: Blocking[A], /, *args: P.args, **named: P.kwargs) -> T:
        return self._portal.run(method(self._twin, *args, **named))

    return run


def at_once(method: Callable[Concatenate[A, P], T]) -> Callable[Concatenate[Blocking[A], P], T]:
    """Of one that waits for nothing: the calling thread does it."""

    @wraps(method)
    def run(self: Blocking[A], /, *args: P.args, **named: P.kwargs) -> T:
        return method(self._twin, *args, **named)

    return run


def elsewhere(
    method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Blocking[A], P], Coroutine[Any, Any, T]]:
    """For callers in a loop of their own: the portal's does it, and nothing blocks."""

    @wraps(method)
    async def run(self: Blocking[A], /, *args: P.args, **named: P.kwargs) -> T:
        return await asyncio.wrap_future(self._portal.start(method(self._twin, *args, **named)))

    return run


def stepping(method: Callable[Concatenate[A, P], AsyncIterator[T]]) -> Callable[Concatenate[Blocking[A], P], Iterator[T]]:
    """Its values as the caller asks for them."""

    @wraps(method)
    def run(self: Blocking[A], /, *args: P.args, **named: P.kwargs) -> Iterator[T]:
        return _steps(self._portal, method(self._twin, *args, **named))

    return run


def _steps(portal: Portal, source: AsyncIterator[T]) -> Iterator[T]:
    async def step() -> tuple[T] | None:
        try:
            return (await anext(source),)
        except StopAsyncIteration:
            return None

    async def end() -> None:
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()

    try:
        while (found := portal.run(step())) is not None:
            yield found[0]
    finally:
        portal.run(end())
