# Store
await agent.state.session.set("task.current", {"step": 3, "total": 10})

# Read
result = await agent.state.session.get("task.current")
if result.found:
    print(result.value) # {"step": 3, "total": 10}

# List keys
keys = await agent.state.session.list(prefix="task.")

# Clean up
await agent.state.session.delete("task.current")
