"""A host of the shipped code with the bundled emulators behind it, as the demo has it, and what an operator does there."""
import contextlib
import io
import json
import pathlib
import shutil
import signal
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from demo_support import BUILD, HOST_PLACES, Stage, check, free_port  # noqa: E402

TOKEN = "xoxb-peers"
PERSON = "ada@example.com"
CLIENT = ("krux-test.apps.googleusercontent.com", "GOCSPX-krux-test")
SERVICES = """services:
  slack: {{api_base_url: {slack}/api/, sync_interval_seconds: 60}}
  gmail:
    api_base_url: {gmail}/
    sync_interval_seconds: 60
    oauth: {{callback_port: 0, authorize_url: {gmail}/o/oauth2/v2/auth, token_url: {gmail}/token, revoke_url: {gmail}/revoke}}
write_buffer: {{delays: {{slack.send: 1, email.send: 60}}}}
"""
NOTES = '{"service": "notes", "account": {"account_id": "acct-1", "display_name": "Ann\'s notes"}}'
FIXTURES = ROOT / "test" / "peers" / "fixtures"


class PeerHost(Stage):
    """A host with places of its own; what it serves is its subclasses' to say."""

    def __init__(self):
        super().__init__(fast=True)

    def make_places(self):
        for folder in ("adapters", "definitions", "policies", "keys"):
            (self.directory / folder).mkdir(mode=0o700)

    def place_adapter(self, service):
        shutil.copy(BUILD / "adapters" / f"{service}.so", self.directory / "adapters")
        shutil.copy(ROOT / "definitions" / f"{service}.yaml", self.directory / "definitions")
        shutil.copy(ROOT / "policies" / f"{service}.yaml", self.directory / "policies")

    def place_mock(self, service, script, definition):
        """In the adapter's place, one that does what `script` says (docs/testing.md)."""
        shutil.copy(BUILD / "tests" / "adapters" / "mock.so", self.directory / "adapters" / f"{service}.so")
        (self.directory / "adapters" / f"{service}.mock.json").write_text(script)
        shutil.copy(definition, self.directory / "definitions")

    def places(self):
        """The first lines of its configuration."""
        return HOST_PLACES

    def start_with(self, config, **addresses):
        for folder in ("adapters", "definitions", "policies"):
            for file in (self.directory / folder).iterdir():
                file.chmod(0o644)  # whatever the checkout's files have: the host takes none that others can write
        line = self.start_host(self.places().format(directory=self.directory) + config.format(**addresses))
        self.address = line.split()[1]

    def new_agent(self, name):
        return self.operator_json("agent", "create", name)["key"]


class ServicesHost(PeerHost):
    """With Slack and Gmail connected to the bundled emulators; an adapter for notes is there to be connected."""

    def __init__(self, channels):
        super().__init__()
        self.channels = channels

    def begin(self):
        self.make_places()
        self.place_adapter("slack")
        self.place_adapter("gmail")
        self.place_mock("notes", NOTES, ROOT / "examples" / "notes_adapter" / "definitions" / "notes.yaml")
        line = self.start("slack-emulator", [str(BUILD / "bin" / "slack-emulator"), "--port", "0", "--die-with-parent", "--token",
                                             TOKEN], self.directory / "slack.log")
        self.emulator = line.split()[1]
        self.start_gmail(PERSON)
        self.slack("seed", self.workspace())
        self.gmail("seed", {"generate": {"messages": 30}})
        self.start_with(SERVICES, slack=self.emulator, gmail=self.gmail_emulator)
        self.kruxos("connect", "slack", stdin=TOKEN + "\n", quiet=True)
        with contextlib.redirect_stdout(io.StringIO()):
            self.connect_in_browser("gmail", "--client-id", CLIENT[0], secret=CLIENT[1], account=PERSON)
        for service in ("slack", "gmail"):
            self.kruxos("sync", service, "--wait", quiet=True)

    def workspace(self):
        """A channel for each session: what one posts is no other's to find, and a channel takes ten messages an hour."""
        now = int(time.time() * 1000)
        notes = [{"user": "U0ALICE0001", "text": f"Note {n + 1}: the release train is on time.", "at_ms": now - (9 - n) * 60_000}
                 for n in range(3)]
        return {"users": [{"id": "U0ALICE0001", "name": "alice", "real_name": "Alice Nguyen"}],
                "channels": [{"id": f"C0PEER{n:05}", "name": name, "messages": notes} for n, name in enumerate(self.channels)]}

    def act(self, action):
        """What a session asks an operator for."""
        if action == "connect notes":
            self.kruxos("connect", "notes", stdin="note-peers1234\n", quiet=True)
        elif action == "disconnect notes":
            self.kruxos("disconnect", "notes", "--yes", quiet=True)
        else:
            check(False, f"no operator does {action}")

    def times_done(self, service, write_id):
        return self.effects(write_id) if service == "slack" else self.mails(write_id)


class FixturesHost(PeerHost):
    """With adapters that are mocks and offer what the conformance suite calls."""

    def begin(self):
        self.make_places()
        services = [file.stem for file in sorted(FIXTURES.glob("*.yaml"))]
        for service in services:
            self.place_mock(service, (FIXTURES / f"{service}.mock.json").read_text(), FIXTURES / f"{service}.yaml")
        services += self.place_tasks()
        self.start_with("")
        for service in services:
            self.connect(service)
        self.asked_for = threading.Thread(target=self.change_when_asked)
        self.asked_for.start()

    def place_tasks(self):
        """What the suite calls of tasks, a service each: its tools are named as a service of one capability is."""
        services = json.loads((FIXTURES / "tasks.json").read_text())
        for service, what in services.items():
            capability = {"name": service, "kind": "read", "tier": "autonomous", "core": False,
                          "when_to_use": "When the suite calls it.", **what["capability"]}
            definition = {"schema": 1, "service": service, "prefix": service, "display_name": service,
                          "description": "A tool of the suite's.", "version": "1.0.0",
                          "adapter": {"min_version": "1.0.0", "below_version": "2.0.0"}, "call_timeout": "120 s",
                          "api_base_url": "https://fixtures.example/", "hosts": ["fixtures.example"],
                          "connect": {"scopes": [], "token_pattern": "fixtures-[A-Za-z0-9]{4,64}", "help": "Any token."},
                          "capabilities": [capability]}
            file = self.directory / f"{service}.yaml"
            file.write_text(json.dumps(definition))
            rules = [{"call": "read", "operation": service, **rule} for rule in what["rules"]]
            account = {"account_id": "suite", "display_name": "The suite"}
            self.place_mock(service, json.dumps({"service": service, "account": account, "rules": rules}), file)
        return list(services)

    def connect(self, service):
        self.kruxos("connect", service, stdin="fixtures-peers1234\n", quiet=True)

    def act(self, action):
        check(action == "connect test anew", f"no operator does {action}")
        self.kruxos("disconnect", "test", "--yes", quiet=True)
        self.connect("test")  # its records come anew
        self.kruxos("sync", "test", "--wait", quiet=True)

    def change_when_asked(self):
        """An operator who has the definitions read anew whenever a trigger of the suite's was carried out."""
        journal, seen = self.directory / "adapters" / "test.mock.json.journal", 0
        host = next(process for name, process in self.processes if name == "kruxosd")
        while host.poll() is None:
            size = journal.stat().st_size if journal.exists() else 0
            if size > seen:
                seen = size
                host.send_signal(signal.SIGHUP)
            time.sleep(0.05)

    def __exit__(self, *error):
        super().__exit__(*error)
        self.asked_for.join()
