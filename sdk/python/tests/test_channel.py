"""What is lost, late or taken back, with a host in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes import AheadClock, FakeConnection, FakeHost, ManualClock, settle

from kruxos import KruxOS
from kruxos._clock import Deadline, SystemClock
from kruxos.errors import (
    CallTimeout,
    ClientClosed,
    ConfigurationError,
    ConnectionFailed,
    ConnectionLost,
    NotAuthenticated,
)

ClockOf = type[ManualClock] | type[AheadClock]
by_both_clocks = pytest.mark.parametrize("clock_of", [ManualClock, AheadClock])


async def test_a_lost_call_is_sent_again_under_its_key() -> None:
    fake = FakeHost()
    fake.hear = fake.hear_only
    async with fake.client() as agent:
        call = asyncio.create_task(agent.call("slack.send", text="hi"))
        await settle()
        fake.last.cut()
        await settle()
        await fake.clock.advance(1)  # nothing had been heard of that connection
        assert len(fake.connections) == 2 and fake.messages[0] == fake.messages[1]
        fake.last.answer(fake.messages[1], {"success": True, "data": {"write_id": "w_1"}})
        result = await call
        assert result["write_id"] == "w_1" and result.idempotency_key == fake.keys[0]


async def test_a_call_is_lost_for_good_after_its_retries() -> None:
    fake = FakeHost()
    fake.hear = fake.hear_only
    async with fake.client(max_retries=1) as agent:
        call = asyncio.create_task(agent.call("slack.send", idempotency_key="mine"))
        for _ in range(2):
            await settle()
            fake.last.cut()
            await settle()
            await fake.clock.advance(8)
        with pytest.raises(ConnectionLost) as caught:
            await call
        assert caught.value.may_have_happened and caught.value.idempotency_key == "mine" and fake.keys == ["mine", "mine"]


@pytest.mark.parametrize("name", ["proxy.edit_write", "proxy.rollback", "proxy.cancel_write", "slack.cancel"])
async def test_a_decision_is_not_sent_twice(name: str) -> None:
    fake = FakeHost()
    fake.hear = fake.hear_only
    async with fake.client() as agent:
        call = asyncio.create_task(agent.call(name, write_id="w_1"))
        await settle()
        fake.last.cut()
        with pytest.raises(ConnectionLost):
            await call
        assert len(fake.messages) == 1


async def test_a_cancellation_whose_answer_is_lost_is_looked_up() -> None:
    fake = FakeHost()
    asked = []

    async def hear(connection: FakeConnection, message: dict[str, Any]) -> None:
        asked.append(message["params"]["capability"])
        if asked[-1] == "proxy.cancel_write":
            connection.cut()
        else:
            connection.answer(message, {"success": True, "data": {"write_id": "w_1", "status": "cancelled"}})

    fake.hear = hear
    async with fake.client() as agent:
        call = asyncio.create_task(agent.write("w_1").cancel())
        await settle()
        await fake.clock.advance(1)
        assert (await call)["status"] == "cancelled" and asked == ["proxy.cancel_write", "proxy.write_status"]


async def test_reconnecting_waits_longer_each_time_and_until_the_calls_end() -> None:
    fake = FakeHost()
    async with fake.client() as agent:
        await agent.call("x")
        fake.last.cut()
        await settle()
        fake.refuse_next(100)
        call = asyncio.create_task(agent.call("slack.channels"))
        await settle()
        for seconds in (1, 2, 4, 8, 8):
            assert seconds in fake.clock.sleeping()
            await fake.clock.advance(seconds)
        fake.refusals = []
        await fake.clock.advance(8)
        assert (await call).success
        call = asyncio.create_task(agent.call("slack.channels"))
        fake.refuse_next(100)
        fake.last.cut()
        fake.hear = fake.hear_only
        await settle()
        for _ in range(20):
            await fake.clock.advance(8)
        with pytest.raises((CallTimeout, ConnectionFailed)):
            await call


async def test_the_first_connection_is_not_tried_for_ever() -> None:
    fake = FakeHost()
    fake.refuse_next(3)
    connecting = asyncio.create_task(fake.client(max_retries=1)._open())
    await settle()
    await fake.clock.advance(1)
    with pytest.raises(ConnectionFailed, match="No host answers"):
        await connecting
    assert len(fake.refusals) == 1


async def test_a_key_that_has_ended_ends_what_waits() -> None:
    fake = FakeHost()
    fake.hear = fake.hear_only
    async with fake.client() as agent:
        calls = [asyncio.create_task(agent.call("x")) for _ in range(3)]
        await settle()
        fake.refusals = [NotAuthenticated.of("NotAuthenticated", "The key has ended.")]
        fake.last.cut(1008)
        await settle()
        await fake.clock.advance(1)
        for result in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(result, NotAuthenticated)


@by_both_clocks
async def test_a_call_ends_with_its_time_and_keeps_its_place_at_the_host(clock_of: ClockOf) -> None:
    fake = FakeHost(clock_of())
    fake.hear = fake.hear_only
    async with fake.client(timeout=5, max_in_flight=1) as agent:
        first = asyncio.create_task(agent.call("slow"))
        await settle()
        await fake.clock.advance(5)
        with pytest.raises(CallTimeout) as caught:
            await first
        assert caught.value.may_have_happened and caught.value.request_id == fake.messages[0]["id"]
        second = asyncio.create_task(agent.call("next"))
        await settle()
        assert len(fake.messages) == 1  # the host is still at the first one
        fake.last.answer(fake.messages[0], {"success": True, "data": {"first": True}})
        await settle()
        assert len(fake.messages) == 2 and not second.done()
        fake.last.answer(fake.messages[1], {"success": True, "data": {"second": True}})
        assert (await second)["second"] and len(fake.connections) == 1


@by_both_clocks
async def test_a_caller_that_is_cancelled_ends_at_once_and_its_call_keeps_its_place(clock_of: ClockOf) -> None:
    fake = FakeHost(clock_of())
    fake.hear = fake.hear_only
    async with fake.client(timeout=5, max_in_flight=1) as agent:
        first = asyncio.create_task(agent.call("slow"))
        await settle()
        first.cancel()
        await settle()
        assert first.cancelled()
        second = asyncio.create_task(agent.with_options(timeout=60).call("next"))
        await fake.clock.advance(5)  # whatever rings for the first one then, nobody waits for it
        assert len(fake.messages) == 1 and not second.done()
        fake.last.answer(fake.messages[0], {"success": True, "data": {"first": True}})
        await settle()
        fake.last.answer(fake.messages[1], {"success": True, "data": {"second": True}})
        assert (await second)["second"] and len(fake.connections) == 1


async def test_by_the_systems_clock_what_is_waited_for_goes_on_behind_the_wait() -> None:
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with pytest.raises(TimeoutError):
        await Deadline(SystemClock(), 0.0).wait(answer)
    waiting = asyncio.create_task(Deadline(SystemClock(), 60.0).wait(answer))
    await settle()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not answer.done()
    waiting = asyncio.create_task(Deadline(SystemClock(), 60.0).wait(answer))
    await settle()
    answer.set_result(5)
    assert await waiting == 5


async def test_by_the_systems_clock_a_call_that_waits_for_its_place_is_given_up_in_time() -> None:
    fake = FakeHost()
    fake.hear = fake.hear_only
    async with fake.client(clock=SystemClock(), max_in_flight=1) as agent:
        at_the_host = asyncio.create_task(agent.call("first"))
        await settle()
        with pytest.raises(CallTimeout) as late:
            await agent.with_options(timeout=1e-6).call("second")
        assert not late.value.may_have_happened
        fake.last.answer(fake.messages[0], {"success": True, "data": {}})
        await at_the_host
        await settle()
        assert [message["params"]["capability"] for message in fake.messages] == ["first"]


@by_both_clocks
async def test_what_was_never_sent_has_not_happened(clock_of: ClockOf) -> None:
    fake = FakeHost(clock_of())
    fake.hear = fake.hear_only
    async with fake.client(timeout=5, max_in_flight=1) as agent:
        first = asyncio.create_task(agent.with_options(timeout=None).call("slow"))
        await settle()
        second = asyncio.create_task(agent.call("next"))
        await settle()
        await fake.clock.advance(5)
        with pytest.raises(CallTimeout) as caught:
            await second
        assert not caught.value.may_have_happened
        first.cancel()
        await settle()
        assert first.cancelled() and len(fake.messages) == 1


@by_both_clocks
async def test_a_cancelled_call_that_waits_is_not_sent(clock_of: ClockOf) -> None:
    fake = FakeHost(clock_of())
    fake.hear = fake.hear_only
    async with fake.client(max_in_flight=1) as agent:
        calls = [asyncio.create_task(agent.call(f"c{n}")) for n in range(3)]
        await settle()
        calls[1].cancel()
        await settle()
        for at in range(2):
            fake.last.answer(fake.messages[at], {"success": True, "data": {}})
            await settle()
        assert [m["params"]["capability"] for m in fake.messages] == ["c0", "c2"]
        await asyncio.gather(*calls, return_exceptions=True)


async def test_no_more_is_under_way_than_the_client_allows() -> None:
    fake = FakeHost()
    fake.hear = fake.hear_only
    async with fake.client(max_in_flight=4) as agent:
        calls = [asyncio.create_task(agent.call("x")) for _ in range(10)]
        await settle()
        for at in range(10):
            assert len(fake.messages) == min(10, at + 4)
            fake.last.answer(fake.messages[at], {"success": True, "data": {}})
            await settle()
        await asyncio.gather(*calls)


async def test_a_session_that_has_ended_is_made_anew() -> None:
    fake = FakeHost()
    sessions: list[str] = []

    async def hear(connection: FakeConnection, message: dict[str, Any]) -> None:
        if message["method"] == "session.create":
            sessions.append(f"sess_{len(sessions)}")
            assert message["params"] == {"agent_name": "me", "purpose": "tests"}
            connection.answer(message, {"session_id": sessions[-1]})
        elif message["method"] == "session.end":
            connection.answer(message, {"ended": True})
        elif message["params"]["session_id"] == "sess_0":
            connection.answer(message, {"success": False, "error": {"type": "SessionExpired", "message": "It has ended."}})
        else:
            connection.answer(message, {"success": True, "data": {}})

    fake.hear = hear
    async with fake.client(agent_name="me", purpose="tests") as agent:
        assert all(result.success for result in await asyncio.gather(agent.call("x"), agent.call("y")))
        assert sessions == ["sess_0", "sess_1"]
    assert fake.messages[-1]["params"] == {"session_id": "sess_1"}


async def test_closing_ends_what_waits_and_what_follows() -> None:
    fake = FakeHost()
    fake.hear = fake.hear_only
    agent = await fake.client()
    call = asyncio.create_task(agent.call("x"))
    await settle()
    await agent.close()
    await agent.close()
    for waits in (call, agent.call("x")):
        with pytest.raises(ClientClosed):
            await waits
    assert fake.last.closed


async def test_a_connection_that_is_closed_at_once_is_closed() -> None:
    fake = FakeHost()
    async with fake.client():
        pass
    assert fake.last.closed


async def test_what_is_no_json_or_too_large_is_not_sent() -> None:
    fake = FakeHost()
    async with fake.client() as agent:
        for value in (object(), float("nan"), "x" * (1 << 20), "\ud800"):
            with pytest.raises(ConfigurationError):
                await agent.call("x", text=value)
        with pytest.raises(ConfigurationError, match="given twice"):
            await agent.call("x", {"text": 1}, text=2)
        assert not fake.messages


def test_a_client_of_one_loop_says_so_in_another() -> None:
    fake = FakeHost()

    async def connected() -> Any:
        agent = await fake.client()
        await agent.call("x")
        return agent

    async def uses(agent: Any) -> None:
        with pytest.raises(ConfigurationError, match="another event loop"):
            await agent.call("x")

    asyncio.run(uses(asyncio.run(connected())))


def test_a_sync_client_is_used_from_two_loops_and_threads() -> None:
    fake = FakeHost()

    async def several(agent: KruxOS) -> None:
        assert (await agent.call_async("x")).success
        assert agent.call("y").success  # blocks this loop, and needs nothing of it
        assert (await asyncio.to_thread(agent.call, "z")).success

    with KruxOS.connect(transport=fake) as agent:
        asyncio.run(several(agent))
        asyncio.run(several(agent))
    assert len(fake.messages) == 6 and len(fake.connections) == 1


def test_a_sync_call_in_the_client_s_own_loop_is_refused_instead_of_waiting_for_ever() -> None:
    fake = FakeHost()
    with KruxOS.connect(transport=fake) as agent:

        async def inside() -> None:
            agent.call("x")

        with pytest.raises(ConfigurationError, match="wait for itself"):
            agent._portal.run(inside())
