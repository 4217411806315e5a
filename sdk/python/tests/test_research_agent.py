"""examples/agents/research_agent.py runs as a program, against the shipped adapters and the bundled emulators."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from conftest import BUILD, ROOT
from reference_host import ReferenceHost

from kruxos import KruxOS
from kruxos.testing import Installation

PROGRAM = ROOT / "examples" / "agents" / "research_agent.py"
SAID = [f"The tide of day {n} was high." for n in range(25)]


@pytest.fixture(scope="module")
def workspace(kruxos_installation: Installation) -> Iterator[ReferenceHost]:
    with ReferenceHost(kruxos_installation, BUILD, ROOT) as host:
        host.connect_slack("kruxos connect slack --client-id <YOUR_CLIENT_ID>")
        for text in SAID:
            host.emulated(host.slack, "act", {"action": "post", "channel": "C01234567", "user": "U0ALICE0001", "text": text})
        host.operator("sync", "slack", "--wait")
        yield host


def run(host: ReferenceHost, key: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KRUXOS_HOST": host.address, "KRUXOS_API_KEY": key, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-B", str(PROGRAM), *arguments], env=environment, capture_output=True, text=True, timeout=60
    )


def test_it_collects_pages_writes_a_report_and_tells_of_it(workspace: ReferenceHost) -> None:
    key = workspace.new_agent("research")
    done = run(workspace, key, "tide", "--channel", "engineering", "--per-page", "10", "--tell", "engineering")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:5] == [
        "tide: beginning with page 1",
        *(f"page {n}: {messages} messages so far" for n, messages in ((1, 10), (2, 20), (3, 25))),
    ]
    with KruxOS.connect(workspace.address, api_key=key) as agent:
        pages = [agent.call("filesystem.read", path=f"/workspace/research/tide-engineering/page-000{n}.json")["content"] for n in (1, 2, 3)]
        assert sorted(message["text"] for page in pages for message in json.loads(page)) == sorted(SAID)
        report = agent.call("filesystem.read", path="/workspace/research/tide-engineering/report.md")["content"]
        assert report.startswith("# tide\n\n25 messages up to ")
        told = agent.write(done.stdout.split()[-1])
        assert told.status().status == "buffered" and told.cancel()
    again = run(workspace, key, "tide", "--channel", "engineering")
    assert again.returncode == 0 and "tide: beginning with page 1" in again.stdout


def test_it_goes_on_where_a_page_failed(workspace: ReferenceHost) -> None:
    """A directory stands where its second page is to be."""
    key = workspace.new_agent("research")
    with KruxOS.connect(workspace.address, api_key=key) as agent:
        agent.call("filesystem.mkdir", path="/workspace/research/tide/page-0002.json")
        stopped = run(workspace, key, "tide", "--per-page", "10")
        assert stopped.returncode == 1 and "The next run goes on there" in stopped.stderr
        assert agent.state.persistent.get("research.tide").value["page"] == 1
        alerts = agent.call("alerts.list")["alerts"]
        assert len(alerts) == 1 and alerts[0]["message"].startswith("Research about tide stopped at page 2: ")
        agent.call("filesystem.delete", path="/workspace/research/tide/page-0002.json")
        done = run(workspace, key, "tide", "--per-page", "10")
        assert done.returncode == 0 and done.stdout.splitlines()[1:3] == ["tide: beginning with page 2", "page 2: 20 messages so far"]
        assert agent.state.persistent.get("research.tide").value["complete"]


def test_nothing_is_found_and_a_key_is_missing(workspace: ReferenceHost) -> None:
    done = run(workspace, workspace.new_agent("research"), "nobody ever said this")
    assert done.returncode == 0 and "page 1: 0 messages so far" in done.stdout
    refused = run(workspace, "", "tide")
    assert refused.returncode == 1 and "kruxos agent create NAME" in refused.stderr and "Traceback" not in refused.stderr
