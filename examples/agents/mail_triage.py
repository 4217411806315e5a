#!/usr/bin/env python3
"""An agent that sorts unread mail: it labels, drafts answers, and asks before anything goes out.

    KRUXOS_HOST=localhost:7700 KRUXOS_API_KEY=… mail_triage.py [--accounting ADDRESS] [--most N]

Invoices get the label "Invoices" and, with --accounting, are to be forwarded there; newsletters get "Newsletters"; a mail that asks something
gets "To answer" and a draft that a person finishes and sends. The mailbox has these labels. The forwards wait for a person: the agent makes none
where the operator's rules do not say so ({capabilities: [email.forward], tier: approval_required}, docs/policies.md).

What it has done with a mail it notes at the host, and each of its writes has a key of its mail. So a run that was stopped anywhere, or that is
begun again, does nothing twice. A mail is data: its words choose the label, and never what is done, to whom anything goes or what it says.
It ends with 0 when every mail was sorted, and with 1 where some could not be; the next run tries these again.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections import Counter
from dataclasses import dataclass
from email.utils import getaddresses
from typing import Any

from kruxos import AsyncKruxOS, KruxOS
from kruxos.errors import CapabilityError, ConflictError, KruxOSError

LABELS = {"invoice": "Invoices", "newsletter": "Newsletters", "question": "To answer"}
NOTES = "triage.mail."
DRAFT = "Hello,\n\nthank you for your mail.\n\n"
INVOICE = re.compile(r"\b(invoice|bill|payment due)\b", re.IGNORECASE)
NEWSLETTER = re.compile(r"\b(unsubscribe|newsletter|view (this|it) in your browser)\b", re.IGNORECASE)
QUESTION = re.compile(r"\?(\s|$)")
LONGEST_SUBJECT = 200


class Stopped(Exception):
    """Why it cannot begin, in a sentence."""


def printable(text: str) -> str:
    """What others wrote is one line of text: no terminal obeys it."""
    return "".join(c if c.isprintable() else " " for c in text)[:LONGEST_SUBJECT]


@dataclass(frozen=True)
class Mail:
    id: str
    subject: str
    text: str
    sender: str
    """The one address in From; empty where there is none, or several."""
    proven: bool
    """Nothing says that somebody else wrote it."""

    @classmethod
    def of(cls, message_id: str, read: Any) -> Mail:
        addresses = [address for _, address in getaddresses([read["sender"]]) if "@" in address]
        proven = read["message"].get("sender_check") != "fail"
        return cls(message_id, printable(read["subject"]), read["body"]["text_plain"], addresses[0] if len(addresses) == 1 else "", proven)

    @property
    def kind(self) -> str:
        """By rules of the agent's own, the first that fits."""
        if NEWSLETTER.search(self.subject) or NEWSLETTER.search(self.text):
            return "newsletter"
        if not self.proven:
            return "other"
        if INVOICE.search(self.subject):
            return "invoice"
        return "question" if QUESTION.search(self.text) else "other"


@dataclass(frozen=True)
class Step:
    """A write for a mail."""

    name: str
    capability: str
    arguments: dict[str, Any]


