"""What the Python SDK costs, above the same messages over a plain WebSocket to the same host, in turn.

    scripts/bench sdk [--pairs N] [--calls N]   default: 11 pairs; memory over 100,000 calls

It runs against the host of the dev preset, whose code is the release's, with what scripts/setup --peers installs.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from rows import bound, figure, header, rates, row, times, wrong
from websockets.asyncio.client import ClientConnection, connect

from kruxos import AsyncKruxOS
from kruxos.testing import Installation, MockHost

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("KRUXOS_DEMO_BUILD", ROOT / "build" / "dev"))
MOST_US = 150
AT_ONCE, PLACES = 1000, 64
LEAST_AT_ONCE, LEAST_OF_STATE, MOST_WORK = 0.9, 0.8, 1.2
MOST_GROWTH_MB = 2.0
COMPARED = 400
"""Calls of a pair, one of ours after one of the baseline's."""
VALUE = {"step": 3, "total": 10, "text": "as much as an agent notes of a page"}


class Plain:
    """The least that a client of the same host can be: one message there, its answer back."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def ask(self, text: str) -> str:
        await self._socket.send(text)
        return str(await self._socket.recv())


def message_of(capability: str, arguments: dict[str, Any], number: int = 0) -> str:
    """As the SDK sends it."""
    params = {"capability": capability, "arguments": arguments, "idempotency_key": f"{number:032x}"}
    message = {"jsonrpc": "2.0", "id": f"plain-{number}", "method": "capabilities.invoke", "params": params}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def must_succeed(answer: str) -> None:
    if '"success":true' not in answer:
        wrong(f"the host answers {answer[:300]}")


async def seconds_in_turn(ours: Callable[[int], Awaitable[None]], baseline: Callable[[int], Awaitable[None]]) -> tuple[float, float]:
    """The median of each, one of ours after one of the baseline's: what disturbs one mostly disturbs the other."""
    sdk, bare = [], []
    for n in range(COMPARED):
        begun = time.perf_counter()
        await baseline(n)
        between = time.perf_counter()
        await ours(n)
        sdk.append(time.perf_counter() - between)
        bare.append(between - begun)
    return statistics.median(sdk), statistics.median(bare)


async def cost_of_a_call(agent: AsyncKruxOS, plain: Plain, pairs: int) -> None:
    text = message_of("agent.whoami", {})

    async def call(n: int) -> None:
        if not (await agent.call("agent.whoami"))["agent_id"]:
            wrong("a call was answered with nothing")

    async def round_trip(n: int) -> None:
        must_succeed(await plain.ask(text))

    ours, theirs = [], []
    for pair in range(-1, pairs):  # the first one warms both up
        took, took_bare = await seconds_in_turn(call, round_trip)
        if pair >= 0:
            ours.append(1e6 * took)
            theirs.append(1e6 * took_bare)
    added = [one - other for one, other in zip(ours, theirs, strict=True)]
    bound("a call of the SDK, above a plain WebSocket's round trip, p50", added, "us", MOST_US)
    row("  the call; the round trip", figure(statistics.median(ours), "us"), figure(statistics.median(theirs), "us"))


