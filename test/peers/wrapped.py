"""MCP servers made with the official SDKs, wrapped: their tools through the host's buffer, approval and policy."""
import pathlib
import shutil
import socket
import subprocess
import sys
import time

from host import BUILD, ROOT, PeerHost, free_port
from sessions import HERE, INSTALLED, NODE

PYTHON = ROOT / "build" / "peers" / "python" / "bin" / "python"
SERVERS = ("python-http", "python-stdio", "typescript-http")
PATIENCE = 30


class WrappedHost(PeerHost):
    """Each server is a service of the host, called as the server with _ for -."""

    def begin(self):
        self.make_places()
        shutil.copy(HERE / "upstream.mjs", INSTALLED)
        self.refused = {}
        sections = ["services:"]
        for name in SERVERS:
            service = name.replace("-", "_")
            done, section = self.wrap_program(service) if name.endswith("stdio") else self.wrap_address(name, service)
            if done.returncode != 0:
                self.refused[name] = done.stdout + done.stderr
                continue
            sections.append(section)
        self.start_with("\n".join(sections) + "\nwrite_buffer: {{default_delay_seconds: 1}}\n")
        self.key = self.new_agent("buyer")

    def wrap(self, *words):
        places = ["--adapters", str(self.directory / "adapters"), "--definitions", str(self.directory / "definitions"), "--yes"]
        command = [str(BUILD / "bin" / "kruxos"), "adapter", "wrap", *places, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def wrap_program(self, service):
        readable = [PYTHON.parent.parent, HERE, sys.base_prefix, pathlib.Path(sys.executable).resolve().parent.parent]
        readable += [pathlib.Path(subprocess.run([PYTHON, "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True,
                                                 check=True).stdout.strip())]
        outside = sorted({str(path) for path in readable if not str(path).startswith("/usr")})
        words = [word for path in outside for word in ("--readable", path)]
        done = self.wrap(service, "--allow-root", *words, "--", str(PYTHON), "-B", str(HERE / "upstream.py"))
        return done, f"  {service}: {{{{adapter: {{{{allow_root: true, readable: {outside}}}}}}}}}"

    def wrap_address(self, name, service):
        port = free_port()
        program = [str(PYTHON), "-B", str(HERE / "upstream.py")] if name.startswith("python") else [str(NODE), str(INSTALLED / "upstream.mjs")]
        log = open(self.directory / f"{service}.log", "wb")
        with log:
            self.processes.append((name, subprocess.Popen([*program, str(port)], stdout=log, stderr=log)))
        for _ in range(PATIENCE * 20):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        return self.wrap(service, f"http://127.0.0.1:{port}/mcp"), f"  {service}: {{{{api_base_url: http://127.0.0.1:{port}/}}}}"

    def call(self, capability, **arguments):
        return self.invoke_as(self.key, capability, **arguments)


def run(host, report):
    for name in SERVERS:
        report.group(f"wrapped: {name}")
        if name in host.refused:
            report.result(f"{name}: it is wrapped", host.refused[name][-1000:])
            continue
        report.result(f"{name}: it is wrapped")
        service = name.replace("-", "_")
        added = host.call(f"{service}.add_up", first=2)
        report.result(f"{name}: a tool that reads is answered", None if added.get("data", {}).get("structured") == {"result": 3.5} else added)
        bad = host.call(f"{service}.add_up", first="two")
        report.result(f"{name}: an input of another type does not reach it", None if bad.get("error", {}).get("type") == "InvalidInput" else bad)
        failed = host.call(f"{service}.boom")
        report.result(f"{name}: its failure is told", None if failed.get("error", {}).get("type") == "ToolFailed" else failed)
        report.result(f"{name}: a tool that writes waits, and happens once", why_not_ordered(host, service))


def why_not_ordered(host, service):
    asked = host.call(f"{service}.order", item={"name": "tea", "count": 2})
    if asked.get("error", {}).get("type") != "ApprovalRequired":
        return asked
    write_id = asked["error"]["context"]["write_id"]
    before = host.call(f"{service}.orders")["data"]
    if before["structured"]["result"]:
        return before
    host.kruxos("approve", "accept", write_id, "--yes", quiet=True)
    status = host.call("proxy.write_status", write_id=write_id, wait_seconds=20)
    after = host.call(f"{service}.orders")["data"]
    return None if status["data"]["status"] == "completed" and after["structured"]["result"] == ["2 tea"] else (status, after)
