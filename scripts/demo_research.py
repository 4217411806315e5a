"""The demo's last chapter: an agent written with the Python client works through a topic, is held up, and goes on where it stopped."""
import subprocess

from demo_program import PYTHON
from demo_support import ROOT, check, clean_environment

PROGRAM = ROOT / "examples" / "agents" / "research_agent.py"
OBSTACLE = "/workspace/research/release-train/page-0003.json"


def tell(stage):
    stage.chapter("A research agent goes on where it stopped",
                  "examples/agents/research_agent.py saves each page of what it finds as a file of its own workspace, and notes at the host "
                  "how far it is. Where the third file is to be, a directory stands in its way.")
    if not (PYTHON.exists() and (PYTHON.parent.parent.parent / "installed").exists()):
        stage.say("What the Python client needs is not installed here, so it is not run: scripts/setup --peers installs it, below build/ "
                  "alone.")
        return
    stage.key = stage.operator_json("agent", "create", "researcher")["key"]
    stage.invoke("filesystem.mkdir", path=OBSTACLE)
    check(run(stage, []) == 1, "the research agent was not held up")
    alerts = stage.invoke("alerts.list")["alerts"]
    stage.show(alerts[0]["message"])
    stage.invoke("filesystem.delete", path=OBSTACLE)
    check(run(stage, ["--tell", "general"]) == 0, "the research agent did not come to its end")
    stage.show(stage.invoke("filesystem.read", path=OBSTACLE.replace("page-0003.json", "report.md"))["content"])
    files = [entry["name"] for entry in stage.invoke("filesystem.list", quiet=True, path=OBSTACLE.rsplit("/", 1)[0])["entries"]]
    check(files == [*(f"page-000{n}.json" for n in (1, 2, 3, 4)), "report.md"], f"the workspace has {files}")
    stage.good("four pages, each in one file; what it tells in #general waits in the buffer first")


def run(stage, more):
    command = ["release train", "--per-page", "10", *more]
    stage.say(f"$ research_agent.py \"{command[0]}\" {' '.join(command[1:])}")
    environment = dict(clean_environment(), KRUXOS_HOST=stage.gateway.removesuffix("/rpc"), KRUXOS_API_KEY=stage.key,
                       PYTHONPATH=str(ROOT / "sdk" / "python"))
    done = subprocess.run([str(PYTHON), "-B", str(PROGRAM), *command], capture_output=True, text=True, timeout=60, env=environment)
    stage.show(done.stdout + done.stderr)
    return done.returncode
