import asyncio
from kruxos import KruxOS

async def main():
    os = await KruxOS.connect_async(
        endpoint="ws://localhost:7700",
        agent_name="my-agent",
        api_key="7f3a8c1d2e9b5a4f8e6c1d3b7a9f2e5c8d1b4a7f3c9e6d8b1a4c7f2e5d9b8a3c",
        purpose="Gmail test",
    )

    try:
        # Search emails (hits local replica — zero Gmail API calls)
        result = await os.call_async(
            "email.search",
            query="is:unread",
            max_results=5,
        )
        print(f"Found {len(result.data['messages'])} unread messages")

        # Read a specific email
        if result.data["messages"]:
            msg_id = result.data["messages"][0]["id"]
            email = await os.call_async("email.read", message_id=msg_id)
            print(f"Subject: {email.data['subject']}")
            print(f"From: {email.data['sender']}")
    finally:
        await os.close_async()

asyncio.run(main())
