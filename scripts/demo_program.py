"""The demo's last part: a program that speaks MCP plugs in, by the line that its user would give it."""
import json
import subprocess
import sys

from demo_support import ROOT, check, clean_environment, dim

# Installed by scripts/setup --peers. The demo does without: it needs nothing but what make demo builds.
PYTHON = ROOT / "build" / "peers" / "python" / "bin" / "python"
CLIENT = ROOT / "scripts" / "demo_client.py"


def plug_in(stage):
    stage.chapter("A program of yours plugs in",
                  "Slack is connected once more, and an agent of its own has a key. Each program that speaks the Model Context "
                  "Protocol can use it; docs/mcp.md has a line for each. This one is Claude Code's:")
    stage.connect_slack()
    key = stage.operator_json("agent", "create", "program")["key"]
    address = stage.gateway.replace("/rpc", "/mcp")
    use_client(stage, address, key)
    print()
    print(f'  claude mcp add --transport http kruxos {address} --header "Authorization: Bearer {key}"')
    print()


def use_client(stage, address, key):
    if not (PYTHON.exists() and (PYTHON.parent.parent.parent / "installed").exists()):
        stage.say("No official client is installed here, so none is shown using it: scripts/setup --peers installs them, below "
                  "build/ alone.")
        return
    done = subprocess.run([str(PYTHON), "-B", str(CLIENT), address, key, "deployment"], capture_output=True, text=True, timeout=60,
                          env=clean_environment())
    check(done.returncode == 0, f"the official client ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    seen = json.loads(done.stdout)
    stage.show(f"{seen['server']}, MCP {seen['version']}: {len(seen['tools'])} tools, {', '.join(seen['tools'][:4])} …")
    stage.show("\n".join(f"{m['user_name']:<7} {m['text']}" for m in seen["messages"]))
    check(len(seen["messages"]) == 2, "the official client did not find both messages")
    stage.good("the official Python client, with that address and key, listed the tools and searched")


def wait_for_reader(stage):
    """The line is good for as long as the demo's host runs."""
    if stage.fast or not (sys.stdin.isatty() and sys.stdout.isatty()):
        print(dim("  It ends here, and the host with it. Next: README.md, \"With your own Slack or Gmail\"."))
        return
    print(dim("  The host runs until you press Enter: try the line above. Next: README.md, \"With your own Slack or Gmail\"."))
    try:
        input()
    except EOFError:
        pass
