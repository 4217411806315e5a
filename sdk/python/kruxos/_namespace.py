"""`agent.slack.send(...)`: capabilities by attribute. Generated stubs say which there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Namespace:
    def __init__(self, invoke: Callable[..., Any], name: str) -> None:
        self._invoke = invoke
        self._name = name

    def __getattr__(self, name: str) -> Namespace:
        if name.startswith("_"):
            raise AttributeError(name)
        return Namespace(self._invoke, f"{self._name}.{name}")

    def __call__(self, arguments: Any = None, /, **named: Any) -> Any:
        return self._invoke(self._name, arguments, **named)

    def __repr__(self) -> str:
        return f"<capabilities {self._name}>"
