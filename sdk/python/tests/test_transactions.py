"""Transactions against the shipped host, with Slack's emulator behind it: slack.send is held, slack.react happens at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from emulated import EmulatedHost
from fakes import FakeConnection, FakeHost, begun

from kruxos import AsyncKruxOS, KruxOS, transaction
from kruxos.errors import CapabilityError, ConfigurationError, ConflictError, InvalidInput
from kruxos.models import TransactionStatus


class Stop(Exception):
    pass


async def place_of(agent: AsyncKruxOS, channel: str) -> dict[str, str]:
    """A message to react to."""
    found = await agent.call("slack.search", channel=channel, limit=1)
    channel_id, ts = found["messages"][0]["id"].split("/")
    return {"channel": channel_id, "ts": ts}


async def reactions_of(agent: AsyncKruxOS, host: EmulatedHost, place: dict[str, str]) -> Any:
    host.operator("sync", "slack", "--wait")
    return (await agent.call("slack.read", message_id=f"{place['channel']}/{place['ts']}"))["message"].get("reactions")


async def until_undone(agent: AsyncKruxOS, id: str) -> TransactionStatus:
    again = transaction(agent)
    again._id = id
    for _ in range(300):
        status = await again.status()
        if status.state == "undone":
            return status
        await asyncio.sleep(0.05)
    raise AssertionError("it was never undone")


async def test_what_is_in_it_goes_out_with_its_end(host: EmulatedHost) -> None:
    key, channel = host.new_agent()
    async with host.connect_async(api_key=key) as agent:
        async with transaction(agent) as tx:
            one = await tx.invoke("slack.send", channel=channel, text="first")
            await tx.call("slack.send", {"channel": channel, "text": "second"})
            assert one["status"] == "held"
            assert [write.status for write in (await tx.status()).writes] == ["held", "held"]
            assert (await tx.invoke("slack.channels")).data["total"]
        assert (await tx.status()).state == "committed"
        assert (await agent.write(one).status()).status == "buffered"
        assert (await tx.commit()).state == "committed"
        with pytest.raises(ConflictError, match="was committed"):
            await tx.rollback()
        with pytest.raises(ConflictError, match="was committed"):
            await tx.invoke("slack.send", channel=channel, text="third")
        async for write in agent.writes(status="buffered"):
            await agent.write(write.write_id).cancel()


async def test_what_fails_takes_all_of_it_back(host: EmulatedHost) -> None:
    key, channel = host.new_agent()
    async with host.connect_async(api_key=key) as agent:
        place = await place_of(agent, channel)
        before = await reactions_of(agent, host, place)
        with pytest.raises(InvalidInput):
            async with transaction(agent) as tx:
                held = await tx.invoke("slack.send", channel=channel, text="never")
                await tx.invoke("slack.react", place, reaction="tada")
                assert await reactions_of(agent, host, place) != before
                await tx.invoke("slack.send", channel=channel)
        undone = await until_undone(agent, tx.id)
        assert undone.reason == "Its agent rolled it back."
        assert [write.status for write in undone.writes] == ["cancelled", "rolled_back"]
        assert await reactions_of(agent, host, place) == before
        assert host.posted(held["write_id"]) == 0


async def test_a_connection_that_ends_takes_its_transactions_back(host: EmulatedHost) -> None:
    key, channel = host.new_agent()
    async with host.connect_async(api_key=key) as agent:
        tx = await transaction(agent).begin()
        await tx.invoke("slack.send", channel=channel, text="never")
    async with host.connect_async(api_key=key) as agent:
        undone = await until_undone(agent, tx.id)
        assert "connection" in (undone.reason or "") and [write.status for write in undone.writes] == ["cancelled"]


async def test_what_cannot_be_a_part_of_one_says_so(host: EmulatedHost) -> None:
    key, channel = host.new_agent()
    async with host.connect_async(api_key=key) as agent:
        place = await place_of(agent, channel)
        tx = await transaction(agent, timeout=60).begin()
        with pytest.raises(CapabilityError, match="slack.remove_react happens at once and cannot be undone"):
            await tx.invoke("slack.remove_react", place, reaction="tada")
        with pytest.raises(InvalidInput, match="proxy.list_writes cannot be a part"):
            await tx.invoke("proxy.list_writes")
        assert (await tx.rollback()).state == "undone"
        with pytest.raises(ConflictError, match="was undone"):
            await tx.commit()
        with pytest.raises(ConfigurationError, match="not begun"):
            _ = transaction(agent).id
        with pytest.raises(InvalidInput, match="timeout"):
            await transaction(agent, timeout=3601).begin()


def test_the_sync_form(host: EmulatedHost) -> None:
    key, channel = host.new_agent()
    with KruxOS.connect(host.address, api_key=key) as agent:
        with transaction(agent) as tx:
            held = tx.invoke("slack.send", channel=channel, text="hello")
        assert tx.status().state == "committed"
        agent.write(held["write_id"]).cancel()
        with pytest.raises(Stop), transaction(agent) as tx:
            tx.call("slack.send", channel=channel, text="never")
            raise Stop
        assert tx.status().state == "undone"


class OneTransaction(FakeHost):
    """Whose writes are still under way when they are to be committed."""

    def __init__(self) -> None:
        super().__init__()
        self.hear = self.answer_as_host
        self.answers_commit = True

    async def answer_as_host(self, connection: FakeConnection, message: dict[str, Any]) -> None:
        step = message["method"].removeprefix("transaction.")
        if step != "commit":
            connection.answer(message, {"transaction": "tx_1", "state": {"begin": "open"}.get(step, "undone"), "writes": []})
        elif self.answers_commit:
            connection.refuse(message, -32000, "Nothing was committed yet.", type="ConflictError", retryable=True, retry_after=1)

    @property
    def steps(self) -> list[str]:
        return [message["method"] for message in self.messages]


async def test_what_could_not_be_committed_in_time_is_rolled_back() -> None:
    host = OneTransaction()
    async with host.client(timeout=1.5) as agent:

        async def work() -> None:
            async with transaction(agent):
                pass

        task = await begun(work())
        await host.clock.advance(1.0)
        with pytest.raises(ConflictError, match="Nothing was committed yet"):
            await task
    assert host.steps == ["transaction.begin", "transaction.commit", "transaction.commit", "transaction.rollback"]


async def test_what_is_cancelled_while_it_is_committed_is_rolled_back() -> None:
    host = OneTransaction()
    host.answers_commit = False
    async with host.client() as agent:

        async def work() -> None:
            async with transaction(agent):
                pass

        task = await begun(work())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert host.steps == ["transaction.begin", "transaction.commit", "transaction.rollback"]
