"""The host that the blocks of test/reference run against: all shipped adapters, the bundled emulators, a site on this machine.

It also has what stands around a block. docs/reference-documents.md says which block has which prelude.
"""

from __future__ import annotations

import asyncio
import ast
import contextlib
import http.server
import inspect
import itertools
import json
import os
import pty
import random
import select
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from kruxos._settings import ConnectOptions, Settings, settings_of
from kruxos._transport import Connection, Secret, Transport, WebSocketTransport
from kruxos.testing import Installation, MockHost

ADDRESS = "ws://localhost:7700/rpc"
KEY = "7f3a8c1d2e9b5a4f8e6c1d3b7a9f2e5c8d1b4a7f3c9e6d8b1a4c7f2e5d9b8a3c"
"""Address and key that the documents show."""
SITE = "https://api.example.com"
SLACK_APP, GMAIL_APP = "3333.4444", ("krux-test.apps.googleusercontent.com", "GOCSPX-krux-test")
PERSON = "agent@example.com"
MESSAGE = "1700000001.000001"
SERVICES = ("slack", "gmail", "filesystem", "network", "process")
POLICY = "policy: 1\nservice: process\ncapabilities:\n  process.run: {tier: autonomous}\n"
RULES = """policy: 1
rules:
  - {name: a person looks, capabilities: [process.run], agents: ["asked-*"], tier: approval_required}
  - {name: no programs, capabilities: [process.run], agents: ["refused-*"], tier: blocked}
  - {name: once, capabilities: [process.run], agents: ["limited-*"], limit: {limit: 1, window: 1 h, on_exceed: reject}}
"""


