"""A host before the bundled Slack, whose rules ask a person before some agents' messages, and which has a page for whoever decides."""

from __future__ import annotations

import json

from emulated import EmulatedHost

from kruxos.testing._host import CONFIGURATION

RULES = """policy: 1
rules:
  - {name: a person looks, capabilities: [slack.send], agents: ["asked-*"], tier: approval_required}
  - {name: silent, capabilities: [slack.send], agents: ["silent-*"], tier: blocked}
"""


class AskedHost(EmulatedHost):
    _base = CONFIGURATION.replace("health_port: 0", "health_port: 0, web_port: 0")

    def place_services(self) -> None:
        super().place_services()
        folder = self.directory / "policies" / "rules"
        folder.mkdir(mode=0o700)
        (folder / "system.yaml").write_text(RULES)
        (folder / "system.yaml").chmod(0o644)

    def page(self) -> str:
        return f"http://127.0.0.1:{json.loads((self.directory / 'data' / 'ports.json').read_text())['page']}"

    def key_of(self, name: str) -> str:
        """Of a new agent whose name begins so; by that the rules tell agents apart."""
        return self.new_key(f"{name}-{next(self._numbers)}")
