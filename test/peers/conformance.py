"""The official conformance suite against the host. What is known not to pass stands in a list with its reason and is compared
exactly: what fails without standing there fails the run, and so does what stands there and passes."""
import fnmatch
import json
import re
import subprocess

from host import ROOT
from key_proxy import KeyProxy
from sessions import HERE, INSTALLED, NODE

PACKAGE = INSTALLED / "node_modules" / "@modelcontextprotocol" / "conformance"
# The suite has sets of what a revision requires, frozen when it came out; of an older one it knows which scenarios apply.
REVISIONS = {"2026-07-28": ["--requirements", "2026-07-28"], "2025-11-25": ["--requirements", "2025-11-25"],
             "2025-06-18": ["--suite", "all", "--spec-version", "2025-06-18"]}
# Emitted beside a scenario's own checks: that every message fits the schema says nothing about the scenario.
BESIDE = {"wire-schema-valid"}
LONGEST = 600


def known(name):
    """What does not pass, by revision: (pattern of scenarios, state, reason)."""
    revisions, entries = {}, None
    for number, line in enumerate((HERE / name).read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if head := re.fullmatch(r"\[(\S+)\]", line):
            entries = revisions.setdefault(head[1], [])
            continue
        entry = re.fullmatch(r"(\S+) +(fails|partly) +(\S.*)", line)
        if entry is None or entries is None:
            raise SystemExit(f"test/peers/{name}:{number}: \"[REVISION]\" is expected, then lines of SCENARIO fails|partly REASON")
        entries.append(entry.groups())
    return revisions


def state_of(checks):
    """(state, why): partly is what the suite takes for a pass although it warned, skipped, or looked at nothing."""
    failures = [c for c in checks if c["status"] == "FAILURE"]
    others = [c for c in checks if c["status"] in ("WARNING", "SKIPPED")]
    if failures:
        return "fails", "; ".join(f"{c['id']}: {c.get('errorMessage', '')}" for c in failures)
    if others:
        return "partly", "; ".join(f"{c['id']} {c['status']}: {c.get('errorMessage', '')}" for c in others)
    if not any(c["status"] == "SUCCESS" and c["id"] not in BESIDE for c in checks):
        return "partly", "nothing was checked"
    return "passes", ""


def required(revision):
    """The scenarios of servers that the suite scores; of a revision without such a set, none."""
    file = PACKAGE / "requirements" / f"{revision}.yaml"
    if not file.exists():
        return set()
    section = re.search(r"^server:\n((?:  - \S+\n)+)", file.read_text(), re.MULTILINE)
    return set(re.findall(r"- (\S+)", section[1]))


def scenarios(url, revision, directory):
    """What the suite found: by scenario, its state and why."""
    command = [str(NODE), str(PACKAGE / "dist" / "index.js"), "server", "--url", url, *REVISIONS[revision], "-o", str(directory)]
    with open(directory.with_suffix(".log"), "wb") as log:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=LONGEST, check=False)
    found = {}
    for file in sorted(directory.glob("*/checks.json")):
        name = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT[\d-]+Z", file.parent.name)[1]
        found[name] = state_of(json.loads(file.read_text()))
    return found


def run(host, report, configuration):
    """`configuration`: "production" or "fixtures", what the host offers."""
    name = f"conformance_{configuration}.txt"
    expected = known(name)
    with KeyProxy(int(host.address.rsplit(":", 1)[1]), host.new_agent("suite")) as proxy:
        for revision in REVISIONS:
            report.group(f"conformance suite, {revision}, {configuration}")
            found = scenarios(f"http://localhost:{proxy.port}/mcp", revision, host.directory / f"{configuration}-{revision}")
            compare(report, f"{configuration} {revision}", found, expected.get(revision, []), name)
            score(report, revision, found)


def compare(report, where, found, expected, name):
    report.result(f"{where}: the suite ran", None if found else "it left no results")
    for scenario, (state, why) in found.items():
        entry = next((e for e in expected if fnmatch.fnmatchcase(scenario, e[0])), None)
        if entry is None:
            report.result(f"{where}: {scenario}", None if state == "passes" else f"{state}: {why}")
        elif entry[1] == state:
            report.named(f"{where}: {scenario} {state}", entry[2])
        else:
            report.result(f"{where}: {scenario}", f"it {state}, and test/peers/{name} says that it {entry[1]} ({why})")
    for pattern, *_ in expected:
        if not any(fnmatch.fnmatchcase(scenario, pattern) for scenario in found):
            report.result(f"{where}: {pattern}", f"test/peers/{name} names it, and the suite has no such scenario")


def score(report, revision, found):
    """As the suite counts, so that it can be compared with what others publish."""
    counted = {s: state for s, (state, _) in found.items() if not required(revision) or s in required(revision)}
    passing = sum(state != "fails" for state in counted.values())
    whole = sum(state == "passes" for state in counted.values())
    report.say(f"{passing} of {len(counted)} by the suite's count, {whole} of them in every respect")
