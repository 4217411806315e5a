import asyncio
from kruxos import KruxOS

async def main():
    async with KruxOS.connect_async("localhost:7700", api_key="<64-char hex>") as agent:
        # Discover capabilities
        caps = await agent.capabilities.list()
        print(f"Available: {len(caps)} capabilities")

        # Read a file
        result = await agent.capabilities.invoke(
            "filesystem.read",
            path="/workspace/README.md"
        )
        print(result.data["content"])

asyncio.run(main())
