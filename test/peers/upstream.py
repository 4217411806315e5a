"""An MCP server made with the official Python SDK, as others make theirs: over HTTP (its port as the argument), else over stdio."""
import sys
from typing import Literal, Optional

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("shop")
done = []


class Item(BaseModel):
    name: str
    count: int = 1


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def addUp(first: float, second: float = 1.5, mode: Literal["plain", "loud"] = "plain", who: Optional[str] = None) -> float:
    """Add two numbers. Nothing else happens."""
    return first + second


@server.tool()
def order(item: Item, note: str = "") -> str:
    """Order an item."""
    done.append(f"{item.count} {item.name}")
    return f"ordered {item.name}"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def orders() -> list[str]:
    """All orders."""
    return done


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def boom() -> str:
    """Always fails."""
    raise ValueError("no such thing")


if len(sys.argv) > 1:
    server.run(transport="streamable-http", port=int(sys.argv[1]))
else:
    server.run(transport="stdio")
