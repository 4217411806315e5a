"""The official Python client in a few lines, for scripts/demo_program.py: demo_client.py ADDRESS KEY QUERY prints what it saw."""
import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(address, key, query):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
        async with Client(streamable_http_client(address, http_client=http)) as client:
            tools = (await client.list_tools()).tools
            found = await client.call_tool("slack__search", {"query": query, "channel": "engineering"})
            print(json.dumps({"server": client.server_info.name, "version": client.protocol_version,
                              "tools": [tool.name for tool in tools], "messages": found.structured_content["messages"]}))


asyncio.run(main(*sys.argv[1:]))
