"""Tests run against the real host: that of KRUXOS_DEMO_BUILD, else the dev preset's. Coroutine tests run in a loop of their own."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from asked import AskedHost
from emulated import EmulatedHost

from kruxos.testing import Installation

ROOT = Path(os.environ.get("KRUXOS_SOURCE", Path(__file__).resolve().parents[3]))
BUILD = Path(os.environ.get("KRUXOS_DEMO_BUILD", ROOT / "build" / "dev"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), 120))  # no test takes so long: a hang is a failure
    return True


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("KRUXOS_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def kruxos_installation() -> Installation:
    return Installation(BUILD / "bin", BUILD / "tests" / "adapters" / "mock.so", ROOT / "definitions")


@pytest.fixture(scope="session")
def host(kruxos_installation: Installation) -> Iterator[EmulatedHost]:
    """The shipped Slack adapter before the bundled emulator; of all tests together."""
    with EmulatedHost(kruxos_installation, BUILD / "adapters" / "slack.so", ROOT / "policies" / "slack.yaml") as host:
        yield host


@pytest.fixture(scope="session")
def asked(kruxos_installation: Installation) -> Iterator[AskedHost]:
    with AskedHost(kruxos_installation, BUILD / "adapters" / "slack.so", ROOT / "policies" / "slack.yaml") as host:
        yield host