class Triage:
    def __init__(self, agent: AsyncKruxOS, accounting: str | None, most: int) -> None:
        self.agent = agent
        self.accounting = accounting
        self.most = most
        self.sorted: Counter[str] = Counter()
        self.failed: list[str] = []

    def steps(self, mail: Mail) -> list[Step]:
        """All that is ever done with a mail."""
        kind, steps = mail.kind, []
        if kind in LABELS:
            steps.append(Step("label", "email.label", {"message_id": mail.id, "add_labels": [LABELS[kind]]}))
        if kind == "question" and mail.sender:
            steps.append(Step("draft", "email.draft", {"to": mail.sender, "subject": f"Re: {mail.subject}", "body": DRAFT}))
        if kind == "invoice" and self.accounting:
            steps.append(Step("forward", "email.forward", {"message_id": mail.id, "to": self.accounting}))
        return steps

    async def must_be_able(self) -> None:
        """Before the first mail is touched."""
        names = [label["name"] async for page in self.agent.pages("email.labels") for label in page["labels"]]
        missing = [label for label in LABELS.values() if label not in names]
        if missing:
            raise Stopped(f"The mailbox has no label {', '.join(missing)}: make it there, since the host makes none.")
        if self.accounting and (await self.agent.capabilities.describe("email.forward")).permission_tier != "approval_required":
            raise Stopped("No person is asked before this agent forwards a mail: give email.forward the tier approval_required by a rule.")

    async def unread(self) -> list[str]:
        """Ids of the unread mails in the inbox, the newest first."""
        pages = self.agent.pages("email.search", query="in:inbox is:unread", limit=100)
        return [message["id"] async for page in pages for message in page["messages"]]

    async def run(self) -> None:
        await self.must_be_able()
        unread = await self.unread()
        noted = await self.look_back(set(unread))
        for message_id in [one for one in unread if one not in noted][: self.most]:
            try:
                await self.sort(message_id)
            except CapabilityError as error:
                self.failed.append(message_id)
                print(f"{message_id} is left for the next run: {printable(str(error))}", flush=True)

    async def sort(self, message_id: str) -> None:
        mail = Mail.of(message_id, await self.agent.call("email.read", message_id=message_id, max_chars=4000))
        writes = {step.name: await self.write(mail, step) for step in self.steps(mail)}
        await self.agent.state.persistent.set(NOTES + mail.id, {"kind": mail.kind, "writes": writes})
        self.sorted[mail.kind] += 1
        print(f'{mail.id} "{mail.subject}": {mail.kind}{"".join(f", {name} {write}" for name, write in writes.items())}', flush=True)

    async def write(self, mail: Mail, step: Step) -> str:
        """The write's id: with the same key and content it is the same write, however often it is asked for."""
        try:
            result = await self.agent.call(step.capability, step.arguments, idempotency_key=f"triage-{step.name}-{mail.id}")
            return str(result["write_id"])
        except ConflictError:
            raise  # it may name a write, but another one's: the key stands for other content, and nothing was accepted
        except CapabilityError as error:
            if error.write_id is None:
                raise
            return error.write_id  # it waits for a person, or has ended: the host has it, and `look_back` tells what becomes of it

    async def look_back(self, unread: set[str]) -> set[str]:
        """The mails of earlier runs. What has become of each write is told once; notes go when nothing about them can come any more."""
        noted = set()
        for entry in await self.agent.state.persistent.query(NOTES, limit=10_000):
            message_id, writes = entry.key.removeprefix(NOTES), dict(entry.value["writes"])
            noted.add(message_id)
            for name, write_id in list(writes.items()):
                status = await self.agent.write(write_id).status()
                if status.ended:
                    del writes[name]
                    print(f"{message_id}: {name} {write_id} is {status.status}", flush=True)
            if not writes and message_id not in unread:
                await self.agent.state.persistent.delete(entry.key)
            elif writes != entry.value["writes"]:
                await self.agent.state.persistent.set(entry.key, {**entry.value, "writes": writes})
        return noted

    def summary(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.sorted.items()))
        return f"{self.sorted.total()} sorted{': ' if kinds else ''}{kinds}; {len(self.failed)} left"


async def main(arguments: argparse.Namespace) -> int:
    async with KruxOS.connect_async(agent_name="mail triage", purpose="sort unread mail") as agent:
        triage = Triage(agent, arguments.accounting, arguments.most)
        await triage.run()
        print(triage.summary())
        waiting = [write.write_id async for write in agent.writes(status="pending_approval")]
        if waiting:
            print(f"{len(waiting)} wait for your decision: kruxos approve list")
        if triage.failed:
            await agent.call("alerts.send", severity="warning", message=f"Unread mails that could not be sorted: {len(triage.failed)}.")
    return 1 if triage.failed else 0


def address(text: str) -> str:
    """One, as a person types it."""
    if not re.fullmatch(r"[^\s@,;<>\"]+@[^\s@,;<>\"]+", text):
        raise ValueError
    return text


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--accounting", type=address, metavar="ADDRESS", help="where invoices are to be forwarded")
    parser.add_argument("--most", type=int, default=50, choices=range(1, 1001), metavar="N", help="mails of a run, up to 1000 (50)")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(parse())))
    except (KruxOSError, Stopped) as error:  # no host, no key, or what it cannot do without
        sys.exit(f"mail_triage: {error}")
