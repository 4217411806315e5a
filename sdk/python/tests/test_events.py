"""Events, their resumption, and what waits for them, with a host in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes import EventfulHost, FakeConnection, settle

from kruxos import AsyncKruxOS, KruxOS
from kruxos._events import Listener
from kruxos.errors import CallTimeout, ClientClosed, ServiceUnavailable, WriteCancelled, WriteFailed


async def waiting(agent: AsyncKruxOS, timeout: float | None = None) -> asyncio.Task[Any]:
    task = asyncio.create_task(agent.write("w_1").sent(timeout))
    await settle()
    return task


async def test_a_write_is_waited_for_by_its_events() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        sent = await waiting(agent)
        host.happens("executing")
        await settle()
        assert not sent.done() and host.looks == 1
        host.happens("completed", result={"message_id": "m"})
        status = await sent
        assert status.sent and status.result == {"message_id": "m"} and host.looks == 2


async def test_what_was_missed_is_told_after_a_lost_connection() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        sent = await waiting(agent)
        host.happens("executing")
        await settle()
        host.last.cut()
        host.happens("completed", tell=False)
        await settle()
        await host.clock.advance(1)
        assert (await sent).sent
        assert host.subscriptions == [{}, {"after": "1"}]


async def test_where_nothing_can_be_told_any_more_it_is_looked_up() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        sent = await waiting(agent)
        host.keeps = False
        host.last.cut()
        host.happens("completed", tell=False)
        await settle()
        await host.clock.advance(1)
        assert (await sent).sent and host.looks == 2


async def test_a_connection_lost_again_before_it_went_on_goes_on_behind_the_same_event() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        sent = await waiting(agent)
        host.happens("executing")
        await settle()
        host.hear = host.hear_only
        host.last.cut()
        for _ in range(3):
            await settle()
            await host.clock.advance(8)
            host.last.cut()
        host.hear = host.answer_as_host
        host.happens("completed", tell=False)
        await settle()
        await host.clock.advance(8)
        assert (await sent).sent
        assert {params.get("after") for params in host.subscriptions[1:]} == {"1"}


@pytest.mark.parametrize(
    ("status", "error", "raised"),
    [
        ("cancelled", None, WriteCancelled),
        ("failed", {"type": "ChannelNotFound", "message": "Gone."}, Exception),
        ("failed", None, WriteFailed),
    ],
)
async def test_a_write_that_never_happens_is_raised(status: str, error: Any, raised: type[Exception]) -> None:
    host = EventfulHost()
    async with host.client() as agent:
        sent = await waiting(agent)
        host.happens(status, **({"error": error} if error else {}))
        with pytest.raises(raised, match="Gone" if error else status):
            await sent


async def test_waiting_ends_with_its_time() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        sent = await waiting(agent, timeout=30)
        await host.clock.advance(30)
        with pytest.raises(CallTimeout, match="buffered"):
            await sent


async def test_several_listen_to_what_they_chose_over_one_subscription() -> None:
    host = EventfulHost()
    async with host.client() as agent, agent.events(["write.status"], prefix="slack.") as slack:
        async with agent.events(["write.status"], prefix="email.") as email, agent.events() as everything:
            host.happens("executing")
            host.last.tell({"jsonrpc": "2.0", "method": "capabilities.changed", "params": {"event_id": "2"}})
            await settle()
            first = await anext(slack)
            assert first.write is not None and first.write.status == "executing"
            assert [(await anext(everything)).method for _ in range(2)] == ["write.status", "capabilities.changed"]
            waiting_for_mail = asyncio.create_task(email.get())
            await settle()
            assert not waiting_for_mail.done()
            waiting_for_mail.cancel()
        assert host.subscriptions == [{}]


async def test_who_takes_no_events_is_told_that_he_missed_some() -> None:
    host = EventfulHost()
    async with host.client() as agent, agent.events() as events:
        for _ in range(Listener.MOST + 1):
            host.happens("executing")
            await settle()
        assert (await anext(events)).missed
        host.happens("completed")
        assert (await anext(events)).method == "write.status"


async def test_listening_ends_with_the_client_and_with_a_refusal() -> None:
    host = EventfulHost()
    agent = await host.client()
    async with agent.events() as events:
        waits = asyncio.create_task(events.get())
        await settle()
        await agent.close()
        with pytest.raises(ClientClosed):
            await waits
    host = EventfulHost()
    async with host.client(max_retries=0) as agent:

        async def refuse(connection: FakeConnection, message: dict[str, Any]) -> None:
            connection.refuse(message, -32000, "Not now.", type="ServiceUnavailable", retryable=True)

        host.hear = refuse
        with pytest.raises(ServiceUnavailable):
            async with agent.events():
                pass


async def test_an_idle_client_is_not_connected_again_until_it_is_used() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        async with agent.events():
            pass
        host.last.cut()
        await settle()
        await host.clock.advance(60)
        assert len(host.connections) == 1
        await agent.call("x")
        assert len(host.connections) == 2 and host.subscriptions == [{}]


def test_blocking_callers_hear_events_too() -> None:
    host = EventfulHost()

    async def complete() -> None:
        host.happens("completed")

    with KruxOS.connect(transport=host) as agent:
        changes = agent.write("w_1").changes()
        assert next(changes).status == "buffered"
        agent._portal.run(complete())
        assert [status.status for status in changes] == ["completed"]
