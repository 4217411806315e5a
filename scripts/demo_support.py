"""What the demo stands on: the processes, the agent's and the operator's calls, and how it looks on a terminal."""
import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import demo_browser
from demo_services import Services
from demo_terminal import COLOUR, WIDTH, bold, cyan, dim, fold, green, labelled, paint, red, shown_width, yellow

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("KRUXOS_DEMO_BUILD", ROOT / "build" / "dev"))
SLACK_CLIENT = "3333.4444"
# The first lines of a host's configuration: all that it has is below one directory.
HOST_PLACES = """data_dir: {directory}/data
places_dir: {directory}/places
plugins_dir: {directory}/adapters
definitions_dir: {directory}/definitions
policies_dir: {directory}/policies
vault_key_file: {directory}/keys/vault.key
server: {{port: 0, health_port: 0}}
operator: {{agents_share_user: false}}
"""

def clean_environment():
    """Without settings of the person's own host."""
    return {name: value for name, value in os.environ.items() if not name.startswith("KRUXOS_")}


def free_port():
    """Slack compares a redirect address with its port, so the port is chosen before the host listens there: below those that a
    kernel hands out, so that no connection takes it meanwhile."""
    for port in random.sample(range(20_000, 30_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise DemoFailed("no port is free")


class DemoFailed(Exception):
    pass


def check(condition, otherwise):
    if not condition:
        raise DemoFailed(otherwise)


class Stage(Services):
    """Starts emulator and host in a directory of their own, and ends them again whatever happens."""

    def __init__(self, fast):
        self.fast = fast
        self.processes = []
        self.number = 0
        self.key = None

    def __enter__(self):
        os.umask(0o022)
        for program in ("kruxosd", "kruxos", "slack-emulator", "gmail-emulator"):
            if not (BUILD / "bin" / program).exists():
                sys.exit(f"{program} is not built: run make demo")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="kruxos-demo-"))
        return self

    def __exit__(self, kind, error, trace):
        for name, process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        if isinstance(error, (DemoFailed, KeyboardInterrupt)):
            print()
            print(labelled("The demo stopped:", red, str(error) or "interrupted"))
            log = self.directory / "kruxosd.log"
            if log.exists() and isinstance(error, DemoFailed):
                print(dim("The host's last lines:"))
                for line in log.read_text(errors="replace").splitlines()[-15:]:
                    print(dim(fold(line)))
            shutil.rmtree(self.directory, ignore_errors=True)
            sys.exit(1)
        shutil.rmtree(self.directory, ignore_errors=True)
        return False

    # --- telling -------------------------------------------------------------------------------------------------

    def chapter(self, title, *text):
        self.number += 1
        self.act(f"{self.number}  {title}", *text)

    def act(self, title, *text):
        print()
        head = f" {title} "
        print(paint(head, "1", "7") if COLOUR else f"== {head.strip()} ==")
        self.say(*text)

    def say(self, *text):
        for part in text:
            print(fold(part))
        self.pause(0.6 if text else 0)

    def show(self, text, marker="│"):
        for line in text.rstrip("\n").split("\n"):
            indent = " " * (len(line) - len(line.lstrip()))
            for part in [line] if shown_width(line) <= WIDTH - 4 else fold(line.strip(), indent, indent + "  ", WIDTH - 4).split("\n"):
                print(f"  {dim(marker)} {part}")
        self.pause(0.4)

    def good(self, text):
        print(labelled("✓", green, text))
        self.pause(0.5)

    def bad(self, text):
        print(labelled("✗", red, text))
        self.pause(0.5)

    def command(self, *arguments):
        """What an operator types."""
        print(labelled("operator $", cyan, f"kruxos {' '.join(arguments)}"))

    def call(self, capability, **arguments):
        """What an agent asks."""
        shown = ", ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in arguments.items())
        print(labelled("agent ▸", yellow, f"{capability}({shown})"))

    @contextlib.contextmanager
    def silence(self):
        """What is done in it is not shown."""
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            yield

    def pause(self, seconds):
        sys.stdout.flush()
        if not self.fast and sys.stdout.isatty():
            time.sleep(seconds)

    # --- processes -----------------------------------------------------------------------------------------------

    def start(self, name, command, log, **kwargs):
        with open(log, "wb") as handle:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=handle, text=True, cwd=self.directory,
                                       env=clean_environment(), **kwargs)
        self.processes.append((name, process))
        line = process.stdout.readline().strip()
        if not line.startswith("ready"):
            process.wait(5)
            said = pathlib.Path(log).read_text(errors="replace").strip().splitlines()
            raise DemoFailed(f"{name} did not start: {said[-1] if said else line or 'it said nothing'}")
        return line

    def start_emulator(self):
        self.slack_port = free_port()
        client = f"id={SLACK_CLIENT},kind=pkce,redirect=http://localhost:{self.slack_port}/oauth/callback"
        line = self.start("the emulator", [str(BUILD / "bin" / "slack-emulator"), "--port", "0", "--die-with-parent",
                                           "--oauth-client", client, "--oauth-person", "U0ALICE0001", "--team-name", "Acme"],
                          self.directory / "emulator.log")
        self.emulator = line.split()[1]

    def start_gmail(self, address):
        line = self.start("the Gmail emulator", [str(BUILD / "bin" / "gmail-emulator"), "--port", "0", "--die-with-parent",
                                                 "--address", address], self.directory / "gmail.log")
        self.gmail_emulator = line.split()[1]

    def start_host(self, config):
        path = self.directory / "kruxos.yaml"
        path.write_text(config)
        line = self.start("kruxosd", [str(BUILD / "bin" / "kruxosd"), "--config", str(path)],
                          self.directory / "kruxosd.log")
        ports = json.loads((self.directory / "data" / "ports.json").read_text())
        self.gateway = f"http://127.0.0.1:{ports['gateway']}/rpc"
        return line

    # --- the operator ---------------------------------------------------------------------------------------------

    def kruxos(self, *arguments, stdin="", check=True, quiet=False):
        command = [str(BUILD / "bin" / "kruxos"), "--data-dir", str(self.directory / "data"), *arguments]
        if not quiet:
            self.command(*arguments)
        env = dict(clean_environment(), COLUMNS=str(WIDTH - 4))
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=env, timeout=120)
        if check and done.returncode != 0:
            raise DemoFailed(f"kruxos {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout if done.stdout else done.stderr

    def operator(self, *arguments, **kwargs):
        self.show(self.kruxos(*arguments, **kwargs).replace(str(self.directory), "…"))

    def connect_in_browser(self, service, *arguments, secret=None, account=None):
        """`kruxos connect`, and a scripted browser that agrees at the address that it names."""
        command = [str(BUILD / "bin" / "kruxos"), "--data-dir", str(self.directory / "data"), "connect", service, *arguments,
                   "--no-browser"]
        self.command("connect", service, *arguments)
        env = dict(clean_environment(), COLUMNS=str(WIDTH - 4))
        if secret:
            env["KRUXOS_CLIENT_SECRET"] = secret
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=env)
        self.processes.append(("kruxos connect", process))
        address = ""
        while not address.startswith("http"):
            address = process.stderr.readline()
            check(address, f"kruxos connect {service} ended without an address")
            address = address.strip()
        self.show(address.split("?")[0] + "?…")
        demo_browser.browse(argparse.Namespace(address=address, account=account, untick=[], deny=False))
        out, error = process.communicate(timeout=60)
        check(process.returncode == 0, f"kruxos connect {service} ended with {process.returncode}: {error.strip()}")
        self.show(out)

    def connect_slack(self):
        self.connect_in_browser("slack", "--client-id", SLACK_CLIENT, "--profile", "full")
        self.operator("sync", "slack", "--wait")

    def operator_json(self, *arguments):
        return json.loads(self.kruxos("--json", *arguments, quiet=True))

    # --- the agent ------------------------------------------------------------------------------------------------

    def invoke(self, capability, quiet=False, **arguments):
        if not quiet:
            self.call(capability, **arguments)
        result = self.invoke_as(self.key, capability, **arguments)
        if not result["success"]:
            raise DemoFailed(f"{capability}: {result['error']['type']}: {result['error']['message']}")
        return result["data"]

    def refused(self, capability, **arguments):
        """The error of a call that must not succeed."""
        self.call(capability, **arguments)
        result = self.invoke_as(self.key, capability, **arguments)
        check(not result["success"], f"{capability} was not refused")
        self.show(f"{result['error']['type']}: {result['error']['message']}")
        return result["error"]

    def patiently(self, capability, seconds=15, **arguments):
        """As invoke(), again while the service is unavailable."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            result = self.invoke_as(self.key, capability, **arguments)
            if result["success"] or result["error"]["type"] != "ServiceUnavailable":
                break
            time.sleep(0.3)
        return self.invoke(capability, **arguments)

    def invoke_as(self, key, capability, **arguments):
        return self.rpc(key, "capabilities.invoke", {"capability": capability, "arguments": arguments})

    def rpc(self, key, method, params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.gateway, body, {"Content-Type": "application/json",
                                                              "Authorization": f"Bearer {key}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                reply = json.load(answer)
        except urllib.error.URLError as error:
            raise DemoFailed(f"the gateway did not answer: {error}")
        if "error" in reply:
            raise DemoFailed(f"{method}: {reply['error']['message']}")
        return reply["result"]

    def status_of(self, write_id):
        return self.invoke("proxy.write_status", quiet=True, write_id=write_id)

    def follow(self, write_id, until, seconds=60):
        """Prints each state that the write passes through; returns the last status."""
        seen, end = [], time.monotonic() + seconds
        begin = time.monotonic()
        while time.monotonic() < end:
            status = self.status_of(write_id)
            state = status["status"] + (" (asks you)" if status.get("needs_operator") else "")
            if state not in seen:
                seen.append(state)
                print(f"  {dim('+%4.1f s' % (time.monotonic() - begin))}  {bold(state)}")
                sys.stdout.flush()
            if until(status):
                return status
            time.sleep(0.1)
        raise DemoFailed(f"the write stayed {seen[-1]}: {json.dumps(status)}")

    def upload(self, name, kind, data):
        """Gives a file to the host; returns its upload_id."""
        print(f"  {yellow('agent ▸')} POST /uploads?filename={name}  ({len(data)} bytes)")
        address = self.gateway.replace("/rpc", "/uploads") + "?filename=" + urllib.parse.quote(name)
        request = urllib.request.Request(address, data, {"Content-Type": kind, "Authorization": f"Bearer {self.key}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["upload_id"]
