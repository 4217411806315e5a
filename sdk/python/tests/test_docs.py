"""Each example of docs/sdk.md and of the README runs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ROOT

from kruxos.testing import Installation, MockHost

CHANNEL = {"id": "C1", "name": "general"}
SCRIPT = {
    "rules": [
        {"call": "read", "operation": "slack.search", "answer": {"messages": [], "total": 0}},
        {"call": "read", "operation": "slack.channels", "answer": {"channels": [CHANNEL], "total": 1}},
        {"call": "execute_write", "answer": {"message_id": "C1/1"}},
    ]
}


PRELUDE = "async with KruxOS.connect_async() as agent:"
"""What an example stands in that does not make its client; docs/sdk.md says so."""
FILES = ("docs/sdk.md", "sdk/python/README.md")


def blocks(file: str) -> Iterator[tuple[int, str]]:
    text = (ROOT / file).read_text()
    for found in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start()) + 2, found[1]


def examples() -> Iterator[Any]:
    for file in FILES:
        for line, text in blocks(file):
            if "def test_" not in text:  # test_testing.py runs these
                yield pytest.param(text, id=f"{file}:{line}")


@pytest.fixture(scope="module")
def documented(kruxos_installation: Installation) -> Iterator[MockHost]:
    with MockHost({"slack": SCRIPT}, installation=kruxos_installation) as host:
        yield host


def program_of(text: str) -> str:
    if "KruxOS.connect" in text:
        return text
    inside = textwrap.indent(f"{PRELUDE}\n{textwrap.indent(text, '    ')}", "    ")
    return f"import asyncio\nfrom kruxos import KruxOS\n\nasync def example():\n{inside}\nasyncio.run(example())\n"


@pytest.mark.parametrize("text", list(examples()))
def test_an_example_runs(
    text: str, documented: MockHost, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    key = documented.new_key(re.sub(r"\W+", "-", request.node.name))
    monkeypatch.setenv("KRUXOS_HOST", documented.address)
    monkeypatch.setenv("KRUXOS_API_KEY", key)
    program = program_of(text).replace("localhost:7700", documented.address).replace('"…"', "KEY")
    exec(compile(program, request.node.name, "exec"), {"KEY": key})
    assert capsys.readouterr().out.strip()  # each says what it has found


def test_no_python_on_the_page_is_left_out_and_the_page_says_what_stands_around_it() -> None:
    page = (ROOT / FILES[0]).read_text()
    fences = [line.strip() for line in page.splitlines() if line.lstrip().startswith("```")]
    tested = [text for _, text in blocks(FILES[0]) if "def test_" in text]
    run = [one for one in examples() if one.id.startswith(FILES[0])]
    assert len(run) + 1 == len(fences) // 2 - fences.count("```sh") and len(tested) == 1
    assert f"`{PRELUDE}`" in page
