"""What a page's commands run in: emulated services, a host, and a directory that looks like a checkout which was built."""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from document import ROOT

PASSPHRASE, TOKEN = "a sentence of a test", "xoxb-test"
CLIENT, SECRET = "krux-test.apps.googleusercontent.com", "GOCSPX-krux-test"
PERSON = "ada@example.com"
# The shipped settings, but for ports, addresses, and what each try of a passphrase costs.
CONFIG = """plugins_dir: {tree}/adapters
definitions_dir: {tree}/definitions
policies_dir: {tree}/policies
server: {{port: {gateway}, health_port: {health}, web_port: {page}}}
vault: {{argon2_passes: 1, argon2_memory_mib: 16}}
services:
  slack: {{api_base_url: "{slack}/api/"}}
  gmail:
    api_base_url: {gmail}/
    oauth: {{callback_port: 0, authorize_url: "{gmail}/o/oauth2/v2/auth", token_url: "{gmail}/token", revoke_url: "{gmail}/revoke"}}
"""
# A command of the checkout that a page's reader uses, and what stands in its place: everything is built already.
STANDINS = {
    "bin/make": """#!/bin/bash
[[ $1 == run ]] || exit 0
args=
for word in "$@"; do [[ $word == ARGS=* ]] && args=${word#ARGS=}; done
kruxosd --config "$SETTING/kruxos.yaml" $args > "$SETTING/host.out" 2> "$SETTING/host.log" &
echo $! >> "$SETTING/pids"
for _ in {1..200}; do grep -q ^ready "$SETTING/host.out" && exit 0; sleep 0.05; done
cat "$SETTING/host.log" >&2
exit 1
""",
    "bin/xdg-open": "#!/bin/bash\nexec python3 {root}/scripts/demo_browser.py \"$1\" --account {person}\n",
    "scripts/build": "#!/bin/bash\n",
}


def free_ports(count):
    """Below those that a kernel hands out, so that no connection takes one before the program that it is for."""
    free = []
    for port in random.sample(range(20_000, 30_000), 500):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        free.append(port)
        if len(free) == count:
            return free
    raise RuntimeError("no port is free")


class Setting:
    """`begins`: whether the page finds a host with both services connected, an agent and a passphrase, or makes all that itself."""

    def __init__(self, build, begins):
        self.build, self.begins = pathlib.Path(build), begins
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="kruxos-documents-"))
        self.processes, self.key = [], ""

    def __enter__(self):
        self.tree = self.directory / "tree"
        self.home = self.directory / "home"
        for folder in (self.tree / "bin", self.tree / "scripts", self.tree / "build" / "dev", self.home):
            folder.mkdir(parents=True)
        (self.tree / "build" / "dev" / "bin").symlink_to(self.build / "bin")
        for name, text in STANDINS.items():
            (self.tree / name).write_text(text.replace("{root}", str(ROOT)).replace("{person}", PERSON))
            (self.tree / name).chmod(0o755)
        (self.tree / "adapters").mkdir()
        for service in ("slack", "gmail"):
            shutil.copy(self.build / "adapters" / f"{service}.so", self.tree / "adapters")
        for folder in ("definitions", "policies"):
            shutil.copytree(ROOT / folder, self.tree / folder)
        for path in self.tree.rglob("*"):
            if not path.is_symlink() and not path.is_relative_to(self.tree / "build"):
                path.chmod(0o755 if path.is_dir() or path.parent.name in ("bin", "scripts") else 0o644)
        self.gateway, self.health, self.page, self.spare, self.other = free_ports(5)
        self.slack = self.emulator("slack-emulator", "--token", TOKEN)
        self.gmail = self.emulator("gmail-emulator", "--address", PERSON)
        (self.directory / "kruxos.yaml").write_text(CONFIG.format(**vars(self)))
        if self.begins:
            self.begin()
        return self

    def __exit__(self, *_):
        pids = self.directory / "pids"
        for pid in pids.read_text().split() if pids.exists() else []:
            try:
                os.kill(int(pid), signal.SIGTERM)
            except ProcessLookupError:
                pass
        for process in reversed(self.processes):
            process.terminate()
            process.wait(20)
            process.stdout.close()
        for _ in range(100):  # the host that `make run` has started is not ours to wait for
            if not any(pathlib.Path(f"/proc/{pid}").exists() for pid in (pids.read_text().split() if pids.exists() else [])):
                break
            time.sleep(0.1)
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KRUXOS_", "XDG_"))}
        return dict(kept, HOME=str(self.home), TERM="xterm", PATH=f"{self.tree}/bin:{self.build}/bin:{os.environ['PATH']}",
                    SETTING=str(self.directory), DISPLAY=":0", KEY=self.key)

    def emulator(self, name, *arguments):
        process = subprocess.Popen([str(self.build / "bin" / name), "--port", "0", "--die-with-parent", *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.environment_of_programs())
        self.processes.append(process)
        return process.stdout.readline().split()[1]

    def environment_of_programs(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home)}

    def do(self, script, stdin=""):
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], input=stdin, capture_output=True, text=True, timeout=120,
                              cwd=self.tree, env=self.environment)
        if done.returncode != 0:
            raise RuntimeError(f"{script}\nended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def begin(self):
        seed = {"channels": [{"id": "C0GENERAL01", "name": "general"}], "generate": {"channels": 2, "users": 5}}
        mail = {"messages": [{"from": "amy@example.com", "to": PERSON, "subject": "Lunch", "body": "At one?"}]}
        self.do(f"curl -fsS {self.slack}/_emulator/seed -d '{json.dumps(seed)}'; curl -fsS {self.gmail}/_emulator/seed -d '{json.dumps(mail)}'")
        self.do("make run")
        self.do("kruxos operator set-passphrase", PASSPHRASE + "\n")
        (self.directory / "passphrase").write_text(PASSPHRASE + "\n")
        (self.directory / "passphrase").chmod(0o600)
        by = 'kruxos --passphrase-file "$SETTING/passphrase"'
        self.do(f"{by} connect slack --token", TOKEN + "\n")
        self.do(f"KRUXOS_CLIENT_SECRET={SECRET} {by} connect gmail --client-id {CLIENT} --no-browser 2>&1 | "
                "while read -r line; do echo \"$line\"; [[ $line != http* ]] || xdg-open \"$line\" > /dev/null & done; wait")
        self.do("kruxos sync slack --wait; kruxos sync gmail --wait")
        self.key = self.do(f"{by} agent create helper").strip()

    def reload(self):
        """Policies that were written meanwhile are in force behind it."""
        self.do("before=$(grep -c 'definitions reloaded' \"$SETTING/host.log\" || true); kill -HUP $(tail -1 \"$SETTING/pids\"); "
                "until (($(grep -c 'definitions reloaded' \"$SETTING/host.log\" || true) > before)); do sleep 0.05; done")

    def invoke(self, capability, **arguments):
        request = {"jsonrpc": "2.0", "id": 1, "method": "capabilities.invoke", "params": {"capability": capability, "arguments": arguments}}
        return json.loads(self.do(f"curl -fsS http://127.0.0.1:{self.gateway}/rpc -H \"Authorization: Bearer $KEY\" -d @-", json.dumps(request)))
