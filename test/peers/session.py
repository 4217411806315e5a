"""One whole session of the official Python client, over a transport that the settings name: session.mjs's twin.

What stands in lines of JSON on standard output is for sessions.py, which starts this, does what an operator does, and looks
afterwards at what the services were asked.
"""
import asyncio
import contextlib
import json
import os
import re
import sys

import anyio
import httpx2
import jsonschema
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import PromptReference, ToolListChangedNotification

SETTINGS = json.loads(sys.argv[1])
MODERN = SETTINGS["version"] == "2026-07-28"


def tell(**message):
    print(json.dumps(message), flush=True)


def must(condition, otherwise):
    if not condition:
        raise AssertionError(otherwise if isinstance(otherwise, str) else json.dumps(otherwise, default=str))


async def operator(action):
    """Has an operator do something; returns when it is done."""
    tell(operator=action)
    await asyncio.to_thread(sys.stdin.readline)


class Session:
    def __init__(self):
        self.schemas = {}
        self.found = []
        self.sent = {}
        self.heard = asyncio.Event()

    async def on_message(self, message):
        if isinstance(message, ToolListChangedNotification):
            self.heard.set()

    def transport(self, stack):
        if SETTINGS["transport"] == "stdio":
            # The client's environment is the shell's, so that a library that is preloaded for a sanitizer is so there too.
            return StdioServerParameters(command=SETTINGS["kruxos"], args=SETTINGS["arguments"])
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {SETTINGS['key']}"}, timeout=60)
        stack.push_async_callback(http.aclose)
        return streamable_http_client(SETTINGS["url"], http_client=http)

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        must(not result.is_error, result.content)
        must(result.structured_content, f"{tool} gives no structuredContent")
        self.schemas[tool].validate(result.structured_content)
        must(any(part.type == "text" for part in result.content), f"{tool} gives no text")
        return result.structured_content

    async def tools(self):
        return (await self.client.list_tools(cache_mode="refresh")).tools

    # --- the steps, in order --------------------------------------------------------------------------------------------

    async def connects(self):
        server = self.client.server_info
        must(server and server.name == "kruxos", server)
        must(self.client.protocol_version == SETTINGS["version"], self.client.protocol_version)

    async def lists_tools_whose_schemas_compile(self):
        for tool in await self.tools():
            must(re.fullmatch("[a-z0-9_]{1,37}", tool.name), f"a tool is called {tool.name}")
            for schema in (tool.input_schema, tool.output_schema):
                if schema is not None:
                    jsonschema.Draft202012Validator.check_schema(schema)
            must(tool.name not in self.schemas, f"{tool.name} is listed twice")
            self.schemas[tool.name] = jsonschema.Draft202012Validator(tool.output_schema or False)
        for name in ("slack__search", "slack__send", "email__send", "proxy__write_status"):
            must(name in self.schemas, f"no {name}")

    async def searches(self):
        self.found = (await self.call("slack__search", query="release train", channel=SETTINGS["channel"]))["messages"]
        must(len(self.found) == 3, self.found)

    async def reads(self):
        read = await self.call("slack__read", message_id=self.found[0]["id"])
        must(read["message"]["text"] == self.found[0]["text"], read)

    async def is_told_why_a_call_fails(self):
        result = await self.client.call_tool("slack__read", {"message_id": "C0NOWHERE00/1700000000.000000"})
        must(result.is_error, result.content)
        error = json.loads(result.content[0].text)
        must(error["type"] == "MessageNotFound" and error["message"] and error["recovery"], error)

    async def is_told_that_there_is_no_such_tool(self):
        try:
            await self.client.call_tool("slack__nothing", {})
        except MCPError as error:
            must(error.error.code == -32602, error)
        else:
            raise AssertionError("slack__nothing was called")

    async def gets_a_prompt_with_a_value_that_was_offered(self):
        names = {prompt.name for prompt in (await self.client.list_prompts()).prompts}
        must({"slack__catch_up", "email__triage"} <= names, sorted(names))
        channel = SETTINGS["channel"]
        offered = (await self.client.complete(PromptReference(name="slack__catch_up", type="ref/prompt"),
                                              {"name": "channel", "value": channel[:-1].upper()})).completion
        must(channel in offered.values and offered.total >= 1 and not offered.has_more, offered)
        prompt = await self.client.get_prompt("slack__catch_up", {"channel": channel, "since": '"{channel}"'})
        text = prompt.messages[0].content.text
        must(f'channel {channel} since "{{channel}}"' in text and "slack__search" in text, text)
        try:
            await self.client.get_prompt("slack__nothing", {})
        except MCPError as error:
            must(error.error.code == -32602, error)
        else:
            raise AssertionError("slack__nothing was given")

    async def sends_a_message_which_waits(self):
        self.sent = await self.call("slack__send", channel=SETTINGS["channel"], text=f"From {SETTINGS['name']}.")
        must(self.sent["status"] == "buffered", self.sent)
        tell(write=self.sent["write_id"], service="slack", times=1)

    async def waits_for_its_end(self):
        status = await self.call("proxy__write_status", write_id=self.sent["write_id"], wait_seconds=50)
        must(status["status"] == "completed", status)

    async def takes_a_mail_back(self):
        mail = await self.call("email__send", to="bob@example.com", subject=SETTINGS["name"], body="Never to be sent.")
        must(mail["status"] == "buffered", mail)
        tell(write=mail["write_id"], service="gmail", times=0)
        await self.call("proxy__cancel_write", write_id=mail["write_id"])
        status = await self.call("proxy__write_status", write_id=mail["write_id"])
        must(status["status"] == "cancelled", status)

    async def hears_that_the_tools_have_changed(self):
        async with contextlib.AsyncExitStack() as stack:
            if MODERN:
                await stack.enter_async_context(self.client.listen(tools_list_changed=True))
            await operator("connect notes")
            with anyio.fail_after(20):
                await self.heard.wait()
        must(any(tool.name == "notes__create" for tool in await self.tools()), "the new tools are not listed")


STEPS = ("connects", "lists tools whose schemas compile", "searches", "reads", "is told why a call fails",
         "is told that there is no such tool", "gets a prompt with a value that was offered", "sends a message, which waits", "waits for its end", "takes a mail back",
         "hears that the tools have changed")


def children():
    """What this process has started and is still there."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return file.read().split()


def innermost(error):
    """A group of tasks wraps what failed in it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".replace("\n", " | ")[:500]


async def run():
    session, left = Session(), list(STEPS)
    try:
        async with contextlib.AsyncExitStack() as stack:
            session.client = Client(session.transport(stack), mode="auto" if MODERN else "legacy",
                                    message_handler=session.on_message, read_timeout_seconds=70)
            await stack.enter_async_context(session.client)
            while left:
                step = getattr(session, left[0].replace(",", "").replace(" ", "_"))
                await step()
                tell(check=left.pop(0))
        must(not children(), f"{children()} are left")
        tell(check="closes")
    except Exception as error:
        tell(check=left.pop(0) if left else "closes", why=innermost(error))
        for step in left:
            tell(check=step, why="not tried, because an earlier step failed")


asyncio.run(run())
