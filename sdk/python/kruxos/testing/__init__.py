"""A host for tests: the real one, with mocks in the adapters' places, on ports and in a directory of its own.

With pytest there are the fixtures `kruxos_host` and `kruxos` (pytest_plugin.py).
"""

from ._host import MockHost
from ._installation import Installation, NotInstalled

__all__ = ["Installation", "MockHost", "NotInstalled"]