# --- a block ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """One file of test/reference. It is compiled as a notebook compiles a cell: `await` may stand outside of functions."""

    file: Path

    @property
    def name(self) -> str:
        return f"{self.file.parent.name}/{self.file.name}"

    @property
    def text(self) -> str:
        return self.file.read_text()

    async def run(self, **prelude: Any) -> dict[str, Any]:
        """In this loop; the names that it leaves behind."""
        names: dict[str, Any] = dict(prelude)
        code = compile(self.text, self.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        done = eval(code, names)
        if code.co_flags & inspect.CO_COROUTINE:
            await done
        return names

    def run_alone(self, **prelude: Any) -> dict[str, Any]:
        """Without a loop around it, as `python FILE` would; one that awaits outside of functions is given one."""
        names: dict[str, Any] = dict(prelude)
        code = compile(self.text, self.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(asyncio.wait_for(eval(code, names), 120))
        else:
            exec(code, names)
        return names


# --- where its messages go -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moved:
    """A transport on which the site that a block names is the test's own site."""

    transport: Transport
    site: str

    async def connect(self) -> Connection:
        return MovedConnection(await self.transport.connect(), self.site)


@dataclass(frozen=True)
class MovedConnection:
    connection: Connection
    site: str

    async def send(self, text: str) -> None:
        await self.connection.send(text.replace(SITE, self.site))

    async def receive(self) -> str | bytes:
        return await self.connection.receive()

    async def close(self) -> None:
        await self.connection.close()


# --- the site --------------------------------------------------------------------------------------------------------


class Site(http.server.BaseHTTPRequestHandler):
    """One page for each number; one that was taken away leads to a site that nobody has listed."""

    asked: list[str] = []
    taken_away: set[str] = set()

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        if self.path in self.taken_away:
            self.send_response(302)
            self.send_header("Location", "https://elsewhere.example/")
            self.end_headers()
            return
        body = json.dumps({"asked": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def free_port() -> int:
    """Below those that a kernel hands out: no connection of these tests takes it before the host listens there."""
    for port in random.sample(range(20_000, 30_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


# --- the host --------------------------------------------------------------------------------------------------------


class ReferenceHost(MockHost):
    def __init__(self, installation: Installation, build: Path, source: Path) -> None:
        self._build, self._source = build, source
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        self.site = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._slack_port = free_port()  # Slack compares a redirect's address with its port
        app = f"id={SLACK_APP},kind=pkce,redirect=http://localhost:{self._slack_port}/oauth/callback"
        self._emulators: list[subprocess.Popen[str]] = []
        self.slack = self._emulator(installation, "slack", "--oauth-client", app, "--oauth-person", "U0ALICE0001")
        self.gmail = self._emulator(installation, "gmail", "--address", PERSON)
        self._numbers = itertools.count()
        super().__init__({}, installation=installation)

    def _emulator(self, installation: Installation, service: str, *options: str) -> str:
        command = [str(installation.programs / f"{service}-emulator"), "--port", "0", "--die-with-parent", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._emulators.append(process)
        assert process.stdout is not None
        return process.stdout.readline().split()[1]

    def place_services(self) -> None:
        for service in SERVICES:
            self.place(self._build / "adapters" / f"{service}.so", "adapters", f"{service}.so")
            self.place(self._source / "definitions" / f"{service}.yaml", "definitions", f"{service}.yaml")
        for service in ("slack", "gmail"):
            self.place(self._source / "policies" / f"{service}.yaml", "policies", f"{service}.yaml")
        (self.directory / "policies" / "rules").mkdir(mode=0o700)
        for name, text in (("process.yaml", POLICY), ("rules/system.yaml", RULES)):
            file = self.directory / "policies" / name
            file.write_text(text)
            file.chmod(0o644)
        slack, gmail = self.slack, self.gmail
        self._more = (
            "services:\n"
            f"  filesystem: {{adapter: {{root: '{self.directory}/workspaces'}}}}\n"
            f"  process: {{adapter: {{root: '{self.directory}/workspaces', allow_root: true}}}}\n"
            f"  network: {{api_base_url: '{self.site}/', quota: [{{match: '*', per_minute: 60000}}], adapter: {{allow_hosts: [127.0.0.1]}}}}\n"
            f"  slack: {{api_base_url: '{slack}/api/', oauth: {{callback_port: {self._slack_port}, authorize_url: '{slack}/oauth/v2/authorize', "
            f"token_url: '{slack}/api/oauth.v2.access', revoke_url: '{slack}/api/auth.revoke'}}}}\n"
            f"  gmail: {{api_base_url: '{gmail}/', oauth: {{client_id: {GMAIL_APP[0]}, callback_port: 0, authorize_url: '{gmail}/o/oauth2/v2/auth', "
            f"token_url: '{gmail}/token', revoke_url: '{gmail}/revoke'}}}}\n"
        )

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._server.shutdown()
        self._server.server_close()
        for process in self._emulators:
            process.terminate()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()

    @staticmethod
    def emulated(address: str, what: str, document: Any = None) -> Any:
        data = None if document is None else json.dumps(document).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{address}/_emulator/{what}", data), timeout=30) as answer:
            return json.load(answer)

    # --- for agents

    def new_agent(self, kind: str = "agent") -> str:
        """The key of an agent of its own; `kind` begins its name, by which the rules tell agents apart."""
        return self.new_key(f"{kind}-{next(self._numbers)}")

    def stand_in(self, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
        """For the host and the key that a block shows, or finds in the environment."""
        monkeypatch.setenv("KRUXOS_HOST", self.address)
        monkeypatch.setenv("KRUXOS_API_KEY", key)

        def moved(address: str | None, given: ConnectOptions) -> Settings:
            if given.get("api_key") == "<64-char hex>":
                given = {**given, "api_key": KEY}
            settings = settings_of(address, given)
            transport = settings.transport
            if settings.url == ADDRESS:
                assert settings.key.reveal() == KEY
                transport = WebSocketTransport(f"ws://{self.address}/rpc", Secret(key))
            return replace(settings, transport=Moved(transport, self.site))

        for module in ("client", "async_client"):
            monkeypatch.setattr(f"kruxos.{module}.settings_of", moved)

    # --- for operators

    def shell(self, script: str, placeholders: Mapping[str, str] | None = None, *, secret: str = "", yes: bool = False) -> str:
        """A script of the operator's on a terminal; what stands on that afterwards. `kruxos` is found as it is where it is installed."""
        for name, value in (placeholders or {}).items():
            assert name in script
            script = script.replace(name, value)
        tools = self._tools()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KRUXOS_")}
        environment |= {
            "PATH": f"{tools}:{self.installation.programs}:{environment['PATH']}",
            "KRUXOS_DATA_DIR": str(self.directory / "data"),
            "DISPLAY": ":0",
            "TERM": "dumb",
            "COLUMNS": "200",
        }
        if secret:
            environment["KRUXOS_CLIENT_SECRET"] = secret
        return on_terminal(["bash", "-e", "-c", script], environment, "y\n" if yes else "")

    def _tools(self) -> Path:
        """With the browser that `kruxos connect` opens: it agrees to everything on the emulator's page."""
        folder = self.directory / "tools"
        browser = folder / "xdg-open"
        if not browser.exists():
            folder.mkdir(mode=0o700)
            browser.write_text(f'#!/bin/sh\nexec "{sys.executable}" -B "{self._source}/scripts/demo_browser.py" "$1"\n')
            browser.chmod(stat.S_IRWXU)
        return folder

    def decide(self, approval_id: str, *how: str) -> None:
        self.operator("approve", *how, approval_id, "--yes")

    def connect_slack(self, script: str) -> str:
        people = [{"id": "U0ALICE0001", "name": "alice", "real_name": "Alice Nguyen"}]
        message = {"ts": MESSAGE, "user": "U0ALICE0001", "text": "The deployment is under way."}
        channel = {"id": "C01234567", "name": "engineering", "messages": [message]}
        self.emulated(self.slack, "seed", {"users": people, "channels": [channel]})
        said = self.shell(script, {"<YOUR_CLIENT_ID>": SLACK_APP})
        self.operator("sync", "slack", "--wait")
        return said

    def connect_gmail(self) -> str:
        now = int(time.time() * 1000)
        subjects = ["Weekly status update", "An invoice", "Lunch"]
        mails = [
            {"from": "ada@example.com", "to": PERSON, "subject": subject, "body": f"{subject}.", "at_ms": now - (n + 1) * 3_600_000,
             "labels": ["INBOX", "UNREAD"]}
            for n, subject in enumerate(subjects)
        ]  # fmt: skip
        self.emulated(self.gmail, "seed", {"messages": mails})
        said = self.shell("kruxos connect gmail", secret=GMAIL_APP[1])
        self.operator("sync", "gmail", "--wait")
        return said


def on_terminal(command: list[str], environment: Mapping[str, str], answer: str) -> str:
    """What the command prints; `answer` is typed where it asks."""
    ours, its = pty.openpty()
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=dict(environment), start_new_session=True)
    os.close(its)
    said, asked, end = b"", 0, time.monotonic() + 60
    try:
        while time.monotonic() < end:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the last program that had the terminal has ended
                break
            if not part:
                break
            said += part
            while answer and said.count(b"[y/N]") > asked:
                asked += 1
                os.write(ours, answer.encode())
        else:
            raise AssertionError(f"{command} did not end: {said.decode(errors='replace')}")
    finally:
        os.close(ours)
        if process.poll() is None and time.monotonic() >= end:
            process.kill()
        code = process.wait(30)
    text = said.decode(errors="replace").replace("\r\n", "\n")
    assert code == 0, f"{command} ended with {code}: {text}"
    return text
