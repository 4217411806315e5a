#!/usr/bin/env python3
"""An agent that collects what a Slack workspace says about a topic, and goes on where it stopped.

    KRUXOS_HOST=localhost:7700 KRUXOS_API_KEY=… research_agent.py TOPIC [--channel NAME] [--per-page N] [--tell CHANNEL]

Each page of messages becomes a file of the agent's workspace, and the last file is a report. After each page it notes at the host how far it
has come. A page that fails is an alert for the operator, and the next run begins with that page. With --tell it posts where the report is.
The host needs Slack and the adapter `filesystem` (docs/local-adapters.md).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from datetime import datetime, timezone
from typing import Any

from kruxos import AsyncKruxOS, KruxOS
from kruxos.errors import CapabilityError, KruxOSError


class Research:
    def __init__(self, agent: AsyncKruxOS, topic: str, channel: str | None = None, per_page: int = 20) -> None:
        self.agent = agent
        self.topic = topic
        self.per_page = per_page
        self.filter = {"query": topic, "limit": per_page} | ({"channel": channel} if channel else {})
        name = re.sub(r"[^a-z0-9]+", "-", f"{topic} {channel or ''}".lower()).strip("-") or "everything"
        self.key = f"research.{name}"
        self.folder = f"/workspace/research/{name}"

    async def begin(self) -> dict[str, Any]:
        """What the run before has noted. A new research looks at what there is by now: later messages would move the pages."""
        noted = await self.agent.state.persistent.get(self.key)
        if noted.found and not noted.value["complete"]:
            return dict(noted.value)
        now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
        return {"until": now, "page": 0, "messages": 0, "complete": False}

    async def run(self) -> dict[str, Any] | None:
        """How far it came at last; None where a page failed, of which the operator was told."""
        progress = await self.begin()
        print(f"{self.topic}: beginning with page {progress['page'] + 1}")
        while not progress["complete"]:
            try:
                progress = await self.one_page(progress)
            except CapabilityError as error:
                await self.agent.call(
                    "alerts.send",
                    severity="warning",
                    title=f"Research about {self.topic} stopped at page {progress['page'] + 1}",
                    message=str(error),
                )
                return None
            await self.agent.state.persistent.set(self.key, progress)
            print(f"page {progress['page']}: {progress['messages']} messages so far")
        return progress

    async def one_page(self, progress: dict[str, Any]) -> dict[str, Any]:
        number = progress["page"]
        found = await self.agent.call("slack.search", self.filter, to_date=progress["until"], offset=number * self.per_page)
        messages = found["messages"]
        if messages:
            await self.save(f"page-{number + 1:04}.json", json.dumps(messages, indent=1, ensure_ascii=False))
        after = {**progress, "page": number + 1, "messages": progress["messages"] + len(messages)}
        if found.get("next_offset") is None:
            await self.save("report.md", self.report(after))
            after["complete"] = True
        return after

    async def save(self, file: str, content: str) -> None:
        await self.agent.call("filesystem.write", path=f"{self.folder}/{file}", content=content)

    def report(self, progress: dict[str, Any]) -> str:
        return f"# {self.topic}\n\n{progress['messages']} messages up to {progress['until']}, on {progress['page']} pages beside this file.\n"

    async def tell(self, channel: str, progress: dict[str, Any]) -> str:
        """Waits in the host's buffer, where a person can still stop it; the write's id."""
        text = f"{progress['messages']} messages about {self.topic}: {self.folder}/report.md"
        return str((await self.agent.call("slack.send", channel=channel, text=text))["write_id"])


async def main(arguments: argparse.Namespace) -> int:
    async with KruxOS.connect_async(agent_name="research", purpose=f"what is said about {arguments.topic}") as agent:
        print((await agent.briefing()).summary)
        research = Research(agent, arguments.topic, arguments.channel, arguments.per_page)
        progress = await research.run()
        if progress is None:
            print("It stopped, and the operator was told. The next run goes on there.", file=sys.stderr)
            return 1
        if arguments.tell:
            print(f"told in {arguments.tell}: {await research.tell(arguments.tell, progress)}")
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("topic")
    parser.add_argument("--channel", help="only this channel")
    parser.add_argument("--per-page", type=int, default=20, choices=range(1, 101), metavar="N", help="messages of a page, up to 100")
    parser.add_argument("--tell", metavar="CHANNEL", help="post there where the report is")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(parse())))
    except KruxOSError as error:  # no host, no key, or what it cannot do without
        sys.exit(f"research_agent: {error}")
