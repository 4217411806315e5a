"""`python -m kruxos stubs`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .client import KruxOS
from .errors import KruxOSError
from .stubs import stubs


def write_stubs(output: str, host: str | None) -> None:
    with KruxOS.connect(host) as agent:
        whole = [agent.capabilities.describe(one.name) for one in agent.capabilities.list()]
    module = "kruxos_agent" if output == "-" else Path(output).stem
    text = stubs(whole, module)
    if output == "-":
        sys.stdout.write(text)
        return
    new = Path(output + ".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, output)
    print(f"{output}: {len(whole)} capabilities")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m kruxos", description="The agent's key is in KRUXOS_API_KEY.")
    commands = parser.add_subparsers(dest="command", required=True)
    stub = commands.add_parser("stubs", help="write a module by which an editor completes agent.slack.send(...)")
    stub.add_argument("-o", "--output", default="kruxos_agent.py", help="the file; - is standard output (default: kruxos_agent.py)")
    stub.add_argument("--host", help="the host's address; else KRUXOS_HOST, else localhost:7700")
    given = parser.parse_args(arguments)
    try:
        write_stubs(given.output, given.host)
    except (KruxOSError, OSError) as error:
        print(f"kruxos: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
