"""What a tool of a wrapped MCP server costs, above calling it at the server itself, in turn, over one connection each.

    scripts/bench wrapped [--pairs N]   default: 11 pairs

It runs against the host of the dev preset, whose code is the release's, with mcp-emulator as the server: at an address, and as a
program in a sandbox.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rows import bound, figure, header, row, wrong

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("KRUXOS_DEMO_BUILD", ROOT / "build" / "dev"))
# Without settings of the person's own host.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("KRUXOS_")}
CALLS = 400
MOST_US = 1000
CONFIGURATION = """data_dir: {place}/data
places_dir: {place}/places
vault_key_file: {place}/keys/vault.key
plugins_dir: {place}/adapters
definitions_dir: {place}/definitions
policies_dir: {place}/policies
server: {{port: 0, health_port: 0}}
operator: {{agents_share_user: false}}
services:
  far:
    api_base_url: {base}/
  near:
    adapter: {{allow_root: true, readable: [{programs}]}}
"""


class Http:
    """One connection that is kept, and the least that HTTP needs."""

    def __init__(self, port: int, path: str, head: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n{head}"
        self._rest = b""

    def post(self, message: dict) -> tuple[str, dict]:
        """The answer's head, and the answer."""
        body = json.dumps(message)
        self._socket.sendall(f"{self._head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        while b"\r\n\r\n" not in self._rest:
            self._rest += self._more()
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: *(\d+)", head, re.IGNORECASE).group(1))
        while len(self._rest) < length:
            self._rest += self._more()
        answer, self._rest = self._rest[:length], self._rest[length:]
        return head.decode(), json.loads(answer) if answer else {}

    def _more(self) -> bytes:
        part = self._socket.recv(65536)
        if not part:
            wrong("a server has closed its connection")
        return part


def request(method: str, params: dict, id: int = 1) -> dict:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


HELLO = request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ECHO = request("tools/call", {"name": "echo", "arguments": {"text": "hello"}}, 2)


def direct_http(port: int):
    accept = "Accept: application/json, text/event-stream\r\n"
    head, _ = Http(port, "/mcp", accept).post(HELLO)
    session = re.search(r"mcp-session-id: *(\S+)", head, re.IGNORECASE).group(1)
    begun = Http(port, "/mcp", f"{accept}Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n")
    begun.post(READY)
    return lambda: begun.post(ECHO)[1]["result"]["structuredContent"]["text"]


def direct_program(command: list[str]):
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def say(message: dict) -> None:
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()

    def ask(message: dict) -> dict:
        say(message)
        return json.loads(server.stdout.readline())

    ask(HELLO)
    say(READY)
    return server, lambda: ask(ECHO)["result"]["structuredContent"]["text"]


def through_host(port: int, key: str, capability: str):
    gateway = Http(port, "/rpc", f"Authorization: Bearer {key}\r\n")
    call = request("capabilities.invoke", {"capability": capability, "arguments": {"text": "hello"}})

    def ask() -> str:
        result = gateway.post(call)[1]["result"]
        if not result["success"]:
            wrong(f"the host answers {result}")
        return result["data"]["structured"]["text"]

    return ask


def compare(name: str, direct, wrapped, pairs: int) -> None:
    added, ours, theirs = [], [], []
    for pair in range(-1, pairs):  # the first one warms both up
        times = {direct: [], wrapped: []}
        for _ in range(CALLS):
            for ask in (direct, wrapped):
                begun = time.perf_counter()
                if ask() != "hello":
                    wrong("that is no echo")
                times[ask].append(time.perf_counter() - begun)
        if pair >= 0:
            ours.append(1e6 * statistics.median(times[wrapped]))
            theirs.append(1e6 * statistics.median(times[direct]))
            added.append(ours[-1] - theirs[-1])
    row(f"a call of {name}", figure(statistics.median(ours), "us"), figure(statistics.median(theirs), "us"))
    bound("  what the host adds to it", added, "us", MOST_US)


def port_of(address: str) -> int:
    return int(address.rsplit(":", 1)[1])


def start(command: list[str | Path], started: list[subprocess.Popen], place: Path) -> str:
    """Its first line, which says where it listens; where it does not start, what it has said of it."""
    name = Path(command[0]).name
    log = place / f"{name}.log"
    with open(log, "wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=ENVIRONMENT)
    started.append(process)
    line = process.stdout.readline().strip()
    if not line.startswith("ready http://"):
        process.terminate()
        process.wait()
        wrong(f"{name} did not start: {log.read_text(errors='replace').strip() or line or 'it said nothing'}")
    return line.split()[1]


def run(command: list[str | Path]) -> str:
    """What it prints."""
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode != 0:
        wrong(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=11)
    arguments = parser.parse_args()
    if arguments.pairs < 1:
        parser.error("--pairs is 1 or more")
    return arguments


def main(pairs: int) -> None:
    programs = BUILD / "bin"
    started = []
    header()
    with tempfile.TemporaryDirectory(prefix="b", dir=os.environ.get("TMPDIR")) as folder:
        place = Path(folder)
        try:
            for name in ("adapters", "definitions", "policies", "keys"):
                (place / name).mkdir(mode=0o700)
            base = start([programs / "mcp-emulator", "--port", "0", "--die-with-parent"], started, place)
            places = ["--adapters", place / "adapters", "--definitions", place / "definitions", "--yes"]
            command = [str(programs / "mcp-emulator"), "--stdio"]
            for words in (["far", f"{base}/mcp"], ["near", "--allow-root", "--readable", str(programs), "--", *command]):
                run([programs / "kruxos", "adapter", "wrap", *places, *words])
            config = place / "kruxos.yaml"
            config.write_text(CONFIGURATION.format(place=place, base=base, programs=programs))
            port = port_of(start([programs / "kruxosd", "--config", config], started, place))
            key = json.loads(run([programs / "kruxos", "--data-dir", place / "data", "--json", "agent", "create", "bench"]))["key"]
            compare("a server at an address", direct_http(port_of(base)), through_host(port, key, "far.echo"), pairs)
            program, ask = direct_program(command)
            started.append(program)
            compare("a program in a sandbox", ask, through_host(port, key, "near.echo"), pairs)
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main(parse().pairs)
