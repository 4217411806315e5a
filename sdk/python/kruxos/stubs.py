"""A module of the capabilities that an agent may call, by whose types an editor completes `agent.slack.send(…)`.

What a definition says is text of others: it gets into the module as the literal of a text, or as a name that is one.
"""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .models import CapabilityDefinition, Input, Value

TYPES = {"String": "str", "DateTime": "str", "Integer": "int", "Number": "float", "Boolean": "bool", "Object": "dict[str, Any]"}
OWN = frozenset({"call", "write", "writes", "pages", "events", "capabilities", "approvals", "state", "briefing", "close", "connect", "disconnect"})
"""Of the client: a service of such a name is reached by `agent.call`."""
HEAD = '''"""The capabilities of an agent, made by `python -m kruxos stubs`. Make it again when they change.

    from {module} import Agent

    with Agent.connect() as agent:
        …
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, Unpack

from kruxos import AsyncKruxOS, Connecting, ConnectOptions, InvocationResult, KruxOS
'''
FOOT = """
    @staticmethod
    def connect_async(host: str | None = None, **options: Unpack[ConnectOptions]) -> Connecting[AsyncAgent]:
        return AsyncAgent.connect(host, **options)
"""


@dataclass
class Node:
    """What stands behind one dot: capabilities, and what follows behind the next."""

    capabilities: dict[str, CapabilityDefinition] = field(default_factory=dict)
    below: dict[str, Node] = field(default_factory=dict)


def stubs(capabilities: Iterable[CapabilityDefinition], module: str) -> str:
    """The module's text; the same for the same capabilities, in whatever order."""
    root = Node()
    for capability in sorted(capabilities, key=lambda one: one.name):
        _place(root, capability)
    parts = [HEAD.format(module=module)]
    for waits in ("Async", ""):
        for name, node in root.below.items():
            parts.extend(_protocols(waits, name, node))
        parts.append(_agent(waits, root))
    return "\n\n".join(parts)


def _place(root: Node, capability: CapabilityDefinition) -> None:
    *path, last = capability.name.split(".")
    if not path or path[0] in OWN or not all(_is_name(part) for part in (*path, last)):
        return
    node = root
    for part in path:
        node = node.below.setdefault(part, Node())
    node.capabilities[last] = capability


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text) and not text.startswith("_")


def _title(path: str) -> str:
    """Of its class: none of the client's classes is called so, and no other path's."""
    return "_".join(part[0].upper() + part[1:] for part in path.split(".")) + "Capabilities"


def _protocols(waits: str, path: str, node: Node) -> Iterator[str]:
    """A class for what stands behind these dots, after those that it names."""
    for name, below in node.below.items():
        yield from _protocols(waits, f"{path}.{name}", below)
    lines = [f"class {waits}{_title(path)}(Protocol):"]
    properties = [name for name in node.below if name not in node.capabilities]
    for name in properties:
        lines += ["    @property", f"    def {name}(self) -> {waits}{_title(f'{path}.{name}')}: ...", ""]
    for name, capability in node.capabilities.items():
        lines += [*_method("async def" if waits else "def", name, capability), ""]
    yield "\n".join(lines)


def _method(kind: str, name: str, capability: CapabilityDefinition) -> Iterator[str]:
    named = [one for one in capability.inputs if _is_name(one.name) and one.name != "self"]
    required = [f"{one.name}: {_type(one)}" for one in named if one.required]
    optional = [f"{one.name}: {_type(one)} = ..." for one in named if not one.required]
    ours = [] if any(one.name == "raise_on_error" for one in named) else ["raise_on_error: bool | None = ..."]
    yield f"    {kind} {name}("
    yield from (f"        {parameter}," for parameter in ["self", "*", *required, *optional, *ours])
    yield "    ) -> InvocationResult:"
    yield from textwrap.indent(_literal(_text_of(capability)), " " * 8).split("\n")
    yield "        ..."


def _text_of(capability: CapabilityDefinition) -> str:
    """What an editor shows."""
    paragraphs = [capability.purpose, capability.when_to_use]
    inputs = "\n".join(f"{one.name}: {one.description}" for one in capability.inputs if one.description)
    outputs = ", ".join(one.name for one in capability.outputs)
    paragraphs += [inputs, f"Gives {outputs}." if outputs else ""]
    return "\n\n".join(part for part in paragraphs if part)


def _literal(text: str) -> str:
    """A docstring over several lines, none of which can end it."""
    lines = text.split("\n")
    if len(lines) == 1:
        return _quoted(text)
    return "\n".join(['"""' + _inside(lines[0]), *[_inside(line) for line in lines[1:]], '"""'])


def _quoted(text: str) -> str:
    return '"""' + _inside(text) + '"""'


def _inside(line: str) -> str:
    """Only what can be seen, and neither quotes nor escapes that count."""
    seen = "".join(c if c.isprintable() else " " for c in line)
    return seen.replace("\\", "\\\\").replace('"', '\\"')


def _type(value: Value) -> str:
    if isinstance(value, Input) and value.one_of and all(isinstance(one, str) for one in value.one_of):
        choice = f"Literal[{', '.join(repr(one) for one in value.one_of)}]"
    elif value.type == "Array":
        choice = f"list[{_type(value.items) if value.items else 'Any'}]"
    else:
        choice = TYPES.get(value.type, "Any")
    nullable = (value.model_extra or {}).get("nullable") is True
    return f"{choice} | None" if nullable and choice != "Any" else choice


def _agent(waits: str, root: Node) -> str:
    names = [f"    {name}: {waits}{_title(name)}" for name in root.below] or ["    pass"]
    return "\n".join([f"class {waits}Agent({waits}KruxOS):", *names, "" if waits else FOOT])
