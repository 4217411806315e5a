"""A host with the shipped Slack adapter, and the bundled emulator as Slack."""

from __future__ import annotations

import itertools
import json
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

from kruxos.testing import Installation, MockHost

TOKEN = "xoxb-emulated"
CHANNELS = 3


class EmulatedHost(MockHost):
    def __init__(self, installation: Installation, adapter: Path, policy: Path) -> None:
        self._emulator = subprocess.Popen(
            [str(installation.programs / "slack-emulator"), "--port", "0", "--die-with-parent", "--token", TOKEN],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self._emulator.stdout is not None
        self._service = self._emulator.stdout.readline().split()[1]
        self._adapter, self._policy = adapter, policy
        self._numbers = itertools.count()
        super().__init__(
            installation=installation,
            tokens={"slack": TOKEN},
            configuration=f"services: {{slack: {{api_base_url: '{self._service}/api/', sync_interval_seconds: 60}}}}\n",
        )

    def place_services(self) -> None:
        self.place(self._adapter, "adapters", "slack.so")
        self.place(self._policy, "policies", "slack.yaml")
        self.place(self.installation.definition("slack"), "definitions", "slack.yaml")
        self.emulator("seed", {"channels": CHANNELS, "users": 3, "messages_per_channel": 3})

    def connect_services(self) -> None:
        super().connect_services()
        self.operator("sync", "slack", "--wait")

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._emulator.terminate()
        self._emulator.wait()
        assert self._emulator.stdout is not None
        self._emulator.stdout.close()

    def emulator(self, what: str, document: Any = None) -> Any:
        data = None if document is None else json.dumps(document).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{self._service}/_emulator/{what}", data), timeout=30) as answer:
            return json.load(answer)

    def posted(self, write_id: str) -> int:
        """How often a message of this write was ever posted."""
        return int(self.emulator("state")["markers"].get(write_id, {}).get("posted", 0))

    def new_agent(self) -> tuple[str, str]:
        """A key that no other test uses, and a channel: it takes ten messages an hour of each agent."""
        number = next(self._numbers)
        return self.new_key(f"agent-{number}"), f"team-{number % CHANNELS}"
