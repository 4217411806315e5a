"""The code blocks of the reference documents (test/reference) run, unchanged, against a real host.

A test is one block, or one way through it. What it gives the block beyond its own text is its prelude: docs/reference-documents.md names it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import BUILD, ROOT
from reference_host import KEY, MESSAGE, Block, ReferenceHost, Site

import kruxos.models
from kruxos import AsyncKruxOS, KruxOS, StateEntry, VersionConflict
from kruxos.errors import CapabilityError
from kruxos.testing import Installation

FOLDER = ROOT / "test" / "reference"
RUN: set[str] = set()


def block(name: str, shows: str = "") -> Callable[[Any], Any]:
    """The test gets the block as `the_block`, and `shows` is what the document says that it prints. That every block has a test is a test."""
    RUN.update(filter(None, [name, shows]))
    return pytest.mark.parametrize("the_block", [pytest.param(Block(FOLDER / name), id=name.split("/")[1])])


@pytest.fixture(scope="module")
def reference(kruxos_installation: Installation) -> Iterator[ReferenceHost]:
    with ReferenceHost(kruxos_installation, BUILD, ROOT) as host:
        yield host


@pytest.fixture
def stand_in(reference: ReferenceHost, monkeypatch: pytest.MonkeyPatch) -> str:
    """The host and a new agent stand in for what the block shows; the agent's key."""
    key = reference.new_agent()
    reference.stand_in(monkeypatch, key)
    return key


async def put(host: ReferenceHost, key: str, path: str, content: str) -> None:
    async with KruxOS.connect_async(host.address, api_key=key) as agent:
        await agent.call("filesystem.write", path=path, content=content)


def read(host: ReferenceHost, key: str, path: str) -> str:
    with KruxOS.connect(host.address, api_key=key) as agent:
        return str(agent.call("filesystem.read", path=path)["content"])


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


# --- the guide to the SDK: connecting, capabilities ------------------------------------------------------------------


