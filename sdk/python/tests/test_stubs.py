"""The module that `python -m kruxos stubs` writes: what a type checker says of it, and what it does."""

from __future__ import annotations

import ast
import importlib.util
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from emulated import EmulatedHost

from kruxos.__main__ import main
from kruxos.models import CapabilityDefinition
from kruxos.stubs import stubs

GOOD = """
import kruxos_agent

with kruxos_agent.Agent.connect() as agent:
    print(agent.slack.send(channel="team-0", text="hi")["write_id"])
    print(agent.slack.search(query="x", limit=3).data, agent.state.briefing.generate().success)
    print(agent.call("slack.channels", limit=1).data, [write.status for write in agent.writes(limit=3)])
    print(agent.with_raw_response.call("agent.whoami", {}, raise_on_error=False).parse().success, agent.approvals.check("w_1").resolved)
    agent.alerts.send(message="m", severity="info")


async def main() -> None:
    async with kruxos_agent.Agent.connect_async() as agent:
        print((await agent.slack.channels())["total"], await agent.with_options(timeout=3).proxy.list_writes(status="waiting"))
"""
WRONG = {
    'agent.slack.send(channel="c")': 'Missing named argument "text"',
    'agent.slack.send(channel="c", text=3)': 'incompatible type "int"',
    'agent.slack.sned(channel="c", text="t")': 'has no attribute "sned"',
    'agent.alerts.send(message="m", severity="critical")': "incompatible type",
    "agent.with_options(patience=3)": "Unexpected keyword argument",
    "agent.call(3)": 'incompatible type "int"',
    "agent.capabilities.list(kind='slack')": 'Unexpected keyword argument "kind"',
    "agent.approvals.wait()": "Too few arguments",
    "agent.writes(limit='3')": "incompatible type",
    "agent.briefing().sumary": 'has no attribute "sumary"',
    "agent.nothing.at_all()": 'has no attribute "nothing"',
}


@pytest.fixture
def written(host: EmulatedHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KRUXOS_HOST", host.address)
    monkeypatch.setenv("KRUXOS_API_KEY", host.key)
    assert main(["stubs", "-o", str(tmp_path / "kruxos_agent.py")]) == 0
    return tmp_path


def checked(folder: Path, text: str) -> str:
    (folder / "program.py").write_text(text)
    command = [sys.executable, "-P", "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), "program.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120).stdout


def loaded(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_type_checker_takes_what_is_right_and_names_what_is_wrong(written: Path) -> None:
    assert "Success" in checked(written, GOOD), checked(written, GOOD)
    lines = ["import kruxos_agent", "agent = kruxos_agent.Agent.connect()", *WRONG]
    said = checked(written, "\n".join(lines) + "\n").splitlines()
    for number, expected in enumerate(WRONG.values(), start=3):
        assert any(line.startswith(f"program.py:{number}:") and expected in line for line in said), said


async def test_what_was_written_calls_the_host(written: Path, host: EmulatedHost) -> None:
    module = loaded(written / "kruxos_agent.py")
    key, channel = host.new_agent()
    with module.Agent.connect(host.address, api_key=key) as agent:
        write = agent.write(agent.slack.send(channel=channel, text="typed"))
        assert agent.proxy.cancel_write(write_id=write.write_id)["status"] == "cancelled"
        assert type(agent.with_options(timeout=3)) is module.Agent
    async with module.Agent.connect_async(host.address, api_key=key) as agent:
        assert type(agent) is module.AsyncAgent and (await agent.slack.channels())["total"]


def test_it_goes_to_standard_output_and_says_what_is_wrong(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["stubs", "-o", "-"]) == 0
    assert capsys.readouterr().out == (written / "kruxos_agent.py").read_text()
    assert main(["stubs", "-o", "/nowhere/x.py"]) == 1 and main(["stubs", "--host", "localhost:port"]) == 1
    assert "kruxos: " in capsys.readouterr().err
    assert list(written.glob("*.new")) == []


HOSTILE = [
    'x"""\nimport os\nos.abort()\n"""', "\\", 'ends with "', "''' \"\"\"", "\x00\x1b[31m\u202e", "\u2028import os", "a\\\nb", '\\"""', "{}",
]  # fmt: skip


def hostile(text: str) -> CapabilityDefinition:
    inputs = [
        {"name": text, "type": "String", "description": text, "required": True},
        {"name": "class", "type": "String"},
        {"name": "fine", "type": text, "one_of": [text], "description": text + "\n" + text},
        {"name": "many", "type": "Array", "items": {"type": text}},
    ]
    outputs = [{"name": text, "description": text}]
    return CapabilityDefinition.model_validate(
        {"name": "evil.act", "purpose": text, "when_to_use": text, "inputs": inputs, "outputs": outputs}
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_definition_says_is_no_code(text: str) -> None:
    written = stubs([hostile(text), CapabilityDefinition(name=f"evil.{text}"), CapabilityDefinition(name=text)], "m")
    tree = ast.parse(written)
    assert {type(node).__name__ for node in tree.body} == {"Expr", "ImportFrom", "ClassDef"}
    assert {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)} == {
        "EvilCapabilities",
        "AsyncEvilCapabilities",
        "Agent",
        "AsyncAgent",
    }
    methods = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    taken = sorted((type(node).__name__, node.name, [one.arg for one in node.args.kwonlyargs]) for node in methods)
    named = ["fine", "many", "raise_on_error"]
    assert taken == [("AsyncFunctionDef", "act", named), ("FunctionDef", "act", named), ("FunctionDef", "connect_async", [])]
    names: dict[str, Any] = {}
    exec(compile(written, "m", "exec"), names)
    assert sorted(names["Agent"].__annotations__) == ["evil"]


def test_the_order_of_capabilities_changes_nothing() -> None:
    all_of_them = [CapabilityDefinition(name=name) for name in ("b.x", "a.y", "a.b.c", "a.b.d", "a.z", "call.it", "nodot")]
    first = stubs(all_of_them, "m")
    random.Random(1).shuffle(all_of_them)
    assert stubs(all_of_them, "m") == first and "ACapabilities" in first and "CallCapabilities" not in first
