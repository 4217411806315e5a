"""Official TypeScript clients that show addresses: their user, who is here, is led to the operator's page and accepts there."""
import http.client
import json
import re
import shutil
import subprocess
import threading
import urllib.parse

from page import PASSPHRASE
from sessions import HERE, INSTALLED, NODE, settings_of

CLIENTS = [(2, "http", "2026-07-28"), (2, "http", "2025-11-25"), (2, "stdio", "2026-07-28"), (2, "stdio", "2025-11-25"),
           (1, "http", "2025-11-25"), (1, "stdio", "2025-11-25")]
LONGEST = 90


class Browser:
    """As much of one as following an address, signing in and pressing a button need."""

    def __init__(self, address):
        self.address = urllib.parse.urlsplit(address)
        self.cookie = ""

    def ask(self, method, path, form=None):
        connection = http.client.HTTPConnection(self.address.netloc, timeout=20)
        headers = {"Cookie": self.cookie, "Origin": f"http://{self.address.netloc}", "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, urllib.parse.urlencode(form) if form is not None else None, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        self.cookie = (answer.getheader("Set-Cookie") or self.cookie).split(";")[0]
        return answer.status, answer.getheader("Location"), text

    def accept(self):
        """Why it does not come to that; nothing: it does."""
        status, _, form = self.ask("GET", self.address.path)
        if status != 200 or "passphrase" not in form:
            return f"the address shows {status}: {form[:300]}"
        status, landing, text = self.ask("POST", "/sign-in", {"next": value(form, "next"), "passphrase": PASSPHRASE})
        if status != 303 or not landing.endswith(self.address.path):
            return f"signing in leads to {status} {landing}: {text[:300]}"
        status, _, shown = self.ask("GET", landing)
        status, _, text = self.ask("POST", landing + "/accept", {name: value(shown, name) for name in ("token", "content_hash", "state")})
        return None if status == 303 else f"accepting comes to {status}: {text[:300]}"


def value(page, name):
    found = re.search(f'name="{name}" value="([^"]*)"', page)
    return found.group(1) if found else ""


def run(host, report):
    shutil.copy(HERE / "invited.mjs", INSTALLED)
    for line, transport, version in CLIENTS:
        name = f"typescript-{line}-{transport}-{version}-led"
        report.group(name)
        run_one(host, report, name, {**settings_of(host, name, transport, version), "line": line})


def run_one(host, report, name, settings):
    said, why = [], None
    process = subprocess.Popen([str(NODE), str(INSTALLED / "invited.mjs"), json.dumps(settings)], stdout=subprocess.PIPE, text=True)
    watch = threading.Timer(LONGEST, process.kill)
    watch.start()
    for text in process.stdout:
        said.append(json.loads(text))
        shown = said[-1].get("shows")
        if shown:
            asked = next(message["write"] for message in said if "write" in message)
            right = shown["mode"] == "url" and shown["url"] == f"{host.page}writes/{asked}" and name in shown["message"]
            why = why or (None if right else f"it was asked to show {shown}")
            why = why or (None if host.state(asked) == "pending_approval" else "the write did not wait any more")
            why = why or Browser(shown["url"]).accept()
    code = process.wait()
    watch.cancel()
    all_shown = [message["shows"] for message in said if "shows" in message]
    report.result(f"{name}: its user is led to the write's page once, and accepts there", why or (None if len(all_shown) == 1 else f"{said}"))
    ends = [message["end"] for message in said if "end" in message]
    report.result(f"{name}: its wait ends with the message sent", None if code == 0 and ends == ["completed"] else f"it ended with {code} and said {said}")
    over = [message["complete"] for message in said if "complete" in message]
    wanted = [] if settings["version"] == "2026-07-28" else [shown.get("elicitationId") for shown in all_shown]
    report.result(f"{name}: it hears of the decision where its model has that", None if over == wanted else f"it heard {over}, not {wanted}")
    asked = [message["write"] for message in said if "write" in message]
    times = [host.effects(write) for write in asked]
    report.result(f"{name}: what it sent is there once", None if times == [1] else f"{asked} are there {times} times")