async def seconds_of(calls: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """Of the clock, and of this process: a host takes 8,000 messages a second of an agent, which may be what bounds the first."""
    gc.collect()
    begun, worked = time.perf_counter(), time.process_time()
    await calls()
    return time.perf_counter() - begun, time.process_time() - worked


async def many_at_once(agent: AsyncKruxOS, pairs: int) -> None:
    async def one() -> None:
        if not (await agent.call("agent.whoami"))["agent_id"]:
            wrong("a call was answered with nothing")

    async def all_at_once() -> None:
        await asyncio.gather(*(one() for _ in range(AT_ONCE)))

    async def so_many_at_a_time() -> None:
        left = iter(range(AT_ONCE))

        async def worker() -> None:
            for _ in left:
                await one()

        await asyncio.gather(*(worker() for _ in range(PLACES)))

    ours, theirs, our_work, their_work = [], [], [], []
    for pair in range(-1, pairs):
        few, few_work = await seconds_of(so_many_at_a_time)
        many, many_work = await seconds_of(all_at_once)
        if pair >= 0:
            theirs.append(AT_ONCE / few)
            ours.append(AT_ONCE / many)
            their_work.append(1e6 * few_work / AT_ONCE)
            our_work.append(1e6 * many_work / AT_ONCE)
    rates(f"{AT_ONCE} calls at once / {PLACES} at a time", ours, theirs, LEAST_AT_ONCE)
    times("  the client's own processor time of a call", our_work, their_work, "us", MOST_WORK)


async def of_state(agent: AsyncKruxOS, plain: Plain, pairs: int) -> None:
    """What an agent notes, through the SDK and through a plain WebSocket. bench-state compares the gateway with the store."""
    notes = agent.state.persistent
    numbers = iter(range(1, 1 << 60))

    async def sdk_set(n: int) -> None:
        await notes.set(f"page-{n % 100}", VALUE)

    async def sdk_get(n: int) -> None:
        if (await notes.get(f"page-{n % 100}")).value != VALUE:
            wrong("another value is there")

    async def plain_set(n: int) -> None:
        must_succeed(await plain.ask(message_of("state.persistent.set", {"key": f"page-{n % 100}", "value": VALUE}, next(numbers))))

    async def plain_get(n: int) -> None:
        must_succeed(await plain.ask(message_of("state.persistent.get", {"key": f"page-{n % 100}"}, next(numbers))))

    for n in range(100):
        await sdk_set(n)
    for what, ours, baseline in (("set", sdk_set, plain_set), ("get", sdk_get, plain_get)):
        sdk, bare = [], []
        for pair in range(-1, pairs):
            took, took_bare = await seconds_in_turn(ours, baseline)
            if pair >= 0:
                sdk.append(1 / took)
                bare.append(1 / took_bare)
        rates(f"state.persistent.{what}, the SDK / a plain WebSocket", sdk, bare, LEAST_OF_STATE)


def resident_mb() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


async def memory(agent: AsyncKruxOS, calls: int) -> None:
    async def so_many(count: int) -> None:
        left = iter(range(count))

        async def worker() -> None:
            for _ in left:
                await agent.call("agent.whoami")

        await asyncio.gather(*(worker() for _ in range(PLACES)))
        gc.collect()

    first = calls // 10
    await so_many(first)
    before = resident_mb()
    begun = time.perf_counter()
    await so_many(calls - first)
    row("  its rate", figure((calls - first) / (time.perf_counter() - begun), "/s"))
    grown = resident_mb() - before
    bound(f"memory after {calls:,} calls, above that after {first:,}", [grown], "MB", MOST_GROWTH_MB)
    row("  RSS after them", figure(before + grown, "MB"))


async def run(host: MockHost, pairs: int, calls: int) -> None:
    key = host.new_key("bench")
    headers = {"Authorization": f"Bearer {key}"}
    header()
    async with (
        host.connect_async(api_key=key, max_in_flight=PLACES) as agent,
        connect(f"ws://{host.address}/rpc", additional_headers=headers, compression=None, proxy=None) as socket,
    ):
        plain = Plain(socket)
        await cost_of_a_call(agent, plain, pairs)
        await many_at_once(agent, pairs)
        await of_state(agent, plain, pairs)
        if calls:
            await memory(agent, calls)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--calls", type=int, default=100_000, help="whose memory is measured, up to 10,000,000; 0: none")
    arguments = parser.parse_args()
    if arguments.pairs < 1 or not 0 <= arguments.calls <= 10_000_000 or 0 < arguments.calls < 10:
        parser.error("--pairs is 1 or more, --calls 0 or 10 to 10,000,000")
    return arguments


if __name__ == "__main__":
    given = parse()
    installation = Installation(BUILD / "bin", BUILD / "tests" / "adapters" / "mock.so", ROOT / "definitions")
    with MockHost({}, installation=installation) as bench_host:
        asyncio.run(run(bench_host, given.pairs, given.calls))
