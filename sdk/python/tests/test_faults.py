"""The real host, killed, cut off, slow, and no longer willing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from emulated import EmulatedHost
from proxy import CuttingProxy

from kruxos import AsyncKruxOS, Backoff, KruxOS
from kruxos._clock import SystemClock
from kruxos.errors import CallTimeout, ConnectionFailed, NotAuthenticated
from kruxos.testing import Installation, MockHost

AT_ONCE = Backoff(first=0.0)
LATE: dict[str, Any] = {"delay_seconds": 60}


class GatedClock(SystemClock):
    """Whoever waits to try again waits for the test."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.waits = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if seconds != 0.123:
            return await super().sleep(seconds)
        self.waits.set()
        await self.gate.wait()


@pytest.mark.kruxos(services={"slack": {"rules": [{"call": "read", "operation": "slack.channels", "hang": True, "times": 1},
                                                   {"call": "read", "answer": {"channels": [], "total": 0}}]}})  # fmt: skip
async def test_a_host_that_is_killed_during_a_call_answers_it_when_it_is_there_again(kruxos_host: MockHost) -> None:
    clock = GatedClock()
    backoff = Backoff(0.123, 0.123, lambda: 1.0)
    async with kruxos_host.connect_async(clock=clock, backoff=backoff) as agent, agent.events() as events:
        call = asyncio.create_task(agent.call("slack.channels"))
        await agent.call("agent.whoami")  # behind it: the host has the first one
        kruxos_host.kill()
        await clock.waits.wait()
        kruxos_host.start()
        clock.gate.set()
        kruxos_host.script("slack", {"rules": [{"call": "read", "answer": {"channels": [], "total": 0}}]})
        assert (await call)["total"] == 0
        assert (await anext(events)).missed  # what a restart ends is said


@pytest.mark.kruxos(**LATE)
async def test_a_write_and_an_approval_outlive_a_kill(kruxos_host: MockHost) -> None:
    clock = GatedClock()
    async with kruxos_host.connect_async(clock=clock, backoff=Backoff(0.123, 0.123, lambda: 1.0)) as agent:
        results = [await agent.call("slack.send", channel="general", text=f"n {n}", raise_on_error=False) for n in range(11)]
        asked = results[10].error
        assert asked is not None and asked.type == "ApprovalRequired"
        approval = asked.context["write_id"]
        decided = asyncio.create_task(agent.approvals.wait(approval))
        ended = asyncio.create_task(agent.write(results[0]).ended())
        await agent.call("agent.whoami")
        kruxos_host.kill()
        await clock.waits.wait()
        kruxos_host.start()
        clock.gate.set()
        assert (await agent.write(results[0]).status()).status == "buffered"
        await asyncio.to_thread(kruxos_host.operator, "approve", "reject", approval, "--reason", "Too many.", "--yes")
        status = await decided
        assert status.resolved and not status.approved and (status.reason or "").endswith("Too many.")
        await agent.write(results[0]).cancel()
        assert (await ended).status == "cancelled"


async def everything(agent: AsyncKruxOS, run: int) -> None:
    """A write that is made, listened to and taken back, whatever happens to the connection."""
    result = await agent.call("slack.send", channel="general", text=f"run {run}")
    ended = asyncio.create_task(agent.write(result).ended())
    await agent.capabilities.list(category="slack")
    assert (await agent.write(result).cancel())["status"] == "cancelled"
    assert (await ended).status == "cancelled"
    assert [write.write_id async for write in agent.writes()] == [result["write_id"]]


async def test_a_connection_that_is_cut_at_any_message_loses_nothing_and_doubles_nothing(
    kruxos_installation: Installation,
) -> None:
    run = 0
    with MockHost(installation=kruxos_installation, delay_seconds=60) as host:
        port = int(host.address.split(":")[1])
        for to_host, passes_it in [(True, False), (True, True), (False, False), (False, True)]:
            pieces, made_again = 1, 0
            while True:
                run += 1
                key = await asyncio.to_thread(host.new_key, f"agent-{run}")  # a channel takes ten messages an hour of each
                async with CuttingProxy(port, to_host, pieces, passes_it) as proxy:
                    async with KruxOS.connect_async(proxy.address, api_key=key, backoff=AT_ONCE) as agent:
                        await everything(agent, run)
                        cut, connections = proxy.done, proxy.connections
                    if not proxy.done:
                        assert connections == 1
                        break  # the run has fewer pieces
                    # What was not passed on was needed, and came over another connection; behind the run nothing was.
                    assert connections == 2 if cut and not passes_it else connections <= 2
                    made_again += connections - 1
                pieces += 1
            assert pieces > 6 and made_again > 4
        assert host.journal("slack") == []


@pytest.mark.parametrize(("to_host", "passes_it"), [(True, False), (True, True), (False, False), (False, True)])
async def test_an_undo_whose_connection_is_cut_is_one_undo(host: EmulatedHost, to_host: bool, passes_it: bool) -> None:
    key, channel = await asyncio.to_thread(host.new_agent)
    async with CuttingProxy(int(host.address.split(":")[1])) as proxy:
        async with KruxOS.connect_async(proxy.address, api_key=key, backoff=AT_ONCE) as agent:
            write = agent.write(await agent.call("slack.send", channel=channel, text="to be undone"))
            await write.sent(timeout=60)
            proxy.cut_next(to_host=to_host, passes_it=passes_it)
            undone = await write.undo()
            assert proxy.done and (undone["status"], undone["undoes"]) == ("ok", write.write_id)
            undos = [one.write_id async for one in agent.writes() if (one.model_extra or {}).get("undoes") == write.write_id]
            assert undos == [undone["write_id"]] and (await write.status()).status == "rolled_back"


async def test_a_key_that_is_revoked_ends_what_the_agent_does(kruxos_host: MockHost) -> None:
    key = await asyncio.to_thread(kruxos_host.new_key, "short")
    async with kruxos_host.connect_async(api_key=key, backoff=AT_ONCE) as agent, agent.events() as events:
        await asyncio.to_thread(kruxos_host.operator, "agent", "revoke", "short", "--yes")
        with pytest.raises(NotAuthenticated):
            await anext(events)
        with pytest.raises(NotAuthenticated):
            await agent.call("agent.whoami")
        with pytest.raises(NotAuthenticated, match="rotated or revoked"):
            await kruxos_host.connect_async(api_key=key)


@pytest.mark.kruxos(services={"slack": {"rules": [{"call": "read", "hang": True}]}})
async def test_a_slow_host_is_waited_for_no_longer_than_said(kruxos_host: MockHost) -> None:
    async with kruxos_host.connect_async() as agent:
        with pytest.raises(CallTimeout) as caught:
            await agent.with_options(timeout=0.05).call("slack.channels")
        assert caught.value.may_have_happened and caught.value.request_id
        assert (await agent.call("agent.whoami"))["name"] == "tester"


async def test_nothing_that_answers_is_no_host(kruxos_host: MockHost) -> None:
    with pytest.raises(ConnectionFailed, match="is kruxosd running"):
        await KruxOS.connect_async("127.0.0.1:1", api_key="k", max_retries=0)
    ports = (kruxos_host.directory / "data" / "ports.json").read_text()
    health = ports.split('"health":')[1].split(",")[0].split("}")[0].strip()
    with pytest.raises(ConnectionFailed, match="agents' port"):
        await KruxOS.connect_async(f"127.0.0.1:{health}", api_key="k", max_retries=0)
