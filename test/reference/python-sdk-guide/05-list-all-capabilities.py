caps = await agent.capabilities.list()
for cap in caps:
    print(f"{cap.name} ({cap.permission_tier})")
