# Store (versioned — each write creates a new version)
await agent.state.persistent.set("config.threshold", 0.85)

# Read
result = await agent.state.persistent.get("config.threshold")
print(f"Value: {result.value}, version: {result.version}")

# Read specific version
old = await agent.state.persistent.get("config.threshold", version=1)

# Version history
history = await agent.state.persistent.history("config.threshold", limit=5)
for entry in history.versions:
    print(f"v{entry.version}: {entry.value} ({entry.updated_at})")
