# Read (returns version for optimistic locking)
entry = await agent.state.shared.get("counter")

# Write (must pass expected_version)
try:
    await agent.state.shared.set(
        "counter",
        entry.value + 1,
        expected_version=entry.version
    )
except VersionConflict:
    # Another agent updated — re-read and retry
    pass

# Watch for changes
await agent.state.shared.watch(prefix="config.", callback=on_config_change)
