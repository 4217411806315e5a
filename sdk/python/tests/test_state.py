"""What an agent notes, against the real host: other agents, lost connections, and a killed host. The guide's examples: test_reference_documents."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fakes import EventfulHost, FakeConnection, begun, settle
from proxy import CuttingProxy

from kruxos import AsyncKruxOS, Backoff, KruxOS, StateEntry
from kruxos.errors import ConflictError, ConnectionFailed, InvalidInput, PolicyDenied, VersionConflict
from kruxos.testing import Installation, MockHost

AT_ONCE = Backoff(first=0.0)


@pytest.fixture(scope="module")
def shared_host(kruxos_installation: Installation) -> Iterator[MockHost]:
    with MockHost({}, installation=kruxos_installation) as host:
        yield host


def connect(host: MockHost, agent: str, **options: Any) -> Any:
    """A new agent of this name."""
    return KruxOS.connect_async(host.address, api_key=host.new_key(agent), backoff=AT_ONCE, **options)


async def test_any_value_comes_back_as_it_was(shared_host: MockHost) -> None:
    values = [None, True, 0, -1.5, 2**53 + 1, "", "ä\n\"\u2028", [], [1, [None]], {"a": {"b": [True]}}]
    async with connect(shared_host, "values") as agent:
        for space in (agent.state.session, agent.state.persistent):
            for value in values:
                await space.set("k", value)
                got = await space.get("k")
                assert got.found and got.value == value and type(got.value) is type(value)


async def test_bad_input_is_refused(shared_host: MockHost) -> None:
    async with connect(shared_host, "bad-input") as agent:
        for key in ("", "a b", "a" * 201, "ä"):
            with pytest.raises(InvalidInput, match="key"):
                await agent.state.persistent.set(key, 1)
        with pytest.raises(InvalidInput, match="64 KiB"):
            await agent.state.session.set("k", "x" * 70_000)


async def test_sessions_and_agents_are_apart(shared_host: MockHost) -> None:
    key = shared_host.new_key("apart")
    async with (
        KruxOS.connect_async(shared_host.address, api_key=key, purpose="one") as one,
        KruxOS.connect_async(shared_host.address, api_key=key, purpose="two") as two,
        connect(shared_host, "apart-other") as other,
    ):
        await one.state.session.set("k", 1)
        await one.state.persistent.set("k", 1)
        assert not (await two.state.session.get("k")).found
        assert (await two.state.persistent.get("k")).value == 1
        assert not (await other.state.persistent.get("k")).found
        assert await other.state.persistent.list() == []
    async with KruxOS.connect_async(shared_host.address, api_key=key, purpose="three") as three:
        assert await three.state.session.list() == []


async def test_notes_are_searched_and_listed_over_all_pages(shared_host: MockHost) -> None:
    async with connect(shared_host, "pages") as agent:
        await asyncio.gather(*(agent.state.persistent.set(f"n.{i:04}", {"i": i}) for i in range(130)))
        assert len(await agent.state.persistent.list("n.")) == 130
        found = await agent.state.persistent.query("n.", limit=120)
        assert [entry.value["i"] for entry in found] == list(range(120))
        assert [entry.key for entry in await agent.state.persistent.query(contains='"i":77')] == ["n.0077"]
        assert [entry.version for entry in await agent.state.persistent.entries("n.000")] == [1] * 10
        assert await agent.state.persistent.delete("n.0077") and not await agent.state.persistent.delete("n.0077")


async def test_notes_are_found_by_when_they_were_set(shared_host: MockHost) -> None:
    async with connect(shared_host, "times") as agent:
        first = await agent.state.persistent.set("t.1", 1)
        last = first
        while last.updated_at == first.updated_at:
            last = await agent.state.persistent.set("t.2", 2)
        assert first.updated_at is not None and last.updated_at is not None and last.updated_at.tzinfo is not None
        first_at, last_at = first.updated_at.isoformat(), last.updated_at.isoformat()
        found = {
            "since the first": await agent.state.persistent.query("t.", since=first_at),
            "since the last": await agent.state.persistent.query("t.", since=last_at),
            "until the last": await agent.state.persistent.query("t.", until=last_at),
            "between them": await agent.state.persistent.query("t.", since=first_at, until=last_at),
            "until the first": await agent.state.persistent.query("t.", until=first_at),
        }
        assert {when: [entry.key for entry in entries] for when, entries in found.items()} == {
            "since the first": ["t.1", "t.2"],
            "since the last": ["t.2"],
            "until the last": ["t.1"],
            "between them": ["t.1"],
            "until the first": [],
        }


async def test_versions_are_told_page_by_page(shared_host: MockHost) -> None:
    async with connect(shared_host, "versions") as agent:
        for n in range(1, 6):
            await agent.state.persistent.set("k", n)
        told = []
        before = None
        while True:
            page = await agent.state.persistent.history("k", limit=2, before=before)
            told.append([(entry.version, entry.value) for entry in page.versions])
            before = page.next_before
            if not page.more:
                break
        assert told == [[(5, 5), (4, 4)], [(3, 3), (2, 2)], [(1, 1)]]


async def test_what_is_set_or_deleted_has_the_version_that_was_expected(shared_host: MockHost) -> None:
    async with connect(shared_host, "expecting") as agent:
        mine, shared = agent.state.persistent, agent.state.shared
        await mine.set("k", 1, expected_version=0)
        with pytest.raises(VersionConflict) as raised:
            await mine.set("k", 2, expected_version=0)
        assert raised.value.version == 1 and isinstance(raised.value, ConflictError)
        assert (await mine.set("k", 2, expected_version=1)).version == 2
        await shared.set("expected.k", 1)
        with pytest.raises(VersionConflict):
            await shared.delete("expected.k", expected_version=2)
        assert await shared.delete("expected.k", expected_version=1)
        assert not (await shared.get("expected.k")).found


async def test_a_session_is_cleared(shared_host: MockHost) -> None:
    async with connect(shared_host, "clearing") as agent:
        for key in ("task.a", "task.b", "other"):
            await agent.state.session.set(key, 1)
        assert await agent.state.session.clear("task.") == 2
        assert await agent.state.session.list() == ["other"]
        assert await agent.state.session.clear() == 1


async def test_a_watch_tells_of_its_keys_and_who_has_set_them(shared_host: MockHost) -> None:
    heard = Heard()
    async with connect(shared_host, "hearing") as agent, connect(shared_host, "telling") as other:
        await agent.state.shared.watch(prefix="heard.", callback=heard)
        await other.state.shared.set("unheard", 1)
        await other.state.shared.set("heard.mode", "fast")
        await heard.until("heard.mode", "fast")
        assert [(one.key, one.value, one.updated_by) for one in heard.entries] == [("heard.mode", "fast", "telling")]


async def test_a_briefing_is_an_attribute_of_the_state(shared_host: MockHost) -> None:
    async with connect(shared_host, "briefed") as agent:
        assert "none of your writes ended" in (await agent.state.briefing.generate()).data["briefing"]["summary"]


async def test_several_agents_count_together(shared_host: MockHost) -> None:
    async def count(agent: AsyncKruxOS, times: int) -> None:
        done = 0
        while done < times:
            entry = await agent.state.shared.get("together")
            try:
                await agent.state.shared.set("together", (entry.value or 0) + 1, expected_version=entry.version)
                done += 1
            except VersionConflict:
                pass

    async with connect(shared_host, "count-1") as one, connect(shared_host, "count-2") as two:
        await asyncio.gather(*(count(agent, 10) for agent in (one, two, one, two)))
        assert (await one.state.shared.get("together")).value == 40


@pytest.mark.parametrize("to_host", [True, False])
async def test_a_set_whose_answer_is_lost_is_one_set(shared_host: MockHost, to_host: bool) -> None:
    key = shared_host.new_key(f"cut-{to_host}")
    async with CuttingProxy(shared_host._port, piece=-1) as proxy:
        async with KruxOS.connect_async(proxy.address, api_key=key, backoff=AT_ONCE) as agent:
            await agent.state.shared.set(f"cut.{to_host}", 1)
            for passes_it in (True, False):
                entry = await agent.state.shared.get(f"cut.{to_host}")
                proxy.cut_next(to_host=to_host, passes_it=passes_it)
                written = await agent.state.shared.set(entry.key, entry.value + 1, expected_version=entry.version)
                assert proxy.done and written.version == entry.version + 1
            assert (await agent.state.shared.get(f"cut.{to_host}")).value == 3


@pytest.mark.kruxos(services={"slack": {}})
async def test_what_was_acknowledged_outlives_a_kill(kruxos_host: MockHost) -> None:
    async with kruxos_host.connect_async(backoff=AT_ONCE, max_retries=1000) as agent:
        await agent.state.session.set("k", 1)
        for n in range(20):
            await agent.state.persistent.set("k", n)
        await agent.state.shared.set("k", "shared")
        kruxos_host.kill()
        kruxos_host.start()
        got = await agent.state.persistent.get("k")
        assert (got.value, got.version) == (19, 20)
        assert (await agent.state.persistent.get("k", version=3)).value == 2
        assert (await agent.state.shared.get("k")).value == "shared"
        assert not (await agent.state.session.get("k")).found


class Heard:
    """What a watch has told, and how to wait for it."""

    def __init__(self) -> None:
        self.entries: list[StateEntry] = []
        self._some = asyncio.Event()

    def __call__(self, entry: StateEntry) -> None:
        self.entries.append(entry)
        self._some.set()

    async def until(self, key: str, value: Any) -> None:
        """The newest of that key has that value; `...`: it was deleted."""
        while not any(one.key == key and (one.value == value if one.found else value is ...) for one in self.entries):
            self._some.clear()
            await self._some.wait()


async def test_a_watch_goes_on_after_a_lost_connection(shared_host: MockHost) -> None:
    key = shared_host.new_key("watcher")
    heard = Heard()
    async with CuttingProxy(shared_host._port, piece=-1) as proxy, connect(shared_host, "changer") as other:
        async with KruxOS.connect_async(proxy.address, api_key=key, backoff=AT_ONCE) as agent:
            await other.state.shared.set("w.before", 1)
            watch = await agent.state.shared.watch("w.", heard)
            first = (await other.state.shared.set("w.a", 1)).version
            await heard.until("w.a", 1)
            proxy.cut_next(to_host=False, passes_it=False)
            await other.state.shared.set("w.a", 2, expected_version=first)  # the event of which is lost with the connection
            await heard.until("w.a", 2)
            assert proxy.done
            await other.state.shared.delete("w.a")
            await heard.until("w.a", ...)
            assert not any(entry.key == "w.before" for entry in heard.entries)
            assert [entry.version for entry in heard.entries] == [first, first + 1, first + 1]
            await watch.stop()
            await other.state.shared.set("w.b", 1)
            await agent.state.shared.get("w.b")
            assert heard.entries[-1].key == "w.a"


@pytest.mark.kruxos(services={"slack": {}})
async def test_a_watch_goes_on_after_the_hosts_restart(kruxos_host: MockHost) -> None:
    heard = Heard()
    async with kruxos_host.connect_async(backoff=AT_ONCE, max_retries=1000) as agent:
        await agent.state.shared.set("w.a", 1)
        await agent.state.shared.set("w.gone", 1)
        await agent.state.shared.watch("w.", heard)
        kruxos_host.kill()
        kruxos_host.start()
        await agent.state.shared.set("w.a", 2, expected_version=1)
        await agent.state.shared.delete("w.gone")
        await heard.until("w.a", 2)
        await heard.until("w.gone", ...)


async def test_a_watch_ends_where_the_agent_may_not_hear(kruxos_installation: Installation) -> None:
    with MockHost({}, installation=kruxos_installation) as host:
        host.stop()
        rules = host.directory / "policies" / "rules"
        rules.mkdir(mode=0o755)
        (rules / "system.yaml").write_text(
            "policy: 1\nrules:\n  - {name: alone, capabilities: ['state.shared.*'], tier: blocked, reason: Work alone.}\n"
        )
        (rules / "system.yaml").chmod(0o644)
        host.start()
        async with host.connect_async() as agent:
            with pytest.raises(PolicyDenied, match="Work alone"):
                await agent.state.shared.watch("w.", print)
            with pytest.raises(PolicyDenied, match="Work alone"):
                await agent.state.shared.set("a", 1)
            assert [one.name for one in await agent.capabilities.list(name_contains="state.shared")] == []
            await agent.state.persistent.set("a", 1)


async def test_a_callback_that_fails_ends_no_watch(shared_host: MockHost, caplog: pytest.LogCaptureFixture) -> None:
    heard = Heard()

    async def fails_once(entry: StateEntry) -> None:
        heard(entry)
        if entry.value == 1:
            raise ValueError("not that one")

    async with connect(shared_host, "failing") as agent:
        await agent.state.shared.watch("f.", fails_once)
        await agent.state.shared.set("f.a", 1)
        await agent.state.shared.set("f.b", 2)
        await heard.until("f.b", 2)
    assert "callback of a watch failed at 'f.a'" in caplog.text


def test_callers_that_block_note_things_too(shared_host: MockHost) -> None:
    seen = threading.Event()
    told: list[Any] = []
    with KruxOS.connect(shared_host.address, api_key=shared_host.new_key("blocking")) as agent:

        def changed(entry: StateEntry) -> None:
            told.append(agent.state.shared.get(entry.key).value)
            seen.set()

        agent.state.session.set("k", 1)
        assert agent.state.session.get("k").value == 1 and agent.state.session.list() == ["k"]
        agent.state.persistent.set("k", [1])
        assert agent.state.persistent.history("k").versions[0].value == [1]
        assert [entry.key for entry in agent.state.persistent.query(contains="1")] == ["k"]
        watch = agent.state.shared.watch("sync.", changed)
        agent.state.shared.set("sync.a", "new")
        assert seen.wait(30) and told == ["new"]
        watch.stop()
        with pytest.raises(VersionConflict):
            agent.state.shared.set("sync.a", "again")
        assert "briefing" in agent.state.briefing.generate().data


async def test_who_watches_names_the_event_and_others_are_not_bothered() -> None:
    host = EventfulHost()
    types = ["write.status", "approval.resolved", "capabilities.changed", "state.changed"]
    async with host.client() as agent, agent.events() as plain:
        assert host.subscriptions == [{}]
        async with agent.events(["state.changed"], prefix="a.") as state:
            assert host.subscriptions == [{}, {"types": types}]
            for key in ("b.x", "a.x"):
                host.happens("x", method="state.changed", key=key)
            await settle()
            assert (await anext(state)).params["key"] == "a.x"
            host.last.cut()
            await settle()
            await host.clock.advance(1)
            assert host.subscriptions[-1] == {"after": "2", "types": types}
        host.happens("completed")
        assert (await anext(plain)).method == "write.status"


async def test_a_subscription_that_begins_anew_without_state_hears_of_it_once_somebody_watches() -> None:
    host = EventfulHost()
    async with host.client() as agent, agent.events() as plain:
        async with agent.events(["state.changed"]):
            pass
        host.keeps = False
        host.last.cut()
        await settle()
        await host.clock.advance(1)
        assert (await anext(plain)).missed and host.subscriptions[-1] == {"after": "0"}
        async with agent.events(["state.changed"]) as state:
            assert "state.changed" in host.subscriptions[-1]["types"]
            host.happens("x", method="state.changed", key="a")
            assert (await anext(state)).params["key"] == "a"


class HostWithoutSharing(EventfulHost):
    """Rules forbid to hear of the shared state from the moment that `forbids`."""

    forbids = False

    async def answer_as_host(self, connection: FakeConnection, message: dict[str, Any]) -> None:
        if self.forbids and "state.changed" in message["params"].get("types", []):
            connection.refuse(message, -32000, "Work alone.", type="PolicyDenied", retryable=False)
        else:
            await super().answer_as_host(connection, message)


async def test_who_may_not_hear_of_the_state_any_more_still_hears_of_writes() -> None:
    host = HostWithoutSharing()
    async with host.client() as agent, agent.events() as plain, agent.events(["state.changed"]) as state:
        sent = asyncio.create_task(agent.write("w_1").sent())
        await settle()
        host.forbids = True
        host.last.cut()
        host.happens("completed", tell=False)
        await settle()
        await host.clock.advance(1)
        with pytest.raises(PolicyDenied, match="Work alone"):
            await anext(state)
        assert (await anext(plain)).method == "write.status"
        assert (await sent).sent
        assert host.subscriptions[-1] == {"after": "0"}
        with pytest.raises(PolicyDenied, match="Work alone"):
            async with agent.events(["state.changed"]):
                pass
        host.happens("rolled_back")
        assert (await anext(plain)).method == "write.status"


class HostWithState(EventfulHost):
    """Has one shared key; while `fails` it cannot tell what stands there."""

    fails: dict[str, Any] | None = None
    version = 1

    async def answer_as_host(self, connection: FakeConnection, message: dict[str, Any]) -> None:
        capability = message["params"].get("capability", "")
        entry = {"key": "w.a", "version": self.version}
        if not capability.startswith("state.shared"):
            await super().answer_as_host(connection, message)
        elif self.fails:
            connection.answer(message, {"success": False, "error": self.fails})
        elif capability == "state.shared.list":
            connection.answer(message, {"success": True, "data": {"keys": ["w.a"], "entries": [entry], "more": False}})
        else:
            connection.answer(message, {"success": True, "data": {"found": True, "value": f"v{self.version}", **entry}})

    async def changes(self) -> None:
        self.version += 1
        self.happens("x", method="state.changed", key="w.a", version=self.version, deleted=False, updated_by="other")
        await settle()


async def test_a_watch_goes_on_once_the_hosts_storage_works_again() -> None:
    """Its disk was full for five minutes, which is longer than a call takes."""
    host = HostWithState()
    told: list[Any] = []
    async with host.client() as agent:
        watch = await begun(agent.state.shared.watch("w.", lambda entry: told.append(entry.value)))
        assert watch.done()
        host.fails = {"type": "DatabaseError", "message": "The disk is full.", "retryable": True}
        await host.changes()
        for _ in range(300):
            await host.clock.advance(1)
        assert told == [] and len(host.messages) < 60  # it rests between its looks
        host.fails = None
        for _ in range(10):
            await host.clock.advance(1)
        assert told == ["v2"]
        await host.changes()
        assert told == ["v2", "v3"]
        await (await watch).stop()


async def test_a_watch_says_why_it_cannot_go_on() -> None:
    host = HostWithState()
    async with host.client() as agent:
        watch = await agent.state.shared.watch("w.", print)
        host.fails = {"type": "PolicyDenied", "message": "Work alone.", "retryable": False}
        await host.changes()
        with pytest.raises(PolicyDenied, match="Work alone"):
            await watch


async def test_a_watch_ends_where_no_host_will_ever_answer() -> None:
    host = HostWithState()
    async with host.client() as agent:
        watch = await agent.state.shared.watch("w.", print)
        host.refusals = [ConnectionFailed("Its certificate is not trusted.", retryable=False)]
        host.last.cut()
        await settle()
        await host.clock.advance(1)
        with pytest.raises(ConnectionFailed, match="certificate"):
            await watch
