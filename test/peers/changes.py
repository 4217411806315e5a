"""The official Python client waits for a resource to change: sessions.py starts this, as session.py."""
import asyncio
import contextlib
import json
import sys
import warnings

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ResourceUpdatedNotification

SETTINGS = json.loads(sys.argv[1])
MODERN = SETTINGS["version"] == "2026-07-28"
URI = "test://watched-resource"
warnings.simplefilter("ignore")  # of the model with sessions the client says that it is the older one


def tell(**message):
    print(json.dumps(message), flush=True)


async def operator(action):
    tell(operator=action)
    await asyncio.to_thread(sys.stdin.readline)


class Heard:
    def __init__(self):
        self.uris = []
        self.any = anyio.Event()

    async def __call__(self, message):
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(message.params.uri)
            self.any.set()


async def hears(client, heard):
    """What has been heard once the resource has changed."""
    async with contextlib.AsyncExitStack() as stack:
        if MODERN:
            subscription = await stack.enter_async_context(client.listen(resource_subscriptions=[URI]))
            if subscription.honored.resource_subscriptions != [URI]:
                raise AssertionError(f"{subscription.honored} is heard")
        else:
            await client.subscribe_resource(URI)
        tell(check="waits for a resource")
        await operator("connect test anew")
        with anyio.fail_after(20):
            await heard.any.wait()
        if not MODERN:
            await client.unsubscribe_resource(URI)
        await client.list_resources()  # what was on its way has come
    return [str(uri) for uri in heard.uris]


async def run():
    heard = Heard()
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {SETTINGS['key']}"}, timeout=60)
    async with http:
        transport = streamable_http_client(SETTINGS["url"], http_client=http)
        async with Client(transport, mode="auto" if MODERN else "legacy", message_handler=heard,
                          read_timeout_seconds=70) as client:
            uris = await hears(client, heard)
            tell(check="hears that it has changed, once", **({} if uris == [URI] else {"why": f"it heard {uris}"}))
    tell(check="closes")


asyncio.run(run())
