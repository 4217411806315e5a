"""Official clients, each in a whole session over each transport that it has."""
import json
import os
import shutil
import subprocess
import threading

from host import BUILD, ROOT

INSTALLED = ROOT / "build" / "peers"
HERE = ROOT / "test" / "peers"
NODE = INSTALLED / "node_modules" / ".bin" / "node"
PYTHON = INSTALLED / "python" / "bin" / "python"
STEPS = ["connects", "lists tools whose schemas compile", "searches", "reads", "is told why a call fails",
         "is told that there is no such tool", "gets a prompt with a value that was offered", "sends a message, which waits", "waits for its end", "takes a mail back",
         "hears that the tools have changed", "closes"]
CHANGES_STEPS = ["waits for a resource", "hears that it has changed, once", "closes"]
LONGEST = 180

# Name, program, transport, version of the protocol.
SESSIONS = [
    ("typescript-2-http", "ts_v2.mjs", "http", "2026-07-28"),
    ("typescript-2-http-handshake", "ts_v2.mjs", "http", "2025-11-25"),
    ("typescript-2-stdio", "ts_v2.mjs", "stdio", "2026-07-28"),
    ("typescript-2-stdio-handshake", "ts_v2.mjs", "stdio", "2025-11-25"),
    ("typescript-1-http", "ts_v1.mjs", "http", "2025-11-25"),
    ("typescript-1-stdio", "ts_v1.mjs", "stdio", "2025-11-25"),
    ("typescript-1-websocket", "ts_v1.mjs", "websocket", "2025-11-25"),
    ("python-2-http", "session.py", "http", "2026-07-28"),
    ("python-2-http-handshake", "session.py", "http", "2025-11-25"),
    ("python-2-stdio", "session.py", "stdio", "2026-07-28"),
    ("python-2-stdio-handshake", "session.py", "stdio", "2025-11-25"),
]


def settings_of(host, name, transport, version):
    key = host.new_agent(name)
    file = host.directory / "keys" / f"{name}.key"
    file.touch(mode=0o600)
    file.write_text(key + "\n")
    return {"name": name, "channel": name, "transport": transport, "version": version, "key": key,
            "url": f"{host.address}/mcp?tools=all", "kruxos": str(BUILD / "bin" / "kruxos"),
            "arguments": ["mcp", "--key-file", str(file), "--url", host.address, "--tools", "all"]}


def command_of(program, settings):
    if program.endswith(".py"):
        return [str(PYTHON), "-B", str(HERE / program), json.dumps(settings)]
    return [str(NODE), str(INSTALLED / program), json.dumps(settings)]


def run(host, report):
    for program in HERE.glob("*.mjs"):
        shutil.copy(program, INSTALLED)  # a program finds the packages that are installed beside it
    for name, program, transport, version in SESSIONS:
        report.group(name)
        run_one(host, report, name, command_of(program, settings_of(host, name, transport, version)))


def run_changes(host, report):
    """A client that waits for a resource to change, in each model."""
    for version in ("2026-07-28", "2025-11-25"):
        name = f"python-2-changes-{version}"
        report.group(name)
        settings = settings_of(host, name, "http", version)
        run_one(host, report, name, command_of("changes.py", settings), CHANGES_STEPS, 0)


def run_one(host, report, name, command, steps=tuple(STEPS), writes_made=2):
    writes, missing, strange, undo = [], list(steps), [], []
    log = host.directory / f"{name}.log"
    with open(log, "wb") as error:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=error, text=True, env=dict(os.environ))
        watch = threading.Timer(LONGEST, process.kill)
        watch.start()
        for line in process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                strange.append(line.strip())
                continue
            if "operator" in message:
                host.act(message["operator"])
                if message["operator"] == "connect notes":
                    undo.append("disconnect notes")
                process.stdin.write("done\n")
                process.stdin.flush()
            elif "write" in message:
                writes.append(message)
            else:
                missing.remove(message["check"])
                report.result(f"{name}: {message['check']}", message.get("why"))
        code = process.wait()
        watch.cancel()
    # Of this no client hears that is closing: it would say that it cannot take it any more.
    for action in undo:
        host.act(action)
    for step in missing:
        report.result(f"{name}: {step}", "the session ended before it")
    said = log.read_text(errors="replace").strip()
    report.result(f"{name}: ends by itself, without a word", None if code == 0 and not said and not strange else
                  f"it ended with {code} and said {said[-800:]!r} {strange}")
    if writes_made:
        check_writes(host, report, name, writes, writes_made)


def check_writes(host, report, name, writes, made):
    wrong = []
    for write in writes:
        times = host.times_done(write["service"], write["write"])
        if times != write["times"]:
            wrong.append(f"{write['service']} has {write['write']} {times} times, not {write['times']}")
    if len(writes) != made:
        wrong.append(f"{len(writes)} writes were made, not {made}")
    report.result(f"{name}: what it sent is there once, what it took back never", "; ".join(wrong) or None)
