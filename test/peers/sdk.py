"""The Python SDK: its package is built, installed beside nothing else of ours, checked by mypy, and tried against the host by its own tests."""
import os
import pathlib
import subprocess
import tempfile
import xml.etree.ElementTree as xml
import zipfile

from host import BUILD, ROOT

SDK = ROOT / "sdk" / "python"
PYTHON = ROOT / "build" / "peers" / "python" / "bin" / "python"
LONGEST = 500
LEFT_OUT = "tests.test_langgraph_agent"
"""It skips itself, whole, where scripts/setup could not have its packages."""


def run(report):
    report.group("Python SDK")
    with tempfile.TemporaryDirectory(prefix="kruxos-sdk-") as folder:
        folder = pathlib.Path(folder)
        wheel = build(report, folder)
        if wheel is None:
            return
        site = folder / "site"
        done = call("-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", site, wheel)
        report.result("its wheel installs", why(done))
        env = dict(os.environ, PYTHONPATH=str(site), PYTHONDONTWRITEBYTECODE="1", KRUXOS_DEMO_BUILD=str(BUILD))
        done = call("-m", "mypy", "--cache-dir", folder / "mypy", cwd=SDK)
        report.result("mypy finds nothing, strictly", why(done))
        results = folder / "results.xml"
        done = call("-P", "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={results}", cwd=SDK, env=env)
        take(report, results, done)


def build(report, folder):
    done = call("-m", "hatchling", "build", "-d", folder / "dist", cwd=SDK)
    report.result("its wheel and its source distribution are built", why(done))
    wheels = list((folder / "dist").glob("*.whl"))
    if len(wheels) != 1 or len(list((folder / "dist").glob("*.tar.gz"))) != 1:
        return None
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = wheel.namelist()
    strangers = [name for name in names if not name.startswith(("kruxos/", "kruxos-"))]
    report.result("its wheel has types, and nothing but the package", None if "kruxos/py.typed" in names and not strangers else names)
    return wheels[0]


def call(*arguments, **more):
    command = [str(PYTHON), *[str(argument) for argument in arguments]]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, **more)
    except subprocess.TimeoutExpired:  # a failure like others: the rest of the peers still runs, and is counted
        return subprocess.CompletedProcess(command, 124, "", f"It took more than {LONGEST} seconds.")


def why(done):
    return None if done.returncode == 0 else (done.stdout + done.stderr)[-2000:]


def take(report, results, done):
    """A line for each test. A run without any is a failure, and so is a test that is skipped where it is not left out."""
    cases = list(xml.parse(results).iter("testcase")) if results.exists() else []
    left_out = [case for case in cases if case.get("name") == LEFT_OUT and case.find("skipped") is not None]
    for case in left_out:
        reason = (case.find("skipped").text or "").rpartition("Skipped: ")[2].rstrip("')")
        report.say(f"left out {LEFT_OUT}: {reason}")
    cases = [case for case in cases if case not in left_out]
    if not cases:
        report.result("its tests run", why(done) or "there were none")
    for case in cases:
        problems = [one for one in case if one.tag in ("failure", "error", "skipped")]
        report.result(f"{case.get('classname')}: {case.get('name')}", problems[0].get("message", "")[:500] if problems else None)
