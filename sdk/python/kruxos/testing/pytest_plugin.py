"""Fixtures: `kruxos_host`, and `kruxos` connected with it. A test says by `@pytest.mark.kruxos(services={…})` what the mocks do.

def test_it_greets(kruxos, kruxos_host):
    kruxos.write(kruxos.slack.send(channel="general", text="hello")).sent()
    assert [call["params"]["text"] for call in kruxos_host.journal("slack")] == ["hello"]
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..client import KruxOS
from ._host import MockHost
from ._installation import Installation


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("kruxos_prefix", "where KruxOS is installed; else where the kruxosd of PATH is")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "kruxos(services, **options): what the host of `kruxos_host` is begun with (kruxos.testing.MockHost)"
    )


@pytest.fixture(scope="session")
def kruxos_installation(request: pytest.FixtureRequest) -> Installation:
    """Override it where KruxOS is somewhere else."""
    return Installation.find(request.config.getini("kruxos_prefix") or None)


@pytest.fixture
def kruxos_host(request: pytest.FixtureRequest, kruxos_installation: Installation) -> Iterator[MockHost]:
    """A host of this test's own."""
    mark = request.node.get_closest_marker("kruxos")
    options = dict(mark.kwargs) if mark else {}
    with MockHost(installation=kruxos_installation, **options) as host:
        yield host


@pytest.fixture
def kruxos(kruxos_host: MockHost) -> Iterator[KruxOS]:
    """A client of that host. For asyncio: `async with kruxos_host.connect_async() as agent`."""
    with kruxos_host.connect() as agent:
        yield agent
