"""Answers that are garbage, refusals or none, with a host in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes import FakeConnection, FakeHost, settle

from kruxos.errors import (
    InvalidInput,
    ProtocolError,
    RateLimited,
    ServiceUnavailable,
)


GARBAGE = [
    "no JSON", "[]", "null", "{}", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":7,"result":{}}', "[" * 100_000,
    '{"jsonrpc":"2.0","method":3}', '{"jsonrpc":"2.0","method":"x","params":[1]}', '{"jsonrpc":"2.0","id":"ID","result":{},"error":{}}',
    '{"jsonrpc":"2.0","id":"ID","error":"no"}', '{"jsonrpc":"2.0","id":["ID"],"result":{}}',
]  # fmt: skip


@pytest.mark.parametrize("garbage", GARBAGE)
async def test_garbage_ends_the_connection_and_then_the_call(garbage: str) -> None:
    fake = FakeHost()

    async def hear(connection: FakeConnection, message: dict[str, Any]) -> None:
        connection.tell(garbage.replace("ID", message["id"]))

    fake.hear = hear
    async with fake.client(max_retries=1) as agent:
        call = asyncio.create_task(agent.call("x"))
        await settle()
        await fake.clock.advance(8)
        with pytest.raises(ProtocolError):
            await call
        assert [connection.closed for connection in fake.connections] == [True, True]
        fake.hear = fake.answer_all
        call = asyncio.create_task(agent.call("x"))
        await fake.clock.advance(8)
        assert (await call).success


@pytest.mark.parametrize(
    "result", [None, 7, [], {}, {"success": "perhaps"}, {"success": False, "error": {"message": 3}}, {"success": False}]
)
async def test_an_answer_of_another_form_is_a_protocol_error(result: Any) -> None:
    fake = FakeHost()

    async def hear(connection: FakeConnection, message: dict[str, Any]) -> None:
        connection.answer(message, result)

    fake.hear = hear
    async with fake.client() as agent:
        with pytest.raises(ProtocolError):
            await agent.call("x")


async def test_an_answer_that_nobody_waits_for_is_passed_over() -> None:
    fake = FakeHost()
    async with fake.client() as agent:
        fake.last.tell({"jsonrpc": "2.0", "id": "nobody-1", "result": {}})
        fake.last.tell({"jsonrpc": "2.0", "method": "of.tomorrow", "params": {}})
        assert (await agent.call("x")).success and len(fake.connections) == 1


async def test_a_refusal_of_nobody_knows_which_sends_all_again() -> None:
    fake = FakeHost()
    fake.hear = fake.hear_only
    async with fake.client() as agent:
        calls = [asyncio.create_task(agent.call("x")) for _ in range(2)]
        await settle()
        fake.hear = fake.answer_all
        fake.last.tell({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "No memory is left."}})
        await settle()
        await fake.clock.advance(1)
        assert all(result.success for result in await asyncio.gather(*calls)) and len(fake.connections) == 2


async def test_what_is_refused_for_now_is_asked_again_when_its_time_has_come() -> None:
    fake = FakeHost()

    async def hear(connection: FakeConnection, message: dict[str, Any]) -> None:
        if len(fake.messages) == 1:
            connection.refuse(message, -32000, "Too many.", type="RateLimited", retryable=True, retry_after=3)
        elif len(fake.messages) == 2:
            error = {"type": "ServiceUnavailable", "message": "Not now.", "retryable": True, "retry_after": 7}
            connection.answer(message, {"success": False, "error": error})
        else:
            connection.answer(message, {"success": True, "data": {}})

    fake.hear = hear
    async with fake.client() as agent:
        call = asyncio.create_task(agent.call("slack.send"))
        await settle()
        assert 3 in fake.clock.sleeping()
        await fake.clock.advance(3)
        assert 7 in fake.clock.sleeping()
        await fake.clock.advance(7)
        assert (await call).success and len(set(fake.keys)) == 1 and len(fake.messages) == 3


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ({"type": "RateLimited", "retryable": True, "retry_after": 61}, RateLimited),
        ({"type": "ServiceUnavailable", "retryable": False}, ServiceUnavailable),
        ({"type": "InvalidInput", "retryable": True}, InvalidInput),
    ],
)
async def test_what_asking_again_would_not_help_is_raised_at_once(error: dict[str, Any], raised: type[Exception]) -> None:
    fake = FakeHost()

    async def hear(connection: FakeConnection, message: dict[str, Any]) -> None:
        connection.answer(message, {"success": False, "error": {"message": "No.", **error}})

    fake.hear = hear
    async with fake.client() as agent:
        with pytest.raises(raised):
            await agent.call("x")
        result = await agent.call("x", raise_on_error=False)
        assert not result.success and result.error is not None and result.error.type == error["type"]
        with pytest.raises(KeyError):
            result["write_id"]
        assert not (await agent.with_options(raise_on_error=False).call("x")).success


async def test_pages_follow_until_there_is_no_next_or_the_same_again() -> None:
    fake = FakeHost()

    async def hear(connection: FakeConnection, message: dict[str, Any]) -> None:
        offset = message["params"]["arguments"].get("offset", 0)
        connection.answer(message, {"success": True, "data": {"at": offset, "next_offset": min(offset + 2, 4)}})

    fake.hear = hear
    async with fake.client() as agent:
        assert [page["at"] async for page in agent.pages("x", limit=2)] == [0, 2, 4]
