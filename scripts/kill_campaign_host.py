"""The processes of a kill campaign, the agent's and the operator's calls, and the emulators' records."""
import argparse
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import demo_browser
from demo_support import BUILD, HOST_PLACES, clean_environment

CLIENT = ("krux-test.apps.googleusercontent.com", "GOCSPX-krux-test")
PERSON = "ada@example.com"
TOKEN = "xoxb-campaign"
OPEN = "pending_approval,held,buffered,executing,unknown,dead_letter"
CONFIG = HOST_PLACES + """services:
  slack:
    api_base_url: {slack}/api/
    sync_interval_seconds: 5
    quota: [{{match: chat.postMessage, per_minute: 6000, burst: 100, per: channel}}, {{match: chat.delete, per_minute: 6000}},
      {{match: reactions.add, per_minute: 6000}}, {{match: reactions.get, per_minute: 6000}},
      {{match: conversations.history, per_minute: 6000}}, {{match: conversations.replies, per_minute: 6000}}]
  gmail:
    api_base_url: {gmail}/
    sync_interval_seconds: 5
    quota: [{{bucket: units, per_minute: 600000}}]
    oauth: {{callback_port: 0, authorize_url: {gmail}/o/oauth2/v2/auth, token_url: {gmail}/token, revoke_url: {gmail}/revoke}}
write_buffer: {{delays: {{slack.send: 0.8, email.send: 0.8, email.label: 0.8}}, order_wait_seconds: 4}}
retry: {{schedule_seconds: [0.5, 1, 1, 2, 3], settle_seconds: 2, look_gaps_seconds: [1, 2, 3, 4]}}
"""
POLICY = "policy: 1\nservice: {service}\nlimits: []\ncapabilities: {{}}\n"


class Gone(Exception):
    """The host did not answer: it was killed, or is not there yet."""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(str(self.path))


def exchange(connection, method, path, document=None, headers=None):
    try:
        body = None if document is None else json.dumps(document)
        connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Gone(str(error)) from error
    finally:
        connection.close()


