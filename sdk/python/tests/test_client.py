"""The documented forms against the shipped host, with Slack's emulator behind it."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from emulated import EmulatedHost

from kruxos import KruxOS
from kruxos.errors import ApprovalRequired, CannotCancel, InvalidInput, NotFound, WriteCancelled
from kruxos.models import CapabilityDefinition


async def test_the_forms_of_the_guides(host: EmulatedHost) -> None:
    url = f"ws://{host.address}"
    async with KruxOS.connect_async(host.address, api_key=host.key) as agent:
        assert (await agent.capabilities.invoke("slack.channels")).data["total"]
    async with KruxOS.connect_async(host=host.address, api_key=host.key) as agent:
        assert (await agent.call("slack.channels", {"limit": 1})).success
    client = await KruxOS.connect_async(endpoint=url, agent_name="my-agent", api_key=host.key, purpose="test")
    try:
        result = await client.call_async("slack.search", query="nothing like it", limit=5)
        assert result.data["messages"] == [] and result.get("total") == 0 and "total" in result
    finally:
        await client.close_async()
    async with KruxOS.connect(host.address, api_key=host.key) as agent:
        assert (await agent.call("agent.session"))["origin"] == "day"


def test_the_sync_forms(host: EmulatedHost, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = KruxOS.connect(host.address, api_key=host.key)
    assert agent.capabilities.invoke("slack.channels").data["total"]
    agent.disconnect()
    monkeypatch.setenv("KRUXOS_HOST", host.address)
    monkeypatch.setenv("KRUXOS_API_KEY", host.key)
    with KruxOS.connect(agent_name="me") as agent:
        assert agent.call("agent.session")["name"] == "me"
        raw = agent.with_raw_response.call("agent.whoami")
        assert raw.raw["data"]["name"] == "tester" == raw.parse()["name"] and raw.sends == 1 and raw.request_id
        assert "summary" in agent.briefing().model_dump()


async def test_capabilities_are_listed_and_described(host: EmulatedHost) -> None:
    async with host.connect_async() as agent:
        everything = await agent.capabilities.list()
        of_slack = await agent.capabilities.list(category="slack")
        assert {one.category for one in of_slack} == {"slack"} and len(of_slack) < len(everything)
        assert {one.name for one in await agent.capabilities.list(tag="reactions")} == {"slack.react", "slack.remove_react"}
        assert [one.name for one in await agent.capabilities.list(name_contains="briefing")] == ["state.briefing.generate"]
        send = await agent.capabilities.describe("slack.send")
        assert isinstance(send, CapabilityDefinition) and send.permission_tier == "notify" and send.undoable
        assert {one.name: one.required for one in send.inputs}["text"] and send.limits[0].per == "channel"
        with pytest.raises((InvalidInput, NotFound)):
            await agent.capabilities.describe("slack.nothing")


async def test_a_message_is_sent_once_and_undone(host: EmulatedHost) -> None:
    key, channel = await asyncio.to_thread(host.new_agent)
    async with host.connect_async(api_key=key) as agent:
        result = await agent.call("slack.send", channel=channel, text="hello", idempotency_key="greeting")
        write = agent.write(result)
        sent = await write.sent(timeout=30)
        assert sent.result is not None and sent.result["message_id"] and host.posted(result["write_id"]) == 1
        again = await agent.call("slack.send", channel=channel, text="hello", idempotency_key="greeting")
        assert again["write_id"] == result["write_id"] and host.posted(result["write_id"]) == 1
        await write.undo()
        assert (await write.status()).status == "rolled_back"
        assert [w.write_id async for w in agent.writes(status="rolled_back")] == [write.write_id]


async def test_a_message_is_taken_back(host: EmulatedHost) -> None:
    key, channel = await asyncio.to_thread(host.new_agent)
    async with host.connect_async(api_key=key) as agent:
        write = agent.write(await agent.call("slack.send", channel=channel, text="never"))
        sent = asyncio.create_task(write.sent())
        await write.cancel()
        with pytest.raises(WriteCancelled):
            await sent
        with pytest.raises(CannotCancel) as caught:
            await write.cancel()
        assert caught.value.recovery and caught.value.request_id and host.posted(write.write_id) == 0


async def test_a_person_is_asked_and_decides(host: EmulatedHost) -> None:
    key, channel = await asyncio.to_thread(host.new_agent)
    async with host.connect_async(api_key=key) as agent:
        approvals = []
        for n in range(12):
            try:
                await agent.call("slack.send", channel=channel, text=f"message {n}")
            except ApprovalRequired as asked:
                approvals.append(asked.approval_id)
        yes, no = approvals
        assert not (await agent.approvals.check(yes)).resolved
        assert not (await agent.approvals.wait(yes, timeout=0)).resolved
        waits = asyncio.create_task(agent.approvals.wait(yes, timeout=300))
        await asyncio.to_thread(host.operator, "approve", "reject", no, "--reason", "No.", "--yes")
        await asyncio.to_thread(host.operator, "approve", "accept", yes, "--yes")
        accepted, rejected = await waits, await agent.approvals.wait(no)
        assert accepted.approved and accepted.data and accepted.data["write_id"] == yes
        assert rejected.resolved and not rejected.approved and (rejected.reason or "").endswith("No.")
        assert (await agent.write(yes).sent(timeout=60)).sent and host.posted(yes) == 1


async def test_capabilities_are_attributes_and_pages_follow_each_other(host: EmulatedHost) -> None:
    key, channel = await asyncio.to_thread(host.new_agent)
    async with host.connect_async(api_key=key) as agent:
        for n in range(3):
            await agent.slack.send(channel=channel, text=f"page {n}")  # type: ignore[attr-defined]
        assert len({w.write_id async for w in agent.writes(limit=2)}) == 3
        ids = [c["id"] async for page in agent.pages("slack.channels", limit=2) for c in page["channels"]]
        assert len(ids) == len(set(ids)) == 3
        assert (await agent.state.briefing.generate())["briefing"]["summary"]  # type: ignore[attr-defined]
        assert not hasattr(agent, "_repr_html_")


def test_a_program_that_does_not_close_ends_quietly(host: EmulatedHost) -> None:
    program = (
        "import kruxos, os; a = kruxos.KruxOS.connect(os.environ['AT'], api_key=os.environ['KEY']); print(a.call('agent.whoami')['name'])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60,
                          env={"AT": host.address, "KEY": host.key})  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "tester\n", "")


async def test_a_sync_client_works_inside_a_running_loop(host: EmulatedHost) -> None:
    with KruxOS.connect(host.address, api_key=host.key) as agent:
        assert agent.call("agent.whoami")["name"] == "tester"
        assert (await agent.call_async("agent.whoami"))["name"] == "tester"
