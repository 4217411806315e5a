"""The operator's page in a real browser (Debian's chromium), which axe-core looks over: by keys, without a script, narrow and wide, light and dark."""
import json
import shutil
import subprocess
import tempfile

from host import BUILD, HOST_PLACES, PeerHost, TOKEN
from sessions import HERE, INSTALLED, LONGEST, NODE

PASSPHRASE = "a passphrase for the page"
CONFIG = """services:
  slack: {{api_base_url: {slack}/api/, sync_interval_seconds: 60}}
write_buffer: {{delays: {{slack.send: 1}}}}
"""
POLICY = "policy: 1\nservice: slack\ncapabilities: {slack.send: {tier: approval_required}}\n"


class PageHost(PeerHost):
    """With the page, a passphrase, and an agent whose messages wait for approval."""

    def begin(self):
        self.make_places()
        self.place_adapter("slack")
        (self.directory / "policies" / "slack.yaml").write_text(POLICY)
        line = self.start("slack-emulator", [str(BUILD / "bin" / "slack-emulator"), "--port", "0", "--die-with-parent", "--token",
                                             TOKEN], self.directory / "slack.log")
        self.emulator = line.split()[1]
        self.slack("seed", {"channels": [{"id": "C0GENERAL01", "name": "general"}]})
        self.start_with(CONFIG, slack=self.emulator)
        self.kruxos("operator", "set-passphrase", stdin=PASSPHRASE + "\n", quiet=True)
        self.kruxos("connect", "slack", stdin=TOKEN + "\n", quiet=True)
        self.kruxos("sync", "slack", "--wait", quiet=True)
        self.key = self.new_agent("assistant")
        ports = json.loads((self.directory / "data" / "ports.json").read_text())
        self.page = f"http://127.0.0.1:{ports['page']}/"

    def places(self):
        return HOST_PLACES.replace("health_port: 0", "health_port: 0, web_port: 0")

    def ask(self, text):
        """What waits for approval then."""
        result = self.invoke_as(self.key, "slack.send", channel="general", text=text)
        return result["error"]["context"]["write_id"]

    def state(self, write_id):
        return self.operator_json("approve", "show", write_id)["write"]["state"]


def run(host, report):
    report.group("the operator's page, in a browser")
    if not shutil.which("chromium"):
        return report.result("chromium is there", "it is not installed: run scripts/setup --peers")
    ids = {name: host.ask(f"{name}: <b>hello</b> \u202eodd") for name in ("axe", "keys", "plain")}
    shutil.copy(HERE / "page.mjs", INSTALLED)
    with tempfile.TemporaryDirectory(prefix="kruxos-page-", ignore_cleanup_errors=True) as profile:
        settings = {"url": host.page, "passphrase": PASSPHRASE, "ids": ids, "profile": profile}
        process = subprocess.Popen([str(NODE), str(INSTALLED / "page.mjs"), json.dumps(settings)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        try:
            for line in process.stdout:
                said = json.loads(line)
                if "send" in said:
                    process.stdin.write(host.ask(said["send"]) + "\n")
                    process.stdin.flush()
                else:
                    report.result(said["name"], said.get("why"))
            process.wait(LONGEST)
        finally:
            process.kill()
    report.result("the browser's program ends well", None if process.returncode == 0 else f"it ended with {process.returncode}")
    for name, wanted in (("keys", "buffered"), ("plain", "rejected"), ("axe", "pending_approval")):
        state = host.state(ids[name])
        states = (wanted, "executing", "completed") if wanted == "buffered" else (wanted,)
        report.result(f"what was decided ({name}) is decided", None if state in states else f"it is {state}")
