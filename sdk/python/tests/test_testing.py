"""The host for tests as others use it: from what is installed, by pytest's fixtures."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

from kruxos.testing import Installation, MockHost, NotInstalled


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """As make install leaves it."""
    prefix = tmp_path / "prefix"
    for folder in ("lib/kruxos/testing", "share/kruxos"):
        (prefix / folder).mkdir(parents=True)
    (prefix / "bin").symlink_to(BUILD / "bin")
    (prefix / "lib/kruxos/testing/mock.so").symlink_to(BUILD / "tests/adapters/mock.so")
    (prefix / "share/kruxos/definitions").symlink_to(ROOT / "definitions")
    return prefix


def test_the_page_s_tests_pass_with_the_fixtures(prefix: Path, tmp_path: Path) -> None:
    text = next(
        block for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "sdk.md").read_text(), re.DOTALL) if "def test_" in block
    )
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "test_agent.py").write_text(text)
    (folder / "pytest.ini").write_text(f"[pytest]\nkruxos_prefix = {prefix}\naddopts = --strict-markers -p no:cacheprovider\n")
    done = subprocess.run([sys.executable, "-P", "-m", "pytest", "-q"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_an_installation_is_found_by_its_program(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Installation.find(prefix).definition("slack").exists()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotInstalled, match="no kruxosd in PATH"):
        Installation.find()
    programs = prefix / "programs"
    programs.mkdir()
    (programs / "kruxosd").write_text("")
    (programs / "kruxosd").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(NotInstalled, match="bin/kruxos"):
        (prefix / "bin").unlink()
        Installation.find()


def test_what_cannot_be_begun_says_why_and_leaves_nothing(kruxos_installation: Installation) -> None:
    host = MockHost({"slack": {}}, installation=kruxos_installation, configuration="no_such_setting: 1\n")
    with pytest.raises(NotInstalled, match="no_such_setting"), host:
        pass
    assert not host.directory.exists()
    with pytest.raises(NotInstalled, match="no definition"), MockHost({"nothing": {}}, installation=kruxos_installation):
        pass


def test_a_service_that_is_signed_in_to_has_a_mock_too(kruxos_installation: Installation) -> None:
    with MockHost({"gmail": {}}, installation=kruxos_installation) as host:
        assert [one["state"] for one in host.operator_json("connect", "status")["connections"]] == ["connected"]


def test_a_host_has_its_own_key_directory_and_agents(kruxos_host: MockHost) -> None:
    directory = kruxos_host.directory
    assert directory.stat().st_mode & 0o077 == 0
    with kruxos_host.connect() as agent, kruxos_host.connect(api_key=kruxos_host.new_key("other")) as other:
        assert (agent.call("agent.whoami")["name"], other.call("agent.whoami")["name"]) == ("tester", "other")
    with pytest.raises(AssertionError, match="ended with"):
        kruxos_host.operator("agent", "show", "nobody")
    assert "ready" in kruxos_host.log()
