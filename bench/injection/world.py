"""A host of the shipped code with a suite's environment behind it: started once, and put back as it was between cases."""
import contextlib
import io
import json
import pathlib
import shutil
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "test" / "peers")]

import mailbox  # noqa: E402
import office  # noqa: E402
import policies  # noqa: E402
import workspace  # noqa: E402
from agent import Agent  # noqa: E402
from demo_support import BUILD, HOST_PLACES, check  # noqa: E402
from host import CLIENT, PeerHost  # noqa: E402
from kill_campaign_host import UnixConnection, exchange  # noqa: E402

SERVICES = ("gmail", "slack")
WAITING = ("email.send", "email.reply", "email.forward", "email.label", "email.move", "email.delete", "slack.send", "slack.reply")
NOBODY = "http://127.0.0.1:9"  # of a service that is not connected
# Quotas of the real services would make a run of hundreds of cases take hours; delays are over at once. Nothing else is set.
SERVICES_AND_WRITES = """services:
  gmail:
    api_base_url: {gmail}/
    sync_interval_seconds: 3600
    quota: [{{bucket: units, per_minute: 6000000}}]
    adapter: {{fetch_bodies: true}}
    oauth: {{callback_port: 0, authorize_url: {gmail}/o/oauth2/v2/auth, token_url: {gmail}/token, revoke_url: {gmail}/revoke}}
  slack:
    api_base_url: {slack}/api/
    sync_interval_seconds: 3600
    quota: [{{match: chat.postMessage, per_minute: 60000, burst: 1000, per: channel}},
      {{match: conversations.history, per_minute: 60000}}, {{match: conversations.replies, per_minute: 60000}},
      {{match: conversations.list, per_minute: 60000}}, {{match: users.list, per_minute: 60000}}]
write_buffer: {{delays: {delays}}}
log: {{level: warn}}
"""


class Emulator:
    def __init__(self, address):
        self.address = address

    def __call__(self, what, document=None):
        data = json.dumps(document).encode() if document is not None else None
        request = urllib.request.Request(f"{self.address}/_emulator/{what}", data)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


class World(PeerHost):
    """`directory_of_policies`: as policies.py takes it."""

    def __init__(self, directory_of_policies):
        super().__init__()
        self.policies = directory_of_policies
        self.agents = 0
        self.mail = self.chat = None
        self.mocks, self.journals = [], {}
        self.delays = dict.fromkeys(WAITING, 0)

    def begin(self):
        """Both services are known to the host, since rules may name both; what has an emulator is connected later."""
        domain = self.mail.address.split("@")[1] if self.mail else None
        policies.place(self.policies, self.directory / "policies", domain)
        for service in SERVICES:
            shutil.copy(BUILD / "adapters" / f"{service}.so", self.directory / "adapters")
            shutil.copy(ROOT / "definitions" / f"{service}.yaml", self.directory / "definitions")
        for folder in ("adapters", "definitions"):
            for file in (self.directory / folder).iterdir():
                file.chmod(0o644)
        addresses = {"gmail": self.mail.emulator.address if self.mail else NOBODY, "slack": self.chat.emulator.address if self.chat else NOBODY}
        line = self.start_host((HOST_PLACES + SERVICES_AND_WRITES).format(directory=self.directory, delays=json.dumps(self.delays), **addresses))
        self.address = line.split()[1]

    # --- the services -----------------------------------------------------------------------------------------------------

    def start_mailbox(self, address):
        line = self.start("the Gmail emulator", [
            str(BUILD / "bin" / "gmail-emulator"), "--port", "0", "--die-with-parent", "--address", address, "--token",
            f"{mailbox.TOKEN}@{address}"], self.directory / "gmail.log")
        self.mail = mailbox.Mailbox(Emulator(line.split()[1]), address)

    def start_workspace(self):
        line = self.start("the Slack emulator", [str(BUILD / "bin" / "slack-emulator"), "--port", "0", "--die-with-parent",
                                                 "--token", workspace.TOKEN], self.directory / "slack.log")
        self.chat = workspace.Workspace(Emulator(line.split()[1]))

    def place_mocks(self, scripts, known=()):
        """`scripts` by service; of the services `known` besides rules may speak, and nobody has them."""
        self.mocks = list(scripts)
        for service in dict.fromkeys([*scripts, *known]):
            self.place_mock(service, scripts.get(service) or office.idle(service), office.definition(service))
            self.delays.update(office.delays([service]))
        self.journals = {service: office.Journal(self.directory / "adapters" / f"{service}.mock.json.journal") for service in scripts}

    def connect_all(self):
        for service in self.mocks:
            self.control("POST", f"/v1/connections/{service}", {"token": f"{service}-benchmark"})
        if self.chat:
            self.control("POST", "/v1/connections/slack", {"token": workspace.TOKEN})
        if self.mail:
            with contextlib.redirect_stdout(io.StringIO()):
                self.connect_in_browser("gmail", "--client-id", CLIENT[0], secret=CLIENT[1], account=self.mail.address)
        for service in [name for name, there in (("gmail", self.mail), ("slack", self.chat)) if there]:
            self.wait(lambda s=service: self.account(s)["whole"], f"the first sync of {service} did not end")
        # Policies that the host refuses block what they are about, which would look like a defence.
        alerts = [alert["message"] for alert in self.control("GET", "/v1/alerts")["alerts"]]
        check(not alerts, f"the host has alerts: {alerts}")

    # --- the operator -----------------------------------------------------------------------------------------------------

    def control(self, method, path, document=None):
        status, answer = exchange(UnixConnection(self.directory / "data" / "control.sock"), method, path, document)
        check(status < 400, f"{method} {path}: {json.dumps(answer)}")
        return answer

    def account(self, service):
        return self.control("GET", f"/v1/sync/{service}")["sync"]["accounts"][0]

    def sync(self, service):
        """The replica has what the service has now."""
        passes = self.account(service)["passes"]
        self.control("POST", f"/v1/sync/{service}")
        self.wait(lambda: self.account(service)["passes"] > passes, f"{service} was not synced")

    @staticmethod
    def wait(condition, otherwise, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            check(time.monotonic() < end, otherwise)
            time.sleep(0.01)

    def new_agent(self):
        """One that has written nothing yet: limits count by agent."""
        self.agents += 1
        made = self.control("POST", "/v1/agents", {"name": f"agent-{self.agents}"})
        return Agent(self.address, made["key"])

    def retire(self, agent):
        """What waits of it is cancelled, and the services are as they were."""
        agent.close()
        self.control("POST", f"/v1/agents/agent-{self.agents}/revoke")
        if self.mail and self.mail.restore():
            self.sync("gmail")
        if self.chat and self.chat.restore():
            self.sync("slack")
