# Get a summary of what changed since last session
briefing = await agent.capabilities.invoke("state.briefing.generate")
print(briefing.data["briefing"]["summary"])