class Host:
    def __init__(self, root, options):
        self.root = root
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="kruxos-kills-"))
        self.emulators = {}
        self.addresses = {}
        self.process = None
        self.key = None
        self.options = options

    # --- processes ----------------------------------------------------------------------------------------------------

    def prepare(self):
        os.umask(0o022)
        for folder in ("adapters", "definitions", "policies", "keys"):
            (self.directory / folder).mkdir(mode=0o700)
        for service in ("slack", "gmail"):
            shutil.copy(BUILD / "adapters" / f"{service}.so", self.directory / "adapters")
            shutil.copy(self.root / "definitions" / f"{service}.yaml", self.directory / "definitions")
            (self.directory / "policies" / f"{service}.yaml").write_text(POLICY.format(service=service))
        for folder in ("adapters", "definitions", "policies"):
            for file in (self.directory / folder).iterdir():
                file.chmod(0o644)
        self.start_emulator("slack", "--token", TOKEN)
        self.start_emulator("gmail", "--address", PERSON)
        self.seed()
        (self.directory / "kruxos.yaml").write_text(CONFIG.format(directory=self.directory, **self.addresses))
        self.start()
        self.operator("POST", "/v1/connections/slack", {"token": TOKEN})
        self.connect_gmail()
        self.key = self.operator("POST", "/v1/agents", {"name": "campaign"})["key"]
        for service in ("slack", "gmail"):
            self.wait_until(lambda s=service: self.operator("GET", f"/v1/sync/{s}")["sync"]["accounts"][0]["passes"] > 0)

    def start_emulator(self, service, *arguments):
        process = subprocess.Popen([str(BUILD / "bin" / f"{service}-emulator"), "--port", "0", "--die-with-parent", *arguments],
                                   stdout=subprocess.PIPE, text=True, cwd=self.directory, env=clean_environment())
        self.emulators[service] = process
        self.addresses[service] = process.stdout.readline().split()[1]

    def seed(self):
        now = int(time.time() * 1000)
        messages = [{"user": "U0ALICE0001", "text": f"Note {i}.", "at_ms": now - (400 - i) * 60_000} for i in range(300)]
        self.emulator("slack", "seed", {"users": [{"id": "U0ALICE0001", "name": "alice"}], "channels": [
            {"id": "C0GENERAL01", "name": "general", "messages": messages}, {"id": "C0RANDOM001", "name": "random"}]})
        self.slack_messages = [("C0GENERAL01", m["ts"]) for m in self.emulator("slack", "messages?channel=C0GENERAL01")["messages"]][-90:]
        seeded = self.emulator("gmail", "seed", {"generate": {"messages": 1500}, "labels": [{"id": "Label_7", "name": "Projects/Bridge"}]})
        self.mails = [m["id"] for m in self.emulator("gmail", "messages")["messages"] if "Label_7" not in m["labelIds"]]
        assert seeded and self.mails

    def connect_gmail(self):
        command = [str(BUILD / "bin" / "kruxos"), "--data-dir", str(self.directory / "data"), "connect", "gmail", "--client-id",
                   CLIENT[0], "--no-browser"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=dict(clean_environment(), KRUXOS_CLIENT_SECRET=CLIENT[1]))
        address = ""
        while not address.startswith("http"):
            address = process.stderr.readline().strip()
            if process.poll() is not None:
                raise SystemExit("kruxos connect gmail ended without an address")
        demo_browser.browse(argparse.Namespace(address=address, account=PERSON, untick=[], deny=False))
        _, error = process.communicate(timeout=60)
        if process.returncode != 0:
            raise SystemExit(f"kruxos connect gmail: {error.strip()}")

    def start(self, wait=True):
        log = open(self.directory / "kruxosd.log", "ab")
        self.process = subprocess.Popen([str(BUILD / "bin" / "kruxosd"), "--config", str(self.directory / "kruxos.yaml")],
                                        stdout=subprocess.DEVNULL, stderr=log, cwd=self.directory, env=clean_environment())
        log.close()
        if wait:
            self.ready()

    def ready(self):
        self.wait_until(self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise SystemExit(f"The host ended by itself with {self.process.returncode}: {self.directory}/kruxosd.log")
        try:
            return self.operator("GET", "/v1/status")["pid"] == self.process.pid
        except Gone:
            return False

    @staticmethod
    def wait_until(condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise SystemExit("The host did not become ready in time.")
            time.sleep(0.02)

    def kill(self, number):
        self.process.send_signal(number)
        self.process.wait()

    def end(self):
        for process in (self.process, *self.emulators.values()):
            if process and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    # --- calls --------------------------------------------------------------------------------------------------------

    def invoke(self, capability, arguments, key=None):
        params = {"capability": capability, "arguments": arguments}
        if key:
            params["idempotency_key"] = key
        try:
            port = json.loads((self.directory / "data" / "ports.json").read_text())["gateway"]
        except (OSError, ValueError) as error:
            raise Gone(str(error)) from error
        _, reply = exchange(http.client.HTTPConnection("127.0.0.1", port, timeout=30), "POST", "/rpc",
                            {"jsonrpc": "2.0", "id": 1, "method": "capabilities.invoke", "params": params},
                            {"Authorization": f"Bearer {self.key}"})
        if "result" not in reply:
            raise Gone(json.dumps(reply))
        result = reply["result"]
        if not result["success"] and result["error"]["type"] in ("ServiceUnavailable", "DatabaseError", "Timeout", "NotConnected"):
            raise Gone(result["error"]["message"])
        return result

    def operator(self, method, path, document=None):
        status, answer = exchange(UnixConnection(self.directory / "data" / "control.sock"), method, path, document)
        if status >= 500:
            raise Gone(json.dumps(answer))
        return answer

    def writes(self, query):
        found, before = [], ""
        while True:
            page = self.operator("GET", f"/v1/writes?limit=500{query}{before}")["writes"]
            found += page
            if len(page) < 500:
                return found
            before = f"&before={page[-1]['write_id']}"

    def open_writes(self):
        try:
            return self.writes(f"&state={OPEN}")
        except Gone:
            return [{"state": "executing", "needs_operator": False, "write_id": ""}]

    def decide(self, write, decision):
        try:
            self.operator("POST", f"/v1/writes/{write['write_id']}/resolve", {"decision": decision})
        except Gone:
            pass

    def emulator(self, service, path, document=None, method=None):
        address = self.addresses[service].removeprefix("http://")
        _, answer = exchange(http.client.HTTPConnection(address, timeout=30), method or ("GET" if document is None else "POST"),
                             f"/_emulator/{path}", document)
        return answer
