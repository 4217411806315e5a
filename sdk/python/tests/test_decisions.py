"""What a lost answer of a cancellation or an undo means, with a host in memory."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import FakeConnection, FakeHost, begun, settle

from kruxos import AsyncKruxOS
from kruxos.errors import CannotCancel, ConnectionLost, RollbackConflict


class Deciding(FakeHost):
    """Has one write, which a decision changes; answers are lost as often as `loses` says."""

    def __init__(self, name: str, before: str, after: str) -> None:
        super().__init__()
        self.name, self.state, self.after = name, before, after
        self.loses, self.late, self.done = 1, False, 0
        self.asked: list[str] = []
        self.hear = self.decide

    async def decide(self, connection: FakeConnection, message: dict[str, Any]) -> None:
        name, given = message["params"]["capability"], message["params"]["arguments"]
        self.asked.append(name)
        if name == "proxy.write_status":
            connection.answer(message, {"success": True, "data": {"write_id": "w_1", "status": self.state, "service": "slack"}})
            if self.late:  # what was lost is carried out behind this look
                self.happens()
        elif name == "proxy.list_writes":
            assert given == {"status": "completed", "limit": 100, "service": "slack"}
            writes = [{"write_id": "w_9"}, {"write_id": "rb_2", "undoes": "w_2"}, {"write_id": "rb_1", "undoes": "w_1"}]
            connection.answer(message, {"success": True, "data": {"writes": writes}})
        elif self.loses > 0:
            self.loses -= 1
            if not self.late:
                self.happens()
            connection.cut()
        elif self.state == self.after:
            error = "RollbackConflict" if self.name == "proxy.rollback" else "CannotCancel"
            connection.answer(message, {"success": False, "error": {"type": error, "message": "There is nothing left to do."}})
        else:
            self.happens()
            connection.answer(message, {"success": True, "data": {"write_id": "rb_1", "status": "ok", "undoes": "w_1"}})

    def happens(self) -> None:
        if self.state != self.after:
            self.state, self.done = self.after, self.done + 1


UNDONE = {"status": "ok", "write_id": "rb_1", "undoes": "w_1"}


async def decided(host: Deciding, agent: AsyncKruxOS) -> Any:
    write = agent.write("w_1")
    task = await begun(write.undo() if host.name == "proxy.rollback" else write.cancel())
    for _ in range(6):
        await host.clock.advance(8)
    return await task


@pytest.mark.parametrize("late", [False, True])
async def test_an_undo_whose_answer_is_lost_is_one_and_no_failure(late: bool) -> None:
    host = Deciding("proxy.rollback", "completed", "rolled_back")
    host.late = late
    async with host.client() as agent:
        assert (await decided(host, agent)).data == UNDONE
    assert host.done == 1 and host.asked.count("proxy.rollback") == (2 if late else 1)


@pytest.mark.parametrize("late", [False, True])
async def test_a_cancellation_whose_answer_is_lost_is_no_failure(late: bool) -> None:
    host = Deciding("proxy.cancel_write", "buffered", "cancelled")
    host.late = late
    async with host.client() as agent:
        assert (await decided(host, agent))["status"] == "cancelled"
    assert host.done == 1


async def test_a_decision_that_was_not_carried_out_is_sent_again() -> None:
    host = Deciding("proxy.rollback", "completed", "rolled_back")
    async with host.client() as agent:
        lose, host.hear = host.hear, host.hear_only
        undo = await begun(agent.write("w_1").undo())
        host.hear, host.loses = lose, 0
        host.last.cut()
        await settle()
        for _ in range(4):
            await host.clock.advance(8)
        assert (await undo).data == UNDONE and host.done == 1


async def test_an_undo_that_was_given_up_as_lost_is_the_same_when_it_is_asked_for_again() -> None:
    host = Deciding("proxy.rollback", "completed", "rolled_back")

    async def lose_all(connection: FakeConnection, message: dict[str, Any]) -> None:
        if message["params"]["capability"] == "proxy.rollback":
            host.happens()
        connection.cut()

    async with host.client() as agent:
        write, host.hear = agent.write("w_1"), lose_all
        undo = await begun(write.undo())
        for _ in range(8):
            await host.clock.advance(8)
        with pytest.raises(ConnectionLost) as caught:
            await undo
        assert caught.value.may_have_happened and caught.value.idempotency_key == host.keys[0]
        host.hear, host.loses = host.decide, 0
        again = await begun(write.undo())
        await host.clock.advance(8)
        assert (await again).data == UNDONE and host.done == 1
        with pytest.raises(RollbackConflict):  # nothing of that one is in doubt
            await write.undo()


async def test_a_refusal_that_is_none_of_a_lost_answer_is_raised() -> None:
    host = Deciding("proxy.cancel_write", "completed", "cancelled")
    host.state = "completed"

    async def refuse(connection: FakeConnection, message: dict[str, Any]) -> None:
        if message["params"]["capability"] == "proxy.write_status":
            return await host.decide(connection, message)
        if host.loses:
            host.loses = 0
            return connection.cut()
        connection.answer(message, {"success": False, "error": {"type": "CannotCancel", "message": "It is done."}})

    host.hear = refuse
    async with host.client() as agent:
        with pytest.raises(CannotCancel, match="It is done"):
            await decided(host, agent)
