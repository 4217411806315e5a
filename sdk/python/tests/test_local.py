"""Agents' files, programs and the network, as the guide to the SDK uses them."""

from __future__ import annotations

import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import BUILD, ROOT

from kruxos import KruxOS
from kruxos.errors import ApprovalRequired, CapabilityError
from kruxos.testing import Installation, MockHost

SERVICES = ("filesystem", "network", "process")


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f'{{"asked": "{self.path}"}}'.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class LocalHost(MockHost):
    """The shipped adapters for the host's own machine, and a site that the operator has listed."""

    def __init__(self, installation: Installation) -> None:
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        self.site = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        super().__init__({}, installation=installation)

    def place_services(self) -> None:
        for service in SERVICES:
            self.place(BUILD / "adapters" / f"{service}.so", "adapters", f"{service}.so")
            self.place(ROOT / "definitions" / f"{service}.yaml", "definitions", f"{service}.yaml")
        self._more = (
            f"services:\n  filesystem: {{adapter: {{root: '{self.directory}/workspaces'}}}}\n"
            f"  process: {{adapter: {{root: '{self.directory}/workspaces', allow_root: true}}}}\n"
            f"  network: {{api_base_url: '{self.site}/', adapter: {{allow_hosts: [127.0.0.1]}}}}\n"
        )

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def local(kruxos_installation: Installation) -> Iterator[LocalHost]:
    with LocalHost(kruxos_installation) as host:
        yield host


async def test_files_are_read_listed_and_described(local: LocalHost) -> None:
    async with local.connect_async(api_key=local.new_key("reader")) as agent:
        await agent.capabilities.invoke("filesystem.write", path="/workspace/README.md", content="# Hello")
        result = await agent.capabilities.invoke("filesystem.read", path="/workspace/README.md")
        assert result.success and result.data["content"] == "# Hello"
        listed = await agent.capabilities.invoke("filesystem.list", path="/workspace")
        assert [entry["name"] for entry in listed.data["entries"]] == ["README.md"]
        cap = await agent.capabilities.describe("filesystem.read")
        assert cap.purpose and cap.when_to_use and [inp.name for inp in cap.inputs if inp.required] == ["path"]
        with pytest.raises(CapabilityError) as refused:
            await agent.capabilities.invoke("filesystem.read", path="/workspace/data.csv")
        assert refused.value.type == "FileNotFound" and refused.value.recovery


def test_files_are_listed_without_a_loop(local: LocalHost) -> None:
    agent = KruxOS.connect(local.address, api_key=local.new_key("blocking"))
    assert agent.capabilities.invoke("filesystem.list", path="/workspace").data["entries"] == []
    agent.disconnect()


async def test_what_an_agent_has_fetched_is_saved_page_by_page(local: LocalHost) -> None:
    async with local.connect_async(api_key=local.new_key("researcher")) as agent:
        for page in range(3):
            result = await agent.capabilities.invoke("network.http_request", url=f"{local.site}/data?page={page}", method="GET")
            data = result.data["body"]
            await agent.capabilities.invoke("filesystem.write", path=f"/workspace/data/page_{page}.json", content=data)
        saved = await agent.capabilities.invoke("filesystem.read", path="/workspace/data/page_2.json")
        assert saved.data["content"] == '{"asked": "/data?page=2"}'
        with pytest.raises(CapabilityError) as refused:
            await agent.capabilities.invoke("network.http_request", url="https://api.example.com/data", method="GET")
        assert refused.value.type == "HostNotAllowed" and "allow_hosts" in refused.value.message


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
async def test_a_program_waits_for_a_person_and_then_says_what_it_has_to_say(local: LocalHost) -> None:
    async with local.connect_async(api_key=local.new_key("runner")) as agent:
        await agent.capabilities.invoke("filesystem.write", path="/workspace/a.txt", content="a")
        with pytest.raises(ApprovalRequired) as asked:
            await agent.capabilities.invoke("process.run", command="ls -la /workspace")
        assert not (await agent.approvals.check(asked.value.approval_id)).resolved
        local.operator("approve", "accept", asked.value.approval_id, "--yes")
        result = await agent.approvals.wait(asked.value.approval_id, timeout=60)
        assert result.approved and result.data
        done = await agent.capabilities.invoke("proxy.write_status", write_id=asked.value.approval_id, wait_seconds=30)
        assert done.data["status"] == "completed" and "a.txt" in done.data["result"]["stdout"]
        assert os.path.isdir(local.directory / "workspaces")
