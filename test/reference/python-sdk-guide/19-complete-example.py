import asyncio
from kruxos import KruxOS
from kruxos.errors import CapabilityError

async def research_agent():
    async with KruxOS.connect_async() as agent:
        # Check what happened while we were offline
        briefing = await agent.capabilities.invoke("state.briefing.generate")
        print(briefing.data["briefing"]["summary"])

        # Resume from checkpoint
        checkpoint = await agent.state.persistent.get("research.checkpoint")
        start_from = checkpoint.value["page"] if checkpoint.found else 0

        # Do work
        for page in range(start_from, 100):
            try:
                result = await agent.capabilities.invoke(
                    "network.http_request",
                    url=f"https://api.example.com/data?page={page}",
                    method="GET"
                )
                data = result.data["body"]

                # Save to workspace
                await agent.capabilities.invoke(
                    "filesystem.write",
                    path=f"/workspace/data/page_{page}.json",
                    content=data
                )

                # Checkpoint progress
                await agent.state.persistent.set(
                    "research.checkpoint",
                    {"page": page + 1, "status": "in_progress"}
                )

            except CapabilityError as e:
                # Send alert to supervisor
                await agent.capabilities.invoke(
                    "alerts.send",
                    severity="warning",
                    title=f"Research failed on page {page}",
                    message=str(e)
                )
                break

        # Final status
        await agent.state.persistent.set(
            "research.checkpoint",
            {"page": page, "status": "completed"}
        )

asyncio.run(research_agent())
