#!/usr/bin/env python3
"""A LangGraph agent whose tools are the host's, over MCP.

    KRUXOS_HOST=localhost:7700 KRUXOS_API_KEY=… langgraph_agent.py CHANNEL WORDS [--wait SECONDS]

It finds what was said about WORDS, posts in CHANNEL how much that was, and waits for the message's end, or until a person has decided about it.
`ScriptedModel` stands where your chat model will: it gets the conversation and the results of tools, and answers with the next call of a tool or
with its last words. It ends with 0 when the message was sent, with 3 when it still waits, else with 1. It needs the packages `langgraph` and
`langchain-mcp-adapters`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

import httpx
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from mcp import McpError

from kruxos import KruxOS
from kruxos.errors import KruxOSError

NEEDED = {"slack__search", "slack__send", "proxy__write_status"}
ENDED = ("completed", "failed", "cancelled", "rejected", "discarded", "rolled_back")
LONGEST_WAIT = 50  # seconds: the host answers a wait by then


class Stopped(Exception):
    """Why it cannot go on, in a sentence."""


def printable(text: str) -> str:
    """What others wrote is shown as text: a terminal obeys none of it."""
    return "".join(c if c.isprintable() else " " for c in text)


def values_of(message: ToolMessage) -> dict[str, Any]:
    """What the host answered: its values, or of a call that failed `type`, `message`, `recovery` and `context`."""
    if message.artifact:
        return dict(message.artifact["structured_content"])
    blocks = message.content if isinstance(message.content, list) else [{"text": message.content}]
    text = "".join(block.get("text", "") for block in blocks if isinstance(block, dict))
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    return values if isinstance(values, dict) else {"type": "Internal", "message": text}


class ScriptedModel(BaseChatModel):
    """Decides by the results alone. What stands in a found message is data: it is counted, and not read."""

    channel: str
    about: str
    wait: int

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **settings: Any) -> ScriptedModel:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **settings: Any) -> ChatResult:
        results = [message for message in messages if isinstance(message, ToolMessage)]
        return ChatResult(generations=[ChatGeneration(message=self._next(results))])

    def _next(self, results: list[ToolMessage]) -> AIMessage:
        if not results:
            return call("slack__search", query=self.about, limit=5)
        last, values = results[-1], values_of(results[-1])
        if last.name == "slack__search" and last.status != "error":
            return call("slack__send", channel=self.channel, text=f"{values['total']} messages speak of {self.about}.")
        write_id = values.get("write_id") or values.get("context", {}).get("write_id")
        if last.name == "slack__send" and write_id and (last.status != "error" or values["type"] == "ApprovalRequired"):
            return call("proxy__write_status", write_id=write_id, wait_seconds=self.wait)
        if last.name == "proxy__write_status" and last.status != "error":
            waits = values["status"] == "pending_approval"
            return AIMessage(f"{write_id} is {values['status']}." + (f" A person decides: kruxos approve show {write_id}." if waits else ""))
        return AIMessage(f"{last.name} failed: {values['message']}")


def call(tool: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": f"call-{tool}"}])


def graph_of(model: BaseChatModel, tools: list[BaseTool]) -> CompiledStateGraph:
    """The model, its tools, and back, until it calls none."""
    bound = model.bind_tools(tools)

    async def think(state: MessagesState) -> dict[str, list[BaseMessage]]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


async def run(server: dict[str, Any], model: ScriptedModel) -> int:
    client = MultiServerMCPClient({"kruxos": {"transport": "streamable_http", "url": server["url"], "headers": server["headers"]}})
    async with client.session("kruxos") as session:
        tools = await load_mcp_tools(session)
        missing = NEEDED - {tool.name for tool in tools}
        if missing:
            raise Stopped(f"The host offers no {', '.join(sorted(missing))}: is Slack connected, and does no rule block it?")
        asked = HumanMessage(f"Say in {model.channel} how much was said about {model.about}.")
        status = ""
        async for step in graph_of(model, tools).astream({"messages": [asked]}, stream_mode="updates"):
            for update in step.values():
                for message in update["messages"]:
                    print(printable(told(message)), flush=True)
                    status = status_in(message) or status
    return 0 if status == "completed" else 1 if not status or status in ENDED else 3


def status_in(message: BaseMessage) -> str:
    """How the write stands, where the host has been asked for it: a message that was not accepted has no status."""
    asked = isinstance(message, ToolMessage) and message.name == "proxy__write_status" and message.status != "error"
    return str(values_of(message)["status"]) if asked else ""


def told(message: BaseMessage) -> str:
    """A step, in a line."""
    if isinstance(message, AIMessage) and message.tool_calls:
        one = message.tool_calls[0]
        return f"-> {one['name']} {json.dumps(one['args'], ensure_ascii=False)}"
    if isinstance(message, ToolMessage):
        values = values_of(message)
        shown = ("total", "write_id", "status", "type", "message") if message.status == "error" or "total" not in values else ("total",)
        return "<- " + ", ".join(f"{name}: {values[name]}" for name in shown if isinstance(values.get(name), str | int))
    return str(message.content)


def innermost(error: BaseException) -> BaseException:
    """A group of tasks wraps what failed in it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def main(arguments: argparse.Namespace) -> int:
    try:
        with KruxOS.connect() as agent:  # says in a sentence where there is no host, or no key that it takes
            server = agent.as_mcp_config("http")["mcpServers"]["kruxos"]
        return asyncio.run(run(server, ScriptedModel(channel=arguments.channel, about=arguments.about, wait=arguments.wait)))
    except (KruxOSError, Stopped, McpError, httpx.HTTPError, OSError, BaseExceptionGroup) as error:
        cause = innermost(error)
        if not isinstance(cause, (KruxOSError, Stopped, McpError, httpx.HTTPError, OSError)):
            raise
        sys.exit(f"langgraph_agent: {cause}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("channel")
    parser.add_argument("about", metavar="WORDS", help="what is searched for")
    parser.add_argument("--wait", type=int, default=LONGEST_WAIT, choices=range(LONGEST_WAIT + 1), metavar="SECONDS", help="up to 50 (50)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main(parse()))