@block("python-sdk-guide/01-quick-start.py")
def test_quick_start(the_block: Block, reference: ReferenceHost, stand_in: str, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(put(reference, stand_in, "/workspace/README.md", "# Hello"))
    the_block.run_alone()
    lines = said(capsys)
    assert re.fullmatch(r"Available: [1-9]\d* capabilities", lines[0]) and lines[1:] == ["# Hello"]


@block("python-sdk-guide/02-async-connection.py")
def test_async_connection(the_block: Block, stand_in: str) -> None:
    agent = the_block.run_alone()["agent"]
    assert isinstance(agent, AsyncKruxOS)


@block("python-sdk-guide/03-sync-connection.py")
def test_sync_connection(the_block: Block, reference: ReferenceHost, stand_in: str) -> None:
    asyncio.run(put(reference, stand_in, "/workspace/notes.txt", "x"))
    names = the_block.run_alone()
    assert [entry["name"] for entry in names["result"].data["entries"]] == ["notes.txt"]


@block("python-sdk-guide/04-connection-from-environment.py")
def test_connection_from_environment(the_block: Block, stand_in: str) -> None:
    assert isinstance(the_block.run_alone()["agent"], AsyncKruxOS)


@block("python-sdk-guide/05-list-all-capabilities.py")
async def test_list_all_capabilities(the_block: Block, stand_in: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with KruxOS.connect_async() as agent:
        await the_block.run(agent=agent)
    lines = said(capsys)
    assert "filesystem.read (autonomous)" in lines and "filesystem.write (notify)" in lines
    assert all(re.fullmatch(r"[a-z_.]+ \((autonomous|notify|approval_required)\)", line) for line in lines)


@block("python-sdk-guide/06-describe-a-capability.py")
async def test_describe_a_capability(the_block: Block, stand_in: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with KruxOS.connect_async() as agent:
        await the_block.run(agent=agent)
    lines = said(capsys)
    assert lines[0] and lines[1] and " path: String (required)" in lines and any(line.endswith("(optional)") for line in lines)


@block("python-sdk-guide/07-basic-invocation.py")
async def test_basic_invocation(the_block: Block, reference: ReferenceHost, stand_in: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with KruxOS.connect_async(raise_on_error=False) as agent:
        await the_block.run(agent=agent)
        assert said(capsys)[0].startswith("Error: FileNotFound — ")
        await agent.call("filesystem.write", path="/workspace/data.csv", content="a,b\n1,2")
        await the_block.run(agent=agent)
        assert said(capsys) == ["a,b", "1,2"]


@block("python-sdk-guide/08-with-error-handling.py")
@pytest.mark.parametrize("kind", ["free", "refused", "asked", "limited"])
async def test_with_error_handling(
    the_block: Block, kind: str, reference: ReferenceHost, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of its four ways, by the rules for the agent's name."""
    key = reference.new_agent(kind)
    reference.stand_in(monkeypatch, key)
    async with KruxOS.connect_async(raise_on_error=True) as agent:
        await agent.call("filesystem.write", path="/workspace/a.txt", content="a")
        name = (await agent.call("agent.whoami"))["name"]
        if kind == "limited":
            await agent.call("process.run", command="true")
        running = asyncio.create_task(the_block.run(agent=agent))
        if kind == "asked":
            await asyncio.to_thread(reference.decide, await waiting(reference, name), "accept")
        names = await running
    lines = said(capsys)
    if kind == "free":
        assert any(line.endswith(" a.txt") for line in lines)
    elif kind == "refused":
        assert lines[0].startswith("Policy blocked: ") and lines[1] == "Rule: no programs"
    elif kind == "asked":
        assert lines == [f"Waiting for approval: {names['result'].approval_id}"] and names["result"].approved
    else:
        assert lines[0] == "Error: BatchProtection" and lines[1].startswith(" Try: ") and " — " in lines[1]


async def waiting(host: ReferenceHost, agent: str) -> str:
    """The write of that agent which waits for a person, as soon as there is one."""
    for _ in range(600):
        listed = await asyncio.to_thread(host.operator_json, "approve", "list")
        for write in listed["needs_operator"]:
            if write["agent"] == agent:
                return str(write["write_id"])
    raise AssertionError(f"nothing of {agent} waits for a person")


@block("python-sdk-guide/09-blocking-wait.py")
@pytest.mark.parametrize("how", ["accept", "reject"])
async def test_blocking_wait(
    the_block: Block, how: str, reference: ReferenceHost, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reference.stand_in(monkeypatch, reference.new_agent("asked"))
    async with KruxOS.connect_async() as agent:
        name = (await agent.call("agent.whoami"))["name"]
        running = asyncio.create_task(the_block.run(agent=agent))
        write_id = await waiting(reference, name)
        more = ["--reason", "Not on a Friday."] if how == "reject" else []
        await asyncio.to_thread(reference.decide, write_id, how, *more)
        await running
    lines = said(capsys)
    assert lines[0] == f"Approval needed: {write_id}"
    assert lines[1].startswith("Approved! Result: {") if how == "accept" else lines[1] == "Rejected: A person rejected it: Not on a Friday."


@block("python-sdk-guide/10-non-blocking-poll.py")
async def test_non_blocking_poll(the_block: Block, reference: ReferenceHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person decides while the block sleeps, and its five seconds are over then."""
    reference.stand_in(monkeypatch, reference.new_agent("asked"))
    rests = []
    sleep = asyncio.sleep

    async def resting(seconds: float, *more: Any) -> Any:
        if seconds != 5:
            return await sleep(seconds, *more)
        rests.append(seconds)
        write_id = await waiting(reference, name)
        return await asyncio.to_thread(reference.decide, write_id, "reject")

    async with KruxOS.connect_async() as agent:
        name = (await agent.call("agent.whoami"))["name"]
        monkeypatch.setattr(asyncio, "sleep", resting)
        names = await the_block.run(agent=agent)
    assert rests == [5] and names["status"].resolved and not names["status"].approved


# --- the guide to the SDK: state, transactions, briefings --------------------------------------------------------------


@block("python-sdk-guide/11-session-state.py")
async def test_session_state(the_block: Block, stand_in: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with KruxOS.connect_async() as agent:
        names = await the_block.run(agent=agent)
        assert said(capsys) == ["{'step': 3, 'total': 10}"] and names["keys"] == ["task.current"]
        assert not (await agent.state.session.get("task.current")).found


@block("python-sdk-guide/12-persistent-state.py")
async def test_persistent_state(the_block: Block, stand_in: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with KruxOS.connect_async() as agent:
        await agent.state.persistent.set("config.threshold", 0.8)
        names = await the_block.run(agent=agent)
    lines = said(capsys)
    assert lines[0] == "Value: 0.85, version: 2" and names["old"].value == 0.8
    assert [line.split(" (")[0] for line in lines[1:]] == ["v2: 0.85", "v1: 0.8"]


@block("python-sdk-guide/13-shared-state.py")
async def test_shared_state(the_block: Block, reference: ReferenceHost, stand_in: str) -> None:
    heard: asyncio.Queue[StateEntry] = asyncio.Queue()
    prelude = {"VersionConflict": VersionConflict, "on_config_change": heard.put_nowait}
    async with KruxOS.connect_async() as agent, KruxOS.connect_async(reference.address, api_key=reference.new_agent()) as other:
        await agent.state.shared.set("counter", 1)
        await the_block.run(agent=agent, **prelude)
        entry = await other.state.shared.get("counter")
        assert (entry.value, entry.version) == (2, 2)
        await other.state.shared.set("config.mode", "fast")
        assert (await heard.get()).value == "fast"

        class Overtaken:
            """Another agent counts between the block's read and its write."""

            async def get(self, key: str) -> StateEntry:
                found = await agent.state.shared.get(key)
                await other.state.shared.set(key, 10, expected_version=found.version)
                return found

            def __getattr__(self, name: str) -> Any:
                return getattr(agent.state.shared, name)

        class Slow:
            class state:
                shared = Overtaken()

        await the_block.run(agent=Slow, **prelude)
        assert (await other.state.shared.get("counter")).value == 10


@block("python-sdk-guide/14-transactions.py")
async def test_transactions(the_block: Block, stand_in: str) -> None:
    async with KruxOS.connect_async() as agent:
        names = await the_block.run(agent=agent)
        assert (await names["tx"].status()).state == "committed"
        for file, content in (("a", "hello"), ("b", "world")):
            assert (await agent.call("filesystem.read", path=f"/workspace/{file}.txt"))["content"] == content


@block("python-sdk-guide/14-transactions.py")
async def test_transactions_of_which_one_fails(the_block: Block, stand_in: str) -> None:
    """Its second file is a directory."""
    async with KruxOS.connect_async() as agent:
        await agent.call("filesystem.mkdir", path="/workspace/b.txt")
        with pytest.raises(CapabilityError):
            await the_block.run(agent=agent)
        for _ in range(600):
            listed = await agent.call("filesystem.list", path="/workspace")
            if [entry["name"] for entry in listed["entries"]] == ["b.txt"]:
                return
        raise AssertionError(f"it was not rolled back: {listed.data}")


@block("python-sdk-guide/15-context-briefings.py")
async def test_context_briefings(the_block: Block, stand_in: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with KruxOS.connect_async() as agent:
        await the_block.run(agent=agent)
    assert said(capsys)[0]


@block("python-sdk-guide/17-mcp-configuration.py", "python-sdk-guide/17-mcp-configuration.output.json")
def test_mcp_configuration(the_block: Block, stand_in: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = the_block.run_alone()
    names["agent"].disconnect()
    assert names["config"] == json.loads((FOLDER / "python-sdk-guide/17-mcp-configuration.output.json").read_text())
    assert capsys.readouterr().out == f"{names['config']}\n" and KEY in str(names["config"])


@block("python-sdk-guide/18-pydantic-models.py")
def test_pydantic_models(the_block: Block) -> None:
    names = the_block.run_alone()
    models = [value for name, value in names.items() if isinstance(value, type)]
    assert len(models) == 6 and all(issubclass(model, kruxos.models.Model) for model in models)


@block("python-sdk-guide/19-complete-example.py")
def test_complete_example(
    the_block: Block, reference: ReferenceHost, stand_in: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Page 3 is away the first time; the second run goes on there, up to page 99."""
    monkeypatch.setattr(Site, "asked", [])
    monkeypatch.setattr(Site, "taken_away", {"/data?page=3"})
    the_block.run_alone()
    with KruxOS.connect(reference.address, api_key=stand_in) as agent:
        assert agent.state.persistent.get("research.checkpoint").value == {"page": 3, "status": "completed"}
        alerts = agent.call("alerts.list")["alerts"]
        assert len(alerts) == 1 and alerts[0]["message"].startswith("Research failed on page 3: HostNotAllowed")
        monkeypatch.setattr(Site, "taken_away", set())
        the_block.run_alone()
        assert agent.state.persistent.get("research.checkpoint").value == {"page": 99, "status": "completed"}
        assert len(agent.call("filesystem.list", path="/workspace/data", limit=200)["entries"]) == 100
    assert Site.asked == [f"/data?page={n}" for n in (0, 1, 2, 3, *range(3, 100))]
    assert json.loads(read(reference, stand_in, "/workspace/data/page_99.json")) == {"asked": "/data?page=99"}
    assert len(said(capsys)) >= 2


# --- a mailbox -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mailbox(reference: ReferenceHost) -> str:
    """`kruxos connect gmail`; what it said."""
    return reference.connect_gmail()


def test_a_mailbox_is_connected_by_the_command_of_the_documents(reference: ReferenceHost, mailbox: str) -> None:
    assert "agent@example.com" in mailbox
    assert "agent@example.com" in reference.shell("kruxos connect status")


@block("gmail-quickstart/01-verify-email-capabilities.py", "gmail-quickstart/01-verify-email-capabilities.output.txt")
def test_verify_email_capabilities(
    the_block: Block, reference: ReferenceHost, mailbox: str, stand_in: str, capsys: pytest.CaptureFixture[str]
) -> None:
    the_block.run_alone()
    assert capsys.readouterr().out == (FOLDER / "gmail-quickstart/01-verify-email-capabilities.output.txt").read_text()


@block("gmail-quickstart/02-sending-email.py")
async def test_sending_email(
    the_block: Block, reference: ReferenceHost, mailbox: str, stand_in: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with KruxOS.connect_async() as agent:
        names = await the_block.run(os=agent)
        lines = said(capsys)
        data = names["result"].data
        assert lines[:2] == ["Status: buffered", f"Buffer ID: {data['write_id']}"]
        assert lines[2].removeprefix("Send at: ") == lines[3].removeprefix("Cancel before: ") == data["buffer_until"]
        await agent.email.cancel(buffer_id=data["buffer_id"])
        assert (await agent.write(data["write_id"]).status()).status == "cancelled"


@block("python-sdk-guide/16-service-proxy.py")
async def test_service_proxy(
    the_block: Block, reference: ReferenceHost, mailbox: str, stand_in: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with KruxOS.connect_async() as agent:
        names = await the_block.run(agent=agent)
        assert (await agent.write(names["write_id"]).status()).status == "cancelled"
    lines = said(capsys)
    assert lines[:-1] == ["ada@example.com: An invoice"] and lines[-1].startswith("Buffered until 20")


# --- a workspace ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def workspace(reference: ReferenceHost) -> str:
    """The block that connects it, once; what it said."""
    return reference.connect_slack(Block(FOLDER / "slack-integration/01-connect.sh").text)


@block("slack-integration/01-connect.sh")
def test_connect(the_block: Block, reference: ReferenceHost, workspace: str) -> None:
    assert "Connected" in workspace
    assert "slack" in reference.shell("kruxos connect status")


@block("slack-integration/02-example-agent-usage.py")
def test_example_agent_usage(the_block: Block, reference: ReferenceHost, workspace: str, stand_in: str) -> None:
    names = the_block.run_alone()
    assert [channel["name"] for channel in names["channels"]["channels"]] == ["engineering"]
    assert [found["id"] for found in names["results"]["messages"]] == [f"C01234567/{MESSAGE}"]
    assert names["message"]["message"]["text"] == "The deployment is under way."
    assert names["result"]["status"] == "buffered" and names["result"]["write_id"]
    message = reference.emulated(reference.slack, "messages?channel=C01234567")["messages"][0]
    assert [reaction["name"] for reaction in message["reactions"]] == ["white_check_mark"]


@block("slack-integration/03-rollback.sh")
def test_rollback(the_block: Block, reference: ReferenceHost, workspace: str, stand_in: str) -> None:
    with KruxOS.connect() as agent:
        write = agent.write(agent.slack.react(channel="C01234567", ts=MESSAGE, reaction="tada"))
        write.sent(timeout=30)
        shown = reference.shell(the_block.text, {"<write_id>": write.write_id}, yes=True)
        assert shown.count(write.write_id) >= 2 and write.status().status == "rolled_back"
    assert reference.shell("kruxos approve list")


@block("slack-integration/04-disconnect.sh")
def test_disconnect(the_block: Block, reference: ReferenceHost, workspace: str, stand_in: str) -> None:
    with KruxOS.connect() as agent:
        buffered = agent.write(agent.slack.send(channel="C01234567", text="Never sent"))
        reference.shell(the_block.text, yes=True)
        assert buffered.status().status == "cancelled"
    assert reference.emulated(reference.slack, "oauth")["oauth"]["live_grants"] == 0
    assert not list((reference.directory / "data" / "replica").glob("slack/*"))


# --- the blocks themselves -------------------------------------------------------------------------------------------------

def every_block() -> list[str]:
    return sorted(str(file.relative_to(FOLDER)) for file in FOLDER.glob("*/*"))


def test_every_block_is_run_and_documented() -> None:
    assert sorted(RUN) == every_block()
    page = (ROOT / "docs" / "reference-documents.md").read_text()
    assert [name for name in every_block() if name.split("/")[1] not in page] == []
