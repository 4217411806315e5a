"""What waits while the host is away for long, with a host in memory."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import EventfulHost, FakeConnection, FakeHost, begun, settle

from kruxos import AsyncKruxOS
from kruxos._transport import _refusal
from kruxos.errors import CallTimeout, ConnectionFailed, NotAuthenticated

HOUR = 3600


async def away(host: FakeHost, seconds: int) -> None:
    """Nobody answers for so long; then the next connection is made."""
    host.last.cut()
    host.refuse_next(10_000)
    await settle()
    for _ in range(seconds // 8):
        await host.clock.advance(8)
    host.refusals = []
    await host.clock.advance(8)
    await host.clock.advance(8)


def waits_of(agent: AsyncKruxOS, what: str) -> Any:
    return agent.approvals.wait("w_1", timeout=None) if what == "approval" else agent.write("w_1").sent()


def waited_for(host: EventfulHost, what: str) -> None:
    host.status["status"] = "pending_approval" if what == "approval" else "buffered"


@pytest.mark.parametrize("what", ["approval", "write"])
async def test_waiting_goes_over_an_hour_s_absence_after_which_nothing_is_told(what: str) -> None:
    host = EventfulHost()
    waited_for(host, what)
    async with host.client() as agent:
        waits = await begun(waits_of(agent, what))
        host.keeps = False
        host.happens("completed", tell=False)
        await away(host, HOUR)
        assert (await waits) and host.looks == 2
        assert host.subscriptions == [{}, {"after": "0"}]


@pytest.mark.parametrize("what", ["approval", "write"])
async def test_waiting_begins_while_the_host_is_away(what: str) -> None:
    host = EventfulHost()
    waited_for(host, what)
    async with host.client(timeout=5) as agent:
        host.happens("completed", tell=False)
        host.last.cut()
        await settle()
        host.refuse_next(10_000)
        waits = await begun(waits_of(agent, what))
        for _ in range(HOUR // 8):
            await host.clock.advance(8)
        assert not waits.done()
        host.refusals = []
        for _ in range(4):
            await host.clock.advance(8)
        assert await waits


@pytest.mark.parametrize("what", ["approval", "write"])
async def test_a_look_that_is_lost_again_and_again_is_made_again(what: str) -> None:
    host = EventfulHost()
    waited_for(host, what)
    async with host.client(max_retries=0) as agent:
        waits = await begun(waits_of(agent, what))
        host.keeps = False

        async def lose_looks(connection: FakeConnection, message: dict[str, Any]) -> None:
            if message["method"] == "events.subscribe":
                await host.answer_as_host(connection, message)
            else:
                connection.cut()

        host.hear = lose_looks
        host.last.cut()
        for _ in range(20):
            await settle()
            await host.clock.advance(8)
        assert not waits.done() and len(host.connections) > 10
        host.happens("completed", tell=False)
        host.hear = host.answer_as_host
        for _ in range(4):
            await host.clock.advance(8)
        assert await waits


async def test_a_subscription_that_is_never_answered_is_no_reason_to_wait_for_ever() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        sent = await begun(agent.write("w_1").sent())

        async def subscribe_nobody(connection: FakeConnection, message: dict[str, Any]) -> None:
            if message["method"] != "events.subscribe":
                await host.answer_as_host(connection, message)

        host.hear = subscribe_nobody
        host.last.cut()
        await settle()
        host.happens("completed", tell=False)
        await host.clock.advance(60)
        assert (await sent).sent


async def test_an_hour_s_absence_is_missed_once() -> None:
    host = EventfulHost()
    got = []

    async def collect(events: Any) -> None:
        async for event in events:
            got.append(event.method)

    async with host.client() as agent, agent.events() as events:
        collecting = await begun(collect(events))
        host.keeps = False
        host.hear = host.hear_only
        host.last.cut()
        await settle()
        await host.clock.advance(1)
        assert len(host.subscriptions) == 2
        await away(host, HOUR)  # from before the subscription went on
        host.hear = host.answer_as_host
        host.last.cut()
        await settle()
        await host.clock.advance(8)
        host.happens("completed")
        await settle()
        assert got == ["missed", "write.status"]
        collecting.cancel()


async def test_a_subscription_that_is_refused_for_now_is_asked_for_again() -> None:
    host = EventfulHost()
    async with host.client(max_retries=0) as agent:
        sent = await begun(agent.write("w_1").sent())

        async def refuse(connection: FakeConnection, message: dict[str, Any]) -> None:
            connection.refuse(message, -32000, "Too many.", type="RateLimited", retryable=True, retry_after=3)

        host.hear = refuse
        host.last.cut()
        await settle()
        for _ in range(10):
            await host.clock.advance(8)
        host.hear = host.answer_as_host
        await host.clock.advance(8)
        host.happens("completed")
        assert (await sent).sent


async def test_a_connection_that_only_subscribes_is_made_again_after_longer_rests() -> None:
    host = EventfulHost()
    async with host.client() as agent, agent.events():

        async def close_behind_it(connection: FakeConnection, message: dict[str, Any]) -> None:
            await host.answer_as_host(connection, message)
            connection.cut()

        host.hear = close_behind_it
        host.last.cut()
        await settle()
        for rest in (1, 2, 4, 8, 8):
            connections = len(host.connections)
            assert rest in host.clock.sleeping()
            await host.clock.advance(rest)
            assert len(host.connections) == connections + 1


async def test_who_begins_to_listen_without_a_connection_hears_what_follows_and_nothing_before() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        async with agent.events():
            pass
        host.last.cut()
        host.happens("executing", tell=False)
        await settle()
        async with agent.events() as events:
            host.happens("completed")
            assert (await anext(events)).params["status"] == "completed"
        assert host.subscriptions == [{}, {}]


async def test_an_approval_is_waited_for_by_events_and_not_by_questions() -> None:
    host = EventfulHost()
    waited_for(host, "approval")
    async with host.client(max_in_flight=1) as agent:
        decided = await begun(agent.approvals.wait("w_1", timeout=2 * HOUR))
        for _ in range(40):  # given up again and again: the one place at the host is free all the same
            given_up = await begun(agent.approvals.wait("w_1"))
            given_up.cancel()
        await settle()
        await host.clock.advance(HOUR)
        assert len(host.messages) == 2 + 40  # each looked once; one subscription
        assert len(agent._core.events._listeners) == 1
        host.last.tell({"jsonrpc": "2.0", "method": "write.status", "params": {"write_id": "w_2", "status": "buffered", "event_id": "1"}})
        await settle()
        assert not decided.done() and len(host.messages) == 42
        host.happens("buffered")
        assert (await decided).resolved and len(host.messages) == 43


async def test_an_approval_that_does_not_come_in_time_is_told_as_it_stands() -> None:
    host = EventfulHost()
    waited_for(host, "approval")
    async with host.client() as agent:
        decided = await begun(agent.approvals.wait("w_1", timeout=30))
        await host.clock.advance(29)
        assert not decided.done()
        await host.clock.advance(1)
        assert not (await decided).resolved
        at_once = await begun(agent.approvals.wait("w_1", timeout=0))
        await host.clock.advance(0)
        assert not (await at_once).resolved
        decided = await begun(agent.approvals.wait("w_1", timeout=30))
        host.refuse_next(10_000)
        host.last.cut()
        await settle()
        for _ in range(4):
            await host.clock.advance(8)
        assert not (await decided).resolved


async def test_a_host_that_is_away_is_not_waited_for_longer_than_said() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        host.refuse_next(10_000)
        host.last.cut()
        await settle()
        sent = await begun(agent.write("w_1").sent(timeout=1))
        for _ in range(10):
            await host.clock.advance(1)
        with pytest.raises(ConnectionFailed, match="No host answers"):
            await sent


async def test_a_host_that_was_never_there_is_not_waited_for() -> None:
    host = FakeHost()
    host.refuse_next(10_000)
    agent = host.client(max_retries=0)._client  # which connects with its first call
    with pytest.raises(ConnectionFailed):
        await agent.approvals.wait("w_1", timeout=None)


async def test_a_key_that_ends_ends_waiting() -> None:
    host = EventfulHost()
    async with host.client() as agent:
        sent = await begun(agent.write("w_1").sent())
        host.refusals = [NotAuthenticated.of("NotAuthenticated", "The key has ended.")]
        host.last.cut()
        with pytest.raises(NotAuthenticated):
            await sent


@pytest.mark.parametrize(
    ("status", "retryable"), [(429, True), (500, True), (502, True), (503, True), (504, True), (403, False), (404, False)]
)
def test_a_proxy_whose_host_is_away_is_tried_again(status: int, retryable: bool) -> None:
    error = _refusal(status, "kruxos.example")
    assert isinstance(error, ConnectionFailed) and error.retryable is retryable


async def test_one_deadline_is_over_a_call_and_the_session_that_it_needs() -> None:
    host = FakeHost()

    async def hear(connection: FakeConnection, message: dict[str, Any]) -> None:
        if message["method"] == "session.create":
            host.clock.time += 4
            connection.answer(message, {"session_id": "sess_1"})

    host.hear = hear
    agent = await host.client(agent_name="me", timeout=5)
    call = await begun(agent.call("x"))
    await host.clock.advance(1)
    with pytest.raises(CallTimeout, match="within 5 seconds"):
        await call
    host.hear = host.answer_all
    await agent.close()
